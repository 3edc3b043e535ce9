// Names of outputs: the meaning of their endings, and C names derived from them. A name that
// implies an unsupported output is refused before any work.
#include "build/output_name.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "util/files.h"
#include "util/text.h"

enum { MAX_NAME = 100 };  // of what symbols and files inside a build begin with

// ------------------------------------------------------------------------------------------- kinds
static const struct {
    const char *ending;
    OutputKind kind;
} kinds[] = {{".c", OUTPUT_FOLDER},  {".o", OUTPUT_OBJECT},   {".a", OUTPUT_ARCHIVE},
             {".so", OUTPUT_SHARED}, {".whl", OUTPUT_SHARED},  // one in its Python package
             {".dll", OUTPUT_SHARED}};

bool output_is_wheel(const char *output) { return text_ends_with(output, ".whl"); }

OutputKind output_kind(const char *output) {
    const char *base = path_name(output);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(base, kinds[i].ending) && text_ends_with(base, kinds[i].ending))
            return kinds[i].kind;
    return OUTPUT_PROGRAM;
}

// ----------------------------------------------------------------------------------------- symbols
static bool is_one_of(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

// Returns true if NAME.c would hide a file of the runtime, NAME a target of the Makefile, or
// NAME_init something of the runtime or of libc; or if Python cannot import NAME.
static bool is_taken(const char *name) {
    static const char *const names[] = {
#include "runtime_names.h"
        "runtime", "all",    "clean",  "install", "uninstall", "makefile", "gnumakefile",
        "sem",     "mtx",    "cnd",    "iconv",   "mq",        "dbm",      "thrd",
        "tss",     "aio",    "re",     "obstack", "and",       "as",       "assert",
        "async",   "await",  "break",  "class",   "continue",  "def",      "del",
        "elif",    "else",   "except", "finally", "for",       "from",     "global",
        "if",      "import", "in",     "is",      "lambda",    "nonlocal", "not",
        "or",      "pass",   "raise",  "return",  "try",       "while",    "with",
        "yield",
    };
    static const char *const families[] = {"burin", "pthread", "posix_spawn"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(name, families[i], strlen(families[i]))) return true;
    return is_one_of(name, names, sizeof names / sizeof *names);
}

static const char *plain_name(Arena *arena, const char *path) {
    const char *base = path_name(path);
    size_t n = strcspn(base, ".");
    char *name = arena_printf(arena, "%.*s", (int)(n < MAX_NAME ? n : MAX_NAME), base);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    return isalpha((unsigned char)*name) ? name : arena_printf(arena, "model_%s", name);
}

const char *symbol_name(Arena *arena, const char *path) {
    const char *name = plain_name(arena, path);
    return is_taken(name) ? arena_printf(arena, "model_%s", name) : name;
}

const char *model_name(Arena *arena, const Options *o) {
    char real[PATH_MAX];
    const char *path = o->folder ? o->folder : o->model;
    return plain_name(arena, realpath(path, real) ? real : path);
}

// ------------------------------------------------------------------------------------------ checks
// Endings between spaces, in lower case; their meaning; a remedy, for the name without its ending.
typedef struct Promise {
    const char *endings, *what, *hint;
} Promise;

static const Promise promises[] = {
    {" .exe ", "programs of Windows without --target", "--target=x86_64-windows-gnu -o %s.exe"},
    {" .dll ", "libraries of Windows without --target", "--target=x86_64-windows-gnu -o %s.dll"},
    {" .lib .obj .msi .com .bat .cmd .ps1 ", "objects and packages of Windows",
     "--target=x86_64-windows-gnu -o %s.exe is a program for Windows, -o %s.dll or %s.a a library"},
    {" .dylib .app .dmg .framework ", "programs and libraries of macOS",
     "-o %s is a program for Linux (a container runs it), -o %s.so a library"},
    {" .wasm .wat ", "WebAssembly", "-o %s.c is a folder of C, which other compilers can take"},
    {" .py .pyd .ipynb ", "Python",
     "-o %s.so has a Python package beside it; -o %s.whl is for pip"},
    {" .cpp .cc .cxx .c++ .hpp .hh .cu ", "C++",
     "-o %s.c is a folder of C whose header C++ includes as it is"},
    {" .h ", "a header alone",
     "-o %s.a is a library, and its header %s.h is beside it; -o %s.c is a folder of C with both"},
    {" .rs .go .js .ts .java .jar .class .swift .kt .cs .zig .rb .jl .lua .m .mm ", "this language",
     "-o %s.c is a folder of C, -o %s.so a library with a header: most languages can call C"},
    {" .s .asm .ll .bc ", "assembly or LLVM",
     "-o %s.o is an object to disassemble; --save-temps keeps the C it is made of"},
    {" .ir .burin ", "graphs with -o",
     "--dump-ir=DIR writes the IR after each pass, --emit=ir prints it"},
    {" .onnx .gguf .safetensors .pt .pth .pkl .ckpt .h5 .tflite .pb .mlmodel .npz .npy ",
     "models or tensors", "burin reads models and writes programs: -o %s"},
    {" .txt .md .json .yaml .yml .csv .tsv .html .pdf .log .xml .toml ", "texts",
     "-o %s is a program; its --info says what it is"},
    {" .sh .bash .mk .cmake ", "scripts",
     "-o %s is a program, -o %s.c a folder of C with a Makefile"},
    {" .zip .tar .gz .tgz .xz .bz2 .7z .deb .rpm .zst ", "packages",
     "burin writes one file, or a folder: pack that as any other"},
};

static const Promise *find_promise(Arena *arena, const char *ending) {
    const char *word = text_lower(arena_printf(arena, " %s ", ending));
    for (size_t i = 0; i < sizeof promises / sizeof *promises; i++)
        if (strstr(promises[i].endings, word)) return &promises[i];
    return NULL;
}

// The hint with the name without its ending for each %s.
static const char *hint_for(Arena *arena, const char *hint, const char *stem) {
    const char *text = "", *at;
    for (; (at = strstr(hint, "%s")); hint = at + 2)
        text = arena_printf(arena, "%s%.*s%s", text, (int)(at - hint), hint, stem);
    return arena_printf(arena, "%s%s", text, hint);
}

static void check_ending(Arena *arena, const Machine *machine, const char *output) {
    const char *base = path_name(output), *dot = strrchr(base, '.'),
               *version = strstr(base, ".so.");
    if (version && version > base)
        usage_error("-o %s: a version is given where the library is installed\n  hint: -o %.*s.so",
                    output, (int)(version - output), output);
    bool windows = machine_is_windows(machine);
    if (!dot || (dot > base && !strcmp(dot, machine_ending(machine)))) return;
    const char *stem = arena_strndup(arena, output, (size_t)(dot - output));
    if (windows && dot > base && !strcasecmp(dot, ".so"))
        usage_error("-o %s: libraries of Windows have other names\n  hint: -o %s.dll, or -o %s.a",
                    output, stem, stem);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((windows || strcmp(kinds[i].ending, ".dll")) && !strcasecmp(dot, kinds[i].ending) &&
            (dot == base || strcmp(dot, kinds[i].ending)))
            usage_error("-o %s: %s\n  hint: -o %s%s", output,
                        dot == base ? "there is no name before the ending"
                                    : "this ending is written in lower case",
                        dot == base ? arena_printf(arena, "%smodel", stem) : stem, kinds[i].ending);
    if (windows && !strcmp(dot, ".dll")) return;
    const Promise *p = dot > base ? find_promise(arena, dot) : NULL;
    if (p)
        usage_error("-o %s: burin does not write %s\n  hint: %s", output, p->what,
                    hint_for(arena, p->hint, stem));
}

// A header of that name would be found instead of the C library's.
static bool hides_a_header(const char *stem) {
    static const char *const headers[] = {
        "alloca",    "aio",         "arpa",        "assert",    "byteswap", "complex",
        "cpio",      "ctype",       "dirent",      "dlfcn",     "elf",      "endian",
        "err",       "errno",       "error",       "execinfo",  "fcntl",    "features",
        "fenv",      "float",       "fnmatch",     "ftw",       "getopt",   "glob",
        "grp",       "iconv",       "ifaddrs",     "inttypes",  "iso646",   "langinfo",
        "libgen",    "libintl",     "limits",      "link",      "locale",   "malloc",
        "math",      "memory",      "monetary",    "mqueue",    "netdb",    "nl_types",
        "poll",      "pthread",     "pwd",         "regex",     "sched",    "search",
        "semaphore", "setjmp",      "signal",      "spawn",     "stdalign", "stdarg",
        "stdatomic", "stdbool",     "stdc-predef", "stddef",    "stdint",   "stdio",
        "stdlib",    "stdnoreturn", "string",      "strings",   "syslog",   "tar",
        "termios",   "tgmath",      "threads",     "time",      "uchar",    "ulimit",
        "unistd",    "utime",       "utmpx",       "values",    "wchar",    "wctype",
        "wordexp",   "immintrin",   "xmmintrin",   "emmintrin", "arm_neon", "cpuid",
    };
    return is_one_of(stem, headers, sizeof headers / sizeof *headers);
}

void check_output_name(Arena *arena, const Machine *machine, const char *output) {
    const char *base = path_name(output);
    size_t length = strlen(base);
    if (!strcmp(output, "-"))
        usage_error(
            "-o -: burin does not write to standard output\n  hint: --emit=c prints the C, "
            "--emit=ir the IR");
    if (!length)
        usage_error("-o %s: a folder, and no name in it\n  hint: -o %smodel", output, output);
    check_ending(arena, machine, output);
    if (output_kind(output) == OUTPUT_PROGRAM) return;
    if (output_is_wheel(output) && *base == '-')
        usage_error("-o %s: a wheel's name begins with a letter\n  hint: -o model.whl", output);
    if (output_is_wheel(output) && strchr(base, '-'))
        usage_error(
            "-o %s: a wheel's version and platform are added\n  hint: -o %.*s.whl writes "
            "%.*s-VERSION-py3-none-PLATFORM.whl",
            output, (int)(base - output + (int)strcspn(base, "-")), output, (int)strcspn(base, "-"),
            base);
    if (length > MAX_NAME)
        usage_error(
            "-o %.40s...: a name of %zu characters\n  hint: the functions of a library begin with "
            "its name: at most %d",
            base, length, MAX_NAME);
    const char *stem = arena_strndup(arena, base, (size_t)(strrchr(base, '.') - base));
    if (hides_a_header(stem))
        usage_error("-o %s: its header %s.h would hide the C library's\n  hint: -o %.*s%s_model%s",
                    output, stem, (int)(base - output), output, stem, strrchr(base, '.'));
}

const char *output_name(Arena *arena, const Options *o, const Machine *machine) {
    const char *output = o->output ? o->output : model_name(arena, o);
    if (o->output) check_output_name(arena, machine, output);
    const char *ending = machine_ending(machine);
    bool whole = output_kind(output) != OUTPUT_PROGRAM || text_ends_with(output, ending);
    return whole ? output : arena_printf(arena, "%s%s", output, ending);
}
