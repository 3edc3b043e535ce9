// burin report --run: builds and runs the program with --profile, and compares its accounts (one
// for each call in the text; thread 0's clock) with the arithmetic and memory traffic of that
// call's kernels, and with the limits of this machine.
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/network_shapes.h"
#include "codegen/emit.h"
#include "output/output.h"
#include "program/network_values.h"
#include "report/report.h"
#include "roofline_probe.h"
#include "toolchain/flags.h"
#include "toolchain/process.h"
#include "util/files.h"

enum { STEPS = 64, PROMPT_CHUNKS = 4 };

typedef struct Limits {
    double read, fma, dot;  // a second
} Limits;

typedef struct Measuring {
    Build *build;
    const char *folder, *program;
    const Target *cpu;
    int threads;
    Limits limits;
} Measuring;

// ------------------------------------------------------------------------------------------ limits
static const Target *best_cpu(const Toolchain *t) {
    for (int i = t->n_cpus - 1; i >= 0; i--)
        if (target_runs_here(t->cpus[i])) return t->cpus[i];
    usage_error("burin report --run runs what it compiles, and this CPU is none of --mcpu");
}

// Runs a command; returns its output, or NULL if it failed.
static char *said_by(const Measuring *m, const CommandLine *line, const char *log) {
    const char *path = arena_printf(m->build->arena, "%s/%s.log", m->folder, log);
    bool good = process_succeeds(line, path, m->build->options->verbose);
    char *said = read_text_file(path, NULL);
    if (good) return said;
    free(said);
    return NULL;
}

static double value_behind(const char *said, const char *word) {
    const char *at = strstr(said, word);
    return at ? strtod(at + strlen(word), NULL) : 0;
}

static void measure_limits(Measuring *m) {
    Arena *arena = m->build->arena;
    CommandLine compile = {.arena = arena}, run = {.arena = arena};
    const char *source = arena_printf(arena, "%s/limits.c", m->folder),
               *program = arena_printf(arena, "%s/limits", m->folder);
    write_file(source, roofline_probe, strlen(roofline_probe));
    command_add(&compile, m->build->tools.clang);
    command_add_words(&compile, FLAGS_LANGUAGE " " FLAGS_KERNELS " " FLAGS_NUMBERS " -pthread");
    command_add_words(&compile, m->cpu->flags);
    command_addf(&compile, "-I%s/runtime", m->build->tools.home);
    command_add(&compile, source), command_add(&compile, "-o"), command_add(&compile, program),
        command_add(&compile, "-lm");
    char *said = said_by(m, &compile, "compile");
    free(said);
    command_add(&run, program);
    uint64_t most = (uint64_t)1 << 28,
             bytes = m->build->program ? program_weight_bytes(m->build->program) : most,
             least = (uint64_t)1 << 22;
    command_addf(&run, "%d", m->threads);
    command_addf(&run, "%" PRIu64, bytes > most ? most : bytes < least ? least : bytes);
    said = said ? said_by(m, &run, "limits") : NULL;
    if (!said) return;
    m->limits = (Limits){value_behind(said, "read "), value_behind(said, "fma "),
                         value_behind(said, "dot ")};
    free(said);
}

// ----------------------------------------------------------------------------------------- profile
// A line of --profile: "austen:  30.6 %   6.07 ms   384 calls  matmul_bf16_192x320
// llama.burin:30:17 model.layers.*.mlp"
typedef struct Account {
    double milliseconds;
    unsigned long long calls;
    char function[160], location[1024];
} Account;

static bool read_account(const char *line, Account *a) {
    int end = 0;
    const char *percent = strstr(line, " % ");
    *a = (Account){0};
    if (!percent ||
        sscanf(percent + 3, "%lf ms %llu calls %n", &a->milliseconds, &a->calls, &end) < 2 || !end)
        return false;
    const char *name = percent + 3 + end;
    size_t length = *name == '(' ? strcspn(name, ")") + 1 : strcspn(name, " ");
    const char *location = name + length;
    location += strspn(location, " ");
    snprintf(a->function, sizeof a->function, "%.*s", (int)length, name);
    snprintf(a->location, sizeof a->location, "%s", location);
    while (*a->location && isspace((unsigned char)a->location[strlen(a->location) - 1]))
        a->location[strlen(a->location) - 1] = 0;
    return true;
}

// Calls that have an account, in the order of the text.
typedef struct Site {
    const Program *program;
    const Kernel *kernel;
    const char *location;
    bool taken;
} Site;

