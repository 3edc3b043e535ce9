// ONNX graphs to the IR: inputs, constants, nodes in any order that has no cycle, outputs.
#include "frontend/onnx/import.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------------ messages
void onnx_fatal(const OnnxCall *c, const char *format, ...) {
    Text text = {0};
    text_add(&text, "%s: ", c->proto->op_type);
    va_list args;
    va_start(args, format);
    text_vadd(&text, format, args);
    va_end(args);
    const char *message = arena_strdup(c->import->model->arena, text.data);
    text_free(&text);
    diag_fatal(c->loc, "%s", message);
}

// ------------------------------------------------------------------------------------------------------------------- operands
int onnx_count(const OnnxCall *c) { return (int)c->proto->n_input; }

OnnxValue *onnx_operand(OnnxCall *c, int i) {
    if (i >= onnx_count(c) || !*c->proto->input[i]) return NULL;
    return map_get(&c->import->values, c->proto->input[i]);
}

static Node *elements_node(OnnxCall *c, const OnnxValue *v) {
    Type type = {.dtype = v->dtype, .rank = v->vector, .dim = {v->vector ? dim_const(c->graph, v->n) : NULL}};
    Node *n = node_make(c->graph, OP_size, c->loc, 0, NULL, NULL);
    attr_set_dims(n, "dims", v->elements, v->n);
    attr_set_int(n, "vector", v->vector);
    n = onnx_finish(c, n);
    return n->type.dtype == type.dtype ? n : onnx_cast(c, n, type.dtype);
}

Node *onnx_node(OnnxCall *c, int i) {
    OnnxValue *v = onnx_operand(c, i);
    if (!v) onnx_fatal(c, "operand %d is missing", i);
    if (!v->node) v->node = elements_node(c, v);
    return v->node;
}

Type onnx_type(OnnxCall *c, int i) {
    const OnnxValue *v = onnx_operand(c, i);
    if (!v) onnx_fatal(c, "operand %d is missing", i);
    if (v->node) return v->node->type;
    return (Type){.dtype = v->dtype, .rank = v->vector, .dim = {v->vector ? dim_const(c->graph, v->n) : NULL}};
}

enum { MAX_KNOWN = 1024 };  // elements of an integer constant that are worth knowing one by one

static int64_t integer_at(const Tensor *t, int64_t i) {
    switch (t->dtype) {
        case DT_i64: {
            int64_t x;
            memcpy(&x, (const char *)t->data + 8 * i, 8);
            return x;
        }
        case DT_i32: {
            int32_t x;
            memcpy(&x, (const char *)t->data + 4 * i, 4);
            return x;
        }
        default:
            return ((const uint8_t *)t->data)[i];
    }
}

static void know_tensor(OnnxCall *c, OnnxValue *v, const Tensor *t) {
    if (!t || t->rank > 1 || (t->dtype != DT_i64 && t->dtype != DT_i32 && t->dtype != DT_bool)) return;
    int64_t n = tensor_count(t);
    if (n > MAX_KNOWN) return;
    const Dim **elements = ARENA_ARRAY(c->graph->arena, const Dim *, n ? n : 1);
    for (int64_t i = 0; i < n; i++) elements[i] = dim_const(c->graph, integer_at(t, i));
    v->elements = elements, v->n = (int)n, v->vector = t->rank == 1, v->dtype = t->dtype;
}

bool onnx_elements(OnnxCall *c, int i, const Dim *const **elements, int *n) {
    OnnxValue *v = onnx_operand(c, i);
    if (!v) return false;
    if (!v->elements) know_tensor(c, v, v->node ? v->node->value : NULL);
    *elements = v->elements, *n = v->n;
    return v->elements;
}

const Dim *const *onnx_need_elements(OnnxCall *c, int i, int *n, const char *what) {
    const Dim *const *elements;
    bool is_known = onnx_elements(c, i, &elements, n);
    if (!is_known) {  // for this use alone: elsewhere it stays what it is
        OnnxValue v = {0};
        know_tensor(c, &v, onnx_known(c, i));
        elements = v.elements, *n = v.n, is_known = v.elements;
    }
    if (!is_known)
        onnx_fatal(
            c, "%s is computed from values that are only known at run time\nhint: fix the dimensions it depends on with --dim",
            what);
    return elements;
}

int64_t onnx_need_int(OnnxCall *c, int i, const char *what) {
    int n;
    int64_t value;
    const Dim *const *elements = onnx_need_elements(c, i, &n, what);
    if (n != 1 || !dim_is_const(elements[0], &value)) onnx_fatal(c, "%s must be one constant", what);
    return value;
}

