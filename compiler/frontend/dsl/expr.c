// Expressions: one syntax over compile-time values (numbers, strings, lists, dimensions) and
// tensors. Operators over compile-time values are computed now; a tensor operand makes a node.
#include <string.h>

#include "frontend/dsl/elaborate.h"

// ------------------------------------------------------------------------------------------- names
static Value evaluate_name(Elaborator *e, const Ast *x) {
    Value *v = variable_find(e->frame, x->name);
    if (v) return *v;
    Declaration *d = file_find(e->frame->file, x->name);
    if (d && d->ast->kind == AST_ALIAS) return evaluate_name(e, d->ast->a);
    if (d && (d->ast->kind == AST_CONFIG || d->ast->kind == AST_DEFINITION))
        return config_value(e, d);
    static const char *const types[] = {"int", "float", "bool"};
    static const DType dtypes[] = {DT_i32, DT_f32, DT_bool};
    for (int i = 0; i < 3; i++)
        if (!strcmp(x->name, types[i])) return (Value){.kind = V_DTYPE, .dtype = dtypes[i]};
    DType t;
    if (dtype_parse(x->name, &t) && t < DT_string) return (Value){.kind = V_DTYPE, .dtype = t};
    if (!strcmp(x->name, "inf")) return VALUE_FLOAT(__builtin_inf());
    if (d) return report(e, x->loc, "\"%s\" is a block: call it, %s(...)", x->name, x->name);
    return report(e, x->loc, "unknown name \"%s\"%-s", x->name, unknown_name_hint(e, x));
}

static Value record_field(Elaborator *e, const Ast *x, Value record) {
    const char *fields = "";
    for (int i = 0; i < record.list.n; i++) {
        if (!strcmp(record.names[i], x->name)) return record.list.items[i];
        fields = arena_printf(e->arena, "%s%s%s", fields, i ? ", " : "", record.names[i]);
    }
    return report(e, x->loc, "this record has no field \"%s\", it has %s", x->name, fields);
}

// `text_config.hidden_size`, declared with a dot, when text_config itself is not.
static Value evaluate_field(Elaborator *e, const Ast *x) {
    bool plain = x->a->kind == AST_NAME && !variable_find(e->frame, x->a->name) &&
                 !file_find(e->frame->file, x->a->name);
    Declaration *d =
        plain ? config_find_dotted(e, arena_printf(e->arena, "%s.%s", x->a->name, x->name)) : NULL;
    if (d) return config_value(e, d);
    Value v = evaluate(e, x->a);
    return v.kind == V_RECORD ? record_field(e, x, v) : config_field(e, v, x->name, x->loc);
}

// ----------------------------------------------------------------------------------------- strings
static Value evaluate_string(Elaborator *e, const Ast *x) {
    const char *text = "";
    for (const Ast *p = x->list; p; p = p->next) {
        Value v = p->kind == AST_TEXT ? VALUE_STRING(p->name) : evaluate(e, p);
        if (v.kind == V_ERROR) return v;
        if (v.kind != V_STRING && v.kind != V_INT && v.kind != V_FLOAT && v.kind != V_BOOL)
            return report(e, p->loc, "%s cannot stand in a string", value_kind_name(v.kind));
        text = arena_printf(e->arena, "%s%s", text, v.kind == V_STRING ? v.s : value_text(e, v));
        if (strlen(text) > MAX_LIST) return report(e, x->loc, "this string is too long");
        spend(e, p->loc, strlen(text));
    }
    return VALUE_STRING(text);
}

// ------------------------------------------------------------------------------------------- lists
static Value evaluate_list(Elaborator *e, const Ast *x) {
    int n = ast_count(x->list), i = 0;
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    for (const Ast *p = x->list; p; p = p->next) {
        items[i] = evaluate(e, p);
        if (items[i++].kind == V_ERROR) return VALUE(V_ERROR);
    }
    return list_of(e, x->loc, items, n);
}

static Value evaluate_record(Elaborator *e, const Ast *x) {
    enum { MAX_FIELDS = 64 };
    int n = ast_count(x->list), i = 0;
    if (n > MAX_FIELDS)
        return report(e, x->loc, "a record of %d fields, at most %d are possible", n, MAX_FIELDS);
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    const char **names = ARENA_ARRAY(e->arena, const char *, n);
    for (const Ast *p = x->list; p; p = p->next, i++) {
        for (int k = 0; k < i; k++)
            if (!strcmp(names[k], p->name))
                return report(e, p->loc, "the field \"%s\" of a record is given twice", p->name);
        names[i] = p->name, items[i] = evaluate(e, p->a);
        if (items[i].kind == V_ERROR) return VALUE(V_ERROR);
    }
    Value v = list_of(e, x->loc, items, n);
    if (v.kind == V_LIST) v.kind = V_RECORD, v.names = names;
    return v;
}

