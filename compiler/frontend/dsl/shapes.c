// Shapes written in the description: `x: [T, hidden_size]`, `[.., N]`, `int[T]`. Each dimension is
// an expression that must agree with the value's; a name that starts with a capital letter and has
// no value yet takes the dimension it meets.
#include <ctype.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "frontend/dsl/foreign_syntax.h"

static bool is_open_name(const Elaborator *e, const Ast *x) {
    return x->kind == AST_NAME && isupper((unsigned char)*x->name) &&
           !variable_find(e->frame, x->name) && !file_find(e->frame->file, x->name);
}

static bool is_wildcard(const Ast *x) { return x->kind == AST_NAME && !strcmp(x->name, "_"); }

typedef struct Match {
    Elaborator *e;
    const Ast *type;
    const Type *have;
    const char *what;
    Loc at;
} Match;

// The shape in the description with its values: "[T, hidden_size] = [T, 192]".
static const char *shape_text(const Match *m) {
    Elaborator *e = m->e;
    const Source *s = m->type->loc.source;
    const char *written =
                   arena_strndup(e->arena, s->text + m->type->loc.offset, m->type->loc.length),
               *values = "";
    for (const Ast *d = m->type->list; d; d = d->next) {
        bool open = d->kind == AST_REST || is_wildcard(d) || is_open_name(e, d);
        const char *text = d->kind == AST_REST ? ".."
                           : open              ? d->name
                                               : value_text(e, evaluate(e, d));
        values = arena_printf(e->arena, "%s%s%s", values, *values ? ", " : "", text);
    }
    const char *spelled = arena_printf(e->arena, "[%s]", values), *bracket = strchr(written, '[');
    return bracket && !strcmp(bracket, spelled)
               ? written
               : arena_printf(e->arena, "%s = %s", written, spelled);
}

static bool mismatch(const Match *m) {
    Elaborator *e = m->e;
    if (already_reported(e, m->at)) return false;
    const char *shape = shape_text(m);
    if (!already_reported(e, m->at))
        report(e, m->at, "%s is %s, the description says %s", m->what, type_text(m->have), shape);
    return false;
}

// A dimension written as an expression. An unknown lower-case name was meant as an open dimension.
static Value evaluate_dim(Elaborator *e, const Ast *x) {
    bool known = x->kind != AST_NAME || variable_find(e->frame, x->name) ||
                 file_find(e->frame->file, x->name);
    if (known || config_has(e, x->name) || !islower((unsigned char)*x->name)) return evaluate(e, x);
    const char *near = nearest_visible(e, x->name, false);
    if (near) return evaluate(e, x);
    return report(
        e, x->loc,
        "unknown name \"%s\"\nhint: a dimension of any size begins with a capital letter: %c%s",
        x->name, toupper((unsigned char)*x->name), x->name + 1);
}

static bool match_dim(const Match *m, const Ast *x, const Dim *have) {
    Elaborator *e = m->e;
    if (is_wildcard(x)) return true;
    if (is_open_name(e, x)) return variable_set(e, x->name, value_of_size(e, have)), true;
    Value v = evaluate_dim(e, x);
    const Dim *want = v.kind == V_ERROR ? NULL : want_dim(e, v, x->loc, "a dimension");
    if (!want) return false;
    return want == have || mismatch(m);
}

static bool match_dims(const Match *m) {
    int written = ast_count(m->type->list), rests = 0, axis = 0, rank = m->have->rank;
    for (const Ast *d = m->type->list; d; d = d->next) rests += d->kind == AST_REST;
    if (rests > 1) return report(m->e, m->type->loc, "a shape can have one \"..\" only"), false;
    if (rests ? written - 1 > rank : written != rank) return mismatch(m);
    for (const Ast *d = m->type->list; d; d = d->next) {
        if (d->kind == AST_REST)
            axis += rank - (written - 1);
        else if (!match_dim(m, d, m->have->dim[axis++]))
            return false;
    }
    return true;
}

static const char *const SCALARS[] = {"int", "float", "bool", "string", "list", "any"};

