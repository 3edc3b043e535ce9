// Folders whose weights a library quantized. Each method (one file) recognises its tensors and
// locates their rows; quantized.c turns them into the model's original weights: module.qweight and
// module.scales become module.weight.
#ifndef BURIN_QUANTIZED_H
#define BURIN_QUANTIZED_H
#include "frontend/checkpoint/reader.h"
#include "ir/convert.h"

typedef struct Quantization {
    Checkpoint *checkpoint;
    const json_t *config;  // quantization_config
    Loc loc;               // source location
    const char *method;
    bool beside;         // it is no part of config.json, but a file of its own
    bool told_of_zeros;  // a warning of gptq.c was printed
} Quantization;

// Codes of rows [first, first + n), of every column in turn: [n][columns]
typedef struct CodedRows {
    int64_t first;
    int n;
    int16_t *code, *zero;
    float *scale, *end;
} CodedRows;

// Scales of a matrix: one for row_block rows and a group of columns. Strides are those of elements
// of `values`.
typedef struct Grid {
    const StoredTensor *values;
    int64_t row_block, row_stride, group_stride;
} Grid;

// Where scale * (code - zero point) is not all of a value: code * scale + end, or (code - end) *
// scale, whose end is a float
typedef enum { END_NONE, END_LINE, END_FRACTION } QuantizedEnd;

// Value = scale * (code - zero point, or the table's entry of code) * factor, products in this
// order, unless `end` sets another; times the column's factor
typedef struct QuantizedMatrix QuantizedMatrix;
struct QuantizedMatrix {
    const char *name,
        *module;  // of the weight: "model.layers.0.self_attn.q_proj.weight"; without its last part
    const char *module_in_file;  // name of the format in the file and its configuration
    // 0, or number of matrices in one tensor [stack, rows / stack, columns]
    int64_t stack;
    int64_t rows, columns;  // outputs (of all matrices of a stack), inputs
    bool transposed;        // the weight is [.., columns, rows] in Hugging Face's words
    const float *table;     // NULL: codes are integers
    bool powers;            // scales are powers of two, the table e2m1's or of 6 bits
    float factor;
    // center: subtracted from integer codes and zero points; the remainder has `bits` bits and a
    // sign
    int bits, center;
    uint64_t bytes;  // of all its parts
    int64_t group,
        groups;  // columns that share a scale and a zero point; how many such groups there are
    const int32_t *group_of;  // of each column; NULL: column / group
    const int32_t *sorted;    // columns group by group where all groups are of one size; NULL: they
                              // are, or there is no such order
    const StoredTensor *codes, *zeros, *order;  // the files' tensors; NULL where there are none
    Grid scale;
    DType own;  // a format of blocks that `blocks` writes; DT_f32: none
    // a row's blocks, of 64 columns each
    void (*blocks)(const QuantizedMatrix *, const CodedRows *, int r, uint8_t *out);
    const void *details;                                                      // method's own
    void (*read)(const QuantizedMatrix *, CodedRows *);                       // sets the codes
    int (*zero)(const QuantizedMatrix *, int64_t row, int64_t group);         // or NULL: 0
    float (*scale_at)(const QuantizedMatrix *, int64_t row, int64_t column);  // NULL: the grid's
    QuantizedEnd end;
    float (*end_at)(const QuantizedMatrix *, int64_t row, int64_t column);
    const float *column_factors;  // factors of the matrix's inputs; or NULL
};

// A method: refuses options of quantization_config that it does not know, and makes a matrix of the
// tensor that holds its codes (NULL of another tensor).
typedef struct QuantizationMethod {
    const char *name;  // quant_method
    void (*check)(const Quantization *);
    QuantizedMatrix *(*matrix)(Quantization *, StoredTensor *);
} QuantizationMethod;

void gptq_check(const Quantization *);
QuantizedMatrix *gptq_matrix(Quantization *, StoredTensor *);
void awq_check(const Quantization *);
QuantizedMatrix *awq_matrix(Quantization *, StoredTensor *);
void compressed_check(const Quantization *);
QuantizedMatrix *compressed_matrix(Quantization *, StoredTensor *);
void fp8_check(const Quantization *);
QuantizedMatrix *fp8_matrix(Quantization *, StoredTensor *);
void mxfp4_check(const Quantization *);
QuantizedMatrix *mxfp4_matrix(Quantization *, StoredTensor *);
void bitsandbytes_check(const Quantization *);
QuantizedMatrix *bitsandbytes_matrix(Quantization *, StoredTensor *);
void bitnet_check(const Quantization *);
QuantizedMatrix *bitnet_matrix(Quantization *, StoredTensor *);
void modelopt_check(const Quantization *);
QuantizedMatrix *modelopt_matrix(Quantization *, StoredTensor *);
void auto_round_check(const Quantization *);
QuantizedMatrix *auto_round_matrix(Quantization *, StoredTensor *);
void hqq_check(const Quantization *);
QuantizedMatrix *hqq_matrix(Quantization *, StoredTensor *);
void torchao_check(const Quantization *);
QuantizedMatrix *torchao_matrix(Quantization *, StoredTensor *);
void mlx_check(const Quantization *);
QuantizedMatrix *mlx_matrix(Quantization *, StoredTensor *);
void quark_check(const Quantization *);
QuantizedMatrix *quark_matrix(Quantization *, StoredTensor *);

// ---- of method.c ----

