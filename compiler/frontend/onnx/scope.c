// Names and their values: the main graph, the body of a function, a body inside a node (of If,
// Loop, Scan).
//
// A function is expanded where it is called: its operands are bound to its formal names, its
// attributes are those of the call. A body sees the outer names. Both become nodes of the same
// graph.
#include "frontend/onnx/scope.h"

#include <string.h>

#include "frontend/onnx/body.h"

enum { MOST_NODES = 200000, DEEPEST = 64 };

OnnxValue *onnx_value(OnnxImport *m, const char *name) {
    OnnxValue *v = map_get(&m->values, name);
    if (v || !m->outer) return v;
    v = onnx_value(m->outer, name);
    if (!v || m->graph == m->outer->graph) return v;
    v = onnx_body_take(m->body, v);
    map_put(&m->values, name, v);
    return v;
}

OnnxValue *onnx_new_value(OnnxImport *m, const char *name) {
    OnnxValue *v = ARENA_NEW(m->graph->arena, OnnxValue);
    if (*name) map_put(&m->values, name, v);
    return v;
}

static const char *text_or(const char *text, const char *absent) { return text ? text : absent; }

// The function whose text is being read, or NULL.
static const OnnxImport *function_frame(const OnnxImport *m) {
    while (m && !m->function) m = m->outer;
    return m;
}

bool onnx_in_function(const OnnxImport *m) { return function_frame(m); }

int64_t onnx_scope_opset(const OnnxImport *m, const char *domain) {
    const OnnxImport *frame = function_frame(m);
    if (!frame) return onnx_opset(m->model, domain);
    for (size_t i = 0; i < frame->function->n_opset_import; i++) {
        const BurinOnnx__OperatorSet *o = frame->function->opset_import[i];
        if (!strcmp(onnx_domain(o->domain), onnx_domain(domain))) return o->version;
    }
    return onnx_opset(m->model, domain);
}

const BurinOnnx__Function *onnx_function(const OnnxModel *model, const BurinOnnx__Operation *p) {
    for (size_t i = 0; i < model->proto->n_functions; i++) {
        const BurinOnnx__Function *f = model->proto->functions[i];
        if (f->name && p->op_type && !strcmp(f->name, p->op_type) &&
            !strcmp(onnx_domain(f->domain), onnx_domain(p->domain)) &&
            !strcmp(text_or(f->overload, ""), text_or(p->overload, "")))
            return f;
    }
    return NULL;
}

// -------------------------------------------------------------------------------------- attributes
static const BurinOnnx__Attribute *attribute_named(size_t n, BurinOnnx__Attribute *const *all,
                                                   const char *name) {
    for (size_t i = 0; i < n; i++)
        if (all[i]->name && !strcmp(all[i]->name, name)) return all[i];
    return NULL;
}

// In a function, "ref_attr_name" refers to an attribute of the call, or its default, or nothing.
const BurinOnnx__Attribute *onnx_resolve(const OnnxImport *m, const BurinOnnx__Attribute *a) {
    if (!a || !a->ref_attr_name || !*a->ref_attr_name) return a;
    const OnnxImport *frame = function_frame(m);
    if (!frame) return NULL;
    const BurinOnnx__Attribute *given = onnx_attribute(frame->caller, a->ref_attr_name);
    const BurinOnnx__Function *f = frame->function;
    return given ? given
                 : attribute_named(f->n_attribute_proto, f->attribute_proto, a->ref_attr_name);
}

const BurinOnnx__Attribute *onnx_attribute(const OnnxCall *c, const char *name) {
    return onnx_resolve(c->import,
                        attribute_named(c->proto->n_attribute, c->proto->attribute, name));
}

// --------------------------------------------------------------------------------------- functions
static bool function_has_attribute(const BurinOnnx__Function *f, const char *name) {
    for (size_t i = 0; i < f->n_attribute; i++)
        if (!strcmp(f->attribute[i], name)) return true;
    return attribute_named(f->n_attribute_proto, f->attribute_proto, name);
}

