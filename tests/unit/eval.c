// The reference interpreter: each op on small values worked out by hand, in f32 and in f64; states;
// folding.
#include "ir/eval/eval.h"

#include <math.h>

#include "graphs.h"
#include "ir/convert.h"

static Tensor vector_of(const float *data, int64_t n) {
    return (Tensor){.dtype = DT_f32, .rank = 1, .dim = {n}, .data = data, .bytes = (uint64_t)n * 4};
}

static char *values_text(const Tensor *t) {
    Text text = {0};
    for (int64_t i = 0; i < tensor_count(t); i++)
        text_add(&text, "%s%.6g", i ? " " : "", dtype_load(t->dtype, t->data, i) + 0.0);
    if (!text.data) text_add(&text, "nothing");
    return text.data;
}

// The body of a graph without inputs, its last value %y; `expected` is what %y is in both modes.
static void check_value(const char *body, const char *expected) {
    char text[4096];
    snprintf(text, sizeof text, "graph g() -> (%%y) {\n%s\n}", body);
    Graph *g = parse_text(text);
    CHECK(g != NULL);
    for (int mode = EVAL_F32; g && mode <= EVAL_F64; mode++) {
        EvalContext *c = eval_new(mode);
        const Tensor *y;
        eval_graph(c, g, NULL, &y);
        char *got = values_text(y);
        CHECK_TEXT(got, expected);
        free(got);
        eval_free(c);
    }
    graph_free(g);
}

static void elementwise_ops(void) {
    check_value("%a = constant {value=[1, -2, 3.5]} : f32[3] %y = neg(%a)", "-1 2 -3.5");
    check_value("%a = constant {value=[1, -2, 3.5]} : f32[3] %y = abs(%a)", "1 2 3.5");
    check_value("%a = constant {value=[0.0, 1.0]} : f32[2] %y = exp(%a)", "1 2.71828");
    check_value("%a = constant {value=[1, 10]} : f32[2] %y = log(%a)", "0 2.30259");
    check_value("%a = constant {value=[4, 2]} : f32[2] %y = sqrt(%a)", "2 1.41421");
    check_value("%a = constant {value=[4, 0.5]} : f32[2] %y = reciprocal(%a)", "0.25 2");
    check_value("%a = constant {value=[0.5, 100]} : f32[2] %y = sin(%a)", "0.479426 -0.506366");
    check_value("%a = constant {value=[0.5, 100]} : f32[2] %y = cos(%a)", "0.877583 0.862319");
    check_value("%a = constant {value=[0.5, -2]} : f32[2] %y = tanh(%a)", "0.462117 -0.964028");
    check_value("%a = constant {value=[0.5, -2]} : f32[2] %y = erf(%a)", "0.5205 -0.995322");
    check_value("%a = constant {value=[0.5, -2]} : f32[2] %y = sigmoid(%a)", "0.622459 0.119203");
    check_value("%a = constant {value=[0.5, -2]} : f32[2] %y = relu(%a)", "0.5 0");
    check_value("%a = constant {value=[0.5, -1.5, 2.5]} : f32[3] %y = floor(%a)", "0 -2 2");
    check_value("%a = constant {value=[0.5, -1.5, 2.25]} : f32[3] %y = ceil(%a)", "1 -1 3");
    check_value("%a = constant {value=[0.5, 1.5, -2.5]} : f32[3] %y = round(%a)", "0 2 -2");
    check_value("%a = constant {value=[1, -2]} : f32[2] %y = silu(%a)", "0.731059 -0.238406");
    check_value("%a = constant {value=[1, -2]} : f32[2] %y = gelu(%a)", "0.841345 -0.0455003");
    check_value("%a = constant {value=[1, -2]} : f32[2] %y = gelu_tanh(%a)", "0.841192 -0.0454023");
    check_value("%a = constant {value=[1, 0]} : bool[2] %y = not(%a)", "0 1");
}

