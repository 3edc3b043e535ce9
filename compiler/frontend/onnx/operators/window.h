// Windows: what convolutions, transposed ones and pools share (window.c, transposed.c).
#ifndef BURIN_ONNX_WINDOW_H
#define BURIN_ONNX_WINDOW_H
#include "frontend/onnx/operators/compose.h"

void onnx_read_list(const OnnxCall *, const char *name, int n, int64_t absent, int64_t *list);
void onnx_read_pads(const OnnxCall *, Window *, const Node *x);
Window onnx_read_window(const OnnxCall *, const Node *x, const Node *weights);
// Refuses groups that do not divide the channels of x, `inputs`, and the `filters`.
void onnx_check_groups(OnnxCall *, const Node *x, const Node *weights, int64_t inputs,
                       int64_t filters, int64_t groups);
// x padded and windowed, times weights [M, C/G, kernel..]: [N, M, out..]
Node *onnx_convolve(OnnxCall *, Node *x, Node *weights, const Window *, int64_t groups, double pad);
// Operand i, floats of 16 bits in f32; NULL: absent
Node *onnx_widened(OnnxCall *, int i);
#endif
