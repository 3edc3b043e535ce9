// Operators of com.microsoft that ONNX Runtime's tools write: activations, norms with a residual,
// products with quantized weights. Each is its formula over core ops; recognise and fuse find the
// fast forms again.
#include <math.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"
#include "ir/convert.h"
#include "kernels/formats.h"

// ------------------------------------------------------------------------------------- activations
// of x, or of x + bias
void onnx_ms_gelu(OnnxCall *c, int op) {
    Node *x = onnx_node(c, 0);
    if (onnx_operand(c, 1)) x = ONNX_BINARY(c, OP_add, x, onnx_node(c, 1));
    onnx_result(c, 0, ONNX_UNARY(c, (Op)op, x));
}

// ---------------------------------------------------------------------------------------- products
static Node *swapped_if(OnnxCall *c, Node *x, const char *attribute) {
    int rank = x->type.rank;
    if (!onnx_int(c, attribute, 0)) return x;
    if (rank < 2) onnx_fatal(c, "%s of %s, expected a matrix", attribute, type_text(&x->type));
    return onnx_swap(c, x, rank - 2, rank - 1);
}

// [M, batch.., K] to [batch.., M, K]
static Node *batch_first_if(OnnxCall *c, Node *x, const char *attribute) {
    int64_t perm[MAX_RANK];
    int rank = x->type.rank;
    if (!onnx_int(c, attribute, 0) || rank < 3) return x;
    for (int i = 0; i < rank; i++) perm[i] = i == rank - 1 ? i : i == rank - 2 ? 0 : i + 1;
    return onnx_permute(c, x, perm);
}

void onnx_ms_fused_matmul(OnnxCall *c, int argument) {
    (void)argument;
    Node *a = swapped_if(c, batch_first_if(c, onnx_node(c, 0), "transBatchA"), "transA");
    Node *b = swapped_if(c, batch_first_if(c, onnx_node(c, 1), "transBatchB"), "transB");
    Node *y = ONNX_BINARY(c, OP_matmul, a, b);
    double alpha = onnx_float(c, "alpha", 1);
    onnx_result(c, 0, alpha == 1 ? y : ONNX_FORMULA(c, y, "mul($0, %a)", alpha));
}

static DType narrow_type(const OnnxCall *c, int64_t bits) {
    if (bits != 2 && bits != 4 && bits != 8)
        onnx_fatal(c, "weights of %lld bits; 2, 4 and 8 are supported", (long long)bits);
    return bits == 2 ? DT_u2 : bits == 4 ? DT_u4 : DT_u8;
}

// Bytes [rows, bytes] of a constant seen as the narrow integers that they hold: [rows, count], no
// byte moves.
static Node *unpacked(OnnxCall *c, int operand, int64_t bits, int64_t rows) {
    const OnnxValue *v = onnx_operand(c, operand);
    const Tensor *x = v && v->node ? v->node->value : NULL;
    if (!x || x->dtype != DT_u8)
        onnx_fatal(c, "operand %d must be a constant of bytes (u8)", operand);
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = *x;
    t->dtype = narrow_type(c, bits);
    if (rows < 1 || x->bytes % (uint64_t)rows)
        onnx_fatal(c, "operand %d is %s, which is not %lld rows", operand,
                   type_text(&v->node->type), (long long)rows);
    t->rank = 2, t->dim[0] = rows, t->dim[1] = (int64_t)(x->bytes / (uint64_t)rows) * 8 / bits;
    return onnx_constant(c, t);
}

// [rows, count]: each row is whole bytes, whose last may hold less
static Node *first_unpacked(OnnxCall *c, int operand, int64_t bits, int64_t rows, int64_t count) {
    Node *x = unpacked(c, operand, bits, rows);
    if (onnx_extent(c, x, 1) < count)
        onnx_fatal(c, "operand %d is %s, which is not %lld rows of %lld elements", operand,
                   type_text(&onnx_node(c, operand)->type), (long long)rows, (long long)count);
    return onnx_slice_from(c, x, 1, 0, count);
}

static Node *reshaped(OnnxCall *c, Node *x, int rank, const int64_t *dim) {
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < rank; i++) dims[i] = dim_const(c->graph, dim[i]);
    return onnx_shape_to(c, x, rank, dims);
}

// [rows, K] from blocks along K, each with a scale and perhaps a zero point: (q - zero) * scale
typedef struct Blocks {
    int64_t rows, depth, block, bits, count;  // count: blocks a row
    int scales, zeros;                        // operands
    double zero;                              // where there is no operand
    const int32_t *group;     // the block of each of K columns; NULL: they follow one another
    const Tensor *zero_each;  // a byte a block, instead of the operand
    int64_t experts;          // 0, or number of stacked matrices
} Blocks;

