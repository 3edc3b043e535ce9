// Drives clang: which flags, which files, at the same time where they do not depend on each other.
#include "toolchain/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "toolchain/cache.h"
#include "toolchain/compiler.h"
#include "toolchain/flags.h"
#include "toolchain/image.h"
#include "toolchain/includes.h"
#include "toolchain/runtime_files.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/text.h"

#define FLAGS FLAGS_LANGUAGE " " FLAGS_NUMBERS " " FLAGS_ALIKE

// ----------------------------------------------------------------------------- --target and --mcpu
static bool is_name_of_arm(const char *name) {
    static const char *const starts[] = {"cortex", "neoverse", "apple-", "armv", "arm"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(name, starts[i], strlen(starts[i]))) return true;
    return false;
}

// The first machine of an architecture
static const char *triple_of(const char *architecture) {
    for (int i = 0; i < n_machines; i++)
        if (!strcmp(machines[i].architecture, architecture)) return machines[i].triple;
    return "TRIPLE";
}

// What clang, gcc and makers of boards call levels and CPUs. NULL: nothing known.
static const char *meant_cpu(const char *name) {
    static const char *const meant[][2] = {
        {"avx2", "x86-64-v3"},      {"avx", "x86-64-v3"},
        {"avx512", "x86-64-v4"},    {"avx512f", "x86-64-v4"},
        {"vnni", "x86-64-v4+vnni"}, {"amx", "x86-64-v4+amx"},
        {"x86-64-v2", "x86-64"},    {"host", "native"},
        {"neon", "armv8-a"},        {"dotprod", "armv8.2-a+dotprod"},
        {"i8mm", "armv8.2-a+i8mm"}, {"rpi3", "cortex-a53"},
        {"rpi4", "cortex-a72"},     {"rpi5", "cortex-a76"}};
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (!strcmp(name, meant[i][0])) return meant[i][1];
    return NULL;
}

static const Target *cpu_find(const Toolchain *t, const char *name) {
    const Target *cpu = target_find(name, t->fast);
    if (!cpu) {
        const char *names[64];
        size_t n = (size_t)target_names(t->machine->architecture, names, 64);
        const char *near = nearest_name(name, names, n), *meant = meant_cpu(name);
        const Target *found = meant ? target_find(meant, t->fast) : NULL;
        if (found && !target_is_of(found, t->machine->architecture))
            usage_error("--mcpu=%s: not a CPU or level\n  hint: --target=%s --mcpu=%s", name,
                        triple_of(found->architecture), meant);
        if (meant)
            usage_error("--mcpu=%s: not a CPU or level of %s\n  hint: did you mean %s?", name,
                        t->machine->triple, meant);
        if (is_name_of_arm(name) && strcmp(t->machine->architecture, "aarch64"))
            usage_error(
                "--mcpu=%s: not a CPU or level of %s\n  hint: CPUs of ARM need "
                "--target=aarch64-linux-gnu; `burin targets` "
                "lists all",
                name, t->machine->triple);
        if (near)
            usage_error("--mcpu=%s: not a CPU or level of %s\n  hint: did you mean %s?", name,
                        t->machine->triple, near);
        usage_error("--mcpu=%s: not a CPU or level of %s\n  hint: there are native, %s", name,
                    t->machine->triple, name_list(names, n));
    }
    if (!target_is_of(cpu, t->machine->architecture))
        usage_error("--mcpu=%s: that is of %s, and the program is for %s\n  hint: add --target=%s",
                    name, cpu->architecture, t->machine->triple, triple_of(cpu->architecture));
    if (cpu->use == FOR_FAST_MATH && !t->fast)
        usage_error("--mcpu=%s: that level is for --math=fast alone\n  hint: add --math=fast",
                    name);
    return cpu;
}

