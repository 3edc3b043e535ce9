// Quantized matrices of constants as blocks of the IR (ir/format.h): the file's codes, scales and
// zero points, whose values are those that the operator computes.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"
#include "ir/format.h"

static int64_t place(const OnnxGrid *g, int64_t row, int64_t column) {
    return row * g->row + column * g->column;
}

static bool all_are(const Tensor *t, double value) {
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        if (dtype_load(t->dtype, t->data, i) != value) return false;
    return true;
}

static bool all_finite(const Tensor *t) {
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        if (!isfinite(dtype_load(t->dtype, t->data, i))) return false;
    return true;
}

// Subtracted from codes, so that the remainder has a sign
static int center_of(DType codes) {
    return codes == DT_u8 ? 128 : codes == DT_u4 ? 8 : codes == DT_u2 ? 2 : 0;
}

static format_minimum minimum_of(const OnnxCodes *m) {
    int center = center_of(m->code.of->dtype);
    if (!m->zero.of) return m->zero_value == center ? MINIMUM_NONE : MINIMUM_ZERO;
    if (dtype_is_float(m->zero.of->dtype)) return MINIMUM_FRACTION;
    return all_are(m->zero.of, center) ? MINIMUM_NONE : MINIMUM_ZERO;
}

// Returns true if zero points, less the codes' offset, are bytes. Their type may be wider than that
// of the codes.
static bool zeros_are_bytes(const Tensor *zero, int center) {
    for (int64_t i = 0, n = tensor_count(zero); i < n; i++) {
        double z = dtype_load(zero->dtype, zero->data, i) - center;
        if (z < INT8_MIN || z > INT8_MAX) return false;
    }
    return true;
}

static const Format *format_for(const OnnxCodes *m) {
    const Tensor *scale = m->scale.of, *zero = m->zero.of;
    DType codes = m->code.of->dtype;
    int bits = dtype_bits(codes);
    if (dtype_is_float(codes) || bits > 8 || scale->dtype == DT_f64 ||
        !dtype_is_float(scale->dtype) || !all_finite(scale))
        return NULL;
    if (zero &&
        !(dtype_is_float(zero->dtype) ? all_finite(zero) : zeros_are_bytes(zero, center_of(codes))))
        return NULL;
    CodedKind kind = {
        .bits = bits, .columns = m->columns, .group = m->group, .minimum = minimum_of(m)};
    kind.halves = floats_are_halves(scale->dtype, scale->data, tensor_count(scale));
    return format_of_codes(&kind, NULL);
}

static float element(const OnnxGrid *g, int64_t row, int64_t column) {
    return (float)dtype_load(g->of->dtype, g->of->data, place(g, row, column));
}

static void write_block(const OnnxCodes *m, const Format *f, int64_t row, int64_t first,
                        uint8_t *out) {
    int16_t codes[FORMAT_BLOCK];
    int center = center_of(m->code.of->dtype);
    int64_t group = first / m->group;
    float zero = m->zero.of ? element(&m->zero, row, group) : (float)m->zero_value;
    bool fraction = f->minimum == MINIMUM_FRACTION;
    BlockEnds ends = {element(&m->scale, row, group), fraction ? zero : 0,
                      (fraction ? 0 : (int)zero) - center};
    for (int i = 0; i < f->block; i++)
        codes[i] = (int16_t)((int)element(&m->code, row, first + i) - center);
    block_write(f, ends, codes, out);
}

Node *onnx_in_blocks(OnnxCall *c, const OnnxCodes *m) {
    const Format *f = format_for(m);
    if (!f) return NULL;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = f->dtype,
                  .rank = 2,
                  .dim = {m->rows, m->columns},
                  .name = m->code.of->name,
                  .source = m->code.of->source};
    if (m->stack) {
        t->rank = 3;
        t->dim[0] = m->stack, t->dim[1] = m->rows / m->stack, t->dim[2] = m->columns;
    }
    t->bytes = dtype_bytes(f->dtype, m->rows * m->columns);
    uint8_t *out = arena_alloc(c->graph->arena, t->bytes);
    c->import->model->float_rows |= m->float_rows;
    t->data = out;
    for (int64_t row = 0; row < m->rows; row++)
        for (int64_t k = 0; k < m->columns; k += f->block, out += f->bytes)
            write_block(m, f, row, k, out);
    return onnx_cast(c, onnx_constant(c, t), DT_f32);
}

