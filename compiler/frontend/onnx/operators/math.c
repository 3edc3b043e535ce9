// Elementwise operators. Integers that are known as dimensions are computed here and now.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/ops.h"
#include "ir/convert.h"

void onnx_unary(OnnxCall *c, int op) { onnx_result(c, 0, ONNX_UNARY(c, (Op)op, onnx_node(c, 0))); }

// ---------------------------------------------------------------------------------- known integers
// Comparisons of dimensions that hold (or fail) for all values of their symbols; NULL when that is
// open.
static const Dim *compare_dims(Graph *g, Op op, const Dim *a, const Dim *b) {
    const Dim *difference = dim_sub(g, a, b);
    int64_t low = dim_lower(difference), high = dim_upper(difference);
    bool yes, no;
    switch (op) {
        case OP_equal:
            yes = low == 0 && high == 0;
            no = low > 0 || high < 0;
            break;
        case OP_less:
            yes = high < 0;
            no = low >= 0;
            break;
        case OP_less_or_equal:
            yes = high <= 0;
            no = low > 0;
            break;
        case OP_greater:
            yes = low > 0;
            no = high <= 0;
            break;
        case OP_greater_or_equal:
            yes = low >= 0;
            no = high < 0;
            break;
        default:
            return NULL;
    }
    return yes || no ? dim_const(g, yes) : NULL;
}

// Division truncates, dimensions floor: the same unless signs differ.
static const Dim *divide_dims(Graph *g, const Dim *a, const Dim *b) {
    return dim_lower(a) >= 0 && dim_lower(b) > 0 ? dim_binary(g, DIM_FLOORDIV, a, b) : NULL;
}

static const Dim *binary_dims(Graph *g, Op op, const Dim *a, const Dim *b) {
    switch (op) {
        case OP_add:
            return dim_binary(g, DIM_ADD, a, b);
        case OP_sub:
            return dim_sub(g, a, b);
        case OP_mul:
            return dim_binary(g, DIM_MUL, a, b);
        case OP_div:
            return divide_dims(g, a, b);
        case OP_min:
            return dim_binary(g, DIM_MIN, a, b);
        case OP_max:
            return dim_binary(g, DIM_MAX, a, b);
        default:
            return compare_dims(g, op, a, b);
    }
}

static bool binary_elements(OnnxCall *c, Op op) {
    const Dim *const *a, *const *b;
    int na, nb;
    if (!onnx_elements(c, 0, &a, &na) || !onnx_elements(c, 1, &b, &nb) ||
        (na != nb && na != 1 && nb != 1))
        return false;
    int n = na == 1 ? nb : na;
    const Dim **r = ARENA_ARRAY(c->graph->arena, const Dim *, n ? n : 1);
    for (int i = 0; i < n; i++)
        if (!(r[i] = binary_dims(c->graph, op, a[na == 1 ? 0 : i], b[nb == 1 ? 0 : i])))
            return false;
    bool vector = onnx_operand(c, 0)->vector || onnx_operand(c, 1)->vector;
    onnx_result_elements(c, 0, r, n, vector,
                         op_is_comparison(op) ? DT_bool : onnx_operand(c, 0)->dtype);
    return true;
}

void onnx_binary(OnnxCall *c, int op) {
    if (!binary_elements(c, (Op)op))
        onnx_result(c, 0, ONNX_BINARY(c, (Op)op, onnx_node(c, 0), onnx_node(c, 1)));
}

void onnx_variadic(OnnxCall *c, int op) {
    if (onnx_count(c) == 2 && binary_elements(c, (Op)op)) return;
    Node *r = onnx_node(c, 0);
    for (int i = 1; i < onnx_count(c); i++) r = ONNX_BINARY(c, (Op)op, r, onnx_node(c, i));
    onnx_result(c, 0, r);
}

