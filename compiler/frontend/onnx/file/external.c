// The files with an ONNX model's tensors: sources of a program besides the model itself.
#include "frontend/onnx.h"
#include "frontend/onnx/file/model.h"

typedef struct Files {
    const OnnxModel *model;
    Map seen;  // path -> itself
} Files;

static void visit_graph(Files *f, const BurinOnnx__GraphBody *g);

static void visit_tensor(Files *f, const BurinOnnx__TensorData *p) {
    const char *location = p ? onnx_external_value(p, "location") : NULL;
    if (!location || !onnx_path_stays_inside(location)) return;
    const char *path = arena_printf(f->model->arena, "%s/%s", f->model->folder, location);
    map_put(&f->seen, path, (void *)path);
}

static void visit_sparse(Files *f, const BurinOnnx__SparseTensorData *p) {
    if (p) visit_tensor(f, p->values), visit_tensor(f, p->indices);
}

static void visit_nodes(Files *f, size_t n, BurinOnnx__Operation *const *nodes) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < nodes[i]->n_attribute; j++) {
            const BurinOnnx__Attribute *a = nodes[i]->attribute[j];
            visit_tensor(f, a->t), visit_sparse(f, a->sparse_tensor);
            for (size_t k = 0; k < a->n_tensors; k++) visit_tensor(f, a->tensors[k]);
            if (a->g) visit_graph(f, a->g);
        }
}

static void visit_graph(Files *f, const BurinOnnx__GraphBody *g) {
    for (size_t i = 0; i < g->n_initializer; i++) visit_tensor(f, g->initializer[i]);
    for (size_t i = 0; i < g->n_sparse_initializer; i++) visit_sparse(f, g->sparse_initializer[i]);
    visit_nodes(f, g->n_node, g->node);
}

const char *const *onnx_external_files(Arena *arena, const char *path, int *n) {
    Files f = {.model = onnx_open(arena, path)};
    const BurinOnnx__ModelFile *p = f.model->proto;
    map_init(&f.seen, arena);
    visit_graph(&f, p->graph);
    for (size_t i = 0; i < p->n_functions; i++)
        visit_nodes(&f, p->functions[i]->n_node, p->functions[i]->node);
    const char **files = ARENA_ARRAY(arena, const char *, f.seen.n + 1);
    for (int i = 0; i < f.seen.n; i++) files[i] = f.seen.entries[i].key;
    *n = f.seen.n;
    return files;
}

const char *const *onnx_input_names(Arena *arena, const char *path, size_t *n) {
    const BurinOnnx__GraphBody *g = onnx_open(arena, path)->proto->graph;
    const char **names = ARENA_ARRAY(arena, const char *, g->n_input + 1);
    for (size_t i = 0; i < g->n_input; i++) names[i] = g->input[i]->name;
    *n = g->n_input;
    return names;
}
