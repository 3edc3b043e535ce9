// A parsed pattern as instructions of the matcher in runtime/tokenizer/tokenizer_characters.h.
//
// (?:ab)+?c      SET a; SET b; SPLIT 6 3; SET a; SET b; JUMP 2; SET c; DONE
//
// A repeated group is written out as often as it must occur; an unlimited rest is a loop. A loop's
// body takes at least one character: the end of an empty round depends on the rounds before it,
// which the marks of a long search do not record.
#include <string.h>

#include "frontend/tokenizer/pattern.h"
#include "runtime/tokenizer/tokenizer_characters.h"

enum { MAX_PROGRAM = 4096 };

typedef struct {
    TokenizerBuilder *b;
    const char *regex;
    Bytes code;   // burin_match
    int visited;  // nodes of the pattern, each as often as it is repeated
    int looping;  // loops around
    bool has_loops;
    uint16_t runs;
} Program;

static burin_match *instruction(Program *p, uint16_t at) {
    return (burin_match *)p->code.data + at;
}

static uint16_t here(const Program *p) { return (uint16_t)(p->code.length / sizeof(burin_match)); }

static uint16_t emit(Program *p, burin_match m) {
    if (here(p) >= MAX_PROGRAM)
        tokenizer_fatal(p->b, "a pattern is too long: more than %d instructions", MAX_PROGRAM);
    bytes_append(&p->code, &m, sizeof m);
    return (uint16_t)(here(p) - 1);
}

static void emit_pattern(Program *p, const Pattern *n);

static void emit_choice(Program *p, const Pattern *n) {
    uint16_t split = 0, jump, chain = 0;  // jumps to the end, chained through their targets
    for (const Pattern *c = n->first; c; c = c->next) {
        if (c->next) {
            split = emit(p, (burin_match){.op = BURIN_MATCH_SPLIT});
            instruction(p, split)->a = here(p);
        }
        emit_pattern(p, c);
        if (!c->next) break;
        jump = emit(p, (burin_match){.op = BURIN_MATCH_JUMP, .a = chain});
        chain = jump;
        instruction(p, split)->b = here(p);
    }
    while (chain) {
        burin_match *m = instruction(p, chain);
        chain = m->a;
        m->a = here(p);
    }
}

static bool is_nullable(const Pattern *n) {
    bool all = true, any = false;
    if (n->kind == PATTERN_SET) return n->min == 0;
    if (n->kind == PATTERN_REPEAT && n->min == 0) return true;
    if (n->kind == PATTERN_LOOK || n->kind == PATTERN_BEHIND || !n->first) return true;
    for (const Pattern *c = n->first; c; c = c->next) {
        bool empty = is_nullable(c);
        all &= empty;
        any |= empty;
    }
    return n->kind == PATTERN_CHOICE ? any : all;
}

static void set_targets(Program *p, uint16_t split, bool lazy, uint16_t body, uint16_t rest) {
    burin_match *m = instruction(p, split);
    m->a = lazy ? rest : body;
    m->b = lazy ? body : rest;
}

static void emit_loop(Program *p, const Pattern *n) {
    if (is_nullable(n->first))
        tokenizer_fatal(
            p->b,
            "the pattern \"%.80s\" repeats without a limit what may be empty, which is not "
            "supported",
            p->regex);
    uint16_t split = emit(p, (burin_match){.op = BURIN_MATCH_SPLIT});
    p->has_loops = true;
    p->looping++;
    emit_pattern(p, n->first);
    p->looping--;
    emit(p, (burin_match){.op = BURIN_MATCH_JUMP, .a = split});
    set_targets(p, split, n->lazy, (uint16_t)(split + 1), here(p));
}

static void emit_optional(Program *p, const Pattern *n, int times) {
    if (!times) return;
    uint16_t split = emit(p, (burin_match){.op = BURIN_MATCH_SPLIT});
    emit_pattern(p, n->first);
    emit_optional(p, n, times - 1);
    set_targets(p, split, n->lazy, (uint16_t)(split + 1), here(p));
}

static void emit_repeat(Program *p, const Pattern *n) {
    for (int i = 0; i < n->min; i++) emit_pattern(p, n->first);
    if (n->max == BURIN_NO_LIMIT)
        emit_loop(p, n);
    else
        emit_optional(p, n, n->max - n->min);
}

// What must match as a whole at a place of its own.
static void emit_inside(Program *p, burin_match m, const Pattern *n,
                        void (*emit_it)(Program *, const Pattern *)) {
    uint16_t at = emit(p, m);
    emit_it(p, n);
    emit(p, (burin_match){.op = BURIN_MATCH_DONE});
    instruction(p, at)->a = here(p);
}

