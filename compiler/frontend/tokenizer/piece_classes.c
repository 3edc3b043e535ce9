// SentencePiece's file by the classes of transformers: the ids of pieces, missing tokens, and those
// around a text.
#include <stdio.h>
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/sentencepiece.h"
#include "util/json.h"
#include "util/map.h"

// In the order in which transformers appends missing tokens to the pieces.
enum { NONE, BOS, EOS, UNKNOWN, SEP, PAD, CLS, MASK, SPECIALS, LANGUAGE = SPECIALS };
static const char *const special_keys[SPECIALS] = {
    [BOS] = "bos_token", [EOS] = "eos_token", [UNKNOWN] = "unk_token", [SEP] = "sep_token",
    [PAD] = "pad_token", [CLS] = "cls_token", [MASK] = "mask_token"};

typedef struct TokenizerClass {
    const char *name;
    bool bos, eos;                   // the file's, around a text
    const char *specials[SPECIALS];  // or these, by their names
    uint8_t before[1], after[2];     // ... tokens around a text
    const char *front[6];            // in place of the file's first pieces
    size_t instead_of;               // their number
    // pieces <unk_2>, <unk_3> ... before others, unless "offset" is set
    int64_t offset;
    const char *more;      // tokens after the pieces
    const char *language;  // default language, unless "src_lang" names another
    enum { AS_FILE, AS_FAST, AS_ALBERT } kind;
    bool own_ends;               // the file must have them
    bool lowers, keeps_accents;  // default, unless tokenizer_config.json overrides it
    bool has_vocabulary;         // vocab.json has the ids
    bool has_target;             // ... of pieces of source.spm and target.spm
} TokenizerClass;

#define FAIRSEQ .front = {"<s>", "<pad>", "</s>", "<unk>"}, .instead_of = 3
#define FAIRSEQ_NAMES                                                      \
    {[BOS] = "<s>",   [EOS] = "</s>", [UNKNOWN] = "<unk>", [SEP] = "</s>", \
     [PAD] = "<pad>", [CLS] = "<s>",  [MASK] = "<mask>"}
#define BRACKETS(bos, eos)                                                   \
    {[BOS] = bos,     [EOS] = eos,     [UNKNOWN] = "<unk>", [SEP] = "[SEP]", \
     [PAD] = "<pad>", [CLS] = "[CLS]", [MASK] = "[MASK]"}