static Value evaluate_each(Elaborator *e, const Ast *x) {
    Value over = evaluate(e, x->b), *outer = variable_find(e->frame, x->name),
          saved = outer ? *outer : VALUE(V_NULL);
    int64_t n = over.kind == V_LIST ? over.list.n : 0;
    if (over.kind != V_LIST && !want_int(e, over, x->b->loc, "what a list runs over", &n))
        return VALUE(V_ERROR);
    if (n < 0 || n > MAX_LIST)
        return report(e, x->b->loc, "a list of %lld elements is too long", (long long)n);
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    for (int i = 0; i < n; i++) {
        variable_set(e, x->name, over.kind == V_LIST ? over.list.items[i] : VALUE_INT(i));
        items[i] = evaluate(e, x->a);
        if (items[i].kind == V_ERROR) return VALUE(V_ERROR);
    }
    if (n) variable_set(e, x->name, saved);
    return list_of(e, x->loc, items, (int)n);
}

// A part of a list or of a string.
static Value value_range(Elaborator *e, const Ast *x, Value v) {
    int n = v.kind == V_LIST ? v.list.n : (int)strlen(v.s);
    int64_t begin = 0, end = n;
    if (x->a && !want_int(e, evaluate(e, x->a), x->a->loc, "a bound of a range", &begin))
        return VALUE(V_ERROR);
    if (x->b && !want_int(e, evaluate(e, x->b), x->b->loc, "a bound of a range", &end))
        return VALUE(V_ERROR);
    if (begin < 0) begin += n;
    if (end < 0) end += n;
    if (begin < 0 || end > n || begin > end)
        return report(e, x->loc, "this range is outside of %s of %d", value_kind_name(v.kind), n);
    if (v.kind == V_STRING)
        return VALUE_STRING(arena_strndup(e->arena, v.s + begin, (size_t)(end - begin)));
    return (Value){.kind = V_LIST, .list = {v.list.items + begin, (int)(end - begin)}};
}

static Value evaluate_index(Elaborator *e, const Ast *x) {
    Value v = evaluate(e, x->a);
    if (v.kind == V_TENSOR) return tensor_index(e, x, v);
    if (v.kind == V_ERROR) return v;
    if (v.kind == V_STRING && x->list->kind == AST_RANGE && !x->list->next)
        return value_range(e, x->list, v);
    if (v.kind != V_LIST)
        return report(e, x->loc, "only tensors and lists have elements, this is %s",
                      value_kind_name(v.kind));
    if (x->list->next || x->list->kind == AST_REST)
        return report(e, x->loc, "a list takes one index");
    if (x->list->kind == AST_RANGE) return value_range(e, x->list, v);
    int64_t i;
    if (!want_int(e, evaluate(e, x->list), x->list->loc, "an index", &i)) return VALUE(V_ERROR);
    if (i < -v.list.n || i >= v.list.n)
        return report(e, x->list->loc, "index %lld of a list of %d", (long long)i, v.list.n);
    return v.list.items[i < 0 ? i + v.list.n : i];
}

// --------------------------------------------------------------------------------------- operators
static Op tensor_operator(AstKind k) {
    switch (k) {
        case AST_ADD:
            return OP_add;
        case AST_SUB:
            return OP_sub;
        case AST_MUL:
            return OP_mul;
        case AST_DIV:
            return OP_div;
        case AST_MOD:
            return OP_mod;
        case AST_POWER:
            return OP_pow;
        case AST_EQ:
            return OP_equal;
        case AST_LT:
            return OP_less;
        case AST_LE:
            return OP_less_or_equal;
        case AST_GT:
            return OP_greater;
        case AST_GE:
            return OP_greater_or_equal;
        default:
            return OP_COUNT;
    }
}

static Value tensor_binary(Elaborator *e, const Ast *x, Value a, Value b) {
    Value both[] = {a, b};
    if (a.kind == V_ERROR || b.kind == V_ERROR) return VALUE(V_ERROR);
    bool square = x->kind == AST_POWER && b.kind == V_INT && b.i == 2;
    if (square) return tensor_op(e, OP_mul, x->loc, (Value[]){a, a}, 2);
    if (x->kind == AST_NE) {
        Value equal = tensor_op(e, OP_equal, x->loc, both, 2);
        return equal.kind == V_ERROR ? equal : tensor_op(e, OP_not, x->loc, &equal, 1);
    }
    if (x->kind == AST_FLOORDIV) {
        Value quotient = tensor_op(e, OP_div, x->loc, both, 2);
        bool exact = quotient.kind == V_ERROR || !dtype_is_float(quotient.node->type.dtype);
        return exact ? quotient : tensor_op(e, OP_floor, x->loc, &quotient, 1);
    }
    Op op = tensor_operator(x->kind);
    return op == OP_COUNT ? report(e, x->loc, "this operator does not take tensors")
                          : tensor_op(e, op, x->loc, both, 2);
}

static Value evaluate_binary(Elaborator *e, const Ast *x) {
    Value a = evaluate(e, x->a), b = evaluate(e, x->b);
    if (x->kind == AST_MATMUL) return tensor_matmul(e, x->loc, a, b);
    bool is_null =
        (x->kind == AST_EQ || x->kind == AST_NE) && (a.kind == V_NULL || b.kind == V_NULL);
    if (is_null) return compare(e, x, a, b);
    if (a.kind == V_TENSOR || b.kind == V_TENSOR) return tensor_binary(e, x, a, b);
    return x->kind >= AST_EQ ? compare(e, x, a, b) : arithmetic(e, x, a, b);
}

