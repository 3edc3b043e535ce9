// Characters, sets of them, and patterns: shared by runtime/tokenizer/tokenizer.c and the compiler
// of its blob.
#ifndef BURIN_TOKENIZER_TEXT_H
#define BURIN_TOKENIZER_TEXT_H
#include <string.h>

#include "tokenizer.h"

enum { BURIN_REPLACEMENT = 0xfffd };

typedef struct burin_span {
    const uint8_t *begin, *end;
} burin_span;

static inline const void *burin_at(const burin_tokenizer *t, burin_section s) {
    return (const char *)t + s.offset;
}

static inline uint32_t burin_text_hash(uint32_t h, const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ bytes[i]) * 16777619u;
    return h;
}
enum { BURIN_HASH_START = (int)2166136261u };

static inline uint32_t burin_hash_finish(uint32_t h) {
    h ^= h >> 15, h *= 0x2c1b3c6du, h ^= h >> 12;
    return h;
}

static inline uint32_t burin_pair_hash(uint32_t left, uint32_t right) {
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(h >> 32);
}

// Reads one character of well-formed UTF-8; any other byte is a character of its own, U+FFFD, of
// length 1.
static inline int burin_utf8_read(const uint8_t *p, const uint8_t *end, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (*p < 0x80) return *code = *p, 1;
    int n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    *code = BURIN_REPLACEMENT;
    if (!n || end - p < n) return 1;
    uint32_t c = *p & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 1;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 1;
    return *code = c, n;
}

static inline int burin_utf8_write(uint8_t *p, uint32_t code) {
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (n == 1) return *p = (uint8_t)code, 1;
    for (int i = n - 1; i > 0; i--, code >>= 6) p[i] = (uint8_t)(0x80 | (code & 0x3f));
    *p = (uint8_t)(0xf0 << (4 - n) | code);
    return n;
}

// The character that GPT-2's vocabulary writes for a byte.
static inline uint32_t burin_byte_code(uint8_t byte) {
    if ((byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173)) return byte;
    return byte < 33 ? 256u + byte : byte < 161 ? 289u + (byte - 127u) : 323u;
}

static inline bool burin_is_space(uint32_t c) {
    return (c >= 9 && c <= 13) || c == 32 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static inline bool burin_set_has(const burin_tokenizer *t, uint32_t set, uint32_t code) {
    const burin_set *s = (const burin_set *)burin_at(t, t->sets) + set;
    if (code < 128) return s->ascii[code / 32] >> (code % 32) & 1;
    const uint32_t *ranges = burin_at(t, s->ranges);
    uint32_t low = 0, high = s->ranges.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (code > ranges[2 * middle + 1])
            low = middle + 1;
        else if (code < ranges[2 * middle])
            high = middle;
        else
            return true;
    }
    return false;
}

// ---------------------------------------------------------------------------------------- patterns
typedef struct burin_way {  // resume point after a failed attempt
    uint32_t pc, at, n;     // n: how many a lazy set has taken, where another stops, or ONE_WAY
} burin_way;

// The places from lo to hi, at which a set stopped: all characters between them are of the set, and
// the rest of the pattern has failed from each, or is in progress. lo > hi: no place.
typedef struct burin_stops {
    uint32_t lo, hi;
    uint32_t stop, end;  // of a lazy set: the places from stop to end failed before
} burin_stops;
#define BURIN_NO_STOPS ((burin_stops){1, 0, UINT32_MAX, 0})

typedef struct burin_match_memory {
    burin_way *ways;    // match_ways + match_loop_ways for each place
    uint8_t *marks;     // match_mark_bytes for each place, all 0 between two searches
    burin_stops *runs;  // match_runs for each pre-tokenizer
} burin_match_memory;

