// Functions that are not written in the language: one row each in BUILTINS with its parameters, and
// every elementwise op of ops.def. On numbers they compute now, on tensors they make nodes.
#include <math.h>
#include <string.h>

#include "frontend/card.h"
#include "frontend/dsl/elaborate.h"

enum { MAX_PARAMETERS = 7, MAX_BUILTINS = 128 };

struct Builtin {
    const char *name;
    int required;
    const char *parameters[MAX_PARAMETERS];
    Value (*run)(Elaborator *, Loc, const Value *arguments);
    Op op;  // of an elementwise op
};

// An axis, counted from the end when negative; `standard` when it is not given.
static bool read_axis(Elaborator *e, Value v, Loc at, int rank, int *axis) {
    int64_t i;
    if (!want_int(e, v, at, "axis", &i)) return false;
    if (i < -rank || i >= rank)
        return report(e, at,
                      "axis %lld of a tensor of %d axes\nhint: they count from 0, or from -1 "
                      "backwards",
                      (long long)i, rank),
               false;
    *axis = (int)(i < 0 ? i + rank : i);
    return true;
}

static Value or_else(Value v, Value standard) { return v.kind == V_NULL ? standard : v; }

// -------------------------------------------------------------------------------------- reductions
static Value reduce(Elaborator *e, Op op, Loc at, const Value *a) {
    bool keep;
    if (!want_tensor(e, a[0], at, "the operand") ||
        !want_bool(e, or_else(a[2], VALUE_BOOL(true)), at, "keepdims", &keep))
        return VALUE(V_ERROR);
    Value last = VALUE_INT(-1), axes = or_else(a[1], (Value){.kind = V_LIST, .list = {&last, 1}});
    if (axes.kind == V_INT) axes = (Value){.kind = V_LIST, .list = {&a[1], 1}};
    if (axes.kind != V_LIST || axes.list.n > MAX_RANK)
        return report(e, at, "axes must be a list of at most %d axes", MAX_RANK);
    int64_t list[MAX_RANK];
    for (int i = 0, axis; i < axes.list.n; i++) {
        if (!read_axis(e, axes.list.items[i], at, a[0].node->type.rank, &axis))
            return VALUE(V_ERROR);
        list[i] = axis;
    }
    return tensor_value(
        build_reduce(tensor_builder(e, at), op, a[0].node, list, axes.list.n, keep));
}

static Value run_reduce_sum(Elaborator *e, Loc at, const Value *a) {
    return reduce(e, OP_reduce_sum, at, a);
}
static Value run_reduce_mean(Elaborator *e, Loc at, const Value *a) {
    return reduce(e, OP_reduce_mean, at, a);
}
static Value run_reduce_max(Elaborator *e, Loc at, const Value *a) {
    return reduce(e, OP_reduce_max, at, a);
}
static Value run_reduce_min(Elaborator *e, Loc at, const Value *a) {
    return reduce(e, OP_reduce_min, at, a);
}
static Value run_reduce_prod(Elaborator *e, Loc at, const Value *a) {
    return reduce(e, OP_reduce_prod, at, a);
}

static Value run_softmax(Elaborator *e, Loc at, const Value *a) {
    int axis;
    if (!want_tensor(e, a[0], at, "the operand of softmax") ||
        !read_axis(e, or_else(a[1], VALUE_INT(-1)), at, a[0].node->type.rank, &axis))
        return VALUE(V_ERROR);
    return tensor_value(build_softmax(tensor_builder(e, at), a[0].node, axis));
}

// ------------------------------------------------------------------------------------------- views
static Value shaped(Elaborator *e, bool expands, Loc at, const Value *a) {
    const Dim *dims[MAX_RANK];
    int rank;
    if (!want_tensor(e, a[0], at, "the operand") ||
        !want_dims(e, a[1], at, "the shape", dims, &rank))
        return VALUE(V_ERROR);
    return tensor_value(
        (expands ? build_expand : build_reshape)(tensor_builder(e, at), a[0].node, rank, dims));
}

static Value run_reshape(Elaborator *e, Loc at, const Value *a) { return shaped(e, false, at, a); }
static Value run_expand(Elaborator *e, Loc at, const Value *a) { return shaped(e, true, at, a); }

