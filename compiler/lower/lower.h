// Graphs to programs: the kernel of each value, their order, the offset of every buffer and weight,
// the barriers.
//
//   Program       one graph, lowered: kernels in order, loops over layers, buffers, states, weights, figures of the plan. The
//                 decoder's program of an encoder-decoder has that of the encoder
//   Kernel        one call of a kernel function: operands, results, and the ranges of its threads
//   View          an operand: a buffer, weight, state or caller's memory, with an offset and a stride for each axis
//   Buffer        memory of one value, or of several that share it (views, updates in place, the same value of every layer)
//   PackedWeight  one constant in the form its kernels read: written panel by panel
//
// Rows. A program over rows (graph inputs of shape [R]) is lowered for one row and for many at
// once: every buffer's offset is in bytes for each row, so its address is memory + offset * rows.
// With one row, every thread computes row-wise kernels (norms, embeddings, elementwise) for itself
// in its `local` memory; with more rows, threads divide the rows.
#ifndef BURIN_LOWER_H
#define BURIN_LOWER_H
#include "ir.h"

typedef struct LowerOptions {
    const char *name;  // Program.name; NULL: the module's
    bool over_ranks;   // --with=mpi
    // tests: a band of GUARD_BYTES after each buffer, which AddressSanitizer watches
    // (runtime/engine/guard.h)
    bool guarded;
    int64_t gather_above;  // bytes: ranks compute smaller products whole; 0: the default
    // burin check: every result is recorded, so no kernel is fused into another by tiles
    bool compared;
} LowerOptions;

// ---------------------------------------------------------------------------------------- operands
typedef enum {
    BASE_NONE,
    BASE_BUFFER,
    BASE_WEIGHT,
    BASE_STATE,
    BASE_INPUT,
    BASE_OUTPUT,
    BASE_SCALAR
} BaseKind;

enum { WINDOW_AXES = 4 };   // of a convolution: at most as many axes of rows, and of sums
enum { GUARD_BYTES = 64 };  // after each buffer of a guarded program, for each row

typedef struct Buffer {
    int index;
    const char *name;   // of its local variable in the emitted text
    const char *value;  // that it holds first, as dumps call it
    DType dtype;
    bool per_thread;   // in `local` when the step has one row
    bool fixed_size;   // in the scratch memory: row_bytes are all its bytes, whatever the rows
    const Dim *units;  // of its storage (storage_units); of a program that is sized by its run, its
                       // bytes follow
    uint64_t
        row_bytes;  // bytes for each row, a multiple of 64 (a program without rows: all its bytes)
    uint64_t arena_offset;   // for each row; of whole buffers: in the scratch memory
    uint64_t local_offset;   // in a step of one row: in `local`, of row-wise buffers
    uint64_t single_offset;  // in a one-row step: in the arena, owned by the other threads
    struct Live {
        int first, last;  // kernels (positions in the unrolled list) between which it holds a value
    } *live;
    int n_live;
} Buffer;

typedef struct StateSlice {
    const Node *node;
    uint64_t offset, bytes;  // within one slot
    int index;
} StateSlice;

// A cache [S, heads, capacity, d] in the layout of runtime/kernels/kv_cache.h: for each head
// `capacity` rows of `width` elements, and after all heads `scales` f16 for each row. A ring buffer
// holds the last `capacity` rows, of which attention reaches back `window`; a recurrence's (`last`)
// is one row.
typedef struct CacheShape {
    uint64_t heads, capacity, width, element, scales, window;
    bool keys, ring, last;
} CacheShape;
CacheShape cache_shape(const Node *state);

typedef struct WeightFormat WeightFormat;

// The emitted struct of the weights has fields of its own, an array of structs with a field for
// each operand of the loop, and, when the last iteration stops early, a second, shorter array for
// the kernels that it leaves out.
typedef enum { GROUP_PROGRAM, GROUP_LAYER, GROUP_LAYER_END } WeightGroup;

// A quantized matrix: sum of squares of the values' errors, and of the values
typedef struct QuantError {
    double lost, all;
} QuantError;

