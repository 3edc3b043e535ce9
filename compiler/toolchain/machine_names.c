// Names that people give machines, beyond the triples of machines[]: what to write instead, or why
// there is no such target.
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "target/target.h"
#include "toolchain/machine.h"
#include "util/text.h"

#define COMPUTED_IN_SOFTWARE "-o x.c --mcpu=generic is C that computes it in software"
#define ANY_COMPILER         "-o x.c --mcpu=generic is C for any machine and compiler with GNU C"

const OtherMachine other_machines[] = {
    {"wasm", "*wasm* *emscripten*",
     "WebAssembly has no fused multiply-add, and the same bits by software take many times as long",
     COMPUTED_IN_SOFTWARE},
    {"windows", "*windows* *msvc* win32 win64",
     "Debian has the libraries of mingw-w64 for x86_64 alone, and none of Microsoft's",
     "--target=x86_64-windows-gnu"},
    {"mingw", "*mingw*", "clang's name for what mingw-w64 links is another",
     "--target=x86_64-windows-gnu"},
    {"apple", "*apple* *darwin* mac* osx* ios*",
     "Debian has neither Apple's libraries nor a linker for them",
     "--target=aarch64-linux-gnu, x86_64-linux-gnu on Intel: a container runs such programs"},
    {"android", "*android*", "programs are static, and need no library of Android's",
     "--target=aarch64-linux-gnu"},
    {"musl", "*musl*",
     "Debian has musl beside its own C library for x86_64, 64-bit and 32-bit ARM alone",
     "-gnu in place of -musl: a static program runs on any Linux, and --sysroot links the musl of "
     "a system that has it"},
    {"armv6", "armv[456]* *gnueabi *pi-zero *pizero *pi1 armel",
     "fused multiply-add comes with VFPv4, which these CPUs do not have", COMPUTED_IN_SOFTWARE},
    {"thumbv7m",
     "thumbv6m* thumbv7m* thumbv8m.base* thumb*-none-eabi arm-none-eabi *-m0* *-m1 *-m3 *-m23 "
     "rp2040 *pico",
     "fused multiply-add needs an FPU, as Cortex-M4F, M7, M33 and M55 have it",
     "--target=thumbv7em-none-eabihf or thumbv8.1m.main-none-eabihf where there is one; "
     "else " COMPUTED_IN_SOFTWARE},
    {"i686", "i[3-7]86* x86 x86-32 x86_32 ia32", "code for x86 is of 64 bits",
     ANY_COMPILER ": gcc -m32 -msse2 -mfpmath=sse"},
    {"big-endian",
     "s390x* *_be* armeb* thumbeb* mips mips-* mips64 mips64-* ppc ppc64 ppc64-* powerpc powerpc-* "
     "powerpc64 powerpc64-* "
     "sparc*",
     "weights are stored in the order of little-endian machines",
     "a little-endian system on it, where there is one, as powerpc64le, and " ANY_COMPILER},
    {"powerpc64le",
     "*bsd* *solaris* ppc* powerpc* mips* loongarch* riscv32* rv32* xtensa* esp32* avr* arduino* "
     "hexagon* *uefi*",
     "no vectors are written for it, and nothing is tested on it", ANY_COMPILER},
    {"cuda", "cuda* *nvptx* gpu amdgcn* rocm* metal vulkan opencl* npu tpu",
     "code is for CPUs alone", "--mcpu names those"},
};
const int n_other_machines = sizeof other_machines / sizeof *other_machines;

// Other spellings: patterns, and the words to use.
static const struct {
    const char *patterns, *instead;
} spellings[] = {
    {"aarch64* arm64* armv8* armv9* linux?arm64 *pi3 *pi-3 *pi4 *pi-4 *pi5 *pi-5 *zero2* graviton* "
     "ampere* jetson*",
     "--target=aarch64-linux-gnu, on a 32-bit system --target=arm-linux-gnueabihf"},
    {"arm-none-eabihf thumbv7em* stm32f[47]* stm32h7* teensy*", "--target=thumbv7em-none-eabihf"},
    {"thumb*",
     "--target=thumbv7em-none-eabihf for ARMv7-M, --target=thumbv8.1m.main-none-eabihf for "
     "ARMv8-M"},
    {"*cortex-m85* *cortex-m35* rp2350 *pico2",
     "--target=thumbv8.1m.main-none-eabihf --mcpu=cortex-m33"},
    {"armhf* armv7* arm arm32* arm-* linux?arm linux?arm?v7 *pi2 *pi-2 raspbian",
     "--target=arm-linux-gnueabihf"},
    {"*raspberry* rpi* pi",
     "--target=aarch64-linux-gnu, on a 32-bit system --target=arm-linux-gnueabihf"},
    {"riscv* rv64* linux?riscv64", "--target=riscv64-linux-gnu"},
    {"x86_64* x86-64* x64 amd64* linux?amd64 intel", "--target=x86_64-linux-gnu"},
    {"native host here this linux",
     "leave --target out for this machine, --mcpu=native for its CPU alone"},
    {"all all-targets all_linux linux-all",
     "--target=all-linux -o DIR writes a program for each machine with Linux"},
};

static bool matches(const char *name, const char *patterns) {
    while (*patterns) {
        char pattern[64];
        size_t n = strcspn(patterns, " ");
        snprintf(pattern, sizeof pattern, "%.*s", (int)n, patterns);
        if (!fnmatch(pattern, name, 0)) return true;
        patterns += n + (patterns[n] == ' ');
    }
    return false;
}

static void refuse_known(const char *triple, const char *name) {
    for (int i = 0; i < n_other_machines; i++)
        if (matches(name, other_machines[i].patterns))
            usage_error("--target=%s: not a target: %s\n  hint: %s", triple, other_machines[i].why,
                        other_machines[i].instead);
}

static void refuse_cpu(const char *triple, const char *name) {
    const Target *cpu = strcmp(name, "native") ? target_find(name, true) : NULL;
    for (int i = 0; cpu && cpu->architecture && i < n_machines; i++)
        if (target_is_of(cpu, machines[i].architecture))
            usage_error("--target=%s: not a target but a CPU\n  hint: --target=%s --mcpu=%s",
                        triple, machines[i].triple, name);
}

_Noreturn void machine_refuse(const char *triple) {
    const char *names[16], *near;
    char name[64];
    snprintf(name, sizeof name, "%s", triple);
    text_lower(name);
    for (int i = 0; i < n_machines; i++) names[i] = machines[i].triple;
    refuse_cpu(triple, name);
    refuse_known(triple, name);
    near = nearest_name(triple, names, (size_t)n_machines);
    if (near) usage_error("--target=%s: not a target\n  hint: did you mean %s?", triple, near);
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (matches(name, spellings[i].patterns))
            usage_error("--target=%s: not a name of a target\n  hint: %s", triple,
                        spellings[i].instead);
    usage_error("--target=%s: not a target\n  hint: targets are %s", triple,
                name_list(names, (size_t)n_machines));
}
