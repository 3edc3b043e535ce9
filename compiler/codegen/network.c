// The descriptor of a network: its inputs and outputs as tensors whose dimensions are numbers or
// numbered expressions of symbols.
#include <string.h>

#include "codegen/emit.h"

// -------------------------------------------------------------------------------------- describing
static int dimension_number(NetDescription *d, const Dim *dim) {
    for (int i = 0; i < d->n_dims; i++)
        if (d->dims[i] == dim) return i;
    d->dims[d->n_dims] = dim;
    return d->n_dims++;
}

static int64_t dimension_code(NetDescription *d, const Dim *dim) {
    int64_t value;
    return dim_is_const(dim, &value) ? value : -1 - dimension_number(d, dim);
}

// Rows that an encoder leaves in its states; the same number in all of them.
static const Dim *memory_length(const Program *p) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->op == OP_cache_append) return p->kernels[i]->in[0].type.dim[0];
    return dim_const(p->graph, 0);
}

static bool has_past(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (role_of_exported(g->inputs[i]->name) == INPUT_CACHE) return true;
    return false;
}

static burin_absent absent_input(const Node *n) {
    if (n->op != OP_input) return BURIN_NEEDED;
    InputRole role = input_role(n), by_name = role_of_described(n->name);
    // An input of an ONNX model without a role: by a name that means the same in an export and in a
    // description.
    if (role == INPUT_TENSOR && by_name == role_of_exported(n->name) &&
        (by_name != INPUT_POSITIONS || !has_past(n->graph)))
        role = by_name;
    return role == INPUT_MASK        ? BURIN_ONES
           : role == INPUT_TYPES     ? BURIN_ZEROS
           : role == INPUT_POSITIONS ? BURIN_COUNTING
                                     : BURIN_NEEDED;
}

// The values that an index may have: those that choose a row of every table it is used for,
// directly or through views. Negative ones count from the end, but tokens have none.
static void narrow_range(const Node *input, const Node *n, burin_tensor *t) {
    for (int i = 0; i < n->n_users; i++) {
        const Node *user = n->users[i];
        bool same_values = user->op == OP_reshape || user->op == OP_transpose ||
                           user->op == OP_expand ||
                           (user->op == OP_cast && !dtype_is_float(user->type.dtype) &&
                            user->type.dtype != DT_bool);
        if (same_values) narrow_range(input, user, t);
        if (user->op != OP_gather || user->in[1] != n || user->in[0] == n) continue;
        const Type *table = &user->in[0]->type;
        int64_t rows = dim_upper(table->dim[node_axis(user)]);
        if (t->least > t->most || rows - 1 < t->most) {
            t->least = input_role(input) == INPUT_TENSOR ? -rows : 0;
            t->most = rows - 1;
        }
    }
}

int32_t input_vocabulary(const Program *p) {
    burin_tensor ids = {.least = 1};
    for (int i = 0; i < p->graph->n_inputs; i++)
        if (input_role(p->graph->inputs[i]) == INPUT_TOKENS)
            narrow_range(p->graph->inputs[i], p->graph->inputs[i], &ids);
    return ids.least <= ids.most ? (int32_t)(ids.most + 1) : 0;
}

static burin_tensor describe_tensor(Arena *arena, NetDescription *d, const char *name,
                                    const Node *n) {
    const Type *type = &n->type;
    burin_tensor t = {.name = name,
                      .type = dtype_name(type->dtype),
                      .rank = type->rank,
                      .absent = absent_input(n),
                      .least = 1};
    Text shape = {0};
    text_add(&shape, "[");
    for (int i = 0; i < type->rank; i++) {
        text_add(&shape, i ? ", " : "");
        dim_print(&shape, type->dim[i]);
        t.dim[i] = dimension_code(d, type->dim[i]);
    }
    text_add(&shape, "]");
    t.shape = arena_strndup(arena, shape.data, shape.length);
    text_free(&shape);
    if (n->op == OP_input && !dtype_is_float(type->dtype) && type->dtype != DT_bool)
        narrow_range(n, n, &t);
    return t;
}

// Finds an input axis that determines the symbol: of an input that must be given, if there is one.
static burin_symbol describe_symbol(const Program *p, const Dim *symbol) {
    burin_symbol s = {.name = symbol->name,
                      .lower = symbol->lower,
                      .upper = symbol->value,
                      .input = -1,
                      .factor = 1};
    for (int i = 0; i < p->graph->n_inputs; i++) {
        const Node *n = p->graph->inputs[i];
        bool better = s.input < 0 || (absent_input(n) == BURIN_NEEDED &&
                                      absent_input(p->graph->inputs[s.input]) != BURIN_NEEDED);
        for (int j = 0; j < n->type.rank && better; j++)
            if (dim_is_line(p->graph, n->type.dim[j], symbol, &s.factor, &s.offset)) {
                s.input = i;
                s.axis = j;
                better = false;
            }
    }
    if (s.input < 0)
        diag_fatal(NO_LOC, "no input shows what \"%s\" is\nhint: fix it with --dim=%s=N", s.name,
                   s.name);
    return s;
}

static bool has_kernel(const Program *p, Op op) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->op == op) return true;
    return false;
}

