// burin: options, then the pipeline as one readable function.
//
//   checkpoint and description -> graphs -> passes -> kernels and plan -> C -> clang -> program
//
// This file has the commands; build/build.h leads to each step.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/standard_files.h"
#include "build/build.h"
#include "build/memory_needs.h"
#include "build/output_name.h"
#include "build/program_kind.h"
#include "cli/program_options.h"
#include "commands/commands.h"
#include "debug/calibrate.h"
#include "debug/check.h"
#include "debug/diff.h"
#include "output/memory.h"
#include "output/output.h"
#include "passes/pass.h"
#include "report/report.h"
#include "toolchain/cache.h"
#include "toolchain/compiler.h"
#include "toolchain/process.h"
#include "util/files.h"
#include "util/text.h"

static void print_text(Text *t) {
    if (t->length) fwrite(t->data, 1, t->length, stdout);
    text_free(t);
}

static void print_ir(const Build *b) {
    Text t = {0};
    module_print(&t, b->module);
    print_text(&t);
}

static void print_report(const Build *b) {
    if (!b->options->report) return;
    Text t = {0};
    fusion_report(&b->passes, &t);
    print_text(&t);
}

static void print_sizes(const Build *b) {
    Text t = {0};
    if (!b->options->report) fusion_table(&b->passes, &t);
    if (is_decoder(b->program))
        text_add(&t, "context %lld positions\n", (long long)b->passes.context);
    plan_print(&t, b->program);
    print_text(&t);
}

static void print_errors(const Build *b) {
    Text t = {0};
    if (b->options->quant_report || b->options->verbose)
        quant_report(b->program, &t);
    else
        quant_summary(b->program, &t);
    print_text(&t);
}

// The pipeline up to the program's text. False if the options stop it before, after printing their
// request.
static bool compile(Build *b) {
    build_open(b);
    build_load(b);
    bool whole = build_passes(b) && !(b->options->emit && !strcmp(b->options->emit, "ir"));
    print_report(b);
    if (whole) {
        if (b->options->perplexity) check_perplexity_text(b);
        if (b->options->calibrate) calibrate(b);
        build_lower(b);
        memory_check(b);
        build_draft(b);
        if (!b->options->emit) return true;
        Text t = {0};
        emit_program(b->program, &t);
        print_text(&t);
    } else {
        print_ir(b);
    }
    return false;
}

static bool build_in_process(Arena *, const Options *, bool quiet);

// The program's result for the text of --perplexity
static void print_perplexity(Arena *arena, const char *when, const char *program,
                             const Options *o) {
    const char *folder = work_folder(arena), *log = arena_printf(arena, "%s/log", folder);
    CommandLine line = {.arena = arena};
    command_add(&line, strchr(program, '/') ? program : arena_printf(arena, "./%s", program));
    command_add(&line, "--perplexity");
    command_add(&line, o->perplexity);
    if (o->window)
        command_addf(&line, "--window"), command_addf(&line, "%lld", (long long)o->window);
    bool good = process_succeeds(&line, log, o->verbose);
    char *said = read_text_file(log, NULL);
    said[strcspn(said, "\n")] = 0;
    if (!good) diag_fatal(NO_LOC, "--perplexity=%s: %s", o->perplexity, said);
    print_spelled("%s %s\n", when, said);
    free(said);
    remove_tree(folder);
    diag_keep(folder);
}

// Before: the same program with the weights as they are in the checkpoint
static void compare_perplexity(Arena *arena, const Options *o, const char *output) {
    Options before = *o;
    const char *folder = work_folder(arena);
    before.quant = before.calibrate = before.perplexity = NULL;
    before.quant_report = before.save_temps = before.verbose = before.requantize = false;
    before.output = arena_printf(arena, "%s/before", folder);
    if (o->quant && build_in_process(arena, &before, true))
        print_perplexity(arena, "before", before.output, o);
    print_perplexity(arena, "after ", output, o);
    remove_tree(folder);
    diag_keep(folder);
}

static uint64_t file_bytes(const char *path) {
    struct stat s;
    return stat(path, &s) ? 0 : (uint64_t)s.st_size;
}

