// Shared by the files of codegen/: how kernels write their functions, and how views, dimensions and
// formulas read in C.
#ifndef BURIN_EMIT_H
#define BURIN_EMIT_H
#include "codegen/codegen.h"

typedef struct Parameters Parameters;  // codegen/parameters.h

// A struct or a function that kernel functions share; emitted once, before the first of them. In
// its lines, in later helpers and in kernel functions, `mark` marks its name. Without lines it is
// the runtime's.
typedef struct HelperWriter {
    char mark;
    const char *(*name)(const Program *, const Kernel *);
    void (*lines)(Text *, const Program *, const Kernel *);
} HelperWriter;

// The emitted text of a kernel family: the function's parameters, its lines between the braces with
// @ for its name, and its helpers. Kernels with equal lines share one function.
enum { MOST_HELPERS = 2 };
typedef struct KernelWriter {
    void (*parameters)(Parameters *);
    void (*body)(Text *, const Program *, const Kernel *);
    HelperWriter helpers[MOST_HELPERS];
} KernelWriter;
extern const KernelWriter kernel_writers[];  // by KernelFamily

// codegen/write.c
// Text between the two calls becomes one comment to the end of the line; names from outside cannot
// end it.
size_t c_comment(Text *);
void c_comment_end(Text *, size_t begin);
const char *c_type(DType);  // float, int32_t, ...
void c_dim(Text *, const Program *,
           const Dim *);  // rows, 2 * rows + 1; always in parentheses when not atomic
void c_dim_of_symbols(Text *, const Program *,
                      const Dim *);  // the same over symbols[i], outside of a step
// the same, with bounds in place of data-dependent sizes: over symbols[i], or within a step
void c_dim_at_most(Text *, const Program *, const Dim *);
void c_dim_of_step_at_most(Text *, const Program *, const Dim *);
// bytes that a run stores in a buffer, with one of these for its sizes
void c_bytes(Text *, const Program *, const Buffer *,
             void (*write_dim)(Text *, const Program *, const Dim *));
void c_float(Text *, double);          // 0x1.5p-3f
void c_number(Text *, DType, double);  // an element of the type as it is stored: 3, 0x3c00
void c_pointer(Text *, const Program *, const Kernel *,
               const View *);  // where an operand begins, at a call
// suffix in a per-sequence kernel: + sequence.row * 384
void c_sequence_offset(Text *, const Program *, const View *);
int symbol_index(const Program *, const Dim *symbol);
void c_input(Text *, const Node *);                     // s->token
void c_units(Text *, const Program *, const Kernel *);  // rows, matmul_units(20, rows)
void c_range(Text *, const Program *,
             const Kernel *);  // ROW_RANGE(rows), THREAD_RANGE(20), slices.range
const char *c_head_panels(const Program *, const Kernel *,
                          const RankPart *);              // of a product by the heads of its rank
const char *c_row_stride(const Program *, const View *);  // of a matrix view
int64_t last_dim(const View *);
const Dim *row_count(const Program *, const Type *);  // product of all but the last dimension
// The parameter of a kernel that has this number: "rows" where it is that of the program's rows.
const char *rows_name(const Program *, const Type *);
void c_rows(Text *, const Program *, const Type *);
const Loop *loop_of(const Program *, const Kernel *);  // NULL outside of it

// codegen/expr.c: a formula over sixteen lanes; operands are printed and classed by the caller
typedef enum { CLASS_FLOAT, CLASS_INTEGER, CLASS_TRUTH } VectorClass;  // vf, vi, vm
typedef struct ExprWriter {
    void (*arg)(Text *, int i, void *user);
    VectorClass (*class_of)(int i, void *user);
    void *user;
} ExprWriter;
void c_expr(Text *, const Expr *, const ExprWriter *);
VectorClass c_expr_class(const Expr *, const ExprWriter *);

// the families
void write_embed(Text *, const Program *, const Kernel *);
void write_norm(Text *, const Program *, const Kernel *);
void write_quantize(Text *, const Program *, const Kernel *);
void write_gather_rows(Text *, const Program *, const Kernel *);
void write_matmul(Text *, const Program *, const Kernel *);
void write_depthwise(Text *, const Program *, const Kernel *);
void write_result_rows(Text *, const Program *, const Kernel *);
void write_store(Text *, const Program *, const Kernel *);
void write_order(Text *, const Program *, const Kernel *);
void write_rotary(Text *, const Program *, const Kernel *);
void write_append(Text *, const Program *, const Kernel *);
void write_kept_keys(Text *, const Program *, const Kernel *);
void write_shift_rows(Text *, const Program *, const Kernel *);
void write_attention(Text *, const Program *, const Kernel *);
void write_scan(Text *, const Program *, const Kernel *);
void write_nest(Text *, const Program *, const Kernel *);
void write_slice_order(Text *, const Program *, const Kernel *);
void embed_parameters(Parameters *);
void norm_parameters(Parameters *);
void quantize_parameters(Parameters *);
void gather_rows_parameters(Parameters *);
void matmul_parameters(Parameters *);
void depthwise_parameters(Parameters *);
void order_parameters(Parameters *);
void rotary_parameters(Parameters *);
void append_parameters(Parameters *);
void kept_keys_parameters(Parameters *);
void shift_rows_parameters(Parameters *);
void attention_parameters(Parameters *);
void scan_parameters(Parameters *);
void nest_parameters(Parameters *);

// codegen/names.c
const char *function_name(const Program *,
                          const Kernel *);  // what its lines compute: matmul_bf16_192x320
const char *result_rows_name(const Program *,
                             const Kernel *);  // what its epilogue reads and writes: result_rows_b1
const char *store_name(const Program *, const Kernel *);  // its epilogue: store_add_320
const char *order_name(const Program *, const Kernel *);  // of slices of unique: order_int32_t_4

// codegen/lines.c: breaks lines longer than 120 columns, from `begin` on, where a reader would
void wrap_lines(Text *, size_t begin);

// codegen/buffer_offsets.c: offsets of the buffers of one run, in a program that is sized by its
// run
void write_buffer_offsets(Text *, const Program *);  // the function `places`
void c_buffer_offset(Text *, const Program *, const Buffer *);

// codegen/dispatch.c, network.c: the descriptor
void write_string(Text *, const char *);  // a C string
void write_net(Text *, const Program *);
void write_states(Text *, const Program *);

// codegen/forward.c
void write_forward(Text *, const Program *, int first_site);  // the number of its first kernel
void write_location(Text *, const Kernel *,
                    bool in_loop);  // llama.burin:12:7 model.layers.*.self_attn
// kernels in order of emission; list may be NULL
int call_sites(const Program *, const Kernel **list);
#endif