// `and` and `or` look at the right operand only when the left one does not decide.
static Value evaluate_logic(Elaborator *e, const Ast *x) {
    Value a = evaluate(e, x->a);
    bool first, second;
    if (a.kind == V_TENSOR)
        return tensor_op(e, x->kind == AST_AND ? OP_and : OP_or, x->loc,
                         (Value[]){a, evaluate(e, x->b)}, 2);
    if (!want_bool(e, a, x->a->loc, "the left operand", &first)) return VALUE(V_ERROR);
    if (first == (x->kind == AST_OR)) return VALUE_BOOL(first);
    Value b = evaluate(e, x->b);
    return want_bool(e, b, x->b->loc, "the right operand", &second) ? VALUE_BOOL(second)
                                                                    : VALUE(V_ERROR);
}

static Value evaluate_not(Elaborator *e, const Ast *x) {
    Value a = evaluate(e, x->a);
    bool truth;
    if (a.kind == V_TENSOR) return tensor_op(e, OP_not, x->loc, &a, 1);
    return want_bool(e, a, x->a->loc, "the operand of not", &truth) ? VALUE_BOOL(!truth)
                                                                    : VALUE(V_ERROR);
}

static Value evaluate_negative(Elaborator *e, const Ast *x) {
    Value a = evaluate(e, x->a);
    if (a.kind == V_TENSOR) return tensor_op(e, OP_neg, x->loc, &a, 1);
    return a.kind == V_FLOAT
               ? VALUE_FLOAT(-a.f)
               : arithmetic(e, &(Ast){.kind = AST_SUB, .loc = x->loc}, VALUE_INT(0), a);
}

static Value evaluate_choice(Elaborator *e, const Ast *x) {
    bool truth;
    if (!want_bool(e, evaluate(e, x->a), x->a->loc, "a condition", &truth)) return VALUE(V_ERROR);
    return evaluate(e, truth ? x->b : x->c);
}

static Value evaluate_coalesce(Elaborator *e, const Ast *x) {
    Value a = evaluate(e, x->a);
    return a.kind == V_NULL ? evaluate(e, x->b) : a;
}

// ------------------------------------------------------------------------------------------- calls
bool evaluate_scope(Elaborator *e, const Ast *scope, const char **joined) {
    const char *name = "";
    *joined = e->scope;
    if (scope && !want_string(e, evaluate(e, scope), scope->loc, "a scope", &name)) return false;
    *joined = scope_join(e, e->scope, name);
    return true;
}

static Value evaluate_call(Elaborator *e, const Ast *x) {
    Declaration *d = file_find_block(e->frame->file, x->name);
    if (d) return call_block(e, d, x);
    if (!strcmp(x->name, "scan")) return call_scan(e, x);
    const Builtin *b = builtin_find(x->name);
    if (b) return builtin_call(e, b, x);
    const char *advice = unknown_block_hint(e, x->name);
    if (file_find(e->frame->file, x->name) || variable_find(e->frame, x->name))
        return report(e, x->loc, "\"%s\" is not a block, it cannot be called%-s", x->name, advice);
    return report(e, x->loc, "unknown block \"%s\"%-s", x->name, advice);
}

Value evaluate(Elaborator *e, const Ast *x) {
    if (++e->steps > MAX_STEPS) {
        report(e, x->loc, "this description takes more than %d steps", MAX_STEPS);
        diag_stop();
    }
    switch (x->kind) {
        case AST_NAME:
            return evaluate_name(e, x);
        case AST_INT:
            return VALUE_INT(x->integer);
        case AST_FLOAT:
            return VALUE_FLOAT(x->number);
        case AST_STRING:
            return evaluate_string(e, x);
        case AST_TRUE:
            return VALUE_BOOL(true);
        case AST_FALSE:
            return VALUE_BOOL(false);
        case AST_NULL:
            return VALUE(V_NULL);
        case AST_LIST:
            return evaluate_list(e, x);
        case AST_RECORD:
            return evaluate_record(e, x);
        case AST_EACH:
            return evaluate_each(e, x);
        case AST_CALL:
            return evaluate_call(e, x);
        case AST_FIELD:
            return evaluate_field(e, x);
        case AST_INDEX:
            return evaluate_index(e, x);
        case AST_CHOOSE:
            return evaluate_choice(e, x);
        case AST_COALESCE:
            return evaluate_coalesce(e, x);
        case AST_AND:
        case AST_OR:
            return evaluate_logic(e, x);
        case AST_NOT:
            return evaluate_not(e, x);
        case AST_NEG:
            return evaluate_negative(e, x);
        case AST_TRANSPOSE:
            return tensor_transpose_last(e, evaluate(e, x->a), x->loc);
        default:
            return evaluate_binary(e, x);
    }
}
