// Resize of axes whose sizes only the run knows (an image of any size): the run computes the
// position of each output, and gathers its neighbours.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/resize.h"
#include "ir/convert.h"

// ------------------------------------------------------------------------------------------- sizes
// floor(scale n) of the simplest fraction that is this f32: 2.3 is 23/10.
static const Dim *scaled_size(OnnxCall *c, const Dim *n, double scale) {
    enum { MOST = 4096 };
    for (int64_t q = 1; q <= MOST; q++) {
        int64_t p = int64_of_double(floor(scale * (double)q + 0.5));
        if (p > 0 && (float)((double)p / (double)q) == (float)scale)
            return dim_binary(c->graph, DIM_FLOORDIV,
                              dim_binary(c->graph, DIM_MUL, n, dim_const(c->graph, p)),
                              dim_const(c->graph, q));
    }
    return NULL;
}

static bool takes_constants(const OnnxCall *c, const Resize *r) {
    static const char *const open[] = {"half_pixel", "align_corners", "asymmetric",
                                       "pytorch_half_pixel", "tf_half_pixel_for_nn"};
    if (r->antialias || r->exclude_outside) return true;
    if (strcmp(onnx_string(c, "keep_aspect_ratio_policy", "stretch"), "stretch") != 0) return true;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (!strcmp(r->coordinate, open[i])) return false;
    return true;
}

bool onnx_open_axes(OnnxCall *c, const Node *x, const Resize *r, const int64_t *axis, int n,
                    OpenAxis *axes) {
    const Dim *const *sizes = NULL;
    int count = 0;
    const Tensor *scales = onnx_operand(c, 2) ? onnx_known(c, 2) : NULL;
    if (scales && tensor_count(scales) != n) scales = NULL;
    if (!scales && (!onnx_elements(c, 3, &sizes, &count) || count != n)) return false;
    bool any = false;
    for (int i = 0; i < n; i++) {
        OpenAxis *a = &axes[i];
        *a = (OpenAxis){.in = x->type.dim[axis[i]]};
        a->scale = scales ? dtype_load(scales->dtype, scales->data, i) : 0;
        if (scales && !(a->scale > 0)) return false;
        a->out = !scales ? sizes[i] : a->scale == 1 ? a->in : scaled_size(c, a->in, a->scale);
        if (!a->out) return false;
        any =
            any || (a->in != a->out && !(dim_is_const(a->in, NULL) && dim_is_const(a->out, NULL)));
    }
    return any && !takes_constants(c, r);
}

// --------------------------------------------------------------------------------------- positions
// The position of each output on the input, [out]
static Node *positions(OnnxCall *c, const Resize *r, const OpenAxis *a) {
    Type outputs = {.rank = 1, .dim = {a->out}};
    Node *in = onnx_number_of(c, a->in, DT_f32), *out = onnx_number_of(c, a->out, DT_f32);
    Node *scale = a->scale > 0 ? onnx_scalar(c, DT_f32, a->scale) : ONNX_BINARY(c, OP_div, out, in);
    Node *length = a->scale > 0 && !r->by_result ? ONNX_BINARY(c, OP_mul, scale, in) : out;
    Node *of[] = {onnx_cast(c, onnx_index_along(c, &outputs, 0), DT_f32), in, length, scale};
    if (!strcmp(r->coordinate, "align_corners"))
        return onnx_formula(c, of, 4, "div(mul($0, sub($1, 1)), max(sub($2, 1), 1))");
    if (!strcmp(r->coordinate, "asymmetric")) return onnx_formula(c, of, 4, "div($0, $3)");
    if (!strcmp(r->coordinate, "tf_half_pixel_for_nn"))
        return onnx_formula(c, of, 4, "div(add($0, 0.5), $3)");
    Node *half = onnx_formula(c, of, 4, "sub(div(add($0, 0.5), $3), 0.5)");
    if (!strcmp(r->coordinate, "half_pixel")) return half;
    Node *several = ONNX_BINARY(c, OP_less, onnx_scalar(c, DT_f32, 1), out);
    return onnx_emit(c, OP_where, 3, (Node *[]){several, half, onnx_scalar(c, DT_f32, 0)});
}

// x at these positions, whole numbers; beyond the ends the last element counts again.
static Node *at(OnnxCall *c, Node *x, int axis, Node *position, const Dim *in) {
    Node *last = onnx_number_of(c, dim_sub(c->graph, in, dim_const(c->graph, 1)), DT_f32);
    Node *inside = onnx_formula(c, (Node *[]){position, last}, 2, "max(min($0, $1), 0)");
    return onnx_take(c, x, onnx_cast(c, inside, DT_i64), axis);
}

static Node *nearest(OnnxCall *c, const Resize *r, Node *position) {
    if (!strcmp(r->nearest, "round_prefer_ceil"))
        return ONNX_FORMULA(c, position, "floor(add($0, 0.5))");
    if (!strcmp(r->nearest, "floor")) return ONNX_UNARY(c, OP_floor, position);
    return !strcmp(r->nearest, "ceil") ? ONNX_UNARY(c, OP_ceil, position)
                                       : ONNX_FORMULA(c, position, "ceil(sub($0, 0.5))");
}

// The weight of the neighbour `k` (cubic: -1 to 2, linear: 0 and 1) at the distance t after
// neighbour 0.
static Node *weight_of(OnnxCall *c, const Resize *r, Node *t, int k) {
    double a = r->cubic_a;
    if (!strcmp(r->mode, "linear")) return k ? t : ONNX_FORMULA(c, t, "sub(1, $0)");
    Node *d = k <= 0 ? ONNX_FORMULA(c, t, "sub($0, %d)", k) : ONNX_FORMULA(c, t, "sub(%d, $0)", k);
    if (k == 0 || k == 1)
        return ONNX_FORMULA(c, d, "add(mul(mul(sub(mul($0, %a), %a), $0), $0), 1)", a + 2, a + 3);
    return ONNX_FORMULA(c, d, "sub(mul(add(mul(sub(mul($0, %a), %a), $0), %a), $0), %a)", a, 5 * a,
                        8 * a, 4 * a);
}

Node *onnx_resize_open_axis(OnnxCall *c, Node *x, int axis, const Resize *r, const OpenAxis *a) {
    Node *position = positions(c, r, a);
    if (!strcmp(r->mode, "nearest")) return at(c, x, axis, nearest(c, r, position), a->in);
    bool linear = !strcmp(r->mode, "linear");
    Node *first = ONNX_UNARY(c, OP_floor, position), *t = ONNX_BINARY(c, OP_sub, position, first),
         *sum = NULL;
    const Dim *along[MAX_RANK];
    for (int i = 0; i < x->type.rank; i++) along[i] = i == axis ? a->out : dim_const(c->graph, 1);
    for (int k = linear ? 0 : -1; k <= (linear ? 1 : 2); k++) {
        Node *neighbour = at(c, x, axis, ONNX_FORMULA(c, first, "add($0, %d)", k), a->in);
        Node *weight = onnx_cast(c, onnx_shape_to(c, weight_of(c, r, t, k), x->type.rank, along),
                                 x->type.dtype);
        Node *part = ONNX_BINARY(c, OP_mul, neighbour, weight);
        sum = sum ? ONNX_BINARY(c, OP_add, sum, part) : part;
    }
    return sum;
}
