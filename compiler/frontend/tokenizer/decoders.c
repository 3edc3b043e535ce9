// tokenizer.json's decoders. The text of a token depends on whether it is the first or the last:
// the steps run here, over every token, and a blob holds the results. Steps after Fuse see the
// whole text: of these the blob holds the characters that Strip removes from its ends.
//
//     Replace ▁ by " ", ByteFallback, Fuse, Strip " " 1 0      "▁word" becomes " word"; the text's first space goes
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "runtime/tokenizer/tokenizer_characters.h"

typedef enum {
    DECODE_REPLACE,    // pattern by text
    DECODE_STRIP,      // text's character, `start` at the start, `stop` at the end
    DECODE_FALLBACK,   // "<0x41>" is a byte
    DECODE_BYTES,      // characters that mean bytes, if all of them do
    DECODE_METASPACE,  // text by a space; first: by nothing
    DECODE_WORDPIECE,  // text is the prefix of continued words; first: cleanup
    DECODE_WORD_ENDS,  // text ends a word: a space, where something follows
    DECODE_APART,      // a space between
} DecodeKind;

typedef struct DecodeStep {
    DecodeKind kind;
    burin_section pattern;
    const char *text, *by;
    uint32_t start, stop;
    bool first;
} DecodeStep;

static void step_add(TokenizerBuilder *b, DecodeStep s) {
    if (b->decoders.length / sizeof s >= MAX_DECODERS)
        tokenizer_fatal(b, "it has more than %d decoders", MAX_DECODERS);
    bytes_append(&b->decoders, &s, sizeof s);
}

// ----------------------------------------------------------------------------------------- readers
static bool is_one_character(const char *text) {
    uint32_t code;
    size_t n = strlen(text);
    return n &&
           (size_t)burin_utf8_read((const uint8_t *)text, (const uint8_t *)text + n, &code) == n;
}

_Noreturn static void refuse_behind(const TokenizerBuilder *b, const char *what) {
    tokenizer_fatal(b, "decoder %s behind another that joins all tokens is not supported", what);
}

// After Fuse a step must do the same to a text as to each token, and keep stripped characters.
static void check_whole(const TokenizerBuilder *b, const char *name, const char *from,
                        const char *to) {
    const char *stripped = b->stripped;
    if (!b->joined) return;
    if (!from || !is_one_character(from) || (b->joined_bytes && (*from & 0x80)))
        refuse_behind(b, name);
    if (stripped && (!strcmp(from, stripped) || strstr(to, stripped))) refuse_behind(b, name);
}

static void decode_strip(TokenizerBuilder *b, const json_t *decoder) {
    const char *text = json_text(b, decoder, "content");
    json_int_t start = json_integer_value(json_object_get(decoder, "start")),
               stop = json_integer_value(json_object_get(decoder, "stop"));
    if (!is_one_character(text) || start < 0 || stop < 0 || start > 200 || stop > 200)
        tokenizer_fatal(b, "decoder Strip takes one character, at most 200 times from each side");
    if (!start && !stop) return;
    if (!b->joined) {
        if (b->falls_back) {
            if (stop)
                tokenizer_fatal(b,
                                "decoder Strip behind ByteFallback is supported for starts alone");
            b->head.flags |= BURIN_DECODE_GROUPS;
        }
        step_add(b, (DecodeStep){.kind = DECODE_STRIP,
                                 .text = text,
                                 .start = (uint32_t)start,
                                 .stop = (uint32_t)stop});
        return;
    }
    if (b->stripped) refuse_behind(b, "Strip");
    decoder_strips(b, text, (uint32_t)start, (uint32_t)stop);
}

void decoder_strips(TokenizerBuilder *b, const char *character, uint32_t start, uint32_t stop) {
    b->stripped = character;
    b->head.strip = builder_section(b, character, strlen(character), 1);
    b->head.strip_start = start, b->head.strip_stop = stop;
}

void decoder_replaces(TokenizerBuilder *b, const char *from, const char *to) {
    step_add(b,
             (DecodeStep){.kind = DECODE_REPLACE, .pattern = pattern_literal(b, from), .by = to});
}

static void decode_replace(TokenizerBuilder *b, const json_t *decoder) {
    const json_t *pattern = json_object_get(decoder, "pattern");
    const char *from = json_string_value(json_object_get(pattern, "String")),
               *to = json_text(b, decoder, "content");
    check_whole(b, "Replace", from, to);
    step_add(b,
             (DecodeStep){.kind = DECODE_REPLACE, .pattern = read_replaced(b, pattern), .by = to});
}

