// burin check: the compiled program against the reference interpreter, kernel by kernel.
//
// The model is compiled for this CPU as a shared object and run with its trace on: a decoder over
// one chunk of rows, an encoder or any other network over random tensors, an encoder-decoder one
// after the other. Each result is then compared with what the interpreter, in f64, makes of the
// same operands: those recorded, so that an error shows where it is made and does not spread. What
// is allowed is derived op by op from the rounding of f32 (eval_bound).
#include "debug/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "build/network_shapes.h"
#include "debug/compiled_model.h"
#include "debug/interpret_both.h"
#include "debug/step_inputs.h"
#include "engine/forward.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"
#include "program/network_values.h"
#include "toolchain/process.h"
#include "util/files.h"

enum { CHECK_ROWS = 24 };

typedef struct OpSummary {
    int results, outside;
    double worst;  // of |difference| / bound
} OpSummary;

typedef struct Check {
    Build *build;
    const struct Part *encoder;  // whose memory a decoder reads; or NULL
    OpSummary ops[OP_COUNT];
    const Node *first_outside;
} Check;

// One graph: a decoder's step, the encoder before it, or a network.
typedef struct Part {
    Check *check;
    Arena *arena;
    const Program *program;
    StepRows rows;
    burin_network_values values;  // of an encoder or a network
    EvalContext *exact, *contract;
    const Tensor **value,
        **recorded;  // by node->mark: of either kind; only what the program computed
} Part;

// --------------------------------------------------------------------------------------- the trace
static int64_t symbol_of_step(const Dim *symbol, void *user) {
    const Part *p = user;
    if (!is_decoder(p->program)) return network_symbol(p->program, symbol, p->values.symbols);
    return strcmp(symbol->name, "S") ? p->rows.n : 1;
}

// A result that is stored in another order of its axes, in that of its type
static void put_in_order(const Kernel *k, const Tensor *t, const float *stored, float *values) {
    int64_t step[MAX_RANK], at[MAX_RANK] = {0}, stride = 1, count = tensor_count(t);
    for (int i = t->rank - 1; i >= 0; i--)
        step[k->order[i]] = stride, stride *= t->dim[k->order[i]];
    for (int64_t i = 0; i < count; i++) {
        int64_t from = 0;
        for (int j = 0; j < t->rank; j++) from += at[j] * step[j];
        values[i] = stored[from];
        for (int j = t->rank - 1; j >= 0 && ++at[j] == t->dim[j]; j--) at[j] = 0;
    }
}

static const Kernel *ordered_kernel(const Program *p, const Node *n) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->node == n && p->kernels[i]->order) return p->kernels[i];
    return NULL;
}

static void record(void *context, const char *value, int layer, const float *data, int rows,
                   int columns, int row_stride) {
    Part *p = context;
    const Node *n = compiled_model_node(p->program, value, layer);
    if (!n) return;
    Tensor *t = ARENA_NEW(p->arena, Tensor);
    float *copy = ARENA_ARRAY(p->arena, float, (size_t)rows *(size_t)columns + 4);
    for (int r = 0; r < rows; r++)
        memcpy(copy + (size_t)r * (size_t)columns, data + (size_t)r * (size_t)row_stride,
               (size_t)columns * sizeof *copy);
    *t = (Tensor){.dtype = DT_f32,
                  .rank = n->type.rank,
                  .data = copy,
                  .bytes = (uint64_t)rows * (uint64_t)columns * sizeof *copy};
    for (int i = 0; i < n->type.rank; i++) t->dim[i] = dim_eval(n->type.dim[i], symbol_of_step, p);
    if (tensor_count(t) != (int64_t)rows * columns)
        diag_fatal(n->loc, "%%%s has %" PRId64 " elements, the program recorded %d x %d", n->name,
                   tensor_count(t), rows, columns);
    const Kernel *ordered = ordered_kernel(p->program, n);
    if (ordered) {
        float *values = ARENA_ARRAY(p->arena, float, (size_t)tensor_count(t) + 1);
        put_in_order(ordered, t, copy, values);
        t->data = values;
    }
    p->recorded[n->mark] = p->value[n->mark] = t;
}