// One constant as its kernels read it. Units (panels of 16 columns, or rows) are packed on demand,
// so memory stays small.
typedef struct PackedWeight {
    const Node *node;  // pack or constant
    const struct Program
        *owner;  // whose weights it is one of: the encoder's, when both graphs read it
    const WeightFormat *format;
    QuantError *errors;      // of a pack in blocks, of each source, filled by weights_write
    uint64_t offset, bytes;  // in the weights; offsets are multiples of 64
    uint64_t units, unit_bytes;
    int64_t columns,
        depth;        // of a packed matrix: N and K. A plain constant: rows and elements a row
    int64_t experts;  // of a packed matrix: as many, one after the other, of columns / experts
    WeightGroup group;
    const char *field;  // of the emitted struct: "self_attn_o_proj"
    int layer;          // the loop's iteration, -1 outside
    const struct PackedWeight
        *like;  // in a loop: the piece of the first iteration, whose field name is used
} PackedWeight;

typedef struct View {
    BaseKind base;
    union {
        Buffer *buffer;
        PackedWeight *weight;
        StateSlice *state;
        const Node *input;  // a graph input (token, slot, position, or a tensor)
        int output;         // index of the graph's output
        double scalar;
    };
    Type type;
    const Dim *offset;            // in elements
    const Dim *stride[MAX_RANK];  // in elements; 0 where broadcast
    const Node *constant;         // of a scalar: where it comes from
    const Node *row_index;  // NULL, or: axis 0 is looked up, row r is row_index[r] of the base
    bool own_part;          // each thread touches only its share of it; otherwise any of it
} View;

// ----------------------------------------------------------------------------------------- kernels
typedef enum {
    FAMILY_EMBED,   // rows of a table or of packed panels, converted to f32
    FAMILY_MATMUL,  // rows times packed weights, with an epilogue
    // a product whose matrices an index selects row by row; its last operand is the order of the
    // entries
    FAMILY_EXPERTS,
    FAMILY_DEPTHWISE,  // a depthwise convolution, with an epilogue
    FAMILY_ORDER,      // entries of an index in the order of their experts
    FAMILY_NORM,       // rms, layer, and with the residual added first
    FAMILY_QUANTIZE,   // rows to blocks of int8
    FAMILY_ROTARY,
    FAMILY_APPEND,  // rows into a cache
    FAMILY_SHIFT,   // rows of a cache, some positions back
    FAMILY_ATTENTION,
    FAMILY_SCAN,    // a loop over rows whose body acts lane by lane (lower/scan.h)
    FAMILY_KEYS,    // products with kept keys, sums of kept values
    FAMILY_GATHER,  // the rows that are wanted
    FAMILY_NEST,    // anything else: a generated loop nest
} KernelFamily;

// Which thread computes (and touches) what. Two kernels with equal shares of the same buffer need
// no barrier between them.
typedef enum {
    SHARE_ROWS,
    SHARE_PANELS,
    SHARE_EXPERTS,
    SHARE_HEADS,
    SHARE_TILES,
    SHARE_OUTER
} ShareKind;
typedef struct Share {
    ShareKind kind;
    const Dim *count;  // of rows, heads, or outer iterations; panels of one expert, or of 16
                       // columns and tiles (heads): times blocks of rows
} Share;

// Ranges of a kernel on the ranks of --with=mpi (lower/ranks.c). A product whose result stays with
// the heads of its rank has their columns as parts; attention, caches and rotary embeddings have
// one part with the heads.
typedef struct RankPart {
    int first, width, heads;  // columns from `first`, `width` each head
} RankPart;
enum { RANK_PARTS = 4 };
typedef struct RankShare {
    int units;  // panels or heads that ranks share; 0: every rank computes all of it
    int each;   // panels of a unit, blocks of 32 columns
    int n_parts;
    RankPart part[RANK_PARTS];
    bool gathered;  // its columns reach all ranks before the next kernel
} RankShare;

// Tiles of a result with fused consumers: columns of a tile, number of tiles, number of the
// program's first one
typedef struct Tiles {
    int columns, count, first;
} Tiles;