// ------------------------------------------------------------------------------------------------------------------ attributes
const BurinOnnx__Attribute *onnx_attribute(const OnnxCall *c, const char *name) {
    for (size_t i = 0; i < c->proto->n_attribute; i++)
        if (c->proto->attribute[i]->name && !strcmp(c->proto->attribute[i]->name, name)) return c->proto->attribute[i];
    return NULL;
}

int64_t onnx_int(const OnnxCall *c, const char *name, int64_t absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_i ? a->i : absent;
}

double onnx_float(const OnnxCall *c, const char *name, double absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_f ? a->f : absent;
}

const char *onnx_string(const OnnxCall *c, const char *name, const char *absent) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    return a && a->has_s ? arena_strndup(c->graph->arena, (const char *)a->s.data, a->s.len) : absent;
}

const int64_t *onnx_ints(const OnnxCall *c, const char *name, int *n) {
    const BurinOnnx__Attribute *a = onnx_attribute(c, name);
    *n = a ? (int)a->n_ints : 0;
    return a ? a->ints : NULL;
}

int onnx_axis(const OnnxCall *c, int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) onnx_fatal(c, "axis %lld of a value of rank %d", (long long)axis, rank);
    return (int)(axis < 0 ? axis + rank : axis);
}

// --------------------------------------------------------------------------------------------------------------------- results
static const char *node_name_of(const char *name) { return name && *name ? name : NULL; }

static OnnxValue *new_value(OnnxImport *m, const char *name) {
    OnnxValue *v = ARENA_NEW(m->graph->arena, OnnxValue);
    if (*name) map_put(&m->values, name, v);
    return v;
}

void onnx_result(OnnxCall *c, int i, Node *n) {
    if (i >= (int)c->proto->n_output || !*c->proto->output[i]) return;
    new_value(c->import, c->proto->output[i])->node = n;
}

void onnx_result_elements(OnnxCall *c, int i, const Dim *const *elements, int n, bool vector, DType dtype) {
    if (i >= (int)c->proto->n_output || !*c->proto->output[i]) return;
    *new_value(c->import, c->proto->output[i]) = (OnnxValue){.elements = elements, .n = n, .vector = vector, .dtype = dtype};
}

Node *onnx_emit_make(OnnxCall *c, Op op, int n, Node *const *in) { return node_make(c->graph, op, c->loc, n, in, NULL); }

Node *onnx_finish(OnnxCall *c, Node *n) {
    (void)c;
    if (!node_infer(n)) diag_stop();
    return n;
}

Node *onnx_emit(OnnxCall *c, Op op, int n, Node *const *in) { return onnx_finish(c, onnx_emit_make(c, op, n, in)); }

Node *onnx_scalar(OnnxCall *c, DType t, double value) { return node_scalar(c->graph, t, value, c->loc, NULL); }

Node *onnx_constant(OnnxCall *c, const Tensor *t) { return node_constant(c->graph, t, c->loc, NULL); }

Node *onnx_reshape(OnnxCall *c, Node *x, const Type *shape) {
    Node *n = onnx_emit_make(c, OP_reshape, 1, &x);
    attr_set_dims(n, "shape", shape->dim, shape->rank);
    return onnx_finish(c, n);
}

Node *onnx_cast(OnnxCall *c, Node *x, DType to) {
    if (x->type.dtype == to) return x;
    Node *n = onnx_emit_make(c, OP_cast, 1, &x);
    attr_set_dtype(n, "to", to);
    return onnx_finish(c, n);
}

// ---------------------------------------------------------------------------------------------------------- inputs and
// constants
static const Dim *bounded_symbol(OnnxImport *m, const char *name) {
    for (int i = 0; i < m->options->n_dims; i++) {
        const OnnxDim *d = &m->options->dims[i];
        if (!strcmp(d->name, name))
            return d->lower == d->upper ? dim_const(m->graph, d->lower) : dim_symbol(m->graph, name, d->lower, d->upper);
    }
    return dim_symbol(m->graph, name, 1, ONNX_DEFAULT_BOUND);
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// dim_param: a name, or an expression of names ("s16 + s17"). Symbols are declared first, then the text is parsed.
static const Dim *named_dim(OnnxImport *m, const char *text) {
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (is_name_char(p[n])) n++;
        if (n && !isdigit((unsigned char)*p)) {
            const char *name = arena_strndup(m->graph->arena, p, n);
            const Dim *d = bounded_symbol(m, name);
            if (n == strlen(text)) return d;
        }
        p += n ? n : 1;
    }
    const char *end;
    const Dim *d = dim_parse(m->graph, text, &end);
    return d && !*end ? d : bounded_symbol(m, text);
}