static void read_cpus(Toolchain *t, const char *list) {
    if (!list) {
        t->n_cpus = target_defaults(t->machine->architecture, t->fast, t->cpus, MAX_CPUS);
        return;
    }
    while (*list) {
        size_t n = strcspn(list, ",");
        const Target *cpu = cpu_find(t, arena_strndup(t->arena, list, n));
        bool known = false;
        for (int i = 0; i < t->n_cpus; i++) known |= t->cpus[i] == cpu;
        if (!known && t->n_cpus == MAX_CPUS) usage_error("--mcpu: at most %d CPUs", MAX_CPUS);
        if (!known) t->cpus[t->n_cpus++] = cpu;
        list += n + (list[n] == ',');
    }
    // Best last: targets[] is in that order.
    for (int i = 1; i < t->n_cpus; i++)
        for (int j = i; j && t->cpus[j] < t->cpus[j - 1]; j--) {
            const Target *swap = t->cpus[j];
            t->cpus[j] = t->cpus[j - 1], t->cpus[j - 1] = swap;
        }
}

Toolchain toolchain_new(Arena *arena, const char *triple, const char *cpus, bool fast) {
    Toolchain t = {
        .arena = arena, .machine = machine_find(triple), .fast = fast, .chosen = cpus != NULL};
    t.native = machine_is_native(t.machine);
    read_cpus(&t, cpus);
    return t;
}

void toolchain_without(Toolchain *t, TargetUse use) {
    int n = 0;
    for (int i = 0; i < t->n_cpus; i++)
        if (t->chosen || t->cpus[i]->use != use) t->cpus[n++] = t->cpus[i];
    t->n_cpus = n;
}

void toolchain_with_mpi(Toolchain *t) {
    static const char name[] = "mpicc";
    if (!t->native)
        usage_error(
            "--with=mpi: there is no MPI for %s here\n  hint: build on a machine of that kind",
            t->machine->triple);
    if (!find_program(t->arena, name))
        diag_fatal(NO_LOC,
                   "--with=mpi: there is no mpicc on PATH\nhint: apt-get install libopenmpi-dev "
                   "openmpi-bin, or libmpich-dev mpich");
    t->mpi = name;
}

void toolchain_with_sysroot(Toolchain *t, const char *folder, bool links) {
    if (machine_is_windows(t->machine))
        usage_error(
            "--sysroot: programs for Windows are linked with mingw-w64's libraries\n  hint: leave "
            "it out");
    if (t->mpi)
        usage_error(
            "--sysroot does not go together with --with=mpi: mpicc says where MPI's libraries are");
    t->sysroot = sysroot_open(t->arena, t->machine, folder, links);
}

// What clang compiles and links for, and with whose headers.
void toolchain_place(const Toolchain *t, CommandLine *line) {
    command_addf(line, "--target=%s", t->machine->triple);
    if (machine_is_windows(t->machine))
        command_add(line, "--sysroot=/usr");  // or clang asks where gcc is on PATH
    if (t->sysroot.folder) command_addf(line, "--sysroot=%s", t->sysroot.folder);
}

// Where clang does not look for the machine's headers by itself.
static const char *header_flags(const Toolchain *t) {
    const Machine *m = t->machine;
    if (t->sysroot.folder || (!machine_has_musl(m) && !machine_is_bare(m))) return "";
    return arena_printf(t->arena, "-nostdlibinc -isystem %s", machine_headers(t->arena, m));
}

// The C library that this machine has for the other
static void find_library(Toolchain *t) {
    const Machine *m = t->machine;
    const char *missing = machine_lacks(t->arena, m);
    if (missing)
        diag_fatal(NO_LOC, "there is no C library for %s here: %s is missing\nhint: %s", m->triple,
                   missing, cross_hint(t->arena, machine_packages(t->arena, m), m->triple));
    t->sysroot.key = headers_key(t->arena, machine_headers(t->arena, m));
    if (machine_has_musl(m))
        t->sysroot.libraries = arena_printf(t->arena, "/usr/lib/%s", m->triple);
}

void toolchain_find(Toolchain *t) {
    t->home = burin_home(t->arena);
    const char *best = t->cpus[t->n_cpus - 1]->flags;
    t->clang = compiler_find(t, arena_printf(t->arena, FLAGS " %s %s", best, header_flags(t)));
    // what mpicc of Open MPI and of MPICH call
    if (t->mpi) setenv("OMPI_CC", t->clang, 1), setenv("MPICH_CC", t->clang, 1);
    if (!t->sysroot.folder) find_library(t);
}

// --------------------------------------------------------------------------------------- compiling
enum { MAX_JOBS = 2 * MAX_CPUS + 32 };

