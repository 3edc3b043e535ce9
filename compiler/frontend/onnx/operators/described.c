// Operators that the description language writes (dsl/onnx): a block of the operator's name, its
// parameters the operands in their order, then attributes by name.
#include <string.h>

#include "frontend/dsl/formula.h"
#include "frontend/onnx/operators/compose.h"

static Elaborator *formulas(const OnnxCall *c) {
    OnnxModel *m = c->import->model;
    const char *library = c->import->options->library ? c->import->options->library : "dsl";
    if (!m->formulas)
        m->formulas = formulas_open(m->arena, library,
                                    arena_printf(m->arena, "%s/onnx/operators.burin", library));
    return m->formulas;
}

// Floats of 16 bits are computed in f32.
static Value operand_value(OnnxCall *c, Node *x) {
    return x ? (Value){.kind = V_TENSOR, .node = onnx_cast(c, x, onnx_wide(x->type.dtype))}
             : VALUE(V_NULL);
}

static Value integers_value(Arena *arena, const int64_t *list, size_t n) {
    Value *items = ARENA_ARRAY(arena, Value, n);
    for (size_t i = 0; i < n; i++) items[i] = VALUE_INT(list[i]);
    return (Value){.kind = V_LIST, .list = {items, (int)n}};
}

static Value attribute_value(const OnnxCall *c, const BurinOnnx__Attribute *a) {
    if (a->has_f) return VALUE_FLOAT(a->f);
    if (a->has_i) return VALUE_INT(a->i);
    if (a->has_s)
        return VALUE_STRING(arena_strndup(c->graph->arena, (const char *)a->s.data, a->s.len));
    return integers_value(c->graph->arena, a->ints, a->n_ints);
}

static Value call(OnnxCall *c, const char *name, const FormulaArgument *arguments, int n) {
    const Builder b = onnx_builder(c);
    return formula_call(formulas(c), &b, name, arguments, n);
}

static Value argument_value(OnnxCall *c, const OnnxArgument *a) {
    if (a->node) return operand_value(c, a->node);
    return a->list    ? integers_value(c->graph->arena, a->list, (size_t)a->n)
           : a->whole ? VALUE_INT(a->whole_number)
                      : VALUE_FLOAT(a->number);
}

// Results computed in f32 for a narrower float are rounded once, those for integers truncated.
static Node *as_narrow(OnnxCall *c, Node *x, DType narrow) {
    bool widened = x->type.dtype == onnx_wide(narrow) ||
                   (dtype_is_float(x->type.dtype) && !dtype_is_float(narrow));
    return widened ? onnx_cast(c, x, narrow) : x;
}

// The block's parameters beginning with `first`: those that the node has as attributes.
static int attribute_arguments(const OnnxCall *c, const Ast *first, FormulaArgument *arguments) {
    int n = 0;
    for (const Ast *p = first; p; p = p->next) {
        const BurinOnnx__Attribute *a = onnx_attribute(c, p->name);
        if (a) arguments[n++] = (FormulaArgument){p->name, attribute_value(c, a)};
    }
    return n;
}

static int result_nodes(Value v, Node **results) {
    int n = v.kind == V_MANY ? v.list.n : 1;
    for (int i = 0; i < n; i++) results[i] = (v.kind == V_MANY ? v.list.items[i] : v).node;
    return n;
}

int onnx_blocks(OnnxCall *c, const char *name, const OnnxArgument *given, Node **results) {
    FormulaArgument arguments[ONNX_MOST_OF_BLOCK];
    int n = 0;
    const Ast *p = formulas_block(formulas(c), name)->list;
    for (; given[n].node && !given[n].name; n++, p = p->next)
        arguments[n] = (FormulaArgument){p->name, operand_value(c, given[n].node)};
    for (; given[n].name; n++)
        arguments[n] = (FormulaArgument){given[n].name, argument_value(c, &given[n])};
    if (!strcmp(name, c->proto->op_type)) n += attribute_arguments(c, p, arguments + n);
    return result_nodes(call(c, name, arguments, n), results);
}

Node *onnx_block(OnnxCall *c, const char *name, const OnnxArgument *given) {
    Node *results[ONNX_MOST_OF_BLOCK];
    onnx_blocks(c, name, given, results);
    return as_narrow(c, results[0], given[0].node->type.dtype);
}

int onnx_described_results(OnnxCall *c, int operands, Node **results) {
    FormulaArgument arguments[ONNX_MOST_OF_BLOCK];
    int n = 0;
    const Ast *p = formulas_block(formulas(c), c->proto->op_type)->list;
    for (; n < operands; n++, p = p->next)
        arguments[n] = (FormulaArgument){p->name, operand_value(c, onnx_optional_node(c, n))};
    n += attribute_arguments(c, p, arguments + n);
    return result_nodes(call(c, c->proto->op_type, arguments, n), results);
}

void onnx_described(OnnxCall *c, int operands) {
    Node *results[ONNX_MOST_OF_BLOCK];
    int n = onnx_described_results(c, operands, results);
    for (int i = 0; i < n; i++) onnx_result(c, i, as_narrow(c, results[i], onnx_type(c, 0).dtype));
}

// The block that a recurrent operator's activation names, in any case.
const char *onnx_activation_block(OnnxCall *c, const char *name) {
    static const char *const known[] = {
        "Sigmoid",    "Tanh",        "Relu", "Affine",   "LeakyRelu", "ThresholdedRelu",
        "ScaledTanh", "HardSigmoid", "Elu",  "Softsign", "Softplus"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcasecmp(known[i], name)) return known[i];
    onnx_fatal(c, "unknown activation %s", name);
}

static bool has_parameter(const OnnxCall *c, const char *block, const char *name) {
    for (const Ast *p = formulas_block(formulas(c), block)->list; p; p = p->next)
        if (!strcmp(p->name, name)) return true;
    return false;
}

Node *onnx_activated(OnnxCall *c, const char *name, Node *x, const double *alpha,
                     const double *beta) {
    OnnxArgument arguments[4] = {{.node = x}};
    int n = 1;
    name = onnx_activation_block(c, name);
    if (alpha && has_parameter(c, name, "alpha"))
        arguments[n++] = (OnnxArgument){.name = "alpha", .number = *alpha};
    if (beta && has_parameter(c, name, "beta"))
        arguments[n++] = (OnnxArgument){.name = "beta", .number = *beta};
    return onnx_block(c, name, arguments);
}
