// SentencePiece's own files (tokenizer.model, spiece.model): a message of protobuf, presented as
// the equivalent tokenizer.json. tokenizer_config.json of the same folder adds tokens around a
// text, and names tokens after those of the file.
#include "frontend/tokenizer/sentencepiece.h"

#include <math.h>
#include <string.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"
#include "util/json.h"
#include "util/text.h"

// ---------------------------------------------------------------------------------------- protobuf
typedef struct Message {
    const TokenizerBuilder *b;
    const unsigned char *at, *end;
} Message;

typedef struct Field {
    uint32_t number;
    uint64_t value;  // a number, or the bits of a float
    Message bytes;   // of a text or a message
} Field;

static _Noreturn void damaged_message(const Message *m) {
    tokenizer_fatal(m->b,
                    "the file is damaged: a field of SentencePiece's message goes beyond its end");
}

static uint64_t read_varint(Message *m) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (m->at == m->end) damaged_message(m);
        unsigned char byte = *m->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
    damaged_message(m);
}

static const unsigned char *take_bytes(Message *m, uint64_t n) {
    if (n > (uint64_t)(m->end - m->at)) damaged_message(m);
    m->at += n;
    return m->at - n;
}

static bool next_field(Message *m, Field *f) {
    enum { VARINT, FIXED_64, BYTES, FIXED_32 = 5 };
    if (m->at == m->end) return false;
    uint64_t key = read_varint(m), wire = key & 7;
    *f = (Field){.number = (uint32_t)(key >> 3), .bytes = {m->b, m->at, m->at}};
    if (wire == VARINT) {
        f->value = read_varint(m);
    } else if (wire == BYTES) {
        uint64_t n = read_varint(m);
        f->bytes.at = take_bytes(m, n), f->bytes.end = m->at;
    } else if (wire == FIXED_32 || wire == FIXED_64) {
        size_t n = wire == FIXED_32 ? 4 : 8;
        memcpy(&f->value, take_bytes(m, n), n);
    } else {
        damaged_message(m);
    }
    return true;
}

// --------------------------------------------------------------------------------------- the model
void add_piece(SentencePiece *s, Piece p) {
    if (s->n == s->capacity) {
        Piece *more =
            ARENA_ARRAY(s->b->arena, Piece, s->capacity = s->capacity ? 2 * s->capacity : 1024);
        if (s->n) memcpy(more, s->pieces, s->n * sizeof *more);
        s->pieces = more;
    }
    s->pieces[s->n++] = p;
}

static void read_piece(SentencePiece *s, Message m) {
    enum { TEXT = 1, SCORE = 2, TYPE = 3 };
    Piece p = {.text = "", .type = PIECE_NORMAL};
    for (Field f; next_field(&m, &f);) {
        size_t n = (size_t)(f.bytes.end - f.bytes.at);
        if (f.number == TEXT && memchr(f.bytes.at, 0, n))
            tokenizer_fatal(s->b, "piece %zu has a zero byte", s->n);
        if (f.number == TEXT) p.text = arena_strndup(s->b->arena, (const char *)f.bytes.at, n);
        if (f.number == SCORE) memcpy(&p.score, &f.value, sizeof p.score);
        if (f.number == TYPE) p.type = f.value;
    }
    if (s->n == MAX_TOKENS)
        tokenizer_fatal(s->b, "SentencePiece's file has more than %d pieces", MAX_TOKENS);
    if (p.score != p.score) tokenizer_fatal(s->b, "piece %zu has no score (NaN)", s->n);
    if (p.type < PIECE_NORMAL || p.type > PIECE_BYTE)
        tokenizer_fatal(s->b, "piece %zu has the type %llu, which SentencePiece does not know",
                        s->n, (unsigned long long)p.type);
    add_piece(s, p);
}

