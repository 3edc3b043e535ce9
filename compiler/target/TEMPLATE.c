// Adding a CPU level, by example. Each is one row or one function:
//
//   target.c                its row in `targets` and in `here`, the CPUs it serves best in `models`, perhaps defaults of --mcpu
//   runtime/engine/cpu.h    burin_cpu_<symbol>: true if CPUID or HWCAP of this machine has it
//   runtime/kernels/        vec_NAME.h, with -DBURIN_VECTORS=NAME in its flags: only for vectors of its own (runtime/kernels/README.md)
//   tests/kernels           one line in its runner: the bits must be those of plain C
//
// Nothing else knows targets: passes, plan and emitted text are the same for all, and so are the
// packed weights.
#include "target/target.h"

extern const Target target_template;

const Target target_template = {
    .name = "armv9-a",          // of --mcpu and --cpu
    .symbol = "armv9_a",        // BURIN_CPU: the name with every other character an underscore
    .architecture = "aarch64",  // of --target
    .flags = "-march=armv9-a",  // for the compiler
    .needs = "NEON with dotprod, SVE2",  // in words, for a CPU that is too old
    .vector_bits = 128,
    .use = FOR_ALL,
    .help = "Cortex-A510, A710 and later",
    .tested = "qemu-aarch64 -cpu max, make test",
};
