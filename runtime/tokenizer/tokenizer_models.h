// The models: one piece of text to ids. Included by runtime/tokenizer/tokenizer.c only.
//
//   BPE        symbols merge pair by pair, the lowest rank first (a heap, so that a piece may be long)
//   WordPiece  the longest token that fits, from the left
//   Unigram    the segmentation of the highest score (Viterbi)
//   WordLevel  the piece is a token or unknown
//   Longest    the longest token that fits, from the left, over any bytes (RWKV)
#ifndef BURIN_TOKENIZER_MODELS_H
#define BURIN_TOKENIZER_MODELS_H
#include "tokenizer_characters.h"
#include "tokenizer_normalize.h"

enum { NO_SYMBOL = 0xffffffff, ABSENT = 0xffffffff };

typedef struct Symbol {
    uint32_t id, previous, next;  // id ABSENT: a character without a token
} Symbol;

typedef struct Candidate {
    uint32_t rank, at, result;
} Candidate;

typedef struct Step {  // Unigram: the best way to a byte
    double score;
    uint32_t begin, id;
} Step;

typedef struct Encoder {
    const burin_tokenizer *t;
    const burin_encoding *out;
    size_t n;              // ids so far, also those beyond the capacity
    const uint8_t *first;  // where the text begins, after normalization
    NormalizeMemory normalizing;
    uint8_t *copy;  // copies of a piece by the steps, one after the other
    Symbol *symbols;
    Candidate *heap;
    uint32_t n_heap;
    Step *steps;
    bool after_unknown;  // the last id was unknown, in this piece
    bool piece_marked;   // text between added tokens here has marked bytes
} Encoder;

static void emit(Encoder *e, uint32_t id) {
    if (e->n < e->out->capacity) e->out->ids[e->n] = (int32_t)id;
    e->n++;
}

// The token of a vocabulary entry.
static inline uint32_t token_of(const burin_tokenizer *t, uint32_t id) {
    return id < (uint32_t)t->size
               ? id
               : ((const uint32_t *)burin_at(t, t->aliases))[id - (uint32_t)t->size];
}

static inline burin_span token_span(const burin_tokenizer *t, uint32_t id) {
    const uint32_t *offsets = burin_at(t, t->text_offsets);
    const uint8_t *text = burin_at(t, t->text);
    return (burin_span){text + offsets[id], text + offsets[id + 1]};
}

// The token whose text is the span.
static uint32_t find_token(const burin_tokenizer *t, burin_span s) {
    size_t n = (size_t)(s.end - s.begin);
    uint32_t mask = t->slots.count - 1, h = burin_text_hash((uint32_t)BURIN_HASH_START, s.begin, n);
    const uint32_t *slots = burin_at(t, t->slots);
    for (h = burin_hash_finish(h);; h++) {
        if (!slots[h & mask]) return ABSENT;
        burin_span token = token_span(t, slots[h & mask] - 1);
        if ((size_t)(token.end - token.begin) == n && !memcmp(token.begin, s.begin, n))
            return slots[h & mask] - 1;
    }
}

// Special tokens in text that is only text (`plain`, marks) are never found by way of the model.
static bool is_hidden(const Encoder *e, uint32_t id) {
    const uint8_t *kinds = burin_at(e->t, e->t->kinds);
    return (e->out->plain || e->piece_marked) &&
           (kinds[id] & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL;
}

static uint32_t find_visible(const Encoder *e, burin_span s) {
    uint32_t id = find_token(e->t, s);
    return id == ABSENT || is_hidden(e, id) ? ABSENT : id;
}

static void emit_unknown(Encoder *e) {
    const burin_tokenizer *t = e->t;
    if (t->unknown >= 0 && !(e->after_unknown && t->flags & BURIN_FUSE_UNKNOWN))
        emit(e, (uint32_t)t->unknown);
    e->after_unknown = true;
}

// --------------------------------------------------------------------------------------------- BPE
static const burin_merge *find_merge(const burin_tokenizer *t, uint32_t left, uint32_t right) {
    const uint32_t *slots = burin_at(t, t->merge_slots);
    const burin_merge *merges = burin_at(t, t->merges);
    uint32_t mask = t->merge_slots.count - 1;
    if (left == ABSENT || right == ABSENT) return NULL;
    for (uint32_t h = burin_pair_hash(left, right);; h++) {
        uint32_t slot = slots[h & mask];
        if (!slot) return NULL;
        if (merges[slot - 1].left == left && merges[slot - 1].right == right)
            return &merges[slot - 1];
    }
}

static bool comes_first(Candidate a, Candidate b) {
    return a.rank != b.rank ? a.rank < b.rank : a.at < b.at;
}

static void heap_push(Encoder *e, Candidate c) {
    uint32_t i = e->n_heap++;
    for (; i && comes_first(c, e->heap[(i - 1) / 2]); i = (i - 1) / 2)
        e->heap[i] = e->heap[(i - 1) / 2];
    e->heap[i] = c;
}

static Candidate heap_pop(Encoder *e) {
    Candidate top = e->heap[0], last = e->heap[--e->n_heap];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < e->n_heap; i = child) {
        if (child + 1 < e->n_heap && comes_first(e->heap[child + 1], e->heap[child])) child++;
        if (!comes_first(e->heap[child], last)) break;
        e->heap[i] = e->heap[child];
    }
    e->heap[i] = last;
    return top;
}

