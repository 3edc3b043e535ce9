// The files that a build leaves: a program, a library and its header, or a folder of C. Complete,
// or not there: everything is made beside its place, under a name that is removed when the run ends
// early, and moved when it is whole.
#include "output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/editor.h"
#include "build/network_shapes.h"
#include "build/output_name.h"
#include "build/pictures.h"
#include "build/server.h"
#include "build/sounds.h"
#include "cli/options.h"
#include "output/bake.h"
#include "output/folder.h"
#include "output/library.h"
#include "output/manifest.h"
#include "output/memory.h"
#include "output/output_mark.h"
#include "output/wheel.h"
#include "toolchain/cache.h"
#include "toolchain/footprint.h"
#include "toolchain/process.h"
#include "toolchain/runtime_files.h"
#include "toolchain/scratch.h"
#include "util/files.h"

// In a folder of its own beside the output, which move_into_place removes.
typedef struct Partial {
    const char *folder, *path;
} Partial;

static Partial beside(const Build *b, const char *output) {
    const char *name = path_name(output),
               *folder = scratch_folder(b->arena, path_folder(b->arena, output),
                                        arena_printf(b->arena, ".%s.", name));
    if (!folder) diag_fatal(NO_LOC, "cannot write %s: %s", output, strerror(errno));
    return (Partial){folder, arena_printf(b->arena, "%s/%s", folder, name)};
}

// An earlier folder of this name goes into the partial one's place.
static void move_into_place(const Build *b, Partial from, const char *to) {
    const char *old = arena_printf(b->arena, "%s/old", from.folder);
    if (b->kind != OUTPUT_FOLDER) mark_output(from.path);
    diag_hold();
    bool there = b->kind == OUTPUT_FOLDER && !rename(to, old), moved = !rename(from.path, to);
    int error = errno;
    if (!moved && there) rename(old, to);
    if (moved) {
        remove_tree(from.folder);
        diag_keep(from.folder);
    }
    diag_release();
    if (!moved) diag_fatal(NO_LOC, "cannot write %s: %s", to, strerror(error));
}

// An object with the image as `symbol`.
static const char *weights_object(const Build *b, const char *folder, const char *symbol) {
    const char *file = arena_printf(b->arena, "%s/%s", folder, symbol),
               *object = arena_printf(b->arena, "%s.o", file);
    bool elf = !machine_is_windows(b->tools.machine);
    if (elf && image_write_object(&b->image, b->tools.machine->architecture, symbol, object))
        return object;
    image_write(&b->image, file);
    return toolchain_object_of(&b->tools, file, symbol);
}

static void check_address_space(const Build *b) {
    const uint64_t most = (uint64_t)2 << 30;
    uint64_t bytes = b->image.bytes + b->program->plan.slot_bytes;
    if (b->draft) bytes += b->draft->image.bytes + b->draft->program->plan.slot_bytes;
    if (b->tools.machine->address_bits == 32 && bytes > most)
        diag_fatal(
            NO_LOC,
            "%.1f GB of weights and cache do not fit the 2 GB that a program for %s can count on\n"
            "hint: a shorter --ctx, --quant, or a 64-bit --target",
            (double)bytes / (1 << 30), b->tools.machine->triple);
}

static void check_library_size(const Build *b, const char *output) {
    const uint64_t most = (uint64_t)2 << 30;
    if (output_is_wheel(output) && b->image.bytes > 2 * most - (64 << 20))
        diag_fatal(NO_LOC,
                   "%.1f GB of weights do not fit the 4 GB of a wheel\nhint: --quant, or -o x.so",
                   (double)b->image.bytes / (1 << 30));
    if (machine_is_windows(b->tools.machine) && b->image.bytes > most)
        diag_fatal(NO_LOC,
                   "%.1f GB of weights do not fit the 2 GB that a library for %s can have\n"
                   "hint: --quant, or -o model.exe: a program's weights may have any size",
                   (double)b->image.bytes / (1 << 30), b->tools.machine->triple);
}

static void add_weights(const Build *b, const char *folder, Objects *objects) {
    objects->paths[objects->n++] = weights_object(b, folder, weights_symbol(b));
}

