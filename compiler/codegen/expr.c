// Formulas in C over vectors of sixteen lanes: mul(silu($0), $1) becomes vf_mul(vf_silu(a), b).
//
// A value is of one of three classes: floats (vf), 32-bit integers (vi), truth (vm). Constants take
// the class of the operands beside them.
#include "codegen/emit.h"

// The class of the operands of an op (of the choices of `where`): that of the first one that is not
// a constant.
static VectorClass operand_class(const Expr *e, const ExprWriter *w) {
    for (int i = e->op == OP_where; i < e->n; i++)
        if (e->in[i]->kind != EXPR_CONST) return c_expr_class(e->in[i], w);
    return CLASS_FLOAT;
}

VectorClass c_expr_class(const Expr *e, const ExprWriter *w) {
    if (e->kind == EXPR_ARG) return w->class_of(e->arg, w->user);
    if (e->kind == EXPR_CONST) return CLASS_FLOAT;
    return op_is_comparison(e->op) || op_is_logical(e->op) ? CLASS_TRUTH : operand_class(e, w);
}

static void write_typed(Text *t, const Expr *e, const ExprWriter *w, VectorClass class);

static void write_operands(Text *t, const Expr *e, const ExprWriter *w, VectorClass class) {
    for (int i = 0; i < e->n; i++) {
        if (i) text_add(t, ", ");
        write_typed(t, e->in[i], w, e->op == OP_where && i == 0 ? CLASS_TRUTH : class);
    }
    text_add(t, ")");
}

// Integers have less and equal only.
static void write_comparison(Text *t, const Expr *e, const ExprWriter *w, VectorClass class) {
    bool swap = e->op == OP_greater || e->op == OP_less_or_equal,
         negate = e->op == OP_less_or_equal || e->op == OP_greater_or_equal;
    if (class == CLASS_FLOAT) {
        text_add(t, "vf_%s(", op_info[e->op].scalar);
        write_operands(t, e, w, class);
        return;
    }
    text_add(t, negate ? "vf_not(vi_%s(" : "vi_%s(", e->op == OP_equal ? "equal" : "less");
    for (int i = 0; i < 2; i++) {
        if (i) text_add(t, ", ");
        if (class == CLASS_TRUTH) text_add(t, "vi_from_mask(");
        write_typed(t, e->in[swap ? !i : i], w, class);
        if (class == CLASS_TRUTH) text_add(t, ")");
    }
    text_add(t, negate ? "))" : ")");
}

static void write_op(Text *t, const Expr *e, const ExprWriter *w) {
    VectorClass class = op_is_logical(e->op) ? CLASS_TRUTH : operand_class(e, w);
    if (op_is_comparison(e->op)) {
        write_comparison(t, e, w, class);
    } else if (e->op == OP_where && class == CLASS_TRUTH) {
        text_add(t, "vm_from_int(vi_where(");
        write_typed(t, e->in[0], w, CLASS_TRUTH);
        for (int i = 1; i < 3; i++)
            text_add(t, ", vi_from_mask("), write_typed(t, e->in[i], w, CLASS_TRUTH),
                text_add(t, ")");
        text_add(t, "))");
    } else if (e->op == OP_relu && class == CLASS_INTEGER) {
        text_add(t, "vi_max("), write_typed(t, e->in[0], w, class), text_add(t, ", vi_set1(0))");
    } else {
        text_add(t, "%s_%s(", class == CLASS_INTEGER ? "vi" : "vf", op_info[e->op].scalar);
        write_operands(t, e, w, class);
    }
}

static void write_typed(Text *t, const Expr *e, const ExprWriter *w, VectorClass class) {
    if (e->kind == EXPR_ARG) {
        w->arg(t, e->arg, w->user);
    } else if (e->kind == EXPR_OP) {
        write_op(t, e, w);
    } else if (class == CLASS_FLOAT) {
        text_add(t, "vf_set1("), c_float(t, e->value), text_add(t, ")");
    } else {
        text_add(t, class == CLASS_INTEGER ? "vi_set1(%d)" : "vm_set1(%d)", (int)e->value);
    }
}

void c_expr(Text *t, const Expr *e, const ExprWriter *w) {
    write_typed(t, e, w, c_expr_class(e, w));
}