static Node *zero_points(OnnxCall *c, const Blocks *b, DType wide) {
    Node *z = onnx_node(c, b->zeros);
    bool packed = z->type.dtype == DT_u8 && b->bits < 8;
    if (packed) z = first_unpacked(c, b->zeros, b->bits, b->rows, b->count);
    return reshaped(c, onnx_cast(c, z, wide), 3, (int64_t[]){b->rows, b->count, 1});
}

static const Tensor *constant_operand(OnnxCall *c, int i) {
    const OnnxValue *v = onnx_operand(c, i);
    return v && v->node ? v->node->value : NULL;
}

static Node *in_blocks(OnnxCall *c, const Tensor *q, const Tensor *scale, const Tensor *zero,
                       const Blocks *b) {
    OnnxCodes m = {.rows = b->rows,
                   .columns = b->depth,
                   .group = b->group ? 0 : b->block,
                   .zero_value = b->zero,
                   .stack = b->experts};
    m.float_rows = !c->import->text || onnx_int(c, "accuracy_level", 0) != 4;
    m.code = (OnnxGrid){q, b->count * b->block, 1}, m.scale = (OnnxGrid){scale, b->count, 1};
    Tensor unpacked = zero ? *zero : (Tensor){0};
    bool packed = zero && zero->dtype == DT_u8 && b->bits < 8 && !b->zero_each;
    if (packed)
        unpacked.dtype = q->dtype, unpacked.rank = 1,
        unpacked.dim[0] = (int64_t)zero->bytes * 8 / b->bits;
    if (zero) m.zero = (OnnxGrid){&unpacked, packed ? unpacked.dim[0] / b->rows : b->count, 1};
    return onnx_in_blocks(c, &m);
}

// Weights as a program reads them: the file's blocks, or floats [rows, depth] where no format of
// the IR holds these
static Node *dequantized_now(OnnxCall *c, const Tensor *q, const Tensor *scale, const Tensor *zero,
                             const Blocks *b) {
    Node *blocks = in_blocks(c, q, scale, zero, b);
    if (blocks) return blocks;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32,
                  .rank = 2,
                  .dim = {b->rows, b->depth},
                  .name = q->name,
                  .source = q->source};
    float *out = ARENA_ARRAY(c->graph->arena, float, b->rows * b->depth);
    t->data = out, t->bytes = dtype_bytes(DT_f32, b->rows * b->depth);
    bool packed = zero && zero->dtype == DT_u8 && b->bits < 8 && !b->zero_each;
    int64_t in_row = packed ? (int64_t)(zero->bytes / (uint64_t)b->rows) * 8 / b->bits : b->count;
    DType zero_type = packed ? q->dtype : zero ? zero->dtype : DT_f32;
    for (int64_t row = 0; row < b->rows; row++)
        for (int64_t k = 0; k < b->depth; k++) {
            int64_t block = b->group ? b->group[k] : k / b->block;
            float from = zero ? (float)dtype_load(zero_type, zero->data, row * in_row + block)
                              : (float)b->zero;
            float s = (float)dtype_load(scale->dtype, scale->data, row * b->count + block);
            out[row * b->depth + k] =
                ((float)dtype_load(q->dtype, q->data, row * b->count * b->block + k) - from) * s;
        }
    return onnx_constant(c, t);
}

// Zero points [experts, rows] of 2 or 4 bits, packed along the rows: as bytes, one each
static Tensor *apart(OnnxCall *c, const Tensor *packed, int64_t bits, int64_t experts,
                     int64_t rows) {
    int64_t in_one = (rows * bits + 7) / 8;
    if (packed->dtype != DT_u8 || tensor_count(packed) != experts * in_one) return NULL;
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    uint8_t *out = ARENA_ARRAY(c->graph->arena, uint8_t, experts *rows);
    const uint8_t *bytes = packed->data;
    for (int64_t i = 0; i < experts * rows; i++) {
        int64_t bit = i % rows * bits;
        out[i] = (uint8_t)(bytes[i / rows * in_one + bit / 8] >> bit % 8 & ((1 << bits) - 1));
    }
    *t = (Tensor){.dtype = DT_u8,
                  .rank = 1,
                  .dim = {experts * rows},
                  .name = packed->name,
                  .source = packed->source,
                  .data = out};
    t->bytes = (uint64_t)(experts * rows);
    return t;
}

