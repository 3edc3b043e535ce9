// Types of results, and messages where operands do not fit.
#include "graphs.h"

// Inputs %x f32[T, 64], %h f16[T, 64], %i i64[3], %b bool[T], %w f32[64], %m f32[64, 32]
static void compose(char *text, size_t size, const char *body) {
    snprintf(text, size,
             "graph g(%%x: f32[T, 64], %%h: f16[T, 64], %%i: i64[3], %%b: bool[T], %%w: f32[64], "
             "%%m: f32[64, 32]) -> (%%y) "
             "where T <= 9 { %s }",
             body);
}

static void check_type(const char *body, const char *expected) {
    char text[2000];
    compose(text, sizeof text, body);
    Graph *g = parse_text(text);
    CHECK(g != NULL);
    if (!g) return;
    CHECK_TEXT(type_text(&g->outputs[0]->type), expected);
    graph_free(g);
}

static void check_misfit(const char *body, const char *expected) {
    char text[2000];
    compose(text, sizeof text, body);
    check_refused(text, expected);
}

static void elementwise_broadcasts(void) {
    check_type("%y = add(%x, %w)", "f32[T, 64]");
    check_type("%y = less(%x, %w)", "bool[T, 64]");
    check_type("%y = cast(%h) {to=bf16}", "bf16[T, 64]");
    check_type("%c = less(%x, %x) %y = where(%c, %x, %w)", "f32[T, 64]");
    check_type("%y = elementwise(%x, %w) {expr=less(add($0, $1), 0x1p+0)}", "bool[T, 64]");
    check_type("%y = elementwise(%x, %w) {expr=where(less($0, $1), $0, 0x0p+0)}", "f32[T, 64]");
    check_misfit("%y = add(%x, %m)", "add: shapes do not broadcast\n");
    check_misfit("%y = add(%x, %m)", "note: operands are f32[T, 64], f32[64, 32]");
    check_misfit("%y = add(%x, %h)", "differ in element type");
    check_misfit("%y = not(%x)", "takes bool");
    check_misfit("%y = where(%x, %x, %x)", "the condition must be bool");
    check_misfit("%y = elementwise(%x) {expr=add($0, $1)}", "names an operand that is not there");
    check_misfit("%y = elementwise(%x, %h) {expr=add($0, $1)}", "mixes element types");
}

static void reductions_drop_axes(void) {
    check_type("%y = reduce_sum(%x) {axes=[1]}", "f32[T, 1]");
    check_type("%y = reduce_sum(%x) {axes=[0, -1], keepdims=0}", "f32");
    check_type("%y = softmax(%x) {axis=-1}", "f32[T, 64]");
    check_misfit("%y = reduce_sum(%x) {axes=[2]}", "axis 2 of a value of rank 2");
    check_misfit("%y = softmax(%x) {axis=2}", "axis 2 of a value of rank 2");
}

static void views_keep_their_elements(void) {
    check_type("%y = reshape(%x) {shape=[T, 8, 8]}", "f32[T, 8, 8]");
    check_type("%y = reshape(%x) {shape=[64 * T]}", "f32[64 * T]");
    check_type("%y = transpose(%x) {perm=[1, 0]}", "f32[64, T]");
    check_type("%y = slice(%x) {axis=1, start=8, extent=16}", "f32[T, 16]");
    check_type("%y = slice(%x) {axis=0, start=T - 1, extent=1}", "f32[1, 64]");
    check_type("%y = slice(%x) {axis=1, start=63, extent=64, step=-1}", "f32[T, 64]");
    check_type("%y = expand(%w) {shape=[3, 64]}", "f32[3, 64]");
    check_type("%y = iota {dims=[T, 3], axis=1}", "i32[T, 3]");
    check_misfit("%y = reshape(%x) {shape=[T, 63]}",
                 "64 * T elements cannot take the shape f32[T, 63]");
    check_misfit("%y = transpose(%x) {perm=[1, 1]}", "not a permutation");
    check_misfit("%y = slice(%x) {axis=1, start=60, extent=5}",
                 "5 elements from 60 are outside of axis 1");
    check_misfit("%y = slice(%x) {axis=1, start=2, extent=4, step=-1}", "outside of axis 1");
    check_misfit("%y = expand(%w) {shape=[64, 3]}", "does not broadcast to f32[64, 3]");
}

