// The table of ops: names of operands, kinds of attributes.
#include "graphs.h"
#include "ir/operands.h"

static void operands_have_the_names_of_the_table(void) {
    static const struct {
        Op op;
        int operand, of;
        const char *name;
    } named[] = {
        {OP_attention, ATTENTION_QUERY, ATTENTION_OPERANDS, "query"},
        {OP_attention, ATTENTION_KEY, ATTENTION_OPERANDS, "key"},
        {OP_attention, ATTENTION_VALUE, ATTENTION_OPERANDS, "value"},
        {OP_attention, ATTENTION_SLOT, ATTENTION_OPERANDS, "slot"},
        {OP_attention, ATTENTION_POSITION, ATTENTION_OPERANDS, "position"},
        {OP_attention, ATTENTION_BIAS, ATTENTION_OPERANDS, "bias"},
        {OP_attention, ATTENTION_MASK, ATTENTION_OPERANDS, "mask"},
        {OP_attention, ATTENTION_SINKS, ATTENTION_OPERANDS, "sinks"},
        {OP_layer_normalization, NORM_X, NORM_OPERANDS, "x"},
        {OP_layer_normalization, NORM_WEIGHT, NORM_OPERANDS, "weight"},
        {OP_layer_normalization, NORM_BIAS, NORM_OPERANDS, "bias"},
        {OP_skip_layer_normalization, SKIP_NORM_X, SKIP_NORM_OPERANDS, "x"},
        {OP_skip_layer_normalization, SKIP_NORM_RESIDUAL, SKIP_NORM_OPERANDS, "residual"},
        {OP_skip_layer_normalization, SKIP_NORM_WEIGHT, SKIP_NORM_OPERANDS, "weight"},
        {OP_skip_layer_normalization, SKIP_NORM_BIAS, SKIP_NORM_OPERANDS, "bias"},
        {OP_cache_append, APPEND_STATE, APPEND_OPERANDS, "state"},
        {OP_cache_append, APPEND_ROWS, APPEND_OPERANDS, "rows"},
        {OP_cache_append, APPEND_SLOT, APPEND_OPERANDS, "slot"},
        {OP_cache_append, APPEND_POSITION, APPEND_OPERANDS, "position"},
        {OP_key_products, KEYS_X, KEYS_OPERANDS, "x"},
        {OP_key_products, KEYS_ROWS, KEYS_OPERANDS, "keys"},
        {OP_key_products, KEYS_SLOT, KEYS_OPERANDS, "slot"},
        {OP_key_products, KEYS_POSITION, KEYS_OPERANDS, "position"},
        {OP_key_sums, KEYS_X, KEYS_OPERANDS, "weights"},
        {OP_key_sums, KEYS_ROWS, KEYS_OPERANDS, "values"},
        {OP_key_sums, KEYS_SLOT, KEYS_OPERANDS, "slot"},
        {OP_key_sums, KEYS_POSITION, KEYS_OPERANDS, "position"},
        {OP_shift_rows, SHIFT_X, SHIFT_OPERANDS, "x"},
        {OP_shift_rows, SHIFT_SLOT, SHIFT_OPERANDS, "slot"},
        {OP_shift_rows, SHIFT_POSITION, SHIFT_OPERANDS, "position"},
        {OP_non_max_suppression, SUPPRESSION_BOXES, SUPPRESSION_OPERANDS, "boxes"},
        {OP_non_max_suppression, SUPPRESSION_SCORES, SUPPRESSION_OPERANDS, "scores"},
        {OP_non_max_suppression, SUPPRESSION_MOST, SUPPRESSION_OPERANDS, "most"},
        {OP_non_max_suppression, SUPPRESSION_IOU, SUPPRESSION_OPERANDS, "iou"},
        {OP_non_max_suppression, SUPPRESSION_SCORE, SUPPRESSION_OPERANDS, "score"},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        CHECK(op_operand_named(named[i].op, named[i].name) == named[i].operand);
        CHECK(op_most(named[i].op) == named[i].of);
    }
}

static void numbers_of_operands_follow_from_the_names(void) {
    CHECK(op_least(OP_input) == 0 && op_most(OP_input) == 0);
    CHECK(op_least(OP_attention) == 3 && op_most(OP_attention) == 8);
    CHECK(op_least(OP_concat) == 1 && op_most(OP_concat) == -1);
    CHECK(op_least(OP_elementwise) == 1 && op_most(OP_elementwise) == 16);
    CHECK(op_least(OP_loop) == 0 && op_most(OP_loop) == -1);
    int length;
    const char *name = op_operand(OP_matmul_packed, 5, &length);
    CHECK(length == 8 && !strncmp(name, "epilogue", 8));
    CHECK(op_operand_named(OP_matmul, "bias") == -1);
}

// Every word of every row is read.
static void kinds_of_attributes_are_known(void) {
    for (int op = 0; op < OP_COUNT; op++) {
        const char *next = op_info[op].attrs;
        int words = 0, read = 0;
        for (const char *a = next; *a; a++) words += *a == ':';
        for (OpAttr a; op_next_attr(&next, &a); read++) CHECK(a.length > 0 && a.kind_name);
        CHECK(read == words);
    }
    OpAttr a;
    CHECK(op_attr(OP_slice, "start", &a) && a.kind == ATTR_DIMS && a.one && a.required);
    CHECK(op_attr(OP_attention, "softcap", &a) && a.kind == ATTR_FLOAT && !a.required);
    CHECK(!op_attr(OP_neg, "axis", &a));
}

static void operands_behind_absent_ones_are_named(void) {
    Graph *g = parse_text(
        "graph g(%q: f32[4, 8], %k: f32[4, 8], %s: f32[2]) -> (%a) {\n"
        "  %a = attention(%q, %k, %k, sinks=%s) {num_heads=2, num_kv_heads=2, scale=1} : f32[4, "
        "8]\n"
        "}\n");
    CHECK(g != NULL);
    if (!g) return;
    const Node *a = g->outputs[0];
    CHECK(!operand_or_null(a, ATTENTION_MASK) &&
          operand_or_null(a, ATTENTION_SINKS) == g->inputs[2]);
    Text text = {0};
    node_print(&text, a);
    CHECK_TEXT(text.data,
               "%a = attention(%q, %k, %k, sinks=%s) {num_heads=2, num_kv_heads=2, scale=1.0} : "
               "f32[4, 8]");
    text_free(&text);
    graph_free(g);
    check_refused("graph g(%x: f32[4]) -> (%y) {\n  %y = neg(speed=%x)\n}",
                  "2:12: error: neg has no operand \"speed\" here");
    check_refused(
        "graph g(%x: f32[4]) -> (%y) {\n  %y = layer_normalization(%x, %x, x=%x) {epsilon=1}\n}",
        "layer_normalization has no operand \"x\" here");
}

SUITE(ops) {
    TEST(operands_have_the_names_of_the_table);
    TEST(numbers_of_operands_follow_from_the_names);
    TEST(kinds_of_attributes_are_known);
    TEST(operands_behind_absent_ones_are_named);
}