// The one line that a build ends with: what was written, the memory it needs, what to try.
static void print_summary(const Build *b, const char *output) {
    char size[32];
    const char *base = path_name(output),
               *trial = b->kind == OUTPUT_PROGRAM && b->tools.native ? program_trial(b) : NULL;
    bool wheel = b->written, renamed = !wheel && b->kind != OUTPUT_PROGRAM &&
                                       strncmp(base, b->name, strcspn(base, "."));
    print_spelled("%s: %s for", output,
                  b->kind == OUTPUT_PROGRAM  ? "a program"
                  : b->kind == OUTPUT_FOLDER ? "a folder of C"
                  : wheel                    ? "a wheel"
                                             : "a library");
    for (int i = 0; i < b->tools.n_cpus; i++) printf(" %s", b->tools.cpus[i]->name);
    if (b->kind != OUTPUT_FOLDER) printf(", %s MB", megabytes_text(size, file_bytes(output)));
    printf("%s%s; needs at most %s", b->tools.editor ? ", with libedit" : "",
           b->tools.server ? ", with a server (libevent)" : "", memory_needs_text(b));
    if (renamed) printf("; its C names begin with %s_", b->name);
    if (wheel) print_spelled("; pip install %s, then import %s", output, b->name);
    if (trial) print_spelled("; try %s%s %s", strchr(output, '/') ? "" : "./", output, trial);
    printf("\n");
}

// A cache is valid on every machine: a program for another one gets that of its twin for this one.
// NULL: the program reads the prompt itself.
static const char *reader_of_prompt(const Build *b) {
    Options here = *b->options;
    if (b->tools.native) return NULL;
    const char *folder = work_folder(b->arena);
    here.target = here.sysroot = here.prompt = here.prompt_messages = here.perplexity = NULL;
    here.quant_report = here.save_temps = here.verbose = here.report = false;
    here.mcpu = "native", here.optimize = "1";
    here.output = arena_printf(b->arena, "%s/reader", folder);
    if (!build_in_process(b->arena, &here, true))
        diag_fatal(NO_LOC,
                   "--prompt: the program cannot be built for this machine, which reads "
                   "the prompt\nhint: burin build without --target has the reason");
    return here.output;
}

static int build_for_one(Arena *arena, const Options *o) {
    Build b = build_new(arena, o);
    const char *output = output_name(arena, o, b.tools.machine);
    bool printed = o->emit || o->stop_after;
    if (!printed) build_check_output(&b, output);
    if (o->perplexity && (printed || b.kind != OUTPUT_PROGRAM || !b.tools.native || b.tools.mpi))
        usage_error(
            "--perplexity=%s runs the program that is built\n  hint: leave it out, or build a "
            "program for this machine",
            o->perplexity);
    if (!printed && (o->prompt || o->prompt_messages)) b.reader = reader_of_prompt(&b);
    if (!compile(&b)) return 0;
    if (o->verbose) print_sizes(&b);
    build_output(&b, output);
    if (b.reader) remove_tree(path_folder(arena, b.reader));
    if (o->quant_report || o->quant) print_errors(&b);
    if (o->perplexity) compare_perplexity(arena, o, output);
    if (b.numbers) printf("numbers %s\n", b.numbers);
    print_summary(&b, b.written ? b.written : output);
    return 0;
}

// In a process of its own: an error ends that.
static bool build_in_process(Arena *arena, const Options *o, bool quiet) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) diag_fatal(NO_LOC, "cannot run another process: %s", strerror(errno));
    if (!child) {
        int nowhere = quiet ? open("/dev/null", O_WRONLY) : -1;
        if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
        exit(build_for_one(arena, o));
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return false;
    return !status;
}

// A program for each machine with an operating system that can be built for here: DIR/TRIPLE/NAME.
static int build_for_all(Arena *arena, const Options *all) {
    int built = 0, failed = 0;
    if (!all->output)
        usage_error("--target=all-linux writes a program for each machine\nhint: -o FOLDER");
    if (all->sysroot)
        usage_error("--sysroot is of one machine\nhint: leave it out with --target=all-linux");
    if (all->mcpu)
        usage_error("--mcpu names CPUs of one machine\nhint: leave it out with --target=all-linux");
    int length = (int)strlen(all->output);
    while (length > 1 && all->output[length - 1] == '/') length--;
    for (int i = 0; i < n_machines; i++) {
        Options o = *all;
        const Machine *m = &machines[i];
        if (machine_is_bare(m) || machine_is_windows(m)) continue;
        o.target = m->triple;
        const char *missing = machine_lacks(arena, m),
                   *folder = arena_printf(arena, "%.*s/%s", length, all->output, m->triple);
        if (missing) {
            print_spelled("%s: not built, %s is missing: %s\n", m->triple, missing,
                          cross_hint(arena, machine_packages(arena, m), m->triple));
            continue;
        }
        make_folder(folder);
        o.output = arena_printf(arena, "%s/%s", folder, model_name(arena, &o));
        bool good = build_in_process(arena, &o, false);
        if (!good) rmdir(folder);
        built += good, failed += !good;
    }
    return failed || !built;
}