typedef struct Compilation {
    const Toolchain *tools;
    const Emitted *emitted;
    Job *jobs;
    int n_jobs;
    Objects objects;
    uint64_t key;                               // of the compiler
    const char *folders[3];                     // of what sources include
    const char *from[MAX_JOBS], *to[MAX_JOBS];  // new objects, for the cache
    int n_new;
} Compilation;

// A program without what debuggers alone read: -O1 keeps it. (longjmp of Windows goes by unwind
// tables.)
static bool is_spare(const Toolchain *t) { return !t->quick && !machine_is_windows(t->machine); }

static const char *baseline(const Compilation *c, const char *flags) {
    const Toolchain *t = c->tools;
    if (t->mpi) flags = arena_printf(t->arena, "-DBURIN_MPI=1 %s", flags);
    const char *pic = c->emitted->kind == OUTPUT_PROGRAM
                          ? is_spare(t) ? FLAGS_PROGRAM " " FLAGS_SPARE : FLAGS_PROGRAM
                      : machine_is_bare(t->machine) ? FLAGS_BARE
                                                    : FLAGS_LIBRARY;
    return arena_printf(t->arena, FLAGS " %s %s %s", pic, flags, header_flags(t));
}

// Of what runs on every CPU of the machine, and has no kernels. `small`: its time does not matter.
static const char *base_flags(const Compilation *c, bool small) {
    const Toolchain *t = c->tools;
    small |= machine_is_bare(t->machine);
    const char *flags = t->quick && !machine_is_bare(t->machine) ? FLAGS_QUICK_RUNTIME
                        : small                                  ? FLAGS_SMALL
                                                                 : FLAGS_RUNTIME;
    return baseline(
        c, arena_printf(t->arena, "%s%s%s%s%s%s %s", t->png ? "-DBURIN_PNG=1 " : "",
                        t->jpeg ? "-DBURIN_JPEG=1 " : "", t->webp ? "-DBURIN_WEBP=1 " : "",
                        t->flac ? "-DBURIN_FLAC=1 " : "", t->server ? "-DBURIN_SERVER=1 " : "",
                        flags, target_find(t->machine->cpu, false)->flags));
}

const char *toolchain_kernel_flags(const Toolchain *t) {
    return t->quick ? FLAGS_QUICK_KERNELS : FLAGS_KERNELS;
}

// The unit of runtime/mpi, which needs the headers of MPI
#define MPI_UNIT "runtime-mpi.c"

static void add_job(Compilation *c, const char *source, const char *object, const char *flags,
                    const char *what) {
    const Toolchain *t = c->tools;
    Job *j = &c->jobs[c->n_jobs++];
    *j = (Job){
        .line = {.arena = t->arena},
        .what = what,
        .emitted = strncmp(source, c->emitted->folder, strlen(c->emitted->folder)) ? NULL : source,
        .output = object,
        .log = arena_printf(t->arena, "%s/%d.log", c->emitted->folder, c->n_jobs)};
    command_add(&j->line, strstr(source, MPI_UNIT) ? t->mpi : t->clang);
    toolchain_place(t, &j->line);
    command_add_words(&j->line, flags);
    command_addf(&j->line, "-I%s", c->emitted->folder);
    command_addf(&j->line, "-I%s/runtime", t->home);
    command_add(&j->line, "-c");
    command_add(&j->line, source);
    command_add(&j->line, "-o");
    command_add(&j->line, object);
}

// `make` compiles the runtime of text programs for this machine, in build/objects; `make install`
// copies it. Keys have the compiler and all sources, so other objects are not found.
static const char *precompiled(const Toolchain *t, uint64_t key, const char *name) {
    static const char *const folders[] = {"build/objects", "objects"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *file = arena_printf(t->arena, "%s/%s/%016llx/%s", t->home, folders[i],
                                        (unsigned long long)key, name);
        if (!access(file, R_OK)) return file;
    }
    return NULL;
}