static Node *dequantized(OnnxCall *c, Node *q, const Blocks *b) {
    Node *scale = onnx_node(c, b->scales);
    const Tensor *zero = b->zero_each ? b->zero_each : constant_operand(c, b->zeros);
    int64_t scales = b->rows * b->count, zeros_bytes = b->rows * ((b->count * b->bits + 7) / 8);
    bool fits = scale->value && tensor_count(scale->value) == scales && q->value &&
                tensor_count(q->value) == scales * b->block &&
                (!onnx_operand(c, b->zeros) ||
                 (zero && (tensor_count(zero) == scales ||
                           (zero->dtype == DT_u8 && tensor_count(zero) == zeros_bytes))));
    if (fits && scale->type.dtype != DT_f64)
        return dequantized_now(c, q->value, scale->value, zero, b);
    if (b->zero_each)
        onnx_fatal(
            c,
            "zero points without a block_size, of weights and scales that are not all constants");
    if (b->group)
        onnx_fatal(
            c,
            "a group index (g_idx) of weights, scales and zero points that are not all constants");
    DType wide = onnx_wide(scale->type.dtype);
    Node *x = reshaped(c, onnx_cast(c, q, wide), 3, (int64_t[]){b->rows, b->count, b->block});
    if (onnx_operand(c, b->zeros))
        x = ONNX_BINARY(c, OP_sub, x, zero_points(c, b, wide));
    else if (b->zero != 0)
        x = ONNX_BINARY(c, OP_sub, x, onnx_scalar(c, wide, b->zero));
    x = ONNX_BINARY(c, OP_mul, x,
                    reshaped(c, onnx_cast(c, scale, wide), 3, (int64_t[]){b->rows, b->count, 1}));
    x = reshaped(c, x, 2, (int64_t[]){b->rows, b->count * b->block});
    return b->count * b->block == b->depth ? x : onnx_slice_from(c, x, 1, 0, b->depth);
}

// GPTQ's order of activations: which block's scale each column has.
static const int32_t *group_index(OnnxCall *c, int i, const Blocks *b) {
    if (!onnx_operand(c, i)) return NULL;
    const Tensor *t = constant_operand(c, i);
    if (!t || t->dtype != DT_i32 || tensor_count(t) < b->depth)
        onnx_fatal(c, "the group index (g_idx) must be a constant of at least %lld i32",
                   (long long)b->depth);
    int32_t *group = ARENA_ARRAY(c->graph->arena, int32_t, b->depth);
    memcpy(group, t->data, (size_t)b->depth * sizeof *group);  // data of a file is not aligned
    for (int64_t k = 0; k < b->depth; k++)
        if (group[k] < 0 || group[k] >= b->count)
            onnx_fatal(c, "the group index (g_idx) names block %d of %lld", group[k],
                       (long long)b->count);
    return group;
}

// A [.., K], B [N, blocks, bytes], scales, zero points, group index, bias
void onnx_ms_matmul_nbits(OnnxCall *c, int argument) {
    (void)argument;
    Node *a = onnx_node(c, 0);
    Blocks b = {.rows = onnx_int(c, "N", 0),
                .depth = onnx_int(c, "K", 0),
                .block = onnx_int(c, "block_size", 0)};
    b.bits = onnx_int(c, "bits", 4), b.scales = 2, b.zeros = 3;
    if (b.rows < 1 || b.depth < 1 || b.block < 1 || b.block > b.depth + 4096)
        onnx_fatal(c, "N is %lld, K %lld, block_size %lld, expected sizes above 0",
                   (long long)b.rows, (long long)b.depth, (long long)b.block);
    narrow_type(c, b.bits);
    b.count = (b.depth + b.block - 1) / b.block, b.zero = ldexp(1, (int)b.bits - 1);
    b.group = group_index(c, 4, &b);
    Node *weights = onnx_swap(c, dequantized(c, unpacked(c, 1, b.bits, b.rows), &b), 0, 1);
    Node *y = ONNX_BINARY(c, OP_matmul, onnx_cast(c, a, weights->type.dtype), weights);
    if (onnx_operand(c, 5))
        y = ONNX_BINARY(c, OP_add, y, onnx_cast(c, onnx_node(c, 5), y->type.dtype));
    onnx_result(c, 0, onnx_cast(c, y, a->type.dtype));
}