static int command_build(Arena *arena, const Options *o) {
    return o->target && !strcmp(o->target, "all-linux") ? build_for_all(arena, o)
                                                        : build_for_one(arena, o);
}

// The words of a program's command line, without its name
typedef struct ProgramWords {
    char *const *words;
    int n;
} ProgramWords;

// A place for the program in the cache, or else a folder that is removed once it runs.
static const char *program_path(Build *b, const char *cached, const char **folder) {
    enum { ROOM_FOR_CODE = 1 << 24 };
    if (cached && cache_make(b->arena, cached, b->image.bytes + ROOM_FOR_CODE)) return cached;
    *folder = work_folder(b->arena);
    return arena_printf(b->arena, "%s/%s%s", *folder, b->name, machine_ending(b->tools.machine));
}

// A word that the program would refuse is refused before it is compiled. In a process of its own,
// whose notes are not shown: the program has them again.
static void check_words(const Build *b, const ProgramWords *given) {
    char **words = ARENA_ARRAY(b->arena, char *, given->n + 2), part[4096];
    FILE *log = tmpfile();
    int status = 0;
    words[0] = arena_printf(b->arena, "%s", b->name);
    for (int i = 0; i < given->n; i++) words[1 + i] = given->words[i];
    fflush(NULL);
    pid_t child = log ? fork() : -1;
    if (!child) {
        dup2(fileno(log), STDOUT_FILENO), dup2(fileno(log), STDERR_FILENO);
        program_words_read(program_kind(b)->modes->kind, given->n + 1, words);
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status)) {
        rewind(log);
        for (size_t n; (n = fread(part, 1, sizeof part, log)) > 0;) fwrite(part, 1, n, stderr);
        exit(WEXITSTATUS(status));
    }
    if (log) fclose(log);
}

// The program of these options: from the cache, or built into it. NULL: stopped by the options.
static const char *find_or_build(Build *b, const ProgramWords *words, const char **folder) {
    const char *cached = build_cache_path(b);
    if (cached && cache_find(b->arena, cached) && !b->options->dump_ir) return cached;
    if (!compile(b)) return NULL;
    check_words(b, words);
    const char *program = program_path(b, cached, folder);
    b->into_cache = program == cached;
    build_check_output(b, program);
    build_output(b, program);
    if (program == cached) cache_seal(b->arena, program);
    return program;
}

// Under qemu the program keeps its name.
static void add_emulator(const Build *b, CommandLine *line, int file, const char *program) {
    if (machine_is_windows(b->tools.machine)) {
        command_add(line, program);
        return;
    }
    command_add(line, "-cpu");
    command_add(line, b->tools.machine->emulated);
    command_add(line, "-0");
    command_add(line, program);
    command_addf(line, "/proc/self/fd/%d", file);
}

static int run_program(Build *b, char *const *words, int n) {
    const char *folder = NULL, *emulator = b->tools.native ? NULL : emulator_find(&b->tools),
               *program = find_or_build(b, &(ProgramWords){words, n}, &folder);
    if (!program) return 0;
    CommandLine line = {.arena = b->arena};
    int file = open(program, O_RDONLY | (emulator ? 0 : O_CLOEXEC));
    command_add(&line, emulator ? emulator : program);
    if (emulator) add_emulator(b, &line, file, program);
    for (int i = 0; i < n; i++) command_add(&line, words[i]);
    if (folder) remove_tree(folder), diag_keep(folder);
    release_signals();
    if (emulator && file >= 0) execvp(emulator, (char *const *)line.words);
    if (!emulator && file >= 0) fexecve(file, (char *const *)line.words, environ);
    diag_fatal(NO_LOC, "cannot run %s: %s", program, strerror(errno));
}

// A program that runs here once has the code of this CPU alone, unless its --cpu asks for that of
// another.
static const Options *native_options(Arena *arena, const Options *o) {
    Options *here = ARENA_NEW(arena, Options);
    *here = *o;
    if (o->interpret || o->mcpu || !machine_is_native(machine_find(o->target))) return o;
    for (int i = 0; i < o->n_rest; i++)
        if (!strncmp(o->rest[i], "--cpu", strlen("--cpu"))) return o;
    here->mcpu = "native";
    return here;
}