static void offer_pair(Encoder *e, uint32_t at) {
    uint32_t next = at == NO_SYMBOL ? NO_SYMBOL : e->symbols[at].next;
    if (next == NO_SYMBOL) return;
    const burin_merge *m = find_merge(e->t, e->symbols[at].id, e->symbols[next].id);
    if (m && !is_hidden(e, m->result)) heap_push(e, (Candidate){m->rank, at, m->result});
}

static bool still_there(const Encoder *e, Candidate c) {
    uint32_t next = e->symbols[c.at].next;
    if (e->symbols[c.at].previous == c.at || next == NO_SYMBOL)
        return false;  // merged away: it points at itself
    const burin_merge *m = find_merge(e->t, e->symbols[c.at].id, e->symbols[next].id);
    return m && m->result == c.result;
}

static void merge_symbols(Encoder *e, uint32_t n) {
    e->n_heap = 0;
    for (uint32_t i = 0; i + 1 < n; i++) offer_pair(e, i);
    while (e->n_heap) {
        Candidate c = heap_pop(e);
        if (!still_there(e, c)) continue;
        Symbol *left = &e->symbols[c.at], *right = &e->symbols[left->next];
        uint32_t gone = left->next;
        left->id = c.result, left->next = right->next;
        right->previous = gone;
        if (left->next != NO_SYMBOL) e->symbols[left->next].previous = c.at;
        offer_pair(e, left->previous);
        offer_pair(e, c.at);
    }
}

static uint32_t add_symbol(Encoder *e, uint32_t n, uint32_t id) {
    e->symbols[n] = (Symbol){.id = id, .previous = n ? n - 1 : NO_SYMBOL, .next = n + 1};
    return n + 1;
}

static bool bytes_have_tokens(const Encoder *e, burin_span s) {
    const int32_t *ids = burin_at(e->t, e->t->byte_ids);
    if (!(e->t->flags & BURIN_BYTE_FALLBACK)) return false;
    for (; s.begin < s.end; s.begin++)
        if (ids[*s.begin] < 0) return false;
    return true;
}

// The unknown token that waits, if one does.
static uint32_t flush_unknown(Encoder *e, uint32_t n) {
    bool waits = e->after_unknown;
    e->after_unknown = false;
    return waits ? add_symbol(e, n, (uint32_t)e->t->unknown) : n;
}

// A character without a token: its bytes, or the unknown token (one for a run of them when fused),
// or nothing. As in Hugging Face's library, the unknown token waits for a character that has one:
// bytes do not end the run, and come before it.
static uint32_t add_unknown(Encoder *e, uint32_t n, burin_span character) {
    const int32_t *ids = burin_at(e->t, e->t->byte_ids);
    if (bytes_have_tokens(e, character)) {
        for (; character.begin < character.end; character.begin++)
            n = add_symbol(e, n, (uint32_t)ids[*character.begin]);
        return n;
    }
    if (!(e->t->flags & BURIN_FUSE_UNKNOWN)) n = flush_unknown(e, n);
    e->after_unknown = e->t->unknown >= 0;
    return n;
}

static uint32_t add_known(Encoder *e, uint32_t n, uint32_t id) {
    return add_symbol(e, flush_unknown(e, n), id);
}

// A character of a word in the vocabulary's form: with the affix before it inside a word, or after
// it at the end.
static burin_span with_affix(const burin_tokenizer *t, burin_span c, burin_span word,
                             uint8_t *buffer) {
    size_t n = (size_t)(c.end - c.begin), affix = t->affix.count;
    bool behind = t->flags & BURIN_AFFIX_BEHIND;
    if (!affix || (behind ? c.end != word.end : c.begin == word.begin)) return c;
    memcpy(buffer + (behind ? 0 : affix), c.begin, n);
    memcpy(buffer + (behind ? n : 0), burin_at(t, t->affix), affix);
    return (burin_span){buffer, buffer + n + affix};
}

