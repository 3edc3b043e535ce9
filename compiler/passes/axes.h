// Axes through reshapes, and nodes with another extent along one.
#ifndef BURIN_PASSES_AXES_H
#define BURIN_PASSES_AXES_H
#include "passes/match.h"

typedef struct Along {
    int axis;
    const Dim *extent;
} Along;
int same_axis(Graph *, const Type *from, int axis,
              const Type *to);  // with as many elements before it; -1: none
Node *with_extent(Node *, Node *const *in, const char *attr,
                  Along);                   // again, and so many in its attribute of dimensions
bool varies_along(const Node *, int axis);  // it has that axis, and of more than one element
#endif
