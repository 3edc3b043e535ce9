// The CPUs that code is emitted for: one row a level. Its flags choose the vectors of
// runtime/kernels/vec.h; runtime/engine/cpu.h tests for the required features.
#include "target/target.h"

#include <stddef.h>
#include <string.h>

const Target targets[] = {
    // name                symbol                architecture  flags needs bits use
    // help, how it is tested
    {"generic", "generic", NULL, "", "nothing", 128, FOR_ALL,
     "plain C, of -o NAME.c for any machine and compiler with GNU C",
     "by gcc and clang: hardware, qemu-aarch64 and qemu-arm, make test"},
    {"x86-64", "x86_64", "x86_64", "-march=x86-64", "nothing beyond x86-64", 128, FOR_ALL,
     "plain C, for any x86-64 CPU", "hardware, make test"},
    {"x86-64-v3", "x86_64_v3", "x86_64", "-march=x86-64-v3", "AVX2, FMA, F16C and BMI2", 256,
     FOR_ALL, "Haswell, Zen and later", "hardware, make test"},
    {"x86-64-v3+vnni", "x86_64_v3_vnni", "x86_64", "-march=x86-64-v3 -mavxvnni",
     "AVX2 with AVX-VNNI", 256, FOR_INTEGERS, "Alder Lake and later, without AVX-512",
     "hardware that has it, or emulated, make test"},
    {"x86-64-v4", "x86_64_v4", "x86_64", "-march=x86-64-v4 -mprefer-vector-width=512",
     "AVX-512 F, BW, CD, DQ and VL", 512, FOR_ALL, "Skylake-X, Zen 4 and later",
     "hardware that has it, or emulated, make test"},
    {"x86-64-v4+vnni", "x86_64_v4_vnni", "x86_64",
     "-march=x86-64-v4 -mavx512vnni -mprefer-vector-width=512", "AVX-512 with VNNI", 512,
     FOR_INTEGERS, "Cascade Lake, Ice Lake, Zen 4 and later",
     "hardware that has it, or emulated, make test"},
    {"x86-64-v4+bf16", "x86_64_v4_bf16", "x86_64",
     "-march=x86-64-v4 -mavx512vnni -mavx512bf16 -mprefer-vector-width=512 -DBURIN_ROUNDED_ROWS",
     "AVX-512 with VNNI and BF16, as AMD has it", 512, FOR_FAST_MATH, "Zen 4 and later",
     "hardware where it is slow, or emulated, make test; not yet on a Zen"},
    {"x86-64-v4+amx", "x86_64_v4_amx", "x86_64",
     "-march=x86-64-v4 -mavx512vnni -mamx-tile -mamx-int8 -mprefer-vector-width=512",
     "AVX-512 with VNNI and AMX for int8", 512, FOR_INTEGERS, "Sapphire Rapids and later",
     "hardware that has it, or emulated, make test"},
    {"x86-64-v4+amx-bf16", "x86_64_v4_amx_bf16", "x86_64",
     "-march=x86-64-v4 -mavx512vnni -mavx512bf16 -mamx-tile -mamx-int8 -mamx-bf16 "
     "-mprefer-vector-width=512 "
     "-DBURIN_ROUNDED_ROWS",
     "AVX-512 with VNNI and BF16, AMX for int8 and bf16", 512, FOR_FAST_MATH,
     "Sapphire Rapids and later", "hardware that has it, or emulated, make test"},
    {"armv8-a", "armv8_a", "aarch64", "-march=armv8-a", "NEON", 128, FOR_ALL, "any 64-bit ARM CPU",
     "qemu-aarch64 -cpu cortex-a72, make test"},
    {"armv8.2-a+dotprod", "armv8_2_a_dotprod", "aarch64", "-march=armv8.2-a+dotprod",
     "NEON with dotprod", 128, FOR_INTEGERS, "Cortex-A75 and A76, Neoverse N1, Apple M1 and later",
     "qemu-aarch64 -cpu cortex-a76, make test"},
    {"armv8.2-a+i8mm", "armv8_2_a_i8mm", "aarch64", "-march=armv8.2-a+dotprod+i8mm",
     "NEON with dotprod and i8mm", 128, FOR_INTEGERS,
     "Cortex-A510 and A710, Neoverse V1 and N2, Apple M2 and later",
     "qemu-aarch64 -cpu max, make test"},
    {"armv7-a+vfpv4", "armv7_a_vfpv4", "arm", "-march=armv7-a -mfpu=vfpv4 -mfloat-abi=hard",
     "VFPv4", 128, FOR_ALL, "Cortex-A5, A7, A15 and later; no NEON, which flushes subnormals",
     "qemu-arm -cpu cortex-a7, make test"},
    {"rv64gc", "rv64gc", "riscv64", "-march=rv64gc -mabi=lp64d", "nothing beyond rv64gc", 128,
     FOR_ALL, "plain C, for any RISC-V CPU that runs Linux", "qemu-riscv64 -cpu rv64, make test"},
    {"rv64gcv", "rv64gcv", "riscv64", "-march=rv64gcv -mabi=lp64d", "the vector extension 1.0", 128,
     FOR_ALL, "vector registers of 128 bits or more: SpacemiT K1 and later",
     "qemu-riscv64 -cpu rv64,v=true of 128 and 256 bits, make test"},
    {"cortex-m4", "cortex_m4", "thumbv7em", "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard",
     "an FPU of floats", 128, FOR_ALL, "Cortex-M4F; runs on M7 too",
     "qemu-system-arm -M mps2-an386, make test"},
    {"cortex-m7", "cortex_m7", "thumbv7em", "-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard",
     "an FPU of doubles", 128, FOR_ALL, "Cortex-M7 with an FPU of doubles",
     "qemu-system-arm -M mps2-an500, make test"},
    {"cortex-m33", "cortex_m33", "thumbv8.1m", "-mcpu=cortex-m33 -mfloat-abi=hard",
     "an FPU of floats", 128, FOR_ALL, "Cortex-M33 with an FPU; runs on M55 too",
     "qemu-system-arm -M mps3-an547, a Cortex-M55, make test-all"},
    {"cortex-m55", "cortex_m55", "thumbv8.1m", "-mcpu=cortex-m55+nomve -mfloat-abi=hard", "an FPU",
     128, FOR_ALL, "Cortex-M55, without its vectors (MVE)",
     "qemu-system-arm -M mps3-an547, make test"},
};
const int n_targets = sizeof targets / sizeof *targets;

