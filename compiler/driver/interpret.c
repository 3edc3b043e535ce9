// burin run --interpret: the program's own command line, sampler and loop around the reference interpreter. Its one CPU is
// called "interpreter"; being the numeric contract in plain C, it gives the bits of every compiled program.
#include <stdlib.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/rows.h"
#include "ir/eval.h"
#include "output.h"
#include "run.h"

// A variant's forward has no context of its own.
static struct {
    EvalContext *context;
    const Graph *graph;
} interpreter;

static void interpreter_forward(const burin_step *step, int thread) {
    if (thread) return;
    StepRows rows = {.n = step->rows, .token = step->token, .slot = step->slot, .position = step->position};
    bool *wanted = calloc((size_t)step->rows, sizeof *wanted);
    for (int i = 0; i < step->n_wanted; i++) wanted[step->wanted[i]] = true;
    rows.wanted = wanted;
    Tensor storage[STEP_INPUTS];
    const Tensor *inputs[STEP_INPUTS], *logits;
    step_inputs(interpreter.graph, &rows, storage, inputs);
    eval_graph(interpreter.context, interpreter.graph, inputs, &logits);
    if (step->n_wanted) memcpy(step->logits, logits->data, logits->bytes);
    free(wanted);
}

static bool always(void) { return true; }
static const unsigned char *no_weights(void) { return (const unsigned char *)&interpreter; }
static const void *tokenizer_blob;
static const unsigned char *tokenizer_weights(void) { return tokenizer_blob; }

int interpret(Build *b) {
    static const burin_variant variant = {
        .cpu = "interpreter", .needs = "nothing", .supported = always, .forward = interpreter_forward};
    build_open(b);
    build_load(b);
    build_passes(b);
    build_lower(b);
    const Plan *plan = &b->program->plan;
    burin_model model = {.abi = BURIN_ABI,
                         .name = b->name,
                         .identity = b->identity,
                         .info = "",
                         .vocab_size = build_vocabulary(b),
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
    interpreter.context = eval_new(EVAL_F32);
    interpreter.graph = b->program->graph;
    eval_set_symbol(interpreter.context, "S", 1);
    CommandLine line = {.arena = b->arena};
    command_add(&line, b->name);
    for (int i = 0; i < b->options->n_rest; i++) command_add(&line, b->options->rest[i]);
    burin_command command = burin_command_line(line.n, (char **)line.words);
    burin_run run;
    command.threads = 1;
    burin_run_open(&run, &model, &command);
    int status = command.perplexity_file ? burin_perplexity(&run) : command.bench ? burin_bench(&run) : burin_generate(&run);
    burin_run_close(&run);
    eval_free(interpreter.context);
    return status;
}