// bitsandbytes' FP4
// A [.., K], B: N * K / 2 bytes, the first of two elements high, quant_type 0 FP4, 1 NF4; a factor
// a block of the whole
void onnx_ms_matmul_bnb4(OnnxCall *c, int argument) {
    (void)argument;
    Node *a = onnx_node(c, 0);
    const Tensor *q = constant_operand(c, 1), *scale = constant_operand(c, 2);
    int64_t n = onnx_int(c, "N", 0), k = onnx_int(c, "K", 0), block = onnx_int(c, "block_size", 0),
            kind = onnx_int(c, "quant_type", 0), count;
    if (n < 1 || k < 1 || block < 1 || kind < 0 || kind > 1 || __builtin_mul_overflow(n, k, &count))
        onnx_fatal(c,
                   "N is %lld, K %lld, block_size %lld, quant_type %lld, expected sizes above 0, "
                   "and 0 or 1",
                   (long long)n, (long long)k, (long long)block, (long long)kind);
    if (!q || !scale || q->dtype != DT_u8 || tensor_count(q) < count / 2 + count % 2 ||
        tensor_count(scale) < (count - 1) / block + 1)
        onnx_fatal(c,
                   "operands 1 and 2 must be constants: two elements a byte, a factor for each "
                   "%lld of them",
                   (long long)block);
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32, .rank = 2, .dim = {n, k}, .name = q->name, .source = q->source};
    float *out = ARENA_ARRAY(c->graph->arena, float, count);
    const float *table = kind ? nf4_table : fp4_table;
    const uint8_t *bytes = q->data;
    for (int64_t i = 0; i < count; i++)
        out[i] = table[i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4] *
                 (float)dtype_load(scale->dtype, scale->data, i / block);
    t->data = out, t->bytes = dtype_bytes(DT_f32, count);
    Node *weights = onnx_constant(c, t);
    if (onnx_int(c, "transB", 1)) weights = onnx_swap(c, weights, 0, 1);
    Node *y = ONNX_BINARY(c, OP_matmul, onnx_cast(c, a, DT_f32), weights);
    onnx_result(c, 0, onnx_cast(c, y, a->type.dtype));
}

// Operand i, whose bytes hold elements packed along its last axis: [.., count] elements
static Node *unpacked_along_last(OnnxCall *c, int i, int64_t bits, int64_t count) {
    Type whole = onnx_node(c, i)->type;
    int64_t rows = 1;
    for (int axis = 0; axis < whole.rank - 1; axis++) rows *= onnx_extent(c, onnx_node(c, i), axis);
    Node *x = first_unpacked(c, i, bits, rows, count);
    whole.dtype = x->type.dtype, whole.dim[whole.rank - 1] = dim_const(c->graph, count);
    return onnx_reshape(c, x, &whole);
}

// Gathers along any axis of a tensor with block scales along any axis; elements of u8 with fewer
// bits are packed.
static void gather_any(OnnxCall *c, int64_t bits) {
    Node *q = onnx_node(c, 0), *scale = onnx_node(c, 2), *zero = onnx_optional_node(c, 3);
    int64_t block = onnx_int(c, "block_size", 128);
    int rank = q->type.rank, axis = onnx_axis(c, onnx_int(c, "quantize_axis", 1), rank);
    DType wide = onnx_wide(scale->type.dtype);
    bool bytes = q->type.dtype == DT_u8, packed = bytes && bits < 8;
    if (scale->type.rank != rank)
        onnx_fatal(c, "scales of %s for %s: expected one for each block", type_text(&scale->type),
                   type_text(&q->type));
    if (packed && axis != rank - 1)
        onnx_fatal(
            c,
            "bytes of %d elements are supported where blocks are along the last axis, not axis %d",
            (int)(8 / bits), axis);
    if (packed) q = unpacked_along_last(c, 0, bits, onnx_extent(c, q, axis) * 8 / bits);
    if (packed && zero) zero = unpacked_along_last(c, 3, bits, onnx_extent(c, scale, axis));
    Node *x = onnx_cast(c, q, wide);
    if (zero)
        x = ONNX_BINARY(c, OP_sub, x,
                        onnx_cast(c, onnx_each_of_block(c, zero, &q->type, axis, block), wide));
    if (bytes && !zero)
        x = ONNX_BINARY(c, OP_sub, x, onnx_scalar(c, wide, ldexp(1, (int)bits - 1)));
    x = ONNX_BINARY(c, OP_mul, x,
                    onnx_cast(c, onnx_each_of_block(c, scale, &q->type, axis, block), wide));
    int gather = onnx_axis(c, onnx_int(c, "gather_axis", 0), rank);
    onnx_result(c, 0, onnx_cast(c, onnx_take(c, x, onnx_node(c, 1), gather), scale->type.dtype));
}