static void data_moves(void) {
    check_type("%y = gather(%x, %i) {axis=1}", "f32[T, 3]");
    check_type("%y = gather(%m, %i)", "f32[3, 32]");
    check_type("%y = concat(%x, %x, %x) {axis=0}", "f32[3 * T, 64]");
    check_type("%y = gather_rows(%x, %b)", "f32[L, 64]");
    check_misfit("%y = gather(%x, %w)", "indices must be integers");
    check_misfit("%y = concat(%x, %m) {axis=1}", "differ in axis 0");
    check_misfit("%y = gather_rows(%m, %b)", "takes x [R, width] and logit_rows bool[R]");
}

static void updates_fill_what_is_indexed(void) {
    check_misfit(
        "%k = reshape(%i) {shape=[3, 1]} %a = slice(%m) {axis=0, extent=3, start=0} %u = slice(%a) "
        "{axis=1, extent=31, "
        "start=0} "
        "%y = scatter_nd(%m, %k, %u)",
        "axis 1 of updates must be 32");
}

static void products_meet_in_the_middle(void) {
    check_type("%y = matmul(%x, %m)", "f32[T, 32]");
    check_type("%y = matmul(%x, %w)", "f32[T]");
    check_type("%y = matmul(%w, %m)", "f32[32]");
    check_type(
        "%t = transpose(%m) {perm=[1, 0]} %p = pack(%t) {format=\"q8_0\"} %q = quantize_rows(%x) "
        "{format=\"q8_rows\"} "
        "%y = matmul_packed(%q, %p) {columns=32}",
        "f32[T, 32]");
    check_type(
        "%p = pack(%m) {format=\"bf16\", transposed=1}  %y = matmul_packed(%x, %p) {columns=16, "
        "glu=1, epilogue=mul($0, $1)}",
        "f32[T, 16]");
    check_misfit("%y = matmul(%m, %x)", "inner dimensions 32 and T differ");
    check_misfit(
        "%p = pack(%m) {format=\"bf16\", transposed=1} %y = matmul_packed(%x, %p) {columns=16}",
        "have 32 columns, not 16");
    check_misfit("%p = pack(%m) {format=\"q9\"} ", "unknown format \"q9\"");
    check_misfit(
        "%p = pack(%m) {format=\"f32\", transposed=1} %y = matmul_packed(%x, %p) {columns=32, "
        "epilogue=add($0, $1)}",
        "names $1 of 1 operands");
    check_misfit(
        "%p = pack(%m) {format=\"f32\", transposed=1} %y = matmul_packed(%x, %p, %w) {columns=32, "
        "epilogue=add($0, $1)}",
        "does not broadcast to f32[T, 32]");
    check_misfit(
        "%p = pack(%m) {format=\"f32\", transposed=1} %q = quantize_rows(%x) {format=\"q8_rows\"} "
        "%y = matmul_packed(%q, %p) {columns=32}",
        "rows of int8 need weights in blocks");
}

#define EXPERTS                                                                                  \
    "%e = constant {hash=0x12} : f32[32, 64] %n = iota {axis=1, dims=[T, 4]} %p = pack(%e, %e, " \
    "%e) {format=\"f32\", "                                                                      \
    "experts=3} "

static void experts_take_an_index(void) {
    check_type(EXPERTS "%y = expert_matmul(%x, %p, %n) {columns=32}", "f32[T, 4, 32]");
    check_type(EXPERTS
               "%r = reshape(%x) {shape=[T, 1, 64]} %s = expand(%r) {shape=[T, 4, 64]} "
               "%y = expert_matmul(%s, %p, %n) {columns=32}",
               "f32[T, 4, 32]");
    check_misfit(EXPERTS "%y = expert_matmul(%x, %p, %x) {columns=32}", "index i32[.., k]");
    check_misfit(EXPERTS "%y = expert_matmul(%x, %p, %n) {columns=96}", "have 96 columns, not 288");
    check_misfit(EXPERTS "%q = pack(%e, %e, %e) {format=\"f32\", experts=2}",
                 "as many weights of each expert");
    check_misfit(
        EXPERTS
        "%f = constant {hash=0x13} : f32[16, 64] %q = pack(%e, %f) {format=\"f32\", experts=2}",
        "experts differ in N");
}

