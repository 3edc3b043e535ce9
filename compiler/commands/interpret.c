// burin run --interpret: the program's own command line, sampler and loop around the reference
// interpreter. Its one CPU is called "interpreter"; being the numeric contract in plain C, it gives
// the bits of every compiled program.
#include <stdlib.h>
#include <string.h>

#include "build/network_shapes.h"
#include "commands/commands.h"
#include "debug/step_inputs.h"
#include "engine/network.h"
#include "engine/picture.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"
#include "program/output.h"
#include "text/modes.h"

// A variant's forward has no context of its own.
static struct {
    EvalContext *context;
    const Program *program;        // of the steps, or of the network
    const Program *graph_program;  // of the network, or of the encoder
    const burin_network *net;
    const InterpreterWatch *watch;  // or NULL
} interpreter;

// What --attention asks the program for.
static void show_attention(void *user, const Node *n, const double *shares,
                           const int64_t shape[3]) {
    const burin_step *step = user;
    (void)n;
    for (int row = 0; row < shape[0]; row++)
        for (int head = 0; head < shape[1]; head++, shares += shape[2]) {
            burin_query query = {row, step->position ? step->position[row] : row, head,
                                 (int)shape[1], (int)shape[2]};
            float *to = step->trace->query(step->trace->context, &query);
            for (int64_t key = 0; to && key < shape[2]; key++) to[key] = (float)shares[key];
        }
}

static void watch_attention(const burin_step *step) {
    bool asked = step->trace && step->trace->query;
    if (interpreter.watch)
        eval_watch_attention(interpreter.context, interpreter.watch->attention,
                             interpreter.watch->user);
    else
        eval_watch_attention(interpreter.context, asked ? show_attention : NULL,
                             (void *)(uintptr_t)step);
}

static void interpreter_forward(const burin_step *step, int thread) {
    if (thread) return;
    StepRows rows = {.n = step->rows,
                     .token = step->token,
                     .slot = step->slot,
                     .position = step->position,
                     .source_last = step->source_last,
                     .embedded = step->embedded,
                     .axes = step->axes,
                     .last_seen = step->last_seen,
                     .embeddings = step->embeddings};
    bool *logit_rows = calloc((size_t)step->rows, sizeof *logit_rows);
    for (int i = 0; i < step->n_logit_rows; i++) logit_rows[step->logit_rows[i]] = true;
    rows.logit_rows = logit_rows;
    Tensor storage[STEP_INPUTS];
    const Tensor *inputs[STEP_INPUTS], *logits;
    watch_attention(step);
    step_inputs(interpreter.program->graph, &rows, storage, inputs);
    if (interpreter.watch)
        interpreter.watch->tokens(interpreter.watch->user, interpreter.program->graph, step->token,
                                  step->rows);
    eval_graph(interpreter.context, interpreter.program->graph, inputs, &logits);
    if (step->n_logit_rows) memcpy(step->logits, logits->data, logits->bytes);
    free(logit_rows);
}

// --------------------------------------------------------------------------- networks and encoders
// Of a network that has an input of tokens
static void watch_tokens(const Graph *g, const Tensor *const *inputs) {
    const InterpreterWatch *w = interpreter.watch;
    Arena *arena = arena_new();
    for (int i = 0; i < g->n_inputs; i++) {
        int64_t n = tensor_count(inputs[i]);
        int32_t *tokens = ARENA_ARRAY(arena, int32_t, n + 1);
        for (int64_t j = 0; j < n; j++)
            tokens[j] = (int32_t)dtype_load(inputs[i]->dtype, inputs[i]->data, j);
        if (input_role(g->inputs[i]) == INPUT_TOKENS) w->tokens(w->user, g, tokens, (int)n);
    }
    arena_free(arena);
}

// An encoder's outputs stay in the states, which the steps' graph reads in the same context.
static void network_forward(const burin_step *step, int thread) {
    const Graph *g = interpreter.graph_program->graph;
    if (thread) return;
    Arena *arena = arena_new();
    const Tensor **inputs =
                     network_inputs(arena, interpreter.graph_program, step->inputs, step->symbols),
                 **outputs = ARENA_ARRAY(arena, const Tensor *, g->n_outputs + 1);
    if (interpreter.watch) watch_tokens(g, inputs);
    watch_attention(step);
    eval_set_seed(interpreter.context, step->seed);
    eval_graph(interpreter.context, g, inputs, outputs);
    const Program *p = interpreter.graph_program;
    for (int i = 0; i < p->n_data_dependent && step->data_dependent; i++)
        step->data_dependent[i] = eval_symbol(interpreter.context, p->data_dependent[i]->name);
    for (int i = 0; i < interpreter.net->n_outputs; i++)
        memcpy(step->outputs[i], outputs[i]->data, outputs[i]->bytes);
    arena_free(arena);
}