// ------------------------------------------------------------------------------------- the program
static void run_part(Part *p, ForwardFunction *forward, const unsigned char *weights,
                     unsigned char *state) {
    const Plan *plan = &p->program->plan;
    burin_barrier barrier = {.threads = 1};
    burin_trace trace = {.context = p, .record = record};
    int n = p->rows.n, vocabulary = is_decoder(p->program) ? build_vocabulary(p->check->build) : 0;
    int32_t *logit_rows = ARENA_ARRAY(p->arena, int32_t, n);
    for (int i = 0; i < n; i++) logit_rows[i] = i;
    burin_step step = {
        .weights = weights,
        .arena = compiled_model_memory(plan->row_bytes * (uint64_t)p->program->max_rows, 0xff),
        .local = compiled_model_memory(plan->local_bytes, 0xff),
        .state = state,
        .scratch = compiled_model_scratch(plan->scratch_bytes),
        .inputs = (const void *const *)p->values.input_data,
        .outputs = p->values.output_data,
        .symbols = p->values.symbols,
        .token = p->rows.token,
        .slot = p->rows.slot,
        .position = p->rows.position,
        .source_last = p->rows.source_last,
        .embedded = p->rows.embedded,
        .axes = p->rows.axes,
        .last_seen = p->rows.last_seen,
        .embeddings = p->rows.embeddings,
        .logit_rows = logit_rows,
        .rows = n,
        .n_logit_rows = n,
        .max_rows = (int)p->program->max_rows,
        .threads = 1,
        .logits = (float *)(void *)compiled_model_memory(
            (uint64_t)n * (uint64_t)vocabulary * sizeof(float), 0xff),
        .barrier = &barrier,
        .trace = &trace};
    forward(&step, 0);
    compiled_model_free_scratch(step.scratch, plan->scratch_bytes);
    free(step.arena), free(step.local), free(step.logits);
}

// ---------------------------------------------------------------------------------- the comparison
static const Tensor *const *operands_of(Part *p, const Node *n) {
    const Tensor **operands = ARENA_ARRAY(p->arena, const Tensor *, n->n_in + 1);
    for (int i = 0; i < n->n_in; i++) operands[i] = n->in[i] ? p->value[n->in[i]->mark] : NULL;
    return operands;
}

static void outside(Check *c, const Node *n, const char *where, double got, double expected,
                    double bound) {
    c->ops[n->op].outside++;
    if (c->first_outside) return;
    c->first_outside = n;
    diag_error(n->loc, "%%%s (%s): %s is %.9g, expected %.9g within %.3g", n->name,
               op_info[n->op].name, where, got, expected, bound);
}

// The first NaN: later values cannot be compared.
static bool no_number(Check *c, const Node *n, double got, double expected, int64_t element) {
    if (got == got && expected == expected) return false;
    c->ops[n->op].outside++;
    if (c->first_outside) return true;
    c->first_outside = n;
    diag_error(n->loc,
               "%%%s (%s) in %s is the first result with a NaN: element %" PRId64
               " is %.9g, in the interpreter %.9g\nhint: a weight is NaN or infinite (a warning "
               "names it), or numbers grew too large",
               n->name, op_info[n->op].name, n->loc.scope ? n->loc.scope : "the model", element,
               got, expected);
    return true;
}

static void compare(Part *p, Node *n, Node *op, int item) {
    const Tensor *got = p->recorded[n->mark], *const *operands = operands_of(p, op);
    int64_t count;
    double *bound = eval_bound(p->exact, op, operands, item, &count);
    const Tensor *truth = eval_node(p->exact, op, operands, item);
    const float *a = got->data;
    OpSummary *s = &p->check->ops[op->op];
    s->results++;
    for (int64_t i = 0; i < count; i++) {
        double expected = dtype_load(truth->dtype, truth->data, i),
               difference = fabs((double)a[i] - expected);
        if ((double)a[i] == expected) continue;  // -inf, too, of a mask
        if (no_number(p->check, n, a[i], expected, i)) break;
        s->worst = fmax(s->worst, difference / bound[i]);
        if (difference <= bound[i]) continue;
        outside(p->check, n, arena_printf(p->arena, "element %" PRId64, i), a[i], expected,
                bound[i]);
        break;
    }
    free(bound);
}