static int add_sites(Arena *arena, const Program *p, Site *sites) {
    int n = call_sites(p, NULL);
    const Kernel **list = ARENA_ARRAY(arena, const Kernel *, n + 1);
    call_sites(p, list);
    for (int i = 0; i < n; i++) {
        Text t = {0};
        text_add(&t, "%s", "");
        write_location(&t, list[i], loop_of(p, list[i]) != NULL);
        sites[i] = (Site){.program = p, .kernel = list[i], .location = arena_strdup(arena, t.data)};
        text_free(&t);
    }
    return n;
}

static bool same_start(const char *a, const char *b, size_t n) { return !strncmp(a, b, n); }

static const Site *site_of(Site *sites, int n, const Account *a) {
    for (int i = 0; i < n; i++) {
        Site *s = &sites[i];
        bool same = !s->taken &&
                    !strcmp(s->program->functions[s->kernel->function].name, a->function) &&
                    same_start(s->location, a->location, sizeof a->location - 1);
        if (!same) continue;
        s->taken = true;
        return s;
    }
    return NULL;
}

// ----------------------------------------------------------------------------------------- one run
// The time that this machine needs at least: to read weights and caches, or to compute.
static double least_milliseconds(const Measuring *m, const Kernel *k, const Cost *c, double calls) {
    double rate = takes_integers(k) ? m->limits.dot : m->limits.fma,
           bytes = c->weight_bytes + (k->family == FAMILY_ATTENTION ? c->bytes : 0);
    if (m->limits.read <= 0 || rate <= 0) return 0;
    double reading = bytes / m->limits.read, computing = c->operations / rate;
    return 1e3 * calls * (reading > computing ? reading : computing);
}

static void add_account(const Measuring *m, json_t *list, const Account *a, const Site *s,
                        const StepSizes *sizes) {
    json_t *o = json_object();
    json_put_text(o, "function", a->function), json_put_text(o, "location", a->location);
    json_put(o, "ms", json_real(a->milliseconds)), json_put_count(o, "calls", a->calls);
    if (s) {
        Cost c = call_cost(s->program, s->kernel, sizes);
        json_put_text(o, "graph", s->program->graph->name),
            json_put_text(o, "node", s->kernel->node->name);
        json_put(o, "operations", json_real(c.operations * (double)a->calls));
        json_put(o, "weight_bytes", json_real(c.weight_bytes * (double)a->calls));
        json_put(o, "bytes", json_real(c.bytes * (double)a->calls));
        json_put(o, "least_ms", json_real(least_milliseconds(m, s->kernel, &c, (double)a->calls)));
    }
    json_add(list, o);
}

static json_t *run_of(const Measuring *m, const char *what, const char *said,
                      const StepSizes *sizes) {
    const Program *p = m->build->program;
    Arena *arena = m->build->arena;
    int n = call_sites(p, NULL) + (p->encoder ? call_sites(p->encoder, NULL) : 0);
    Site *sites = ARENA_ARRAY(arena, Site, n + 1);
    n = add_sites(arena, p, sites);
    if (p->encoder) n += add_sites(arena, p->encoder, sites + n);
    json_t *o = json_object(), *list = json_array();
    double all = 0, waiting = 0;
    for (const char *line = said; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        Account a;
        if (!read_account(arena_strndup(arena, line, strcspn(line, "\n")), &a)) continue;
        all += a.milliseconds;
        if (*a.function == '(')
            waiting = a.milliseconds, json_put_count(o, "waits", a.calls);
        else
            add_account(m, list, &a, site_of(sites, n, &a), sizes);
    }
    json_put_text(o, "step", what);
    json_put_count(o, "rows", (uint64_t)sizes->rows),
        json_put_count(o, "keys", (uint64_t)sizes->keys);
    json_put(o, "ms", json_real(all)), json_put(o, "waiting_ms", json_real(waiting));
    json_put(o, "sites", list);
    return o;
}

