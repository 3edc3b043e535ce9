// burin check: the compiled program against the reference interpreter, kernel by kernel.
//
// The model is compiled for this CPU as a shared object and run over one chunk of rows with its trace on. Each result is then
// compared with what the interpreter, in f64, makes of the same operands: the traced ones, so that an error shows where it is
// made and does not spread. What is allowed is derived op by op from the rounding of f32 (eval_bound).
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver/commands.h"
#include "driver/network.h"
#include "driver/process.h"
#include "driver/rows.h"
#include "forward.h"
#include "ir/convert.h"
#include "ir/eval.h"
#include "net_values.h"

enum { CHECK_ROWS = 24 };

typedef struct OpSummary {
    int results, outside;
    double worst;  // of |difference| / bound
} OpSummary;

typedef struct Check {
    Build *build;
    StepRows rows;
    burin_net_values values;  // of a network
    EvalContext *exact, *contract;
    const Tensor **value, **traced;  // by node->mark: of either kind; only what the program computed
    int n_nodes;
    OpSummary ops[OP_COUNT];
    const Node *first_outside;
} Check;

// ----------------------------------------------------------------------------------------------------------------- the trace
static const Node *item_of(const Node *tuple, int index) {
    for (int i = 0; i < tuple->n_users; i++)
        if (tuple->users[i]->op == OP_item && attr_int(tuple->users[i], "index", 0) == index) return tuple->users[i];
    return NULL;
}

// The node that a kernel's result is: its own, or the items of a tuple.
static const Node *named_result(const Kernel *k, const char *name) {
    if (k->node->name && !strcmp(k->node->name, name)) return k->node;
    for (int i = 0; i < 2 && k->node->type.dtype == DT_tuple; i++) {
        const Node *item = item_of(k->node, i);
        if (item && !strcmp(item->name, name)) return item;
    }
    return NULL;
}

// In the loop over layers the text names the first layer's value: the kernel that many periods later has this one's.
static const Node *node_of_value(const Program *p, const char *name, int layer) {
    for (int i = 0; i < p->n_kernels; i++) {
        const Node *n = named_result(p->kernels[i], name);
        if (!n) continue;
        int at = i + (layer > 0 ? layer * p->loop.period : 0);
        if (at == i || at >= p->n_kernels) return n;
        const Kernel *k = p->kernels[at];
        return k->node->type.dtype == DT_tuple ? item_of(k->node, (int)attr_int(n, "index", 0)) : k->node;
    }
    return NULL;
}

static Tensor *tensor_copy(Arena *arena, const Tensor *t) {
    Tensor *copy = ARENA_NEW(arena, Tensor);
    void *data = arena_alloc(arena, t->bytes + 16);
    *copy = *t;
    memcpy(data, t->data, t->bytes);
    copy->data = data;
    return copy;
}

static int64_t symbol_of_step(const Dim *symbol, void *user) {
    const Check *c = user;
    if (!is_decoder(c->build->program)) return network_symbol(c->build->program, symbol, c->values.symbols);
    return strcmp(symbol->name, "S") ? c->rows.n : 1;
}

static void record(void *context, const char *value, int layer, const float *data, int rows, int columns, int row_stride) {
    Check *c = context;
    const Node *n = node_of_value(c->build->program, value, layer);
    if (!n) return;
    Tensor *t = ARENA_NEW(c->build->arena, Tensor);
    float *copy = ARENA_ARRAY(c->build->arena, float, (size_t)rows *(size_t)columns + 4);
    for (int r = 0; r < rows; r++)
        memcpy(copy + (size_t)r * (size_t)columns, data + (size_t)r * (size_t)row_stride, (size_t)columns * sizeof *copy);
    *t = (Tensor){
        .dtype = DT_f32, .rank = n->type.rank, .data = copy, .bytes = (uint64_t)rows * (uint64_t)columns * sizeof *copy};
    for (int i = 0; i < n->type.rank; i++) t->dim[i] = dim_eval(n->type.dim[i], symbol_of_step, c);
    if (tensor_count(t) != (int64_t)rows * columns)
        diag_fatal(n->loc, "%%%s has %" PRId64 " elements, the program recorded %d x %d", n->name, tensor_count(t), rows,
                   columns);
    c->traced[n->mark] = c->value[n->mark] = t;
}