static Value run_transpose(Elaborator *e, Loc at, const Value *a) {
    int64_t perm[MAX_RANK];
    if (!want_tensor(e, a[0], at, "the operand of transpose")) return VALUE(V_ERROR);
    if (a[1].kind != V_LIST || a[1].list.n != a[0].node->type.rank)
        return report(e, at, "transpose needs a list of all %d axes in their new order",
                      a[0].node->type.rank);
    for (int i = 0; i < a[1].list.n; i++)
        if (!want_int(e, a[1].list.items[i], at, "an axis", &perm[i])) return VALUE(V_ERROR);
    return tensor_value(build_transpose(tensor_builder(e, at), a[0].node, perm));
}

static Value run_concat(Elaborator *e, Loc at, const Value *a) {
    if (a[0].kind != V_LIST || !a[0].list.n)
        return report(e, at, "concat needs a list of tensors\nhint: concat([a, b], axis = -1)");
    int n = a[0].list.n, axis;
    Node **in = ARENA_ARRAY(e->arena, Node *, n);
    for (int i = 0; i < n; i++) {
        if (!want_tensor(e, a[0].list.items[i], at, "an operand of concat")) return VALUE(V_ERROR);
        in[i] = a[0].list.items[i].node;
    }
    if (!read_axis(e, or_else(a[1], VALUE_INT(-1)), at, in[0]->type.rank, &axis))
        return VALUE(V_ERROR);
    return tensor_value(build_concat(tensor_builder(e, at), n, in, axis));
}

// split(x, 3): three equal parts; split(x, [a, b]): parts of these extents.
static Value run_split(Elaborator *e, Loc at, const Value *a) {
    int axis, n;
    if (!want_tensor(e, a[0], at, "the operand of split") ||
        !read_axis(e, or_else(a[2], VALUE_INT(-1)), at, a[0].node->type.rank, &axis))
        return VALUE(V_ERROR);
    const Dim *size = a[0].node->type.dim[axis], *start = dim_const(e->graph, 0);
    bool equal = a[1].kind == V_INT;
    if (!equal && a[1].kind != V_LIST)
        return report(e, at, "split needs a number of parts, or a list of their extents");
    if (equal && (a[1].i < 1 || a[1].i > MAX_LIST ||
                  !dim_divides(e->graph, dim_const(e->graph, a[1].i), size)))
        return report(e, at,
                      "%s does not split into %s equal parts\nhint: split(x, [a, b]) has parts of "
                      "these extents",
                      value_text(e, value_of_dim(size)), value_text(e, a[1]));
    n = equal ? (int)a[1].i : a[1].list.n;
    Value *parts = ARENA_ARRAY(e->arena, Value, n);
    for (int i = 0; i < n; i++) {
        const Dim *extent = equal ? dim_binary(e->graph, DIM_FLOORDIV, size, dim_const(e->graph, n))
                                  : want_dim(e, a[1].list.items[i], at, "an extent");
        parts[i] = extent ? tensor_slice(e, a[0], at, axis, start, extent) : VALUE(V_ERROR);
        if (parts[i].kind != V_TENSOR) return VALUE(V_ERROR);
        start = dim_binary(e->graph, DIM_ADD, start, extent);
    }
    if (start != size)
        return report(e, at, "the parts of split add up to %s, the axis has %s",
                      value_text(e, value_of_dim(start)), value_text(e, value_of_dim(size)));
    return (Value){.kind = V_LIST, .list = {parts, n}};
}

// --------------------------------------------------------------------------- indices and constants
static Value run_gather(Elaborator *e, Loc at, const Value *a) {
    int axis;
    if (!want_tensor(e, a[0], at, "the table of gather") ||
        !want_tensor(e, a[1], at, "the index of gather"))
        return VALUE(V_ERROR);
    if (dtype_is_float(a[1].node->type.dtype))
        return report(e, at,
                      "the index of gather must be integers, it is %s\nhint: an input of ids is "
                      "tokens: int[T]",
                      type_text(&a[1].node->type));
    if (!read_axis(e, or_else(a[2], VALUE_INT(0)), at, a[0].node->type.rank, &axis))
        return VALUE(V_ERROR);
    return tensor_value(build_gather(tensor_builder(e, at), a[0].node, a[1].node, axis));
}

static Value run_gather_elements(Elaborator *e, Loc at, const Value *a) {
    int axis;
    if (!want_tensor(e, a[0], at, "the table of gather_elements") ||
        !want_tensor(e, a[1], at, "the index of gather_elements") ||
        !read_axis(e, or_else(a[2], VALUE_INT(0)), at, a[0].node->type.rank, &axis))
        return VALUE(V_ERROR);
    Builder b = tensor_builder(e, at);
    Node *n = build_begin(b, OP_gather_elements, 2, (Node *[]){a[0].node, a[1].node});
    attr_set_int(n, "axis", axis);
    return tensor_value(build_end(b, n));
}

