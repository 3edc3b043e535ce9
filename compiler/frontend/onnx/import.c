// ONNX models to the IR: dimensions, inputs, constants, outputs. Nodes are in nodes.c, bodies and
// functions in scope.c.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/scope.h"
#include "ir/convert.h"
#include "util/files.h"
#include "util/hash.h"

// ---------------------------------------------------------------------------- inputs and constants
const OnnxDim *onnx_find_dim(const OnnxOptions *o, const char *name) {
    const OnnxDim *first = NULL;
    for (int i = 0; i < o->n_dims; i++) {
        const OnnxDim *d = &o->dims[i];
        if (strcmp(d->name, name)) continue;
        if (d->used) *d->used = true;
        if (!first) first = d;
    }
    return first;
}

static bool is_name_char(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// A symbol is a word of the text form. Another name becomes one, and stays apart from others by its
// hash.
static const char *symbol_name(Arena *arena, const char *name) {
    enum { MOST = 64 };
    size_t n = strnlen(name, MOST), good = 0;
    while (good < n && is_name_char(name[good])) good++;
    if (good && !name[good] && !isdigit((unsigned char)*name)) return name;
    char *word = arena_printf(arena, "%s%.*s_%08x", isalpha((unsigned char)*name) ? "" : "s_",
                              (int)n, name, (unsigned)hash_bytes(name, strlen(name), 0));
    for (char *c = word; *c; c++)
        if (!is_name_char(*c)) *c = '_';
    return word;
}

static const Dim *bounded_symbol(OnnxImport *m, const char *given) {
    const char *name = symbol_name(m->graph->arena, given);
    const OnnxDim *d = onnx_find_dim(m->options, given);
    if (!d) d = onnx_find_dim(m->options, name);
    if (!d) return dim_symbol(m->graph, name, 1, ONNX_DEFAULT_BOUND);
    return d->lower == d->upper ? dim_const(m->graph, d->lower)
                                : dim_symbol(m->graph, name, d->lower, d->upper);
}

// dim_param: a name, or an expression of names ("s16 + s17"). Symbols are declared first, then the
// text is parsed, with numbers for those that are fixed.
static const Dim *named_dim(OnnxImport *m, const char *text) {
    Text numbers = {0};
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (is_name_char(p[n])) n++;
        if (!n || isdigit((unsigned char)*p)) {
            text_add(&numbers, "%.*s", (int)(n ? n : 1), p);
        } else {
            const Dim *d = bounded_symbol(m, arena_strndup(m->graph->arena, p, n));
            if (n == strlen(text)) return d;
            dim_print(&numbers, d);
        }
        p += n ? n : 1;
    }
    const char *end;
    const Dim *d = dim_parse(m->graph, numbers.data, &end);
    if (d && *end) d = NULL;
    text_free(&numbers);
    return d ? d : bounded_symbol(m, text);
}

static bool has_letter(const char *text) {
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || (unsigned char)*text >= 128) return true;
    return false;
}

const char *onnx_dim_name(Arena *arena, const BurinOnnx__ValueInfo *info, size_t axis) {
    const BurinOnnx__Shape__Dimension *d = info->type->tensor_type->shape->dim[axis];
    if (d->has_dim_value && d->dim_value >= 0) return NULL;
    bool named = d->dim_param &&
                 has_letter(d->dim_param);  // "?" is no name: each axis has a size of its own
    return named ? d->dim_param : arena_printf(arena, "%s_%zu", info->name, axis);
}

static const Dim *dim_of(OnnxImport *m, const BurinOnnx__ValueInfo *info,
                         const BurinOnnx__Shape__Dimension *d, size_t axis) {
    if (d->has_dim_value && d->dim_value >= 0) return dim_const(m->graph, d->dim_value);
    return named_dim(m, onnx_dim_name(m->graph->arena, info, axis));
}