#define TWO      "%a = constant {value=[7, -7]} : f32[2] %b = constant {value=2} : f32 "
#define TWO_INTS "%a = constant {value=[7, -7]} : i32[2] %b = constant {value=2} : i32 "

static void two_operands_broadcast(void) {
    check_value(TWO "%y = add(%a, %b)", "9 -5");
    check_value(TWO "%y = sub(%b, %a)", "-5 9");
    check_value(TWO "%y = mul(%a, %b)", "14 -14");
    check_value(TWO "%y = div(%a, %b)", "3.5 -3.5");
    check_value(TWO "%y = pow(%a, %b)", "49 49");
    check_value(TWO "%y = min(%a, %b)", "2 -7");
    check_value(TWO "%y = max(%a, %b)", "7 2");
    check_value(TWO "%y = mod(%a, %b)", "1 1");
    check_value(TWO "%y = less(%a, %b)", "0 1");
    check_value(TWO "%y = greater_or_equal(%a, %a)", "1 1");
    check_value(TWO "%c = equal(%a, %b) %d = less_or_equal(%b, %a) %y = or(%c, %d)", "1 0");
    check_value(TWO "%c = greater(%a, %b) %d = less(%a, %b) %y = and(%c, %d)", "0 0");
    check_value(TWO "%c = greater(%a, %b) %y = where(%c, %b, %a)", "2 -7");
    check_value(TWO_INTS "%y = div(%a, %b)", "3 -3");
    check_value(TWO_INTS "%y = mod(%a, %b)", "1 1");
    check_value(TWO_INTS "%y = pow(%a, %b)", "49 49");
    check_value("%a = constant {value=[2147483647]} : i32[1] %y = add(%a, %a)", "-2");
    check_value(
        "%a = constant {value=[1, 2, 3]} : f32[3, 1] %b = constant {value=[10, 20]} : f32[2] %y = "
        "add(%a, %b)",
        "11 21 12 22 13 23");
    check_value(
        TWO
        "%y = elementwise(%a, %b) {expr=mul(add($0, 0x1p+0), where(less($0, $1), $1, neg($1)))}",
        "-16 -12");
}

static void sixteen_bits_round_once_for_each_op(void) {
    check_value(
        "%a = constant {value=[1.0, 256.0]} : bf16[2] %b = constant {value=0.0078125} : bf16 %y = "
        "cast(%a) {to=f64}",
        "1 256");
    Graph *g = parse_text(
        "graph g() -> (%c, %f) { %a = constant {value=1.0} : bf16 %b = constant {value=0.00390625} "
        ": bf16 %c = add(%a, %b)\n"
        "%f = elementwise(%a, %b) {expr=add(add($0, $1), $1)} }");
    EvalContext *c = eval_new(EVAL_F32);
    const Tensor *y[2];
    eval_graph(c, g, NULL, y);
    CHECK(dtype_load(DT_bf16, y[0]->data, 0) == 1 && dtype_load(DT_bf16, y[1]->data, 0) == 1);
    eval_free(c);
    graph_free(g);
}

static void casts(void) {
    check_value("%a = constant {value=[1.9, -1.9, nan, 1e30]} : f32[4] %y = cast(%a) {to=i32}",
                "1 -1 0 2.14748e+09");
    check_value("%a = constant {value=[300, -1]} : i32[2] %y = cast(%a) {to=u8}", "44 255");
    check_value(
        "%a = constant {value=[0.1]} : f32[1] %b = cast(%a) {to=f16} %y = cast(%b) {to=f32}",
        "0.0999756");
    check_value(
        "%a = constant {value=[0.1]} : f32[1] %b = cast(%a) {to=bf16} %y = cast(%b) {to=f32}",
        "0.100098");
    check_value("%a = constant {value=[500.0, 0.3]} : f32[2] %y = cast(%a) {to=f8e4m3fn}",
                "448 0.3125");
    check_value("%a = constant {value=[0.5, 0.0]} : f32[2] %y = cast(%a) {to=bool}", "1 0");
}

