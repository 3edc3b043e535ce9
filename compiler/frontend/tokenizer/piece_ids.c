// Translators whose SentencePiece cuts texts, and whose vocab.json has the ids of pieces (Marian,
// M2M-100). Pieces are put in the order of these ids; those that vocab.json lacks come after all
// tokens and become the unknown one.
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/sentencepiece.h"
#include "util/files.h"
#include "util/json.h"

static const json_t *need_vocabulary(const SentencePiece *s, const char *name) {
    const json_t *vocabulary = json_of_folder(s->b, name), *id;
    const char *text;
    if (!vocabulary)
        tokenizer_fatal(s->b, "%s, which has the ids of its pieces, is missing beside it", name);
    json_object_foreach((json_t *)vocabulary, text, id) {
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) >= MAX_TOKENS)
            tokenizer_fatal(s->b, "\"%.80s\" has no id from 0 to %d in %s", text, MAX_TOKENS - 1,
                            name);
    }
    return vocabulary;
}

// The piece of this id, counting missing ids before it.
static Piece *piece_of_id(SentencePiece *s, json_int_t id) {
    while ((json_int_t)s->n <= id) add_piece(s, (Piece){.text = "", .type = PIECE_NONE});
    return &s->pieces[id];
}

static bool cuts_texts(const Piece *p) {
    return p->type == PIECE_NORMAL || p->type == PIECE_USER_DEFINED || p->type == PIECE_BYTE;
}

// Decoding leaves out the control tokens of the target's file.
static void drop_controls(SentencePiece *s, const SentencePiece *target, const json_t *vocabulary) {
    for (size_t i = 0; i < target->n; i++) {
        const json_t *id = json_object_get(vocabulary, target->pieces[i].text);
        if (id && target->pieces[i].type == PIECE_CONTROL)
            piece_of_id(s, json_integer_value(id))->answer = "";
    }
}

static void set_answers(SentencePiece *s, const SentencePiece *target, const char *name) {
    const json_t *vocabulary = need_vocabulary(s, name), *id;
    const char *text;
    for (size_t i = 0; i < s->n; i++) s->pieces[i].answer = "";
    json_object_foreach((json_t *)vocabulary, text, id) piece_of_id(s, json_integer_value(id))
        ->answer = text;
    drop_controls(s, target, vocabulary);
}

static SentencePiece target_of(const SentencePiece *s) {
    TokenizerBuilder *b = ARENA_NEW(s->b->arena, TokenizerBuilder);
    Source *source = ARENA_NEW(b->arena = s->b->arena, Source);
    source->name =
        arena_printf(b->arena, "%s/target.spm", path_folder(b->arena, s->b->source->name));
    b->source = source;
    if (access(source->name, F_OK)) tokenizer_fatal(s->b, "target.spm is missing beside it");
    return sentencepiece_message(b, map_file(b->arena, source->name));
}

void number_pieces(SentencePiece *s, const char *unknown, bool has_target, bool separate) {
    const json_t *vocabulary = need_vocabulary(s, "vocab.json"), *id;
    SentencePiece all = *s, target = has_target ? target_of(s) : *s;
    const char *text;
    all.pieces = NULL, all.n = all.capacity = 0;
    json_object_foreach((json_t *)vocabulary, text, id) {
        Piece *p = piece_of_id(&all, json_integer_value(id));
        if (p->type != PIECE_NONE)
            tokenizer_fatal(s->b, "\"%.80s\" and \"%.80s\" have one id, %lld, in vocab.json",
                            p->text, text, (long long)json_integer_value(id));
        *p = (Piece){.text = text, .type = PIECE_WHOLE};
    }
    id = json_object_get(vocabulary, unknown);
    if (!id)
        tokenizer_fatal(s->b, "\"%s\", the token for what is unknown, is not in vocab.json",
                        unknown);
    all.unknown = json_integer_value(id);
    for (size_t i = 0; i < s->n; i++) {
        const json_t *number = json_object_get(vocabulary, s->pieces[i].text);
        if (number && cuts_texts(&s->pieces[i]))
            all.pieces[json_integer_value(number)] = s->pieces[i];
    }
    all.pieces[all.unknown].type = PIECE_UNKNOWN;
    if (separate)
        set_answers(&all, &target, "target_vocab.json");
    else
        drop_controls(&all, &target, vocabulary);
    *s = all;
}

void add_unnumbered(SentencePiece *s, const SentencePiece *file) {
    const json_t *vocabulary = json_of_folder(s->b, "vocab.json");
    for (size_t i = 0; i < file->n; i++)
        if (cuts_texts(&file->pieces[i]) && !json_object_get(vocabulary, file->pieces[i].text))
            add_piece(s, file->pieces[i]), s->b->n_unnumbered++;
}

static void place_token(SentencePiece *s, json_int_t id, const json_t *token, const char *text) {
    Piece *p = piece_of_id(s, id);
    bool special = json_is_true(json_object_get(token, "special"));
    if (p->type != PIECE_NONE && strcmp(p->text, text)) return;
    if (p->type == PIECE_UNKNOWN) return;
    p->text = text, p->type = special ? PIECE_CONTROL : PIECE_USER_DEFINED;
    p->strips_left = json_is_true(json_object_get(token, "lstrip"));
}

void place_listed(SentencePiece *s, const json_t *config) {
    const char *key;
    const json_t *token;
    json_object_foreach((json_t *)json_object_get(config, "added_tokens_decoder"), key, token) {
        char *end;
        json_int_t id = (json_int_t)strtoll(key, &end, 10);
        const char *text = json_string_value(json_object_get(token, "content"));
        if (!text || *end || id < 0 || id >= MAX_TOKENS) continue;
        place_token(s, id, token, text);
    }
}