// Returns true if a table [V, K] has whole blocks along its rows, and rows are gathered
static bool blocks_of_rows(OnnxCall *c, const Blocks *b, int rank) {
    int64_t last = rank == 2 ? onnx_extent(c, onnx_node(c, 0), 1) : 0,
            in_one = onnx_node(c, 0)->type.dtype == DT_u8 ? 8 / b->bits : 1;
    return rank == 2 && onnx_axis(c, onnx_int(c, "gather_axis", 0), 2) == 0 &&
           onnx_axis(c, onnx_int(c, "quantize_axis", 1), 2) == 1 && last * in_one % b->block == 0;
}

// The gathered part of a table in blocks, as floats.
void onnx_ms_gather_quantized(OnnxCall *c, int argument) {
    (void)argument;
    Node *data = onnx_node(c, 0);
    bool bytes = data->type.dtype == DT_u8;
    Blocks b = {.bits = bytes ? onnx_int(c, "bits", 4) : dtype_bits(data->type.dtype),
                .block = onnx_int(c, "block_size", 128)};
    narrow_type(c, b.bits);
    if (b.block < 1) onnx_fatal(c, "block_size is %lld, expected one above 0", (long long)b.block);
    if (!blocks_of_rows(c, &b, data->type.rank)) {
        gather_any(c, b.bits);
        return;
    }
    b.rows = onnx_extent(c, data, 0), b.scales = 2, b.zeros = 3;
    Node *q = bytes && b.bits < 8 ? unpacked(c, 0, b.bits, b.rows) : data;
    b.depth = onnx_extent(c, q, 1), b.count = b.depth / b.block;
    b.zero = bytes ? ldexp(1, (int)b.bits - 1) : 0;
    Node *table = dequantized(c, q, &b);
    onnx_result(c, 0,
                onnx_cast(c, onnx_take(c, table, onnx_node(c, 1), 0), onnx_node(c, 2)->type.dtype));
}

// ----------------------------------------------------------------------------- mixtures of experts
// Operands of one of an expert's three products; no operand: -1.
typedef struct ExpertProduct {
    int weights, bias, scales, zeros;
    const char *bits;  // the attribute, where it differs from expert_weight_bits
} ExpertProduct;

static const ExpertProduct expert_products[2][3] = {
    {{2, 3, -1, -1, NULL}, {4, 5, -1, -1, NULL}, {6, 7, -1, -1, NULL}},
    {{2, 4, 3, 11, "fc1_expert_weight_bits"},
     {5, 7, 6, 12, "fc2_expert_weight_bits"},
     {8, 10, 9, 13, "fc3_expert_weight_bits"}},
};

// [experts, out, in] from integers [experts, out, bytes] and a scale for each row, or each block of
// one
static Node *expert_dequantized(OnnxCall *c, const ExpertProduct *p, Node *w) {
    int64_t experts = onnx_extent(c, w, 0), out = onnx_extent(c, w, 1);
    Blocks b = {.rows = experts * out,
                .experts = experts,
                .bits = onnx_int(c, p->bits, onnx_int(c, "expert_weight_bits", 4))};
    narrow_type(c, b.bits);
    b.depth = onnx_extent(c, w, 2) * 8 / b.bits, b.block = onnx_int(c, "block_size", 0);
    if (b.block <= 0 && b.bits < 8 && onnx_operand(c, p->zeros)) {
        const Tensor *zero = constant_operand(c, p->zeros);
        b.zero_each = zero ? apart(c, zero, b.bits, experts, out) : NULL;
        if (!b.zero_each)
            onnx_fatal(c,
                       "zero points without a block_size must be a constant of %lld bytes an "
                       "expert, one of %lld bits a row",
                       (long long)((out * b.bits + 7) / 8), (long long)b.bits);
    }
    if (b.block <= 0) b.block = b.depth;
    if (b.block < 1 || b.depth % b.block)
        onnx_fatal(c, "rows of %lld are not whole blocks of %lld", (long long)b.depth,
                   (long long)b.block);
    b.count = b.depth / b.block, b.scales = p->scales, b.zeros = p->zeros,
    b.zero = ldexp(1, (int)b.bits - 1);
    Node *x = dequantized(c, unpacked(c, p->weights, b.bits, b.rows), &b);
    return x->type.rank == 3 ? x : reshaped(c, x, 3, (int64_t[]){experts, out, b.depth});
}

