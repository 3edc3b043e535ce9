// Fourier transforms as products by known matrices of cosines and sines; windows and filter banks
// are constants.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"

// --------------------------------------------------------------------------------------------- DFT
typedef struct Transform {
    int64_t length, bins;  // samples that count, and of the result
    bool inverse, one_sided;
} Transform;

// cos or sin of 2 pi k j / length, [in, out]; the inverse is divided by the length.
static Node *wave(OnnxCall *c, DType dtype, int64_t in, const Transform *t, bool sine) {
    enum { MOST = 1 << 16 };
    if (in > MOST || t->bins < 0 || t->bins > MOST || t->length < 1 || t->length > MOST)
        onnx_fatal(c, "a transform of %lld samples into %lld bins; at most %d are supported",
                   (long long)in, (long long)t->bins, MOST);
    double *w = ARENA_ARRAY(c->graph->arena, double, in * t->bins + 1);
    for (int64_t j = 0; j < in; j++)
        for (int64_t k = 0; k < t->bins; k++) {
            double angle = 2 * M_PI * (double)(j * k % t->length) / (double)t->length;
            w[j * t->bins + k] =
                (sine ? sin(angle) : cos(angle)) / (t->inverse ? (double)t->length : 1);
        }
    return onnx_numbers(c, dtype, 2, (int64_t[]){in, t->bins}, w);
}

// The part (0 real, 1 imaginary) of x [.., axis last but one, 1 or 2], with the axis last; NULL:
// there is none.
static Node *part_of(OnnxCall *c, Node *x, int part) {
    int last = x->type.rank - 1;
    if (part >= onnx_extent(c, x, last)) return NULL;
    const Dim *dims[MAX_RANK];
    memcpy(dims, x->type.dim, sizeof dims);
    return onnx_shape_to(c, onnx_slice_from(c, x, last, part, 1), last, dims);
}

// The mirrored half of a one-sided spectrum joined to it.
static Node *whole_spectrum(OnnxCall *c, Node *half, int axis, int64_t length, bool negate) {
    int64_t mirrored = length - onnx_extent(c, half, axis);
    if (mirrored <= 0) return onnx_slice_from(c, half, axis, 0, length);
    Node *rest = onnx_reverse(c, onnx_slice_from(c, half, axis, 1, mirrored), axis);
    return onnx_join(c, (Node *[]){half, negate ? ONNX_UNARY(c, OP_neg, rest) : rest}, 2, axis);
}

// x [.., n, 1 or 2] along the last axis but one: (a + ib)(cos - i sin), the sign turned for the
// inverse
static Node *transform(OnnxCall *c, Node *x, const Transform *t) {
    Node *a = part_of(c, x, 0), *b = part_of(c, x, 1);
    int axis = a->type.rank - 1;
    if (t->inverse && t->one_sided) {
        a = whole_spectrum(c, a, axis, t->length, false);
        b = b ? whole_spectrum(c, b, axis, t->length, true) : NULL;
    }
    int64_t in = onnx_extent(c, a, axis);
    if (in > t->length) {
        a = onnx_slice_from(c, a, axis, 0, t->length),
        b = b ? onnx_slice_from(c, b, axis, 0, t->length) : NULL;
        in = t->length;
    }
    Node *cosine = wave(c, a->type.dtype, in, t, false),
         *sine = wave(c, a->type.dtype, in, t, true);
    Op with = t->inverse ? OP_sub : OP_add, against = t->inverse ? OP_add : OP_sub;
    Node *real = ONNX_BINARY(c, OP_matmul, a, cosine),
         *imaginary = ONNX_BINARY(c, OP_matmul, a, sine);
    if (against == OP_sub) imaginary = ONNX_UNARY(c, OP_neg, imaginary);
    if (b) {
        real = ONNX_BINARY(c, with, real, ONNX_BINARY(c, OP_matmul, b, sine));
        imaginary = ONNX_BINARY(c, OP_add, imaginary, ONNX_BINARY(c, OP_matmul, b, cosine));
    }
    const Dim *dims[MAX_RANK];
    memcpy(dims, real->type.dim, sizeof dims);
    dims[axis + 1] = dim_const(c->graph, 1);
    Node *parts[] = {onnx_shape_to(c, real, axis + 2, dims),
                     onnx_shape_to(c, imaginary, axis + 2, dims)};
    return t->inverse && t->one_sided ? parts[0] : onnx_join(c, parts, 2, axis + 1);
}

// x [.., n, .., 1 or 2], dft_length, axis (an attribute before opset 20)
void onnx_dft(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    int rank = x->type.rank;
    int64_t given = onnx_operand(c, 2) ? onnx_need_int(c, 2, "the axis")
                                       : onnx_int(c, "axis", c->opset < 20 ? 1 : -2);
    int axis = onnx_axis(c, given, rank);
    Transform t = {.inverse = onnx_int(c, "inverse", 0), .one_sided = onnx_int(c, "onesided", 0)};
    if (axis == rank - 1)
        onnx_fatal(c, "the axis is the last, which holds real and imaginary parts");
    int64_t n = onnx_extent(c, x, axis);
    t.length = onnx_operand(c, 1)         ? onnx_need_int(c, 1, "the length")
               : t.inverse && t.one_sided ? 2 * (n - 1)
                                          : n;
    if (t.length < 1)
        onnx_fatal(c, "a transform of length %lld, expected 1 or more", (long long)t.length);
    t.bins = t.one_sided && !t.inverse ? t.length / 2 + 1 : t.length;
    Node *y = transform(c, onnx_swap(c, x, axis, rank - 2), &t);
    onnx_result(c, 0, onnx_swap(c, y, axis, rank - 2));
}