static int command_run(Arena *arena, const Options *o) {
    Build b = build_new(arena, native_options(arena, o));
    if (o->interpret) return interpret(&b);
    return run_program(&b, o->rest, o->n_rest);
}

// The program's words: --serve, then those that burin does not know.
static int command_serve(Arena *arena, const Options *o) {
    if (o->interpret)
        usage_error("--interpret: a server is a compiled program\n  hint: leave it out");
    if (o->with && strcmp(o->with, "server"))
        usage_error("burin serve does not go together with --with=%s", o->with);
    Options *serves = ARENA_NEW(arena, Options);
    *serves = *native_options(arena, o);
    serves->with = "server";
    Build b = build_new(arena, serves);
    char serve[] = "--serve", **words = ARENA_ARRAY(arena, char *, o->n_rest + 1);
    words[0] = serve;
    for (int i = 0; i < o->n_rest; i++) words[1 + i] = o->rest[i];
    return run_program(&b, words, o->n_rest + 1);
}

static int command_bench(Arena *arena, const Options *o) {
    Build b = build_new(arena, native_options(arena, o));
    char *const words[] = {"--bench"};
    return run_program(&b, words, 1);
}

static int command_check(Arena *arena, const Options *o) {
    if (o->reduce != !!o->reduced)
        usage_error("--reduce and -o go together: --bisect --reduce -o small.ir");
    Build b = build_new(arena, o);
    return o->against ? check_against(&b) : o->bisect ? check_bisect(&b) : check(&b);
}

static int command_inspect(Arena *arena, const Options *o) {
    Build b = build_new(arena, o);
    if (o->emit && !strcmp(o->emit, "c")) {
        compile(&b);
        return 0;
    }
    if (!o->emit && !o->stop_after && !o->start_from) inspect_weights(&b);
    build_open(&b);
    build_load(&b);
    if (!build_passes(&b) || o->emit) {
        print_report(&b);
        print_ir(&b);
    } else {
        inspect(&b);
    }
    return 0;
}

static int command_report(Arena *arena, const Options *o) {
    Build b = build_new(arena, o);
    return report_model(&b);
}

static int command_explain(Arena *arena, const Options *o) {
    Build b = build_new(arena, o);
    return explain_model(&b);
}

static int command_plan(Arena *arena, const Options *o) {
    bool of_shape = text_ends_with(o->model, ".json");
    Build b = build_new(arena, o);
    return !of_shape && !compile(&b) ? 0 : plan_ranks(&b, of_shape);
}

static int command_diff(Arena *arena, const Options *o) { return diff(arena, o); }

static int command_help(Arena *arena, const Options *o) { return help(arena, o); }

static int command_passes(Arena *arena, const Options *o) {
    (void)arena, (void)o;
    list_passes();
    return 0;
}

static int command_tokenize(Arena *arena, const Options *o) { return tokenize_texts(arena, o); }

static int command_template(Arena *arena, const Options *o) { return render_template(arena, o); }

static int command_ops(Arena *arena, const Options *o) {
    (void)arena, (void)o;
    list_ops();
    return 0;
}

static int command_targets(Arena *arena, const Options *o) {
    (void)o;
    list_targets(arena);
    return 0;
}

static int command_formats(Arena *arena, const Options *o) {
    (void)arena, (void)o;
    list_formats();
    return 0;
}

static int command_models(Arena *arena, const Options *o) {
    list_models(burin_home(arena), o->model);
    return 0;
}

// Never called: options_read turns `burin list KIND` into the command KIND.
static int command_list(Arena *arena, const Options *o) {
    (void)arena, (void)o;
    abort();
}

static int (*const commands[COMMAND_COUNT])(Arena *, const Options *) = {
#define COMMAND(name, ...) command_##name,
#include "cli/commands.def"
#undef COMMAND
};

// Exits with status 1 if standard output cannot be flushed: a disk may be full, a descriptor
// closed.
static void check_printed(void) {
    if (!fflush(stdout) && !ferror(stdout)) return;
    fprintf(stderr, "burin: error: cannot write to standard output: %s\n", strerror(errno));
    _exit(1);
}

int main(int argc, char **argv) {
    Options options;
    burin_open_standard_files();
    atexit(check_printed);
    options_read(&options, argc, argv);
    options_open_onnx_folder(&options);
    catch_signals();
    Arena *arena = arena_new();
    int status = commands[options.command](arena, &options);
    free(options.rest);
    arena_free(arena);
    return status;
}