typedef struct burin_matcher {
    const burin_tokenizer *tokenizer;
    const burin_match *program;
    burin_span piece;
    bool bytes;           // characters are bytes (after BURIN_STEP_BYTES)
    const uint8_t *last;  // an empty match counts unless it is here; NULL: none counts
    burin_match_memory memory;
    uint32_t steps;                   // steps beyond those that found matches
    bool marking;                     // steps have come to BURIN_FREE_STEPS in this piece
    uint32_t mark_bytes;              // of each place: a bit for an instruction
    uint32_t first_mark, marks_stop;  // places that have marks are from first_mark up to marks_stop
} burin_matcher;

enum { BURIN_FREE_STEPS = 4096, BURIN_STEPS_A_BYTE = 64 };

static inline burin_matcher burin_matcher_of(const burin_tokenizer *t, burin_section pattern,
                                             burin_span piece, burin_match_memory memory) {
    burin_matcher m = {
        .tokenizer = t, .program = burin_at(t, pattern), .piece = piece, .memory = memory};
    m.mark_bytes = (pattern.count + 7) / 8;
    m.first_mark = UINT32_MAX;
    return m;
}

static inline int burin_next(const burin_matcher *m, const uint8_t *p, uint32_t *code) {
    if (!m->bytes) return burin_utf8_read(p, m->piece.end, code);
    return *code = burin_byte_code(*p), 1;
}

// The start of the character that ends at p.
static inline const uint8_t *burin_previous(const burin_matcher *m, const uint8_t *p) {
    uint32_t code;
    for (int n = 4; n > 1 && !m->bytes; n--)
        if (p - m->piece.begin >= n && p[-n] >= 0xc0 && burin_utf8_read(p - n, p, &code) == n)
            return p - n;
    return p - 1;
}

// The end of b characters of the set; NULL if there are fewer.
static inline const uint8_t *burin_set_here(const burin_matcher *m, const burin_match *i,
                                            const uint8_t *at) {
    uint32_t code;
    for (int n = 0; n < i->b; n++) {
        if (at == m->piece.end) return NULL;
        int length = burin_next(m, at, &code);
        if (!burin_set_has(m->tokenizer, i->set, code)) return NULL;
        at += length;
    }
    return at;
}

static inline bool burin_at_boundary(const burin_matcher *m, uint32_t set, const uint8_t *at) {
    uint32_t code;
    bool before = at > m->piece.begin && (burin_next(m, burin_previous(m, at), &code),
                                          burin_set_has(m->tokenizer, set, code));
    bool behind =
        at < m->piece.end && (burin_next(m, at, &code), burin_set_has(m->tokenizer, set, code));
    return before != behind;
}

enum { BURIN_ONE_WAY = -1 };

static inline uint32_t burin_place(const burin_matcher *m, const uint8_t *at) {
    return (uint32_t)(at - m->piece.begin);
}

// The run of a set, once the search marks its attempts; NULL: none is kept.
static inline burin_stops *burin_stops_of(const burin_matcher *m, const burin_match *i) {
    uint32_t number = i->a >> BURIN_MANNER_BITS;
    return m->marking && number ? &m->memory.runs[number - 1] : NULL;
}

static inline burin_manner burin_manner_of(const burin_match *i) {
    return (burin_manner)(i->a & ((1 << BURIN_MANNER_BITS) - 1));
}

// Takes up to `most` matches of the set, and adds their number to *n. Stops before a place of the
// run, and sets *joins then.
static inline const uint8_t *burin_take(burin_matcher *m, const burin_match *i, const uint8_t *at,
                                        uint32_t most, const burin_stops *run, uint32_t *n,
                                        bool *joins) {
    const uint8_t *next;
    uint32_t before = *n;
    for (*joins = false; *n < most && (next = burin_set_here(m, i, at)); at = next, ++*n) {
        *joins = run && run->lo <= burin_place(m, next) && burin_place(m, next) <= run->hi;
        if (*joins) break;
    }
    if (!m->marking) m->steps += (*n - before) / 16;
    return at;
}