#define SIX "%a = constant {value=[1, 2, 3, 4, 5, 6]} : f32[2, 3] "

static void reductions(void) {
    check_value(SIX "%y = reduce_sum(%a) {axes=[1]}", "6 15");
    check_value(SIX "%y = reduce_sum(%a) {axes=[0], keepdims=0}", "5 7 9");
    check_value(SIX "%y = reduce_mean(%a) {axes=[0, 1]}", "3.5");
    check_value(SIX "%y = reduce_max(%a) {axes=[-1]}", "3 6");
    check_value(SIX "%y = reduce_min(%a) {axes=[0]}", "1 2 3");
    check_value(SIX "%y = reduce_prod(%a) {axes=[1]}", "6 120");
    check_value("%a = constant {value=[1, 2, 3, 4]} : i64[2, 2] %y = reduce_sum(%a) {axes=[1]}",
                "3 7");
    check_value(SIX "%y = softmax(%a)", "0.0900306 0.244728 0.665241 0.0900306 0.244728 0.665241");
    check_value(SIX "%y = softmax(%a) {axis=0}",
                "0.0474259 0.0474259 0.0474259 0.952574 0.952574 0.952574");
}

static void views(void) {
    check_value(SIX "%y = reshape(%a) {shape=[3, 2]}", "1 2 3 4 5 6");
    check_value(SIX "%y = transpose(%a) {perm=[1, 0]}", "1 4 2 5 3 6");
    check_value(SIX "%b = transpose(%a) {perm=[1, 0]} %y = reshape(%b) {shape=[6]}", "1 4 2 5 3 6");
    check_value(SIX "%y = slice(%a) {axis=1, start=1, extent=2}", "2 3 5 6");
    check_value(SIX "%y = slice(%a) {axis=1, start=2, extent=3, step=-1}", "3 2 1 6 5 4");
    check_value("%a = constant {value=[1, 2]} : f32[2, 1] %y = expand(%a) {shape=[2, 3]}",
                "1 1 1 2 2 2");
    check_value("%y = iota {axis=1, dims=[2, 3]}", "0 1 2 0 1 2");
    check_value(SIX "%i = constant {value=[1, 0, -1]} : i64[3] %y = gather(%a, %i) {axis=0}",
                "4 5 6 1 2 3 4 5 6");
    check_value(SIX "%i = constant {value=[2, 0]} : i32[2] %y = gather(%a, %i) {axis=1}",
                "3 1 6 4");
    check_value(SIX "%i = constant {value=1} : i32 %y = gather(%a, %i) {axis=1}", "2 5");
    check_value(SIX "%b = slice(%a) {axis=1, start=0, extent=1} %y = concat(%a, %b) {axis=1}",
                "1 2 3 1 4 5 6 4");
    check_value(SIX "%b = transpose(%a) {perm=[1, 0]} %y = concat(%b, %b) {axis=0}",
                "1 4 2 5 3 6 1 4 2 5 3 6");
    check_value(SIX "%w = constant {value=[0, 1]} : bool[2] %y = gather_rows(%a, %w)", "4 5 6");
    check_value(SIX "%q = reshape(%a) {shape=[2, 1, 3]} %y = key_products(%q, %a) {context=3}",
                "14 0 0 32 77 0");
    check_value(
        "%w = constant {value=[1, 7, 2, 3]} : f32[2, 1, 2] %v = constant {value=[5, 6, 8, 9]} : "
        "f32[2, 2] %y = key_sums(%w, %v) {heads=1}",
        "5 6 34 39");
    check_value(SIX "%y = shift_rows(%a) {back=1}", "0 0 0 1 2 3");
    check_value(SIX "%y = shift_rows(%a) {back=0}", "1 2 3 4 5 6");
    check_value(SIX "%y = shift_rows(%a) {back=5}", "0 0 0 0 0 0");
}

