// Tokens against a grammar. For a mask the tree of all tokens is walked: shared prefixes are read
// once, and all tokens with an impossible prefix are left out at once. A mask belongs to a state
// and is kept.
#include "constraint.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "text_transitions.h"
#include "tokenizer/tokenizer.h"
#include "vocabulary.h"

enum { KEPT_MASKS = 64 };

typedef struct kept_mask {
    int32_t state, n;
    uint64_t *bits;  // [words]
} kept_mask;

struct burin_constraint {
    burin_grammar grammar;
    burin_recognizer *matcher;
    burin_vocabulary vocabulary;
    int32_t state, *states;  // states of two walks after each byte of a token
    burin_text_transitions plain;
    uint64_t *bits;  // of the mask that is being made
    kept_mask masks[KEPT_MASKS];
    int32_t next_mask;
    char problem[128];  // burin_constraint_overflow_text
    bool first;         // is the next token the first, which may lose its space?
};

bool burin_grammar_find_tokens(burin_grammar *g, const void *tokenizer, int32_t vocab_size) {
    for (int32_t i = 0; i < g->n_references; i++) {
        burin_token_reference *r = &g->references[i];
        size_t bytes;
        if (*r->text) r->id = burin_token_find(tokenizer, r->text, strlen(r->text));
        if (r->id >= 0 && r->id < vocab_size && burin_token_text(tokenizer, r->id, &bytes))
            continue;
        if (*r->text)
            burin_format(g->error, sizeof g->error,
                         "the grammar refers to %s, which is no token of this model", r->text);
        else
            burin_format(g->error, sizeof g->error,
                         "the grammar refers to token %d, which this model does not have", r->id);
        return false;
    }
    return true;
}

burin_constraint *burin_constraint_open(burin_grammar *grammar, const void *tokenizer,
                                        int32_t vocab_size, const char *const *marks) {
    if (!burin_grammar_find_tokens(grammar, tokenizer, vocab_size)) {
        burin_grammar_free(grammar);
        return NULL;
    }
    burin_constraint *c = burin_allocate(1, sizeof *c);
    c->grammar = *grammar;
    c->matcher = burin_recognizer_open(&c->grammar);
    burin_vocabulary_open(&c->vocabulary, tokenizer, vocab_size, marks);
    c->states = burin_allocate(2 * (c->vocabulary.longest + 1), sizeof *c->states);
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
    free(c->states), free(c);
}

void burin_constraint_start(burin_constraint *c, bool first) {
    c->state = burin_recognizer_start(c->matcher);
    c->first = first && c->vocabulary.drops;
}

static bool is_visible(const burin_vocabulary *v, int32_t token) {
    return v->begin[token] != v->begin[token + 1];
}

// Bytes that begin a reference of the grammar are no text in it.
static bool token_is_text(const burin_constraint *c, int32_t token) {
    const burin_vocabulary *v = &c->vocabulary;
    return is_visible(v, token) &&
           !(c->grammar.n_references && (uint8_t)v->texts[v->begin[token]] >= BURIN_NO_REFERENCE);
}

// The state after the token of a reference, or after any other token; 0: the grammar does not want
// it.
static int32_t state_after_reference(burin_constraint *c, int32_t reference, bool negated) {
    int32_t state =
        burin_recognizer_step(c->matcher, c->state, negated ? BURIN_NO_REFERENCE : BURIN_REFERENCE);
    for (int i = 0; i < 2 && state; i++)
        state = burin_recognizer_step(c->matcher, state, burin_reference_byte(reference, i));
    return state;
}

// Adds the readings of a token by the references of the grammar to those of its text.
static int32_t join_references(burin_constraint *c, int32_t token, int32_t state) {
    for (int32_t i = 0; i < c->grammar.n_references; i++) {
        bool own = c->grammar.references[i].id == token;
        int32_t other =
            own || is_visible(&c->vocabulary, token) ? state_after_reference(c, i, !own) : 0;
        state = !state ? other : !other ? state : burin_recognizer_join(c->matcher, state, other);
    }
    return state;
}

static int32_t state_behind(burin_constraint *c, int32_t token) {
    const burin_vocabulary *v = &c->vocabulary;
    if (token < 0 || token >= v->size) return 0;
    int32_t state = token_is_text(c, token) ? c->state : 0;
    int64_t from = v->begin[token] + (state && c->first && v->texts[v->begin[token]] == ' ');
    for (int64_t i = from; state && i < v->begin[token + 1]; i++)
        state = burin_recognizer_step(c->matcher, state, (uint8_t)v->texts[i]);
    return join_references(c, token, state);
}