// An object depends on its source, its includes, the flags and the compiler; an equal one is
// precompiled, or taken from the cache.
static void add_object(Compilation *c, const char *source, const char *object, const char *flags,
                       const char *what) {
    Arena *arena = c->tools->arena;
    const uint64_t key = hash_text(flags, hash_source(arena, source, c->folders, c->key));
    const char *made = precompiled(c->tools, key, path_name(object));
    if (made) {
        c->objects.paths[c->objects.n++] = made;
        return;
    }
    const char *folder = cache_folder(arena, "objects", key);
    const char *cached = folder ? arena_printf(arena, "%s/%s", folder, path_name(object)) : NULL;
    bool there = cached && cache_find(arena, cached);
    c->objects.paths[c->objects.n++] = there ? cached : object;
    if (there) return;
    add_job(c, source, object, flags, what);
    if (cached) c->from[c->n_new] = object, c->to[c->n_new++] = cached;
}

static void add_source(Compilation *c, const char *source, const char *flags) {
    Arena *arena = c->tools->arena;
    const char *name = path_name(source);
    add_object(c, source,
               arena_printf(arena, "%s/%.*s.o", c->emitted->folder, (int)strlen(name) - 2, name),
               flags, arena_printf(arena, "compiling %s", name));
}

// -DBURIN_FLOATS: of a CPU beyond another in products of integers alone, whose other functions are
// the other's.
static const char *shared_floats(const Toolchain *t, const Target *cpu) {
    const Target *like = NULL;
    for (int i = 0; i < t->n_cpus && t->cpus[i] < cpu; i++)
        if (t->cpus[i]->use == FOR_ALL) like = t->cpus[i];
    if (cpu->use != FOR_INTEGERS || !like || like->vector_bits != cpu->vector_bits) return "";
    return arena_printf(t->arena, " -DBURIN_FLOATS=%s", like->symbol);
}

static void compile_model(Compilation *c, const Toolchain *t, const char *name) {
    const Emitted *e = c->emitted;
    const char *source = arena_printf(t->arena, "%s/%s.c", e->folder, name);
    for (int i = t->n_cpus - 1; i >= 0; i--) {
        const Target *cpu = t->cpus[i];
        add_object(
            c, source, arena_printf(t->arena, "%s/%s_%s.o", e->folder, name, cpu->symbol),
            baseline(c, arena_printf(t->arena, "%s %s -DBURIN_CPU=%s%s", toolchain_kernel_flags(t),
                                     cpu->flags, cpu->symbol, shared_floats(t, cpu))),
            arena_printf(t->arena, "compiling %s.c for %s", name, cpu->name));
    }
    add_source(c, arena_printf(t->arena, "%s/%s_model.c", e->folder, name), base_flags(c, false));
}

static const char *windows_flags(const Compilation *c, bool small) {
    return arena_printf(c->tools->arena, "%s -isystem %s/runtime/windows", base_flags(c, small),
                        c->tools->home);
}

// A source of a library for Windows, with what mingw-w64 does not have of POSIX as its own.
static void add_windows_source(Compilation *c, const char *source) {
    Arena *arena = c->tools->arena;
    const char
        *unit = arena_printf(arena, "%.*s_windows.c", (int)strlen(source) - 2, source),
        *text = arena_printf(
            arena,
            "#define BURIN_LINKAGE static __attribute__((unused))\n#include \"windows/posix.h\"\n"
            "#include \"%s\"\n#include \"windows/processors.c\"\n",
            path_name(source));
    write_file(unit, text, strlen(text));
    add_source(c, unit, windows_flags(c, false));
}

static void compile_models(Compilation *c) {
    const Emitted *e = c->emitted;
    compile_model(c, c->tools, e->name);
    if (e->draft) compile_model(c, e->draft_tools, e->draft);
    if (e->extra && machine_is_windows(c->tools->machine))
        add_windows_source(c, e->extra);
    else if (e->extra)
        add_source(c, e->extra, base_flags(c, false));
}

// In the unit's text, so that all other units are the same with and without a line editor
#define EDITOR_DEFINED "#define BURIN_EDITOR 1\n"

