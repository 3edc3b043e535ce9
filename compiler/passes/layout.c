#include "ir.h"
PassFunction pass_layout;
bool pass_layout(Graph *g, PassContext *c) {
    (void)g;
    (void)c;
    return false;
}