// --------------------------------------------------------------------------------------------------------------- the program
typedef void ForwardFunction(const burin_step *, int thread);

// The emitted functions are hidden in a library: one more file gives this one a name to be found by.
static const char *write_door(const Build *b, const char *folder, const Target *cpu) {
    const char *path = arena_printf(b->arena, "%s/%s_check.c", folder, b->name), *name = b->name;
    const char *text =
        arena_printf(b->arena,
                     "#include \"program.h\"\n"
                     "void %s_forward_%s(const burin_step *, int);\n"
                     "__attribute__((visibility(\"default\"))) void check_forward(const burin_step *s, int thread) {\n"
                     "    %s_forward_%s(s, thread);\n"
                     "}\n",
                     name, cpu->symbol, name, cpu->symbol);
    write_file(path, text, strlen(text));
    return path;
}

static ForwardFunction *load_forward(Build *b, const char *folder) {
    const Target *cpu = b->tools.cpus[b->tools.n_cpus - 1];
    Emitted emitted = {.folder = folder, .name = b->name, .kind = OUTPUT_SHARED, .extra = write_door(b, folder, cpu)};
    b->tools.cpus[0] = cpu, b->tools.n_cpus = 1;
    Objects objects = toolchain_compile(&b->tools, &emitted);
    objects.paths[1] = objects.paths[--objects.n];  // without the descriptor, which names the weights
    const char *path = arena_printf(b->arena, "%s/check.so", folder);
    toolchain_link_library(&b->tools, &objects, OUTPUT_SHARED, folder, path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *forward = library ? dlsym(library, "check_forward") : NULL;
    if (!forward) diag_fatal(NO_LOC, "cannot load the compiled model: %s", dlerror());
    return (ForwardFunction *)forward;
}

static unsigned char *step_memory(uint64_t bytes, int fill) {
    unsigned char *memory = aligned_alloc(BURIN_ALIGNMENT, (bytes + 4096) / BURIN_ALIGNMENT * BURIN_ALIGNMENT);
    if (!memory) diag_fatal(NO_LOC, "not enough memory: %" PRIu64 " bytes", bytes);
    return memset(memory, fill, bytes);
}

// As large as the largest run of a network needs, which may be more than there is: pages come as they are touched.
static unsigned char *scratch_memory(uint64_t bytes) {
    enum { FILLED = 1 << 30 };
    void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) diag_fatal(NO_LOC, "not enough memory: %" PRIu64 " bytes", bytes);
    return bytes < FILLED ? memset(memory, 0xff, bytes) : memory;
}

static const unsigned char *map_weights(const Build *b, const char *folder) {
    const char *path = arena_printf(b->arena, "%s/weights", folder);
    image_write(&b->image, path);
    FILE *f = fopen(path, "rb");
    void *weights = f ? mmap(NULL, b->image.bytes, PROT_READ, MAP_PRIVATE, fileno(f), 0) : MAP_FAILED;
    if (f) fclose(f);
    if (weights == MAP_FAILED) diag_fatal(NO_LOC, "cannot map %s", path);
    return weights;
}

