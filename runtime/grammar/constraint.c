// Tokens against a grammar. For a mask the tree of all tokens is walked: what was read of the last one is not read again, and
// all that begin with bytes that are not possible are left out at once. A mask belongs to a state and is kept.
#include "constraint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "plain_steps.h"
#include "vocabulary.h"

enum { KEPT_MASKS = 64 };

typedef struct kept_mask {
    int32_t state, n;
    uint64_t *bits;  // [vocab_size]
} kept_mask;

struct burin_constraint {
    burin_grammar grammar;
    burin_recognizer *matcher;
    burin_vocabulary vocabulary;
    int32_t state, *states;  // states: of the walk, behind each byte of a token
    burin_plain_steps plain;
    uint8_t *allowed;  // [size + 64], while a mask is made: 1, or 0
    kept_mask masks[KEPT_MASKS];
    int32_t next_mask;
    bool first;  // is the next token the first, which may lose its space?
};

burin_constraint *burin_constraint_open(burin_grammar *grammar, const void *tokenizer, int32_t vocab_size,
                                        const char *const *marks) {
    burin_constraint *c = burin_allocate(1, sizeof *c);
    c->grammar = *grammar;
    c->matcher = burin_recognizer_open(&c->grammar);
    burin_vocabulary_open(&c->vocabulary, tokenizer, vocab_size, marks);
    c->states = burin_allocate(c->vocabulary.longest + 1, sizeof *c->states);
    c->allowed = burin_allocate((size_t)vocab_size + 64, 1);
    burin_constraint_start(c, false);
    return c;
}

static void forget_states(burin_constraint *c) {
    burin_plain_forget(&c->plain);
    for (int32_t i = 0; i < KEPT_MASKS; i++) c->masks[i].state = -1;
}

void burin_constraint_close(burin_constraint *c) {
    if (!c) return;
    burin_recognizer_close(c->matcher);
    burin_grammar_free(&c->grammar);
    for (int32_t i = 0; i < KEPT_MASKS; i++) free(c->masks[i].bits);
    burin_vocabulary_close(&c->vocabulary);
    burin_plain_forget(&c->plain);
    free(c->states), free(c->allowed), free(c);
}

void burin_constraint_start(burin_constraint *c, bool first) {
    c->state = burin_recognizer_start(c->matcher);
    c->first = first && c->vocabulary.drops;
}

static int32_t state_behind(burin_constraint *c, int32_t token) {
    const burin_vocabulary *v = &c->vocabulary;
    if (token < 0 || token >= v->size || v->begin[token] == v->begin[token + 1]) return 0;
    int32_t state = c->state;
    int64_t from = v->begin[token] + (c->first && v->texts[v->begin[token]] == ' ');
    for (int64_t i = from; state && i < v->begin[token + 1]; i++)
        state = burin_recognizer_step(c->matcher, state, (uint8_t)v->texts[i]);
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
    if (c->state != before) forget_states(c);
}

// The nodes below one, which leads to `state`.
static void walk_below(burin_constraint *c, const burin_token_tree *tree, const burin_token_node *node, int32_t state) {
    const burin_token_node *end = tree->nodes + node->skip;
    const uint8_t *class_of;
    uint8_t *allowed = c->allowed;
    int32_t n_classes, *states = c->states;
    const int32_t *steps = burin_recognizer_steps(c->matcher, &class_of, &n_classes);
    states[1] = state;
    for (node++; node < end;) {
        state = states[node->depth];
        int32_t next = steps[(size_t)state * (size_t)n_classes + class_of[node->byte]];
        if (next < 0) {
            next = burin_recognizer_step(c->matcher, state, (uint8_t)node->byte);
            steps = burin_recognizer_steps(c->matcher, &class_of, &n_classes);
        }
        states[node->depth + 1] = next;
        allowed[node->token] = next != 0;
        node = next ? node + 1 : tree->nodes + node->skip;
    }
}

// Of the tokens that begin with the bytes first to last, those of at most so many characters.
static void allow_begins(burin_constraint *c, const burin_token_tree *tree, int first, int last, int32_t characters) {
    for (int32_t i = tree->begins[first]; i < tree->begins[last + 1]; i++)
        c->allowed[tree->tokens[i]] = c->vocabulary.characters[tree->tokens[i]] <= characters;
}

