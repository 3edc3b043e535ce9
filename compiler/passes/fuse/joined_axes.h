// Positions that a product has joined with other axes in one: apart again (joined_axes.c).
#ifndef BURIN_PASSES_FUSE_JOINED_AXES_H
#define BURIN_PASSES_FUSE_JOINED_AXES_H
#include "ir.h"

// A reshape that parts such an axis: the same value, computed with the axes apart all the way from
// where they were joined; or NULL.
Node *part_joined_axes(Node *reshape, const Dim *positions);
#endif