static void decode_metaspace(TokenizerBuilder *b, const json_t *decoder) {
    const char *scheme = json_string_value(json_object_get(decoder, "prepend_scheme")),
               *text = json_text(b, decoder, "replacement");
    bool drops =
        scheme ? strcmp(scheme, "never") != 0 : json_flag(b, decoder, "add_prefix_space", true);
    if (!is_one_character(text))
        tokenizer_fatal(b, "the \"replacement\" of Metaspace must be one character");
    check_whole(b, "Metaspace", text, drops ? "" : " ");
    if (b->joined)
        decoder_replaces(b, text, drops ? "" : " ");
    else
        step_add(b, (DecodeStep){.kind = DECODE_METASPACE, .text = text, .first = drops});
}

static void decode_wordpiece(TokenizerBuilder *b, const json_t *decoder) {
    const char *prefix =
        json_object_get(decoder, "prefix") ? json_text(b, decoder, "prefix") : "##";
    bool cleanup = json_flag(b, decoder, "cleanup", true);
    if (b->joined && !cleanup) return;
    if (b->joined || b->falls_back) refuse_behind(b, "WordPiece");
    step_add(b, (DecodeStep){.kind = DECODE_WORDPIECE, .text = prefix, .first = cleanup});
}

static void decode_words(TokenizerBuilder *b, const json_t *decoder) {
    const char *suffix =
        json_object_get(decoder, "suffix") ? json_text(b, decoder, "suffix") : "</w>";
    if (b->joined || b->falls_back) refuse_behind(b, "BPEDecoder");
    step_add(b, (DecodeStep){.kind = DECODE_WORD_ENDS, .text = suffix});
    b->ends_words = true;
}

static void decode_bytes(TokenizerBuilder *b, const json_t *decoder) {
    (void)decoder;
    if (b->joined) refuse_behind(b, "ByteLevel");
    step_add(b, (DecodeStep){.kind = DECODE_BYTES});
    b->joined = b->joined_bytes = true;
}

static void decode_fallback(TokenizerBuilder *b, const json_t *decoder) {
    (void)decoder;
    if (b->joined) refuse_behind(b, "ByteFallback");
    decoder_falls_back(b);
}

void decoder_falls_back(TokenizerBuilder *b) {
    step_add(b, (DecodeStep){.kind = DECODE_FALLBACK});
    b->falls_back = true;
}

static void decode_fuse(TokenizerBuilder *b, const json_t *decoder) {
    (void)decoder;
    b->joined = true;
}

static void decode_sequence(TokenizerBuilder *b, const json_t *decoder);

static const StepReader decoders[] = {
    {"Sequence", decode_sequence},   {"Strip", decode_strip},
    {"Replace", decode_replace},     {"Metaspace", decode_metaspace},
    {"WordPiece", decode_wordpiece}, {"BPEDecoder", decode_words},
    {"ByteLevel", decode_bytes},     {"ByteFallback", decode_fallback},
    {"Fuse", decode_fuse},           {NULL, NULL}};

static void decode_sequence(TokenizerBuilder *b, const json_t *decoder) {
    const json_t *list = json_object_get(decoder, "decoders");
    for (size_t i = 0; i < json_array_size(list); i++)
        read_step(b, json_array_get(list, i), decoders, "decoder");
}

void read_decoder(TokenizerBuilder *b, const json_t *decoder) {
    b->writes_tokens = true;
    if (decoder && !json_is_null(decoder))
        read_step(b, decoder, decoders, "decoder");
    else
        step_add(b, (DecodeStep){.kind = DECODE_APART});
}

// --------------------------------------------------------------------------------------- one token
typedef struct Decoding {
    TokenizerBuilder *b;
    burin_match_memory memory;
    size_t room;  // bytes that memory is for
    Bytes text, next, kept;
    bool first, last;
} Decoding;

static void append_text(Bytes *to, const char *text) { bytes_append(to, text, strlen(text)); }

// Refuses a replacement that makes a text far longer in one step.
static void check_growth(const Decoding *d) {
    if (d->next.length > MAX_DECODED_BYTES)
        tokenizer_fatal(d->b, "its decoder makes more than %d MB of one token",
                        MAX_DECODED_BYTES >> 20);
}

static void replace_all(Decoding *d, const DecodeStep *s, const char *by) {
    burin_span text = {(const uint8_t *)d->text.data,
                       (const uint8_t *)d->text.data + d->text.length};
    if (!d->text.length) return;
    if (d->text.length > d->room)
        d->memory = builder_match_memory(d->b, d->room = 2 * d->text.length);
    burin_matcher m =
        burin_matcher_of((const burin_tokenizer *)d->b->blob.data, s->pattern, text, d->memory);
    const uint8_t *from = text.begin;
    for (burin_span found; burin_find(&m, from, &found); from = found.end) {
        bytes_append(&d->next, from, (size_t)(found.begin - from));
        append_text(&d->next, by);
        check_growth(d);
    }
    bytes_append(&d->next, from, (size_t)(text.end - from));
    Bytes before = d->text;
    d->text = d->next, d->next = before, d->next.length = 0;
}