static void add_unit(Compilation *c, const char *name, const RuntimeFiles *files, bool small) {
    const Toolchain *t = c->tools;
    const char *unit = arena_printf(t->arena, "%s/%s", c->emitted->folder, name),
               *flags = base_flags(c, small);
    Text includes = {0};
    if (machine_is_windows(t->machine)) {
        text_add(&includes, "#include \"windows/posix.h\"\n");
        flags = windows_flags(c, small);
    }
    if (t->editor && runtime_reads_editor(files->names[0])) text_add(&includes, EDITOR_DEFINED);
    for (int i = 0; i < files->n; i++) text_add(&includes, "#include \"%s\"\n", files->names[i]);
    write_file(unit, includes.data, includes.length);
    text_free(&includes);
    add_source(c, unit, flags);
}

// A room that not every program has, and whose headers the other units need not bear.
static void add_room(Compilation *c, const char *runtime, const char *room, const char *unit,
                     bool small) {
    RuntimeFiles files = {0};
    runtime_add_room(c->tools->arena, runtime, room, ".c", &files);
    add_unit(c, unit, &files, small);
}

// A program linked statically with glibc: musl has no parts worth replacing.
static bool is_static_glibc(const Toolchain *t) {
    return is_spare(t) && !t->mpi && !machine_has_musl(t->machine);
}

// Four units, since most of a file's compile time goes to its headers: hot files, files for size,
// files that a line editor changes, and files of networks, pictures and sounds, whose messages the
// linker drops from programs of texts. (No model is named with a hyphen.)
static void compile_runtime(Compilation *c) {
    Arena *arena = c->tools->arena;
    const char *runtime = arena_printf(arena, "%s/runtime", c->tools->home);
    const RuntimeFiles all = runtime_files(arena, runtime, ".c");
    RuntimeFiles fast = {.names = ARENA_ARRAY(arena, const char *, all.n)};
    RuntimeFiles small = {.names = ARENA_ARRAY(arena, const char *, all.n)};
    RuntimeFiles edited = {.names = ARENA_ARRAY(arena, const char *, all.n)};
    RuntimeFiles networks = {.names = ARENA_ARRAY(arena, const char *, all.n)};
    for (int i = 0; i < all.n; i++) {
        RuntimeFiles *unit = runtime_reads_editor(all.names[i])     ? &edited
                             : runtime_is_of_networks(all.names[i]) ? &networks
                             : runtime_is_seldom_run(all.names[i])  ? &small
                                                                    : &fast;
        unit->names[unit->n++] = all.names[i];
    }
    add_unit(c, "runtime-1.c", &fast, false);
    add_unit(c, "runtime-2.c", &small, true);
    add_unit(c, "runtime-3.c", &edited, true);
    add_unit(c, "runtime-4.c", &networks, true);
    if (c->tools->mpi) add_room(c, runtime, "mpi", MPI_UNIT, false);
    if (c->tools->editor) add_room(c, runtime, "editor", "runtime-editor.c", true);
    if (c->tools->server) add_room(c, runtime, "server", "runtime-server.c", true);
    if (c->tools->server) add_room(c, runtime, "api", "runtime-api.c", true);
    if (c->tools->png)
        add_unit(c, "runtime-png.c", &(RuntimeFiles){(const char *[]){"codecs/png.c"}, 1}, false);
    if (c->tools->jpeg)
        add_unit(c, "runtime-jpeg.c", &(RuntimeFiles){(const char *[]){"codecs/jpeg.c"}, 1}, false);
    if (c->tools->webp)
        add_unit(c, "runtime-webp.c", &(RuntimeFiles){(const char *[]){"codecs/webp.c"}, 1}, false);
    if (c->tools->flac)
        add_unit(c, "runtime-flac.c", &(RuntimeFiles){(const char *[]){"codecs/flac.c"}, 1}, false);
    if (machine_is_windows(c->tools->machine))
        add_room(c, runtime, "windows", "runtime-windows.c", false);
    if (is_static_glibc(c->tools)) add_room(c, runtime, "glibc", "runtime-glibc.c", true);
}