// signal [B, n, 1 or 2] or [B, n], frame_step, window, frame_length: frames [B, F, length, parts],
// windowed and transformed
void onnx_stft(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *window = onnx_optional_node(c, 2);
    int64_t step = onnx_need_int(c, 1, "frame_step");
    Transform t = {.one_sided = onnx_int(c, "onesided", 1)};
    t.length = onnx_operand(c, 3) ? onnx_need_int(c, 3, "frame_length")
               : window           ? onnx_extent(c, window, 0)
                                  : 0;
    if (t.length < 1 || step < 1)
        onnx_fatal(c, "needs a window or a frame_length above 0, and a frame_step above 0");
    t.bins = t.one_sided ? t.length / 2 + 1 : t.length;
    if (x->type.rank == 2)
        x = onnx_shape_to(c, x, 3,
                          (const Dim *[]){x->type.dim[0], x->type.dim[1], dim_const(c->graph, 1)});
    Node *n = onnx_emit_make(c, OP_windows, 1, (Node *[]){onnx_swap(c, x, 1, 2)});
    attr_set_ints(n, "kernel", &t.length, 1);
    attr_set_ints(n, "strides", &step, 1);
    Node *frames = onnx_finish(c, n);  // [B, parts, F, length]
    if (window) frames = ONNX_BINARY(c, OP_mul, frames, window);
    onnx_result(c, 0, transform(c, onnx_permute(c, frames, (int64_t[]){0, 2, 3, 1}), &t));
}

// ----------------------------------------------------------------------------------------- windows
// a - b cos(2 pi i / n) + d cos(4 pi i / n)
static const double SHAPES[][3] = {[ONNX_HANN] = {0.5, 0.5, 0},
                                   [ONNX_HAMMING] = {25.0 / 46, 21.0 / 46, 0},
                                   [ONNX_BLACKMAN] = {0.42, 0.5, 0.08}};

void onnx_window(OnnxCall *c, int shape) {
    int64_t n = onnx_need_int(c, 0, "the size");
    DType dtype = DT_f32;
    if (n < 0 || n > 1 << 24 || !onnx_dtype((int32_t)onnx_int(c, "output_datatype", 1), &dtype))
        onnx_fatal(c, "a window of %lld samples, expected 0 to %d of a supported element type",
                   (long long)n, 1 << 24);
    double *w = ARENA_ARRAY(c->graph->arena, double, n + 1),
           period = (double)(onnx_int(c, "periodic", 1) ? n : n - 1);
    for (int64_t i = 0; i < n; i++) {
        double angle = period > 0 ? 2 * M_PI * (double)i / period : 0;
        w[i] = SHAPES[shape][0] - SHAPES[shape][1] * cos(angle) + SHAPES[shape][2] * cos(2 * angle);
    }
    onnx_result(c, 0, onnx_numbers(c, dtype, 1, &n, w));
}

static double mel_of(double hz) { return 2595 * log10(1 + hz / 700); }

// num_mel_bins, dft_length, sample_rate, lower and upper edge: triangles on the bins of a spectrum
void onnx_mel_weights(OnnxCall *c, int argument) {
    (void)argument;
    int64_t bins = onnx_need_int(c, 0, "num_mel_bins"), length = onnx_need_int(c, 1, "dft_length"),
            lines = length / 2 + 1;
    double rate = onnx_need_float(c, 2, "sample_rate"),
           low = mel_of(onnx_need_float(c, 3, "lower_edge_hertz"));
    double high = mel_of(onnx_need_float(c, 4, "upper_edge_hertz")),
           step = (high - low) / ((double)bins + 2);
    DType dtype = DT_f32;
    if (!(rate >= 1 && rate < INT32_MAX && low >= 0 && high > low && high < mel_of(INT32_MAX)))
        onnx_fatal(c,
                   "a sample rate of %g, and edges of %g to %g mel, expected a rate from 1 on, and "
                   "edges from 0 on in order",
                   rate, low, high);
    if (bins < 1 || bins > INT16_MAX || lines < 1 || lines > (1 << 26) / bins ||
        !onnx_dtype((int32_t)onnx_int(c, "output_datatype", 1), &dtype))
        onnx_fatal(
            c, "%lld bins of %lld lines, expected 1 to %d of each, and a supported element type",
            (long long)bins, (long long)lines, INT16_MAX);
    double *w = ARENA_ARRAY(c->graph->arena, double, bins *lines + 1);
    for (int64_t m = 0; m < bins; m++) {
        int64_t edge[3];
        for (int i = 0; i < 3; i++) {
            double hz = 700 * (pow(10, (low + step * (double)(m + i)) / 2595) - 1);
            edge[i] = (int64_t)floor((double)(length + 1) * hz / rate);
        }
        for (int64_t i = edge[0] < 0 ? 0 : edge[0]; i < lines && i <= edge[2]; i++) {
            double rise =
                edge[1] > edge[0] ? (double)(i - edge[0]) / (double)(edge[1] - edge[0]) : 1;
            double fall =
                edge[2] > edge[1] ? (double)(edge[2] - i) / (double)(edge[2] - edge[1]) : 0;
            w[i * bins + m] = i <= edge[1] ? rise : fall;
        }
    }
    onnx_result(c, 0, onnx_numbers(c, dtype, 2, (int64_t[]){lines, bins}, w));
}