// CPUs by the names of clang's -mcpu, and the level that serves each best; with --math=fast, where
// that is another.
static const struct {
    const char *cpu, *target, *fast;
} models[] = {
    {"haswell", "x86-64-v3", NULL},
    {"broadwell", "x86-64-v3", NULL},
    {"skylake", "x86-64-v3", NULL},
    {"alderlake", "x86-64-v3+vnni", NULL},
    {"raptorlake", "x86-64-v3+vnni", NULL},
    {"meteorlake", "x86-64-v3+vnni", NULL},
    {"sierraforest", "x86-64-v3+vnni", NULL},
    {"znver1", "x86-64-v3", NULL},
    {"znver2", "x86-64-v3", NULL},
    {"znver3", "x86-64-v3", NULL},
    {"skylake-avx512", "x86-64-v4", NULL},
    {"cascadelake", "x86-64-v4+vnni", NULL},
    {"icelake-server", "x86-64-v4+vnni", NULL},
    {"icelake-client", "x86-64-v4+vnni", NULL},
    {"tigerlake", "x86-64-v4+vnni", NULL},
    {"sapphirerapids", "x86-64-v4+amx", "x86-64-v4+amx-bf16"},
    {"emeraldrapids", "x86-64-v4+amx", "x86-64-v4+amx-bf16"},
    {"graniterapids", "x86-64-v4+amx", "x86-64-v4+amx-bf16"},
    {"znver4", "x86-64-v4+vnni", "x86-64-v4+bf16"},
    {"znver5", "x86-64-v4+vnni", "x86-64-v4+bf16"},
    {"cortex-a53", "armv8-a", NULL},
    {"cortex-a57", "armv8-a", NULL},
    {"cortex-a72", "armv8-a", NULL},
    {"cortex-a73", "armv8-a", NULL},
    {"cortex-a55", "armv8.2-a+dotprod", NULL},
    {"cortex-a75", "armv8.2-a+dotprod", NULL},
    {"cortex-a76", "armv8.2-a+dotprod", NULL},
    {"cortex-a78", "armv8.2-a+dotprod", NULL},
    {"cortex-x1", "armv8.2-a+dotprod", NULL},
    {"cortex-a510", "armv8.2-a+i8mm", NULL},
    {"cortex-a710", "armv8.2-a+i8mm", NULL},
    {"cortex-x2", "armv8.2-a+i8mm", NULL},
    {"neoverse-n1", "armv8.2-a+dotprod", NULL},
    {"neoverse-n2", "armv8.2-a+i8mm", NULL},
    {"neoverse-v1", "armv8.2-a+i8mm", NULL},
    {"neoverse-v2", "armv8.2-a+i8mm", NULL},
    {"apple-m1", "armv8.2-a+dotprod", NULL},
    {"apple-m2", "armv8.2-a+i8mm", NULL},
    {"cortex-a5", "armv7-a+vfpv4", NULL},
    {"cortex-a7", "armv7-a+vfpv4", NULL},
    {"cortex-a15", "armv7-a+vfpv4", NULL},
    {"cortex-a17", "armv7-a+vfpv4", NULL},
    {"sifive-u74", "rv64gc", NULL},
    {"sifive-u54", "rv64gc", NULL},
    {"spacemit-x60", "rv64gcv", NULL},
};