static void build_program(Build *b, const char *folder, const char *output) {
    Emitted emitted = {.folder = folder, .name = b->program->name, .kind = OUTPUT_PROGRAM};
    if (b->draft) emitted.draft = b->draft->program->name, emitted.draft_tools = &b->draft->tools;
    check_address_space(b);
    Objects objects = toolchain_compile(&b->tools, &emitted);
    bool apart = b->tools.machine->address_bits == 64;  // the linker does not see the weights
    if (!apart) add_weights(b, folder, &objects);
    if (!apart && b->draft) add_weights(b->draft, folder, &objects);
    Partial partial = beside(b, output);
    toolchain_link_program(&b->tools, &objects, IMAGE_ADDRESS + b->image.bytes, folder,
                           partial.path);
    const Image *draft = b->draft ? &b->draft->image : NULL;
    if (machine_is_windows(b->tools.machine))
        image_append_behind(&b->image, draft, partial.path);
    else if (apart)
        image_append(&b->image, draft, partial.path);
    bake_prompt(b, folder, partial.path);
    move_into_place(b, partial, output);
}

// --------------------------------------------------------------------------------------- libraries
// A shared library of texts renders chat templates and holds answers to forms.
static bool has_answers(const Build *b) {
    return b->kind == OUTPUT_SHARED && is_decoder(b->program) && b->tokenizer;
}

// A shared library of a network that embeds texts, or labels them.
static bool takes_texts(const Build *b) {
    return b->kind == OUTPUT_SHARED && b->tokenizer && !b->pictures && (b->embeds || b->labels);
}

static LibraryFacts library_facts(const Build *b) {
    const Plan *plan = &b->program->plan;
    uint64_t rows = (uint64_t)b->program->max_rows;
    return (LibraryFacts){.identity = b->identity,
                          .numbers = b->numbers,
                          .network = !is_decoder(b->program),
                          .texts = has_answers(b) || takes_texts(b),
                          .card = takes_texts(b) ? b->chat.blob : NULL,
                          .net = is_decoder(b->program) ? NULL : network_of(b->program),
                          .context = (int32_t)b->passes.context,
                          .max_rows = (int32_t)rows,
                          .vocab_size = build_vocabulary(b),
                          .weight_bytes = program_weight_bytes(b->program),
                          .slot_bytes = plan->slot_bytes,
                          .row_bytes = plan->row_bytes,
                          .arena_bytes = program_arena_bytes(b->program),
                          .arena_lower_bound = plan->lower_bound * rows};
}

// NAME_api.c and NAME.h in `folder`; the header's place in the end is the caller's.
static void write_interface(const Build *b, const char *folder) {
    const LibraryFacts facts = library_facts(b);
    Text header = {0}, source = {0};
    library_header(b->tools.home, b->name, &facts, &header);
    library_source(b->tools.home, b->name, &facts, &source);
    write_file(arena_printf(b->arena, "%s/%s.h", folder, b->name), header.data, header.length);
    write_file(arena_printf(b->arena, "%s/%s_api.c", folder, b->name), source.data, source.length);
    text_free(&header);
    text_free(&source);
}

static void copy_file(const char *from, const char *to) {
    size_t size;
    char *bytes = read_text_file(from, &size);
    write_file(to, bytes, size);
    free(bytes);
}