static void walk_tree(burin_constraint *c, burin_token_group group) {
    const burin_token_tree *tree = &c->vocabulary.groups[group];
    const burin_token_node *node = tree->nodes, *end = node + tree->n_nodes;
    burin_alphabet letters = group == BURIN_WIDE ? BURIN_ANY_LETTER : BURIN_LETTERS;
    bool by_letters = group == BURIN_WIDE || group == BURIN_LOWER;
    int32_t reach = group == BURIN_WIDE ? burin_plain_reach(&c->plain, c->matcher, c->state, letters) : -1;
    if (reach >= 0) allow_begins(c, tree, 0x80, 0xff, reach);
    for (; node < end && !(reach >= 0 && node->byte >= 0x80); node = tree->nodes + node->skip) {
        int32_t next = burin_recognizer_step(c->matcher, c->state, (uint8_t)node->byte);
        int32_t behind = next && by_letters && node->byte < 0x80 ? burin_plain_reach(&c->plain, c->matcher, next, letters) : -1;
        if (behind >= 0)
            allow_begins(c, tree, node->byte, node->byte, behind + 1);
        else if (next)
            c->allowed[node->token] = 1, walk_below(c, tree, node, next);
    }
}

static void allow_group(burin_constraint *c, burin_token_group group) {
    const burin_token_tree *tree = &c->vocabulary.groups[group];
    burin_alphabet alphabet = group == BURIN_WIDE ? BURIN_ANY : BURIN_ASCII;
    int32_t reach = group == BURIN_OTHER ? -1 : burin_plain_reach(&c->plain, c->matcher, c->state, alphabet);
    if (reach < 0) {
        walk_tree(c, group);
        return;
    }
    int32_t n = tree->at_least[reach + 1], all = n > tree->n_tokens / 2;
    for (int32_t i = 0; all && i < c->vocabulary.size; i++) c->allowed[i] |= tree->all[i];
    for (int32_t i = all ? n : 0; i < (all ? tree->n_tokens : n); i++) c->allowed[tree->by_characters[i]] = !all;
}

// A bit for each of 64 bytes.
static uint64_t bits_of(const uint8_t *bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t eight;
        memcpy(&eight, bytes + 8 * i, 8);
        bits |= (eight * 0x0102040810204080u >> 56) << 8 * i;
    }
    return bits;
}

static void make_mask(burin_constraint *c, kept_mask *mask) {
    const burin_vocabulary *v = &c->vocabulary;
    memset(c->allowed, 0, (size_t)v->size + 1);
    for (burin_token_group g = 0; g < BURIN_TOKEN_GROUPS; g++) allow_group(c, g);
    for (int32_t i = 0; i < v->n_copies; i++) c->allowed[v->copies[i][1]] = c->allowed[v->copies[i][0]];
    c->allowed[v->size] = 0;
    mask->n = 0;
    for (int32_t i = 0; i < (v->size + 63) / 64; i++) {
        mask->bits[i] = bits_of(c->allowed + 64 * i);
        mask->n += __builtin_popcountll(mask->bits[i]);
    }
}

static const kept_mask *mask_of_state(burin_constraint *c) {
    for (int32_t i = 0; i < KEPT_MASKS; i++)
        if (c->masks[i].bits && c->masks[i].state == c->state) return &c->masks[i];
    kept_mask *mask = &c->masks[c->next_mask++ % KEPT_MASKS];
    if (!mask->bits) mask->bits = burin_allocate(((size_t)c->vocabulary.size + 63) / 64, sizeof *mask->bits);
    mask->state = c->state;
    make_mask(c, mask);
    return mask;
}

static int32_t mask_first(burin_constraint *c, float *logits) {
    int32_t n = 0;
    for (int32_t i = 0; i < c->vocabulary.size; i++) {
        bool allowed = burin_constraint_allows(c, i);
        if (!allowed) logits[i] = -INFINITY;
        n += allowed;
    }
    return n;
}

int32_t burin_constraint_mask(burin_constraint *c, float *logits) {
    if (c->first) return mask_first(c, logits);
    const kept_mask *mask = mask_of_state(c);
    for (int32_t i = 0; i < c->vocabulary.size; i += 64) {
        uint64_t bits = mask->bits[i / 64];
        int32_t n = c->vocabulary.size - i < 64 ? c->vocabulary.size - i : 64;
        for (int32_t k = 0; k < n && !bits; k++) logits[i + k] = -INFINITY;
        for (int32_t k = 0; k < n && bits && ~bits; k++) logits[i + k] = bits >> k & 1 ? logits[i + k] : -INFINITY;
    }
    return mask->n;
}
