// The features of CPUs. One row a CPU level in target.c; to add one, see TEMPLATE.c.
//
// A target chooses instructions and tile sizes only: the numeric contract makes the bits equal on
// all targets.
#ifndef BURIN_TARGET_H
#define BURIN_TARGET_H
#include <stdbool.h>

// The products in which a level differs from those before it. Levels for --math=fast are carried
// with that option alone.
typedef enum TargetUse { FOR_ALL, FOR_INTEGERS, FOR_FAST_MATH } TargetUse;

typedef struct Target {
    const char *name;          // of --mcpu and --cpu: "x86-64-v3", "x86-64-v4+vnni", "armv8-a"
    const char *symbol;        // BURIN_CPU: suffix of the emitted symbols and of burin_cpu_
                               // (runtime/engine/cpu.h), "x86_64_v3"
    const char *architecture;  // "x86_64", "aarch64"; NULL: any
    const char *flags;         // for the compiler: "-march=x86-64-v3"
    const char *needs;         // features in words, for messages: "AVX2, FMA, F16C"
    int vector_bits;           // of one register; tile sizes belong to its runtime/vec_*.h
    TargetUse
        use;  // FOR_INTEGERS: by weights in blocks alone; FOR_FAST_MATH: by weights of bf16 alone
    const char *help;
    const char *tested;  // on what, and by what: "qemu-aarch64 -cpu cortex-a72, make test"
} Target;

extern const Target targets[];
extern const int n_targets;

// By name, or by the name of a CPU model ("cortex-a76", "znver4", "native" for this machine): its
// best level, with `fast` also among those for --math=fast. NULL when unknown.
const Target *target_find(const char *name, bool fast);
// The names of an architecture's levels, followed by CPU models.
int target_names(const char *architecture, const char *list[], int room);
// The default of --mcpu for an architecture: a list, best last.
int target_defaults(const char *architecture, bool fast, const Target *list[], int room);
bool target_is_of(const Target *, const char *architecture);
bool target_runs_here(const Target *);
#endif
