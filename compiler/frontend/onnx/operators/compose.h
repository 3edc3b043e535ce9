// Short ways to write core ops, for operators that are formulas over them.
#ifndef BURIN_ONNX_COMPOSE_H
#define BURIN_ONNX_COMPOSE_H
#include "frontend/convolution.h"
#include "frontend/onnx/operators/ops.h"

// Elementwise nodes from a formula's text (ir/expr.c): "mul($0, sigmoid($0))". Floats of 16 bits
// are computed in f32.
Node *onnx_formula(OnnxCall *, Node *const *in, int n, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define ONNX_FORMULA(c, x, ...) onnx_formula(c, (Node *[]){x}, 1, __VA_ARGS__)
DType onnx_wide(DType);  // f32 for narrower floats

Node *onnx_permute(OnnxCall *, Node *x, const int64_t *perm);
Node *onnx_swap(OnnxCall *, Node *x, int axis, int other);
Node *onnx_shape_to(OnnxCall *, Node *x, int rank, const Dim *const *dims);
Node *onnx_expand_to(OnnxCall *, Node *x, const Type *shape);
Node *onnx_slice_at(OnnxCall *, Node *x, int axis, const Dim *start, const Dim *extent);
Node *onnx_slice_from(OnnxCall *, Node *x, int axis, int64_t start, int64_t extent);
Node *onnx_reverse(OnnxCall *, Node *x, int axis);
Node *onnx_reduce_over(OnnxCall *, Op, Node *x, const int64_t *axes, int n, bool keep);
Node *onnx_reduce_axis(OnnxCall *, Op, Node *x, int axis, bool keep);
Node *onnx_softmax_axis(OnnxCall *, Node *x, int axis);
Node *onnx_join(OnnxCall *, Node *const *in, int n, int axis);
Node *onnx_take(OnnxCall *, Node *x, Node *index, int axis);
Node *onnx_tuple_item(OnnxCall *, Node *tuple, int index);
// A new symbol for a data-dependent size, at most `bound` (or NULL) and the --max option of its
// name.
const Dim *onnx_data_dependent_size(OnnxCall *, const char *name, const Dim *bound);
Node *onnx_number_of(OnnxCall *, const Dim *, DType);             // a dimension as one number
Node *onnx_index_along(OnnxCall *, const Type *shape, int axis);  // i32

typedef struct OnnxPads {
    int64_t low[MAX_RANK], high[MAX_RANK], interior[MAX_RANK];  // negative low and high cut off
} OnnxPads;
Node *onnx_pad_by(OnnxCall *, Node *x, const OnnxPads *, Node *value);
Node *onnx_pad_with(OnnxCall *, Node *x, const OnnxPads *, double value);

Node *onnx_numbers(OnnxCall *, DType, int rank, const int64_t *dim, const double *values);
Node *onnx_integers(OnnxCall *, const int64_t *values, int64_t n);  // i64 vector

Node *onnx_softmax_of(OnnxCall *, Node *x,
                      // nn.c: over the axis of the attribute, before opset 13 also over later axes
                      int64_t opset);
// nn.c: layer_normalization or rms_normalization of x, weight and (operands 3) bias, computed in
// f32 or f64, of x's type
Node *onnx_norm(OnnxCall *, Op, int operands, Node *const *in, double epsilon);
int onnx_reduce_axes(OnnxCall *, int rank,
                     int64_t *axes);  // nn.c: of a reduction, from its attribute or operand 1
// "--dim=h=N --dim=w=N": the options that make these constant
const char *onnx_sizes_to_fix(const OnnxCall *, const Dim *const *dims, int n);
int64_t onnx_extent(const OnnxCall *, const Node *x, int axis);  // a constant dimension
int onnx_int_list(OnnxCall *, int i, int64_t *list, int most,
                  const char *what);  // known integers of operand i

// described.c: blocks of dsl/onnx. First nodes without a name, in the order of the parameters, then
// named ones, then {0}. A block with the operator's name also takes its attributes.
typedef struct OnnxArgument {
    Node *node;
    const char *name;
    double number;
    const int64_t *list;  // of n integers
    int n;
    bool whole;  // the number is an integer
    int64_t whole_number;
} OnnxArgument;
#define ONNX_INTEGER(as, value) \
    ((OnnxArgument){.name = (as), .whole = true, .whole_number = (value)})
#define ONNX_LIST(as, values, count) ((OnnxArgument){.name = (as), .list = (values), .n = (count)})
enum { ONNX_MOST_OF_BLOCK = 16 };  // arguments, results
int onnx_blocks(OnnxCall *, const char *name, const OnnxArgument *, Node **results);  // how many
Node *onnx_block(OnnxCall *, const char *name,
                 const OnnxArgument *);  // its result, in the type of the first node
int onnx_described_results(OnnxCall *, int operands,
                           Node **results);  // of the operator's own block
#define ONNX_BLOCK(c, name, ...) onnx_block(c, name, (OnnxArgument[]){__VA_ARGS__, {0}})
const char *onnx_activation_block(
    OnnxCall *, const char *name);  // of a recurrent operator; ends the run for an unknown one
// x under it; those of alpha and beta that it has are its own where they are NULL.
Node *onnx_activated(OnnxCall *, const char *name, Node *x, const double *alpha,
                     const double *beta);

// blocks.c: element (row, group or column) of a constant, strides in elements
typedef struct OnnxGrid {
    const Tensor *of;
    int64_t row, column;
} OnnxGrid;
// A matrix whose value (row, k) is (code - zero point) * scale in f32, those of a group of k
typedef struct OnnxCodes {
    int64_t rows, columns, group;
    int64_t stack;  // 0, or number of stacked matrices of `rows` rows
    OnnxGrid code, scale,
        zero;  // columns of the last two are groups; zero.of: NULL, and zero_value for all
    double zero_value;
    bool float_rows;  // the operator multiplies floats
} OnnxCodes;
Node *onnx_in_blocks(OnnxCall *,
                     const OnnxCodes *);  // f32 [rows, columns] or [stack, rows / stack, columns];
                                          // NULL where no block format holds it
// DequantizeLinear of a matrix that only products read; NULL if its operands are no constants or no
// block format holds it
Node *onnx_dequantized_in_blocks(OnnxCall *, int64_t block);

// quant.c
Node *onnx_quantized(OnnxCall *, Node *x,
                     Node *zero_point);  // x rounded, shifted, saturated to its type
Node *onnx_each_of_block(OnnxCall *, Node *s, const Type *x, int axis,
                         int64_t block);  // one of each block, repeated
void onnx_check_scale(
    OnnxCall *,
    int i);  // operand i, which values are divided by: a warning, the first that is not finite
void onnx_quantized_by_range(OnnxCall *, Node *x,
                             Node *result[3]);  // DynamicQuantizeLinear: bytes, scale, zero point
Node *onnx_integer_sums(OnnxCall *, Node *a, Node *b);
Node *onnx_centred(OnnxCall *, Node *x, Node *zero_point,
                   bool rows);  // x - zero_point as i32, for products

// window.c
Node *onnx_average_of_windows(OnnxCall *, Node *x);  // by the node's attributes
// [N, .., C] to [N, C, ..] if channels_last is set
Node *onnx_channels_first(OnnxCall *, Node *x);
Node *onnx_channels_back(OnnxCall *, Node *x);  // and back

// microsoft/quant.c: sums of whole numbers as floats: times both scales, plus a bias (or NULL)
Node *onnx_scaled_sums(OnnxCall *, Node *sums, Node *a_scale, Node *b_scale, Node *bias);

// attention.c
void onnx_scores(OnnxCall *, Node *q, Node *k, double scale, double cap,
                 Node **results);                            // without the cap, and with it
Node *onnx_split_heads(OnnxCall *, Node *x, int64_t heads);  // [B, T, H * d] to [B, H, T, d]
Node *onnx_merge_heads(OnnxCall *, Node *x);                 // and back
Node *onnx_repeat_heads(OnnxCall *, Node *x,
                        int64_t repeats);  // each head several times, side by side
Node *onnx_turned(OnnxCall *, Node *x, Node *cosine, Node *sine,
                  bool interleaved);  // rotary embedding of all its elements
#endif