// -------------------------------------------------------------------------------- DequantizeLinear
// Where the products of the file that read a matrix have its inputs, K: [K, N] down the columns,
// [N, K] along the rows
typedef enum { NO_PRODUCT, DOWN, ALONG } Inputs;

// Who reads each value of the main graph
typedef struct OnnxReader {
    const struct OnnxReader *next;
    const BurinOnnx__Operation *node;  // NULL: it is an output
    size_t operand;
} OnnxReader;

static void add_reader(OnnxModel *m, const char *name, const BurinOnnx__Operation *node,
                       size_t operand) {
    OnnxReader *r = ARENA_NEW(m->arena, OnnxReader);
    *r = (OnnxReader){map_get(m->readers, name), node, operand};
    map_put(m->readers, name, r);
}

static const OnnxReader *readers_of(OnnxModel *m, const char *name) {
    const BurinOnnx__GraphBody *g = m->proto->graph;
    if (m->readers) return map_get(m->readers, name);
    m->readers = ARENA_NEW(m->arena, Map);
    *m->readers = (Map){.arena = m->arena};
    for (size_t i = 0; i < g->n_output; i++) add_reader(m, g->output[i]->name, NULL, 0);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t j = 0; j < g->node[i]->n_input; j++)
            add_reader(m, g->node[i]->input[j], g->node[i], j);
    return map_get(m->readers, name);
}

static Inputs inputs_of(OnnxModel *, const char *name, bool turned);

static Inputs inputs_of_reader(OnnxModel *m, const OnnxReader *r, bool turned) {
    bool swapped = turned;
    if (!r->node) return NO_PRODUCT;
    for (size_t i = 0; i < r->node->n_attribute; i++)
        if (!strcmp(r->node->attribute[i]->name, "transB") && r->node->attribute[i]->i)
            swapped = !turned;
    if (r->operand == 1 &&
        (onnx_is_operator(r->node, "", "MatMul") || onnx_is_operator(r->node, "", "Gemm")))
        return swapped ? ALONG : DOWN;
    bool turns =
        !r->operand && !turned && r->node->n_output && onnx_is_operator(r->node, "", "Transpose");
    return turns ? inputs_of(m, r->node->output[0], true) : NO_PRODUCT;
}

// NO_PRODUCT also if something else reads it, or two products along different axes; `turned`: it is
// the transpose of the required matrix
static Inputs inputs_of(OnnxModel *m, const char *name, bool turned) {
    Inputs all = NO_PRODUCT;
    for (const OnnxReader *r = readers_of(m, name); r; r = r->next) {
        Inputs one = inputs_of_reader(m, r, turned);
        if (!one || (all && one != all)) return NO_PRODUCT;
        all = one;
    }
    return all;
}

// Scales are one, one for a column of the product, or one for `block` of K.
Node *onnx_dequantized_in_blocks(OnnxCall *c, int64_t block) {
    const OnnxValue *zero = onnx_operand(c, 2);
    const Tensor *x = onnx_node(c, 0)->value, *s = onnx_node(c, 1)->value,
                 *z = zero ? onnx_node(c, 2)->value : NULL;
    if (!x || !s || (zero && !z) || x->rank != 2 || !tensor_count(x) || !onnx_is_main_graph(c))
        return NULL;
    Inputs inputs = inputs_of(c->import->model, c->proto->output[0], false);
    if (!inputs) return NULL;
    const bool down = inputs == DOWN;
    int64_t depth = x->dim[!down], n = x->dim[down], scales = tensor_count(s),
            groups = block > 0 ? (depth - 1) / block + 1 : 0;
    int axis = onnx_axis(c, onnx_int(c, "axis", 1), 2);
    bool one = scales == 1, by_column = !block && s->rank == 1 && axis == down && scales == n;
    bool blocks =
        groups && axis == !down && s->rank == 2 && s->dim[down] == n && s->dim[!down] == groups;
    if (!(one || by_column || blocks) || (z && tensor_count(z) != scales)) return NULL;
    OnnxCodes m = {
        .rows = n, .columns = depth, .group = blocks ? block : depth, .float_rows = true};
    m.code = down ? (OnnxGrid){x, 1, n} : (OnnxGrid){x, depth, 1};
    m.scale =
        blocks ? down ? (OnnxGrid){s, 1, n} : (OnnxGrid){s, groups, 1} : (OnnxGrid){s, !one, 0};
    m.zero = (OnnxGrid){z, m.scale.row, m.scale.column};
    Node *rows = onnx_in_blocks(c, &m);
    return rows && down ? onnx_swap(c, rows, 0, 1) : rows;
}