Type onnx_input_type(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    Type type = {0};
    if (!info->type || !info->type->tensor_type)
        file_fatal(
            m->model->file,
            "input %s is not a tensor\nhint: sequences, maps and optional values are not supported",
            info->name);
    const BurinOnnx__ValueType__TensorOf *t = info->type->tensor_type;
    if (!onnx_dtype(t->elem_type, &type.dtype))
        file_fatal(m->model->file,
                   "input %s: element type %d is not supported\nhint: complex numbers and unknown "
                   "types are not read",
                   info->name, t->elem_type);
    if (!t->shape)
        file_fatal(m->model->file, "input %s has no shape\nhint: export it with named dimensions",
                   info->name);
    if (t->shape->n_dim > MAX_RANK)
        file_fatal(m->model->file,
                   "input %s has %zu dimensions, at most %d are supported\nhint: fold dimensions "
                   "before the export",
                   info->name, t->shape->n_dim, MAX_RANK);
    for (size_t i = 0; i < t->shape->n_dim; i++)
        type.dim[type.rank++] = dim_of(m, info, t->shape->dim[i], i);
    if (dim_upper(type_count(m->graph, &type)) > ONNX_MAX_ELEMENTS)
        file_fatal(m->model->file, "input %s: %s has too many elements\nhint: the file is damaged",
                   info->name, type_text(&type));
    return type;
}

// The value that --bind gives an input, as a constant; NULL: none.
static Node *bound_number(OnnxImport *m, const char *name, const Type *type, Loc loc) {
    const OnnxBind *bind = NULL;
    for (int i = 0; i < m->options->n_binds; i++) {
        const OnnxBind *b = &m->options->binds[i];
        if (b->is_number && !strcmp(b->name, name)) bind = b;
    }
    if (!bind) return NULL;
    Tensor *t = ARENA_NEW(m->graph->arena, Tensor);
    *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        if (!dim_is_const(type->dim[i], &t->dim[i]) || type->dtype == DT_string)
            diag_fatal(loc,
                       "--bind=%s=%g: the input is %s, expected numbers of constant sizes\nhint: "
                       "fix its sizes with --dim",
                       name, bind->value, type_text(type));
    }
    int64_t n = tensor_count(t);
    t->bytes = dtype_bytes(t->dtype, n);
    void *data = arena_alloc(m->graph->arena, t->bytes + 1);
    for (int64_t i = 0; i < n; i++) {
        dtype_store(t->dtype, data, i, bind->value);
    }
    if (n && dtype_load(t->dtype, data, 0) != bind->value)
        diag_fatal(loc, "--bind=%s=%g: %s cannot hold this number", name, bind->value,
                   dtype_name(t->dtype));
    t->data = data;
    return node_constant(m->graph, t, loc, NULL);
}

static void add_input(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    Loc loc = {.source = &m->model->file->source, .scope = info->name};
    if (!info->name || !*info->name)
        file_fatal(m->model->file, "an input of the graph has no name\nhint: the file is damaged");
    if (map_get(&m->values, info->name)) {
        const OnnxValue *v = map_get(&m->values, info->name);
        if (v->node && v->node->op == OP_constant)
            return;  // ir_version 3: initializers are inputs too
        file_fatal(m->model->file, "two inputs are named %s\nhint: the file is damaged",
                   info->name);
    }
    OnnxValue *list = onnx_list_input(m, info, loc);
    if (list) {
        map_put(&m->values, info->name, list);
        return;
    }
    Type type = onnx_input_type(m, info);
    Node *constant = bound_number(m, info->name, &type, loc);
    if (constant) {
        onnx_new_value(m, info->name)->node = constant;
        return;
    }
    Node *n = m->text ? onnx_text_input(m, info, type, loc)
                      : graph_add_input(m->graph, info->name, type, loc);
    if (!m->text) onnx_set_role(m->options, n);
    onnx_new_value(m, info->name)->node = n;
}

void onnx_add_initializer(OnnxImport *m, const BurinOnnx__TensorData *p) {
    if (!p->name || !*p->name)
        file_fatal(m->model->file, "an initializer has no name\nhint: the file is damaged");
    if (map_get(&m->values, p->name))
        file_fatal(m->model->file, "two initializers are named %s\nhint: the file is damaged",
                   p->name);
    Loc loc = {.source = &m->model->file->source, .scope = p->name};
    onnx_new_value(m, p->name)->node = node_constant(m->graph, onnx_tensor(m->model, p), loc, NULL);
}