static Value run_iota(Elaborator *e, Loc at, const Value *a) {
    const Dim *dims[MAX_RANK];
    int rank, axis;
    if (!want_dims(e, a[0], at, "the shape of iota", dims, &rank) ||
        !read_axis(e, or_else(a[1], VALUE_INT(0)), at, rank, &axis))
        return VALUE(V_ERROR);
    return tensor_value(build_iota(tensor_builder(e, at), rank, dims, axis));
}

static Value run_cast(Elaborator *e, Loc at, const Value *a) {
    if (!want_tensor(e, a[0], at, "the operand of cast")) return VALUE(V_ERROR);
    if (a[1].kind != V_DTYPE) return report(e, at, "cast needs an element type: cast(x, float)");
    return tensor_cast(e, a[0], a[1].dtype, at);
}

// A list of numbers as a constant f32 (or i32 when all are integers), of rank 1.
static Value run_tensor(Elaborator *e, Loc at, const Value *a) {
    if (a[0].kind != V_LIST) return report(e, at, "tensor needs a list of numbers");
    int n = a[0].list.n;
    float *data = arena_alloc(e->graph->arena, (size_t)n * sizeof *data + 1);
    for (int i = 0; i < n; i++) {
        if (!value_is_number(a[0].list.items[i]))
            return report(e, at, "tensor needs a list of numbers, element %d is %s", i,
                          value_text(e, a[0].list.items[i]));
        if (!isfinite(value_number(a[0].list.items[i])))
            return report(e, at, "number %d of a tensor is %s, it must be finite", i,
                          value_text(e, a[0].list.items[i]));
        data[i] = (float)value_number(a[0].list.items[i]);
    }
    Tensor *t = ARENA_NEW(e->graph->arena, Tensor);
    *t = (Tensor){
        .dtype = DT_f32, .rank = 1, .dim = {n}, .data = data, .bytes = (uint64_t)n * sizeof *data};
    return (Value){.kind = V_TENSOR, .node = node_constant(e->graph, t, place(e, at), NULL)};
}

static Value run_weight(Elaborator *e, Loc at, const Value *a) {
    const char *name;
    bool stored;
    if (!want_string(e, a[0], at, "the name of a weight", &name)) return VALUE(V_ERROR);
    if (!want_bool(e, or_else(a[2], VALUE_BOOL(false)), at, "stored", &stored))
        return VALUE(V_ERROR);
    return weight_value(e, at, name, a[1], stored);
}

static Value run_for_weight(Elaborator *e, Loc at, const Value *a) {
    const char *name;
    if (!want_tensor(e, a[0], at, "the rows") ||
        !want_string(e, a[1], at, "the name of a weight", &name))
        return VALUE(V_ERROR);
    return rows_for_weight(e, at, a[0], name);
}

static Value run_has_weight(Elaborator *e, Loc at, const Value *a) {
    const char *name;
    return want_string(e, a[0], at, "the name of a weight", &name)
               ? VALUE_BOOL(weight_exists(e, name))
               : VALUE(V_ERROR);
}

// The sentence for `fail`: "hidden_act": "xielu" is not supported by llama.burin.
static Value run_unsupported(Elaborator *e, Loc at, const Value *a) {
    (void)at;
    const char *field = a[0].path ? arena_printf(e->arena, "\"%s\": ", a[0].path) : "";
    return VALUE_STRING(arena_printf(e->arena, "%s%s is not supported by %s", field,
                                     value_text(e, a[0]), description_name(e)));
}

static Value run_has_config(Elaborator *e, Loc at, const Value *a) {
    const char *name;
    return want_string(e, a[0], at, "the name of a parameter", &name)
               ? VALUE_BOOL(config_has(e, name))
               : VALUE(V_ERROR);
}

// -------------------------------------------------------------------------- questions about values
static Value run_shape(Elaborator *e, Loc at, const Value *a) {
    if (!want_tensor(e, a[0], at, "the operand of shape")) return VALUE(V_ERROR);
    Value dims[MAX_RANK];
    for (int i = 0; i < a[0].node->type.rank; i++) dims[i] = value_of_dim(a[0].node->type.dim[i]);
    return value_list(e, dims, a[0].node->type.rank);
}

