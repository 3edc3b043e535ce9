// ConvTranspose: its pads; the rest is frontend/transposed_convolution.c.
#include <string.h>

#include "frontend/onnx/operators/window.h"

// The pads of a transposed convolution: given, or what output_shape and auto_pad leave over.
static void transposed_pads(OnnxCall *c, Window *w, const Node *x) {
    const char *automatic = onnx_string(c, "auto_pad", "NOTSET");
    int64_t rest[MAX_SPATIAL], shape[MAX_SPATIAL];
    int given;
    onnx_read_pads(c, w, x);
    onnx_read_list(c, "output_padding", w->spatial, 0, rest);
    onnx_ints(c, "output_shape", &given);
    if (given == w->spatial + 2) onnx_fatal(c, "output_shape must list the spatial axes only");
    onnx_read_list(c, "output_shape", w->spatial, -0, shape);
    for (int i = 0; i < w->spatial; i++) {
        const Dim *in = x->type.dim[2 + i];
        const Dim *full =
            dim_plus(c->graph, dim_times(c->graph, dim_plus(c->graph, in, -1), w->strides[i]),
                     reach_of(w, i) + 1 + rest[i]);
        bool same = !strncmp(automatic, "SAME", 4);
        w->count[i] = same && !given ? dim_times(c->graph, in, w->strides[i]) : NULL;
        if (given || same) {
            const Dim *total = dim_sub(
                c->graph, full,
                given ? dim_const(c->graph, shape[i]) : dim_times(c->graph, in, w->strides[i]));
            if (!given) total = dim_at_least_0(c->graph, total);
            const Dim *spare = dim_at_least_0(c->graph, total),
                      *less = dim_binary(c->graph, DIM_FLOORDIV, spare, dim_const(c->graph, 2));
            bool more_first =
                given ? strcmp(automatic, "SAME_UPPER") : !strcmp(automatic, "SAME_LOWER");
            const Dim *low = more_first ? dim_sub(c->graph, spare, less) : less;
            w->pads.low[2 + i] = low, w->pads.high[2 + i] = dim_sub(c->graph, total, low);
        }
        w->pads.low[2 + i] =
            dim_sub(c->graph, dim_const(c->graph, reach_of(w, i)), w->pads.low[2 + i]);
        w->pads.high[2 + i] =
            dim_sub(c->graph, dim_const(c->graph, reach_of(w, i) + rest[i]), w->pads.high[2 + i]);
        w->pads.interior[2 + i] = w->strides[i] - 1;
        w->strides[i] = 1;
    }
}

void onnx_conv_transpose(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_widened(c, 0), *weights = onnx_widened(c, 1), *bias = onnx_widened(c, 2);
    int64_t groups = onnx_int(c, "group", 1), strides[MAX_RANK], filters;
    Window w = onnx_read_window(c, x, weights);
    if (weights->type.rank >= MAX_RANK ||
        __builtin_mul_overflow(onnx_extent(c, weights, 1), groups, &filters))
        onnx_fatal(c, "weights %s in %lld groups", type_text(&weights->type), (long long)groups);
    onnx_check_groups(c, x, weights, onnx_extent(c, weights, 0), filters, groups);
    memcpy(strides, w.strides, sizeof strides);
    transposed_pads(c, &w, x);
    Node *y = build_transposed_convolution(onnx_builder(c), x, weights, bias, &w, strides, groups);
    onnx_result(c, 0, onnx_cast(c, y, onnx_node(c, 0)->type.dtype));
}