bool burin_constraint_allows(burin_constraint *c, int32_t token) {
    return state_behind(c, token) != 0;
}
bool burin_constraint_may_end(const burin_constraint *c) {
    return burin_recognizer_accepts(c->matcher, c->state);
}
bool burin_constraint_must_end(const burin_constraint *c) {
    return !burin_recognizer_goes_on(c->matcher, c->state);
}
bool burin_constraint_overflowed(const burin_constraint *c) {
    return burin_recognizer_overflowed(c->matcher);
}

const char *burin_constraint_overflow_text(burin_constraint *c) {
    burin_recognizer_overflow_text(c->matcher, c->problem, sizeof c->problem);
    return c->problem;
}

void burin_constraint_take(burin_constraint *c, int32_t token) {
    burin_recognizer_new_budget(c->matcher);
    int32_t before = c->state = state_behind(c, token);
    c->first = false;
    c->state = burin_recognizer_tidy(c->matcher, c->state);
    if (c->state != before) forget_states(c);
}

// -------------------------------------------------------------------------------- forced tokens
enum { MOST_FORCED = 256 };  // bytes

static size_t forced_bytes(burin_constraint *c, char *bytes) {
    size_t n = 0;
    int32_t state = c->state;
    while (n < MOST_FORCED && state) {
        int byte = burin_recognizer_only_byte(c->matcher, state);
        if (byte < 0 || byte >= BURIN_NO_REFERENCE) break;
        bytes[n++] = (char)byte;
        state = burin_recognizer_step(c->matcher, state, (uint8_t)byte);
    }
    return n;
}

// Returns the bytes of the longest token of the tree that `text` begins with, or 0.
static size_t longest_in_tree(const burin_token_tree *tree, int32_t none, const char *text,
                              size_t n, int32_t *token) {
    size_t longest = 0, depth = 0;
    int32_t i = 0, end = tree->n_nodes;
    while (i < end && depth < n) {
        const burin_token_node *node = &tree->nodes[i];
        if (node->byte != (uint8_t)text[depth]) {
            i = node->skip;
            continue;
        }
        depth++;
        if (node->token != none) longest = depth, *token = node->token;
        end = node->skip, i++;
    }
    return longest;
}

static size_t longest_forced_token(const burin_vocabulary *v, const char *text, size_t n,
                                   int32_t *token) {
    size_t longest = 0;
    for (burin_token_group group = 0; group < BURIN_TOKEN_GROUPS; group++) {
        int32_t other = -1;
        size_t bytes = longest_in_tree(&v->groups[group], v->size, text, n, &other);
        if (bytes > longest) longest = bytes, *token = other;
    }
    return longest;
}

int32_t burin_constraint_forced(burin_constraint *c, int32_t *tokens, int32_t most) {
    char bytes[MOST_FORCED];
    int32_t count = 0;
    if (c->first || burin_constraint_overflowed(c)) return 0;
    size_t n = forced_bytes(c, bytes), at = 0;
    while (count < most && at < n) {
        size_t length = longest_forced_token(&c->vocabulary, bytes + at, n - at, &tokens[count]);
        if (!length) break;
        at += length, count++;
    }
    return count;
}

static void allow(uint64_t *bits, int32_t token, bool allowed) {
    bits[token / 64] |= (uint64_t)allowed << token % 64;
}

// Of which characters the texts of a group are: all, all but the first. BURIN_ALPHABETS: any.
static const struct {
    burin_alphabet all, others;
} group_alphabets[BURIN_TOKEN_GROUPS] = {
    [BURIN_LOWER] = {BURIN_ASCII, BURIN_LETTERS},
    [BURIN_WORD] = {BURIN_ASCII, BURIN_WORDS},
    [BURIN_PLAIN] = {BURIN_ASCII, BURIN_ALPHABETS},
    [BURIN_WIDE] = {BURIN_ANY, BURIN_BEYOND},
    [BURIN_MIXED] = {BURIN_ANY, BURIN_ANY_LETTER},
    [BURIN_OTHER] = {BURIN_ALPHABETS, BURIN_ALPHABETS},
};

// For each first byte: the allowed length of its tokens in characters; WALK: depends on the
// characters.
typedef struct first_bytes {
    int16_t reach[256];
} first_bytes;
enum { WALK = -1 };

static void find_reaches(burin_constraint *c, burin_token_group group, first_bytes *f) {
    const burin_token_tree *tree = &c->vocabulary.groups[group];
    burin_alphabet others = group_alphabets[group].others;
    bool by_others = others != BURIN_ALPHABETS;
    int32_t wide = by_others ? burin_plain_reach(&c->plain, c->matcher, c->state, others) : WALK,
            last = 0, behind = 0;
    for (const burin_token_node *node = tree->nodes; node < tree->nodes + tree->n_nodes;
         node = tree->nodes + node->skip) {
        if (wide >= 0 && node->byte >= 0x80) {
            f->reach[node->byte] = (int16_t)wide;
            continue;
        }
        int32_t next = burin_recognizer_step(c->matcher, c->state, (uint8_t)node->byte);
        if (next && next != last && by_others)
            behind = burin_plain_reach(&c->plain, c->matcher, last = next, others);
        f->reach[node->byte] =
            (int16_t)(!next                                           ? 0
                      : by_others && node->byte < 0x80 && behind >= 0 ? behind + 1
                                                                      : WALK);
    }
}