static const TokenizerClass tokenizer_classes[] = {
    {.name = "LlamaTokenizer", .bos = true},
    {.name = "CodeLlamaTokenizer", .bos = true},
    {.name = "GemmaTokenizer", .bos = true},
    {.name = "T5Tokenizer", .eos = true},
    {.name = "MT5Tokenizer", .eos = true},
    {.name = "XLMRobertaTokenizer",
     .specials = FAIRSEQ_NAMES,
     .before = {CLS},
     .after = {SEP},
     FAIRSEQ},
    {.name = "XGLMTokenizer",
     .specials = {[BOS] = "<s>",
                  [EOS] = "</s>",
                  [UNKNOWN] = "<unk>",
                  [SEP] = "</s>",
                  [PAD] = "<pad>",
                  [CLS] = "<s>"},
     .before = {SEP},
     FAIRSEQ,
     .more = "<madeupword0> <madeupword1> <madeupword2> <madeupword3> <madeupword4> <madeupword5> "
             "<madeupword6>"},
    {.name = "MBartTokenizer",
     .specials = FAIRSEQ_NAMES,
     .after = {EOS, LANGUAGE},
     FAIRSEQ,
     .more = mbart_languages,
     .language = "en_XX"},
    {.name = "MBart50Tokenizer",
     .specials = FAIRSEQ_NAMES,
     .before = {LANGUAGE},
     .after = {EOS},
     FAIRSEQ,
     .more = mbart50_languages,
     .language = "en_XX"},
    {.name = "NllbTokenizer",
     .specials = FAIRSEQ_NAMES,
     .before = {LANGUAGE},
     .after = {EOS},
     FAIRSEQ,
     .more = nllb_languages,
     .language = "eng_Latn"},
    {.name = "BarthezTokenizer", .specials = FAIRSEQ_NAMES, .before = {CLS}, .after = {SEP}},
    {.name = "DebertaV2Tokenizer",
     .specials = {[SEP] = "[SEP]", [CLS] = "[CLS]", [MASK] = "[MASK]"},
     .own_ends = true,
     .before = {CLS},
     .after = {SEP}},
    {.name = "CamembertTokenizer",
     .specials = FAIRSEQ_NAMES,
     .before = {CLS},
     .after = {SEP},
     .front = {"<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED"},
     .instead_of = 1},
    {.name = "PegasusTokenizer",
     .specials = {[EOS] = "</s>", [UNKNOWN] = "<unk>", [PAD] = "<pad>", [MASK] = "<mask_2>"},
     .after = {EOS},
     .front = {"<pad>", "</s>", "<mask_1>", "<mask_2>"},
     .instead_of = 2,
     .offset = 103},
    {.name = "BigBirdTokenizer",
     .specials = BRACKETS("<s>", "</s>"),
     .before = {CLS},
     .after = {SEP}},
    {.name = "AlbertTokenizer",
     .specials = BRACKETS("[CLS]", "[SEP]"),
     .before = {CLS},
     .after = {SEP},
     .kind = AS_ALBERT,
     .lowers = true},
    {.name = "FNetTokenizer",
     .specials = BRACKETS(NULL, NULL),
     .before = {CLS},
     .after = {SEP},
     .kind = AS_ALBERT,
     .keeps_accents = true},
    {.name = "RemBertTokenizer",
     .specials = {[BOS] = "[CLS]",
                  [EOS] = "[SEP]",
                  [UNKNOWN] = "[UNK]",
                  [SEP] = "[SEP]",
                  [PAD] = "[PAD]",
                  [CLS] = "[CLS]",
                  [MASK] = "[MASK]"},
     .before = {CLS},
     .after = {SEP},
     .kind = AS_FAST,
     .keeps_accents = true},
    {.name = "XLNetTokenizer",
     .specials = {[BOS] = "<s>",
                  [EOS] = "</s>",
                  [UNKNOWN] = "<unk>",
                  [SEP] = "<sep>",
                  [PAD] = "<pad>",
                  [CLS] = "<cls>",
                  [MASK] = "<mask>"},
     .after = {SEP, CLS},
     .more = "<eop> <eod>",
     .kind = AS_ALBERT},
    {.name = "MarianTokenizer",
     .specials = {[EOS] = "</s>", [UNKNOWN] = "<unk>", [PAD] = "<pad>"},
     .after = {EOS},
     .has_vocabulary = true,
     .has_target = true},
    {.name = "M2M100Tokenizer",
     .specials =
         {[BOS] = "<s>", [EOS] = "</s>", [UNKNOWN] = "<unk>", [SEP] = "</s>", [PAD] = "<pad>"},
     .before = {LANGUAGE},
     .after = {EOS},
     .more = m2m_languages,
     .language = "en",
     .has_vocabulary = true},
};

static bool is_class(const char *name, const char *own) {
    size_t n = strlen(own);
    return !strncmp(name, own, n) && (!name[n] || !strcmp(name + n, "Fast"));
}

// Of folders whose tokenizer_config.json names no class.
static const char *const classes_of_models[][2] = {{"deberta-v2", "DebertaV2Tokenizer"},
                                                   {"albert", "AlbertTokenizer"},
                                                   {"fnet", "FNetTokenizer"},
                                                   {"rembert", "RemBertTokenizer"},
                                                   {"xlnet", "XLNetTokenizer"},
                                                   {"big_bird", "BigBirdTokenizer"},
                                                   {"xlm-roberta", "XLMRobertaTokenizer"},
                                                   {"xglm", "XGLMTokenizer"},
                                                   {"marian", "MarianTokenizer"},
                                                   {"m2m_100", "M2M100Tokenizer"}};

static TokenizerClass class_of_tokenizer(const SentencePiece *s, const json_t *config) {
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    const json_t *model = name ? NULL : json_of_folder(s->b, "config.json");
    const char *type = json_string_value(json_object_get(model, "model_type"));
    for (size_t i = 0; type && i < sizeof classes_of_models / sizeof *classes_of_models; i++)
        if (!strcmp(type, classes_of_models[i][0])) name = classes_of_models[i][1];
    for (size_t i = 0; name && i < sizeof tokenizer_classes / sizeof *tokenizer_classes; i++)
        if (is_class(name, tokenizer_classes[i].name)) return tokenizer_classes[i];
    if (name && !is_class(name, "PreTrainedTokenizer"))
        tokenizer_fatal(s->b,
                        "the tokenizer_class \"%s\" may have other ids than the file\nhint: "
                        "save_pretrained of its fast tokenizer "
                        "writes a tokenizer.json",
                        name);
    return (TokenizerClass){0};
}