static uint32_t split_characters(Encoder *e, burin_span s) {
    uint8_t buffer[4 + BURIN_MAX_AFFIX];
    uint32_t n = 0, code;
    for (burin_span c = {s.begin, s.begin}; c.begin < s.end; c.begin = c.end) {
        c.end = c.begin + burin_utf8_read(c.begin, s.end, &code);
        burin_span written = with_affix(e->t, c, s, buffer);
        uint32_t id = find_visible(e, written);
        n = id == ABSENT ? add_unknown(e, n, written) : add_known(e, n, id);
    }
    return flush_unknown(e, n);
}

static uint32_t split_bytes(Encoder *e, burin_span s) {
    const int32_t *ids = burin_at(e->t, e->t->byte_ids);
    uint32_t n = 0;
    for (const uint8_t *p = s.begin; p < s.end; p++) {
        int32_t id = ids[*p + (p + 1 == s.end ? 256 : 0)];
        n = id < 0 ? add_unknown(e, n, (burin_span){p, p + 1}) : add_known(e, n, (uint32_t)id);
    }
    return flush_unknown(e, n);
}

static void encode_bpe(Encoder *e, burin_span s) {
    uint32_t whole = e->t->flags & BURIN_IGNORE_MERGES ? find_visible(e, s) : ABSENT;
    if (whole != ABSENT) {
        emit(e, token_of(e->t, whole));
        return;
    }
    uint32_t n = e->t->flags & BURIN_BYTE_LEVEL ? split_bytes(e, s) : split_characters(e, s);
    if (!n) return;
    e->symbols[n - 1].next = NO_SYMBOL;
    merge_symbols(e, n);
    for (uint32_t i = 0; i != NO_SYMBOL; i = e->symbols[i].next)
        emit(e, token_of(e->t, e->symbols[i].id));
}

// --------------------------------------------------------------------------- the sorted vocabulary
// The ids from `low` to `high` of the sorted vocabulary share their first `depth` bytes; keeps
// those whose next byte is `byte`.
typedef struct Prefix {
    uint32_t low, high, depth;
} Prefix;

static int byte_at(const burin_tokenizer *t, uint32_t id, uint32_t depth) {
    burin_span s = token_span(t, id);
    return (size_t)(s.end - s.begin) > depth ? s.begin[depth] : -1;
}

static uint32_t first_not_below(const burin_tokenizer *t, const uint32_t *ids, Prefix p, int byte) {
    while (p.low < p.high) {
        uint32_t middle = (p.low + p.high) / 2;
        if (byte_at(t, ids[middle], p.depth) < byte)
            p.low = middle + 1;
        else
            p.high = middle;
    }
    return p.low;
}

// False if no token continues this way. *id is the token that ends here, or ABSENT.
static bool narrow(const burin_tokenizer *t, const uint32_t *ids, Prefix *p, uint8_t byte,
                   uint32_t *id) {
    uint32_t low = first_not_below(t, ids, *p, byte);
    p->high = first_not_below(t, ids, (Prefix){low, p->high, p->depth}, byte + 1);
    p->low = low, p->depth++;
    *id = p->low < p->high && byte_at(t, ids[p->low], p->depth) < 0 ? ids[p->low] : ABSENT;
    return p->low < p->high;
}

// The longest token at the start of the span, among those with the prefix before it. Returns its
// end, or NULL.
static const uint8_t *longest_token(const Encoder *e, Prefix p, burin_span s, uint32_t *longest) {
    const uint32_t *ids = burin_at(e->t, e->t->sorted);
    const uint8_t *end = NULL;
    uint32_t id;
    for (const uint8_t *at = s.begin; at < s.end && narrow(e->t, ids, &p, *at, &id); at++)
        if (id != ABSENT && !is_hidden(e, id)) *longest = id, end = at + 1;
    return end;
}

// --------------------------------------------------------------------------------------- WordPiece
// The tokens inside a word: those that have the affix.
static Prefix inside_prefix(const Encoder *e) {
    const uint8_t *affix = burin_at(e->t, e->t->affix);
    Prefix p = {0, e->t->sorted.count, 0};
    uint32_t id;
    for (uint32_t i = 0;
         i < e->t->affix.count && narrow(e->t, burin_at(e->t, e->t->sorted), &p, affix[i], &id);)
        i++;
    return p;
}