static const Target *by_name(const char *name) {
    for (int i = 0; i < n_targets; i++)
        if (!strcmp(targets[i].name, name)) return &targets[i];
    return NULL;
}

// The runtime's own tests of CPUID or HWCAP: of the levels that this machine may have.
#include "engine/cpu.h"

static const struct {
    const char *target;
    bool (*runs)(void);
} here[] = {
#if defined(__x86_64__)
    {"x86-64", burin_cpu_x86_64},
    {"x86-64-v3", burin_cpu_x86_64_v3},
    {"x86-64-v3+vnni", burin_cpu_x86_64_v3_vnni},
    {"x86-64-v4", burin_cpu_x86_64_v4},
    {"x86-64-v4+vnni", burin_cpu_x86_64_v4_vnni},
    {"x86-64-v4+bf16", burin_cpu_x86_64_v4_bf16},
    {"x86-64-v4+amx", burin_cpu_x86_64_v4_amx},
    {"x86-64-v4+amx-bf16", burin_cpu_x86_64_v4_amx_bf16},
#elif defined(__aarch64__)
    {"armv8-a", burin_cpu_armv8_a},
    {"armv8.2-a+dotprod", burin_cpu_armv8_2_a_dotprod},
    {"armv8.2-a+i8mm", burin_cpu_armv8_2_a_i8mm},
#endif
    {"generic", burin_cpu_generic},
};

// The best level of this machine
static const Target *native(bool fast) {
    const Target *best = NULL;
    for (int i = 0; i < n_targets; i++)
        if (targets[i].architecture && (fast || targets[i].use != FOR_FAST_MATH) &&
            target_runs_here(&targets[i]))
            best = &targets[i];
    return best;
}

const Target *target_find(const char *name, bool fast) {
    if (!strcmp(name, "native")) return native(fast);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (!strcmp(models[i].cpu, name))
            return by_name(fast && models[i].fast ? models[i].fast : models[i].target);
    return by_name(name);
}

int target_names(const char *architecture, const char *list[], int room) {
    int n = 0;
    for (int i = 0; i < n_targets && n < room; i++)
        if (target_is_of(&targets[i], architecture)) list[n++] = targets[i].name;
    for (size_t i = 0; i < sizeof models / sizeof *models && n < room; i++)
        if (target_is_of(by_name(models[i].target), architecture)) list[n++] = models[i].cpu;
    return n;
}

bool target_is_of(const Target *t, const char *architecture) {
    return !t->architecture || !strcmp(t->architecture, architecture);
}

bool target_runs_here(const Target *t) {
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (!strcmp(here[i].target, t->name)) return here[i].runs();
    return false;
}

int target_defaults(const char *architecture, bool fast, const Target *list[], int room) {
    static const char *const names[] = {
        "x86-64-v3",         "x86-64-v3+vnni", "x86-64-v4",          "x86-64-v4+vnni",
        "x86-64-v4+bf16",    "x86-64-v4+amx",  "x86-64-v4+amx-bf16", "armv8-a",
        "armv8.2-a+dotprod", "armv8.2-a+i8mm", "armv7-a+vfpv4",      "rv64gc",
        "rv64gcv",           "cortex-m4",      "cortex-m33"};
    int n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && n < room; i++) {
        const Target *t = by_name(names[i]);
        if (target_is_of(t, architecture) && (fast || t->use != FOR_FAST_MATH)) list[n++] = t;
    }
    return n;
}
