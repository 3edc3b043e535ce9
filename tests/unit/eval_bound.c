// What `check` allows: on random operands of odd sizes f32 stays within the bound of f64, and the
// bound is not idle.
#include <math.h>

#include "graphs.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"

enum { MAX_INPUTS = 6 };

static uint32_t random_state = 1;

// Between -2 and 2, or 0.5 to 2.5 for inputs called p...; those called w... become constants.
static float random_value(bool positive) {
    random_state = random_state * 1664525 + 1013904223;
    float x = (float)(random_state >> 8) * 0x1p-22f;
    return positive ? x / 2 + 0.5f : x - 2;
}

static void fill_inputs(Graph *g, Arena *a, Tensor *tensors, const Tensor **inputs) {
    for (int i = 0; i < g->n_inputs; i++) {
        Tensor *t = &tensors[i];
        const Type *type = &g->inputs[i]->type;
        *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
        for (int j = 0; j < t->rank; j++) dim_is_const(type->dim[j], &t->dim[j]);
        t->bytes = dtype_bytes(t->dtype, tensor_count(t));
        void *data = arena_alloc(a, t->bytes);
        for (int64_t j = 0; j < tensor_count(t); j++)
            dtype_store(t->dtype, data, j, random_value(g->inputs[i]->name[0] == 'p'));
        t->data = data;
        inputs[i] = t;
        if (g->inputs[i]->name[0] == 'w')
            node_replace(g->inputs[i],
                         node_constant(g, t, NO_LOC, g->inputs[g->n_inputs - 1]->next));
    }
}

static void check_bound_of(Graph *g, int item, const Tensor *const *inputs) {
    Node *n = g->outputs[0]->op == OP_item ? g->outputs[0]->in[0] : g->outputs[0];
    EvalContext *computed = eval_new(EVAL_F32), *truth = eval_new(EVAL_F64),
                *bounds = eval_new(EVAL_F64);
    const Tensor **operands = calloc((size_t)n->n_in, sizeof *operands), *outputs[1];
    eval_graph(computed, g, inputs, outputs);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i]) operands[i] = eval_traced(computed, n->in[i]);
    const Tensor *y = n->n_items ? outputs[0] : eval_traced(computed, n),
                 *t = eval_node(truth, n, operands, item);
    int64_t count;
    double *bound = eval_bound(bounds, n, operands, item, &count), worst = 0, loosest = 0;
    CHECK(count == tensor_count(y) && tensor_count(t) == count);
    for (int64_t i = 0; i < count; i++) {
        double value = dtype_load(t->dtype, t->data, i),
               error = fabs(dtype_load(y->dtype, y->data, i) - value);
        if (!(error <= bound[i])) worst = INFINITY;
        if (bound[i] > 0 && error / bound[i] > worst) worst = error / bound[i];
        if (bound[i] / (fabs(value) + 1) > loosest) loosest = bound[i] / (fabs(value) + 1);
    }
    bool good = worst <= 1 && worst > 1e-3 && loosest < 2e-2;
    if (!good)
        printf("# %s: error up to %g of the bound, bound up to %g\n", op_info[n->op].name, worst,
               loosest);
    CHECK(good);
    free(bound);
    free(operands);
    eval_free(computed);
    eval_free(truth);
    eval_free(bounds);
}

// A graph of one node; the operands of the bound are what f32 gives.
static void check_bound(const char *inputs, const char *body) {
    char text[2048];
    snprintf(text, sizeof text, "graph g(%s) -> (%%y) { %s }", inputs, body);
    Graph *g = parse_text(text);
    CHECK(g != NULL);
    if (!g) return;
    Arena *a = arena_new();
    Tensor tensors[MAX_INPUTS];
    const Tensor *given[MAX_INPUTS];
    fill_inputs(g, a, tensors, given);
    check_bound_of(g, (int)attr_int(g->outputs[0], "index", 0), given);
    arena_free(a);
    graph_free(g);
}

static void functions_stay_within(void) {
    static const char *const any[] = {"exp", "sin",     "cos",  "atan", "tanh",
                                      "erf", "sigmoid", "silu", "gelu", "gelu_tanh"};
    static const char *const positive[] = {"log", "sqrt", "reciprocal"};
    static const char *const two[] = {"add", "sub", "mul", "div", "pow"};
    char body[200];
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        snprintf(body, sizeof body, "%%y = %s(%%x)", any[i]);
        check_bound("%x: f32[7, 101]", body);
    }
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        snprintf(body, sizeof body, "%%y = %s(%%p)", positive[i]);
        check_bound("%p: f32[7, 101]", body);
    }
    for (size_t i = 0; i < sizeof two / sizeof *two; i++) {
        snprintf(body, sizeof body, "%%y = %s(%%p, %%q)", two[i]);
        check_bound("%p: f32[7, 101], %q: f32[101]", body);
    }
    check_bound("%x: f32[33], %z: f32[33]",
                "%y = elementwise(%x, %z) {expr=mul(silu($0), add($1, exp(neg($0))))}");
    check_bound("%x: f32[33], %z: f32[33]",
                "%y = elementwise(%x, %z) {expr=exp(mul(atan($0), $1))}");
    check_bound("%x: f32[33], %p: f32[33]",
                "%y = elementwise(%x, %p) {expr=exp(mul(fmod($0, $1), $0))}");
    check_bound("%x: bf16[33], %z: bf16[33]", "%y = mul(%x, %z)");
}