// `steps`: number of steps; 0: unknown
static json_t *run_program(const Measuring *m, const char *what, const char *words,
                           const StepSizes *sizes, int64_t steps) {
    CommandLine line = {.arena = m->build->arena};
    command_add(&line, m->program);
    command_add_words(&line, words);
    const char *trace = arena_printf(m->build->arena, "%s/trace.json", m->folder);
    command_addf(&line, "--profile=%s", trace);
    char *said = said_by(m, &line, "run");
    if (!said)
        diag_fatal(
            NO_LOC,
            "the program did not run, so there is nothing to measure\nhint: try it: burin run %s",
            m->build->options->model);
    json_t *o = run_of(m, what, said, sizes);
    if (steps) json_put_count(o, "steps", (uint64_t)steps);
    if (!strstr(said, "are left out"))
        json_put(o, "layers", layers_of_trace(m->build->program, trace));
    free(said);
    return o;
}

// ---------------------------------------------------------------------------------------- the runs
static const char *some_tokens(const Build *b, int64_t n) {
    Text t = {0};
    int vocabulary = build_vocabulary(b);
    for (int64_t i = 0; i < n; i++) text_add(&t, "%s%" PRId64, i ? "," : "", i * 7919 % vocabulary);
    const char *tokens = arena_strdup(b->arena, t.data);
    text_free(&t);
    return tokens;
}

static void run_decoder(const Measuring *m, json_t *runs) {
    const Build *b = m->build;
    int64_t context = b->passes.context, rows = b->program->max_rows, n = PROMPT_CHUNKS * rows;
    int64_t steps = context < STEPS ? context : STEPS;
    StepSizes one = {.rows = 1, .keys = (steps + 1) / 2};
    const char *words = arena_printf(b->arena, "--tokens %s -n %" PRId64 " --temp 0 --ignore-eos",
                                     some_tokens(b, 1), steps);
    json_add(runs, run_program(m, "one row", words, &one, steps));
    if (n > context) n = context / rows * rows;
    if (!n) return;
    StepSizes prompt = {.rows = rows, .keys = (n + 1) / 2};
    json_add(runs,
             run_program(m, "prompt", arena_printf(b->arena, "--tokens %s -n 0", some_tokens(b, n)),
                         &prompt, n / rows));
}

static void run_translation(const Measuring *m, json_t *runs) {
    enum { SOURCE = 8, ANSWER = 16 };
    const Build *b = m->build;
    int64_t symbols[16];
    for (int i = 0; i < 16; i++) symbols[i] = SOURCE;
    StepSizes sizes = {.rows = 1, .keys = ANSWER / 2, .symbols = symbols};
    const char *words =
        arena_printf(b->arena, "--tokens %s -n %d --ignore-eos", some_tokens(b, SOURCE), ANSWER);
    json_add(runs, run_program(m, "a text and its answer", words, &sizes, 1));
}

// Over random values, of the sizes that the program takes by itself.
static void run_network(const Measuring *m, json_t *runs) {
    burin_network_values values;
    burin_command command = {.random = true};
    burin_network_values_open(&values, network_of(m->build->program), &command);
    StepSizes sizes = {.rows = burin_network_rows(values.net, values.symbols),
                       .symbols = values.symbols};
    json_add(runs, run_program(m, "runs over random values", "--random --bench", &sizes, 0));
    burin_network_values_close(&values);
}

static void build_program(Measuring *m) {
    Build *b = m->build;
    m->folder = work_folder(b->arena);
    m->program = arena_printf(b->arena, "%s/%s", m->folder, b->name);
    build_check_output(b, m->program);
    build_output(b, m->program);
}

json_t *measure(Build *b) {
    Measuring m = {.build = b, .cpu = best_cpu(&b->tools), .threads = processors()};
    build_program(&m);
    measure_limits(&m);
    json_t *o = json_object(), *runs = json_array(), *limits = json_object();
    if (b->program->encoder)
        run_translation(&m, runs);
    else if (is_decoder(b->program))
        run_decoder(&m, runs);
    else
        run_network(&m, runs);
    json_put(limits, "read", json_real(m.limits.read));
    json_put(limits, "fma", json_real(m.limits.fma)),
        json_put(limits, "dot", json_real(m.limits.dot));
    json_put_text(o, "cpu", m.cpu->name), json_put_count(o, "threads", (uint64_t)m.threads);
    json_put(o, "limits", limits), json_put(o, "runs", runs);
    remove_tree(m.folder);
    diag_keep(m.folder);
    return o;
}

double measure_reading(Build *b) {
    toolchain_find(&b->tools);
    Measuring m = {.build = b,
                   .folder = work_folder(b->arena),
                   .cpu = best_cpu(&b->tools),
                   .threads = processors()};
    measure_limits(&m);
    remove_tree(m.folder);
    diag_keep(m.folder);
    return m.limits.read;
}