static void refuse_option(const SentencePiece *s, const json_t *config, const char *option) {
    if (json_flag(s->b, config, option, false))
        tokenizer_fatal(s->b, "tokenizer_config.json says \"%s\": true, which is not supported",
                        option);
}

// ------------------------------------------------------------------------------------------ pieces
static Piece control_piece(const char *text) {
    return (Piece){.text = text,
                   .type = strcmp(text, "<unk>") ? PIECE_CONTROL : PIECE_UNKNOWN,
                   .strips_left = !strcmp(text, "<mask>")};
}

// The class's own tokens, then the file's pieces.
static void renumber_pieces(SentencePiece *s, const TokenizerClass *c) {
    SentencePiece all = *s;
    if (s->n < c->instead_of)
        tokenizer_fatal(s->b, "SentencePiece's file has %zu pieces: too few for a %s", s->n,
                        c->name);
    all.pieces = NULL, all.n = all.capacity = 0, all.unknown += c->offset;
    for (size_t i = 0; i < 6 && c->front[i]; i++) {
        if (!strcmp(c->front[i], "<unk>")) all.unknown = (int64_t)i;
        add_piece(&all, control_piece(c->front[i]));
    }
    for (int64_t i = 2; i < c->offset; i++)
        add_piece(&all, control_piece(arena_printf(s->b->arena, "<unk_%lld>", (long long)i)));
    for (size_t i = c->instead_of; i < s->n; i++) add_piece(&all, s->pieces[i]);
    *s = all;
}

// Files that were trained with all tokens have "offset" 0.
static void set_offset(const SentencePiece *s, TokenizerClass *c, const json_t *config) {
    const json_t *own = json_object_get(config, "offset"),
                 *sentence = json_object_get(config, "mask_token_sent");
    if (!c->offset) return;
    if (own && json_integer_value(own) == 0) {
        c->offset = 0, *c->front = NULL;
        return;
    }
    if ((own && json_integer_value(own) != c->offset) || json_is_null(sentence))
        tokenizer_fatal(s->b,
                        "a %s with another \"offset\" than %lld and 0, or without "
                        "\"mask_token_sent\", is not supported",
                        c->name, (long long)c->offset);
}

static Piece *find_piece(const SentencePiece *s, const char *text) {
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->pieces[i].text, text)) return &s->pieces[i];
    return NULL;
}

static const char *text_of_token(const json_t *token) {
    const char *content = json_string_value(json_object_get(token, "content"));
    return content ? content : json_string_value(token);
}

// If tokenizer_config.json gives ids after the pieces, its tokens continue them.
static void add_listed(SentencePiece *s, const json_t *config) {
    const json_t *listed = json_object_get(config, "added_tokens_decoder"), *token;
    char id[24];
    while (snprintf(id, sizeof id, "%zu", s->n),
           (token = json_object_get(listed, id)) && text_of_token(token))
        add_piece(
            s, (Piece){.text = text_of_token(token),
                       .type = json_is_true(json_object_get(token, "special")) ? PIECE_CONTROL
                                                                               : PIECE_USER_DEFINED,
                       .strips_left = json_is_true(json_object_get(token, "lstrip"))});
}

static bool is_listed(const json_t *config, const char *text) {
    const char *id;
    const json_t *token;
    json_object_foreach(
        (json_t *)json_object_get(config, "added_tokens_decoder"), id,
        token) if (text_of_token(token) && !strcmp(text_of_token(token), text)) return true;
    return false;
}

static void add_behind(SentencePiece *s, const json_t *config, Piece p) {
    add_listed(s, config);
    if (!is_listed(config, p.text) && !find_piece(s, p.text)) add_piece(s, p);
}

static const char *special_text(const TokenizerClass *c, const json_t *config, int which) {
    const json_t *own = json_object_get(config, special_keys[which]);
    return own && c->specials[which] ? text_of_token(own) : c->specials[which];
}

