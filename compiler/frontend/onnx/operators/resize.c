// Resize: each axis alone. Nearest is a gather by known indices; linear and cubic are a product by
// a known matrix of weights.
#include "frontend/onnx/operators/resize.h"

#include <math.h>
#include <string.h>

#include "ir/convert.h"

// One axis: sizes, the scale that coordinates use, and the part of it that tf_crop_and_resize
// shows.
typedef struct ResizeAxis {
    int64_t in, out;
    double scale, start, end;
} ResizeAxis;

// The position of output i on the input axis.
static double coordinate(const Resize *r, const ResizeAxis *a, int64_t i) {
    double out = a->scale * (double)a->in, in = (double)a->in,
           half = ((double)i + 0.5) / a->scale - 0.5;
    double length = r->by_result ? (double)a->out : out;
    if (!strcmp(r->coordinate, "align_corners"))
        return length == 1 ? 0 : (double)i * (in - 1) / (length - 1);
    if (!strcmp(r->coordinate, "asymmetric")) return (double)i / a->scale;
    if (!strcmp(r->coordinate, "pytorch_half_pixel")) return out == 1 ? 0 : half;
    if (!strcmp(r->coordinate, "tf_half_pixel_for_nn")) return ((double)i + 0.5) / a->scale;
    if (!strcmp(r->coordinate, "half_pixel_symmetric"))
        return in / 2 * (1 - floor(out) / out) + half;
    if (strcmp(r->coordinate, "tf_crop_and_resize")) return half;
    return length > 1
               ? a->start * (in - 1) + (double)i * (a->end - a->start) * (in - 1) / (length - 1)
               : (a->start + a->end) * (in - 1) / 2;
}

static int64_t nearest_index(const Resize *r, double x) {
    if (!strcmp(r->nearest, "round_prefer_ceil")) return int64_of_double(floor(x + 0.5));
    if (!strcmp(r->nearest, "floor")) return int64_of_double(floor(x));
    if (!strcmp(r->nearest, "ceil")) return int64_of_double(ceil(x));
    return int64_of_double(ceil(x - 0.5));
}