static Value run_length(Elaborator *e, Loc at, const Value *a) {
    if (a[0].kind == V_STRING) return VALUE_INT((int64_t)strlen(a[0].s));
    if (a[0].kind == V_OBJECT) return VALUE_INT((int64_t)json_object_size(a[0].object));
    return a[0].kind == V_LIST
               ? VALUE_INT(a[0].list.n)
               : report(e, at, "only lists, objects and strings have a length, this is %s",
                        value_kind_name(a[0].kind));
}

static Value run_int(Elaborator *e, Loc at, const Value *a) {
    if (a[0].kind == V_BOOL) return VALUE_INT(a[0].b);
    if (a[0].kind == V_INT) return a[0];
    bool fits = a[0].kind == V_FLOAT && a[0].f > -0x1p53 && a[0].f < 0x1p53;
    return fits ? VALUE_INT((int64_t)a[0].f)
                : report(e, at, "%s cannot become an integer", value_text(e, a[0]));
}

// picture_size(image_size, 224): [rows, columns] of the network's pictures: a parameter that is
// null or one number, else what preprocessor_config.json makes, else the standard.
static Value run_picture_size(Elaborator *e, Loc at, const Value *a) {
    int64_t sides[2];
    if (a[0].kind == V_LIST && a[0].list.n == 2) return a[0];
    const Checkpoint *c = e->options->checkpoint;
    const bool found = a[0].kind == V_NULL && c && c->folder &&
                       picture_size_of_folder(c->folder, &sides[0], &sides[1]);
    if (!found) {
        if (!want_int(e, or_else(a[0], a[1]), at, "the size of pictures", &sides[0]))
            return VALUE(V_ERROR);
        sides[1] = sides[0];
    }
    return value_list(e, (Value[]){VALUE_INT(sides[0]), VALUE_INT(sides[1])}, 2);
}

static const Builtin BUILTINS[] = {
    {"softmax", 1, {"x", "axis"}, run_softmax, OP_COUNT},
    {"reduce_sum", 1, {"x", "axes", "keepdims"}, run_reduce_sum, OP_COUNT},
    {"reduce_mean", 1, {"x", "axes", "keepdims"}, run_reduce_mean, OP_COUNT},
    {"reduce_max", 1, {"x", "axes", "keepdims"}, run_reduce_max, OP_COUNT},
    {"reduce_min", 1, {"x", "axes", "keepdims"}, run_reduce_min, OP_COUNT},
    {"reduce_prod", 1, {"x", "axes", "keepdims"}, run_reduce_prod, OP_COUNT},
    {"reshape", 2, {"x", "shape"}, run_reshape, OP_COUNT},
    {"expand", 2, {"x", "shape"}, run_expand, OP_COUNT},
    {"transpose", 2, {"x", "axes"}, run_transpose, OP_COUNT},
    {"concat", 1, {"parts", "axis"}, run_concat, OP_COUNT},
    {"pad", 2, {"x", "padding", "value"}, run_pad, OP_COUNT},
    {"sliding_windows", 2, {"x", "kernel", "stride", "dilation"}, run_sliding_windows, OP_COUNT},
    {"convolve",
     2,
     {"x", "weights", "stride", "padding", "dilation", "groups"},
     run_convolve,
     OP_COUNT},
    {"convolve_transposed",
     2,
     {"x", "weights", "stride", "padding", "output_padding", "dilation", "groups"},
     run_convolve_transposed,
     OP_COUNT},
    {"split", 2, {"x", "parts", "axis"}, run_split, OP_COUNT},
    {"gather", 2, {"table", "index", "axis"}, run_gather, OP_COUNT},
    {"gather_elements", 2, {"table", "index", "axis"}, run_gather_elements, OP_COUNT},
    {"iota", 1, {"shape", "axis"}, run_iota, OP_COUNT},
    {"cast", 2, {"x", "to"}, run_cast, OP_COUNT},
    {"tensor", 1, {"numbers"}, run_tensor, OP_COUNT},
    {"weight", 2, {"name", "shape", "stored"}, run_weight, OP_COUNT},
    {"for_weight", 2, {"x", "weight"}, run_for_weight, OP_COUNT},
    {"has_weight", 1, {"name"}, run_has_weight, OP_COUNT},
    {"unsupported", 1, {"value"}, run_unsupported, OP_COUNT},
    {"has_config", 1, {"name"}, run_has_config, OP_COUNT},
    {"shape", 1, {"x"}, run_shape, OP_COUNT},
    {"length", 1, {"x"}, run_length, OP_COUNT},
    {"int", 1, {"x"}, run_int, OP_COUNT},
    {"picture_size", 2, {"size", "standard"}, run_picture_size, OP_COUNT},
};
enum { N_BUILTINS = sizeof BUILTINS / sizeof *BUILTINS };