// What library_answer_calls.h uses. The rooms are those of programs, whose memory is
// program/allocate.c.
static void compile_answers(Compilation *c) {
    Arena *arena = c->tools->arena;
    const char *runtime = arena_printf(arena, "%s/runtime", c->tools->home);
    RuntimeFiles files = {0};
    runtime_add_room(arena, runtime, "base", ".c", &files);
    runtime_add_room(arena, runtime, "template", ".c", &files);
    runtime_add_room(arena, runtime, "grammar", ".c", &files);
    const char **names = ARENA_ARRAY(arena, const char *, files.n + 4);
    memcpy(names, files.names, (size_t)files.n * sizeof *names);
    names[files.n++] = "tokenizer/tokenizer.c", names[files.n++] = "library/library_allocate.h";
    if (machine_is_windows(c->tools->machine))
        names[files.n++] = "windows/search.c", names[files.n++] = "windows/dates.c";
    add_unit(c, "runtime-answers.c", &(RuntimeFiles){names, files.n}, false);
}

static void keep_objects(const Compilation *c) {
    for (int i = 0; i < c->n_new; i++) cache_put(c->tools->arena, c->from[i], c->to[i]);
}

Objects toolchain_compile(const Toolchain *t, const Emitted *e) {
    Compilation c = {.tools = t, .emitted = e, .jobs = ARENA_ARRAY(t->arena, Job, MAX_JOBS)};
    c.objects.paths = ARENA_ARRAY(t->arena, const char *, MAX_JOBS);
    c.folders[0] = e->folder, c.folders[1] = arena_printf(t->arena, "%s/runtime", t->home);
    c.key =
        hash_file(compiler_path(t->arena, t->clang), hash_text(t->machine->triple, t->sysroot.key));
    if (t->mpi) c.key = hash_file(compiler_path(t->arena, t->mpi), c.key);
    compile_models(&c);
    if (e->kind == OUTPUT_PROGRAM) compile_runtime(&c);
    if (e->answers) compile_answers(&c);
    jobs_run(c.jobs, c.n_jobs, processors(), t->verbose);
    keep_objects(&c);
    return c.objects;
}

// ----------------------------------------------------------------------------------------- linking
static void add_objects(CommandLine *line, const Objects *objects) {
    for (int i = 0; i < objects->n; i++) command_add(line, objects->paths[i]);
}

static Job link_job(const Toolchain *t, const char *folder, const char *output) {
    return (Job){.line = {.arena = t->arena},
                 .what = "linking",
                 .output = output,
                 .log = arena_printf(t->arena, "%s/link.log", folder)};
}

// Arguments of the linker before and after the objects, and its script or NULL.
typedef struct Linking {
    const char *before, *behind, *script;
} Linking;

static void link_by(const Toolchain *t, Linking words, const Objects *objects, const char *folder,
                    const char *output) {
    Job j = link_job(t, folder, output);
    command_add(&j.line, t->mpi ? t->mpi : t->clang);
    toolchain_place(t, &j.line);
    if (t->sysroot.libraries) {
        command_addf(&j.line, "-B%s", t->sysroot.libraries);
        command_addf(&j.line, "-L%s", t->sysroot.libraries);
        command_add(&j.line, "-static-libgcc");
    }
    command_add_words(&j.line, words.before);
    if (words.script) command_add(&j.line, "-T"), command_add(&j.line, words.script);
    add_objects(&j.line, objects);
    command_add_words(&j.line, words.behind);
    command_add(&j.line, output);
    jobs_run(&j, 1, 1, t->verbose);
}

const char *toolchain_object_of(const Toolchain *t, const char *file, const char *symbol) {
    const char *source = arena_printf(t->arena, "%s.S", file),
               *object = arena_printf(t->arena, "%s.o", file);
    bool windows = machine_is_windows(t->machine);
    const char *hidden = windows ? "" : arena_printf(t->arena, ".hidden %s\n", symbol),
               *end = windows ? ".section .drectve,\"yn\"\n.ascii \" -exclude-symbols:%s\"\n"
                              : ".section .note.GNU-stack,\"\",%%progbits\n";
    const char *text =
        arena_printf(t->arena, ".section %s\n.global %s\n%s.balign 64\n%s:\n.incbin \"%s\"\n%s",
                     windows ? ".rdata,\"dr\"" : ".rodata", symbol, hidden, symbol, path_name(file),
                     arena_printf(t->arena, end, symbol));
    Job j = {.line = {.arena = t->arena},
             .what = "assembling the weights",
             .output = object,
             .log = arena_printf(t->arena, "%s.log", file)};
    write_file(source, text, strlen(text));
    command_add(&j.line, t->clang);
    toolchain_place(t, &j.line);
    command_add_words(&j.line, target_find(t->machine->cpu, false)->flags);
    command_addf(&j.line, "-I%s", path_folder(t->arena, file));
    command_add_words(&j.line, "-c");
    command_add(&j.line, source);
    command_add(&j.line, "-o");
    command_add(&j.line, object);
    jobs_run(&j, 1, 1, t->verbose);
    return object;
}