static const Dim *dim_of(OnnxImport *m, const BurinOnnx__ValueInfo *info, const BurinOnnx__Shape__Dimension *d, size_t axis) {
    if (d->has_dim_value && d->dim_value >= 0) return dim_const(m->graph, d->dim_value);
    if (d->dim_param && *d->dim_param) return named_dim(m, d->dim_param);
    return bounded_symbol(m, arena_printf(m->graph->arena, "%s_%zu", info->name, axis));
}

static void add_input(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    Loc loc = {.source = &m->model->file->source, .scope = info->name};
    Type type = {0};
    if (!info->name || !*info->name) file_fatal(m->model->file, "an input of the graph has no name");
    if (map_get(&m->values, info->name)) {
        if (((OnnxValue *)map_get(&m->values, info->name))->node->op == OP_constant)
            return;  // ir_version 3: initializers are inputs too
        file_fatal(m->model->file, "two inputs are named %s", info->name);
    }
    if (!info->type || !info->type->tensor_type)
        file_fatal(m->model->file, "input %s is not a tensor\nhint: sequences, maps and optional values are not supported",
                   info->name);
    const BurinOnnx__ValueType__TensorOf *t = info->type->tensor_type;
    if (!onnx_dtype(t->elem_type, &type.dtype))
        file_fatal(m->model->file, "input %s: element type %d is not supported", info->name, t->elem_type);
    if (!t->shape) file_fatal(m->model->file, "input %s has no shape\nhint: export it with named dimensions", info->name);
    if (t->shape->n_dim > MAX_RANK)
        file_fatal(m->model->file, "input %s has %zu dimensions, at most %d are supported", info->name, t->shape->n_dim,
                   MAX_RANK);
    for (size_t i = 0; i < t->shape->n_dim; i++) type.dim[type.rank++] = dim_of(m, info, t->shape->dim[i], i);
    new_value(m, info->name)->node = graph_add_input(m->graph, info->name, type, loc);
}

static void add_initializer(OnnxImport *m, const BurinOnnx__TensorData *p) {
    if (!p->name || !*p->name) file_fatal(m->model->file, "an initializer has no name");
    if (map_get(&m->values, p->name)) file_fatal(m->model->file, "two initializers are named %s", p->name);
    Loc loc = {.source = &m->model->file->source, .scope = p->name};
    new_value(m, p->name)->node = node_constant(m->graph, onnx_tensor(m->model, p), loc, NULL);
}

// ----------------------------------------------------------------------------------------------------------------------- nodes
static Loc node_loc(const OnnxImport *m, const BurinOnnx__Operation *p, size_t index) {
    const char *name = node_name_of(p->name) ? p->name : p->n_output ? p->output[0] : p->op_type;
    return (Loc){.source = &m->model->file->source, .offset = (uint32_t)index, .scope = name};
}

static void import_node(OnnxImport *m, const BurinOnnx__Operation *p, size_t index) {
    OnnxCall c = {.import = m,
                  .graph = m->graph,
                  .proto = p,
                  .loc = node_loc(m, p, index),
                  .opset = onnx_opset(m->model, p->domain ? p->domain : "")};
    const OnnxOp *op = onnx_op_find(p->domain ? p->domain : "", p->op_type);
    if (c.opset < op->since)
        onnx_fatal(&c, "exists since opset %lld, but the model imports %lld\nhint: the exporter wrote a wrong opset_import",
                   (long long)op->since, (long long)c.opset);
    int least = op->min_in, most = op->max_in;
    if ((int)p->n_input < least || (most >= 0 && (int)p->n_input > most))
        onnx_fatal(&c, "has %zu operands, expected %d%s", p->n_input, least,
                   most < 0        ? " or more"
                   : most == least ? ""
                                   : arena_printf(m->graph->arena, " to %d", most));
    Node *before = m->graph->last;
    op->handler(&c, op->argument);
    for (size_t i = 0; i < p->n_output; i++) {
        OnnxValue *v = *p->output[i] ? map_get(&m->values, p->output[i]) : NULL;
        if (v && v->node && v->node != before && v->node->loc.offset == index) node_set_name(v->node, p->output[i]);
    }
}

