#include "codegen/emit.h"
void write_nest(Text *t, const Program *p, const Kernel *k, const char *name) {
    (void)t, (void)p, (void)name;
    diag_fatal(k->node->loc, "no code yet for %s", op_info[k->node->op].name);
}
void call_nest(Text *t, const Program *p, const Kernel *k) { (void)t, (void)p, (void)k; }
