// What makes a grammar impossible to follow: a rule that calls itself before it reads a character,
// a rule that never ends.
#include <stdlib.h>

#include "base/allocate.h"
#include "grammar_tree.h"

// A property of items by that of rules: may it be empty, can it end? False without meaning once the
// budget is spent: whoever asks checks it afterwards.
static bool holds(burin_grammar_reader *r, int32_t number, bool empty) {
    const burin_gbnf_item *item = &r->items[number];
    if (!burin_spend(&r->budget, 1)) return false;
    switch (item->kind) {
        case BURIN_I_CLASS:
            return !empty && item->n > 0;
        case BURIN_I_TOKEN:
            return !empty;
        case BURIN_I_SEQUENCE:
            for (int32_t i = 0; i < item->n; i++)
                if (!holds(r, r->kids[item->first + i], empty)) return false;
            return true;
        case BURIN_I_CHOICE:
            for (int32_t i = 0; i < item->n; i++)
                if (holds(r, r->kids[item->first + i], empty)) return true;
            return false;
        case BURIN_I_REPEAT:
            return !item->least || holds(r, item->first, empty);
        case BURIN_I_RULE:
            break;
    }
    return empty ? r->rules[item->first].empty : r->rules[item->first].ends;
}

static bool check_rule(burin_grammar_reader *r, int32_t rule) {
    burin_rule *of = &r->rules[rule];
    bool empty = of->empty || holds(r, of->item, true),
         ends = of->ends || holds(r, of->item, false);
    bool changed = empty != of->empty || ends != of->ends;
    of->empty = empty, of->ends = ends;
    return changed;
}

// Forwards and backwards in turn: chains of rules are short in one of the two.
static void find_properties(burin_grammar_reader *r) {
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t i = 0; i < r->n_rules; i++) changed |= check_rule(r, i);
        for (int32_t i = r->n_rules - 1; i >= 0; i--) changed |= check_rule(r, i);
    }
}

// Rules that may be called before a character is read: lists, one a rule, in one array.
typedef struct first_calls {
    int32_t *called, n, *begin;  // of rule i: begin[i] to begin[i + 1]
    size_t room;
} first_calls;

static void add_first_calls(burin_grammar_reader *r, first_calls *c, int32_t number) {
    const burin_gbnf_item *item = &r->items[number];
    if (!burin_spend(&r->budget, 1)) return;
    if (item->kind == BURIN_I_RULE) {
        c->called = burin_grammar_grow(c->called, &c->room, c->n, sizeof *c->called);
        c->called[c->n++] = item->first;
    }
    if (item->kind == BURIN_I_REPEAT && item->most) add_first_calls(r, c, item->first);
    if (item->kind != BURIN_I_SEQUENCE && item->kind != BURIN_I_CHOICE) return;
    for (int32_t i = 0; i < item->n; i++) {
        int32_t kid = r->kids[item->first + i];
        add_first_calls(r, c, kid);
        if (item->kind == BURIN_I_SEQUENCE && !holds(r, kid, true)) return;
    }
}

// Walks without recursion; a rule on the way that is called again is left-recursive. Returns it, or
// -1.
static int32_t find_cycle(const first_calls *c, int32_t n, int32_t *way, int32_t *next,
                          char *seen) {
    for (int32_t start = 0; start < n; start++) {
        int32_t depth = 0;
        if (seen[start]) continue;
        way[0] = start, seen[start] = 1, next[start] = c->begin[start];
        while (depth >= 0) {
            int32_t rule = way[depth];
            if (next[rule] == c->begin[rule + 1]) {
                seen[rule] = 2, depth--;
                continue;
            }
            int32_t called = c->called[next[rule]++];
            if (seen[called] == 1) return called;
            if (!seen[called])
                way[++depth] = called, seen[called] = 1, next[called] = c->begin[called];
        }
    }
    return -1;
}

static int32_t find_left_recursion(burin_grammar_reader *r) {
    size_t n = (size_t)r->n_rules;
    first_calls c = {.begin = burin_allocate(n + 1, sizeof(int32_t))};
    for (size_t i = 0; i < n; i++) {
        add_first_calls(r, &c, r->rules[i].item);
        c.begin[i + 1] = c.n;
    }
    int32_t *way = burin_allocate(2 * n, sizeof *way);
    char *seen = burin_allocate(n, 1);
    int32_t cycle = find_cycle(&c, r->n_rules, way, way + n, seen);
    free(c.called), free(c.begin), free(way), free(seen);
    return cycle;
}

void burin_grammar_check(burin_grammar_reader *r) {
    find_properties(r);
    burin_grammar_spend(r, 0);
    for (int32_t i = 0; i < r->n_rules; i++)
        if (!r->rules[i].ends) {
            const burin_rule *rule = &r->rules[i];
            burin_grammar_fail(r, rule->at, "the rule %.*s never ends", (int)rule->name_bytes,
                               rule->name);
        }
    int32_t again = find_left_recursion(r);
    burin_grammar_spend(r, 0);
    if (again < 0) return;
    const burin_rule *rule = &r->rules[again];
    burin_grammar_fail(r, rule->at,
                       "the rule %.*s calls itself before it reads a character (left recursion)",
                       (int)rule->name_bytes, rule->name);
}