// A state full of NaN (0xff): what was not written must not be read.
static void run_program(Check *c, const char *folder) {
    Build *b = c->build;
    ForwardFunction *forward = load_forward(b, folder);
    const Plan *plan = &b->program->plan;
    burin_barrier barrier = {.threads = 1};
    burin_trace trace = {.context = c, .record = record};
    int n = c->rows.n;
    int32_t *wanted = ARENA_ARRAY(b->arena, int32_t, n);
    for (int i = 0; i < n; i++) wanted[i] = i;
    burin_step step = {
        .weights = map_weights(b, folder),
        .arena = step_memory(plan->row_bytes * (uint64_t)b->program->max_rows, 0xff),
        .local = step_memory(plan->local_bytes, 0xff),
        .state = step_memory(plan->slot_bytes, 0xff),
        .scratch = scratch_memory(plan->scratch_bytes),
        .inputs = (const void *const *)c->values.input_data,
        .outputs = c->values.output_data,
        .symbols = c->values.symbols,
        .token = c->rows.token,
        .slot = c->rows.slot,
        .position = c->rows.position,
        .wanted = wanted,
        .rows = n,
        .n_wanted = n,
        .max_rows = (int)b->program->max_rows,
        .threads = 1,
        .logits = (float *)(void *)step_memory((uint64_t)n * (uint64_t)build_vocabulary(b) * sizeof(float), 0xff),
        .barrier = &barrier,
        .trace = &trace};
    forward(&step, 0);
    munmap((void *)(uintptr_t)step.weights, b->image.bytes);
    munmap(step.scratch, plan->scratch_bytes + 1);
    free(step.arena), free(step.local), free(step.state), free(step.logits);
}

// ------------------------------------------------------------------------------------------------------------- the comparison
static const Tensor *const *operands_of(Check *c, const Node *n) {
    const Tensor **operands = ARENA_ARRAY(c->build->arena, const Tensor *, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) operands[i] = n->in[i] ? c->value[n->in[i]->mark] : NULL;
    return operands;
}

static void outside(Check *c, const Node *n, const char *where, double got, double expected, double bound) {
    c->ops[n->op].outside++;
    if (c->first_outside) return;
    c->first_outside = n;
    diag_error(n->loc, "%%%s (%s): %s is %.9g, expected %.9g within %.3g", n->name, op_info[n->op].name, where, got, expected,
               bound);
}

static void compare(Check *c, Node *n, Node *op, int item) {
    const Tensor *got = c->traced[n->mark], *const *operands = operands_of(c, op);
    int64_t count;
    double *bound = eval_bound(c->exact, op, operands, item, &count);
    const Tensor *truth = eval_node(c->exact, op, operands, item);
    const float *a = got->data;
    OpSummary *s = &c->ops[op->op];
    s->results++;
    for (int64_t i = 0; i < count; i++) {
        double expected = dtype_load(truth->dtype, truth->data, i), difference = fabs((double)a[i] - expected);
        if (difference > 0) s->worst = fmax(s->worst, difference / bound[i]);
        if (difference <= bound[i]) continue;
        outside(c, n, arena_printf(c->build->arena, "element %" PRId64, i), a[i], expected, bound[i]);
        break;
    }
    free(bound);
}

// What the program did not record (views, casts, caches) is computed from what it did, with the contract's bits.
static void derive(Check *c, Node *n) {
    if (n->op == OP_constant || n->op == OP_pack || n->op == OP_state || n->type.dtype == DT_tuple) return;
    const Tensor *t;
    if (n->op == OP_item) {
        t = eval_node(c->contract, n->in[0], operands_of(c, n->in[0]), (int)attr_int(n, "index", 0));
    } else {
        t = eval_node(c->contract, n, operands_of(c, n), 0);
    }
    c->value[n->mark] = tensor_copy(c->build->arena, t);
}

static void compare_all(Check *c) {
    EACH_NODE(n, c->build->program->graph) {
        if (n->op == OP_input) continue;
        if (!c->traced[n->mark]) {
            derive(c, n);
        } else if (n->op == OP_item) {
            compare(c, n, n->in[0], (int)attr_int(n, "index", 0));
        } else {
            compare(c, n, n, 0);
        }
    }
}

static int print_summary(const Check *c) {
    int results = 0, outside = 0;
    printf("%-26s %8s %8s %18s\n", "op", "results", "outside", "largest / allowed");
    for (int i = 0; i < OP_COUNT; i++) {
        const OpSummary *s = &c->ops[i];
        results += s->results, outside += s->outside;
        if (s->results) printf("%-26s %8d %8d %18.3f\n", op_info[i].name, s->results, s->outside, s->worst);
    }
    printf("%s: %d results of %s, %d outside of their bounds\n", c->build->name, results, c->build->tools.cpus[0]->name,
           outside);
    return outside || !results ? 1 : 0;
}

