// Mutations that know a format: pieces of text by the rules of its grammar are written, put into
// the input, or around a part of it. A target lists its rules and defines LLVMFuzzerCustomMutator
// by FUZZ_GENERATOR:
//
//     static const FuzzRule RULES[] = {{"e", {"<n>", "(<e> + <e>)"}}, {"n", {"1", "0"}}, {0}};
//     FUZZ_GENERATOR(RULES)
#ifndef BURIN_FUZZ_GENERATE_H
#define BURIN_FUZZ_GENERATE_H
#include <stdint.h>
#include <string.h>

enum { FUZZ_ALTERNATIVES = 40, FUZZ_DEPTH = 12, FUZZ_PIECE = 4096 };

typedef struct FuzzRule {
    const char *name, *alternative[FUZZ_ALTERNATIVES];  // <name> in an alternative is another rule;
                                                        // ends with NULL
} FuzzRule;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

typedef struct FuzzWriter {
    const FuzzRule *rules;
    char text[FUZZ_PIECE];
    size_t n;
    uint64_t state;
} FuzzWriter;

static inline uint32_t fuzz_random(FuzzWriter *w, uint32_t below) {
    w->state = w->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((w->state >> 33) % below);
}

static inline const FuzzRule *fuzz_rule(const FuzzRule *rules, const char *name, size_t n) {
    while (rules->name && (strlen(rules->name) != n || memcmp(rules->name, name, n))) rules++;
    return rules->name ? rules : NULL;
}

// Writes one alternative; below the depth the first one, which each rule lists as its plainest.
static inline void fuzz_write(FuzzWriter *w, const FuzzRule *rule, int depth) {
    uint32_t n = 0;
    while (n < FUZZ_ALTERNATIVES && rule->alternative[n]) n++;
    const char *at = rule->alternative[depth > FUZZ_DEPTH ? 0 : fuzz_random(w, n)];
    while (*at && w->n < sizeof w->text) {
        const char *end = *at == '<' ? strchr(at, '>') : NULL;
        const FuzzRule *inner = end ? fuzz_rule(w->rules, at + 1, (size_t)(end - at) - 1) : NULL;
        if (inner)
            fuzz_write(w, inner, depth + 1), at = end + 1;
        else
            w->text[w->n++] = *at++;
    }
}

// Replaces data[from, to) by `n` bytes of a text; returns the new size, or the old one where there
// is no room.
static inline size_t fuzz_put(uint8_t *data, size_t size, size_t most, const size_t part[2],
                              const char *text, size_t n) {
    if (size - (part[1] - part[0]) + n > most) return size;
    memmove(data + part[0] + n, data + part[1], size - part[1]);
    memcpy(data + part[0], text, n);
    return size - (part[1] - part[0]) + n;
}

static inline size_t fuzz_generate(const FuzzRule *rules, uint8_t *data, size_t size, size_t most,
                                   unsigned seed) {
    static FuzzWriter w;
    w.rules = rules, w.n = 0, w.state = seed;
    uint32_t n_rules = 0, how = fuzz_random(&w, 8);
    while (rules[n_rules].name) n_rules++;
    if (how < 3) return LLVMFuzzerMutate(data, size, most);
    fuzz_write(&w, how == 3 ? rules : &rules[fuzz_random(&w, n_rules)], 0);
    size_t part[2] = {fuzz_random(&w, (uint32_t)size + 1), fuzz_random(&w, (uint32_t)size + 1)};
    if (part[0] > part[1]) part[1] = part[0];
    if (how == 3) part[0] = 0, part[1] = size;                       // all of it anew
    if (how == 4 || how == 5) part[1] = part[0];                     // inserted
    if (how == 6 && part[1] - part[0] > 64) part[1] = part[0] + 64;  // instead of a short part
    if (how < 7) return fuzz_put(data, size, most, part, w.text, w.n);
    size_t n = part[1] - part[0] < sizeof w.text ? part[1] - part[0]
                                                 : sizeof w.text;  // a part of the input, once more
    memcpy(w.text, data + part[0], n);
    return fuzz_put(data, size, most, (size_t[]){part[0], part[0]}, w.text, n);
}

#define FUZZ_GENERATOR(rules)                                                                \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) { \
        return fuzz_generate(rules, data, size, most, seed);                                 \
    }
#endif
