// Reads GBNF: rules of literals, classes, groups and repetitions, over code points.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "grammar_tree.h"

void burin_grammar_fail(burin_grammar_reader *r, size_t at, const char *format, ...) {
    unsigned line = 1, column = 1;
    va_list arguments;
    for (const char *p = r->text; p < r->text + at; p++)
        if (*p == '\n')
            line++, column = 1;
        else
            column += ((unsigned char)*p & 0xc0) != 0x80;
    int n = burin_format(r->g->error, sizeof r->g->error, "%s: line %u, column %u: ", r->name, line,
                         column);
    if (n < 0 || n >= (int)sizeof r->g->error) n = 0;
    va_start(arguments, format);
    burin_vformat(r->g->error + n, sizeof r->g->error - (size_t)n, format, arguments);
    va_end(arguments);
    longjmp(r->failed, 1);
}

static _Noreturn void fail_grammar_budget(burin_grammar_reader *r, size_t at) {
    char text[128];
    burin_budget_text(&r->budget, text, sizeof text);
    burin_grammar_fail(r, at, "%-s", text);
}

void burin_grammar_spend(burin_grammar_reader *r, uint64_t steps) {
    if (!burin_spend(&r->budget, steps)) fail_grammar_budget(r, 0);
}

void *burin_grammar_grow(void *array, size_t *room, int32_t n, size_t bytes) {
    if ((size_t)n < *room) return array;
    void *more = burin_allocate(*room = 2 * *room + 64, bytes);
    if (n) memcpy(more, array, (size_t)n * bytes);
    free(array);
    return more;
}

static size_t place(const burin_grammar_reader *r) { return (size_t)(r->at - r->text); }

static _Noreturn void expected(burin_grammar_reader *r, const char *what) {
    size_t left = (size_t)(r->end - r->at);
    char found[32];
    burin_escape(found, sizeof found, r->at, left < 8 ? left : 8);
    if (!left) burin_grammar_fail(r, place(r), "expected %-s, found the end", what);
    burin_grammar_fail(r, place(r), "expected %-s, found \"%-s\"", what, found);
}

static bool is_next(const burin_grammar_reader *r, const char *text) {
    size_t n = strlen(text);
    return (size_t)(r->end - r->at) >= n && !memcmp(r->at, text, n);
}

static bool is_one_of(const burin_grammar_reader *r, const char *set) {
    return r->at < r->end && *r->at && strchr(set, *r->at);
}

static void skip_blanks(burin_grammar_reader *r, bool lines) {
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n' && *r->at != '\r') r->at++;
        else if (is_one_of(r, lines ? " \t\r\n" : " \t"))
            r->at++;
        else
            return;
    }
}