static void products(void) {
    check_value(SIX "%b = transpose(%a) {perm=[1, 0]} %y = matmul(%a, %b)", "14 32 32 77");
    check_value(SIX "%v = constant {value=[1, 0, 2]} : f32[3] %y = matmul(%a, %v)", "7 16");
    check_value(SIX "%v = constant {value=[1, 2]} : f32[2] %y = matmul(%v, %a)", "9 12 15");
    check_value(
        "%a = constant {value=[1, 2, 3, 4]} : f32[2, 1, 2] %b = constant {value=[1, 1]} : f32[2, "
        "1] %y = matmul(%a, %b)",
        "3 7");
    check_value(
        "%a = constant {value=[1, 2]} : i32[1, 2] %b = constant {value=[3, 4]} : i32[2, 1] %y = "
        "matmul(%a, %b)",
        "11");
}

#define PACKED                                              \
    "%x = constant {value=[1, 2, 3, 4]} : f32[2, 2] "       \
    "%g = constant {value=[1, 0, 0, 1, 1, 1]} : f32[3, 2] " \
    "%u = constant {value=[2, 0, 0, 2, 2, 2]} : f32[3, 2] "

static void packed_products(void) {
    check_value(PACKED "%w = pack(%g) {format=\"f32\"} %y = matmul_packed(%x, %w) {columns=3}",
                "1 2 3 3 4 7");
    check_value(PACKED "%w = pack(%g, %u) {format=\"bf16\"} %y = matmul_packed(%x, %w) {columns=6}",
                "1 2 3 2 4 6 3 4 7 6 8 14");
    check_value(PACKED
                "%t = transpose(%g) {perm=[1, 0]} %w = pack(%t) {format=\"f16\", transposed=1}"
                "%b = constant {value=[10, 20, 30]} : f32[3] %y = matmul_packed(%x, %w, %b) "
                "{columns=3, epilogue=add($0, $1)}",
                "11 22 33 13 24 37");
    check_value(PACKED
                "%w = pack(%g, %u) {format=\"f32\", interleave=1} %r = constant {value=1000} : f32 "
                "%y = matmul_packed(%x, %w, %r) {columns=3, glu=1, epilogue=add(mul($0, $1), $2)}",
                "1002 1008 1018 1018 1032 1098");
}

#define ROUTED                                                                                 \
    PACKED                                                                                     \
    "%i = constant {value=[1, 0, 7, -1]} : i32[2, 2] %one = constant {value=[1, 0]} : i32[2, " \
    "1] "

// Rows (1, 2) and (3, 4) by experts g and u; an index out of range is clamped.
static void products_by_experts(void) {
    check_value(
        ROUTED
        "%w = pack(%g, %u) {format=\"f32\", experts=2} %y = expert_matmul(%x, %w, %i) {columns=3}",
        "2 4 6 1 2 3 6 8 14 3 4 7");
    check_value(
        ROUTED
        "%w = pack(%g, %u, %u, %g) {format=\"f32\", experts=2, interleave=1} "
        "%b = constant {value=[100, 1000]} : f32[2, 1, 1] "
        "%y = expert_matmul(%x, %w, %one, %b) {columns=3, glu=1, epilogue=add(sub($0, $1), $2)}",
        "101 102 103 997 996 993");
    check_value(ROUTED
                "%r = reshape(%x) {shape=[2, 1, 2]} %w = pack(%g, %u) {format=\"bf16\", experts=2} "
                "%y = expert_matmul(%r, %w, %one) {columns=3}",
                "2 4 6 3 4 7");
}

static void quantized_products(void) {
    check_value(PACKED
                "%q = quantize_rows(%x) {format=\"q8_rows\"} %w = pack(%g) {format=\"q8_0\"} %y = "
                "matmul_packed(%q, %w) {columns=3}",
                "1.00784 1.99994 3.00778 2.99203 3.99988 6.99191");
}