static int64_t clamp_index(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

static double filter(const Resize *r, double x) {
    double a = r->cubic_a;
    x = fabs(x);
    if (!strcmp(r->mode, "linear")) return x < 1 ? 1 - x : 0;
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Row `out` of the matrix: the weight of each input. Beyond the ends the last element counts again,
// or nothing.
static void weigh(const Resize *r, const ResizeAxis *a, double x, double *weights) {
    double scale = r->antialias && a->scale < 1 ? a->scale : 1, sum = 0;
    int64_t reach = int64_of_double(ceil((strcmp(r->mode, "linear") ? 2 : 1) / scale)),
            middle = int64_of_double(floor(x));
    for (int64_t j = middle - reach; j <= middle + reach + 1; j++) {
        double w = filter(r, ((double)j - x) * scale);
        if (r->exclude_outside && (j < 0 || j >= a->in)) continue;
        weights[clamp_index(j, a->in)] += w, sum += w;
    }
    for (int64_t j = 0; j < a->in; j++) weights[j] /= sum;
}

static Node *resize_axis(OnnxCall *c, Node *x, int axis, const Resize *r, const ResizeAxis *a) {
    Arena *arena = c->graph->arena;
    if (a->in < 1 || a->out < 0)
        onnx_fatal(c, "cannot resize axis %d of %s", axis, type_text(&x->type));
    if (!strcmp(r->mode, "nearest")) {
        int64_t *index = ARENA_ARRAY(arena, int64_t, a->out + 1);
        for (int64_t i = 0; i < a->out; i++)  // f32, as other runtimes divide: 17 / 1.7 is 10
            index[i] = clamp_index(nearest_index(r, (float)coordinate(r, a, i)), a->in);
        return onnx_take(c, x, onnx_integers(c, index, a->out), axis);
    }
    double *weights = ARENA_ARRAY(arena, double, a->in * a->out + 1);
    for (int64_t i = 0; i < a->out; i++) {
        double *row = ARENA_ARRAY(arena, double, a->in);
        weigh(r, a, coordinate(r, a, i), row);
        for (int64_t j = 0; j < a->in; j++) weights[j * a->out + i] = row[j];
    }
    Node *matrix = onnx_numbers(c, x->type.dtype, 2, (int64_t[]){a->in, a->out}, weights);
    int last = x->type.rank - 1;
    if (last == 0) return ONNX_BINARY(c, OP_matmul, x, matrix);
    return onnx_swap(c, ONNX_BINARY(c, OP_matmul, onnx_swap(c, x, axis, last), matrix), axis, last);
}

// Positions outside of the input on this axis have one value.
static Node *extrapolate(OnnxCall *c, Node *y, int axis, const Resize *r, const ResizeAxis *a) {
    int64_t dim[MAX_RANK];
    double *inside = ARENA_ARRAY(c->graph->arena, double, a->out + 1);
    for (int i = 0; i < y->type.rank; i++) dim[i] = i == axis ? a->out : 1;
    for (int64_t i = 0; i < a->out; i++) {
        double x = coordinate(r, a, i);
        inside[i] = x >= 0 && x <= (double)(a->in - 1);
    }
    Node *in[] = {onnx_numbers(c, DT_bool, y->type.rank, dim, inside), y,
                  onnx_scalar(c, y->type.dtype, r->extrapolation)};
    return onnx_emit(c, OP_where, 3, in);
}

static const Tensor *need_known(OnnxCall *c, int i, const char *what, int count) {
    const Tensor *t = onnx_known(c, i);
    const Dim *const *sizes;
    int n;
    if (!t && onnx_elements(c, i, &sizes, &n) && n == count)
        onnx_fatal(c, "%s must be constant\nhint: %s", what, onnx_sizes_to_fix(c, sizes, n));
    if (!t || tensor_count(t) != count)
        onnx_fatal(c, "%s must be %d constants\nhint: fix the dimensions they depend on with --dim",
                   what, count);
    return t;
}

static bool is_given(OnnxCall *c, int i) {
    return onnx_operand(c, i) &&
           !(onnx_type(c, i).rank == 1 && dim_upper(onnx_type(c, i).dim[0]) == 0);
}

// keep_aspect_ratio_policy: one scale for all axes, the smallest or largest that the sizes imply.
static void keep_ratio(const OnnxCall *c, ResizeAxis *axes, int n) {
    const char *policy = onnx_string(c, "keep_aspect_ratio_policy", "stretch");
    bool smaller = !strcmp(policy, "not_larger");
    if (!strcmp(policy, "stretch")) return;
    double scale = axes[0].scale;
    for (int i = 1; i < n; i++)
        if (smaller ? axes[i].scale < scale : axes[i].scale > scale) scale = axes[i].scale;
    for (int i = 0; i < n; i++) {
        axes[i].scale = scale;
        axes[i].out = int64_of_double(floor(scale * (double)axes[i].in + 0.5));
    }
}

// The sizes (or scales) as numbers. An axis whose size is that of x, whatever the run makes it, has
// the scale 1: kept[i].
static void read_numbers(OnnxCall *c, const Node *x, const int64_t *axis, int n, double *numbers,
                         bool *kept) {
    bool scaled = is_given(c, 2);
    const Dim *const *elements;
    int count;
    bool as_dims = !scaled && onnx_elements(c, 3, &elements, &count) && count == n;
    for (int i = 0; as_dims && i < n; i++) {
        int64_t size;
        kept[i] = elements[i] == x->type.dim[axis[i]];
        as_dims = kept[i] || dim_is_const(elements[i], &size);
        numbers[i] = kept[i] || !as_dims ? 1 : (double)size;
    }
    if (as_dims) return;
    const Tensor *t = scaled ? need_known(c, 2, "the scales", n) : need_known(c, 3, "the sizes", n);
    for (int i = 0; i < n; i++) {
        numbers[i] = dtype_load(t->dtype, t->data, i);
        kept[i] = scaled && numbers[i] == 1;
    }
}

#define MOST_OF_REGION 1e6  // positions, which are multiples of it, stay exact integers

static void read_axes(OnnxCall *c, const Node *x, const int64_t *axis, int n, ResizeAxis *axes) {
    bool scaled = is_given(c, 2), kept[MAX_RANK];
    double numbers[MAX_RANK];
    read_numbers(c, x, axis, n, numbers, kept);
    const Tensor *roi = is_given(c, 1) ? need_known(c, 1, "the region", 2 * n) : NULL;
    for (int i = 0; i < n; i++) {
        double value = numbers[i];
        axes[i] = (ResizeAxis){1, 1, 1, 0, 1};
        if (kept[i] && !roi && !dim_is_const(x->type.dim[axis[i]], NULL)) continue;
        if (kept[i] && !scaled) value = (double)onnx_extent(c, x, (int)axis[i]);
        axes[i] = (ResizeAxis){.in = onnx_extent(c, x, (int)axis[i]), .end = 1};
        axes[i].scale = scaled ? value : value / (double)axes[i].in;
        axes[i].out = scaled ? int64_of_double(floorf((float)value * (float)axes[i].in))
                             : int64_of_double(value);  // 2.3 times 10 is 23
        if (roi)
            axes[i].start = dtype_load(roi->dtype, roi->data, i),
            axes[i].end = dtype_load(roi->dtype, roi->data, n + i);
        if (!(axes[i].scale > 0) || axes[i].out < 0 || axes[i].out > INT32_MAX)
            onnx_fatal(c, "scale %g", axes[i].scale);
        if (!(fabs(axes[i].start) <= MOST_OF_REGION && fabs(axes[i].end) <= MOST_OF_REGION))
            onnx_fatal(c, "a region from %g to %g of the input, expected numbers up to %g",
                       axes[i].start, axes[i].end, MOST_OF_REGION);
    }
    if (!scaled) keep_ratio(c, axes, n);
}

// A scale may come to a fraction of an element more than the result has. PyTorch and ONNX Runtime
// align corners by the length of the result; ONNX's reference implementation, whose tests other
// writers go by, with the fraction.
static bool aligns_by_result(const OnnxCall *c) {
    static const char *const producers[] = {"pytorch", "onnx.quantize", "onnxruntime"};
    const char *producer = c->import->model->proto->producer_name;
    for (size_t i = 0; producer && i < sizeof producers / sizeof *producers; i++)
        if (!strncmp(producer, producers[i], strlen(producers[i]))) return true;
    return false;
}

static void warn_of_fraction(const OnnxCall *c, const Resize *r, const ResizeAxis *a) {
    double out = a->scale * (double)a->in;
    if (r->by_result || strcmp(r->coordinate, "align_corners") || fabs(out - (double)a->out) < 1e-3)
        return;
    onnx_warning(c,
                 "Resize aligns corners by a length of %g, as ONNX's reference does; PyTorch and "
                 "ONNX Runtime do by %lld",
                 out, (long long)a->out);
}

// x, roi, scales, sizes
void onnx_resize(OnnxCall *c, int argument) {
    (void)argument;
    Node *given = onnx_node(c, 0), *x = given;
    Resize r = {onnx_string(c, "mode", "nearest"),
                onnx_string(c, "coordinate_transformation_mode", "half_pixel"),
                onnx_string(c, "nearest_mode", "round_prefer_floor"),
                onnx_int(c, "antialias", 0),
                onnx_int(c, "exclude_outside", 0),
                aligns_by_result(c),
                onnx_float(c, "cubic_coeff_a", -0.75),
                onnx_float(c, "extrapolation_value", 0)};
    int n;
    int64_t axis[MAX_RANK];
    const int64_t *chosen = onnx_ints(c, "axes", &n);
    if (!chosen) n = x->type.rank;
    if (n > x->type.rank)
        onnx_fatal(c, "axes has %d elements, the operand has %d axes", n, x->type.rank);
    for (int i = 0; i < n; i++) axis[i] = onnx_axis(c, chosen ? chosen[i] : i, x->type.rank);
    ResizeAxis axes[MAX_RANK];
    OpenAxis open[MAX_RANK];
    bool is_open = onnx_open_axes(c, x, &r, axis, n, open);
    if (!is_open) read_axes(c, x, axis, n, axes);
    if (strcmp(r.mode, "nearest"))
        x = onnx_cast(c, x, dtype_is_float(x->type.dtype) ? onnx_wide(x->type.dtype) : DT_f32);
    for (int i = 0; i < n && is_open; i++)
        if (open[i].in != open[i].out) x = onnx_resize_open_axis(c, x, (int)axis[i], &r, &open[i]);
    if (is_open) n = 0;
    for (int i = 0; i < n; i++) warn_of_fraction(c, &r, &axes[i]);
    for (int i = 0; i < n; i++)
        if (axes[i].in != axes[i].out || axes[i].scale != 1 || axes[i].start != 0 ||
            axes[i].end != 1)
            x = resize_axis(c, x, (int)axis[i], &r, &axes[i]);
    for (int i = 0; i < n && !strcmp(r.coordinate, "tf_crop_and_resize"); i++)
        x = extrapolate(c, x, (int)axis[i], &r, &axes[i]);
    onnx_result(c, 0, onnx_cast(c, x, given->type.dtype));
}

// Resize as it was before opset 10.
void onnx_upsample(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    Resize r = {onnx_string(c, "mode", "nearest"), "asymmetric", "floor", false, false, true, 0, 0};
    const Tensor *scales = need_known(c, 1, "the scales", x->type.rank);
    for (int i = 0; i < x->type.rank; i++) {
        double scale = dtype_load(scales->dtype, scales->data, i);
        if (scale == 1) continue;
        int64_t in = onnx_extent(c, x, i);
        ResizeAxis a = {in, int64_of_double(floorf((float)scale * (float)in)), scale, 0, 1};
        if (a.out < 0 || a.out > INT32_MAX || !(scale > 0)) onnx_fatal(c, "scale %g", scale);
        x = resize_axis(c, x, i, &r, &a);
    }
    onnx_result(c, 0, x);
}