// Every operator that is not known, once, with how often.
static void check_operators(const OnnxImport *m, const BurinOnnx__GraphBody *g) {
    Map counts;
    map_init(&counts, m->graph->arena);
    for (size_t i = 0; i < g->n_node; i++) {
        const BurinOnnx__Operation *p = g->node[i];
        const char *domain = p->domain ? p->domain : "";
        if (!p->op_type || !*p->op_type) diag_fatal(node_loc(m, p, i), "a node has no operator");
        if (onnx_op_find(domain, p->op_type)) continue;
        const char *key = arena_printf(m->graph->arena, "%s:%s", domain, p->op_type);
        map_put(&counts, key, (char *)map_get(&counts, key) + 1);
    }
    for (size_t i = 0; i < g->n_node; i++) {
        const BurinOnnx__Operation *p = g->node[i];
        const char *domain = p->domain ? p->domain : "", *key = arena_printf(m->graph->arena, "%s:%s", domain, p->op_type);
        uintptr_t n = (uintptr_t)map_get(&counts, key);
        if (!n) continue;
        map_put(&counts, key, NULL);
        diag_error(node_loc(m, p, i), "unknown operator %s of domain %s, opset %lld, in %llu node%s", p->op_type,
                   *domain ? domain : "ai.onnx", (long long)onnx_opset(m->model, domain), (unsigned long long)n,
                   n > 1 ? "s" : "");
    }
    diag_stop_if_errors();
}

// A node is ready when its operands are there. The file's order is kept; a file out of order takes more rounds.
static bool node_ready(const OnnxImport *m, const BurinOnnx__Operation *p, const char **missing) {
    for (size_t i = 0; i < p->n_input; i++)
        if (*p->input[i] && !map_get(&m->values, p->input[i])) return *missing = p->input[i], false;
    return true;
}

static void check_single_assignment(const OnnxImport *m, const BurinOnnx__GraphBody *g) {
    Map made;
    map_init(&made, m->graph->arena);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t j = 0; j < g->node[i]->n_output; j++) {
            const char *name = g->node[i]->output[j];
            if (!*name) continue;
            if (map_get(&made, name) || map_get(&m->values, name))
                diag_fatal(node_loc(m, g->node[i], i), "the value %s is computed twice", name);
            map_put(&made, name, g->node[i]);
        }
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t j = 0; j < g->node[i]->n_input; j++) {
            const char *name = g->node[i]->input[j];
            if (*name && !map_get(&made, name) && !map_get(&m->values, name))
                diag_fatal(node_loc(m, g->node[i], i), "nothing computes %s, operand %zu of %s", name, j, g->node[i]->op_type);
        }
}

static void import_nodes(OnnxImport *m, const BurinOnnx__GraphBody *g) {
    bool *done = ARENA_ARRAY(m->graph->arena, bool, g->n_node + 1);
    check_single_assignment(m, g);
    for (size_t left = g->n_node, before = left + 1; left;) {
        const char *missing = "";
        size_t stuck = 0;
        if (left == before)
            for (stuck = 0; done[stuck] || node_ready(m, g->node[stuck], &missing);) stuck++;
        if (left == before) diag_fatal(node_loc(m, g->node[stuck], stuck), "the graph has a cycle through %s", missing);
        before = left;
        for (size_t i = 0; i < g->n_node; i++) {
            if (done[i] || !node_ready(m, g->node[i], &missing)) continue;
            import_node(m, g->node[i], i);
            done[i] = true, left--;
        }
    }
}

static void add_output(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    OnnxValue *v = info->name ? map_get(&m->values, info->name) : NULL;
    if (!v) file_fatal(m->model->file, "nothing computes the output %s", info->name ? info->name : "(unnamed)");
    if (!v->node) {
        OnnxCall c = {.import = m, .graph = m->graph, .loc = loc_file(&m->model->file->source)};
        v->node = elements_node(&c, v);
    }
    graph_add_output(m->graph, v->node, info->name);
}

static const char *program_name(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = arena_strdup(arena, slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = 0;
    for (char *p = name; *p; p++) *p = (char)(isalnum((unsigned char)*p) ? tolower((unsigned char)*p) : '_');
    return isdigit((unsigned char)*name) ? arena_printf(arena, "_%s", name) : name;
}

Module *onnx_load(Arena *arena, const char *path, const OnnxOptions *options) {
    OnnxImport m = {.model = onnx_open(arena, path), .options = options, .graph = graph_new("main")};
    const BurinOnnx__GraphBody *g = m.model->proto->graph;
    map_init(&m.values, m.graph->arena);
    check_operators(&m, g);
    for (size_t i = 0; i < g->n_initializer; i++) add_initializer(&m, g->initializer[i]);
    for (size_t i = 0; i < g->n_input; i++) add_input(&m, g->input[i]);
    import_nodes(&m, g);
    if (!g->n_output) file_fatal(m.model->file, "the graph has no outputs");
    for (size_t i = 0; i < g->n_output; i++) add_output(&m, g->output[i]);
    graph_sweep(m.graph);
    Module *module = ARENA_NEW(arena, Module);
    *module = (Module){.arena = arena, .name = program_name(arena, path), .description = path, .n_graphs = 1, .bos = -1};
    module->graphs = ARENA_ARRAY(arena, Graph *, 1);
    module->graphs[0] = m.graph;
    return module;
}