static void rows_stay_within(void) {
    check_bound("%x: f32[5, 203]", "%y = reduce_sum(%x) {axes=[1]}");
    check_bound("%x: f32[5, 203]", "%y = reduce_mean(%x) {axes=[0]}");
    check_bound("%p: f32[5, 9]", "%y = reduce_prod(%p) {axes=[1]}");
    check_bound("%x: f32[5, 203]", "%y = softmax(%x)");
    check_bound("%x: f32[5, 7, 9]", "%y = softmax(%x) {axis=1}");
    check_bound("%x: f32[5, 203], %w: f32[203]", "%y = rms_normalization(%x, %w) {epsilon=1e-5}");
    check_bound("%x: f32[5, 203], %w: f32[203], %b: f32[203]",
                "%y = layer_normalization(%x, %w, %b) {epsilon=1e-5}");
    check_bound("%x: f32[5, 203], %r: f32[5, 203], %w: f32[203]",
                "%t = skip_rms_normalization(%x, %r, %w) {epsilon=1e-5} %y = item(%t) {index=1}");
    check_bound("%x: f32[5, 203], %r: f32[5, 203], %w: f32[203]",
                "%t = skip_layer_normalization(%x, %r, %w) {epsilon=1e-5} %y = item(%t) {index=1}");
    check_bound("%x: f32[5, 48], %c: f32[5, 6], %s: f32[5, 6]",
                "%y = rotary_embedding(%x, %c, %s) {num_heads=3}");
}

static void products_stay_within(void) {
    check_bound("%x: f32[5, 67], %w: f32[67, 19]", "%y = matmul(%x, %w)");
    check_bound("%x: f32[5, 67], %w: f32[19, 67], %b: f32[19]",
                "%p = pack(%w) {format=\"bf16\"} %y = matmul_packed(%x, %p, %b) {columns=19, "
                "epilogue=gelu(add($0, $1))}");
    check_bound("%x: f32[5, 67], %w1: f32[32, 67], %w: f32[32, 67]",
                "%p = pack(%w1, %w) {format=\"f32\", interleave=1} %y = matmul_packed(%x, %p) "
                "{columns=32, glu=1, "
                "epilogue=mul(silu($0), $1)}");
    check_bound("%x: f32[5, 70], %w: f32[19, 70]",
                "%q = quantize_rows(%x) {format=\"q8_rows\"} %p = pack(%w) {format=\"q8_0\"} %y = "
                "matmul_packed(%q, %p) {columns=19}");
}

static void experts_stay_within(void) {
    check_bound("%x: f32[5, 67], %w: f32[19, 67], %w2: f32[19, 67]",
                "%i = iota {axis=1, dims=[5, 2]} %p = pack(%w, %w2) {format=\"f32\", experts=2} "
                "%y = expert_matmul(%x, %p, %i) {columns=19, epilogue=silu($0)}");
}

static void attention_stays_within(void) {
    check_bound("%q: f32[300, 24], %k: f32[300, 12], %v: f32[300, 10]",
                "%y = attention(%q, %k, %v) {num_heads=4, num_kv_heads=2, scale=0.5, causal=1}");
    check_bound("%q: f32[20, 24], %k: f32[20, 12], %v: f32[20, 10]",
                "%y = attention(%q, %k, %v) {num_heads=4, num_kv_heads=2, scale=0.5, causal=1, "
                "window=7, softcap=3.0}");
    check_bound("%q: f32[300, 24], %k: f32[300, 12], %v: f32[300, 10], %s: f32[4]",
                "%y = attention(%q, %k, %v, _, _, _, _, %s) {num_heads=4, num_kv_heads=2, "
                "scale=0.5, causal=1}");
    check_bound(
        "%q: f32[12, 24], %k: f32[20, 12], %v: f32[20, 10], %b: f32[4, 3, 5], %m: f32[4, 5]",
        "%y = attention(%q, %k, %v, _, _, %b, %m) {num_heads=4, num_kv_heads=2, scale=0.5, "
        "batch=4}");
}

SUITE(eval_bound) {
    TEST(functions_stay_within);
    TEST(rows_stay_within);
    TEST(experts_stay_within);
    TEST(products_stay_within);
    TEST(attention_stays_within);
}