static void norms(void) {
    const char *x =
        "%x = constant {value=[3, 4, 6, 8]} : f32[2, 2] %w = constant {value=[1, 2]} : f32[2] ";
    char body[600];
    snprintf(body, sizeof body, "%s %%y = rms_normalization(%%x, %%w) {epsilon=0.0}", x);
    check_value(body, "0.848528 2.26274 0.848528 2.26274");
    snprintf(body, sizeof body, "%s %%y = layer_normalization(%%x, %%w, %%w) {epsilon=0.0}", x);
    check_value(body, "0 4 0 4");
    snprintf(body, sizeof body, "%s %%y = layer_normalization(%%x, %%w) {epsilon=0.25}", x);
    check_value(body, "-0.707107 1.41421 -0.894427 1.78885");
    snprintf(
        body, sizeof body,
        "%s %%t = skip_rms_normalization(%%x, %%x, %%w) {epsilon=0.0} %%y = item(%%t) {index=0}",
        x);
    check_value(body, "6 8 12 16");
    snprintf(
        body, sizeof body,
        "%s %%t = skip_rms_normalization(%%x, %%x, %%w) {epsilon=0.0} %%y = item(%%t) {index=1}",
        x);
    check_value(body, "0.848528 2.26274 0.848528 2.26274");
    snprintf(body, sizeof body,
             "%s %%t = skip_layer_normalization(%%x, %%x, %%w, %%w) {epsilon=0.0} %%y = item(%%t) "
             "{index=1}",
             x);
    check_value(body, "0 4 0 4");
}

static void rotary_turns_pairs(void) {
    const char *x =
        "%x = constant {value=[1, 2, 3, 4, 5, 6, 7, 8]} : f32[1, 8] %c = constant {value=[0]} : "
        "f32[1, 1] "
        "%s = constant {value=[1]} : f32[1, 1] ";
    char body[600];
    snprintf(body, sizeof body, "%s %%y = rotary_embedding(%%x, %%c, %%s) {num_heads=2}", x);
    check_value(body, "-2 1 3 4 -6 5 7 8");
    snprintf(body, sizeof body,
             "%s %%d = concat(%%c, %%c) {axis=1} %%z = concat(%%s, %%s) {axis=1} "
             "%%y = rotary_embedding(%%x, %%d, %%z) {num_heads=2}",
             x);
    check_value(body, "-3 -4 1 2 -7 -8 5 6");
    snprintf(body, sizeof body,
             "%s %%d = concat(%%c, %%c) {axis=1} %%z = concat(%%s, %%s) {axis=1} "
             "%%y = rotary_embedding(%%x, %%d, %%z) {num_heads=2, interleaved=1}",
             x);
    check_value(body, "-2 1 -4 3 -6 5 -8 7");
}

// softmax of [0, ln 3] is [1/4, 3/4]
#define QKV                                                   \
    "%q = constant {value=[1, 0, 1, 0]} : f32[2, 2] "         \
    "%k = constant {value=[0, 0, 1.0986123, 0]} : f32[2, 2] " \
    "%v = constant {value=[4, 8, 8, 16]} : f32[2, 2] "

static void attention_over_plain_rows(void) {
    check_value(QKV "%y = attention(%q, %k, %v) {num_heads=1, num_kv_heads=1, scale=1.0}",
                "7 14 7 14");
    check_value(QKV "%y = attention(%q, %k, %v) {num_heads=1, num_kv_heads=1, scale=1.0, causal=1}",
                "4 8 7 14");
    check_value(
        QKV
        "%y = attention(%q, %k, %v) {num_heads=1, num_kv_heads=1, scale=1.0, causal=1, window=1}",
        "4 8 8 16");
    check_value(QKV
                "%b = constant {value=[0, -inf, -inf, 0]} : f32[1, 2, 2] "
                "%y = attention(%q, %k, %v, _, _, %b) {num_heads=1, num_kv_heads=1, scale=1.0}",
                "4 8 8 16");
    check_value(QKV "%y = attention(%q, %k, %v) {num_heads=2, num_kv_heads=2, scale=1.0}",
                "7 12 7 12");
    check_value(
        "%q = constant {value=[1, 1, 1, 1]} : f32[2, 2] %k = constant {value=[0, 1.0986123]} : "
        "f32[2, 1] "
        "%v = constant {value=[4, 8]} : f32[2, 1] "
        "%y = attention(%q, %k, %v) {num_heads=2, num_kv_heads=1, scale=1.0}",
        "7 7 7 7");
}