// Returns true if the file is burin's own. It is read, never followed.
static bool is_own_python(const char *path) {
    char head[200] = "";
    struct stat s;
    int file =
        !lstat(path, &s) && S_ISREG(s.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool read_it = file >= 0 && read(file, head, sizeof head - 1) > 0;
    if (file >= 0) close(file);
    return read_it && strstr(head, "Written by burin");
}

// The package NAME beside the library: Python finds a folder before a NAME.so, which it would take
// for an extension of its own. A folder of others stays as it is.
static void library_module(const Build *b, const char *library, Text *text) {
    LibraryFacts facts = library_facts(b);
    facts.shared = library;
    library_python(b->tools.home, b->name, &facts, text);
}

static void write_package(const Build *b, const char *output) {
    const char *folder = arena_printf(b->arena, "%s/%s", path_folder(b->arena, output), b->name),
               *module = arena_printf(b->arena, "%s/__init__.py", folder);
    struct stat s;
    bool there = !lstat(folder, &s);
    Text text = {0};
    if (there && (!S_ISDIR(s.st_mode) || !is_own_python(module))) {
        diag_warning(NO_LOC, "the Python package %s is not written: %s\nhint: -o in another folder",
                     folder,
                     S_ISDIR(s.st_mode) ? "burin did not make what is there"
                                        : "a file of that name is there");
        return;
    }
    make_folder(folder);
    library_module(b, path_name(output), &text);
    write_file(module, text.data, text.length);
    write_file(arena_printf(b->arena, "%s/py.typed", folder), "", 0);
    text_free(&text);
}

// All but the weights, compiled in `folder`.
static Objects library_objects(const Build *b, const char *folder) {
    Emitted emitted = {.folder = folder,
                       .name = b->program->name,
                       .kind = b->kind,
                       .answers = has_answers(b),
                       .extra = arena_printf(b->arena, "%s/%s_api.c", folder, b->name)};
    write_interface(b, folder);
    return toolchain_compile(&b->tools, &emitted);
}

// An empty file holds nothing that could be lost (mktemp makes such).
static void check_file(const char *path, bool (*is_marked)(int file)) {
    uint64_t size;
    struct stat s;
    if (lstat(path, &s)) return;
    if (!S_ISREG(s.st_mode))
        diag_fatal(NO_LOC, "%s is there, and is %s\nhint: remove it, or give -o another name", path,
                   S_ISLNK(s.st_mode) ? "a link" : "no file");
    int fd = open_regular(path, &size);
    if (fd < 0) diag_fatal(NO_LOC, "cannot read %s, which is there: %s", path, strerror(errno));
    bool ours = !size || is_marked(fd);
    close(fd);
    if (!ours)
        diag_fatal(
            NO_LOC,
            "%s is there, and burin did not write it\nhint: remove it, or give -o another name",
            path);
}

// A library of this name in its package, in a file that has version and platform in its name
static void build_wheel(Build *b, const Objects *objects, const char *folder, const char *output) {
    bool windows = machine_is_windows(b->tools.machine);
    Text module = {0};
    Wheel w = {.name = b->name,
               .identity = b->identity,
               .file = arena_printf(b->arena, "%s.%s", b->name, windows ? "dll" : "so"),
               .machine = b->tools.machine};
    w.library = arena_printf(b->arena, "%s/%s", folder, w.file);
    toolchain_link_library(&b->tools, objects, b->kind, folder, w.library);
    library_module(b, w.file, &module);
    w.module = module.data;
    b->written = arena_printf(b->arena, "%.*s%s", (int)(path_name(output) - output), output,
                              wheel_name(b->arena, &w));
    check_file(b->written, output_is_marked);
    Partial partial = beside(b, b->written);
    wheel_write(b->arena, &w, partial.path);
    move_into_place(b, partial, b->written);
    text_free(&module);
}

static void build_library(Build *b, const char *folder, const char *output) {
    Objects objects = library_objects(b, folder);
    check_address_space(b);
    check_library_size(b, output);
    if (machine_is_bare(b->tools.machine)) memory_of_library(b, &objects);
    add_weights(b, folder, &objects);
    if (output_is_wheel(output)) {
        build_wheel(b, &objects, folder, output);
        return;
    }
    Partial partial = beside(b, output);
    toolchain_link_library(&b->tools, &objects, b->kind, folder, partial.path);
    move_into_place(b, partial, output);
    int stem = (int)(strrchr(output, '.') - output);
    copy_file(arena_printf(b->arena, "%s/%s.h", folder, b->name),
              arena_printf(b->arena, "%.*s.h", stem, output));
    if (b->kind == OUTPUT_SHARED) write_package(b, output);
}

// ------------------------------------------------------------------------------------ folders of C
static const char weights_source[] =
    "// The packed weights and the tokenizer, mapped as they are. 64-bit addressed: .lrodata may "
    "lie anywhere.\n"
    "#if defined(__x86_64__)\n"
    "    .section .lrodata,\"al\",%%progbits\n"
    "#else\n"
    "    .section .rodata,\"a\",%%progbits\n"
    "#endif\n"
    "    .globl %s_weights\n"
    "    .hidden %s_weights\n"
    "    .p2align 6\n"
    "%s_weights:\n"
    "    .incbin \"%s.weights\"\n"
    "    .section .note.GNU-stack,\"\",%%progbits\n";

static void copy_runtime(const Build *b, const char *to) {
    const char *from = arena_printf(b->arena, "%s/runtime", b->tools.home);
    RuntimeFiles files = runtime_files(b->arena, from, "");
    if (b->tools.mpi) runtime_add_room(b->arena, from, "mpi", "", &files);
    for (int i = 0; i < files.n; i++) {
        const char *copy = arena_printf(b->arena, "%s/%s", to, files.names[i]);
        make_folder(path_folder(b->arena, copy));
        copy_file(arena_printf(b->arena, "%s/%s", from, files.names[i]), copy);
    }
}

static void write_weights(const Build *b, const char *folder) {
    Text source = {0};
    text_add(&source, weights_source, b->name, b->name, b->name, b->name);
    write_file(arena_printf(b->arena, "%s/%s_weights.S", folder, b->name), source.data,
               source.length);
    image_write(&b->image, arena_printf(b->arena, "%s/%s.weights", folder, b->name));
    text_free(&source);
}

static void build_folder(Build *b, const char *output) {
    Partial made = beside(b, output);
    const char *partial = made.path;
    make_folder(partial);
    build_sources(b, partial);
    write_interface(b, partial);
    copy_runtime(b, arena_printf(b->arena, "%s/runtime", partial));
    folder_build_files(b, partial);
    write_weights(b, partial);
    if (b->draft) write_weights(b->draft, partial);
    folder_licence(b, partial);
    write_manifest(b, partial);
    folder_check_ours(b->arena, output);
    move_into_place(b, made, output);
}

// --------------------------------------------------------------------------------------------- all
// OUT.temps, made now or by an earlier build, which has left a mark in it.
static const char *temps_folder(const Build *b, const char *output) {
    const char *folder = arena_printf(b->arena, "%s.temps", output),
               *mark = arena_printf(b->arena, "%s/.burin", folder);
    struct stat s;
    bool there = !lstat(folder, &s),
         ours = there && S_ISDIR(s.st_mode) && !lstat(mark, &s) && S_ISREG(s.st_mode);
    if (there && !ours)
        diag_fatal(
            NO_LOC,
            "%s is there, and burin did not make it\nhint: remove it, or give -o another name",
            folder);
    make_folder(folder);
    write_file(mark, "", 0);
    return folder;
}

static void build_with_clang(Build *b, const char *output) {
    const char *folder = b->options->save_temps ? temps_folder(b, output) : work_folder(b->arena);
    editor_choose(b);
    server_choose(b);
    pictures_choose(b);
    sounds_choose(b);
    build_sources(b, folder);
    if (b->kind == OUTPUT_PROGRAM) {
        build_program(b, folder, output);
    } else {
        build_library(b, folder, output);
    }
    if (b->options->save_temps) return;
    remove_tree(folder);
    diag_keep(folder);
}

static bool is_folder(const char *path) {
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

// A device or a pipe, which the output would take the place of (/dev/null is one).
static bool is_special(const char *path) {
    struct stat s;
    return !stat(path, &s) && !S_ISDIR(s.st_mode) && !S_ISREG(s.st_mode);
}

// Read-only file systems and names that are too long show only when a file is made.
static void check_is_creatable(Build *b, const char *output, const char *parent) {
    const char *probe =
        arena_printf(b->arena, "%s/.%s.%d.probe", parent, path_name(output), (int)getpid());
    int file = open(probe, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file < 0) diag_fatal(NO_LOC, "cannot write %s: %s", output, strerror(errno));
    close(file);
    unlink(probe);
}

static bool is_marked_header(int file) {
    static const char start[] = "// C interface of the ", end[] = ", compiled by burin.\n";
    char head[256] = "";
    return pread(file, head, sizeof head - 1, 0) > 0 && !strncmp(head, start, strlen(start)) &&
           strstr(head, end);
}

// Programs and libraries are marked; the header of a library by its first line.
static void check_is_ours(const Build *b, const char *output) {
    if (b->into_cache || output_is_wheel(output)) return;
    check_file(output, output_is_marked);
    int stem = b->kind == OUTPUT_PROGRAM ? 0 : (int)(strrchr(output, '.') - output);
    if (stem) check_file(arena_printf(b->arena, "%.*s.h", stem, output), is_marked_header);
}

static void check_bare(const Build *b, const char *output) {
    const Machine *m = b->tools.machine;
    if (!machine_is_bare(m) || b->kind == OUTPUT_FOLDER) return;
    if (b->kind != OUTPUT_ARCHIVE)
        usage_error(
            "-o %s: there is no operating system on %s\n  hint: -o x.a, a library without heap, "
            "threads or files, to "
            "link with your startup code and linker script; examples/boards has some, and makes "
            "images of them",
            output, m->triple);
    if (b->tools.n_cpus > 1)
        usage_error("--mcpu: a library for %s has the code of one CPU", m->triple);
}

static void check_windows(const Build *b, const char *output) {
    const Machine *m = b->tools.machine;
    if (machine_is_windows(m) && (b->kind == OUTPUT_OBJECT || b->kind == OUTPUT_FOLDER))
        usage_error(
            "-o %s: for %s burin writes programs and libraries\n  hint: -o model.exe, -o model.a, "
            "-o model.dll",
            output, m->triple);
}

static void check_ranks(const Build *b, const char *output) {
    if (b->tools.mpi && b->kind != OUTPUT_PROGRAM && b->kind != OUTPUT_FOLDER)
        usage_error("-o %s: --with=mpi makes a program or a folder of C", output);
}

static void check_draft(const Build *b, const char *output) {
    const Options *o = b->options;
    if (!o->draft) return;
    if (b->kind != OUTPUT_PROGRAM && b->kind != OUTPUT_FOLDER)
        usage_error("-o %s: --draft makes a program or a folder of C", output);
    if (b->tools.mpi) usage_error("--draft does not go together with --with=%s", o->with);
}

static void check_sysroot(Build *b, const char *output) {
    const char *folder = b->options->sysroot;
    if (!folder) return;
    if (b->kind == OUTPUT_FOLDER)
        usage_error(
            "-o %s: --sysroot is what burin links with, and a folder of C is compiled later",
            output);
    toolchain_with_sysroot(&b->tools, folder,
                           b->kind == OUTPUT_PROGRAM || b->kind == OUTPUT_SHARED);
}

// Before the work begins: can it be written at all? An earlier file or folder of ours is
// overwritten, and nothing else.
void build_check_output(Build *b, const char *output) {
    const char *parent = path_folder(b->arena, output);
    check_output_name(b->arena, b->tools.machine, output);
    b->kind = output_kind(output);
    if (b->kind != OUTPUT_PROGRAM) b->name = symbol_name(b->arena, output);
    check_bare(b, output);
    check_windows(b, output);
    check_ranks(b, output);
    check_draft(b, output);
    check_sysroot(b, output);
    bake_check(b, output);
    if (b->kind != OUTPUT_FOLDER) toolchain_find(&b->tools);
    editor_check(b, output);
    server_check(b, output);
    pictures_check(b, output);
    sounds_check(b, output);
    if (!is_folder(parent))
        diag_fatal(NO_LOC, "cannot write %s: there is no folder %s/", output, parent);
    if (is_special(output))
        diag_fatal(
            NO_LOC,
            "cannot write %s: it is a device or a pipe\nhint: -o names a file that is written anew",
            output);
    if (!is_folder(output)) {
        if (b->kind == OUTPUT_FOLDER && !access(output, F_OK))
            diag_fatal(NO_LOC,
                       "%s is there, and is no folder\nhint: remove it, or give -o another name",
                       output);
        check_is_ours(b, output);
        check_is_creatable(b, output, parent);
        return;
    }
    if (b->kind != OUTPUT_FOLDER)
        diag_fatal(NO_LOC,
                   "cannot write the program to %s: it is a folder\nhint: -o says where it goes",
                   output);
    folder_check_ours(b->arena, output);
}

uint64_t build_code_bytes(Build *b) {
    const char *folder = work_folder(b->arena);
    check_sysroot(b, b->name);
    toolchain_find(&b->tools);
    build_sources(b, folder);
    Objects objects = library_objects(b, folder);
    uint64_t bytes = footprint_of(b->arena, &objects, b->name).code;
    remove_tree(folder);
    diag_keep(folder);
    return bytes;
}

void build_output(Build *b, const char *output) {
    if (b->kind == OUTPUT_FOLDER) {
        b->tools.home = burin_home(b->arena);
        build_folder(b, output);
    } else {
        build_with_clang(b, output);
    }
    cache_trim(b->arena, strchr(output, '/') ? path_folder(b->arena, output) : "");
}