// Returns where a set of limited length stops first, or NULL: it has stopped at all places before.
// *floor is the last place to give back to.
static inline const uint8_t *burin_stop_limited(burin_matcher *m, const burin_match *i,
                                                const uint8_t *at, burin_stops *run, uint32_t n,
                                                uint32_t *floor) {
    uint32_t place = *floor, hi = run->hi;
    bool inside = run->lo <= place && place <= hi, joins;
    uint32_t top = burin_place(m, at = burin_take(m, i, at, i->max, NULL, &n, &joins));
    if (inside && top <= hi) return NULL;
    if (inside) *floor = hi + 1;
    joins = place < run->lo && run->lo <= top && top <= hi;
    *run = (burin_stops){inside ? run->lo : place, joins ? hi : top, UINT32_MAX, 0};
    return at;
}

// The same for an unlimited set: whatever stops inside of the run stops at its end.
static inline const uint8_t *burin_stop_unlimited(burin_matcher *m, const burin_match *i,
                                                  const uint8_t *at, burin_stops *run, uint32_t n,
                                                  burin_manner manner) {
    uint32_t place = burin_place(m, at);
    bool below = place < run->lo && run->lo <= run->hi, joins;
    if (run->lo <= place && place <= run->hi) return NULL;
    if (manner == BURIN_LAZY) {
        *run = (burin_stops){place, place, below ? run->lo : UINT32_MAX, run->hi};
        return at;
    }
    at = burin_take(m, i, at, UINT32_MAX, run, &n, &joins);
    *run = (burin_stops){place, joins ? run->hi : burin_place(m, at), UINT32_MAX, 0};
    return joins && manner == BURIN_POSSESSIVE ? NULL : at;
}

// Takes as many characters as the set wants first; NULL when there are too few. Leaves a way back
// to fewer or more.
static inline const uint8_t *burin_take_set(burin_matcher *m, uint32_t pc, const uint8_t *at,
                                            burin_way **top) {
    const burin_match *i = m->program + pc;
    burin_manner manner = burin_manner_of(i);
    burin_stops *run = burin_stops_of(m, i);
    uint32_t n = 0, limit = i->max == BURIN_NO_LIMIT ? UINT32_MAX : i->max;
    bool joins;
    at = burin_take(m, i, at, i->min, NULL, &n, &joins);
    if (n < i->min) return NULL;
    uint32_t floor = burin_place(m, at);
    if (run)
        at = i->max == BURIN_NO_LIMIT ? burin_stop_unlimited(m, i, at, run, n, manner)
                                      : burin_stop_limited(m, i, at, run, n, &floor);
    else if (manner != BURIN_LAZY)
        at = burin_take(m, i, at, limit, NULL, &n, &joins);
    if (!at) return NULL;
    uint32_t place = burin_place(m, at);
    if (manner == BURIN_LAZY ? n < limit : manner == BURIN_GREEDY && place > floor)
        *(*top)++ = (burin_way){pc, place, manner == BURIN_LAZY ? n : floor};
    return at;
}

// One more of a lazy set; NULL when there is none, or when it failed from there before.
static inline const uint8_t *burin_take_one(const burin_matcher *m, const burin_match *i,
                                            const uint8_t *at) {
    burin_stops *run = burin_stops_of(m, i);
    at = burin_set_here(m, i, at);
    if (!at || !run || run->lo > run->hi) return at;
    uint32_t place = burin_place(m, at);
    if (place > run->hi) run->hi = place == run->stop ? run->end : place;
    return place == run->stop ? NULL : at;
}