static void add_more(SentencePiece *s, const TokenizerClass *c, const json_t *config) {
    size_t n;
    for (const char *at = c->more; at && *at; at += n + (at[n] == ' ')) {
        n = strcspn(at, " ");
        add_behind(s, config, control_piece(arena_strndup(s->b->arena, at, n)));
    }
}

static _Noreturn void refuse_absent(const SentencePiece *s, const char *text) {
    tokenizer_fatal(s->b, "\"%s\" is none of the pieces, which the tokenizer_class wants",
                    text ? text : "its own token");
}

// The mask comes after languages.
static void add_specials(SentencePiece *s, const TokenizerClass *c, const json_t *config) {
    bool mask_last = *c->front != NULL;
    for (int which = BOS; which < SPECIALS; which++) {
        const char *text = special_text(c, config, which);
        Piece *known = text ? find_piece(s, text) : NULL,
              p = {.text = text, .type = PIECE_CONTROL, .strips_left = which == MASK};
        if (which == MASK && mask_last) add_more(s, c, config);
        if (known && known->type != PIECE_UNKNOWN) known->type = PIECE_CONTROL;
        if (known) known->strips_left = which == MASK;
        if (text && !known && c->own_ends && which != MASK) refuse_absent(s, text);
        if (text && !known) add_behind(s, config, p);
    }
    if (!mask_last) add_more(s, c, config);
    add_listed(s, config);
}

// ----------------------------------------------------------------------------------- around a text
static int32_t id_of(const SentencePiece *s, const char *text) {
    for (int32_t i = 0; text && i < s->b->n_tokens; i++) {
        const struct BuilderToken *t = &s->b->tokens[i];
        if (t->added && t->length == strlen(text) && !memcmp(t->text, text, t->length)) return i;
    }
    return -1;
}

static const char *text_around(const SentencePiece *s, const TokenizerClass *c,
                               const json_t *config, int which) {
    if (which != LANGUAGE) return special_text(c, config, which);
    const char *name = json_string_value(json_object_get(config, "src_lang"));
    if (!name) name = c->language;
    const char *token = c->has_vocabulary ? arena_printf(s->b->arena, "__%s__", name) : name;
    if (id_of(s, token) < 0)
        tokenizer_fatal(
            s->b, "\"src_lang\" is %s in tokenizer_config.json, which is none of the languages",
            name);
    return token;
}

static void put(SentencePiece *s, Bytes *to, const char *text) {
    int32_t id = id_of(s, text);
    if (id < 0) refuse_absent(s, text);
    bytes_append(to, &id, sizeof id);
}

static void put_items(TokenizerBuilder *b, const Bytes *ids, int32_t type) {
    for (size_t i = 0; i < ids->length / sizeof(int32_t); i++)
        bytes_append(&b->pair, &(burin_pair_item){((int32_t *)ids->data)[i], type},
                     sizeof(burin_pair_item));
}

// [CLS] A [SEP] B [SEP] with types 0 0 0 1 1; those of fairseq have two </s> in the middle, and all
// types are 0.
static void put_pair(TokenizerBuilder *b, bool fairseq) {
    Bytes sep = {.data = b->after.data, .length = sizeof(int32_t)};
    put_items(b, &b->before, 0);
    bytes_append(&b->pair, &(burin_pair_item){BURIN_PAIR_FIRST, 0}, sizeof(burin_pair_item));
    put_items(b, &sep, 0);
    if (fairseq) put_items(b, &sep, 0);
    bytes_append(&b->pair, &(burin_pair_item){BURIN_PAIR_SECOND, !fairseq},
                 sizeof(burin_pair_item));
    put_items(b, &b->after, !fairseq);
}

static void put_named(SentencePiece *s, const TokenizerClass *c, const json_t *config) {
    TokenizerBuilder *b = s->b;
    for (int i = 0; i < 1 && c->before[i]; i++)
        put(s, &b->before, text_around(s, c, config, c->before[i]));
    for (int i = 0; i < 2 && c->after[i]; i++)
        put(s, &b->after, text_around(s, c, config, c->after[i]));
    if (c->after[0] == SEP) put_pair(b, *c->specials[SEP] == '<' && c->kind != AS_ALBERT);
    b->head.eos = id_of(s, special_text(c, config, EOS));
}