typedef struct Kernel {
    KernelFamily family;
    const Node *node;  // source location; its computation:
    Op op;
    const Attr *attrs;  // kernel_int and the like
    Loc loc;
    View *in;
    int n_in;
    View out[4];
    int n_out;
    const Dim *defines;  // the symbol whose value is its last result, or NULL
    // axes of the node's value from the outermost in memory to the innermost; NULL: as they are
    const int *order;
    int row_axes;  // of a convolution: number of leading axes of x that are rows. Later axes are
                   // summed; 0: x is rows in memory
    const Node *border;  // of a convolution: windows whose operand is a pad that x lacks, or NULL
    const Dim *count;    // uncached attention: keys of a sequence; an order: the experts
    Share share;
    const char *cache;        // appends: "key" or "value", which layout is written
    const struct Scan *scan;  // of a scan: its body (lower/scan.h)
    bool copies;              // a nest that only makes its operand row-major, whatever the node is
    bool replicated_if_one_row;  // computed by every thread when there is one row
    bool dynamic;       // threads take its work as they come to it, so no part is a thread's own
    bool per_sequence;  // of several texts in a step, one after the other (lower/sequences.c)
    // number of following kernels fused into this one, tile by tile (lower/tile_fusion.c)
    int n_fused;
    Tiles tiles;                           // of its result
    const struct Kernel *fused_into;       // producer of the tiles; NULL: not fused
    int first_tile, n_tiles;               // tiles of the producer that it consumes
    RankShare ranks;                       // without --with=mpi nothing
    bool barrier_decode, barrier_prefill;  // threads wait before it: steps of one row, of more
    int signature;  // equal where kernels compute the same of different memory
    int function;   // index into Program.functions; equal signatures share one
    int position;   // in the unrolled list
} Kernel;

// Of the emitted text, made by name_functions (codegen/functions.c)
typedef struct KernelFunction {
    const char *name;     // matmul_bf16_192x320
    const Kernel *first;  // the first of its kernels
    // preceding text, helpers that no earlier function has; its lines between the braces
    const char *before, *body;
    int uses;
    bool of_encoder;  // whose text has it already
} KernelFunction;

// Kernels first .. first + period * iterations - missing repeat with `period`; the last iteration
// stops `missing` kernels early.
typedef struct Loop {
    int first, period, iterations, missing;
} Loop;

// Kernels first .. end - 1 are the body of a loop or the two bodies of an `if` (the second from
// `middle` on). Barriers go before each iteration, before each condition and after the region. In
// the order of their begin; inner regions follow outer ones.
typedef struct Region {
    int first, middle, end;
    bool is_loop;
    View most, condition;                  // BASE_NONE: absent
    const Dim *counter, *extent, *length;  // of a loop; see ir/control.h
} Region;

typedef struct Plan {
    uint64_t row_bytes, local_bytes, slot_bytes, weight_bytes, scratch_bytes;
    uint64_t layers_offset, layer_bytes, layer_ends_offset,
        layer_end_bytes;   // the arrays of layer structs in the weights
    uint64_t lower_bound;  // least that any places need, for each row
    uint64_t cache_bytes;  // of slot_bytes: KV caches
    int barriers_decode, barriers_prefill;
} Plan;

typedef struct Program {
    Arena *arena;
    const Module *module;
    Graph *graph;
    const char *name;  // of its structs, its functions and the files that hold them; of an encoder
                       // with _encode
    const char *prefix;            // of its kernel functions: "" or "encode_"
    struct Program *encoder;       // what runs once for a sequence, before its first step; or NULL
    uint64_t weights_offset;       // of its weights in the image: those of an encoder come first
    const Dim *rows, *logit_rows;  // R and L; NULL when the program has none
    const Dim **symbols;           // of the inputs' types, in order of appearance
    const Dim **data_dependent;    // sizes of results that the run finds out
    const Dim **counters;          // that count the iterations of loops
    int n_symbols, n_data_dependent, n_counters;
    int64_t max_rows;  // 1 without rows
    bool guarded;      // LowerOptions.guarded
    bool over_ranks;   // ranks of MPI share its kernels
    int64_t gather_above;
    bool compared;           // LowerOptions
    bool batches_sequences;  // a step may have the rows of several texts
    // symbols instead of rows: all buffers are whole, and smaller runs pack them closer
    bool dynamic_sizes;
    Kernel **kernels;
    int n_kernels;
    int n_signatures;
    KernelFunction *functions;  // name_functions
    int n_functions;
    Loop loop;  // iterations 0: none
    Region *regions;
    int n_regions;
    Buffer **buffers;
    int n_buffers;
    StateSlice **states;
    int n_states;
    PackedWeight **weights;  // in the order of their offsets
    int n_weights;
    Plan plan;
} Program;