// Goes the latest way back: NULL when it leads nowhere, and is gone.
static inline const uint8_t *burin_turn_back(const burin_matcher *m, uint32_t *pc,
                                             burin_way **top) {
    burin_way *way = *top - 1;
    const burin_match *i = m->program + way->pc;
    const uint8_t *at = m->piece.begin + way->at;
    bool lazy = burin_manner_of(i) == BURIN_LAZY;
    *pc = way->pc;
    *top = way;
    if (way->n == (uint32_t)BURIN_ONE_WAY) return at;
    (*pc)++;
    if (lazy) {
        if (!(at = burin_take_one(m, i, at))) return NULL;
        way->n++;
    } else {
        for (int k = 0; k < i->b; k++) at = burin_previous(m, at);
        if (burin_place(m, at) < way->n) return NULL;
    }
    way->at = burin_place(m, at);
    if (lazy ? i->max == BURIN_NO_LIMIT || way->n < i->max : way->at > way->n) ++*top;
    return at;
}

static inline const uint8_t *burin_split(const burin_matcher *m, uint32_t *pc, const uint8_t *at,
                                         burin_way **top) {
    const burin_match *i = m->program + *pc;
    *(*top)++ = (burin_way){i->b, (uint32_t)(at - m->piece.begin), (uint32_t)BURIN_ONE_WAY};
    *pc = i->a;
    return at;
}

static inline void burin_begin_marking(burin_matcher *m) {
    m->marking = true;
    for (uint32_t i = 0; i < m->tokenizer->match_runs; i++) m->memory.runs[i] = BURIN_NO_STOPS;
}

// Returns false if the instruction was already tried at this position: it failed or is in progress.
// A pattern can fail in as many ways as it has paths, so a long search marks its attempts: then it
// ends after instructions times positions. Runs stay for later searches, which begin anywhere in
// the places that this one has tried.
static inline bool burin_untried(burin_matcher *m, uint32_t pc, const uint8_t *at) {
    if (!m->marking && m->steps++ < BURIN_FREE_STEPS) return true;
    if (!m->marking) burin_begin_marking(m);
    uint32_t place = burin_place(m, at);
    uint8_t *mark = m->memory.marks + (size_t)place * m->mark_bytes + pc / 8,
            bit = (uint8_t)(1 << pc % 8);
    if (*mark & bit) return false;
    *mark |= bit;
    if (place < m->first_mark) m->first_mark = place;
    if (place >= m->marks_stop) m->marks_stop = place + 1;
    return true;
}

// Keeps of a run what failed beyond the end of a match.
static inline void burin_cut_stops(burin_stops *run, uint32_t end) {
    if (run->lo <= end) run->lo = end + 1;
}

// Removes the marks and runs of instructions from `pc` up to `stop` in places up to the match's
// end: beyond it all attempts have failed.
static inline void burin_unmark(burin_matcher *m, uint32_t pc, uint32_t stop, uint32_t end) {
    for (uint32_t i = pc; i < stop && m->marking; i++) {
        const burin_match *set = m->program[i].op == BURIN_MATCH_SET ? &m->program[i] : NULL;
        if (set && burin_stops_of(m, set)) burin_cut_stops(burin_stops_of(m, set), end);
    }
    for (uint32_t place = m->first_mark; place < m->marks_stop && place <= end; place++) {
        uint8_t *marks = m->memory.marks + (size_t)place * m->mark_bytes;
        for (uint32_t i = pc; i < stop; i++) marks[i / 8] &= (uint8_t)~(1 << i % 8);
    }
}

static const uint8_t *burin_match_here(burin_matcher *, uint32_t pc, const uint8_t *at,
                                       burin_way *ways);

// Matches the body of a look-around or atomic group. Its marks stay where it fails: another try
// would fail again.
static inline const uint8_t *burin_match_body(burin_matcher *m, uint32_t pc, const uint8_t *at,
                                              burin_way *ways) {
    uint32_t first = m->first_mark, stop = m->marks_stop;
    m->first_mark = UINT32_MAX, m->marks_stop = 0;
    const uint8_t *end = burin_match_here(m, pc + 1, at, ways);
    if (end) burin_unmark(m, pc + 1, m->program[pc].a, burin_place(m, end));
    if (first < m->first_mark) m->first_mark = first;
    if (stop > m->marks_stop) m->marks_stop = stop;
    return end;
}

