#include "ir.h"
PassFunction pass_incremental;
bool pass_incremental(Graph *g, PassContext *c) {
    (void)g;
    (void)c;
    return false;
}
