// Windows: what convolutions, transposed ones and pools share (window.c, transposed.c).
#ifndef BURIN_ONNX_WINDOW_H
#define BURIN_ONNX_WINDOW_H
#include "frontend/onnx/operators/compose.h"

enum { MAX_SPATIAL = 3 };

// The attributes that convolutions and pools share, complete.
typedef struct Window {
    int spatial;
    int64_t kernel[MAX_RANK], strides[MAX_RANK], dilations[MAX_RANK];
    OnnxPadDims pads;                // of all axes; 0 until read_pads
    const Dim *ceil_rest[MAX_RANK];  // elements that ceil_mode adds at the end of each spatial axis
    const Dim *count[MAX_RANK];      // windows along a spatial axis, where auto_pad or ceil_mode
                                     // decide; NULL: by the padded size
} Window;

// Arithmetic of sizes: an axis may be a symbol.
static inline const Dim *size(const OnnxCall *c, int64_t n) { return dim_const(c->graph, n); }

static inline const Dim *plus(const OnnxCall *c, const Dim *a, int64_t b) {
    return dim_binary(c->graph, DIM_ADD, a, size(c, b));
}

static inline const Dim *scaled(const OnnxCall *c, const Dim *a, int64_t b) {
    return dim_binary(c->graph, DIM_MUL, a, size(c, b));
}

static inline const Dim *at_least_0(const OnnxCall *c, const Dim *a) {
    return dim_binary(c->graph, DIM_MAX, a, size(c, 0));
}

// a / b, rounded up
static inline const Dim *divided_up(const OnnxCall *c, const Dim *a, int64_t b) {
    return dim_binary(c->graph, DIM_FLOORDIV, plus(c, a, b - 1), size(c, b));
}

static inline int64_t reach_of(const Window *w, int i) {
    return (w->kernel[i] - 1) * w->dilations[i];
}

void onnx_read_list(const OnnxCall *, const char *name, int n, int64_t absent, int64_t *list);
void onnx_read_pads(const OnnxCall *, Window *, const Node *x);
Window onnx_read_window(const OnnxCall *, const Node *x, const Node *weights);
// x padded and windowed, times weights [M, C/G, kernel..]: [N, M, out..]
Node *onnx_convolve(OnnxCall *, Node *x, Node *weights, const Window *, int64_t groups, double pad);
Node *onnx_add_bias(OnnxCall *, Node *y, Node *bias, int spatial);  // bias [M], or NULL
// Operand i, floats of 16 bits in f32; NULL: absent
Node *onnx_widened(OnnxCall *, int i);
#endif