// x [experts or 1, T, in] through the product of each expert: [experts, T, out]
static Node *expert_product(OnnxCall *c, const ExpertProduct *p, Node *x) {
    Node *w = onnx_node(c, p->weights),
         *bias = p->bias >= 0 && onnx_operand(c, p->bias) ? onnx_node(c, p->bias) : NULL;
    if (w->type.rank != 3)
        onnx_fatal(c, "operand %d is %s, not a matrix an expert", p->weights, type_text(&w->type));
    if (p->scales >= 0) w = expert_dequantized(c, p, w);
    Node *y = ONNX_BINARY(c, OP_matmul, x, onnx_swap(c, onnx_cast(c, w, x->type.dtype), 1, 2));
    if (!bias) return y;
    if (bias->type.rank != 2)
        onnx_fatal(c, "operand %d is %s, not a vector an expert", p->bias, type_text(&bias->type));
    const Dim *shape[] = {bias->type.dim[0], dim_const(c->graph, 1), bias->type.dim[1]};
    return ONNX_BINARY(c, OP_add, y, onnx_cast(c, onnx_shape_to(c, bias, 3, shape), x->type.dtype));
}

// gate sigmoid(alpha gate) (linear + beta), both limited
static Node *swiglu(OnnxCall *c, Node *gate, Node *linear) {
    return ONNX_BLOCK(c, "swiglu", {.node = gate}, {.node = linear},
                      {.name = "limit", .number = onnx_float(c, "swiglu_limit", INFINITY)},
                      {.name = "alpha", .number = onnx_float(c, "activation_alpha", 1)},
                      {.name = "beta", .number = onnx_float(c, "activation_beta", 0)});
}

// Gate and linear part side by side (fusion 2) or in turns (1): [experts, T, 2 n] to [experts, T,
// n]
static Node *swiglu_fused(OnnxCall *c, Node *x, int64_t fusion) {
    Graph *g = c->graph;
    int64_t n = onnx_extent(c, x, 2) / 2;
    if (fusion == 2)
        return swiglu(c, onnx_slice_from(c, x, 2, 0, n), onnx_slice_from(c, x, 2, n, n));
    const Dim *pairs[] = {x->type.dim[0], x->type.dim[1], dim_const(g, n), dim_const(g, 2)};
    x = onnx_shape_to(c, x, 4, pairs);
    Node *part[2];
    for (int i = 0; i < 2; i++)
        part[i] = onnx_shape_to(c, onnx_slice_from(c, x, 3, i, 1), 3, pairs);
    return swiglu(c, part[0], part[1]);
}

static Node *plain_activation(OnnxCall *c, const char *type, Node *x) {
    if (!strcmp(type, "relu")) return ONNX_UNARY(c, OP_relu, x);
    if (!strcmp(type, "gelu")) return ONNX_UNARY(c, OP_gelu_tanh, x);
    if (!strcmp(type, "silu")) return ONNX_UNARY(c, OP_silu, x);
    return x;
}

static Node *expert_activation(OnnxCall *c, const ExpertProduct *p, Node *x, Node *hidden) {
    const char *type = onnx_string(c, "activation_type", "relu");
    int64_t fusion = onnx_int(c, "swiglu_fusion", 0);
    bool is_swiglu = !strcmp(type, "swiglu");
    Node *linear = onnx_operand(c, p[2].weights) ? expert_product(c, &p[2], x) : NULL;
    if (is_swiglu && !linear && !fusion)
        onnx_fatal(c, "SwiGLU needs fc3_experts_weights, or swiglu_fusion");
    if (is_swiglu) return linear ? swiglu(c, hidden, linear) : swiglu_fused(c, hidden, fusion);
    hidden = plain_activation(c, type, hidden);
    return linear ? ONNX_BINARY(c, OP_mul, hidden, linear) : hidden;
}

static Node *each_of_columns(OnnxCall *c, Node *x, Node *index) {
    Node *n = onnx_emit_make(c, OP_gather_elements, 2, (Node *[]){x, index});
    attr_set_int(n, "axis", 1);
    return onnx_finish(c, n);
}