// Sets that stop at many places keep a run of them. A lazy one must not be tried again while it is
// in progress, for its later places come first then.
static bool keeps_run(const Program *p, const Pattern *n) {
    if (n->stride != 1 || n->min == n->max) return false;
    return n->lazy || n->possessive ? n->max == BURIN_NO_LIMIT && (n->possessive || !p->looping)
                                    : true;
}

static burin_match set_of(Program *p, const Pattern *n) {
    uint16_t manner = n->possessive ? BURIN_POSSESSIVE : n->lazy ? BURIN_LAZY : BURIN_GREEDY;
    if (keeps_run(p, n)) manner |= (uint16_t)(++p->runs << BURIN_MANNER_BITS);
    return (burin_match){.op = BURIN_MATCH_SET,
                         .set = n->set,
                         .min = n->min,
                         .max = n->max,
                         .a = manner,
                         .b = n->stride};
}

static void emit_pattern(Program *p, const Pattern *n) {
    if (++p->visited > 16 * MAX_PROGRAM)
        tokenizer_fatal(
            p->b, "the pattern \"%.80s\" is too long: its repetitions come to more than %d groups",
            p->regex, 16 * MAX_PROGRAM);
    switch (n->kind) {
        case PATTERN_SET:
            emit(p, set_of(p, n));
            break;
        case PATTERN_SEQUENCE:
            for (const Pattern *c = n->first; c; c = c->next) emit_pattern(p, c);
            break;
        case PATTERN_CHOICE:
            emit_choice(p, n);
            break;
        case PATTERN_REPEAT:
            if (n->possessive)
                emit_inside(p, (burin_match){.op = BURIN_MATCH_ATOMIC}, n, emit_repeat);
            else
                emit_repeat(p, n);
            break;
        case PATTERN_ATOMIC:
            emit_inside(p, (burin_match){.op = BURIN_MATCH_ATOMIC}, n->first, emit_pattern);
            break;
        case PATTERN_LOOK:
            emit_inside(p, (burin_match){.op = BURIN_MATCH_LOOK, .b = n->negative}, n->first,
                        emit_pattern);
            break;
        case PATTERN_BEHIND:
            emit_inside(p, (burin_match){.op = BURIN_MATCH_BEHIND, .min = n->min, .b = n->negative},
                        n->first, emit_pattern);
            break;
        case PATTERN_START:
            emit(p, (burin_match){.op = BURIN_MATCH_START});
            break;
        case PATTERN_BOUNDARY:
            emit(p, (burin_match){.op = BURIN_MATCH_BOUNDARY, .set = n->set, .b = n->negative});
            break;
        case PATTERN_END:
            emit(p, (burin_match){.op = BURIN_MATCH_END});
            break;
    }
}

// Every instruction that leaves a way to come back to leaves at most one at each place: once where
// nothing loops.
static void count_ways(Program *p) {
    burin_tokenizer *h = &p->b->head;
    uint32_t ways = 0;
    for (uint16_t i = 0; i < here(p); i++) {
        const burin_match *m = instruction(p, i);
        ways += m->op == BURIN_MATCH_SPLIT || m->op == BURIN_MATCH_SET;
    }
    if (ways > h->match_ways) h->match_ways = ways;
    if (p->has_loops && ways > h->match_loop_ways) h->match_loop_ways = ways;
    if (p->runs > h->match_runs) h->match_runs = p->runs;
    uint32_t mark_bytes = (here(p) + 7u) / 8;
    if (mark_bytes > h->match_mark_bytes) h->match_mark_bytes = mark_bytes;
}

static burin_section finish(Program *p) {
    emit(p, (burin_match){.op = BURIN_MATCH_DONE});
    count_ways(p);
    return builder_section(p->b, p->code.data, here(p), sizeof(burin_match));
}

bool pattern_may_be_empty(TokenizerBuilder *b, const char *regex) {
    return is_nullable(pattern_parse(b, regex));
}

burin_section pattern_program(TokenizerBuilder *b, const char *regex, const Pattern *n) {
    Program p = {.b = b, .regex = regex, .code = {.arena = b->arena}};
    emit_pattern(&p, n);
    return finish(&p);
}

burin_section pattern_literal(TokenizerBuilder *b, const char *text) {
    Program p = {.b = b, .regex = text, .code = {.arena = b->arena}};
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    uint32_t code;
    while (at < end) {
        CharSet one = {{.arena = b->arena}};
        at += burin_utf8_read(at, end, &code);
        set_add(&one, code, code);
        emit(&p,
             (burin_match){
                 .op = BURIN_MATCH_SET, .set = builder_set(b, &one), .min = 1, .max = 1, .b = 1});
    }
    return finish(&p);
}

burin_section pattern_of_set(TokenizerBuilder *b, CharSet *s, uint16_t max) {
    Program p = {.b = b, .code = {.arena = b->arena}};
    emit(&p, (burin_match){
                 .op = BURIN_MATCH_SET, .set = builder_set(b, s), .min = 1, .max = max, .b = 1});
    return finish(&p);
}
