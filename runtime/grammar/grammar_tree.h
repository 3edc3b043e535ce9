// A grammar as it is read, before it becomes nodes.
#ifndef BURIN_GRAMMAR_TREE_H
#define BURIN_GRAMMAR_TREE_H
#include <setjmp.h>

#include "base/budget.h"
#include "grammar.h"

typedef enum burin_gbnf_kind {
    BURIN_I_CLASS,
    BURIN_I_SEQUENCE,
    BURIN_I_CHOICE,
    BURIN_I_REPEAT,
    BURIN_I_RULE,
    BURIN_I_TOKEN
} burin_gbnf_kind;

typedef struct burin_gbnf_item {
    burin_gbnf_kind kind;
    int32_t first, n;  // CLASS: ranges; SEQUENCE, CHOICE: kids; REPEAT: the item; RULE: its number
                       // TOKEN: its reference, n 1: any token but that one
    int32_t least, most;  // REPEAT; most -1: any number
    size_t at;            // in the text
    int32_t height;       // levels of items below this one
    bool nothing;         // reads no character, whatever the text is
} burin_gbnf_item;

typedef struct burin_code_range {
    uint32_t low, high;
} burin_code_range;

typedef struct burin_rule {
    const char *name;
    size_t name_bytes, at;  // where it was named first
    int32_t item;           // -1: not defined
    bool empty, ends;       // may be, can (grammar_check.c)
} burin_rule;

typedef struct burin_grammar_reader {
    burin_grammar *g;
    const char *name, *text, *end, *at;
    burin_gbnf_item *items;
    int32_t *kids, *waiting;
    burin_code_range *ranges;
    burin_rule *rules;
    int32_t n_items, n_kids, n_waiting, n_ranges, n_rules;
    size_t room_items, room_kids, room_waiting, room_ranges, room_rules, room_nodes, room_entries,
        room_classes, room_references;
    int32_t *rule_slots,
        n_slots;  // numbers of rules + 1 by their names' hash; n_slots: a power of two
    burin_budget budget;
    jmp_buf failed;
} burin_grammar_reader;

_Noreturn void burin_grammar_fail(burin_grammar_reader *, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void burin_grammar_spend(burin_grammar_reader *,
                         uint64_t steps);  // fails when the grammar takes too many
// Room for one more of n elements of `bytes` each; returns the array, maybe elsewhere.
void *burin_grammar_grow(void *array, size_t *room, int32_t n, size_t bytes);

void burin_grammar_emit(burin_grammar_reader *);  // grammar_emit.c: nodes out of items
void burin_grammar_check(
    burin_grammar_reader *);  // grammar_check.c: no left recursion, every rule can end
#endif