static void replace_text(Decoding *d, const char *from, const char *by) {
    size_t n = strlen(from), at = 0;
    for (; n && at < d->text.length;) {
        bool here = at + n <= d->text.length && !memcmp(d->text.data + at, from, n);
        bytes_append(&d->next, here ? by : d->text.data + at, here ? strlen(by) : 1);
        check_growth(d);
        at += here ? n : 1;
    }
    if (!n) return;
    Bytes before = d->text;
    d->text = d->next, d->next = before, d->next.length = 0;
}

static void insert_space(Decoding *d) {
    bytes_append(&d->text, " ", 1);
    memmove(d->text.data + 1, d->text.data, d->text.length - 1);
    d->text.data[0] = ' ';
}

static void drop_start(Bytes *text, size_t n) {
    text->length -= n;
    memmove(text->data, text->data + n, text->length);
}

static bool begins_with(const Bytes *text, const char *what, size_t n) {
    return text->length >= n && !memcmp(text->data, what, n);
}

static void wordpiece(Decoding *d, const DecodeStep *s) {
    static const char *const clean[][2] = {{" .", "."},     {" ?", "?"},           {" !", "!"},
                                           {" ,", ","},     {" ' ", "'"},          {" n't", "n't"},
                                           {" 'm", "'m"},   {" do not", " don't"}, {" 's", "'s"},
                                           {" 've", "'ve"}, {" 're", "'re"}};
    size_t n = strlen(s->text);
    if (!d->first && begins_with(&d->text, s->text, n))
        drop_start(&d->text, n);
    else if (!d->first)
        insert_space(d);
    for (size_t i = 0; s->first && i < sizeof clean / sizeof *clean; i++)
        replace_text(d, clean[i][0], clean[i][1]);
}

static void strip(Bytes *text, const DecodeStep *s) {
    size_t n = strlen(s->text);
    for (uint32_t i = 0; i < s->start && begins_with(text, s->text, n); i++) drop_start(text, n);
    for (uint32_t i = 0;
         i < s->stop && text->length >= n && !memcmp(text->data + text->length - n, s->text, n);
         i++)
        text->length -= n;
}

bool is_byte_text(const char *text, size_t length, uint8_t *byte) {
    static const char digits[] = "0123456789ABCDEFabcdef";
    if (length != 6 || memcmp(text, "<0x", 3) || text[5] != '>') return false;
    const char *high = text[3] ? strchr(digits, text[3]) : NULL,
               *low = text[4] ? strchr(digits, text[4]) : NULL;
    if (!high || !low) return false;
    long h = high - digits, l = low - digits;
    *byte = (uint8_t)((h > 15 ? h - 6 : h) * 16 + (l > 15 ? l - 6 : l));
    return true;
}

static void decode_step(Decoding *d, const DecodeStep *s) {
    const char *bytes;
    size_t n;
    uint8_t byte;
    switch (s->kind) {
        case DECODE_REPLACE:
            replace_all(d, s, s->by);
            break;
        case DECODE_STRIP:
            strip(&d->text, s);
            break;
        case DECODE_FALLBACK:
            if (!is_byte_text(d->text.data, d->text.length, &byte)) break;
            d->text.data[0] = (char)byte, d->text.length = 1;
            break;
        case DECODE_BYTES:
            if (!bytes_of_characters(d->b->arena, d->text.data, d->text.length, &bytes, &n)) break;
            d->text.length = 0;
            bytes_append(&d->text, bytes, n);
            break;
        case DECODE_METASPACE:
            replace_text(d, s->text, d->first && s->first ? "" : " ");
            break;
        case DECODE_WORDPIECE:
            wordpiece(d, s);
            break;
        case DECODE_WORD_ENDS:
            replace_text(d, s->text, d->last ? "" : " ");
            break;
        case DECODE_APART:
            if (!d->first) insert_space(d);
            break;
    }
}

// The token in its vocabulary's form, if a tokenizer.json defines its decoding.
static void write_token(Decoding *d, const struct BuilderToken *t) {
    uint8_t character[4];
    d->text.length = 0;
    bool as_bytes = t->in_bytes && d->b->writes_tokens;
    if (t->answer)
        append_text(&d->text, t->answer);
    else if (!as_bytes)
        bytes_append(&d->text, t->text, t->length);
    for (uint32_t i = 0; as_bytes && !t->answer && i < t->length; i++)
        bytes_append(&d->text, character,
                     (size_t)burin_utf8_write(character, burin_byte_code((uint8_t)t->text[i])));
}

