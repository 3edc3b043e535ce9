// Functions on rows of f32 or f64, one table for each (eval_real.h is their text). Pointers are to
// rows of that type.
#ifndef BURIN_IR_EVAL_ROWS_H
#define BURIN_IR_EVAL_ROWS_H
#include "ir.h"

enum { MAX_LANES = 16, SEGMENT_KEYS = 256 };

typedef struct RotaryShape {
    int64_t heads, width, turned;
    bool interleaved;
} RotaryShape;

// One query of one head.
typedef struct AttentionRow {
    int64_t d, e;                      // width of a key and of a value
    int64_t from, to;                  // the keys it sees
    int64_t key_stride, value_stride;  // from one key to the next
    double scale, softcap;
    const void *q, *keys, *values;
    const void *bias, *mask;  // of each key, or NULL
    const void *sink;         // of the head, or NULL
    void *scratch;            // e elements
} AttentionRow;

typedef struct RealKernels {
    void (*reduce)(Op, int64_t n, int lanes, const void *x, void *y);
    void (*softmax)(int64_t n, int lanes, const void *x, void *y);
    void (*rms_norm)(int64_t n, double epsilon, const void *const *x_weight, void *y);
    void (*layer_norm)(int64_t n, double epsilon, const void *const *x_weight_bias, void *y);
    void (*rotary)(const RotaryShape *, const void *const *x_cos_sin, void *y);
    void (*panel_product)(int64_t depth, const void *x, const void *panel, void *y);
    void (*attend)(const AttentionRow *, void *y);
    // the chain of fma over ascending i of x[i] w[i stride]
    void (*chain)(int64_t n, const void *x, const void *w, int64_t stride, void *y);
} RealKernels;

extern const RealKernels real_kernels_f32, real_kernels_f64;
static inline const RealKernels *real_kernels(DType real) {
    return real == DT_f64 ? &real_kernels_f64 : &real_kernels_f32;
}
#endif