static void encode_wordpiece(Encoder *e, burin_span s) {
    const Prefix first_part = {0, e->t->sorted.count, 0}, other_part = inside_prefix(e);
    size_t first = e->n, characters = 0;
    uint32_t id;
    for (const uint8_t *p = s.begin; p < s.end; p++) characters += (*p & 0xc0) != 0x80;
    bool known = characters <= e->t->max_word_characters;
    for (const uint8_t *at = s.begin, *end; known && at < s.end; at = end) {
        end =
            longest_token(e, at == s.begin ? first_part : other_part, (burin_span){at, s.end}, &id);
        known = end != NULL;
        if (known) emit(e, id);
    }
    if (known) return;
    e->n = first, e->after_unknown = false;
    emit_unknown(e);
}

// ----------------------------------------------------------------------------------------- Unigram
static void reach(Encoder *e, uint32_t end, Step step) {
    if (e->steps[end].begin == NO_SYMBOL || step.score > e->steps[end].score) e->steps[end] = step;
}

// SentencePiece adds in floats, which turns ties.
static double sum(const burin_tokenizer *t, double a, double b) {
    return t->flags & BURIN_FLOAT_SCORES ? (double)(float)(a + b) : a + b;
}

static void reach_from(Encoder *e, burin_span s, uint32_t begin, uint32_t character) {
    const double *scores = burin_at(e->t, e->t->scores);
    const uint32_t *ids = burin_at(e->t, e->t->sorted);
    Prefix p = {0, e->t->sorted.count, 0};
    uint32_t id;
    bool single = false;
    for (const uint8_t *at = s.begin + begin; at < s.end && narrow(e->t, ids, &p, *at, &id); at++) {
        if (id == ABSENT || is_hidden(e, id)) continue;
        single |= p.depth == character;
        reach(e, begin + p.depth, (Step){sum(e->t, e->steps[begin].score, scores[id]), begin, id});
    }
    double unknown = sum(e->t, scores[e->t->scores.count - 1], 0);  // 10 below the lowest score
    if (!single)
        reach(e, begin + character,
              (Step){sum(e->t, e->steps[begin].score, unknown), begin, ABSENT});
}

static bool is_unknown(const burin_tokenizer *t, uint32_t id) {
    return id == ABSENT || (int32_t)id == t->unknown;
}

// An unknown character becomes its bytes, if all of them have tokens.
static void emit_unigram(Encoder *e, burin_span piece, uint32_t id) {
    const int32_t *ids = burin_at(e->t, e->t->byte_ids);
    if (is_unknown(e->t, id)) id = find_visible(e, piece);
    if (id != ABSENT)
        emit(e, token_of(e->t, id));
    else if (bytes_have_tokens(e, piece))
        for (; piece.begin < piece.end; piece.begin++)
            emit(e, token_of(e->t, (uint32_t)ids[*piece.begin]));
    else if (e->t->unknown >= 0)
        emit(e, (uint32_t)e->t->unknown);
}

static void encode_unigram(Encoder *e, burin_span s) {
    uint32_t n = (uint32_t)(s.end - s.begin), code, at, after;
    for (uint32_t i = 0; i <= n; i++) e->steps[i] = (Step){0, NO_SYMBOL, ABSENT};
    for (at = 0; at < n; at += after) {
        after = (uint32_t)burin_utf8_read(s.begin + at, s.end, &code);
        reach_from(e, s, at, after);
    }
    for (at = n; at > 0; at = e->steps[at].begin)  // turn the chain around
        e->symbols[e->steps[at].begin] = (Symbol){e->steps[at].id, 0, at};
    for (at = 0; at < n; at = after) {
        uint32_t id = e->symbols[at].id;
        after = e->symbols[at].next;
        while (after < n && is_unknown(e->t, id) && is_unknown(e->t, e->symbols[after].id))
            after = e->symbols[after].next;
        emit_unigram(e, (burin_span){s.begin + at, s.begin + after}, id);
    }
}

static void encode_longest(Encoder *e, burin_span s) {
    while (s.begin < s.end) {
        uint32_t id;
        const uint8_t *end = longest_token(e, (Prefix){0, e->t->sorted.count, 0}, s, &id);
        if (end)
            emit(e, id);
        else
            emit_unknown(e);
        s.begin = end ? end : s.begin + 1;
    }
}

static void encode_piece(Encoder *e, burin_span s) {
    if (s.begin == s.end) return;
    e->after_unknown = false;
    uint32_t id;
    switch (e->t->model) {
        case BURIN_MODEL_BPE:
            encode_bpe(e, s);
            break;
        case BURIN_MODEL_WORDPIECE:
            encode_wordpiece(e, s);
            break;
        case BURIN_MODEL_UNIGRAM:
            encode_unigram(e, s);
            break;
        case BURIN_MODEL_LONGEST:
            encode_longest(e, s);
            break;
        default:
            if ((id = find_visible(e, s)) != ABSENT)
                emit(e, id);
            else
                emit_unknown(e);
    }
}
#endif
