// Block formats of weights: one row of format_rows.h each, and a decoder of one block as files hold
// it.
#ifndef BURIN_IR_FORMAT_H
#define BURIN_IR_FORMAT_H
#include "ir.h"
#include "kernels/formats.h"

enum { FORMAT_BLOCK = 256, FORMAT_GROUPS = 16 };  // the most values and groups of a block

// Integers and scales of one block: value i is (d * scale[i / group]) * q[i] + m * minimum[i /
// group]. With zero points (MINIMUM_ZERO, _LINE, _FRACTION) q[i] - minimum[i / group] replaces
// q[i], and m is added to it or subtracted as it is; with a table of floats q[i] are codes.
typedef struct CodedBlock {
    float d, m;
    int16_t scale[FORMAT_GROUPS], minimum[FORMAT_GROUPS];
    int8_t q[FORMAT_BLOCK];
} CodedBlock;

typedef struct EncodeInput EncodeInput;

typedef struct Format {
    DType dtype;
    const char *name;
    int ggml;          // GGUF's type id, or -1
    int block, bytes;  // of a block in a file: values along k, bytes
    int low, high;     // bits of the planes (format_rows.h)
    int group;         // values that share a scale
    format_scales scales;
    format_minimum minimum;
    int offset;
    format_table table;
    void (*decode)(const uint8_t *block, CodedBlock *);
    void (*encode)(const struct Format *, const EncodeInput *,
                   CodedBlock *);  // NULL where burin cannot (encode.h)
} Format;
extern const int8_t iq4_values[16], e2m1_values[16];  // values of nibbles: TABLE_IQ4, TABLE_E2M1
extern const Format formats[];
extern const int n_formats;

const Format *format_of(DType);        // NULL of a type without blocks
const Format *format_of_ggml(int id);  // the same for scales
bool dtype_is_block(DType);
bool format_has_minimum(const Format *);     // a part of the value that q does not multiply
bool format_has_zero(const Format *);        // a zero point a block
bool format_takes_integers(const Format *);  // a product by it may take rows of int8
bool format_is_exact(const Format *);        // ... takes rows of integers, and is exact
bool format_is_made(const Format *);         // by --quant
bool format_has_panel_d(const Format *);     // one d for all blocks of a row of weights
bool format_has_fits(const Format *);  // blocks of a panel are marked where they fit (blocks.h)
// bytes after a panel's blocks: sums, or d of its columns
int64_t format_panel_end(const Format *, int64_t blocks);
float coded_scale(const Format *, const CodedBlock *, int group);  // of products of integers
// ... and their addend for each row's integer; 0: none
float coded_minimum(const Format *, const CodedBlock *, int group);
int coded_zero(const Format *, const CodedBlock *, int group);  // taken from q first
int64_t format_panel_bytes(
    const Format *);  // of one block of 16 columns (runtime/kernels/blocks.h)
void coded_values(const Format *, const CodedBlock *, float *values);
// Codes of integers with a scale for each group: the values a format must hold
typedef struct CodedKind {
    int bits;
    int64_t columns, group;  // of a row; of a scale, 0: in no order that blocks have
    bool halves;             // each scale, kept as f16, is itself
    format_minimum minimum;  // NONE, ZERO, LINE or FRACTION
} CodedKind;
// The format with the fewest bits whose blocks hold them without loss, each within a group, and
// which block_write writes; `best` (or NULL) where none has fewer
const Format *format_of_codes(const CodedKind *, const Format *best);
bool floats_are_halves(DType, const void *data, int64_t n);
typedef struct BlockEnds {
    float d, m;  // m: of MINIMUM_LINE and _FRACTION
    int zero;
} BlockEnds;
// One block of a format with one scale, from codes and a zero point (the offset already subtracted
// from both), to f->bytes bytes
void block_write(const Format *, BlockEnds, const int16_t *codes, uint8_t *out);
// The first of n blocks whose scale or minimum is infinite or no number; -1: none
int64_t block_not_finite(const Format *, const void *data, int64_t n);
// values[i] is element first + i * step of a dense tensor, whose rows are whole blocks
void format_read(const Format *, const void *data, int64_t first, int64_t step, int64_t n,
                 float *values);
#endif