// ------------------------------------------------------------------------------------------- calls
const Builtin *builtin_find(const char *name) {
    static const char *const operands[MAX_PARAMETERS] = {"a", "b", "c"};
    static Builtin elementwise[OP_COUNT];
    for (int i = 0; i < N_BUILTINS; i++)
        if (!strcmp(BUILTINS[i].name, name)) return &BUILTINS[i];
    Op op;
    if (!op_find(name, &op) || !op_is_elementwise(op)) return NULL;
    Builtin *b = &elementwise[op];
    *b = (Builtin){.name = op_info[op].name, .required = op_least(op), .op = op};
    memcpy(b->parameters, operands, (size_t)op_most(op) * sizeof *operands);
    return b;
}

const char *const *builtin_names(int *n) {
    static const char *names[N_BUILTINS + OP_COUNT];
    int count = 0;
    for (int i = 0; i < N_BUILTINS; i++) names[count++] = BUILTINS[i].name;
    for (Op op = 0; op < OP_COUNT; op++)
        if (op_is_elementwise(op)) names[count++] = op_info[op].name;
    *n = count;
    return names;
}

static int count_parameters(const Builtin *b) {
    int n = 0;
    while (n < MAX_PARAMETERS && b->parameters[n]) n++;
    return n;
}

static int parameter_index(const Builtin *b, const char *name) {
    for (int i = 0; i < MAX_PARAMETERS && b->parameters[i]; i++)
        if (!strcmp(b->parameters[i], name)) return i;
    return -1;
}

static const char *builtin_hint(Elaborator *e, const Builtin *b) {
    return call_hint(e, b->name, b->parameters, count_parameters(b));
}

static bool read_arguments(Elaborator *e, const Builtin *b, const Ast *call, Value *arguments) {
    int n = 0, most = count_parameters(b);
    bool ok = true, given[MAX_PARAMETERS] = {false};
    for (const Ast *a = call->list; a; a = a->next) {
        int i = a->name ? parameter_index(b, a->name) : n++;
        if (i < 0)
            return report(e, a->loc, "%s has no parameter \"%s\"%-s", b->name, a->name,
                          builtin_hint(e, b)),
                   false;
        if (i >= most)
            return report(e, call->loc, "%s takes %d arguments, here are %d%-s", b->name, most,
                          ast_count(call->list), builtin_hint(e, b)),
                   false;
        if (given[i])
            return report(e, a->loc, "the argument \"%s\" of %s is given twice", b->parameters[i],
                          b->name),
                   false;
        given[i] = true;
        arguments[i] = evaluate(e, a->a);
        ok = ok && arguments[i].kind != V_ERROR;
    }
    for (int i = 0; i < b->required; i++)
        if (!given[i])
            return report(e, call->loc, "%s lacks its argument \"%s\"%-s", b->name,
                          b->parameters[i], builtin_hint(e, b)),
                   false;
    return ok;
}

static Value run_elementwise(Elaborator *e, const Builtin *b, Loc at, const Value *arguments) {
    bool tensors = false;
    for (int i = 0; i < b->required; i++) tensors = tensors || arguments[i].kind == V_TENSOR;
    return tensors ? tensor_op(e, b->op, at, arguments, b->required)
                   : scalar_function(e, b->op, at, arguments, b->required);
}

Value builtin_call(Elaborator *e, const Builtin *b, const Ast *call) {
    Value arguments[MAX_PARAMETERS];
    for (int i = 0; i < MAX_PARAMETERS; i++) arguments[i] = VALUE(V_NULL);
    const char *outer = e->scope, *scope;
    if (!read_arguments(e, b, call, arguments) || !evaluate_scope(e, call->b, &scope))
        return VALUE(V_ERROR);
    e->scope = scope;
    Value v =
        b->run ? b->run(e, call->loc, arguments) : run_elementwise(e, b, call->loc, arguments);
    e->scope = outer;
    return v;
}