static int32_t characters_of(int reach) {
    return reach < 0 ? 0 : reach < BURIN_PLAIN_LONGEST ? reach : BURIN_PLAIN_LONGEST;
}

// Tokens that begin with a space, or all others: one by one, or all except some.
static void allow_half(burin_constraint *c, const burin_token_tree *tree, const first_bytes *f,
                       bool space) {
    int32_t n = 0, all = 0;
    for (int byte = 0; byte < 256; byte++) {
        const int32_t *ends = tree->ends[byte];
        if ((byte == ' ') == space)
            n += ends[characters_of(f->reach[byte])] - ends[0],
                all += ends[BURIN_PLAIN_LONGEST] - ends[0];
    }
    bool most = n > all / 2;
    for (int32_t i = 0; i < c->vocabulary.words && most; i++) c->bits[i] |= tree->all[space][i];
    for (int byte = 0; byte < 256; byte++) {
        const int32_t *ends = tree->ends[byte], own = characters_of(f->reach[byte]);
        if ((byte == ' ') != space) continue;
        for (int32_t i = ends[most ? own : 0]; i < ends[most ? BURIN_PLAIN_LONGEST : own]; i++)
            c->bits[tree->tokens[i] / 64] ^= (uint64_t)1 << tree->tokens[i] % 64;
    }
}

static void allow_reaches(burin_constraint *c, const burin_token_tree *tree, const first_bytes *f) {
    allow_half(c, tree, f, false);
    allow_half(c, tree, f, true);
}

// A walk of the trees below first bytes, piece by piece.
typedef struct tree_walk {
    burin_constraint *c;
    const burin_token_node *nodes, *root, *end, *child, *children_end;
    const first_bytes *first;
    int32_t state;  // after the first byte of the children
} tree_walk;

// A part of the tree: nodes, and the state before the first one at its depth.
typedef struct walk_piece {
    const burin_token_node *node, *end;
    int32_t *states;
} walk_piece;

static bool next_walk(tree_walk *w, walk_piece *p) {
    enum { LARGE = 256 };  // nodes: each child is a piece
    burin_recognizer *m = w->c->matcher;
    for (; w->child < w->children_end || w->root < w->end;) {
        bool below = w->child < w->children_end;
        const burin_token_node *node = below ? w->child : w->root, *behind = w->nodes + node->skip;
        if (below)
            w->child = behind;
        else
            w->root = behind;
        if (!below && w->first->reach[node->byte] != WALK) continue;
        int32_t state =
            burin_recognizer_step(m, below ? w->state : w->c->state, (uint8_t)node->byte);
        if (!state) continue;
        allow(w->c->bits, node->token, true);
        if (!below && behind - node > LARGE) {
            w->state = state, w->child = node + 1, w->children_end = behind;
            continue;
        }
        p->states[node->depth + 1] = state;
        p->node = node + 1, p->end = behind;
        if (p->node < p->end) return true;
    }
    return false;
}

// The steps that are known.
typedef struct known_steps {
    const int32_t *steps;
    const uint8_t *class_of;
    int32_t n_classes;
} known_steps;

static void read_steps(burin_constraint *c, known_steps *k) {
    k->steps = burin_recognizer_steps(c->matcher, &k->class_of, &k->n_classes);
}

static inline void walk_node(tree_walk *w, walk_piece *p, known_steps *k) {
    const burin_token_node *node = p->node;
    int32_t state = p->states[node->depth],
            next = k->steps[(size_t)state * (size_t)k->n_classes + k->class_of[node->byte]];
    if (__builtin_expect(next < 0, false)) {
        next = burin_recognizer_step(w->c->matcher, state, (uint8_t)node->byte);
        read_steps(w->c, k);
    }
    p->states[node->depth + 1] = next;
    allow(w->c->bits, node->token, next != 0);
    p->node = next ? node + 1 : w->nodes + node->skip;
}