static bool where_elements(OnnxCall *c) {
    const Dim *const *in[3];
    int n[3], most = 1;
    bool vector = false;
    for (int i = 0; i < 3; i++) {
        if (!onnx_elements(c, i, &in[i], &n[i])) return false;
        if (n[i] > most) most = n[i];
        vector |= onnx_operand(c, i)->vector;
    }
    const Dim **r = ARENA_ARRAY(c->graph->arena, const Dim *, most);
    for (int i = 0; i < most; i++) {
        int64_t condition;
        for (int j = 0; j < 3; j++)
            if (n[j] != most && n[j] != 1) return false;
        if (!dim_is_const(in[0][n[0] == 1 ? 0 : i], &condition)) return false;
        int side = condition ? 1 : 2;
        r[i] = in[side][n[side] == 1 ? 0 : i];
    }
    onnx_result_elements(c, 0, r, most, vector, onnx_operand(c, 1)->dtype);
    return true;
}

void onnx_where(OnnxCall *c, int argument) {
    (void)argument;
    if (where_elements(c)) return;
    onnx_result(
        c, 0,
        onnx_emit(c, OP_where, 3, (Node *[]){onnx_node(c, 0), onnx_node(c, 1), onnx_node(c, 2)}));
}

// `saturate` and `round_mode` matter to 8-bit floats only.
static Node *cast_as_told(OnnxCall *c, Node *x, DType to) {
    bool eight = dtype_is_float(to) && dtype_bits(to) == 8;
    if (!eight || (onnx_int(c, "saturate", 1) && !onnx_attribute(c, "round_mode")))
        return onnx_cast(c, x, to);
    Node *n = onnx_emit_make(c, OP_cast, 1, &x);
    attr_set_dtype(n, "to", to);
    if (!onnx_int(c, "saturate", 1)) attr_set_int(n, "saturate", 0);
    if (onnx_attribute(c, "round_mode"))
        attr_set_string(n, "round_mode", onnx_string(c, "round_mode", "up"));
    return onnx_finish(c, n);
}

void onnx_cast_op(OnnxCall *c, int argument) {
    (void)argument;
    const Dim *const *elements;
    int n;
    DType to;
    if (!onnx_dtype((int32_t)onnx_int(c, "to", 0), &to))
        onnx_fatal(c, "to element type %lld", (long long)onnx_int(c, "to", 0));
    bool integer = to == DT_i64 || to == DT_i32;
    if (integer && onnx_elements(c, 0, &elements, &n))
        onnx_result_elements(c, 0, elements, n, onnx_operand(c, 0)->vector, to);
    else
        onnx_result(c, 0, cast_as_told(c, onnx_node(c, 0), to));
}

void onnx_cast_like(OnnxCall *c, int argument) {
    (void)argument;
    onnx_result(c, 0, cast_as_told(c, onnx_node(c, 0), onnx_type(c, 1).dtype));
}

void onnx_identity(OnnxCall *c, int argument) {
    (void)argument;
    OnnxValue *v = onnx_operand(c, 0);
    if (!v) onnx_fatal(c, "operand 0 is missing");
    onnx_result_value(c, 0, v);
}

// The exponent may have another type.
static bool holds_whole_numbers(const Node *n) {
    if (n->op != OP_constant || !n->value || !n->value->data) return false;
    for (int64_t i = 0; i < tensor_count(n->value); i++) {
        double value = dtype_load(n->value->dtype, n->value->data, i);
        if (value != trunc(value)) return false;
    }
    return true;
}

// The result has the type of x. Powers of integers by floats are computed in f64.
void onnx_pow(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *y = onnx_node(c, 1);
    DType type = x->type.dtype;
    bool real = !dtype_is_float(type) && dtype_is_float(y->type.dtype) && !holds_whole_numbers(y);
    DType in = real ? DT_f64 : type;
    onnx_result(
        c, 0, onnx_cast(c, ONNX_BINARY(c, OP_pow, onnx_cast(c, x, in), onnx_cast(c, y, in)), type));
}

// NaN is what differs from itself.
void onnx_is_nan(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0);
    onnx_result(c, 0, ONNX_UNARY(c, OP_not, ONNX_BINARY(c, OP_equal, x, x)));
}

void onnx_gelu(OnnxCall *c, int argument) {
    (void)argument;
    bool tanh_form = !strcmp(onnx_string(c, "approximate", "none"), "tanh");
    onnx_result(c, 0, ONNX_UNARY(c, tanh_form ? OP_gelu_tanh : OP_gelu, onnx_node(c, 0)));
}