// quantization_config, or a file beside config.json; without `config` where there is none.
Quantization quantization_of(Checkpoint *);
// Ends the run when burin does not read it.
const QuantizationMethod *quantization_method(const Quantization *);

// ---- of quantized.c: what methods share ----

// For a tensor of codes "module.qweight" with `end` ".qweight" (checked by the caller): a matrix
// that presents "module" `weight` ("" for none).
QuantizedMatrix *quantized_matrix(Quantization *, StoredTensor *codes, const char *end,
                                  const char *weight);
// The tensor "module" `end` beside the codes, of one of the dtypes in the set, now part of the
// matrix. A missing one ends the run if `needed`, else it is NULL.
enum {
    SET_FLOATS = 1 << DT_f32 | 1 << DT_f16 | 1 << DT_bf16,
    SET_I32 = 1 << DT_i32,
    SET_U8 = 1 << DT_u8,
    SET_ANY = -1
};
enum { SET_SCALES = SET_FLOATS | 1 << DT_f8e4m3fn | 1 << DT_f8e8m0 };
const StoredTensor *quantized_part(Quantization *, QuantizedMatrix *, const char *end, int dtypes,
                                   bool needed);
// Ends the run unless the tensor has this shape.
void quantized_want_shape(const StoredTensor *, int rank, const int64_t *dims);
// Rows and columns of tensor `t`; ends the run if no matrix has them.
void quantized_set_size(QuantizedMatrix *, const StoredTensor *t, int64_t rows, int64_t columns);
// Experts in one tensor [experts, inputs, outputs], whose scales are tensor "NAME" `scale_end`;
// NULL of other tensors. `block`: outputs and inputs that share one, or {1, 0}
QuantizedMatrix *quantized_stack(Quantization *, StoredTensor *, const char *scale_end,
                                 const int64_t block[2]);
// Codes [experts, outputs, n] become those of one matrix after the other, and so do parts that
// follow.
void quantized_join(Quantization *, QuantizedMatrix *);
// Ends the run unless the codes are words, [any, any].
void quantized_want_words(const QuantizedMatrix *);
// Sets group, groups and the scales' grid, by the scales' shape: one; [rows], [rows, 1]; [rows,
// groups]; [row blocks, groups]. `rows`: of a block, or 1; `group`: columns of a group or a block,
// 0 where the method knows none
void quantized_scales(QuantizedMatrix *, const StoredTensor *, int64_t rows, int64_t group);
// The same for scales [groups, rows].
void quantized_scales_by_group(QuantizedMatrix *, const StoredTensor *, int64_t group);
// Returns true for a matrix of GPT-2's Conv1D, [inputs, outputs] in Hugging Face's layout.
bool quantized_is_conv1d(const Quantization *, const char *name);

// Bits [at * bits, at * bits + bits) of a stream of words, low bits first, `stride` words apart
unsigned packed_field(const uint32_t *words, int64_t stride, int64_t at, int bits);
int64_t ceil_div(int64_t a, int64_t b);
// Sets rows, columns and how codes of a byte each are read: int8, or floats of 8 bits.
void quantized_bytes(Quantization *, QuantizedMatrix *);
// Zero points i8, where the scales are; NULL: none
void quantized_byte_zeros(QuantizedMatrix *, const StoredTensor *);
// JSON in a string of a file: `name` for messages
const json_t *quantized_object(const Quantization *, const char *name, const char *text,
                               size_t size);
// Bytes of exponents as floats 2^(byte - 127)
const StoredTensor *quantized_exponents(const Quantization *, const StoredTensor *);
// Codes are e2m1, two in a byte.
void fp4_codes(QuantizedMatrix *);
// Rows, columns, codes and scales (of part `end`) of such a matrix; `group`: columns of a scale, 0:
// by its type.
void fp4_matrix(Quantization *, QuantizedMatrix *, const char *end, int64_t group);
void fp4_set(QuantizedMatrix *, const StoredTensor *scales, int64_t group);
// nvfp4: the scale of the whole matrix, a factor or divisor of other scales; MOST: the largest
// value that codes and other scales can hold replaces it, if present.
typedef enum { WHOLE_FACTOR, WHOLE_FACTOR_OR_NONE, WHOLE_DIVISOR, WHOLE_MOST } WholeKind;
void fp4_whole_scale(Quantization *, QuantizedMatrix *, const char *end, WholeKind);
// The same for floats of 6 bits, e2m3 or e3m2
void fp6_set(const Quantization *, QuantizedMatrix *, const StoredTensor *scales, int64_t group,
             int fraction_bits);
// Values are code * scale + zero, both floats [rows, groups], or [groups, rows] if `by_group`: sets
// everything except the reading of codes.
void quantized_line(const Quantization *, QuantizedMatrix *, const StoredTensor *scale,
                    const StoredTensor *zero, bool by_group);
// Sets group_of and sorted by the tensor `order`; ends the run when it names a group that is not
// there.
void quantized_order(const Quantization *, QuantizedMatrix *);
// Sets column_factors by the tensor "module" `end`, if there is one.
void quantized_column_factors(Quantization *, QuantizedMatrix *, const char *end);
// Ends the run when one is infinite or no number.
void quantized_check_scales(const StoredTensor *);

// Fields of quantization_config: ends the run when it has another kind.
int64_t quantized_int(const Quantization *, const char *key, int64_t otherwise);
const char *quantized_string(const Quantization *, const char *key, const char *otherwise);
_Noreturn void quantized_refuse(const Quantization *, const char *key, const char *value,
                                const char *expected);
#endif
