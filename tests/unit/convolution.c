// Convolutions and transposed ones as windows and products, against sums over all taps.
#include "frontend/convolution.h"

#include "graphs.h"
#include "ir/eval/eval.h"

typedef struct Form {
    int in[2], channels, filters, groups;  // in: rows and columns; 0 columns: one spatial axis
    int kernel[2], stride[2], dilation[2], low[2], high[2], rest[2];  // rest: output_padding
} Form;

static const Form forms[] = {
    {{7, 9}, 3, 4, 1, {3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 2}, {1, 0}},
    {{7, 9}, 6, 6, 6, {3, 3}, {1, 2}, {2, 1}, {2, 1}, {2, 1}, {0, 1}},
    {{5, 5}, 6, 4, 2, {1, 3}, {1, 1}, {1, 1}, {0, 1}, {0, 1}, {0, 0}},
    {{5, 4}, 4, 8, 4, {2, 2}, {3, 2}, {1, 1}, {1, 1}, {1, 0}, {2, 1}},
    {{1, 1}, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
    {{11, 0}, 2, 3, 1, {4, 1}, {3, 1}, {1, 1}, {2, 0}, {1, 0}, {2, 0}},
    {{11, 0}, 4, 4, 2, {3, 1}, {2, 1}, {2, 1}, {0, 0}, {3, 0}, {1, 0}},
    {{6, 0}, 5, 5, 5, {2, 1}, {5, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
};

static float value_at(int64_t i) { return (float)((i * 37 % 23) - 11) / 8; }

static Node *values(Graph *g, int rank, const int64_t *dim) {
    Tensor *t = ARENA_NEW(g->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32, .rank = rank, .name = "values"};
    memcpy(t->dim, dim, (size_t)rank * sizeof *dim);
    const int64_t n = tensor_count(t);
    float *data = arena_alloc(g->arena, (size_t)n * sizeof *data);
    for (int64_t i = 0; i < n; i++) data[i] = value_at(i);
    t->data = data, t->bytes = (uint64_t)n * sizeof *data;
    return node_constant(g, t, NO_LOC, NULL);
}

// Returns the size of the result along an axis.
static int extent(const Form *f, int axis, bool transposed) {
    const int in = f->in[axis] ? f->in[axis] : 1, reach = (f->kernel[axis] - 1) * f->dilation[axis];
    const int pads = f->low[axis] + f->high[axis];
    return transposed ? (in - 1) * f->stride[axis] + reach + 1 - pads + f->rest[axis]
                      : (in + pads - reach - 1) / f->stride[axis] + 1;
}

// One element of the result: the sum over channels and taps.
static double expected(const Form *f, bool transposed, int m, int y, int x) {
    const int per_group = f->channels / f->groups, filters = f->filters / f->groups;
    const int width = f->in[1] ? f->in[1] : 1, at[2] = {y, x};
    double sum = 0;
    for (int c = 0; c < per_group; c++)
        for (int tap = 0; tap < f->kernel[0] * f->kernel[1]; tap++) {
            const int k[2] = {tap / f->kernel[1], tap % f->kernel[1]};
            int from[2];
            bool inside = true;
            for (int a = 0; a < 2; a++) {
                const int moved = k[a] * f->dilation[a] - f->low[a];
                from[a] = transposed ? at[a] - moved : at[a] * f->stride[a] + moved;
                if (transposed && from[a] % f->stride[a]) inside = false;
                if (transposed) from[a] /= f->stride[a];
                if ((transposed && at[a] < moved) || from[a] < 0 ||
                    from[a] >= (f->in[a] ? f->in[a] : 1))
                    inside = false;
            }
            if (!inside) continue;
            const int channel = m / filters * per_group + c, taps = f->kernel[0] * f->kernel[1];
            const int64_t w = transposed ? ((int64_t)channel * filters + m % filters) * taps + tap
                                         : ((int64_t)m * per_group + c) * taps + tap;
            sum +=
                value_at(w) * value_at(((int64_t)channel * f->in[0] + from[0]) * width + from[1]);
        }
    return sum;
}

static Window window_of(Graph *g, const Form *f, int spatial, bool transposed) {
    Window w = {.spatial = spatial};
    window_without_pads(g, &w);
    for (int a = 0; a < spatial; a++) {
        w.kernel[a] = f->kernel[a], w.dilations[a] = f->dilation[a];
        w.strides[a] = transposed ? 1 : f->stride[a];
        w.pads.interior[2 + a] = transposed ? f->stride[a] - 1 : 0;
        const int reach = transposed ? (int)reach_of(&w, a) : 0;
        w.pads.low[2 + a] = dim_const(g, transposed ? reach - f->low[a] : f->low[a]);
        w.pads.high[2 + a] =
            dim_const(g, transposed ? reach + f->rest[a] - f->high[a] : f->high[a]);
    }
    return w;
}

static void check_form(const Form *f, bool transposed) {
    Graph *g = graph_new("g");
    const int spatial = f->in[1] ? 2 : 1;
    const int64_t in[] = {1, f->channels, f->in[0], f->in[1]},
                  out[] = {transposed ? f->channels : f->filters,
                           (transposed ? f->filters : f->channels) / f->groups, f->kernel[0],
                           f->kernel[1]},
                  strides[] = {f->stride[0], f->stride[1]};
    Node *x = values(g, 2 + spatial, in), *weights = values(g, 2 + spatial, out);
    const Window w = window_of(g, f, spatial, transposed);
    const Builder b = {.graph = g, .as_said = true};
    Node *y = transposed ? build_transposed_convolution(b, x, weights, NULL, &w, strides, f->groups)
                         : build_convolution(b, x, weights, &w, f->groups, 0);
    const Tensor *result;
    graph_add_output(g, y, "y");
    EvalContext *context = eval_new(EVAL_F32);
    eval_graph(context, g, NULL, &result);
    const int rows = extent(f, 0, transposed), columns = extent(f, 1, transposed);
    CHECK(tensor_count(result) == (int64_t)f->filters * rows * columns);
    for (int64_t i = 0; i < tensor_count(result); i++) {
        const int m = (int)(i / (rows * columns)), at = (int)(i % (rows * columns));
        const double e = expected(f, transposed, m, at / columns, at % columns);
        CHECK(((const float *)result->data)[i] == (float)e);  // eighths: all sums are exact
    }
    eval_free(context);
    graph_free(g);
}

static void sums_over_all_taps(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) check_form(&forms[i], false);
}

static void spreads_over_all_taps(void) {
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) check_form(&forms[i], true);
}

SUITE(convolution) {
    TEST(sums_over_all_taps);
    TEST(spreads_over_all_taps);
}