// Two sequences of a query and two keys each.
#define BATCH                                                                 \
    "%q = constant {value=[1, 1]} : f32[2, 1] "                               \
    "%k = constant {value=[0, 1.0986123, 1.0986123, 1.0986123]} : f32[4, 1] " \
    "%v = constant {value=[4, 8, 1, 3]} : f32[4, 1] "

static void attention_over_a_batch(void) {
    check_value(BATCH
                "%y = attention(%q, %k, %v) {num_heads=1, num_kv_heads=1, scale=1.0, batch=2}",
                "7 2");
    check_value(
        BATCH
        "%b = constant {value=[0, -inf, 1.0986123, 0]} : f32[2, 1, 1, 2] "
        "%y = attention(%q, %k, %v, _, _, %b) {num_heads=1, num_kv_heads=1, scale=1.0, batch=2}",
        "4 1.5");
    check_value(
        BATCH
        "%m = constant {value=[0, -inf, -inf, 0]} : f32[2, 2] "
        "%y = attention(%q, %k, %v, _, _, _, %m) {num_heads=1, num_kv_heads=1, scale=1.0, batch=2}",
        "4 3");
    check_value(
        BATCH
        "%y = attention(%q, %k, %v) {num_heads=1, num_kv_heads=1, scale=1.0, batch=2, causal=1}",
        "4 1");
}

static const char CACHED[] =
    "graph g(%q: f32[R, 2], %k: f32[R, 2], %v: f32[R, 2], %slot: i32[R], %position: i32[R]) -> "
    "(%a) where R <= 4 {\n"
    "  %ks = state {kind=\"key\", layer=0} : f32[2, 1, 600, 2]\n"
    "  %vs = state {kind=\"value\", layer=0} : f32[2, 1, 600, 2]\n"
    "  %k1 = cache_append(%ks, %k, %slot, %position) {heads=1}\n"
    "  %v1 = cache_append(%vs, %v, %slot, %position) {heads=1}\n"
    "  %a = attention(%q, %k1, %v1, %slot, %position) {causal=1, num_heads=1, num_kv_heads=1, "
    "scale=0.5}\n"
    "}\n";

static void run_row(EvalContext *c, Graph *g, int slot, int position, double *out) {
    float q[2] = {1, (float)position / 300}, k[2] = {sinf((float)position), 0.25f},
          v[2] = {(float)position, 1};
    int32_t s = slot, p = position;
    Tensor row = {.dtype = DT_f32, .rank = 2, .dim = {1, 2}, .bytes = 8},
           index = {.dtype = DT_i32, .rank = 1, .dim = {1}, .bytes = 4};
    Tensor in[5] = {row, row, row, index, index};
    in[0].data = q;
    in[1].data = k;
    in[2].data = v;
    in[3].data = &s;
    in[4].data = &p;
    const Tensor *inputs[5] = {&in[0], &in[1], &in[2], &in[3], &in[4]}, *y;
    eval_graph(c, g, inputs, &y);
    for (int i = 0; i < 2; i++) out[i] = dtype_load(y->dtype, y->data, i);
}