// How much each of the experts counts, [T, experts]: softmax of all, or `weights`, kept for the k
// that the router gives most, which may be made to sum to 1
static Node *expert_shares(OnnxCall *c, Node *router, Node *weights) {
    const Dim *k = dim_const(c->graph, onnx_int(c, "k", 1));
    Node *share = onnx_softmax_axis(c, router, 1), *top = onnx_emit_make(c, OP_top_k, 1, &share);
    attr_set_dims(top, "extent", &k, 1);
    attr_set_int(top, "axis", 1);
    attr_set_int(top, "largest", 1);
    top = onnx_finish(c, top);
    Node *kept = weights ? each_of_columns(c, weights, onnx_tuple_item(c, top, 1))
                         : onnx_tuple_item(c, top, 0);
    if (onnx_int(c, "normalize_routing_weights", 0))
        kept = ONNX_BINARY(c, OP_div, kept, onnx_reduce_axis(c, OP_reduce_sum, kept, 1, true));
    Node *none = onnx_expand_to(c, onnx_scalar(c, router->type.dtype, 0), &router->type);
    Node *in[] = {none, onnx_tuple_item(c, top, 1), kept},
         *n = onnx_emit_make(c, OP_scatter_elements, 3, in);
    attr_set_int(n, "axis", 1);
    attr_set_string(n, "reduction", "none");
    return onnx_finish(c, n);
}

static void check_experts(OnnxCall *c, bool quantized) {
    if (onnx_int(c, "use_sparse_mixer", 0)) onnx_fatal(c, "use_sparse_mixer is not supported");
    if (!quantized) return;
    if (onnx_int(c, "weights_prepacked", 0) > 0)
        onnx_fatal(c, "weights that are prepacked are not supported");
    for (int i = 15; i < 21; i++)
        if (onnx_operand(c, i))
            onnx_fatal(c, "operand %d is not supported (scales of other layouts)", i);
}

// x [.., H], router [T, experts]: fc2(activation(fc1(x))) of every expert, times its share, summed
void onnx_ms_experts(OnnxCall *c, int quantized) {
    check_experts(c, quantized);
    const ExpertProduct *p = expert_products[quantized];
    Node *x = onnx_node(c, 0), *router = onnx_node(c, 1);
    DType wide = onnx_wide(x->type.dtype);
    if (router->type.rank != 2 || x->type.rank < 2)
        onnx_fatal(c, "takes rows and the router's [T, experts], not %s and %s",
                   type_text(&x->type), type_text(&router->type));
    const Dim *rows[] = {dim_const(c->graph, 1), router->type.dim[0],
                         x->type.dim[x->type.rank - 1]};
    const Dim *column[] = {router->type.dim[1], router->type.dim[0], dim_const(c->graph, 1)};
    Node *in = onnx_shape_to(c, onnx_cast(c, x, wide), 3, rows);
    Node *hidden = expert_activation(c, p, in, expert_product(c, &p[0], in));
    Node *weights = quantized && onnx_operand(c, 14) ? onnx_cast(c, onnx_node(c, 14), wide) : NULL;
    Node *share = onnx_swap(c, expert_shares(c, onnx_cast(c, router, wide), weights), 0, 1);
    Node *y = ONNX_BINARY(c, OP_mul, expert_product(c, &p[1], hidden),
                          onnx_shape_to(c, share, 3, column));
    y = onnx_reduce_axis(c, OP_reduce_sum, y, 0, false);
    onnx_result(c, 0, onnx_cast(c, onnx_shape_to(c, y, x->type.rank, x->type.dim), x->type.dtype));
}

// ------------------------------------------------------------------------------------------- norms
static Node *normalized(OnnxCall *c, bool simplified, Node *const *in, double epsilon) {
    return onnx_norm(c, simplified ? OP_rms_normalization : OP_layer_normalization, in[2] ? 3 : 2,
                     in, epsilon);
}

// Each part of a row, as long as the weights, by its RMS, times the activation of a gate.
void onnx_ms_gated_norm(OnnxCall *c, int argument) {
    (void)argument;
    Node *x = onnx_node(c, 0), *w = onnx_node(c, 1);
    Type whole = x->type, parts = whole;
    int64_t width = onnx_extent(c, w, 0), last = whole.rank ? onnx_extent(c, x, whole.rank - 1) : 0;
    DType wide = onnx_wide(whole.dtype);
    bool sigmoid = !strcmp(onnx_string(c, "activation", "silu"), "sigmoid");
    if (width < 1 || last % width || whole.rank == MAX_RANK)
        onnx_fatal(c, "rows of %s are not whole parts of %lld", type_text(&whole),
                   (long long)width);
    parts.rank++, parts.dim[whole.rank - 1] = dim_const(c->graph, last / width),
                                         parts.dim[whole.rank] = w->type.dim[0];
    x = onnx_reshape(c, onnx_cast(c, x, wide), &parts);
    x = onnx_reshape(
        c, normalized(c, true, (Node *[]){x, w, NULL}, onnx_float(c, "epsilon", 1e-5f)), &whole);
    Node *gate = ONNX_UNARY(c, sigmoid ? OP_sigmoid : OP_silu, onnx_cast(c, onnx_node(c, 2), wide));
    onnx_result(c, 0, onnx_cast(c, ONNX_BINARY(c, OP_mul, x, gate), whole.dtype));
}