// The state that an encoder left, as its own graph has it.
static const Tensor *memory_of(const Part *encoder, const Node *state) {
    EACH_NODE(n, encoder->program->graph) {
        if (n->op == OP_cache_append &&
            attr_int(n->in[0], "layer", 0) == attr_int(state, "layer", 0) &&
            !strcmp(attr_string(n->in[0], "kind", ""), attr_string(state, "kind", "")))
            return encoder->value[n->mark];
    }
    diag_fatal(state->loc, "the encoder leaves no %%%s", state->name);
}

// Unrecorded values (views, casts, caches) are computed from recorded ones, with the contract's
// bits.
static void derive(Part *p, Node *n) {
    if (n->op == OP_state && attr_int(n, "memory", 0) && p->check->encoder != p)
        p->value[n->mark] = memory_of(p->check->encoder, n);
    if (n->op == OP_constant || n->op == OP_pack || n->op == OP_state || n->type.dtype == DT_tuple)
        return;
    bool item = n->op == OP_item;
    Node *op = item ? n->in[0] : n;
    const Tensor *t =
        eval_node(p->contract, op, operands_of(p, op), item ? (int)attr_int(n, "index", 0) : 0);
    p->value[n->mark] = tensor_copy(p->arena, t);
}

static void compare_all(Part *p) {
    EACH_NODE(n, p->program->graph) {
        if (n->op == OP_input) continue;
        if (!p->recorded[n->mark]) {
            derive(p, n);
        } else if (n->op == OP_item) {
            compare(p, n, n->in[0], (int)attr_int(n, "index", 0));
        } else {
            compare(p, n, n, 0);
        }
    }
}

static int print_summary(const Check *c) {
    int results = 0, outside = 0;
    printf("%-26s %8s %8s %18s\n", "op", "results", "outside", "largest / allowed");
    for (int i = 0; i < OP_COUNT; i++) {
        const OpSummary *s = &c->ops[i];
        results += s->results, outside += s->outside;
        if (s->results)
            printf("%-26s %8d %8d %18.3f\n", op_info[i].name, s->results, s->outside, s->worst);
    }
    printf("%s: %d results of %s, %d outside of their bounds\n", c->build->name, results,
           c->build->tools.cpus[0]->name, outside);
    return outside || !results ? 1 : 0;
}

// How many rows the encoder left.
static int memory_rows(const Part *encoder) {
    return (int)burin_network_dim(encoder->values.net, describe_net(encoder->program)->length,
                                  encoder->values.symbols);
}

// Vectors for rows of pictures, of which every other row is one.
static void prepare_embeddings(Part *p) {
    const Graph *g = p->program->graph;
    int64_t n = 0;
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_EMBEDDINGS)
            n = p->rows.n * dim_upper(g->inputs[i]->type.dim[1]);
    float *values = ARENA_ARRAY(p->arena, float, n + 16);
    int32_t *embedded = ARENA_ARRAY(p->arena, int32_t, p->rows.n + 16);
    for (int64_t i = 0; i < n; i++) values[i] = (float)(i * 7919 % 2003) / 1001.5f - 1;
    for (int i = 0; i < p->rows.n; i++) embedded[i] = n && i % 2;
    p->rows.embeddings = values, p->rows.embedded = embedded;
    p->rows.last_seen = p->rows.position;
    int32_t *axes = ARENA_ARRAY(p->arena, int32_t, 3 * p->rows.n + 16);
    for (int i = 0; i < 3 * p->rows.n; i++) axes[i] = p->rows.position[i / 3] / (1 + i % 3);
    p->rows.axes = axes;
}