static bool is_word(const burin_grammar_reader *r) {
    if (r->at == r->end) return false;
    char c = *r->at;
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

// ------------------------------------------------------------------------------------------- items
// Finds the item's height above its children, and whether all of them read nothing.
static void measure_item(burin_grammar_reader *r, burin_gbnf_item *item) {
    bool repeats = item->kind == BURIN_I_REPEAT;
    if (!repeats && item->kind != BURIN_I_SEQUENCE && item->kind != BURIN_I_CHOICE) return;
    item->nothing = true;
    for (int32_t i = 0; i < (repeats ? 1 : item->n); i++) {
        const burin_gbnf_item *kid = &r->items[repeats ? item->first : r->kids[item->first + i]];
        if (kid->height >= item->height) item->height = kid->height + 1;
        item->nothing &= kid->nothing;
    }
    item->nothing |= repeats && item->most == 0;
    if (item->height > BURIN_GRAMMAR_HEIGHT)
        burin_grammar_fail(r, item->at, "nested too deeply: more than %d repetitions in each other",
                           BURIN_GRAMMAR_HEIGHT);
}

static int32_t add_item(burin_grammar_reader *r, burin_gbnf_item item) {
    measure_item(r, &item);
    r->items = burin_grammar_grow(r->items, &r->room_items, r->n_items, sizeof *r->items);
    r->items[r->n_items] = item;
    return r->n_items++;
}

static void add_range(burin_grammar_reader *r, uint32_t low, uint32_t high) {
    r->ranges = burin_grammar_grow(r->ranges, &r->room_ranges, r->n_ranges, sizeof *r->ranges);
    r->ranges[r->n_ranges++] = (burin_code_range){low, high};
}

// Children of one item are adjacent: they wait after those of outer items until it is read.
static void add_kid(burin_grammar_reader *r, int32_t item) {
    r->waiting = burin_grammar_grow(r->waiting, &r->room_waiting, r->n_waiting, sizeof *r->waiting);
    r->waiting[r->n_waiting++] = item;
}

// Of those that wait from `base` on.
static int32_t add_list(burin_grammar_reader *r, burin_gbnf_kind kind, int32_t base, size_t at) {
    int32_t first = r->n_kids, n = r->n_waiting - base;
    for (int32_t i = base; i < r->n_waiting; i++) {
        r->kids = burin_grammar_grow(r->kids, &r->room_kids, r->n_kids, sizeof *r->kids);
        r->kids[r->n_kids++] = r->waiting[i];
    }
    r->n_waiting = base;
    return add_item(r, (burin_gbnf_item){.kind = kind, .first = first, .n = n, .at = at});
}

// -------------------------------------------------------------------------------------- characters
static uint32_t read_hex(burin_grammar_reader *r, int digits) {
    uint32_t code = 0;
    for (int i = 0; i < digits; i++, r->at++) {
        char c = r->at < r->end ? *r->at : 0;
        if (c >= '0' && c <= '9')
            code = code << 4 | (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            code = code << 4 | (uint32_t)((c | 32) - 'a' + 10);
        else
            expected(r, digits == 2   ? "two hexadecimal digits"
                        : digits == 4 ? "four hexadecimal digits"
                                      : "eight hexadecimal digits");
    }
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        burin_grammar_fail(r, place(r), "%x is no code point", code);
    return code;
}

static uint32_t read_escape(burin_grammar_reader *r) {
    static const char from[] = "nrt\\\"[]", to[] = "\n\r\t\\\"[]";
    char c = r->at < r->end ? *r->at : 0;
    const char *known = c ? strchr(from, c) : NULL;
    if (!known && c != 'x' && c != 'u' && c != 'U') expected(r, "an escape: n r t \\ \" [ ] x u U");
    r->at++;
    return known ? (uint32_t)(unsigned char)to[known - from]
                 : read_hex(r, c == 'x'   ? 2
                               : c == 'u' ? 4
                                          : 8);
}

static uint32_t read_character(burin_grammar_reader *r) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (const unsigned char *)r->at;
    int n = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    uint32_t code = n == 1 ? *c : *c & (0x7fu >> n);
    if (*c == '\\') return r->at++, read_escape(r);
    if (!n || r->end - r->at < n) expected(r, "a character in UTF-8");
    for (int i = 1; i < n; i++) {
        if ((c[i] & 0xc0) != 0x80) expected(r, "a character in UTF-8");
        code = code << 6 | (c[i] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        expected(r, "a character in UTF-8");
    r->at += n;
    return code;
}

static int32_t read_literal(burin_grammar_reader *r) {
    size_t at = place(r);
    int32_t base = r->n_waiting;
    for (r->at++; !is_next(r, "\"");) {
        if (r->at == r->end || *r->at == '\n') expected(r, "\" at the end of a text");
        uint32_t code = read_character(r);
        add_range(r, code, code);
        add_kid(
            r, add_item(r, (burin_gbnf_item){
                               .kind = BURIN_I_CLASS, .first = r->n_ranges - 1, .n = 1, .at = at}));
    }
    r->at++;
    return add_list(r, BURIN_I_SEQUENCE, base, at);
}

static int by_low(const void *a, const void *b) {
    const burin_code_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

// Ranges from `first`, in order, become those of all other characters.
static void negate(burin_grammar_reader *r, int32_t first) {
    int32_t n = r->n_ranges;
    uint32_t next = 0;
    for (int32_t i = first; i < n; i++) {
        burin_code_range given = r->ranges[i];
        if (given.low > next) add_range(r, next, given.low - 1);
        if (given.high >= next) next = given.high + 1;
    }
    if (next <= 0x10ffff) add_range(r, next, 0x10ffff);
    memmove(r->ranges + first, r->ranges + n, (size_t)(r->n_ranges - n) * sizeof *r->ranges);
    r->n_ranges -= n - first;
}

static int32_t read_class(burin_grammar_reader *r) {
    size_t at = place(r);
    int32_t first = r->n_ranges;
    r->at++;
    bool negated = is_next(r, "^");
    r->at += negated;
    while (!is_next(r, "]")) {
        if (r->at == r->end || *r->at == '\n') expected(r, "] at the end of a class");
        uint32_t low = read_character(r), high = low;
        if (is_next(r, "-") && r->end - r->at > 1 && r->at[1] != ']')
            r->at++, high = read_character(r);
        if (high < low) burin_grammar_fail(r, place(r), "the range ends before it begins");
        add_range(r, low, high);
    }
    r->at++;
    if (r->n_ranges > first)
        qsort(r->ranges + first, (size_t)(r->n_ranges - first), sizeof *r->ranges, by_low);
    if (negated) negate(r, first);
    return add_item(r,
                    (burin_gbnf_item){
                        .kind = BURIN_I_CLASS, .first = first, .n = r->n_ranges - first, .at = at});
}

// ------------------------------------------------------------------------------------------- rules
// The slot of a rule's name: its own, or the empty one where it belongs.
static int32_t *slot_of_rule(const burin_grammar_reader *r, const char *name, size_t n) {
    uint32_t hash = 2166136261u, mask = (uint32_t)r->n_slots - 1;
    for (size_t i = 0; i < n; i++) hash = (hash ^ (uint8_t)name[i]) * 16777619u;
    for (;; hash++) {
        int32_t *slot = &r->rule_slots[hash & mask];
        const burin_rule *there = &r->rules[*slot - (*slot > 0)];
        if (!*slot || (there->name_bytes == n && !memcmp(there->name, name, n))) return slot;
    }
}

static int32_t rule_named(burin_grammar_reader *r) {
    const char *name = r->at;
    while (is_word(r)) r->at++;
    size_t n = (size_t)(r->at - name);
    r->rules = burin_grammar_grow(r->rules, &r->room_rules, r->n_rules, sizeof *r->rules);
    int32_t *slot = slot_of_rule(r, name, n);
    if (*slot) return *slot - 1;
    if (r->n_rules == BURIN_GRAMMAR_RULES)
        burin_grammar_fail(r, place(r), "more than %d rules", BURIN_GRAMMAR_RULES);
    *slot = r->n_rules + 1;
    r->rules[r->n_rules] =
        (burin_rule){.name = name, .name_bytes = n, .at = (size_t)(name - r->text), .item = -1};
    return r->n_rules++;
}

static int32_t read_number(burin_grammar_reader *r) {
    int64_t n = 0;
    skip_blanks(r, true);
    if (r->at == r->end || *r->at < '0' || *r->at > '9') expected(r, "a number");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if ((n = 10 * n + (*r->at - '0')) > BURIN_GRAMMAR_NODES)
            burin_grammar_fail(r, place(r), "more than %d repetitions", BURIN_GRAMMAR_NODES);
    skip_blanks(r, true);
    return (int32_t)n;
}

// {3}, {2,}, {1,3}: after the brace
static void read_bounds(burin_grammar_reader *r, burin_gbnf_item *item) {
    item->least = item->most = read_number(r);
    if (is_next(r, ",")) {
        r->at++;
        skip_blanks(r, true);
        item->most = is_next(r, "}") ? -1 : read_number(r);
    }
    if (!is_next(r, "}")) expected(r, "} at the end of a repetition");
    if (item->most >= 0 && item->most < item->least)
        burin_grammar_fail(r, place(r), "at least %d and at most %d repetitions", item->least,
                           item->most);
}

static int32_t read_repetition(burin_grammar_reader *r, int32_t of) {
    burin_gbnf_item item = {.kind = BURIN_I_REPEAT, .first = of, .most = -1, .at = place(r)};
    char c = *r->at++;
    if (c == '+') item.least = 1;
    if (c == '?') item.most = 1;
    if (c == '{') read_bounds(r, &item), r->at++;
    return add_item(r, item);
}

static int32_t read_choice(burin_grammar_reader *, bool nested);

static int32_t read_group(burin_grammar_reader *r) {
    if (!burin_enter_level(&r->budget)) fail_grammar_budget(r, place(r));
    r->at++;
    skip_blanks(r, true);
    int32_t item = read_choice(r, true);
    if (!is_next(r, ")")) expected(r, ")");
    r->at++;
    burin_leave_level(&r->budget);
    return item;
}

static int32_t read_any(burin_grammar_reader *r) {
    size_t at = place(r);
    r->at++;
    add_range(r, 0, 0x10ffff);
    return add_item(
        r, (burin_gbnf_item){.kind = BURIN_I_CLASS, .first = r->n_ranges - 1, .n = 1, .at = at});
}

static int32_t add_reference(burin_grammar_reader *r, burin_token_reference reference) {
    burin_grammar *g = r->g;
    for (int32_t i = 0; i < g->n_references; i++)
        if (g->references[i].id == reference.id && !strcmp(g->references[i].text, reference.text))
            return i;
    if (g->n_references == BURIN_MOST_REFERENCES)
        burin_grammar_fail(r, place(r), "more than %d tokens are referred to",
                           BURIN_MOST_REFERENCES);
    g->references = burin_grammar_grow(g->references, &r->room_references, g->n_references,
                                       sizeof *g->references);
    g->references[g->n_references] = reference;
    return g->n_references++;
}

// <[123]>, <think>, and any token but it: !<think>
static int32_t read_token(burin_grammar_reader *r) {
    size_t at = place(r);
    bool negated = is_next(r, "!"), by_id;
    burin_token_reference reference = {.id = -1};
    r->at += negated;
    const char *begin = r->at, *line = memchr(begin, '\n', (size_t)(r->end - begin)),
               *end = line ? line : r->end;
    const char *close = memchr(begin, '>', (size_t)(end - begin));
    if (!is_next(r, "<")) expected(r, "a token, as <[123]> or <text>");
    if (!close) expected(r, "> at the end of a token");
    by_id = is_next(r, "<[");
    if (by_id) {
        r->at += 2;
        reference.id = read_number(r);
        if (!is_next(r, "]>")) expected(r, "]> at the end of a token's id");
        r->at += 2;
    } else {
        if (close + 1 - begin >= BURIN_LONGEST_REFERENCE) expected(r, "a shorter text of a token");
        memcpy(reference.text, begin, (size_t)(close + 1 - begin));
        r->at = close + 1;
    }
    return add_item(
        r,
        (burin_gbnf_item){
            .kind = BURIN_I_TOKEN, .first = add_reference(r, reference), .n = negated, .at = at});
}

// -1: no item begins here.
static int32_t read_item(burin_grammar_reader *r) {
    size_t at = place(r);
    if (is_next(r, "\"")) return read_literal(r);
    if (is_next(r, "[")) return read_class(r);
    if (is_next(r, "(")) return read_group(r);
    if (is_next(r, ".")) return read_any(r);
    if (is_next(r, "<") || is_next(r, "!")) return read_token(r);
    if (is_word(r))
        return add_item(r,
                        (burin_gbnf_item){.kind = BURIN_I_RULE, .first = rule_named(r), .at = at});
    return -1;
}

static int32_t read_sequence(burin_grammar_reader *r, bool nested) {
    size_t at = place(r);
    int32_t base = r->n_waiting;
    for (;;) {
        if (is_one_of(r, "*+?{")) {
            if (r->n_waiting == base) expected(r, "something to repeat");
            r->waiting[r->n_waiting - 1] = read_repetition(r, r->waiting[r->n_waiting - 1]);
        } else {
            int32_t item = read_item(r);
            if (item < 0) return add_list(r, BURIN_I_SEQUENCE, base, at);
            add_kid(r, item);
        }
        skip_blanks(r, nested);
    }
}

// Goes to a | at the start of a later line, if only blanks and comments are before it.
static bool take_next_line(burin_grammar_reader *r) {
    const char *before = r->at;
    skip_blanks(r, true);
    if (is_next(r, "|")) return true;
    r->at = before;
    return false;
}

static int32_t read_choice(burin_grammar_reader *r, bool nested) {
    size_t at = place(r);
    int32_t base = r->n_waiting;
    add_kid(r, read_sequence(r, nested));
    while (is_next(r, "|") || (!nested && take_next_line(r))) {
        r->at++;
        skip_blanks(r, true);
        add_kid(r, read_sequence(r, nested));
    }
    return add_list(r, BURIN_I_CHOICE, base, at);
}

static void read_rule(burin_grammar_reader *r) {
    size_t at = place(r);
    if (!is_word(r)) expected(r, "the name of a rule");
    int32_t rule = rule_named(r);
    skip_blanks(r, false);
    if (!is_next(r, "::=")) expected(r, "::=");
    r->at += 3;
    skip_blanks(r, true);
    if (r->rules[rule].item >= 0)
        burin_grammar_fail(r, at, "the rule %.*s has been defined before",
                           (int)r->rules[rule].name_bytes, r->rules[rule].name);
    int32_t item = read_choice(r, false);
    r->rules[rule].item = item;
    if (r->at < r->end && !is_one_of(r, "\r\n")) expected(r, "the end of a rule");
    skip_blanks(r, true);
}

static void read_all_rules(burin_grammar_reader *r) {
    skip_blanks(r, true);
    while (r->at < r->end) read_rule(r);
    r->g->root = -1;
    for (int32_t i = 0; i < r->n_rules; i++) {
        const burin_rule *rule = &r->rules[i];
        if (rule->item < 0)
            burin_grammar_fail(r, rule->at, "there is no rule %.*s", (int)rule->name_bytes,
                               rule->name);
        if (rule->name_bytes == 4 && !memcmp(rule->name, "root", 4)) r->g->root = i;
    }
    if (r->g->root < 0) burin_grammar_fail(r, 0, "there is no rule root, with which a text begins");
}

bool burin_grammar_parse(burin_grammar *g, const char *name, const char *text, size_t bytes) {
    burin_grammar_reader r = {.g = g, .name = name, .text = text, .at = text, .end = text + bytes};
    *g = (burin_grammar){0};
    if (bytes >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r.at += 3;  // of the byte order
    r.budget =
        (burin_budget){.max_steps = BURIN_GRAMMAR_STEPS, .max_levels = BURIN_GRAMMAR_NESTING};
    r.n_slots = 2 * BURIN_GRAMMAR_RULES;
    r.rule_slots = burin_allocate((size_t)r.n_slots, sizeof *r.rule_slots);
    bool good = !setjmp(r.failed);
    if (good) {
        read_all_rules(&r);
        burin_grammar_emit(&r);
        burin_grammar_check(&r);
    }
    free(r.rule_slots), free(r.items), free(r.kids), free(r.ranges), free(r.rules), free(r.waiting);
    if (!good) burin_grammar_free(g);
    return good;
}

void burin_grammar_free(burin_grammar *g) {
    free(g->nodes), free(g->entries), free(g->classes), free(g->references);
    g->nodes = NULL, g->entries = NULL, g->classes = NULL, g->references = NULL;
}