// Two pieces at a time: a node waits for the one before it in its own.
static void walk_tree(burin_constraint *c, const burin_token_tree *tree, const first_bytes *f) {
    tree_walk w = {.c = c,
                   .nodes = tree->nodes,
                   .root = tree->nodes,
                   .end = tree->nodes + tree->n_nodes,
                   .first = f};
    walk_piece a = {.states = c->states}, b = {.states = c->states + c->vocabulary.longest + 1};
    known_steps k;
    bool more_a = next_walk(&w, &a), more_b = more_a && next_walk(&w, &b);
    read_steps(c, &k);
    while (more_a && more_b) {
        while (a.node < a.end && b.node < b.end) walk_node(&w, &a, &k), walk_node(&w, &b, &k);
        if (a.node >= a.end) more_a = next_walk(&w, &a);
        if (b.node >= b.end) more_b = next_walk(&w, &b);
        read_steps(c, &k);
    }
    for (walk_piece *last = more_a ? &a : &b; (more_a || more_b) && last->node < last->end;)
        walk_node(&w, last, &k);
}

static void allow_group(burin_constraint *c, burin_token_group group) {
    const burin_token_tree *tree = &c->vocabulary.groups[group];
    burin_alphabet all = group_alphabets[group].all;
    int32_t reach =
        all == BURIN_ALPHABETS ? WALK : burin_plain_reach(&c->plain, c->matcher, c->state, all);
    first_bytes f = {0};
    for (int byte = 0; byte < 256 && reach > 0; byte++) f.reach[byte] = (int16_t)reach;
    if (reach < 0) find_reaches(c, group, &f);
    if (tree->ends) allow_reaches(c, tree, &f);
    if (reach < 0) walk_tree(c, tree, &f);
}

static void mask_references(burin_constraint *c, kept_mask *mask) {
    const burin_vocabulary *v = &c->vocabulary;
    for (int32_t token = 0; token < v->size; token++)
        if (is_visible(v, token) && !token_is_text(c, token))
            mask->bits[token / 64] &= ~((uint64_t)1 << token % 64);
    for (int32_t i = 0; i < c->grammar.n_references; i++) {
        int32_t id = c->grammar.references[i].id;
        if (state_after_reference(c, i, false)) allow(mask->bits, id, true);
        bool others = state_after_reference(c, i, true) != 0;
        for (int32_t token = 0; token < v->size && others; token++)
            if (token != id && is_visible(v, token)) allow(mask->bits, token, true);
    }
}

static void make_mask(burin_constraint *c, kept_mask *mask) {
    const burin_vocabulary *v = &c->vocabulary;
    c->bits = mask->bits;
    memset(mask->bits, 0, (size_t)v->words * sizeof *mask->bits);
    for (burin_token_group g = 0; g < BURIN_TOKEN_GROUPS; g++) allow_group(c, g);
    for (int32_t i = 0; i < v->n_copies; i++) {
        int32_t first = v->copies[i][0];
        allow(mask->bits, v->copies[i][1], mask->bits[first / 64] >> first % 64 & 1);
    }
    mask->bits[v->size / 64] &= ~((uint64_t)1 << v->size % 64);
    if (c->grammar.n_references) mask_references(c, mask);
    mask->n = 0;
    for (int32_t i = 0; i < v->words; i++) mask->n += __builtin_popcountll(mask->bits[i]);
}

static const kept_mask *mask_of_state(burin_constraint *c) {
    for (int32_t i = 0; i < KEPT_MASKS; i++)
        if (c->masks[i].bits && c->masks[i].state == c->state) return &c->masks[i];
    kept_mask *mask = &c->masks[c->next_mask++ % KEPT_MASKS];
    if (!mask->bits) mask->bits = burin_allocate((size_t)c->vocabulary.words, sizeof *mask->bits);
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

typedef uint32_t eight_words __attribute__((vector_size(32)));

static void keep_eight(float *logits, uint8_t bits) {
    static const float none[8] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY,
                                  -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    const eight_words each = {1, 2, 4, 8, 16, 32, 64, 128},
                      keep = (eight_words)((each & bits) != 0);
    eight_words own, other;
    memcpy(&own, logits, sizeof own), memcpy(&other, none, sizeof other);
    own = (own & keep) | (other & ~keep);
    memcpy(logits, &own, sizeof own);
}

int32_t burin_constraint_mask(burin_constraint *c, float *logits) {
    if (c->first) return mask_first(c, logits);
    const kept_mask *mask = mask_of_state(c);
    int32_t size = c->vocabulary.size, whole = size & ~7;
    for (int32_t i = 0; i < whole; i += 64) {
        uint64_t bits = mask->bits[i / 64];
        int32_t n = whole - i < 64 ? whole - i : 64;
        for (int32_t k = 0; k < n && !bits; k++) logits[i + k] = -INFINITY;
        for (int32_t k = 0; k < n && bits && ~bits; k += 8)
            keep_eight(logits + i + k, (uint8_t)(bits >> k));
    }
    for (int32_t i = whole; i < size; i++)
        logits[i] = mask->bits[i / 64] >> i % 64 & 1 ? logits[i] : -INFINITY;
    return mask->n;
}