// A program's weights follow it, mapped by runtime/windows: the linker writes nothing after the
// sections.
static void link_for_windows(const Toolchain *t, const Objects *objects, bool program,
                             const char *folder, const char *output) {
    const char *linker = find_program(t->arena, "x86_64-w64-mingw32-ld");
    const char *words = program ? "-static -municode -s -Wl,--gc-sections,--stack,8388608"
                                : "-shared -static -s -Wl,--exclude-libs,ALL";
    if (linker) words = arena_printf(t->arena, "--ld-path=%s %s", linker, words);
    link_by(t, (Linking){words, "-lpthread -lsynchronization -o", NULL}, objects, folder, output);
}

// Where nothing unwinds a stack, glibc's own tables for it stay out, 60 KB. (crtbegin.o holds on to
// its own.)
static const char *without_tables(const Toolchain *t, const char *folder) {
    static const char script[] =
        "SECTIONS { /DISCARD/ : { *(EXCLUDE_FILE(*crtbegin*.o *crtend*.o) .eh_frame) } }\n"
        "INSERT BEFORE .init;\n";
    if (!is_static_glibc(t) || t->machine->address_bits == 32) return NULL;
    const char *file = arena_printf(t->arena, "%s/link.ld", folder);
    write_file(file, script, strlen(script));
    return file;
}

// Static and at fixed addresses: of 64 bits, the weights come later, at theirs (image.h).
void toolchain_link_program(const Toolchain *t, const Objects *objects, uint64_t draft,
                            const char *folder, const char *output) {
    if (machine_is_windows(t->machine)) {
        link_for_windows(t, objects, true, folder, output);
        return;
    }
    const char *script = without_tables(t, folder),
               *place = t->mpi ? "-no-pie" : "-static";  // MPI comes as shared libraries
    place = arena_printf(t->arena, "%s%s -Wl,--gc-sections", is_spare(t) ? "-s " : "", place);
    if (t->machine->address_bits != 32)
        place = arena_printf(t->arena,
                             "%s,--defsym=burin_weights=%#x,--defsym=burin_draft_weights=%#llx",
                             place, IMAGE_ADDRESS, (unsigned long long)draft);
    if (script) place = arena_printf(t->arena, "%s,--no-eh-frame-hdr", place);
    const char *libraries =
        arena_printf(t->arena, "%s %s %s %s %s %s -lm -lpthread -o", t->editor ? t->editor : "",
                     t->server ? t->server : "", t->png ? t->png : "", t->jpeg ? t->jpeg : "",
                     t->webp ? t->webp : "", t->flac ? t->flac : "");
    link_by(t, (Linking){place, libraries, script}, objects, folder, output);
}

static void archive(const Toolchain *t, const Objects *objects, const char *folder,
                    const char *output) {
    Job j = link_job(t, folder, output);
    command_add_words(&j.line, "ar rcsD");
    command_add(&j.line, output);
    add_objects(&j.line, objects);
    jobs_run(&j, 1, 1, t->verbose);
}

void toolchain_link_library(const Toolchain *t, const Objects *objects, OutputKind kind,
                            const char *folder, const char *output) {
    // one object of all others: their common symbols stay inside
    const Linking object = {"-nostdlib -r", "-o", NULL},
                  shared = {"-shared -Wl,--no-undefined", "-lm -lpthread -o", NULL};
    if (kind == OUTPUT_OBJECT) link_by(t, object, objects, folder, output);
    if (kind == OUTPUT_ARCHIVE) archive(t, objects, folder, output);
    if (kind != OUTPUT_SHARED) return;
    if (machine_is_windows(t->machine))
        link_for_windows(t, objects, false, folder, output);
    else
        link_by(t, shared, objects, folder, output);
}