static void read_trainer(SentencePiece *s, Message m) {
    enum { MODEL = 3, SUFFIX = 24, BYTE_FALLBACK = 35, UNKNOWN = 40, BOS = 41, EOS = 42 };
    for (Field f; next_field(&m, &f);) {
        if (f.number == MODEL) s->model = f.value;
        if (f.number == SUFFIX) s->suffix = f.value;
        if (f.number == BYTE_FALLBACK) s->byte_fallback = f.value;
        if (f.number == UNKNOWN) s->unknown = (int32_t)f.value;
        if (f.number == BOS) s->bos = (int32_t)f.value;
        if (f.number == EOS) s->eos = (int32_t)f.value;
    }
}

static void read_normalization(SentencePiece *s, Message m) {
    enum { CHARSMAP = 2, PREFIX = 3, SQUEEZES = 4, ESCAPES = 5 };
    for (Field f; next_field(&m, &f);) {
        if (f.number == CHARSMAP)
            s->charsmap = f.bytes.at, s->charsmap_bytes = (size_t)(f.bytes.end - f.bytes.at);
        if (f.number == PREFIX) s->prefix = f.value;
        if (f.number == SQUEEZES) s->squeezes = f.value;
        if (f.number == ESCAPES) s->escapes = f.value;
    }
}

SentencePiece sentencepiece_message(TokenizerBuilder *b, const MappedFile *file) {
    enum { PIECE = 1, TRAINER = 2, NORMALIZER = 3 };
    SentencePiece s = {.b = b,
                       .model = MODEL_UNIGRAM,
                       .prefix = 1,
                       .squeezes = 1,
                       .escapes = 1,
                       .unknown = 0,
                       .bos = 1,
                       .eos = 2};
    Message m = {b, file->data, file->data + file->size};
    for (Field f; next_field(&m, &f);) {
        if (f.number == PIECE) read_piece(&s, f.bytes);
        if (f.number == TRAINER) read_trainer(&s, f.bytes);
        if (f.number == NORMALIZER) read_normalization(&s, f.bytes);
    }
    if (s.model != MODEL_UNIGRAM && s.model != MODEL_BPE)
        tokenizer_fatal(b,
                        "SentencePiece's models of words and of characters are not supported, only "
                        "unigram and bpe");
    if (s.suffix)
        tokenizer_fatal(b, "SentencePiece with \"treat_whitespace_as_suffix\" is not supported");
    if (!s.escapes)
        tokenizer_fatal(b, "SentencePiece without \"escape_whitespaces\" is not supported");
    if (s.unknown < 0 || s.unknown >= (int64_t)s.n)
        tokenizer_fatal(b, "SentencePiece's unknown piece is not in the file");
    return s;
}

// ----------------------------------------------------------------------------- as a tokenizer.json
static json_t *base64(const unsigned char *data, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Text t = {0};
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)data[i] << 16 | (i + 1 < n ? (uint32_t)data[i + 1] << 8 : 0) |
                         (i + 2 < n ? data[i + 2] : 0);
        char four[4];
        for (int k = 0; k < 4; k++)
            four[k] = i + (size_t)k > n ? '=' : digits[three >> (18 - 6 * k) & 63];
        text_append(&t, four, 4);
    }
    json_t *text = json_stringn(t.data ? t.data : "", t.length);
    text_free(&t);
    return text;
}

static void add_replacing(json_t *steps, const char *kind, const char *pattern,
                          const char *content) {
    json_array_append_new(steps, json_pack("{s:s, s:{s:s}, s:s}", "type", "Replace", "pattern",
                                           kind, pattern, "content", content));
}

