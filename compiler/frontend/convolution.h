// Convolutions as windows and products: one formula for ONNX and for descriptions.
#ifndef BURIN_CONVOLUTION_H
#define BURIN_CONVOLUTION_H
#include "ir/builder.h"

enum { MAX_SPATIAL = 3 };

// Elements added to each axis of a tensor: before it, after it (negative: cut off), and between
// neighbours.
typedef struct PadDims {
    const Dim *low[MAX_RANK], *high[MAX_RANK];
    int64_t interior[MAX_RANK];
} PadDims;

// Windows over the spatial axes of [N, C, spatial..].
typedef struct Window {
    int spatial;  // number of spatial axes, 1 to MAX_SPATIAL
    int64_t kernel[MAX_RANK], strides[MAX_RANK], dilations[MAX_RANK];
    PadDims pads;  // of all axes, N and C too
    const Dim
        *ceil_rest[MAX_RANK];    // elements that ONNX's ceil_mode adds at each spatial axis' end
    const Dim *count[MAX_RANK];  // windows along a spatial axis; NULL: by the padded size
} Window;

// Arithmetic of sizes: an axis may be a symbol.
static inline const Dim *dim_plus(Graph *g, const Dim *a, int64_t b) {
    return dim_binary(g, DIM_ADD, a, dim_const(g, b));
}

static inline const Dim *dim_times(Graph *g, const Dim *a, int64_t b) {
    return dim_binary(g, DIM_MUL, a, dim_const(g, b));
}

static inline const Dim *dim_at_least_0(Graph *g, const Dim *a) {
    return dim_binary(g, DIM_MAX, a, dim_const(g, 0));
}

// a / b, rounded up
static inline const Dim *dim_divided_up(Graph *g, const Dim *a, int64_t b) {
    return dim_binary(g, DIM_FLOORDIV, dim_plus(g, a, b - 1), dim_const(g, b));
}

// Sets all pads to 0.
void window_without_pads(Graph *, Window *);

// Elements between the first and the last tap of a window.
static inline int64_t reach_of(const Window *w, int axis) {
    return (w->kernel[axis] - 1) * w->dilations[axis];
}

Node *build_swap(Builder, Node *x, int axis, int other);
Node *build_reverse(Builder, Node *x, int axis);
Node *build_pad(Builder, Node *x, const PadDims *, Node *value);
// The windows of a padded x: [N, C, out.., kernel..]
Node *build_windows(Builder, Node *x, const Window *);

// x padded with `pad` and windowed, times weights [M, C/G, kernel..]: [N, M, out..]. C and the
// weights' sizes are constants that fit each other.
Node *build_convolution(Builder, Node *x, Node *weights, const Window *, int64_t groups,
                        double pad);

// A value for each channel: [M] to [M, 1, ..]; other ranks: itself.
Node *build_per_channel(Builder, Node *v, int spatial);
// Adds a bias [M] to [N, M, out..]; NULL: none.
Node *build_channel_bias(Builder, Node *y, Node *bias, int spatial);

// A transposed convolution by weights [C, M/G, kernel..]. The pads of `w` are those of the
// convolution of x with strides - 1 zeros between neighbours (pads.interior), whose strides are 1;
// `strides`: those of the transposed convolution.
Node *build_transposed_convolution(Builder, Node *x, Node *weights, Node *bias, const Window *w,
                                   const int64_t *strides, int64_t groups);
#endif
