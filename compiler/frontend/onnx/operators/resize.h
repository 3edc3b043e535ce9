// Resize: what its files share.
#ifndef BURIN_ONNX_RESIZE_H
#define BURIN_ONNX_RESIZE_H
#include "frontend/onnx/operators/compose.h"

typedef struct Resize {
    const char *mode, *coordinate, *nearest;
    bool antialias, exclude_outside;
    bool by_result;  // corners are aligned by the result's length, not by what scale and input come
                     // to before it is cut off
    double cubic_a, extrapolation;
} Resize;

// An axis whose sizes the run knows.
typedef struct OpenAxis {
    const Dim *in, *out;
    double scale;  // 0: derived from the sizes
} OpenAxis;

// resize_open.c: the axes if one of them is open, else false. Ends the run if the mode needs
// constants.
bool onnx_open_axes(OnnxCall *, const Node *x, const Resize *, const int64_t *axis, int n,
                    OpenAxis *);
Node *onnx_resize_open_axis(OnnxCall *, Node *x, int axis, const Resize *, const OpenAxis *);
#endif
