// Items to nodes, from the end of a rule to its beginning, so that each node knows its successor.
// Characters are sequences of bytes in UTF-8; repetitions are copies, of a call if the repeated
// item is more than a node.
#include <string.h>

#include "base/allocate.h"
#include "grammar_tree.h"
#include "vocabulary.h"

static int32_t add_node(burin_grammar_reader *r, burin_grammar_node node) {
    burin_grammar *g = r->g;
    if (g->n_nodes == BURIN_GRAMMAR_NODES)
        burin_grammar_fail(r, 0, "the grammar becomes too large: more than %d states; repeat less",
                           BURIN_GRAMMAR_NODES);
    g->nodes = burin_grammar_grow(g->nodes, &r->room_nodes, g->n_nodes, sizeof *g->nodes);
    g->nodes[g->n_nodes] = node;
    return g->n_nodes++;
}

static int32_t add_split(burin_grammar_reader *r, int32_t next, int32_t other) {
    return add_node(r, (burin_grammar_node){.op = BURIN_G_SPLIT, .next = next, .other = other});
}

// -------------------------------------------------------------------------------------- characters
static int utf8_bytes(uint32_t code, uint8_t *out) {
    int n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, code >>= 6) out[i] = (uint8_t)(0x80 | (code & 0x3f));
    out[0] = (uint8_t)(n == 1 ? code : (0xf0u << (4 - n) & 0xff) | code);
    return n;
}

// A class of characters being emitted: its successor, its number, the alternative, or -1.
typedef struct emitted_class {
    int32_t next, number, entry;
} emitted_class;

// All characters from low to high, whose bytes are ranges of their own.
static int32_t emit_bytes(burin_grammar_reader *r, burin_code_range range, const emitted_class *c) {
    uint8_t low[4], high[4];
    int n = utf8_bytes(range.low, low);
    utf8_bytes(range.high, high);
    int32_t next = c->next;
    for (int i = n - 1; i >= 0; i--)
        next = add_node(
            r, (burin_grammar_node){BURIN_G_BYTE, low[i], high[i], next, i ? 0 : c->number});
    return c->entry < 0 ? next : add_split(r, next, c->entry);
}

// The last character up to which a range from `low` on is ranges of bytes.
static uint32_t end_of_piece(burin_code_range range) {
    static const uint32_t lengths[] = {0x7f, 0x7ff, 0xd7ff, 0xffff, 0x10ffff};
    uint32_t high = range.high;
    for (int i = 0; i < 5; i++)
        if (range.low <= lengths[i]) {
            high = high < lengths[i] ? high : lengths[i];
            break;
        }
    for (uint32_t mask = 0x3f; range.low > 0x7f && mask < 0x40000; mask = mask << 6 | 0x3f) {
        if ((range.low & ~mask) == (high & ~mask)) break;
        if (range.low & mask) return range.low | mask;
        if ((high & mask) != mask) {
            uint32_t before = (high & ~mask) - 1;
            if (before < range.low) break;
            high = before;
        }
    }
    return high;
}

// Records for parts with all characters of a set whether these ranges, in order, contain all or
// none.
static void compare_parts(burin_grammar_class *c, uint8_t parts, const burin_code_range *ranges,
                          int32_t n, burin_code_range set) {
    uint32_t at = set.low;
    for (int32_t i = 0; i < n; i++) {
        if (ranges[i].low <= at && ranges[i].high >= at) at = ranges[i].high + 1;
        if (ranges[i].low <= set.high && ranges[i].high >= set.low) c->none &= (uint8_t)~parts;
    }
    if (at <= set.high) c->all &= (uint8_t)~parts;
}

static burin_code_range codes_of_row(const burin_wide_row *row) {
    uint32_t low = row->low & (row->low < 0xe0   ? 0x1f
                               : row->low < 0xf0 ? 0xf
                                                 : 7),
             high = low + row->high - row->low;
    low = low << 6 | (row->second_low & 0x3f), high = high << 6 | (row->second_high & 0x3f);
    return (burin_code_range){low << 6 * row->more, ((high + 1) << 6 * row->more) - 1};
}

static int32_t number_class(burin_grammar_reader *r, const burin_gbnf_item *item, int32_t next) {
    burin_grammar *g = r->g;
    const burin_code_range *ranges = r->ranges + item->first;
    burin_grammar_class c = {.next = next, .all = 0xff, .none = 0xff};
    burin_grammar_spend(r, 1 + (uint64_t)item->n * (128 + BURIN_WIDE_ROWS) / 2);
    for (uint32_t code = 0; code < 0x80; code++) {
        uint8_t parts = (uint8_t)((burin_plain_ascii((uint8_t)code) ? BURIN_PART_ASCII : 0) |
                                  (burin_plain_word((uint8_t)code) ? BURIN_PART_WORD : 0) |
                                  (burin_plain_lower((uint8_t)code) ? BURIN_PART_LETTERS : 0));
        compare_parts(&c, parts, ranges, item->n, (burin_code_range){code, code});
    }
    for (int i = 0; i < BURIN_WIDE_ROWS; i++)
        compare_parts(&c, BURIN_PART_WIDE, ranges, item->n, codes_of_row(&burin_wide_rows[i]));
    g->classes = burin_grammar_grow(g->classes, &r->room_classes, g->n_classes, sizeof *g->classes);
    g->classes[g->n_classes] = c;
    return ++g->n_classes;
}