Node *onnx_output_node(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    OnnxValue *v = info->name ? map_get(&m->values, info->name) : NULL;
    if (!v)
        file_fatal(m->model->file, "nothing computes the output %s\nhint: the file is damaged",
                   info->name ? info->name : "(unnamed)");
    OnnxCall c = {.import = m, .graph = m->graph, .loc = loc_file(&m->model->file->source)};
    return onnx_value_node(&c, v);
}

static void add_output(OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    const OnnxValue *v = info->name ? map_get(&m->values, info->name) : NULL;
    OnnxCall c = {.import = m, .graph = m->graph, .loc = loc_file(&m->model->file->source)};
    if (v && (v->is_sequence || v->is_nothing)) {
        onnx_list_output(&c, v, info->name);
        return;
    }
    Node *n = onnx_output_node(m, info);
    for (int i = 0; i < m->graph->n_outputs; i++)
        if (!strcmp(m->graph->output_names[i], info->name))
            file_fatal(m->model->file, "two outputs are named %s\nhint: the file is damaged",
                       info->name);
    graph_add_output(m->graph, n, info->name);
}

bool onnx_is_initializer(const OnnxModel *m, const char *name) {
    const BurinOnnx__GraphBody *g = m->proto->graph;
    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name && !strcmp(g->initializer[i]->name, name)) return true;
    return false;
}

void onnx_add_sparse(OnnxImport *m, const BurinOnnx__SparseTensorData *p) {
    const Tensor *t = onnx_dense(m->model, p);
    if (!t->name || !*t->name)
        file_fatal(m->model->file, "a sparse initializer has no name\nhint: the file is damaged");
    if (map_get(&m->values, t->name))
        file_fatal(m->model->file, "two initializers are named %s\nhint: the file is damaged",
                   t->name);
    Loc loc = {.source = &m->model->file->source, .scope = t->name};
    onnx_new_value(m, t->name)->node = node_constant(m->graph, t, loc, NULL);
}

static const char *program_name(Arena *arena, const char *path) {
    char *name = arena_strdup(arena, path_name(path)), *dot = strrchr(name, '.');
    if (dot && dot != name) *dot = 0;
    for (char *p = name; *p; p++)
        *p = (char)(isalnum((unsigned char)*p) ? tolower((unsigned char)*p) : '_');
    return isdigit((unsigned char)*name) ? arena_printf(arena, "_%s", name) : name;
}

void onnx_import_values(OnnxImport *m) {
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    m->n_nodes = ARENA_NEW(m->graph->arena, int64_t);
    m->known = ARENA_NEW(m->graph->arena, Map);
    map_init(m->known, m->graph->arena);
    map_init(&m->values, m->graph->arena);
    onnx_check_model(m);
    for (size_t i = 0; i < g->n_initializer; i++) onnx_add_initializer(m, g->initializer[i]);
    for (size_t i = 0; i < g->n_sparse_initializer; i++)
        onnx_add_sparse(m, g->sparse_initializer[i]);
    for (size_t i = 0; i < g->n_input; i++) add_input(m, g->input[i]);
    onnx_import_nodes(m, g->n_node, g->node);
    if (!m->text) onnx_check_declared(m, g->n_value_info, g->value_info);
    if (!m->text) onnx_check_declared(m, g->n_output, g->output);
    if (!g->n_output)
        file_fatal(m->model->file, "the graph has no outputs\nhint: the file is damaged");
}

Module *onnx_module(OnnxImport *m, Arena *arena, const char *path) {
    graph_sweep(m->graph);
    Module *module = ARENA_NEW(arena, Module);
    *module = (Module){.arena = arena,
                       .name = program_name(arena, path),
                       .description = path,
                       .n_graphs = 1,
                       .bos = -1};
    module->float_rows = m->model->float_rows;
    module->graphs = ARENA_ARRAY(arena, Graph *, 1);
    module->graphs[0] = m->graph;
    return module;
}

Module *onnx_load(Arena *arena, const char *path, const OnnxOptions *options) {
    OnnxImport m = {.model = onnx_open(arena, path),
                    .options = options,
                    .graph = graph_new_owned(arena, "main")};
    const BurinOnnx__GraphBody *g = m.model->proto->graph;
    onnx_import_values(&m);
    for (size_t i = 0; i < g->n_output; i++) add_output(&m, g->output[i]);
    return onnx_module(&m, arena, path);
}
