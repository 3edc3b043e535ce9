// Normalization: the text between added tokens, step by step, each from one buffer to the other.
// Included by tokenizer.c only.
#ifndef BURIN_TOKENIZER_NORMALIZE_H
#define BURIN_TOKENIZER_NORMALIZE_H
#include "tokenizer_characters.h"
#include "tokenizer_charsmap.h"

enum {
    MAX_RUN = 64,
    HANGUL_FIRST = 0xac00,
    HANGUL_L = 0x1100,
    HANGUL_V = 0x1161,
    HANGUL_T = 0x11a7,
    HANGUL_COUNT = 11172
};

typedef struct Normalizing {
    const burin_tokenizer *t;
    const burin_normalizer *step;
    burin_match_memory memory;
    uint8_t *out, *start;
    bool moved;  // the original beginning is gone, a later character is the first now
    struct {
        uint32_t code, combining;
    } run[MAX_RUN];  // a starter and the combining characters after it
    int n_run;
} Normalizing;

static void put_bytes(Normalizing *z, const uint8_t *bytes, size_t n) {
    memcpy(z->out, bytes, n);
    z->out += n;
}

static void put_code(Normalizing *z, uint32_t code) { z->out += burin_utf8_write(z->out, code); }

static const burin_mapping *find_mapping(const Normalizing *z, uint32_t code) {
    const burin_mapping *m = burin_at(z->t, z->step->mappings);
    uint32_t low = 0, high = z->step->mappings.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (m[middle].code == code) return &m[middle];
        if (m[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static uint32_t combining_class(const Normalizing *z, uint32_t code) {
    const uint32_t *pairs = burin_at(z->t, z->step->classes);
    uint32_t low = 0, high = z->step->classes.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (pairs[2 * middle] == code) return pairs[2 * middle + 1];
        if (pairs[2 * middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

static void flush_run(Normalizing *z) {
    for (int i = 0; i < z->n_run; i++) put_code(z, z->run[i].code);
    z->n_run = 0;
}

// ---------------------------------------------------------------------------- NFD, NFKD, NFC, NFKC
static void decompose_code(Normalizing *z, uint32_t code) {
    uint32_t combining = code < 0x300 ? 0 : combining_class(z, code);
    if (!combining || z->n_run == MAX_RUN) flush_run(z);
    int i = z->n_run++;
    for (; i > 0 && z->run[i - 1].combining > combining; i--) z->run[i] = z->run[i - 1];
    z->run[i].code = code, z->run[i].combining = combining;
}

static void decompose_hangul(Normalizing *z, uint32_t code) {
    uint32_t s = code - HANGUL_FIRST;
    decompose_code(z, HANGUL_L + s / 588);
    decompose_code(z, HANGUL_V + s % 588 / 28);
    if (s % 28) decompose_code(z, HANGUL_T + s % 28);
}

static void decompose(Normalizing *z, uint32_t code) {
    const uint32_t *expansions = burin_at(z->t, z->t->expansions);
    const burin_mapping *m = code < 0xa0 ? NULL : find_mapping(z, code);
    if (code - HANGUL_FIRST < HANGUL_COUNT)
        decompose_hangul(z, code);
    else if (!m)
        decompose_code(z, code);
    else
        for (uint32_t i = 0; i < m->count; i++) decompose_code(z, expansions[m->offset + i]);
}

static uint32_t compose_hangul(uint32_t a, uint32_t b) {
    if (a - HANGUL_L < 19 && b - HANGUL_V < 21)
        return HANGUL_FIRST + ((a - HANGUL_L) * 21 + (b - HANGUL_V)) * 28;
    if (a - HANGUL_FIRST < HANGUL_COUNT && (a - HANGUL_FIRST) % 28 == 0 && b - HANGUL_T - 1 < 27)
        return a + (b - HANGUL_T);
    return 0;
}

static uint32_t compose_pair(const Normalizing *z, uint32_t a, uint32_t b) {
    const uint32_t *triples = burin_at(z->t, z->step->pairs);
    uint64_t wanted = (uint64_t)a << 32 | b;
    uint32_t low = 0, high = z->step->pairs.count, hangul = compose_hangul(a, b);
    while (!hangul && low < high) {
        uint32_t middle = (low + high) / 2;
        uint64_t here = (uint64_t)triples[3 * middle] << 32 | triples[3 * middle + 1];
        if (here == wanted) return triples[3 * middle + 2];
        if (here < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return hangul;
}

// A character composes with the run's starter unless one in between has at least its class.
static void compose_code(Normalizing *z, uint32_t code) {
    uint32_t combining = code < 0x300 ? 0 : combining_class(z, code), made = 0;
    bool free = z->n_run == 1 || (z->n_run > 1 && combining > z->run[z->n_run - 1].combining);
    if (free && z->run[0].combining == 0) made = compose_pair(z, z->run[0].code, code);
    if (made) {
        z->run[0].code = made;
        return;
    }
    if (!combining || z->n_run == MAX_RUN) flush_run(z);
    z->run[z->n_run].code = code, z->run[z->n_run++].combining = combining;
}

// ------------------------------------------------------------------------------------- other steps
static void map_code(Normalizing *z, uint32_t code) {
    const uint32_t *expansions = burin_at(z->t, z->t->expansions);
    const burin_mapping *m = find_mapping(z, code);
    if (!m) put_code(z, code);
    for (uint32_t i = 0; m && i < m->count; i++) put_code(z, expansions[m->offset + i]);
}

static void set_code(Normalizing *z, uint32_t code) {
    bool in = burin_set_has(z->t, z->step->set, code),
         apart = z->step->kind == BURIN_NORMALIZE_APART;
    if (in && !apart && z->out == z->start) z->moved = true;
    if (in && apart) *z->out++ = ' ';
    if (!in || apart) put_code(z, code);
    if (in && apart) *z->out++ = ' ';
}

static void normalize_codes(Normalizing *z, burin_span in) {
    uint32_t code;
    for (const uint8_t *p = in.begin; p < in.end;) {
        int n = burin_utf8_read(p, in.end, &code);
        if (n == 1 && code == BURIN_REPLACEMENT) {  // not UTF-8
            flush_run(z);
            put_bytes(z, p, 1);
        } else if (z->step->kind == BURIN_NORMALIZE_DECOMPOSE) {
            decompose(z, code);
        } else if (z->step->kind == BURIN_NORMALIZE_COMPOSE) {
            compose_code(z, code);
        } else if (z->step->kind == BURIN_NORMALIZE_MAP) {
            map_code(z, code);
        } else {
            set_code(z, code);
        }
        p += n;
    }
    flush_run(z);
}

// One character may become others and stay where it was; of several the last one counts.
static bool moves_start(const Normalizing *z, burin_span in, burin_span found) {
    uint32_t code;
    return found.begin == in.begin &&
           (!z->step->text.count ||
            found.begin + burin_utf8_read(in.begin, in.end, &code) < found.end);
}

static void replace_matches(Normalizing *z, burin_span in) {
    burin_matcher m = burin_matcher_of(z->t, z->step->pattern, in, z->memory);
    const uint8_t *from = in.begin;
    burin_span found;
    for (; burin_find(&m, from, &found); from = found.end) {
        z->moved |= moves_start(z, in, found);
        put_bytes(z, from, (size_t)(found.begin - from));
        put_bytes(z, burin_at(z->t, z->step->text), z->step->text.count);
    }
    put_bytes(z, from, (size_t)(in.end - from));
}

static burin_span without_spaces(burin_span s, bool left, bool right) {
    burin_matcher m = {.piece = s};
    uint32_t code;
    while (left && s.begin < s.end) {
        int n = burin_utf8_read(s.begin, s.end, &code);
        if (!burin_is_space(code)) break;
        s.begin += n;
    }
    while (right && s.end > s.begin) {
        const uint8_t *p = burin_previous(&m, s.end);
        burin_utf8_read(p, s.end, &code);
        if (!burin_is_space(code)) break;
        s.end = p;
    }
    return s;
}

// Returns the end of the shortest key at the span's start, or of the longest; NULL when there is
// none.
static const uint8_t *charsmap_key(const Normalizing *z, burin_span s, bool longest,
                                   uint32_t *value) {
    const burin_section units = z->step->pattern, texts = z->step->text;
    const Charsmap c = {burin_at(z->t, units), burin_at(z->t, texts), units.count, texts.count};
    const uint8_t *end = NULL,
                  *stop = s.end - s.begin > CHARSMAP_MAX_KEY ? s.begin + CHARSMAP_MAX_KEY : s.end;
    uint32_t node = charsmap_root(&c), found;
    for (const uint8_t *p = s.begin; p < stop && charsmap_enter(&c, &node, *p, &found); p++) {
        if (found == CHARSMAP_NO_VALUE) continue;
        *value = found, end = p + 1;
        if (!longest) return end;
    }
    return end;
}

static bool charsmap_find(const Normalizing *z, burin_span s, uint32_t *value) {
    return charsmap_key(z, s, false, value);
}

// A character and the marks on it (the step's set; none on a control character, set b), or a line
// end of two characters.
static burin_span cluster_at(const Normalizing *z, burin_span s) {
    uint32_t code, next;
    burin_span c = {s.begin, s.begin + burin_utf8_read(s.begin, s.end, &code)};
    if (code == '\r' && c.end < s.end && *c.end == '\n') c.end++;
    if (burin_set_has(z->t, z->step->b, code)) return c;
    for (int n; c.end < s.end; c.end += n) {
        n = burin_utf8_read(c.end, s.end, &next);
        if (!burin_set_has(z->t, z->step->set, next)) break;
    }
    return c;
}

static void charsmap_code(Normalizing *z, burin_span s) {
    const uint8_t *texts = burin_at(z->t, z->step->text);
    uint32_t value;
    bool found = charsmap_find(z, s, &value);
    z->moved |= found && !texts[value] && z->out == z->start;
    if (found)
        put_bytes(z, texts + value, strlen((const char *)texts + value));
    else
        put_bytes(z, s.begin, (size_t)(s.end - s.begin));
}

// As Hugging Face: a cluster of less than 6 bytes is one key if it begins with one, otherwise every
// character is.
static void apply_charsmap(Normalizing *z, burin_span in) {
    uint32_t value, code;
    for (burin_span c; in.begin < in.end; in.begin = c.end) {
        c = cluster_at(z, in);
        if (c.end - c.begin < 6 && charsmap_find(z, c, &value)) {
            charsmap_code(z, c);
            continue;
        }
        for (const uint8_t *p = c.begin, *next; p < c.end; p = next) {
            next = p + burin_utf8_read(p, c.end, &code);
            charsmap_code(z, (burin_span){p, next});
        }
    }
}

// SentencePiece's rule: a character that begins no key stays.
static void apply_longest(Normalizing *z, burin_span in) {
    const uint8_t *texts = burin_at(z->t, z->step->text);
    uint32_t value, code;
    while (in.begin < in.end) {
        const uint8_t *end = charsmap_key(z, in, true, &value);
        z->moved |= end && !texts[value] && z->out == z->start;
        if (end) {
            put_bytes(z, texts + value, strlen((const char *)texts + value));
        } else {
            end = in.begin + burin_utf8_read(in.begin, in.end, &code);
            put_bytes(z, in.begin, (size_t)(end - in.begin));
        }
        in.begin = end;
    }
}

static burin_span normalize_step(Normalizing *z, burin_span in, uint8_t *out) {
    burin_span stripped;
    z->out = z->start = out;
    switch (z->step->kind) {
        case BURIN_NORMALIZE_STRIP:
            stripped = without_spaces(in, z->step->a, z->step->b);
            z->moved = stripped.begin != in.begin;
            return stripped;
        case BURIN_NORMALIZE_PREPEND:
            if (in.begin < in.end) put_bytes(z, burin_at(z->t, z->step->text), z->step->text.count);
            put_bytes(z, in.begin, (size_t)(in.end - in.begin));
            break;
        case BURIN_NORMALIZE_REPLACE:
            replace_matches(z, in);
            break;
        case BURIN_NORMALIZE_CHARSMAP:
            apply_charsmap(z, in);
            break;
        case BURIN_NORMALIZE_LONGEST:
            apply_longest(z, in);
            break;
        case BURIN_NORMALIZE_BYTES:
            for (; in.begin < in.end; in.begin++) put_code(z, burin_byte_code(*in.begin));
            break;
        default:
            normalize_codes(z, in);
    }
    return (burin_span){out, z->out};
}

typedef struct NormalizeMemory {
    uint8_t *buffer[2];  // one after the other
    burin_match_memory match;
} NormalizeMemory;

static burin_span normalize(const burin_tokenizer *t, burin_span s, const NormalizeMemory *memory,
                            bool *moved) {
    const burin_normalizer *steps = burin_at(t, t->normalizers);
    uint8_t *const *buffer = memory->buffer;
    for (uint32_t i = 0; i < t->normalizers.count; i++) {
        Normalizing z = {.t = t, .step = &steps[i], .memory = memory->match};
        s = normalize_step(&z, s,
                           s.begin >= buffer[0] && s.begin < buffer[1] ? buffer[1] : buffer[0]);
        *moved |= z.moved;
    }
    return s;
}
#endif
