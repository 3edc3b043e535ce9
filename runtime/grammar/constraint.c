// Tokens against a grammar. For a mask the tokens are walked in the order of their bytes, where neighbours share their first
// bytes: what was read of the last one is not read again, and all that begin with bytes that are not possible are left out at
// once; where a state goes on with itself, as within a text, tokens of bytes that it stays at are not walked. A mask belongs to
// a state and is kept.
#include "constraint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "tokenizer/tokenizer.h"

typedef struct vocabulary_text {
    int32_t id, begin, bytes, shared;  // in the texts; bytes that it shares with the one before
    uint64_t has[2];                   // bytes below 128 that are in it
    bool plain;                        // there are no others
} vocabulary_text;

enum { KEPT_MASKS = 64 };

typedef struct kept_mask {
    int32_t state, n;
    uint64_t *bits;  // [vocab_size]
} kept_mask;

struct burin_constraint {
    burin_grammar grammar;
    burin_recognizer *matcher;
    int32_t state, vocab_size, n_tokens, *place;  // place: [vocab_size], in `tokens`; -1: without text
    char *texts;
    vocabulary_text *tokens;  // [n_tokens], by their bytes
    int32_t *states;          // of the walk: behind each byte of a token
    kept_mask masks[KEPT_MASKS];
    int32_t next_mask;
    bool drops, first;  // does the first token of a text lose its space; is the next token the first?
};

static const char *sorted_texts;  // while qsort runs

static int by_text(const void *a, const void *b) {
    const vocabulary_text *x = a, *y = b;
    int32_t n = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = memcmp(sorted_texts + x->begin, sorted_texts + y->begin, (size_t)n);
    return order                  ? order
           : x->bytes != y->bytes ? (x->bytes > y->bytes) - (x->bytes < y->bytes)
                                  : (x->id > y->id) - (x->id < y->id);
}

size_t burin_mark_text(const void *tokenizer, int32_t id, const char *const *marks, char *text) {
    size_t bytes;
    const char *own = marks && burin_token_is_special(tokenizer, id) ? burin_token_text(tokenizer, id, &bytes) : NULL;
    for (; own && *marks && bytes > 1 && bytes <= BURIN_LONGEST_MARK; marks++)
        if (memmem(*marks, strlen(*marks), own, bytes)) return memcpy(text, own, bytes), bytes;
    return 0;
}

static void read_texts(burin_constraint *c, const void *tokenizer, const char *const *marks) {
    size_t room = 0, n = 0, longest = burin_decode_max(tokenizer) + BURIN_LONGEST_MARK;
    char *text = burin_allocate(1, longest), *first = burin_allocate(1, longest);
    for (int32_t id = 0; id < c->vocab_size; id++) {
        burin_decoder inside = {.started = true};
        size_t bytes = burin_decode(tokenizer, &inside, id, text);
        if (!bytes) bytes = burin_mark_text(tokenizer, id, marks, text);
        if (!bytes) continue;
        burin_decoder outside = {0};
        c->drops |= *text == ' ' && burin_decode(tokenizer, &outside, id, first) < bytes;
        if (n + bytes > room) {
            char *more = burin_allocate(1, room = 2 * (room + bytes) + (1 << 16));
            if (n) memcpy(more, c->texts, n);
            free(c->texts);
            c->texts = more;
        }
        memcpy(c->texts + n, text, bytes);
        c->tokens[c->n_tokens++] = (vocabulary_text){.id = id, .begin = (int32_t)n, .bytes = (int32_t)bytes};
        n += bytes;
    }
    c->states = burin_allocate(longest + 1, sizeof *c->states);
    free(text), free(first);
}

static void note_bytes(const burin_constraint *c, vocabulary_text *t) {
    t->plain = true;
    for (int32_t i = 0; i < t->bytes; i++) {
        uint8_t byte = (uint8_t)c->texts[t->begin + i];
        t->plain &= byte < 128;
        t->has[byte / 64 & 1] |= (uint64_t)1 << byte % 64;
    }
}

static void sort_texts(burin_constraint *c) {
    sorted_texts = c->texts;
    qsort(c->tokens, (size_t)c->n_tokens, sizeof *c->tokens, by_text);
    for (int32_t i = 0; i < c->vocab_size; i++) c->place[i] = -1;
    for (int32_t i = 0; i < c->n_tokens; i++) {
        vocabulary_text *t = &c->tokens[i];
        const vocabulary_text *last = i ? t - 1 : t;
        while (i && t->shared < t->bytes && t->shared < last->bytes &&
               c->texts[t->begin + t->shared] == c->texts[last->begin + t->shared])
            t->shared++;
        c->place[t->id] = i;
        note_bytes(c, t);
    }
}

burin_constraint *burin_constraint_open(burin_grammar *grammar, const void *tokenizer, int32_t vocab_size,
                                        const char *const *marks) {
    burin_constraint *c = burin_allocate(1, sizeof *c);
    c->grammar = *grammar, c->vocab_size = vocab_size;
    c->matcher = burin_recognizer_open(&c->grammar);
    c->tokens = burin_allocate((size_t)vocab_size, sizeof *c->tokens);
    c->place = burin_allocate((size_t)vocab_size, sizeof *c->place);
    read_texts(c, tokenizer, marks);
    sort_texts(c);
    burin_constraint_start(c, false);
    return c;
}

