// The nodes of a graph, function or body, each after its operands: the file's order if that is
// valid.
#include <string.h>

#include "frontend/onnx/scope.h"

static const char *given(const char *name) { return name && *name ? name : NULL; }

Loc onnx_node_loc(const OnnxImport *m, const BurinOnnx__Operation *p, size_t index) {
    const char *name = given(p->name)                 ? p->name
                       : p->n_output && *p->output[0] ? p->output[0]
                                                      : p->op_type;
    if (m->path) name = arena_printf(m->graph->arena, "%s%s", m->path, name);
    return (Loc){.source = &m->model->file->source, .offset = (uint32_t)index, .scope = name};
}

// ---------------------------------------------------------------------------------------- one node
static void check_operands(const OnnxCall *c, const OnnxOp *op) {
    int given = onnx_count(c), least = op->min_in, most = op->max_in;
    if (c->opset < op->since)
        onnx_fatal(c,
                   "exists since opset %lld, but the model imports %lld\nhint: the exporter wrote "
                   "a wrong opset_import",
                   (long long)op->since, (long long)c->opset);
    if (given >= least && (most < 0 || given <= most)) return;
    const char *range = most < 0        ? " or more"
                        : most == least ? ""
                                        : arena_printf(c->graph->arena, " to %d", most);
    onnx_fatal(c, "has %d operands, expected %d%s", given, least, range);
}

static void name_results(OnnxCall *c, const Node *before) {
    for (size_t i = 0; i < c->proto->n_output; i++) {
        const char *name = c->proto->output[i];
        OnnxValue *v = *name ? map_get(&c->import->values, name) : NULL;
        if (v && v->node && v->node != before && v->node->loc.offset == c->loc.offset &&
            v->node->loc.scope == c->loc.scope)
            node_set_name(v->node, name);
    }
}

static void import_node(OnnxImport *m, const BurinOnnx__Operation *p, size_t index) {
    OnnxCall c = {.import = m,
                  .graph = m->graph,
                  .proto = p,
                  .loc = onnx_node_loc(m, p, index),
                  .opset = onnx_scope_opset(m, p->domain)};
    const BurinOnnx__Function *function = onnx_function(m->model, p);
    Node *before = m->graph->last;
    onnx_count_node(&c);
    if (function) {
        onnx_call_function(&c, function);
        return;
    }
    const OnnxOp *op = onnx_op_find(p);
    check_operands(&c, op);
    onnx_check_call(&c, op);
    onnx_check_operands(&c, op);
    op->handler(&c, op->argument);
    name_results(&c, before);
    for (size_t i = 0; i < p->n_output; i++)
        if (*p->output[i] && !map_get(&m->values, p->output[i]))
            onnx_fatal(&c, "its result %zu (%s) is not supported", i, p->output[i]);
}

// ------------------------------------------------------------------------------------------- order
typedef struct Order {
    OnnxImport *import;
    BurinOnnx__Operation *const *node;
    Map made;  // name -> index + 1 of the node that computes it
    enum { WAITING, ENTERED, DONE } * state;
} Order;

static size_t maker_of(const Order *o, const char *name) {
    uintptr_t index = (uintptr_t)map_get(&o->made, name);
    return index ? index - 1 : SIZE_MAX;
}

// A name that the node or a body inside it uses and that another node, not done yet, computes.
static size_t needed_by_body(const Order *o, const BurinOnnx__GraphBody *g);

static size_t needed_by(const Order *o, const BurinOnnx__Operation *p) {
    for (size_t i = 0; i < p->n_input; i++) {
        size_t maker = *p->input[i] ? maker_of(o, p->input[i]) : SIZE_MAX;
        if (maker != SIZE_MAX && o->state[maker] != DONE) return maker;
    }
    for (size_t i = 0; i < p->n_attribute; i++) {
        size_t maker = p->attribute[i]->g ? needed_by_body(o, p->attribute[i]->g) : SIZE_MAX;
        if (maker != SIZE_MAX) return maker;
    }
    return SIZE_MAX;
}

static size_t needed_by_body(const Order *o, const BurinOnnx__GraphBody *g) {
    for (size_t i = 0; i < g->n_node; i++) {
        size_t maker = needed_by(o, g->node[i]);
        if (maker != SIZE_MAX && o->state[maker] == WAITING) return maker;
    }
    return SIZE_MAX;
}

