// Opening a model by the command line, reading tokens into its slot, and recording logits.
#include "text/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/hash.h"
#include "engine/network.h"
#include "engine/ranks.h"
#include "kernels/one_nan.h"
#include "measure/attention_dump.h"
#include "measure/profile.h"
#include "program/allocate.h"
#include "program/output.h"
#include "text/draft_model.h"
#include "text/line_slots.h"
#include "text/memory_total.h"

const char *burin_cpu_names(const burin_model *model) {
    static char names[512];
    size_t at = 0;
    for (int i = 0; i < model->n_variants && at < sizeof names / 2; i++) {
        const char *parts[] = {i ? ", " : "", model->variants[i].cpu};
        for (int p = 0; p < 2; p++)
            for (const char *c = parts[p]; *c && at < sizeof names - 1; c++) names[at++] = *c;
    }
    names[at] = 0;
    return names;
}

void burin_out_of_context(const burin_run *run, const char *what, int64_t tokens) {
    const char *hint = run->context < run->model->context ? "a larger --ctx"
                                                          : "build the program with a larger --ctx";
    burin_stop(BURIN_USER_MISTAKE, "%s %lld tokens, the context holds %d\nhint: %s", what,
               (long long)tokens, run->context, hint);
}

static const burin_variant *variant_named(const burin_model *model, const char *cpu) {
    for (int i = 0; i < model->n_variants; i++)
        if (!strcmp(model->variants[i].cpu, cpu)) return &model->variants[i];
    return NULL;
}

static _Noreturn void cannot_open(const burin_model *model, const burin_command *c,
                                  burin_status status) {
    if (status == BURIN_BAD_CPU)
        burin_stop(BURIN_USER_MISTAKE, "--cpu %s: this program carries code for %s", c->cpu,
                   burin_cpu_names(model));
    if (status == BURIN_CPU_TOO_OLD && c->cpu)
        burin_stop(BURIN_USER_MISTAKE, "--cpu %s: this machine does not have it (needs %s)", c->cpu,
                   variant_named(model, c->cpu)->needs);
    if (status == BURIN_CPU_TOO_OLD)
        burin_stop(
            BURIN_USER_MISTAKE,
            "this machine's CPU is too old: the program needs %s\nhint: build it with --mcpu=%s",
            model->variants[0].needs, "native on this machine");
    burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
}

static int32_t context_of(const burin_model *model, const burin_command *c) {
    if (c->context > model->context)
        burin_stop(BURIN_USER_MISTAKE,
                   "--ctx %lld: this program was built for a context of %d tokens\nhint: burin "
                   "build --ctx %lld",
                   (long long)c->context, model->context, (long long)c->context);
    return c->context ? (int32_t)c->context : model->context;
}

// The weights are pages of the program's file: the system is asked to fetch them, without waiting.
static void fetch_weights(const burin_model *model) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)model->weights();
    uintptr_t first = start & ~(page - 1);
    madvise((void *)first, model->weight_bytes + (start - first), MADV_WILLNEED);
}

int64_t burin_run_count(const burin_run *run) {
    const burin_model *m = run->model;
    if (run->command->count >= 0) return run->command->count;
    return m->max_length > m->n_start ? m->max_length - m->n_start : 256;
}

double burin_run_temperature(const burin_run *run) {
    double given = run->command->sampling.temperature;
    return given >= 0 ? given : run->model->encoder ? 0 : 0.8;
}

void burin_run_record(burin_run *run) {
    const burin_command *c = run->command;
    run->recording = c->logits_hash || c->logits_file;
    run->hash = burin_hash_start;
    const char *why =
        c->logits_file ? burin_npy_open(&run->npy, c->logits_file, run->model->vocab_size) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "--logits %s: %s", c->logits_file, why);
}

static const char *profile_file;

static int usual_threads(void) {
#ifdef BURIN_MPI
    return burin_ranks_threads();
#else
    return burin_default_threads();
#endif
}

static void open_on_all_ranks(burin_session *session, const burin_command *c,
                              const burin_options *options) {
    burin_rank_options asked = {.shares = c->shares,
                                .patience = c->rank_timeout,
                                .threads = (int32_t)c->threads,
                                .over = c->over,
                                .resume = c->resume,
                                .command = burin_command_sum(c),
                                .messages = c->rank_messages,
                                .numa = c->numa,
                                .verbose = c->verbose};
    const char *refused = c->session ? "--session" : c->attention_file ? "--attention" : NULL;
    if (refused && burin_ranks_several())
        burin_stop(
            BURIN_USER_MISTAKE,
            "%s: no rank has the whole cache of keys and values\nhint: run it without mpirun",
            refused);
    burin_ranks_open(session, options, &asked);
}