// x + skip (+ bias), and its norm: (x, skip, gamma, beta, bias), or simplified (x, skip, gamma,
// bias)
void onnx_ms_skip_norm(OnnxCall *c, int simplified) {
    int bias = simplified ? 3 : 4;
    Node *sum = ONNX_BINARY(c, OP_add, onnx_node(c, 0), onnx_node(c, 1));
    if (onnx_operand(c, bias)) sum = ONNX_BINARY(c, OP_add, sum, onnx_node(c, bias));
    Node *beta = !simplified && onnx_operand(c, 3) ? onnx_node(c, 3) : NULL;
    onnx_result(c, 0,
                normalized(c, simplified, (Node *[]){sum, onnx_node(c, 2), beta},
                           onnx_float(c, "epsilon", 1e-12f)));
    onnx_result(c, 3, sum);
}

// Operands of an embedding's norm as floats
typedef struct Embedding {
    Node *words, *positions, *segments, *gamma, *beta;  // segments: NULL where there are none
    int mask;                                           // operand
} Embedding;

// words, segments (all 0 if absent) and positions, their sum's norm, and how many ones the mask has
static void embed_layer_norm(OnnxCall *c, const Embedding *e, Node *positions) {
    Node *ids = onnx_node(c, 0), *sum = onnx_take(c, e->words, ids, 0), *table = e->positions;
    if (ids->type.rank != 2 || table->type.rank != 2)
        onnx_fatal(c, "takes ids [B, T], not %s", type_text(&ids->type));
    positions = positions ? onnx_take(c, table, positions, 0)
                          : onnx_slice_at(c, table, 0, dim_const(c->graph, 0), ids->type.dim[1]);
    sum = ONNX_BINARY(c, OP_add, sum, positions);
    if (e->segments) {
        const Dim *zero = dim_const(c->graph, 0), *one = dim_const(c->graph, 1);
        Node *of = onnx_operand(c, 1) ? onnx_take(c, e->segments, onnx_node(c, 1), 0)
                                      : onnx_slice_at(c, e->segments, 0, zero, one);
        sum = ONNX_BINARY(c, OP_add, sum, of);
    }
    Node *y =
        normalized(c, false, (Node *[]){sum, e->gamma, e->beta}, onnx_float(c, "epsilon", 1e-12f));
    onnx_result(c, 0, y);
    onnx_result(c, 2, sum);
    Type lengths = {.dtype = DT_i32, .rank = 1, .dim = {ids->type.dim[0]}};
    if (!onnx_operand(c, e->mask)) {
        onnx_result(c, 1, onnx_expand_to(c, onnx_scalar(c, DT_i32, 0), &lengths));
        return;
    }
    Node *mask = onnx_cast(c, onnx_node(c, e->mask), DT_i32),
         *ones = ONNX_BINARY(c, OP_equal, mask, onnx_scalar(c, DT_i32, 1));
    onnx_result(c, 1, onnx_reduce_axis(c, OP_reduce_sum, onnx_cast(c, ones, DT_i32), 1, false));
}

// ids, segment ids, word, position and segment tables, gamma, beta, mask, position ids
void onnx_ms_embed_layer_norm(OnnxCall *c, int argument) {
    (void)argument;
    Embedding e = {.words = onnx_node(c, 2),
                   .positions = onnx_node(c, 3),
                   .gamma = onnx_node(c, 5),
                   .beta = onnx_node(c, 6)};
    e.segments = onnx_optional_node(c, 4), e.mask = 7;
    embed_layer_norm(c, &e, onnx_optional_node(c, 8));
}

// The same of bytes: tables, gamma and beta (operands 2 to 6), their scales from operand 8, their
// zero points from 13
void onnx_ms_quantized_embed_layer_norm(OnnxCall *c, int argument) {
    (void)argument;
    Node *x[5] = {0};
    for (int i = 0; i < 5; i++) {
        if (i == 2 && !onnx_operand(c, 4)) continue;
        Node *whole = onnx_centred(c, onnx_node(c, 2 + i), onnx_optional_node(c, 13 + i), false),
             *scale = onnx_node(c, 8 + i);
        x[i] = ONNX_BINARY(c, OP_mul, onnx_cast(c, whole, scale->type.dtype), scale);
    }
    embed_layer_norm(c, &(Embedding){x[0], x[1], x[2], x[3], x[4], 7}, NULL);
}