static int32_t emit_class(burin_grammar_reader *r, const burin_gbnf_item *item, int32_t next) {
    emitted_class c = {next, number_class(r, item, next), -1};
    for (int32_t i = item->first; i < item->first + item->n; i++) {
        burin_code_range left = r->ranges[i];
        while (left.low <= left.high) {
            if (left.low >= 0xd800 && left.low <= 0xdfff) left.low = 0xe000;
            if (left.low > left.high) break;
            burin_code_range piece = {left.low, end_of_piece(left)};
            c.entry = emit_bytes(r, piece, &c);
            left.low = piece.high + 1;
        }
    }
    // An empty class: no byte is in this range.
    return c.entry < 0
               ? add_node(
                     r, (burin_grammar_node){.op = BURIN_G_BYTE, .low = 1, .high = 0, .next = next})
               : c.entry;
}

// ------------------------------------------------------------------------------------------- items
static int32_t emit_item(burin_grammar_reader *, int32_t item, int32_t next);

static int32_t add_entry(burin_grammar_reader *r, int32_t node) {
    burin_grammar *g = r->g;
    g->entries = burin_grammar_grow(g->entries, &r->room_entries, g->n_rules, sizeof *g->entries);
    g->entries[g->n_rules] = node;
    return g->n_rules++;
}

static int32_t emit_call(burin_grammar_reader *r, int32_t rule, int32_t next) {
    return add_node(r, (burin_grammar_node){.op = BURIN_G_CALL, .next = next, .other = rule});
}

// The repeated item, or from its third copy on a rule of its own.
typedef struct repeated {
    int32_t item, rule;
} repeated;

static repeated prepare_repetition(burin_grammar_reader *r, const burin_gbnf_item *item) {
    repeated copy = {item->first, -1};
    int32_t copies = item->most < 0 ? item->least : item->most;
    if (copies < 3) return copy;
    int32_t back = add_node(r, (burin_grammar_node){.op = BURIN_G_RETURN}),
            entry = emit_item(r, item->first, back);
    copy.rule = add_entry(r, entry);
    return copy;
}

static int32_t emit_copy(burin_grammar_reader *r, repeated copy, int32_t next) {
    return copy.rule < 0 ? emit_item(r, copy.item, next) : emit_call(r, copy.rule, next);
}

static int32_t emit_repetition(burin_grammar_reader *r, burin_gbnf_item item, int32_t next) {
    repeated copy = prepare_repetition(r, &item);
    int32_t entry = next, least = item.least;
    if (item.most < 0) {
        int32_t loop = add_split(r, 0, next), again = emit_copy(r, copy, loop);
        r->g->nodes[loop].next = again;
        entry = least ? again : loop;
        least -= least > 0;
    }
    for (int32_t i = item.least; i < item.most; i++)
        entry = add_split(r, emit_copy(r, copy, entry), next);
    for (int32_t i = 0; i < least; i++) entry = emit_copy(r, copy, entry);
    return entry;
}

static int32_t emit_reference(burin_grammar_reader *r, const burin_gbnf_item *item, int32_t next) {
    uint8_t bytes[] = {item->n ? BURIN_NO_REFERENCE : BURIN_REFERENCE,
                       burin_reference_byte(item->first, 0), burin_reference_byte(item->first, 1)};
    for (int i = 2; i >= 0; i--)
        next =
            add_node(r, (burin_grammar_node){
                            .op = BURIN_G_BYTE, .low = bytes[i], .high = bytes[i], .next = next});
    return next;
}

static int32_t emit_choice(burin_grammar_reader *r, const burin_gbnf_item *item, int32_t next) {
    int32_t first = item->first, n = item->n, entry = emit_item(r, r->kids[first + n - 1], next);
    for (int32_t i = n - 2; i >= 0; i--)
        entry = add_split(r, emit_item(r, r->kids[first + i], next), entry);
    return entry;
}

static int32_t emit_item(burin_grammar_reader *r, int32_t number, int32_t next) {
    const burin_gbnf_item *item = &r->items[number];
    burin_grammar_spend(r, 1);
    if (item->nothing) return next;
    switch (item->kind) {
        case BURIN_I_CLASS:
            return emit_class(r, item, next);
        case BURIN_I_SEQUENCE:
            for (int32_t i = item->n - 1; i >= 0; i--)
                next = emit_item(r, r->kids[item->first + i], next);
            return next;
        case BURIN_I_CHOICE:
            return emit_choice(r, item, next);
        case BURIN_I_REPEAT:
            return emit_repetition(r, *item, next);
        case BURIN_I_TOKEN:
            return emit_reference(r, item, next);
        case BURIN_I_RULE:
            break;
    }
    return emit_call(r, item->first, next);
}

void burin_grammar_emit(burin_grammar_reader *r) {
    for (int32_t i = 0; i < r->n_rules; i++) add_entry(r, 0);
    for (int32_t i = 0; i < r->n_rules; i++) {
        int32_t back = add_node(r, (burin_grammar_node){.op = BURIN_G_RETURN});
        int32_t entry = emit_item(r, r->rules[i].item, back);
        r->g->entries[i] = entry;
    }
}