static inline bool burin_behind(burin_matcher *m, uint32_t pc, const uint8_t *at, burin_way *ways) {
    for (int n = 0; n < m->program[pc].min; n++) {
        if (at == m->piece.begin) return false;
        at = burin_previous(m, at);
    }
    return burin_match_body(m, pc, at, ways) != NULL;
}

// What takes no character: does it hold here?
static inline bool burin_holds(burin_matcher *m, uint32_t pc, const uint8_t *at, burin_way *ways) {
    const burin_match *i = m->program + pc;
    switch (i->op) {
        case BURIN_MATCH_LOOK:
            return (burin_match_body(m, pc, at, ways) != NULL) != (i->b != 0);
        case BURIN_MATCH_BEHIND:
            return burin_behind(m, pc, at, ways) != (i->b != 0);
        case BURIN_MATCH_START:
            return at == m->piece.begin;
        case BURIN_MATCH_BOUNDARY:
            return burin_at_boundary(m, i->set, at) != (i->b != 0);
        default:
            return at == m->piece.end;
    }
}

// Where a match that starts here ends; NULL when there is none. It calls itself for look-around and
// atomic groups only.
static const uint8_t *burin_match_here(burin_matcher *m, uint32_t pc, const uint8_t *at,
                                       burin_way *ways) {
    for (burin_way *top = ways;;) {
        const burin_match *i = m->program + pc;
        switch (i->op) {
            case BURIN_MATCH_SET:
                at = burin_untried(m, pc, at) ? burin_take_set(m, pc, at, &top) : NULL;
                pc++;
                break;
            case BURIN_MATCH_SPLIT:
                at = burin_untried(m, pc, at) ? burin_split(m, &pc, at, &top) : NULL;
                break;
            case BURIN_MATCH_ATOMIC:
                at = burin_match_body(m, pc, at, top);
                pc = i->a;
                break;
            case BURIN_MATCH_JUMP:
                pc = i->a;
                break;
            case BURIN_MATCH_DONE:
                return at;
            default:
                if (!burin_holds(m, pc, at, top)) at = NULL;
                pc = i->op == BURIN_MATCH_LOOK || i->op == BURIN_MATCH_BEHIND ? i->a : pc + 1;
        }
        while (!at && top > ways) at = burin_turn_back(m, &pc, &top);
        if (!at) return NULL;
    }
}

// `end`: of the match that was found, or NULL. What failed beyond it stays.
static inline void burin_end_search(burin_matcher *m, const uint8_t *from, const uint8_t *end) {
    if (m->first_mark < m->marks_stop)
        memset(m->memory.marks + (size_t)m->first_mark * m->mark_bytes, 0,
               (size_t)(m->marks_stop - m->first_mark) * m->mark_bytes);
    m->first_mark = UINT32_MAX, m->marks_stop = 0;
    if (!end) return;
    uint64_t paid = (uint64_t)(end - from) * BURIN_STEPS_A_BYTE;
    m->steps = m->steps > paid ? m->steps - (uint32_t)paid : 0;
    for (uint32_t i = 0; m->marking && i < m->tokenizer->match_runs; i++)
        burin_cut_stops(&m->memory.runs[i], burin_place(m, end));
}

// The first match at or after `from`; false when there is none.
static inline bool burin_find(burin_matcher *m, const uint8_t *from, burin_span *found) {
    uint32_t code;
    const uint8_t *end = NULL, *first = from;
    for (; from < m->piece.end; from += burin_next(m, from, &code)) {
        end = burin_match_here(m, 0, from, m->memory.ways);
        if (end && (end > from || (m->last && from != m->last))) break;
        end = NULL;
    }
    burin_end_search(m, first, end);
    if (end) *found = (burin_span){from, end};
    return end;
}
#endif