// Token by token through two slots, over more than two segments of keys; against the formula.
static void attention_keeps_its_state(void) {
    Graph *g = parse_text(CACHED);
    EvalContext *c = eval_new(EVAL_F32), *d = eval_new(EVAL_F64);
    double f[2], w[2], other[2], worst = 0, sum = 0, mean = 0;
    for (int p = 0; p < 600; p++) {
        run_row(c, g, 1, p, f);
        run_row(d, g, 1, p, w);
        if (p % 100 == 0) run_row(c, g, 0, p / 100, other);
        if (fabs(f[0] - w[0]) / (p + 1) > worst) worst = fabs(f[0] - w[0]) / (p + 1);
        CHECK(fabs(f[1] - 1) < 1e-5);
    }
    for (int p = 0; p < 600; p++) {
        sum += exp(0.5 * sin(p));
        mean += exp(0.5 * sin(p)) * p;
    }
    CHECK(fabs(w[0] - mean / sum) < 1e-3 && worst < 1e-6);
    run_row(c, g, 0, 6, other);
    run_row(d, g, 0, 0, w);
    CHECK(w[0] == 0 && other[0] > 2 && other[0] < 6);
    eval_free(c);
    eval_free(d);
    graph_free(g);
}

static void one_node_takes_its_operands(void) {
    Graph *g = parse_text(
        "graph g(%x: f32[T]) -> (%z) where T <= 9 { %y = add(%x, %x) %z = mul(%y, %x) }");
    EvalContext *c = eval_new(EVAL_F64);
    float x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
    Tensor tx = vector_of(x, 3), ty = vector_of(y, 3);
    const Tensor *z = eval_node(c, g->outputs[0], (const Tensor *[]){&ty, &tx}, 0);
    CHECK(z->dtype == DT_f64 && tensor_count(z) == 3 && ((const double *)z->data)[2] == 90);
    eval_free(c);
    graph_free(g);
}

static void data_need_not_be_aligned(void) {
    static const char bytes[] = "x\0\0\x80\x3f\0\0\0\x40";  // 1 and 2, from the second byte on
    Graph *g = parse_text("graph g(%x: f32[2]) -> (%y) { %y = add(%x, %x) }");
    EvalContext *c = eval_new(EVAL_F32);
    Tensor x = vector_of((const float *)(const void *)(bytes + 1), 2);
    const Tensor *inputs[1] = {&x}, *y;
    eval_graph(c, g, inputs, &y);
    CHECK(dtype_load(DT_f32, y->data, 0) == 2 && dtype_load(DT_f32, y->data, 1) == 4);
    CHECK(dtype_load(DT_f32, x.data, 1) == 2);
    eval_free(c);
    graph_free(g);
}

static void constants_fold(void) {
    Graph *g = parse_text(
        "graph g() -> (%y) { %a = constant {value=[1, 2, 3, 4]} : f32[4] %y = reshape(%a) "
        "{shape=[2, 2]} %z = add(%a, %a) }");
    const Tensor *a = g->first->value, *y = eval_constant_node(g->outputs[0]),
                 *z = eval_constant_node(g->last);
    CHECK(y && y->data == a->data && y->rank == 2 && y->dim[1] == 2);
    CHECK(z && z->dtype == DT_f32 && ((const float *)z->data)[3] == 8);
    CHECK(!eval_constant_node(node_new(g, OP_neg, NO_LOC, 1, (Node *[]){g->last})));
    graph_free(g);
}

SUITE(eval) {
    TEST(elementwise_ops);
    TEST(two_operands_broadcast);
    TEST(sixteen_bits_round_once_for_each_op);
    TEST(casts);
    TEST(reductions);
    TEST(views);
    TEST(products);
    TEST(packed_products);
    TEST(products_by_experts);
    TEST(quantized_products);
    TEST(norms);
    TEST(rotary_turns_pairs);
    TEST(attention_over_plain_rows);
    TEST(attention_over_a_batch);
    TEST(attention_keeps_its_state);
    TEST(one_node_takes_its_operands);
    TEST(data_need_not_be_aligned);
    TEST(constants_fold);
}