// Tokens of a slot, in order; each sees the whole source.
static void prepare_rows(Part *p) {
    int n = p->program->max_rows < CHECK_ROWS ? (int)p->program->max_rows : CHECK_ROWS;
    int vocabulary = build_vocabulary(p->check->build),
        last = p->check->encoder ? memory_rows(p->check->encoder) - 1 : 0;
    int32_t *token = ARENA_ARRAY(p->arena, int32_t, n), *slot = ARENA_ARRAY(p->arena, int32_t, n),
            *position = ARENA_ARRAY(p->arena, int32_t, n),
            *source_last = ARENA_ARRAY(p->arena, int32_t, n);
    bool *logit_rows = ARENA_ARRAY(p->arena, bool, n);
    for (int i = 0; i < n; i++) {
        token[i] = (int32_t)((int64_t)i * 7919 % vocabulary);
        position[i] = i, source_last[i] = last, logit_rows[i] = true;
    }
    p->rows = (StepRows){.n = n,
                         .token = token,
                         .slot = slot,
                         .position = position,
                         .source_last = source_last,
                         .logit_rows = logit_rows};
    prepare_embeddings(p);
    for (int i = 0; i < p->program->graph->n_inputs; i++) {
        const Node *input = p->program->graph->inputs[i];
        p->value[input->mark] = step_input(input, &p->rows, ARENA_NEW(p->arena, Tensor));
    }
}

// Random tensors, of small sizes where these are open.
static void prepare_tensors(Part *p) {
    burin_command command = {.random = true};
    burin_network_values_open(&p->values, network_of(p->program), &command);
    const Tensor **inputs = network_inputs(
        p->arena, p->program, (const void *const *)p->values.input_data, p->values.symbols);
    for (int i = 0; i < p->program->graph->n_inputs; i++)
        p->value[p->program->graph->inputs[i]->mark] = inputs[i];
    p->rows.n = burin_network_rows(p->values.net, p->values.symbols);
}

static void set_symbols(const Part *p, EvalContext *context) {
    for (int i = 0; i < p->program->n_symbols && !is_decoder(p->program); i++)
        eval_set_symbol(context, p->program->symbols[i]->name, p->values.symbols[i]);
    if (!is_decoder(p->program)) return;
    eval_set_symbol(context, "R", p->rows.n);
    eval_set_symbol(context, "L", p->rows.n);
    eval_set_symbol(context, "S", 1);
}

static void part_open(Part *p, Check *c, const Program *program) {
    int nodes = 0;
    *p = (Part){.check = c, .arena = c->build->arena, .program = program};
    EACH_NODE(node, program->graph) node->mark = nodes++;
    p->value = ARENA_ARRAY(p->arena, const Tensor *, nodes);
    p->recorded = ARENA_ARRAY(p->arena, const Tensor *, nodes);
    if (is_decoder(program))
        prepare_rows(p);
    else
        prepare_tensors(p);
    p->exact = eval_new(EVAL_F64), p->contract = eval_new(EVAL_F32);
    set_symbols(p, p->exact), set_symbols(p, p->contract);
    if (c->build->tools.cpus[0]->use == FOR_FAST_MATH) eval_round_rows(p->exact);
}

static void part_close(Part *p) {
    if (!is_decoder(p->program)) burin_network_values_close(&p->values);
    eval_free(p->exact), eval_free(p->contract);
}

// A state full of NaN (0xff): unwritten elements must not be read.
static void run_parts(Check *c, const char *folder) {
    Build *b = c->build;
    Part encoder, steps;
    CompiledModel compiled = compiled_model_open(b, folder);
    unsigned char *state = compiled_model_memory(b->program->plan.slot_bytes, 0xff);
    if (b->program->encoder) {
        part_open(&encoder, c, b->program->encoder);
        c->encoder = &encoder;
        run_part(&encoder, compiled.encode, compiled.weights, state);
        compare_all(&encoder);
    }
    part_open(&steps, c, b->program);
    run_part(&steps, compiled.forward, compiled.weights, state);
    compare_all(&steps);
    part_close(&steps);
    if (c->encoder) part_close(&encoder);
    compiled_model_close(&compiled, b);
    free(state);
}

int check(Build *b) {
    Check c = {.build = b};
    if (!b->tools.native) usage_error("burin check runs what it compiles: leave out --target");
    b->kind = OUTPUT_SHARED;
    build_open(b);
    build_load(b);
    build_passes(b);
    build_lower(b);
    compiled_model_for_here(b, "burin check runs what it compiles, and this CPU is none of --mcpu");
    const char *folder = work_folder(b->arena);
    build_sources(b, folder);
    run_parts(&c, folder);
    remove_tree(folder);
    diag_keep(folder);
    return print_summary(&c);
}