const NetDescription *describe_net(const Program *p) {
    const Graph *g = p->graph;
    Arena *arena = p->arena;
    // encoder results that stay in the slot's state
    bool encodes = *p->prefix && strcmp(g->name, "picture");
    int n_outputs = encodes ? 0 : g->n_outputs;
    NetDescription *d = ARENA_NEW(arena, NetDescription);
    burin_tensor *inputs = ARENA_ARRAY(arena, burin_tensor, g->n_inputs + 1),
                 *outputs = ARENA_ARRAY(arena, burin_tensor, g->n_outputs + 1);
    int n_symbols = p->n_symbols + p->n_data_dependent;
    burin_symbol *symbols = ARENA_ARRAY(arena, burin_symbol, n_symbols + 1);
    d->dims =
        ARENA_ARRAY(arena, const Dim *, n_symbols + (g->n_inputs + g->n_outputs) * MAX_RANK + 2);
    for (int i = 0; i < p->n_symbols; i++) {
        dimension_number(d, p->symbols[i]);
        symbols[i] = describe_symbol(p, p->symbols[i]);
    }
    for (int i = p->n_symbols; i < n_symbols; i++) {
        const Dim *size = p->data_dependent[i - p->n_symbols];
        dimension_number(d, size);
        symbols[i] = (burin_symbol){.name = size->name,
                                    .lower = size->lower,
                                    .upper = size->value,
                                    .input = -1,
                                    .factor = 1};
    }
    for (int i = 0; i < g->n_inputs; i++)
        inputs[i] = describe_tensor(arena, d, g->inputs[i]->name, g->inputs[i]);
    for (int i = 0; i < n_outputs; i++)
        outputs[i] = describe_tensor(
            arena, d, g->output_names[i] ? g->output_names[i] : g->outputs[i]->name, g->outputs[i]);
    if (encodes) d->length = dimension_code(d, memory_length(p));
    d->net = (burin_network){.inputs = inputs,
                             .outputs = outputs,
                             .n_inputs = g->n_inputs,
                             .n_outputs = n_outputs,
                             .symbols = symbols,
                             .n_symbols = p->n_symbols,
                             .n_data_dependent = p->n_data_dependent,
                             .rows = p->rows ? symbol_index(p, p->rows) : -1,
                             .random = has_kernel(p, OP_random),
                             .tokens = -1,
                             .embedding = -1};
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) d->net.tokens = i;
    for (int i = 0; i < n_outputs; i++)
        if (!strcmp(outputs[i].name, "sentence_embedding")) d->net.embedding = i;
    return d;
}

// ----------------------------------------------------------------------------------------- writing
static void write_tensors(Text *t, const char *list, const burin_tensor *tensors, int n) {
    static const char *const absent[] = {"BURIN_NEEDED", "BURIN_ONES", "BURIN_ZEROS",
                                         "BURIN_COUNTING"};
    text_add(t, "static const burin_tensor %s[] = {\n", list);
    for (int i = 0; i < n; i++) {
        const burin_tensor *x = &tensors[i];
        text_add(t, "    {"), write_string(t, x->name),
            text_add(t, ", \"%s\", %d, {", x->type, x->rank);
        for (int j = 0; j < x->rank; j++)
            text_add(t, "%s%lld", j ? ", " : "", (long long)x->dim[j]);
        text_add(t, "%s}, ", x->rank ? "" : "0");
        write_string(t, x->shape);
        text_add(t, ", %s, %lld, %lld},\n", absent[x->absent], (long long)x->least,
                 (long long)x->most);
    }
    text_add(t, "%s};\n\n", n ? "" : "    {0},\n");
}

static void write_symbols(Text *t, const burin_network *net) {
    text_add(t, "static const burin_symbol symbols[] = {\n");
    int n = net->n_symbols + net->n_data_dependent;
    for (int i = 0; i < n; i++) {
        const burin_symbol *s = &net->symbols[i];
        text_add(t, "    {"), write_string(t, s->name);
        text_add(t, ", %lld, %lld, %d, %d, %lld, %lld},\n", (long long)s->lower,
                 (long long)s->upper, s->input, s->axis, (long long)s->factor,
                 (long long)s->offset);
    }
    text_add(t, "%s};\n\n", n ? "" : "    {0},\n");
}

static void write_dimension(Text *t, const Program *p, const NetDescription *d) {
    text_add(t, "static int64_t dimension(int k, const int64_t *symbols) {\n    switch (k) {\n");
    for (int i = 0; i < d->n_dims; i++) {
        text_add(t, "        case %d: return ", i);
        c_dim_of_symbols(t, p, d->dims[i]);
        text_add(t, ";\n");
    }
    text_add(t, "        default: return (void)symbols, 0;\n    }\n}\n\n");
}

void write_net(Text *t, const Program *p) {
    const NetDescription *d = describe_net(p);
    write_tensors(t, "inputs", d->net.inputs, d->net.n_inputs);
    write_tensors(t, "outputs", d->net.outputs, d->net.n_outputs);
    write_symbols(t, &d->net);
    write_dimension(t, p, d);
    if (p->dynamic_sizes) {
        write_buffer_offsets(t, p);
        text_add(t,
                 "static size_t scratch_bytes(const int64_t *symbols) {\n    size_t offset[%d];\n  "
                 "  return "
                 "%sbuffer_offsets(symbols, offset);\n}\n\n",
                 p->n_buffers + 1, p->prefix);
    }
    text_add(t,
             "static const burin_network net = {inputs, outputs, %d, %d, symbols, %d, %d, %d, "
             "dimension, %d, %d, %s, %s, %s};\n\n",
             d->net.n_inputs, d->net.n_outputs, d->net.n_symbols, d->net.n_data_dependent,
             d->net.rows, d->net.tokens, d->net.embedding,
             p->dynamic_sizes ? "scratch_bytes" : "NULL", d->net.random ? "true" : "false",
             p->batches_sequences ? "true" : "false");
}