static void decode_token(Decoding *d, const struct BuilderToken *t, bool first, bool last) {
    const DecodeStep *steps = (const DecodeStep *)d->b->decoders.data;
    write_token(d, t);
    d->first = first, d->last = last;
    for (size_t i = 0; i < d->b->decoders.length / sizeof *steps; i++) {
        decode_step(d, &steps[i]);
        builder_spend(d->b, d->text.length > t->length ? d->text.length - t->length : 0);
    }
}

// -------------------------------------------------------------------------------------- all tokens
typedef struct Table {
    Bytes texts;
    burin_decoded *rows;
    bool differs;
} Table;

static void put_text(Table *table, const Bytes *text, uint32_t *offset, uint32_t *length) {
    *offset = (uint32_t)table->texts.length, *length = (uint32_t)text->length;
    bytes_append(&table->texts, text->data, text->length);
}

// Both may be NULL where there is nothing.
static bool same_text(const char *a, size_t a_length, const char *b, size_t b_length) {
    return a_length == b_length && (!a_length || !memcmp(a, b, a_length));
}

// A token whose text ends with a space unless it is the last one: the space precedes the next
// token.
static void decode_last(TokenizerBuilder *b, Decoding *d, struct BuilderToken *t, bool first) {
    Bytes *last = &d->kept;
    decode_token(d, t, first, true);
    if (!b->ends_words) return;
    last->length = 0;
    bytes_append(last, d->text.data, d->text.length);
    decode_token(d, t, first, false);
    size_t n = d->text.length;
    if (same_text(d->text.data, n, last->data, last->length)) return;
    if (n == 0 || d->text.data[n - 1] != ' ' ||
        !same_text(d->text.data, n - 1, last->data, last->length))
        tokenizer_fatal(
            b, "decoder BPEDecoder with the suffix inside of token \"%.*s\" is not supported",
            (int)t->length, t->text);
    t->kind |= BURIN_TOKEN_ENDS_WORD;
    d->text.length--;
}

// NULL while all texts are empty
static const char *text_at(const Table *table, uint32_t offset) {
    return table->texts.data ? table->texts.data + offset : NULL;
}

static void add_row(TokenizerBuilder *b, Decoding *d, Table *table, int32_t id) {
    struct BuilderToken *t = &b->tokens[id];
    burin_decoded *row = &table->rows[id];
    decode_last(b, d, t, false);
    put_text(table, &d->text, &row->offset, &row->length);
    table->differs |= !same_text(text_at(table, row->offset), row->length, t->text, t->length);
    decode_last(b, d, t, true);
    row->first_offset = row->offset, row->first_length = row->length;
    if (same_text(d->text.data, d->text.length, text_at(table, row->offset), row->length)) return;
    put_text(table, &d->text, &row->first_offset, &row->first_length);
    table->differs = true;
}

// Tokens of single bytes are bytes only if the decoder has ByteFallback.
static void mark_bytes(TokenizerBuilder *b) {
    uint8_t byte;
    for (int32_t id = 0; id < b->head.size; id++) {
        struct BuilderToken *t = &b->tokens[id];
        if ((t->kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_BYTE)
            t->kind ^= BURIN_TOKEN_BYTE ^ BURIN_TOKEN_NORMAL;
        if (b->falls_back && t->text && t->kind == BURIN_TOKEN_NORMAL &&
            is_byte_text(t->text, t->length, &byte))
            t->kind = BURIN_TOKEN_BYTE;
    }
}

void pack_decoded(TokenizerBuilder *b) {
    Decoding d = {.b = b,
                  .text = {.arena = b->arena},
                  .next = {.arena = b->arena},
                  .kept = {.arena = b->arena}};
    Table table = {.texts = {.arena = b->arena},
                   .rows = ARENA_ARRAY(b->arena, burin_decoded, b->head.size + 1)};
    uint32_t longest = 0;
    mark_bytes(b);
    for (int32_t id = 0; id < b->head.size; id++) {
        if (b->tokens[id].text) add_row(b, &d, &table, id);
        uint32_t length = table.rows[id].length, first = table.rows[id].first_length;
        if (length > longest) longest = length;
        if (first > longest) longest = first;
    }
    b->head.max_decoded_bytes = longest;
    if (!table.differs) return;
    b->head.decoded = builder_section(b, table.rows, (size_t)b->head.size, sizeof *table.rows);
    b->head.decoded_text = builder_section(b, table.texts.data, table.texts.length, 1);
}