// ----------------------------------------------------------------------------------------- the run
static int run(const burin_model *model, const Build *b) {
    burin_kind kind = model->modes->kind;
    CommandLine line = {.arena = b->arena};
    command_add(&line, b->name);
    for (int i = 0; i < b->options->n_rest; i++) command_add(&line, b->options->rest[i]);
    burin_command command = burin_command_line(kind, line.n, (char **)line.words);
    command.threads = 1;
    int status = 0;
    if (command.help_all)
        burin_print_all_help(kind, b->name);
    else if (command.help)
        burin_print_help(kind, b->name, command.help);
    else
        status = model->modes->run(model, &command);
    burin_flush();
    return status;
}

static bool always(void) { return true; }
static const unsigned char *no_weights(void) { return (const unsigned char *)&interpreter; }
static const void *tokenizer_blob;
static const unsigned char *tokenizer_weights(void) { return tokenizer_blob; }

static const burin_network *describe(const Program *p) {
    interpreter.graph_program = p;
    return interpreter.net = network_of(p);
}

static void describe_encoder(const Build *b, burin_variant *variant, burin_model *model) {
    static burin_encoder encoder;
    const Program *p = b->program->encoder;
    const Module *m = b->module;
    encoder = (burin_encoder){
        .net = describe(p), .length = describe_net(p)->length, .max_rows = (int32_t)p->max_rows};
    variant->encode = network_forward;
    if (m->eyes) {
        static burin_eyes eyes;
        eyes = *m->eyes, eyes.encoder = &encoder;
        model->eyes = &eyes;
        return;
    }
    model->encoder = &encoder;
    model->start = m->start, model->n_start = m->n_start,
    model->max_length = (int32_t)m->max_length;
}

static void describe_generation(const Module *m, burin_model *model) {
    model->suppress = m->suppress, model->n_suppress = m->n_suppress;
    model->begin_suppress = m->begin_suppress, model->n_begin_suppress = m->n_begin_suppress;
    model->forced_end = m->forced_end, model->n_forced_end = m->n_forced_end;
    model->bad_words = m->bad_words, model->n_bad_words = m->n_bad_words;
    model->no_repeat = m->no_repeat, model->encoder_no_repeat = m->encoder_no_repeat;
    model->min_length = m->min_length, model->min_new_tokens = m->min_new_tokens;
    model->repetition_penalty = (float)m->repetition_penalty;
}

int interpret_built(Build *b, const InterpreterWatch *watch) {
    static burin_variant variant = {.cpu = "interpreter", .needs = "nothing", .supported = always};
    const Plan *plan = &b->program->plan;
    burin_model model = {.abi = BURIN_ABI,
                         .name = b->name,
                         .identity = b->identity,
                         .info = "",
                         .vocab_size = build_vocabulary(b),
                         .input_vocab_size = input_vocabulary(b->program),
                         .context = (int32_t)b->passes.context,
                         .max_rows = (int32_t)b->program->max_rows,
                         .bos = b->module->bos,
                         .n_eos = b->module->n_eos,
                         .row_bytes = plan->row_bytes,
                         .local_bytes = plan->local_bytes,
                         .slot_bytes = plan->slot_bytes,
                         .variants = &variant,
                         .n_variants = 1,
                         .weights = no_weights};
    memcpy(model.eos, b->module->eos, sizeof model.eos);
    if (b->tokenizer) {
        tokenizer_blob = b->tokenizer->blob;
        model.weights = tokenizer_weights;
        model.tokenizer_bytes = b->tokenizer->bytes;
    }
    variant.forward = is_decoder(b->program) ? interpreter_forward : network_forward;
    interpreter.context = eval_new(EVAL_F32);
    interpreter.watch = watch;
    interpreter.program = b->program;
    eval_set_symbol(interpreter.context, "S", 1);
    if (!is_decoder(b->program)) model.net = describe(b->program);
    if (b->program->encoder) describe_encoder(b, &variant, &model);
    describe_generation(b->module, &model);
    model.speech = b->module->speech;
    model.modes = model.speech ? &burin_modes_speech
                  : model.eyes ? &burin_modes_text_eyes
                  : !model.net ? model.encoder ? &burin_modes_sources : &burin_modes_text
                  : burin_network_embeds(&model) ? &burin_modes_embed
                                                 : &burin_modes_network;
    int status = run(&model, b);
    eval_free(interpreter.context);
    return status;
}

int interpret(Build *b) {
    build_open(b);
    build_load(b);
    build_passes(b);
    build_lower(b);
    return interpret_built(b, NULL);
}
