// Weights in blocks as panels hold them (runtime/kernels/blocks.h).
#ifndef BURIN_LOWER_PACK_BLOCKS_H
#define BURIN_LOWER_PACK_BLOCKS_H
#include "ir/format.h"

enum { PANEL_COLUMNS = 16 };

// One block of 16 columns, NULL where there is no column, to format_panel_bytes(f) bytes.
void pack_blocks(const Format *, const CodedBlock *const columns[PANEL_COLUMNS], uint8_t *bytes);
// After the blocks of a panel with exact products, zeros before its first block: adds the bytes of
// block n.
void pack_exact_end(const Format *, const CodedBlock *const columns[PANEL_COLUMNS], int64_t n,
                    uint8_t *end);
// Behind the blocks of a panel: d of its columns, which all of their blocks have
void pack_panel_d(const CodedBlock *const columns[PANEL_COLUMNS], uint8_t *bytes);
#endif