static void check_function_call(const OnnxCall *c, const BurinOnnx__Function *f) {
    const BurinOnnx__Operation *p = c->proto;
    if (p->n_input > f->n_input || p->n_output > f->n_output)
        onnx_fatal(c,
                   "has %zu operands and %zu results, the model's function takes %zu and gives %zu",
                   p->n_input, p->n_output, f->n_input, f->n_output);
    for (size_t i = 0; i < p->n_attribute; i++)
        if (p->attribute[i]->name && !function_has_attribute(f, p->attribute[i]->name))
            onnx_fatal(c, "the model's function has no attribute %s", p->attribute[i]->name);
    for (size_t i = 0; i < f->n_attribute; i++)
        if (!onnx_attribute(c, f->attribute[i]))
            onnx_fatal(c, "its attribute %s is missing", f->attribute[i]);
}

OnnxImport onnx_inner_scope(const OnnxCall *c, const char *what) {
    OnnxImport inner = *c->import;
    inner.outer = c->import, inner.caller = c, inner.function = NULL, inner.depth++;
    inner.path = arena_printf(c->graph->arena, "%s/", c->loc.scope ? c->loc.scope : "");
    map_init(&inner.values, c->graph->arena);
    if (inner.depth > DEEPEST)
        onnx_fatal(
            c,
            "%s is more than %d deep in functions and bodies\nhint: does a function call itself?",
            what, DEEPEST);
    return inner;
}

// Loops and functions that are written out must end, and fit in memory.
void onnx_count_node(const OnnxCall *c) {
    if (++*c->import->n_nodes > MOST_NODES)
        onnx_fatal(c,
                   "more than %d nodes once functions and loops are written out\nhint: export "
                   "smaller loops",
                   MOST_NODES);
}

void onnx_call_function(OnnxCall *c, const BurinOnnx__Function *f) {
    static OnnxValue absent = {.absent = true};
    OnnxImport body = onnx_inner_scope(c, "this function");
    check_function_call(c, f);
    body.outer = NULL, body.function = f;
    for (size_t i = 0; i < f->n_input; i++) {
        OnnxValue *given = onnx_operand(c, (int)i);
        if (map_get(&body.values, f->input[i]))
            onnx_fatal(c, "the model's function takes %s twice", f->input[i]);
        map_put(&body.values, f->input[i], given ? given : &absent);
    }
    onnx_import_nodes(&body, f->n_node, f->node);
    for (size_t i = 0; i < c->proto->n_output; i++) {
        OnnxValue *v = onnx_value(&body, f->output[i]);
        if (!v)
            onnx_fatal(c, "nothing in the model's function computes its result %s", f->output[i]);
        onnx_result_value(c, (int)i, v);
    }
}

// ------------------------------------------------------------------------------------------ bodies
const BurinOnnx__GraphBody *onnx_body(const OnnxCall *c, const char *name) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    if (!a || !a->g)
        onnx_fatal(c,
                   "its attribute %s is missing (a graph)\nhint: the file is damaged, or its "
                   "exporter is wrong",
                   name);
    return a->g;
}

void onnx_write_out(OnnxCall *c, const BurinOnnx__GraphBody *g, OnnxValue *const *operands,
                    OnnxValue **results) {
    OnnxImport body = onnx_inner_scope(c, "this body");
    onnx_write_in(&body, c, g, operands, results);
}

void onnx_write_in(OnnxImport *body, const OnnxCall *c, const BurinOnnx__GraphBody *g,
                   OnnxValue *const *operands, OnnxValue **results) {
    for (size_t i = 0; i < g->n_initializer; i++) onnx_add_initializer(body, g->initializer[i]);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        onnx_add_sparse(body, g->sparse_initializer[i]);
    for (size_t i = 0; i < g->n_input; i++) {
        const char *name = g->input[i]->name;
        if (!name || !*name || map_get(&body->values, name))
            onnx_fatal(c, "input %zu of its body has no name of its own\nhint: the file is damaged",
                       i);
        map_put(&body->values, name, operands[i]);
    }
    onnx_import_nodes(body, g->n_node, g->node);
    for (size_t i = 0; i < g->n_output; i++) {
        const char *name = g->output[i]->name;
        results[i] = name ? onnx_value(body, name) : NULL;
        if (!results[i])
            onnx_fatal(c, "nothing in its body computes %s\nhint: the file is damaged",
                       name ? name : "a result");
    }
}