static void forget_masks(burin_constraint *c) {
    for (int32_t i = 0; i < KEPT_MASKS; i++) c->masks[i].state = 0;
}

void burin_constraint_close(burin_constraint *c) {
    if (!c) return;
    burin_recognizer_close(c->matcher);
    burin_grammar_free(&c->grammar);
    for (int32_t i = 0; i < KEPT_MASKS; i++) free(c->masks[i].bits);
    free(c->tokens), free(c->place), free(c->texts), free(c->states), free(c);
}

void burin_constraint_start(burin_constraint *c, bool first) {
    c->state = burin_recognizer_start(c->matcher);
    c->first = first && c->drops;
}

static int32_t state_behind(burin_constraint *c, int32_t token) {
    int32_t at = token >= 0 && token < c->vocab_size ? c->place[token] : -1, state = at < 0 ? 0 : c->state;
    int32_t from = state && c->first && c->texts[c->tokens[at].begin] == ' ';
    for (int32_t i = from; state && i < c->tokens[at].bytes; i++)
        state = burin_recognizer_step(c->matcher, state, (uint8_t)c->texts[c->tokens[at].begin + i]);
    return state;
}

bool burin_constraint_allows(burin_constraint *c, int32_t token) { return state_behind(c, token) != 0; }
bool burin_constraint_may_end(const burin_constraint *c) { return burin_recognizer_accepts(c->matcher, c->state); }
bool burin_constraint_must_end(const burin_constraint *c) { return !burin_recognizer_goes_on(c->matcher, c->state); }
bool burin_constraint_overflowed(const burin_constraint *c) { return burin_recognizer_overflowed(c->matcher); }

void burin_constraint_take(burin_constraint *c, int32_t token) {
    int32_t before = c->state = state_behind(c, token);
    c->first = false;
    c->state = burin_recognizer_tidy(c->matcher, c->state);
    if (c->state != before) forget_masks(c);
}

// Behind the token's last byte, when `c->states` is right for the bytes that it shares; *dead: so many of its first bytes are
// not possible.
static bool walk_token(burin_constraint *c, const vocabulary_text *t, int32_t *dead) {
    if (t->shared >= *dead) return false;
    *dead = INT32_MAX;
    for (int32_t i = t->shared; i < t->bytes; i++) {
        c->states[i + 1] = burin_recognizer_step(c->matcher, c->states[i], (uint8_t)c->texts[t->begin + i]);
        if (!c->states[i + 1]) {
            *dead = i + 1;
            return false;
        }
    }
    return true;
}

// The bytes below 128 that lead from the state to itself.
static void find_loop(burin_constraint *c, uint64_t loop[2]) {
    for (int byte = 0; byte < 128; byte++)
        if (burin_recognizer_step(c->matcher, c->state, (uint8_t)byte) == c->state) loop[byte / 64] |= (uint64_t)1 << byte % 64;
}

static void walk_tokens(burin_constraint *c, kept_mask *mask) {
    int32_t dead = INT32_MAX;
    bool stayed = false;  // did the one before stay at the state?
    uint64_t loop[2] = {0};
    find_loop(c, loop);
    c->states[0] = c->state;
    mask->n = 0;
    memset(mask->bits, 0, ((size_t)c->vocab_size + 63) / 64 * sizeof *mask->bits);
    for (const vocabulary_text *t = c->tokens; t < c->tokens + c->n_tokens; t++) {
        bool stays = t->plain && !(t->has[0] & ~loop[0]) && !(t->has[1] & ~loop[1]);
        for (int32_t i = 1; stayed && !stays && i <= t->shared; i++) c->states[i] = c->state;
        if (stays) dead = INT32_MAX;
        stayed = stays;
        if (!stays && !walk_token(c, t, &dead)) continue;
        mask->bits[t->id / 64] |= (uint64_t)1 << t->id % 64;
        mask->n++;
    }
}

static const kept_mask *mask_of_state(burin_constraint *c) {
    for (int32_t i = 0; i < KEPT_MASKS; i++)
        if (c->masks[i].state == c->state) return &c->masks[i];
    kept_mask *mask = &c->masks[c->next_mask++ % KEPT_MASKS];
    if (!mask->bits) mask->bits = burin_allocate(((size_t)c->vocab_size + 63) / 64, sizeof *mask->bits);
    mask->state = c->state;
    walk_tokens(c, mask);
    return mask;
}

static int32_t mask_first(burin_constraint *c, float *logits) {
    int32_t n = 0;
    for (int32_t i = 0; i < c->vocab_size; i++) {
        bool allowed = burin_constraint_allows(c, i);
        if (!allowed) logits[i] = -INFINITY;
        n += allowed;
    }
    return n;
}

int32_t burin_constraint_mask(burin_constraint *c, float *logits) {
    if (c->first) return mask_first(c, logits);
    const kept_mask *mask = mask_of_state(c);
    for (int32_t i = 0; i < c->vocab_size; i++)
        if (!(mask->bits[i / 64] >> i % 64 & 1)) logits[i] = -INFINITY;
    return mask->n;
}
