// Formulas in C over vectors of sixteen lanes: mul(silu($0), $1) becomes vf_mul(vf_silu(a), b).
#include "codegen/emit.h"

void c_expr(Text *t, const Expr *e, const ExprWriter *w) {
    if (e->kind == EXPR_ARG) {
        w->arg(t, e->arg, w->user);
    } else if (e->kind == EXPR_CONST) {
        text_add(t, "vf_set1("), c_float(t, e->value), text_add(t, ")");
    } else {
        text_add(t, "vf_%s(", op_info[e->op].scalar);
        for (int i = 0; i < e->n; i++) {
            if (i) text_add(t, ", ");
            c_expr(t, e->in[i], w);
        }
        text_add(t, ")");
    }
}