static void fused_ops_know_their_shapes(void) {
    check_type("%y = rms_normalization(%x, %w) {epsilon=1e-5}", "f32[T, 64]");
    check_type(
        "%t = skip_layer_normalization(%x, %x, %w, %w) {epsilon=1e-5} %y = item(%t) {index=1}",
        "f32[T, 64]");
    check_type("%y = attention(%x, %x, %x) {num_heads=4, num_kv_heads=4, scale=1.0}", "f32[T, 64]");
    check_type(
        "%v = slice(%x) {axis=1, start=0, extent=8} %k = slice(%x) {axis=1, start=0, extent=32} "
        "%y = attention(%x, %k, %v) {num_heads=4, num_kv_heads=2, scale=1.0}",
        "f32[T, 16]");
    check_misfit("%y = rms_normalization(%x, %m) {epsilon=1e-5}", "weights must be f32[64]");
    check_misfit("%y = rms_normalization(%x, %w)", "lacks its attribute \"epsilon\"");
    check_misfit("%t = skip_rms_normalization(%x, %m, %w) {epsilon=1e-5}", "differ in type");
    check_misfit("%t = skip_rms_normalization(%x, %x, %w) {epsilon=1e-5} %y = item(%t) {index=2}",
                 "index 2 of 2 results");
    check_misfit("%y = neg(%x) %z = item(%y) {index=0}", "item takes a tuple");
    check_misfit("%t = skip_rms_normalization(%x, %x, %w) {epsilon=1e-5} %y = neg(%t)",
                 "choose one with item");
    check_misfit("%y = attention(%x, %x, %x) {num_heads=4, num_kv_heads=3, scale=1.0}",
                 "4 heads over 3 key heads");
    check_misfit("%y = attention(%x, %x, %x) {num_heads=4, num_kv_heads=4, scale=1.0, batch=3}",
                 "are not those of 3 sequences");
    check_misfit("%y = attention(%x, %x, %x, _, _, _, %x) {num_heads=4, num_kv_heads=4, scale=1.0}",
                 "the mask must be [batch, keys of a sequence]");
    check_misfit("%y = attention(%x, %m, %m) {num_heads=4, num_kv_heads=4, scale=1.0}",
                 "takes q [T, H d]");
    check_misfit("%y = rotary_embedding(%x, %x, %x) {num_heads=4}",
                 "turns 128 elements of heads of 16");
    check_misfit("%y = cache_append(%x, %x, %i, %i) {heads=4}",
                 "takes a state [slots, heads, context, d]");
    check_type("%q = reshape(%x) {shape=[T, 4, 16]} %y = key_products(%q, %x) {context=9}",
               "f32[T, 4, 9]");
    check_type(
        "%k = state {kind=\"kept_key\"} : f32[5, 2, 9, 16] %q = iota {dims=[3, 2, 16]} %f = "
        "cast(%q) {to=f32} %y = key_products(%f, %k, %i, %i) {context=9}",
        "f32[3, 2, 9]");
    check_type(
        "%q = reshape(%x) {shape=[T, 4, 16]} %p = key_products(%q, %x) {context=9} %y = "
        "key_sums(%p, %x) {heads=4}",
        "f32[T, 64]");
    check_misfit("%q = reshape(%x) {shape=[T, 2, 32]} %y = key_sums(%q, %x) {heads=4}",
                 "takes f32 x [R, heads, n]");
    check_misfit(
        "%q = reshape(%x) {shape=[T, 2, 32]} %y = key_products(%q, %x, %i, %i) {context=9}",
        "takes f32 x [R, heads, n]");
    check_type("%y = shift_rows(%x) {back=2}", "f32[T, 64]");
    check_type("%s = state {kind=\"row\"} : f32[5, 1, 9, 64] %y = shift_rows(%s, %i, %i) {back=1}",
               "f32[3, 64]");
    check_misfit("%y = shift_rows(%x) {back=-1}", "\"back\" is negative");
    check_misfit("%y = shift_rows(%w) {back=1}",
                 "takes x [R, n], or a state [slots, 1, context, n]");
    check_misfit(
        "%s = state {kind=\"row\"} : f32[5, 2, 9, 64] %y = shift_rows(%s, %i, %i) {back=1}",
        "takes x [R, n], or a state [slots, 1, context, n]");
}

SUITE(infer) {
    TEST(elementwise_broadcasts);
    TEST(reductions_drop_axes);
    TEST(views_keep_their_elements);
    TEST(data_moves);
    TEST(updates_fill_what_is_indexed);
    TEST(experts_take_an_index);
    TEST(products_meet_in_the_middle);
    TEST(fused_ops_know_their_shapes);
}
