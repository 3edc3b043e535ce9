// The ops that find elements by position or look along an axis: types, messages, and small values
// worked out by hand.
#include <stdio.h>
#include <stdlib.h>

#include "graphs.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"

// A graph without inputs, its last value %y: its type and elements, in both modes.
static void check_value(const char *body, const char *expected) {
    char text[2000];
    snprintf(text, sizeof text,
             "graph g() -> (%%y) where 0 <= N <= 6 { %%x = constant {value=[3, 1, 2, 5, 4, 0]} : "
             "f32[2, 3] %s }",
             body);
    Graph *g = parse_text(text);
    CHECK(g != NULL);
    for (int mode = EVAL_F32; g && mode <= EVAL_F64; mode++) {
        EvalContext *c = eval_new(mode);
        const Tensor *y;
        Text got = {0};
        eval_graph(c, g, NULL, &y);
        for (int i = 0; i < y->rank; i++)
            text_add(&got, "%s%lld", i ? "x" : "", (long long)y->dim[i]);
        for (int64_t i = 0; i < tensor_count(y); i++)
            text_add(&got, "%s%g", i ? " " : ": ", dtype_load(y->dtype, y->data, i));
        CHECK_TEXT(got.data, expected);
        text_free(&got);
        eval_free(c);
    }
    graph_free(g);
}

static void check_misfit(const char *body, const char *expected) {
    char text[2000];
    snprintf(text, sizeof text,
             "graph g(%%x: f32[4, 5], %%i: i64[4, 5], %%f: f32[]) -> (%%y) { %s }", body);
    check_refused(text, expected);
}

static void windows_overlap(void) {
    check_value("%y = windows(%x) {kernel=[2]}", "2x2x2: 3 1 1 2 5 4 4 0");
    check_value("%y = windows(%x) {kernel=[2], dilations=[2]}", "2x1x2: 3 2 5 0");
    check_value(
        "%w = windows(%x) {kernel=[2, 2], strides=[1, 1]} %y = reduce_max(%w) {axes=[2, 3], "
        "keepdims=0}",
        "1x2: 5 4");
    check_misfit("%y = windows(%x) {kernel=[6]}", "is shorter than the window");
    check_misfit("%y = windows(%x) {kernel=[2], strides=[0]}", "must be positive");
    check_misfit("%y = windows(%x) {kernel=[2], strides=[1, 1]}",
                 "\"strides\" has 2 integers, not 1");
}

static void pads_surround(void) {
    check_value("%v = constant {value=9} : f32 %y = pad(%x, %v) {low=[0, 1], high=[1, 0]}",
                "3x4: 9 3 1 2 9 5 4 0 9 9 9 9");
    check_value(
        "%v = constant {value=9} : f32 %y = pad(%x, %v) {low=[0, 0], high=[0, 0], interior=[0, 1]}",
        "2x5: 3 9 1 9 2 5 9 4 9 0");
    check_misfit("%y = pad(%x, %f) {low=[0], high=[0, 0]}", "must be lists of 2 dimensions");
    check_misfit("%y = pad(%x, %f) {low=[0, -1], high=[0, 0]}", "a pad is negative");
    check_misfit("%y = pad(%x, %x) {low=[0, 0], high=[0, 0]}", "the value must be a scalar");
}

static void positions_choose(void) {
    check_value(
        "%i = constant {value=[0, -1, 1, 1]} : i64[2, 2] %y = gather_elements(%x, %i) {axis=1}",
        "2x2: 3 2 4 4");
    check_value("%i = constant {value=[1, 2, 0, 0]} : i64[2, 2] %y = gather_nd(%x, %i)", "2: 0 3");
    check_value("%i = constant {value=[2, 0]} : i64[2, 1] %y = gather_nd(%x, %i) {batch_dims=1}",
                "2: 2 5");
    check_value(
        "%i = constant {value=[1, 1]} : i64[1, 2] %u = constant {value=[7, 8]} : f32[1, 2] "
        "%y = scatter_elements(%x, %i, %u) {axis=1, reduction=\"add\"}",
        "2x3: 3 16 2 5 4 0");
    check_value(
        "%i = constant {value=[1]} : i64[1, 1] %u = constant {value=[7, 8, 9]} : f32[1, 3] %y = "
        "scatter_nd(%x, %i, %u)",
        "2x3: 3 1 2 7 8 9");
    check_value(
        "%b = constant {value=[1, 0, 1]} : bool[3] %n = nonzero(%b) {extent=N} %y = reshape(%n) "
        "{shape=[N]}",
        "2: 0 2");
    check_misfit("%y = gather_elements(%x, %f) {axis=0}", "the index must be i32 or i64");
    check_misfit("%y = gather_nd(%x, %i)", "5 positions after 0 batch axes of a value of rank 2");
    check_misfit("%y = scatter_elements(%x, %i, %i)", "updates of the type of x");
    check_misfit("%y = nonzero(%x) {extent=3}", "must be a symbol");
}

static void axes_have_an_order(void) {
    check_value("%y = arg_max(%x) {axis=1}", "2x1: 0 0");
    check_value("%y = arg_min(%x) {axis=0, keepdims=0}", "3: 0 0 1");
    check_value(
        "%e = equal(%x, %x) %z = cast(%e) {to=i32} %y = arg_max(%z) {axis=1, select_last_index=1}",
        "2x1: 2 2");
    check_value("%t = top_k(%x) {axis=1, extent=2} %y = item(%t) {index=0}", "2x2: 3 2 5 4");
    check_value("%t = top_k(%x) {axis=1, extent=2, largest=0} %y = item(%t) {index=1}",
                "2x2: 1 2 2 1");
    check_value("%y = cum_sum(%x) {axis=1}", "2x3: 3 4 6 5 9 9");
    check_value("%y = cum_sum(%x) {axis=1, exclusive=1, reverse=1}", "2x3: 3 2 0 4 0 0");
    check_value("%y = cum_prod(%x) {axis=0}", "2x3: 3 1 2 15 4 0");
    check_misfit("%t = top_k(%x) {axis=1, extent=6} %y = item(%t) {index=0}",
                 "must be one dimension, at most 5");
    check_misfit("%y = arg_max(%x) {axis=2}", "axis 2 of a value of rank 2");
}

static void bits_and_remainders(void) {
    check_value("%y = atan(%x)", "2x3: 1.24905 0.785398 1.10715 1.3734 1.32582 0");
    check_value("%m = neg(%x) %t = constant {value=2} : f32 %y = fmod(%m, %t)",
                "2x3: -1 -1 -0 -1 -0 -0");
    check_value("%i = cast(%x) {to=i32} %t = constant {value=2} : i32 %y = shift_left(%i, %t)",
                "2x3: 12 4 8 20 16 0");
    check_value("%i = cast(%x) {to=u8} %t = constant {value=6} : u8 %y = bit_xor(%i, %t)",
                "2x3: 5 7 4 3 2 6");
    check_misfit("%y = bit_and(%x, %x)", "takes integers");
    check_misfit("%y = bit_cast(%x) {to=i64}", "f32 and i64 differ in width");
}

SUITE(eval_moves) {
    TEST(windows_overlap);
    TEST(pads_surround);
    TEST(positions_choose);
    TEST(axes_have_an_order);
    TEST(bits_and_remainders);
}