// Tokens of a slot, in order.
static void prepare_rows(Check *c) {
    Build *b = c->build;
    int n = b->program->max_rows < CHECK_ROWS ? (int)b->program->max_rows : CHECK_ROWS, vocabulary = build_vocabulary(b);
    int32_t *token = ARENA_ARRAY(b->arena, int32_t, n), *slot = ARENA_ARRAY(b->arena, int32_t, n),
            *position = ARENA_ARRAY(b->arena, int32_t, n);
    bool *wanted = ARENA_ARRAY(b->arena, bool, n);
    for (int i = 0; i < n; i++) token[i] = (int32_t)((int64_t)i * 7919 % vocabulary), position[i] = i, wanted[i] = true;
    c->rows = (StepRows){.n = n, .token = token, .slot = slot, .position = position, .wanted = wanted};
    for (int i = 0; i < b->program->graph->n_inputs; i++) {
        const Node *input = b->program->graph->inputs[i];
        c->value[input->mark] = step_input(input, &c->rows, ARENA_NEW(b->arena, Tensor));
    }
}

// Random tensors, of small sizes where these are open.
static void prepare_tensors(Check *c) {
    Build *b = c->build;
    burin_command command = {.random = true};
    burin_net_values_open(&c->values, network_of(b->program), &command);
    const Tensor **inputs = network_inputs(b->arena, b->program, (const void *const *)c->values.input_data, c->values.symbols);
    for (int i = 0; i < b->program->graph->n_inputs; i++) c->value[b->program->graph->inputs[i]->mark] = inputs[i];
    c->rows.n = burin_net_rows(c->values.net, c->values.symbols);
}

static void set_symbols(const Check *c, EvalContext *context) {
    const Program *p = c->build->program;
    for (int i = 0; i < p->n_symbols && !is_decoder(p); i++)
        eval_set_symbol(context, p->symbols[i]->name, c->values.symbols[i]);
    if (!is_decoder(p)) return;
    eval_set_symbol(context, "R", c->rows.n);
    eval_set_symbol(context, "L", c->rows.n);
    eval_set_symbol(context, "S", 1);
}

static void prepare(Check *c) {
    Build *b = c->build;
    EACH_NODE(node, b->program->graph) node->mark = c->n_nodes++;
    c->value = ARENA_ARRAY(b->arena, const Tensor *, c->n_nodes);
    c->traced = ARENA_ARRAY(b->arena, const Tensor *, c->n_nodes);
    if (is_decoder(b->program))
        prepare_rows(c);
    else
        prepare_tensors(c);
    EvalContext **contexts[] = {&c->exact, &c->contract};
    for (int i = 0; i < 2; i++) {
        *contexts[i] = eval_new(i ? EVAL_F32 : EVAL_F64);
        set_symbols(c, *contexts[i]);
    }
}

int check(Build *b) {
    Check c = {.build = b};
    if (!b->tools.native) usage_error("burin check runs what it compiles: leave out --target");
    b->kind = OUTPUT_SHARED;
    build_open(b);
    build_load(b);
    build_passes(b);
    build_lower(b);
    if (b->program->encoder)
        diag_fatal(NO_LOC,
                   "burin check takes no encoder-decoders yet\nhint: `burin run %s --interpret` gives the bits to compare with",
                   b->options->model);
    toolchain_find(&b->tools);
    const char *folder = work_folder(b->arena);
    build_sources(b, folder);
    prepare(&c);
    run_program(&c, folder);
    remove_folder(folder);
    diag_keep(folder);
    compare_all(&c);
    if (!is_decoder(b->program)) burin_net_values_close(&c.values);
    eval_free(c.exact);
    eval_free(c.contract);
    return print_summary(&c);
}
