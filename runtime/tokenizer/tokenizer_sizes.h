// Memory of an encoding, from numbers of the tokenizer's file: a size that would wrap is SIZE_MAX,
// which no allocator grants. Included by tokenizer.c only.
#ifndef BURIN_TOKENIZER_SIZES_H
#define BURIN_TOKENIZER_SIZES_H
#include "tokenizer_models.h"

typedef struct Sizes {
    size_t buffer, copy, symbols, heap, steps, ways, marks, runs, total;  // bytes
} Sizes;

static size_t size_sum(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

static size_t size_product(size_t a, size_t b) { return b && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// Of `count` elements, rounded up to 16.
static size_t size_of_array(size_t count, size_t element) {
    size_t bytes = size_product(count, element);
    return bytes > SIZE_MAX - 15 ? SIZE_MAX : (bytes + 15) & ~(size_t)15;
}

// The bytes of a piece after all steps, and in *copies those of all copies.
static size_t piece_bytes(const burin_tokenizer *t, size_t piece, size_t *copies) {
    const burin_pretokenizer *steps = burin_at(t, t->pretokenizers);
    uint8_t sign[4];
    for (uint32_t i = 0; i < t->pretokenizers.count; i++) {
        size_t before = piece, n = steps[i].kind == BURIN_STEP_METASPACE
                                       ? (size_t)burin_utf8_write(sign, steps[i].code)
                                       : 0;
        if (n) piece = size_product(n, size_sum(piece, 1));
        if (steps[i].kind == BURIN_STEP_PREFIX_SPACE) piece = size_sum(piece, 1);
        if (steps[i].kind == BURIN_STEP_WRITE_BYTES) piece = size_product(piece, 2);
        if (piece > before || n) *copies = size_sum(*copies, piece);
    }
    return piece;
}

// Maximum memory of a search, in bytes, and for each byte of the text. Vocabularies in use need a
// few bytes for each byte.
enum { MATCH_BYTES_EVER = 512 << 20, MATCH_BYTES_A_BYTE = 16 << 10 };

static bool matching_is_large(const Sizes *s, size_t text) {
    return size_sum(s->ways, s->marks) >
           size_sum(MATCH_BYTES_EVER, size_product(MATCH_BYTES_A_BYTE, text));
}

// Positions in a text are uint32_t.
static Sizes sizes_of(const burin_tokenizer *t, size_t text) {
    size_t grown = size_sum(size_product(t->growth, text), t->growth_bytes);
    size_t normalized = t->normalizers.count ? grown : text, copies = 0,
           piece = piece_bytes(t, normalized, &copies);
    size_t places = size_sum(piece, 1), symbols = piece;
    if (t->model == BURIN_MODEL_BPE && t->flags & BURIN_BYTE_FALLBACK)
        symbols = size_product(symbols, 1 + (size_t)t->affix.count);  // bytes of the affix, too
    Sizes s = {.symbols = size_of_array(size_sum(symbols, 1), sizeof(Symbol)),
               .copy = size_of_array(copies, 1)};
    if (t->normalizers.count) s.buffer = size_of_array(size_sum(normalized, 1), 1);
    if (t->model == BURIN_MODEL_BPE)
        s.heap = size_of_array(size_sum(size_product(3, symbols), 1), sizeof(Candidate));
    if (t->model == BURIN_MODEL_UNIGRAM) s.steps = size_of_array(places, sizeof(Step));
    s.ways = size_of_array(size_sum(t->match_ways, size_product(places, t->match_loop_ways)),
                           sizeof(burin_way));
    s.marks = size_of_array(places, t->match_mark_bytes);
    s.runs = size_of_array(size_product(size_sum(t->pretokenizers.count, 1), t->match_runs),
                           sizeof(burin_stops));
    const size_t parts[] = {s.buffer, s.buffer, s.copy,  s.symbols, s.heap,
                            s.steps,  s.ways,   s.marks, s.runs};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) s.total = size_sum(s.total, parts[i]);
    if (symbols >= UINT32_MAX / 4 || matching_is_large(&s, text)) s.total = SIZE_MAX;
    return s;
}
#endif