// Lowers graph `index` of the module, which must have a layout.
Program *lower(Arena *, const Module *, int index, const LowerOptions *);
// Lowers a module: its first graph, or a graph over rows and the encoder that leaves states for it.
Program *lower_module(Arena *, const Module *, const LowerOptions *);

int representative(const Program *,
                   int kernel);  // lower/schedule.c: of a loop's kernel that of the first iteration
double rank_share_largest(
    const RankShare *,
    int ranks);  // lower/ranks.c: of a kernel's panels or heads, those of the fullest rank

bool kernel_takes(KernelFamily, int operand,
                  DType);  // lower/types.c: an element type of kernels.def

bool graph_has_rows(const Graph *);  // of tokens with slots and positions: a decoder

// lower/sequences.c: elements of a per-sequence kernel's operand for each row of the step; 0: the
// same for each sequence
int64_t sequence_stride(const Program *, const View *);

const char *kernel_value(const Kernel *, int result);  // name of the value in the graph
int quantized_result(
    const Kernel *);  // of a norm: its rows as integers, a result of their own; or -1

// A kernel's attributes, those of its op
int64_t kernel_int(const Kernel *, const char *name, int64_t absent);
double kernel_float(const Kernel *, const char *name, double absent);
const char *kernel_string(const Kernel *, const char *name, const char *absent);
const Expr *kernel_expr(const Kernel *, const char *name);  // NULL when absent, as the following
const int64_t *kernel_ints(const Kernel *, const char *name, int *n);
const Dim *const *kernel_dims(const Kernel *, const char *name, int *n);
const Dim *kernel_dim(const Kernel *, const char *name);
int kernel_axis(const Kernel *);

// ------------------------------------------------------------------------------- lower/nonfinite.c
void warn_of_odd_weights(const Program *);  // NaN and infinities, with the tensor's name

// --------------------------------------------------------------------------------- lower/weights.c
// All weights in order, the encoder's first, zeros between the pieces, in chunks of at most about 1
// MB: program_weight_bytes.
uint64_t program_weight_bytes(const Program *);
bool program_has_integers(const Program *);  // products of integers: of weights in blocks
bool program_has_bf16(const Program *);      // products by weights of bf16
uint64_t program_arena_bytes(
    const Program *);  // for max_rows; of an encoder and a decoder, which work in turn, the larger
typedef void WeightSink(void *user, const void *bytes, size_t n);
void weights_write(const Program *, WeightSink *, void *user);
void quant_summary(const Program *, Text *);  // a line, where weights_write has quantized a matrix
void quant_report(const Program *,
                  Text *);  // what weights_write quantized, matrix by matrix, the worst first

struct WeightFormat {
    const char *name;     // "f32", "f16", "bf16", "q4_k" ...: the `format` attribute of pack
    int block;            // elements along k that are packed together
    int panel_bytes;      // of one block of one panel (16 columns)
    const char *element;  // C type of the emitted field: element name[panels][k / block][...]
    // 16 columns of one k, values[column * stride], to panel_bytes bytes; NULL of weights in blocks
    void (*pack)(const float *values, int stride, void *bytes);
    const struct Format *blocks;  // ir/format.h, or NULL
};
const WeightFormat *weight_format_find(Arena *, const char *name);  // NULL when unknown
// Buffers of the scratch memory by their planned offsets. Buffers that are disjoint in the plan are
// disjoint in every run: a buffer starts after the ends of those that precede it in the plan.
int scratch_in_order(const Program *, const Buffer **list);
const char *bytes_text(char out[32], uint64_t);  // 900 bytes, 17.0 KB, 1.5 GB
const char *plan_sizes_option(
    Arena *, const Program *);  // " --max=batch=N,past=N": what bounds a run; "" without free sizes
void plan_print(Text *,
                const Program *);  // sizes and lower bound in a few lines, for the build's output
#endif