// Before the first step, what would end the program after the last
static void check_outputs(const burin_command *c) {
    const char *why = c->profile && *c->profile ? burin_cannot_create(c->profile) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "--profile=%s: %s", c->profile, why);
    why = c->attention_file ? burin_cannot_create(c->attention_file) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "--attention %s: %s", c->attention_file, why);
}

// The pages of a session; they come as they are touched, which is as far as --ctx allows.
static void *map_session_memory(const burin_model *model, const burin_options *options,
                                size_t bytes) {
    void *memory = burin_try_map_memory(bytes);
    char total[BURIN_MEMORY_TEXT];
    if (memory) return memory;
    burin_memory_text(model, options, model->context, total);
    burin_stop(BURIN_USER_MISTAKE, "not enough memory: this needs at most %s\nhint: %s", total,
               model->net ? "smaller inputs, or fewer at once, need less"
                          : "a smaller --chunk; or burin build with a smaller --ctx, --kv q8_0");
}

burin_session *burin_open(const burin_model *model, const burin_command *c,
                          const burin_options *sizes) {
    check_outputs(c);
    burin_options options = *sizes;
    options.threads = (int32_t)c->threads;
    options.cpu = c->cpu;
    if (c->over) burin_ranks_begin_items(c->rank_timeout);
    if (c->numa) burin_ranks_pin(c->verbose);
    if (!options.threads) options.threads = usual_threads();
    burin_session *session;
    burin_status status;
    if (!burin_variant_find(model, c->cpu, &status)) cannot_open(model, c, status);
    size_t bytes = burin_session_bytes(model, &options);
    if (!bytes) cannot_open(model, c, BURIN_BAD_OPTION);
    if (!burin_ranks_several() || c->over)
        fetch_weights(model);  // else each rank reads its share alone
    if (c->profile) burin_counters_open();
    status = burin_session_open(&session, model, &options,
                                map_session_memory(model, &options, bytes), bytes);
    if (status) cannot_open(model, c, status);
    open_on_all_ranks(session, c, &options);
    if (c->attention_file) session->step.trace = burin_attention_open(session, c);
    if (c->profile) session->step.profile = burin_allocate(1, sizeof *session->step.profile);
    if (c->profile)
        burin_profile_open(session->step.profile, profile_file = c->profile, session->step.threads);
    return session;
}

void burin_close(burin_session *session) {
    burin_attention_close(session);
    if (session->step.profile)
        burin_profile_close(session->step.profile, session->model, profile_file,
                            session->step.threads);
    free(session->step.profile);
    burin_session_close(session);
}

static int32_t slots_of(const burin_model *model, const burin_command *c) {
    (void)model;
#ifdef BURIN_SERVER
    if (c->server.address && model->speech) return 1;  // windows take turns
    if (c->server.address || c->server.replay)
        return c->server.slots ? (int32_t)c->server.slots : 4;
#endif
    if (c->lines) return c->server.slots ? (int32_t)c->server.slots : BURIN_USUAL_LINE_SLOTS;
    return c->beams ? (int32_t)c->beams : 1;
}

void burin_run_open(burin_run *run, const burin_model *model, const burin_command *c) {
    *run = (burin_run){
        .model = model, .command = c, .context = context_of(model, c), .chunk = model->max_rows};
    if (c->chunk > run->chunk)
        burin_note("--chunk %lld: this program was built for %d rows at once", (long long)c->chunk,
                   run->chunk);
    if (c->chunk && c->chunk < run->chunk) run->chunk = (int32_t)c->chunk;
    if (c->ignore_eos && !model->n_eos)
        burin_note("--ignore-eos has no effect: no token of this model ends a text");
    run->session =
        burin_open(model, c, &(burin_options){.slots = slots_of(model, c), .max_rows = run->chunk});
    run->rows = burin_allocate((size_t)run->chunk, sizeof *run->rows);
    if (model->eyes) run->vectors = burin_allocate((size_t)run->chunk, sizeof *run->vectors);
    run->logits =
        burin_map_memory((size_t)run->chunk * (size_t)model->vocab_size * sizeof *run->logits);
}

