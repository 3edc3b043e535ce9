// Compiling and linking emitted C: clang for one machine, with the code of several CPUs.
#ifndef BURIN_TOOLCHAIN_H
#define BURIN_TOOLCHAIN_H
#include "target/target.h"
#include "toolchain/machine.h"
#include "toolchain/process.h"
#include "toolchain/sysroot.h"

enum { MAX_CPUS = 16 };

typedef struct Toolchain {
    Arena *arena;
    const Machine *machine;
    const Target *cpus[MAX_CPUS];  // best last
    int n_cpus;
    const char *clang;  // its name on PATH, or its path; NULL before toolchain_find
    const char *home;
    Sysroot sysroot;
    bool native, verbose;
    bool quick;          // -O1
    bool chosen;         // the CPUs were, by --mcpu
    bool fast;           // --math=fast
    const char *mpi;     // --with=mpi: the compiler that knows where MPI is; NULL: without
    const char *server;  // the libraries of --with=server; NULL: without
    const char *png, *jpeg, *webp;  // the libraries of a program that takes pictures; NULL: without
    const char *flac;               // the library of a program that takes recordings; NULL: without
    const char
        *editor;  // the libraries of a line editor, which the program is linked with; NULL: without
} Toolchain;

// Reads --target and --mcpu (NULL: this machine, its default list), with the CPUs for --math=fast,
// too, where that is `fast`. Ends the run when they are unknown (status 2).
Toolchain toolchain_new(Arena *, const char *triple, const char *cpus, bool fast);
// Drops default CPU levels whose only extra feature this program does not use.
void toolchain_without(Toolchain *, TargetUse);
// --with=mpi. Ends the run when there is none for the machine.
void toolchain_with_mpi(Toolchain *);
// --sysroot, or NULL. `links`: a program or a shared library is made.
void toolchain_with_sysroot(Toolchain *, const char *folder, bool links);
// Finds clang and the C library of the machine. Ends the run with what to install.
void toolchain_find(Toolchain *);

const char *toolchain_kernel_flags(const Toolchain *);   // how much clang does for kernels: -O3
void toolchain_place(const Toolchain *, CommandLine *);  // --target and --sysroot, as clang is told

typedef enum {
    OUTPUT_PROGRAM,
    OUTPUT_OBJECT,
    OUTPUT_ARCHIVE,
    OUTPUT_SHARED,
    OUTPUT_FOLDER
} OutputKind;

// The emitted C in `folder`: NAME.c, compiled for each CPU, and NAME_model.c.
typedef struct Emitted {
    const char *folder, *name;
    OutputKind kind;
    const char *extra;             // one more source file, or NULL
    bool answers;                  // a shared library with chat templates and forms of answers
    const char *draft;             // the NAME of a second model, or NULL
    const Toolchain *draft_tools;  // with its CPUs
} Emitted;

typedef struct Objects {
    const char **paths;
    int n;
} Objects;

// Compiles everything, several at a time. For a program the objects of runtime/ come with it, from
// the cache when they are there.
Objects toolchain_compile(const Toolchain *, const Emitted *);
// The object of a file's bytes as the hidden symbol `symbol`, for machines whose objects image.h
// does not write. Its path.
const char *toolchain_object_of(const Toolchain *, const char *file, const char *symbol);
// With the weights at IMAGE_ADDRESS and those of a draft at `draft`, or in further objects (32-bit
// machines).
void toolchain_link_program(const Toolchain *, const Objects *, uint64_t draft, const char *folder,
                            const char *output);
void toolchain_link_library(const Toolchain *, const Objects *, OutputKind, const char *folder,
                            const char *output);
#endif