static void put_around_text(SentencePiece *s, const json_t *config, bool adds_bos, bool adds_eos) {
    int32_t bos = (int32_t)s->bos, eos = (int32_t)s->eos;
    if (bos >= 0 && bos < s->b->n_tokens && json_flag(s->b, config, "add_bos_token", adds_bos))
        bytes_append(&s->b->before, &bos, sizeof bos);
    if (eos >= 0 && eos < s->b->n_tokens && json_flag(s->b, config, "add_eos_token", adds_eos))
        bytes_append(&s->b->after, &eos, sizeof eos);
    s->b->head.eos = eos >= 0 && eos < s->b->n_tokens ? eos : -1;
}

// Texts of tokens that tokenizer_config.json or else special_tokens_map.json calls special.
static void add_additional(SentencePiece *s, const json_t *config) {
    static const char key[] = "additional_special_tokens";
    const json_t *list = json_object_get(config, key), *token;
    size_t i;
    if (!list) list = json_object_get(json_of_folder(s->b, "special_tokens_map.json"), key);
    Map places;
    map_init(&places, s->b->arena);
    for (size_t k = s->n; k-- > 0;) map_put(&places, s->pieces[k].text, (void *)(k + 1));
    json_array_foreach(list, i, token) {
        const char *text = text_of_token(token);
        size_t place = text ? (size_t)map_get(&places, text) : 0;
        if (place && s->pieces[place - 1].type != PIECE_UNKNOWN)
            s->pieces[place - 1].type = PIECE_CONTROL;
        if (!text || place) continue;
        add_piece(s, control_piece(text));
        map_put(&places, text, (void *)s->n);
    }
}

// Special tokens are left out by their texts, too.
static void drop_special_answers(SentencePiece *s) {
    Map special;
    map_init(&special, s->b->arena);
    for (size_t i = 0; i < s->n; i++) {
        Piece *p = &s->pieces[i];
        if (p->type == PIECE_CONTROL || p->type == PIECE_UNKNOWN) map_put(&special, p->text, p);
    }
    for (size_t i = 0; i < s->n; i++)
        if (s->pieces[i].answer && map_get(&special, s->pieces[i].answer)) s->pieces[i].answer = "";
}

static void build_of_vocabulary(SentencePiece *s, TokenizerClass *c, const json_t *config) {
    const char *codes = json_string_value(json_object_get(config, "language_codes")),
               *unknown = special_text(c, config, UNKNOWN);
    SentencePiece file = *s;
    if (codes && !strcmp(codes, "wmt21")) c->more = wmt21_languages;
    if (!unknown) tokenizer_fatal(s->b, "\"unk_token\" is no text in tokenizer_config.json");
    number_pieces(s, unknown, c->has_target,
                  c->has_target && json_flag(s->b, config, "separate_vocabs", false));
    add_specials(s, c, config);
    place_listed(s, config);
    add_additional(s, config);
    drop_special_answers(s);
    add_unnumbered(s, &file);
    s->n_own = s->n, s->strips_answer = true;
    build_of_pieces(s, NULL);
    s->b->head.flags |= BURIN_FLOAT_SCORES | (c->has_target ? BURIN_LEADING_CODE : 0);
    put_named(s, c, config);
}

void build_of_class(SentencePiece *s) {
    const json_t *config = json_of_folder(s->b, "tokenizer_config.json");
    TokenizerClass c = class_of_tokenizer(s, config);
    bool named = c.before[0] || c.after[0];
    refuse_option(s, config, "split_by_punct");
    if (c.has_vocabulary) {
        build_of_vocabulary(s, &c, config);
        return;
    }
    if (c.language && json_flag(s->b, config, "legacy_behaviour", false))
        c.before[0] = NONE, c.after[1] = LANGUAGE;
    set_offset(s, &c, config);
    if (*c.front) renumber_pieces(s, &c);
    s->n_own = s->n;
    if (c.kind != AS_FILE) {
        s->as_fast = true, s->joins_numbers = c.kind == AS_FAST;
        s->lowers = json_flag(s->b, config, "do_lower_case", c.lowers);
        s->keeps_accents = json_flag(s->b, config, "keep_accents", c.keeps_accents);
    } else {
        refuse_option(s, config, "do_lower_case");
    }
    if (named) add_specials(s, &c, config);
    build_of_pieces(s, config);
    if (!s->as_fast) s->b->head.flags |= BURIN_FLOAT_SCORES;
    if (named)
        put_named(s, &c, config);
    else
        put_around_text(s, config, c.bos, c.eos);
}