static bool match_scalar(Elaborator *e, const Ast *type, Value v, const char *what, Loc at) {
    const bool fits[] = {v.kind == V_INT,    value_is_number(v), v.kind == V_BOOL,
                         v.kind == V_STRING, v.kind == V_LIST,   true};
    enum { N = sizeof SCALARS / sizeof *SCALARS };
    for (int i = 0; i < N; i++) {
        if (strcmp(type->name, SCALARS[i])) continue;
        if (!fits[i])
            report(e, at, "%s must be of type %s, it is %s", what, type->name, value_text(e, v));
        return fits[i];
    }
    const char *near = nearest_name(type->name, SCALARS, N),
               *habit = habit_of(type->name, strlen(type->name));
    const char *kinds = "a type is int, float, bool, string, list, any or a shape: [T, N]";
    report(e, type->loc, "unknown type \"%s\"\nhint: %s%s", type->name,
           habit  ? habit
           : near ? "did you mean "
                  : kinds,
           near && !habit ? near : "");
    return false;
}

// int, float and bool are the element types that programs use.
static bool element_type(Elaborator *e, const Ast *type, DType *t) {
    static const char *const names[] = {"int", "float", "bool"};
    static const DType dtypes[] = {DT_i32, DT_f32, DT_bool};
    for (int i = 0; i < 3; i++)
        if (!strcmp(type->name, names[i])) return *t = dtypes[i], true;
    if (dtype_parse(type->name, t) && *t < DT_string) return true;
    const char *habit = habit_of(type->name, strlen(type->name));
    report(e, type->loc, "unknown element type \"%s\"\nhint: %s", type->name,
           habit ? habit : "int, float, bool, or f32, f16, bf16, i32, i64 ...");
    return false;
}

bool match_type(Elaborator *e, const Ast *type, Value v, const char *what, Loc at) {
    if (v.kind == V_ERROR) return false;
    if (!type->number) return match_scalar(e, type, v, what, at);
    if (!want_tensor(e, v, at, what)) return false;
    DType t;
    if (type->name && !element_type(e, type, &t)) return false;
    Match m = {e, type, &v.node->type, what, at};
    if (type->name && t != v.node->type.dtype) return mismatch(&m);
    return match_dims(&m);
}

// ------------------------------------------------------------------------------------ graph inputs
// `T <= max_position_embeddings`, or a new name: a symbol, of at most a million positions whatever
// more a model was trained for (LLaMA 4 Scout: ten). Anything else: a dimension known now.
static const Dim *input_dim(Elaborator *e, const Ast *x, int64_t *context) {
    bool bounded = x->kind == AST_LE && is_open_name(e, x->a);
    const Ast *name = bounded ? x->a : x;
    if (!bounded && !is_open_name(e, x))
        return x->kind == AST_REST ? NULL : want_dim(e, evaluate_dim(e, x), x->loc, "a dimension");
    Value bound = bounded ? evaluate(e, x->b) : VALUE(V_NULL);
    int64_t upper = DEFAULT_POSITIONS;
    if (bound.kind != V_NULL) {
        if (!want_int(e, bound, x->b->loc, "the bound of a dimension", &upper)) return NULL;
        if (upper < 1) {
            report(e, x->b->loc, "the bound of %s is %s, it must be at least 1", name->name,
                   value_text(e, bound));
            return NULL;
        }
        if (upper > DEFAULT_POSITIONS) upper = DEFAULT_POSITIONS;
        *context = upper;
    }
    const Dim *symbol = dim_symbol(e->graph, name->name, 1, upper);
    variable_set(e, name->name, value_of_dim(symbol));
    return symbol;
}

bool graph_input_type(Elaborator *e, const Ast *type, Type *result, int64_t *context) {
    DType t = DT_f32;
    const Dim *dims[MAX_RANK];
    int rank = 0;
    if (type->name && !element_type(e, type, &t)) return false;
    for (const Ast *d = type->list; d; d = d->next, rank++) {
        if (rank == MAX_RANK)
            return report(e, type->loc, "a tensor has at most %d axes", MAX_RANK), false;
        if (d->kind == AST_REST)
            return report(e, d->loc, "an input has a fixed number of axes"), false;
        if (!(dims[rank] = input_dim(e, d, context))) return false;
    }
    *result = type_of(t, rank, dims);
    return true;
}