// Spaces at the end go last: SentencePiece cannot tell a written U+2581 from one of its own.
static json_t *normalizer_of(const SentencePiece *s) {
    json_t *steps = json_array();
    if (s->charsmap_bytes)
        json_array_append_new(
            steps, json_pack("{s:s, s:b, s:o}", "type", "Precompiled", "longest", 1,
                             "precompiled_charsmap", base64(s->charsmap, s->charsmap_bytes)));
    if (s->squeezes)
        add_replacing(steps, "Regex", "\\A +", ""), add_replacing(steps, "Regex", " {2,}", " ");
    if (s->prefix)
        json_array_append_new(steps, json_pack("{s:s, s:s}", "type", "Prepend", "prepend", " "));
    add_replacing(steps, "String", " ", "\xe2\x96\x81");
    if (s->squeezes) add_replacing(steps, "Regex", "(?<!\xe2\x96\x81)\xe2\x96\x81+\\z", "");
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static void add_type(json_t *steps, const char *type) {
    json_array_append_new(steps, json_pack("{s:s}", "type", type));
}

// Of the fast classes of ALBERT and its kin.
static json_t *fast_normalizer_of(const SentencePiece *s) {
    json_t *steps = json_array();
    add_replacing(steps, "String", "``", "\""), add_replacing(steps, "String", "''", "\"");
    if (s->joins_numbers) add_replacing(steps, "Regex", " {2,}", " ");
    if (!s->keeps_accents) add_type(steps, "NFKD"), add_type(steps, "StripAccents");
    if (s->lowers) add_type(steps, "Lowercase");
    if (s->charsmap_bytes)
        json_array_append_new(steps,
                              json_pack("{s:s, s:o}", "type", "Precompiled", "precompiled_charsmap",
                                        base64(s->charsmap, s->charsmap_bytes)));
    if (!s->joins_numbers) add_replacing(steps, "Regex", " {2,}", " ");
    return json_pack("{s:s, s:o}", "type", "Sequence", "normalizers", steps);
}

static json_t *metaspace(void) {
    return json_pack("{s:s, s:s, s:s, s:b}", "type", "Metaspace", "replacement", "\xe2\x96\x81",
                     "prepend_scheme", "always", "split", 1);
}

static json_t *decoder_of(const SentencePiece *s) {
    json_t *steps =
        json_pack("[{s:s, s:{s:s}, s:s}, {s:s}, {s:s}]", "type", "Replace", "pattern", "String",
                  "\xe2\x96\x81", "content", " ", "type", "ByteFallback", "type", "Fuse");
    if (s->prefix || s->strips_answer)
        json_array_append_new(
            steps, json_pack("{s:s, s:s, s:i, s:i}", "type", "Strip", "content", " ", "start",
                             s->strips_answer ? 200 : 1, "stop", s->strips_answer ? 200 : 0));
    return json_pack("{s:s, s:o}", "type", "Sequence", "decoders", steps);
}

// A piece such as "9,", which the classes of ALBERT split before the comma.
static bool is_digit_and_comma(const char *text) {
    size_t n = strlen(text);
    return n > 1 && text[n - 1] == ',' && text[n - 2] >= '0' && text[n - 2] <= '9';
}

static double score_of(const SentencePiece *s, size_t i) {
    double score = (double)s->pieces[i].score;
    return s->as_fast && !s->joins_numbers && is_digit_and_comma(s->pieces[i].text) ? score - 100
                                                                                    : score;
}

static json_t *text_of_piece(const SentencePiece *s, size_t i) {
    json_t *text = json_string(s->pieces[i].text);
    if (!text) tokenizer_fatal(s->b, "piece %zu is no UTF-8", i);
    return text;
}

static json_t *model_of(const SentencePiece *s) {
    json_t *vocabulary = s->model == MODEL_BPE ? json_object() : json_array();
    for (size_t i = 0; i < s->n; i++) {
        if (s->model == MODEL_BPE && s->pieces[i].type == PIECE_NONE) continue;
        json_t *text = text_of_piece(s, i);
        if (s->model == MODEL_BPE) {
            if (json_object_get(vocabulary, s->pieces[i].text))
                tokenizer_fatal(s->b, "piece %zu is in the file twice", i);
            json_object_set_new(vocabulary, s->pieces[i].text, json_integer((json_int_t)i)),
                json_decref(text);
        } else {
            if (isinf(s->pieces[i].score))
                tokenizer_fatal(s->b, "piece %zu has an infinite score", i);
            json_array_append_new(vocabulary, json_pack("[o, f]", text, score_of(s, i)));
        }
    }
    if (s->model == MODEL_UNIGRAM)
        return json_pack("{s:s, s:o, s:I, s:b}", "type", "Unigram", "vocab", vocabulary, "unk_id",
                         (json_int_t)s->unknown, "byte_fallback", (int)(s->byte_fallback != 0));
    return json_pack("{s:s, s:o, s:[], s:s, s:b, s:b}", "type", "BPE", "vocab", vocabulary,
                     "merges", "unk_token", s->pieces[s->unknown].text, "fuse_unk", 1,
                     "byte_fallback", (int)(s->byte_fallback != 0));
}

static json_t *added_token(int64_t id, const char *text, bool special, bool strips_left) {
    return json_pack("{s:I, s:s, s:b, s:b, s:b}", "id", (json_int_t)id, "content", text, "special",
                     (int)special, "normalized", 0, "lstrip", (int)strips_left);
}

// The file's tokens, and later ones that tokenizer_config.json names.
static json_t *added_of(const SentencePiece *s, const json_t *config) {
    json_t *added = json_array();
    const char *id;
    const json_t *token;
    for (size_t i = 0; i < s->n; i++) {
        bool special = s->pieces[i].type == PIECE_CONTROL || s->pieces[i].type == PIECE_UNKNOWN;
        if (special || s->pieces[i].type == PIECE_USER_DEFINED)
            json_array_append_new(added, added_token((int64_t)i, s->pieces[i].text, special,
                                                     s->pieces[i].strips_left));
    }
    json_object_foreach((json_t *)json_object_get(config, "added_tokens_decoder"), id, token) {
        const char *text = json_string_value(json_object_get(token, "content"));
        int64_t number = strtoll(id, NULL, 10);
        if (text && number >= (int64_t)s->n)
            json_array_append_new(
                added, added_token(number, text, json_is_true(json_object_get(token, "special")),
                                   json_is_true(json_object_get(token, "lstrip"))));
    }
    return added;
}

// A language's code, otherwise a run of unknown characters.
static bool is_found_whole(const SentencePiece *s, const Piece *p) {
    bool rows = s->model == MODEL_UNIGRAM && !s->byte_fallback;
    return p->type == PIECE_WHOLE && (rows || !strncmp(p->text, ">>", 2));
}

void build_of_pieces(SentencePiece *s, const json_t *config) {
    json_t *root =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "normalizer",
                  s->as_fast ? fast_normalizer_of(s) : normalizer_of(s), "pre_tokenizer",
                  s->as_fast ? metaspace() : json_null(), "model", model_of(s), "added_tokens",
                  added_of(s, config), "decoder", s->as_fast ? metaspace() : decoder_of(s));
    read_tokenizer_json(s->b, json_own(s->b->arena, root));
    for (size_t i = 0; i < s->n; i++) {
        uint64_t type = s->pieces[i].type;
        struct BuilderToken *t =
            builder_token(s->b, (int64_t)i, s->pieces[i].text, strlen(s->pieces[i].text));
        bool whole = is_found_whole(s, &s->pieces[i]),
             normal = type == PIECE_NORMAL || type == PIECE_USER_DEFINED || whole || s->as_fast;
        t->score = score_of(s, i);
        t->whole = whole, t->answer = s->pieces[i].answer;
        if (type == PIECE_NONE && !t->answer) t->kind = BURIN_TOKEN_ABSENT;
        if (!normal || i >= s->n_own) t->in_model = false;
    }
    if (s->model == MODEL_BPE) builder_merges_from_scores(s->b);
}

bool is_sentencepiece(const MappedFile *f) {
    const unsigned char *p = f->data;
    return f->size > 3 && p[0] == 0x0a && p[1] &&
           p[2] == 0x0a;  // a piece, which begins with its text
}

void read_sentencepiece(TokenizerBuilder *b, const MappedFile *file) {
    SentencePiece s = sentencepiece_message(b, file);
    build_of_class(&s);
}