// Depth first, with a stack of its own: a file may be one long chain written backwards.
static void import_from(Order *o, size_t first, size_t *stack) {
    size_t depth = 0;
    stack[depth++] = first;
    while (depth) {
        size_t at = stack[depth - 1], needed;
        o->state[at] = ENTERED;
        needed = needed_by(o, o->node[at]);
        if (needed == SIZE_MAX) {
            import_node(o->import, o->node[at], at);
            o->state[at] = DONE;
            depth--;
        } else if (o->state[needed] == ENTERED) {
            diag_fatal(onnx_node_loc(o->import, o->node[at], at),
                       "the graph has a cycle through %s\nhint: the file is damaged",
                       o->node[needed]->output[0]);
        } else {
            stack[depth++] = needed;
        }
    }
}

static void check_single_assignment(Order *o, size_t n) {
    OnnxImport *m = o->import;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < o->node[i]->n_output; j++) {
            const char *name = o->node[i]->output[j];
            if (!*name) continue;
            if (map_get(&o->made, name) || map_get(&m->values, name))
                diag_fatal(onnx_node_loc(m, o->node[i], i),
                           "the value %s is computed twice\nhint: the file is damaged", name);
            map_put(&o->made, name, (void *)(uintptr_t)(i + 1));
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < o->node[i]->n_input; j++) {
            const char *name = o->node[i]->input[j];
            if (*name && !map_get(&o->made, name) && !onnx_value(m, name))
                diag_fatal(onnx_node_loc(m, o->node[i], i),
                           "nothing computes %s, operand %zu of %s\nhint: the file is damaged",
                           name, j, o->node[i]->op_type);
        }
}

// -------------------------------------------------------------------- bytes of two computed values
// The first byte operand of a product, among the first two; 2: it is no product of bytes
static int first_bytes(const BurinOnnx__Operation *p) {
    if (p->n_input >= 2 && !strcmp(p->op_type, "DynamicQuantizeMatMul")) return 1;
    return p->n_input >= 2 && (!strcmp(p->op_type, "MatMulInteger") ||
                               !strcmp(p->op_type, "MatMulIntegerToFloat"))
               ? 0
               : 2;
}

static bool is_quantized_here(const Order *o, const char *name) {
    size_t maker = *name ? maker_of(o, name) : SIZE_MAX;
    return maker != SIZE_MAX && !strcmp(o->node[maker]->op_type, "DynamicQuantizeLinear") &&
           !strcmp(o->node[maker]->output[0], name);
}

// A product of two values, each in bytes by its range (attention's, where ONNX Runtime's quantizer
// was not told to leave them): its sums run over tokens, of which each has a range of its own in a
// text. So both stay floats, unless another operator reads their bytes.
static void find_float_products(const Order *o, size_t n) {
    Map *found = &o->import->in_floats;
    map_init(found, o->import->graph->arena);
    for (size_t i = 0; i < n; i++) {
        const BurinOnnx__Operation *p = o->node[i];
        int first = first_bytes(p);
        if (first == 2 || !is_quantized_here(o, p->input[first]) ||
            !is_quantized_here(o, p->input[1]))
            continue;
        for (int j = first; j < 2; j++) map_put(found, p->input[j], o->node[i]);
    }
    for (size_t i = 0; i < n; i++)
        for (int j = 0; j < (int)o->node[i]->n_input; j++) {
            bool multiplies = j < 2 && j >= first_bytes(o->node[i]);
            if (!multiplies && map_get(found, o->node[i]->input[j]))
                map_put(found, o->node[i]->input[j], NULL);
        }
}

bool onnx_stays_float(const OnnxImport *m, const char *name) {
    return m->text && map_get(&m->in_floats, name);
}

void onnx_import_nodes(OnnxImport *m, size_t n, BurinOnnx__Operation *const *nodes) {
    Order o = {.import = m, .node = nodes};
    o.state = arena_alloc(m->graph->arena, (n + 1) * sizeof *o.state);
    size_t *stack = ARENA_ARRAY(m->graph->arena, size_t, n + 1);
    map_init(&o.made, m->graph->arena);
    check_single_assignment(&o, n);
    if (m->text) find_float_products(&o, n);
    for (size_t i = 0; i < n; i++)
        if (o.state[i] != DONE) import_from(&o, i, stack);
}