void burin_run_close(burin_run *run) {
    const burin_command *c = run->command;
    if (c->logits_file && !burin_npy_close(&run->npy))
        burin_stop(BURIN_USER_MISTAKE, "--logits %s: %s", c->logits_file, strerror(errno));
    if (c->logits_hash) burin_print("%016llx\n", (unsigned long long)run->hash);
    free(run->rows);
    free(run->vectors);
    burin_sights_close(&run->sights);
    burin_close(run->session);
}

static void forward(burin_run *run, int32_t n) {
    burin_status status =
        burin_forward_embedded(run->session, run->rows, run->vectors, n, run->logits);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    burin_guesser_see(run->guesser, run->session, run->rows, n, 0);
}

// The rows of pictures among tokens: ids below 0.
static void set_vectors(burin_run *run, const int32_t *tokens, int32_t n) {
    burin_sight_place place = {0};
    const burin_eyes *e = run->model->eyes;
    for (int32_t i = 0; i < n; i++) {
        run->vectors[i] = (burin_embedding){0};
        if (tokens[i] >= 0) continue;
        run->rows[i].token = e->token;
        if (!burin_sight_row(&run->sights, e, tokens[i], &place, &run->vectors[i]))
            burin_stop(BURIN_USER_MISTAKE,
                       "a picture of this conversation is not at hand\nhint: give it again");
    }
}

static void set_rows(burin_run *run, const int32_t *tokens, int32_t n) {
    int32_t length = burin_slot_length(run->session, 0);
    for (int32_t i = 0; i < n; i++)
        run->rows[i] = (burin_row){.token = tokens[i], .position = length + i};
    if (run->vectors) set_vectors(run, tokens, n);
}

void burin_run_record_rows(burin_run *run, float *logits, int32_t rows) {
    burin_one_nan("f32", logits, (size_t)rows * (size_t)run->model->vocab_size);
    run->hash = burin_hash_floats(run->hash, logits, (size_t)rows * (size_t)run->model->vocab_size);
    if (run->command->logits_file && !burin_npy_add(&run->npy, logits, rows))
        burin_stop(BURIN_USER_MISTAKE, "--logits %s: %s", run->command->logits_file,
                   strerror(errno));
}

void burin_run_score(burin_run *run, const int32_t *tokens, int32_t n, int32_t first, int32_t end) {
    set_rows(run, tokens, n);
    for (int32_t i = first; i < end; i++) run->rows[i].wants_logits = true;
    forward(run, n);
}

// On a terminal, for prompts that take longer than a second.
static void show_progress(int32_t done, int32_t n, uint64_t started) {
    char line[64];
    if (burin_nanoseconds() - started < 1000000000 || !isatty(STDERR_FILENO)) return;
    int length = snprintf(line, sizeof line,
                          done < n ? "\rreading the prompt: %d of %d tokens" : "\r\x1b[K", done, n);
    burin_write_all(STDERR_FILENO, line, (size_t)length);
}

// How many of n tokens go into one step: a picture whose rows attend to each other is not divided.
static int32_t tokens_of_step(const burin_run *run, const int32_t *tokens, int32_t n) {
    const burin_eyes *e = run->model->eyes;
    int32_t count = n < run->chunk ? n : run->chunk;
    if (!e || !e->sees_all || count == n) return count;
    bool prompt = e->sees_all == BURIN_SEES_PROMPT && tokens[0] < 0;
    while (count && (prompt || (tokens[count - 1] < 0 && tokens[count] < 0))) count--;
    if (!count)
        burin_stop(BURIN_USER_MISTAKE,
                   prompt ? "--chunk %d: the rows of the prompt are more"
                          : "--chunk %d: the rows of a picture are more",
                   run->chunk);
    return count;
}

float *burin_run_read(burin_run *run, const int32_t *tokens, int32_t n) {
    float *last = run->logits;
    uint64_t started = burin_nanoseconds();
    for (int32_t from = 0, count; from < n; from += count) {
        count = tokens_of_step(run, tokens + from, n - from);
        set_rows(run, tokens + from, count);
        for (int32_t i = 0; i < count; i++)
            run->rows[i].wants_logits = run->recording || from + i == n - 1;
        forward(run, count);
        if (run->recording) burin_run_record_rows(run, run->logits, count);
        last = run->recording ? run->logits + (size_t)(count - 1) * (size_t)run->model->vocab_size
                              : run->logits;
        if (run->stop && *run->stop && from + count < n) {
            last = NULL;
            n = from + count;
        }
        show_progress(from + count, n, started);
    }
    return last;
}
