// Positions that are counted down to the last one: T - 1 - i (count_down.c).
#ifndef BURIN_PASSES_FUSE_COUNT_DOWN_H
#define BURIN_PASSES_FUSE_COUNT_DOWN_H
#include "ir.h"

// Along `axis` of T elements: element i is T - 1 - i, exactly, for every T
bool counts_down(const Node *, int axis, const Dim *positions);
bool depends_on_sizes(const Node *);  // true as well if it is too large to tell
#endif
