#include "toolchain/machine.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "toolchain/process.h"
#include "util/text.h"

// The first of an architecture is what programs for this machine are for.
const Machine machines[] = {
    {"x86_64-linux-gnu", "x86_64", "x86-64", 64, EM_X86_64, "max", "gcc-x86-64-linux-gnu",
     "libc6-dev-amd64-cross", "64-bit Intel and AMD"},
    {"x86_64-linux-musl", "x86_64", "x86-64", 64, EM_X86_64, "max", "gcc-x86-64-linux-gnu",
     "musl-dev", "the same with musl in place of glibc: smaller, and under its licence (MIT)"},
    {"aarch64-linux-gnu", "aarch64", "armv8-a", 64, EM_AARCH64, "max", "gcc-aarch64-linux-gnu",
     "libc6-dev-arm64-cross",
     "64-bit ARM: Raspberry Pi 3 to 5, Graviton, Ampere, Apple in a Linux machine"},
    {"aarch64-linux-musl", "aarch64", "armv8-a", 64, EM_AARCH64, "max", "gcc-aarch64-linux-gnu",
     "musl-dev:arm64", "64-bit ARM with musl, after dpkg --add-architecture arm64"},
    {"arm-linux-gnueabihf", "arm", "armv7-a+vfpv4", 32, EM_ARM, "max", "gcc-arm-linux-gnueabihf",
     "libc6-dev-armhf-cross", "32-bit ARM with VFPv4: Raspberry Pi 2 to 4 with a 32-bit system"},
    {"arm-linux-musleabihf", "arm", "armv7-a+vfpv4", 32, EM_ARM, "max", "gcc-arm-linux-gnueabihf",
     "musl-dev:armhf", "32-bit ARM with musl, after dpkg --add-architecture armhf"},
    {"riscv64-linux-gnu", "riscv64", "rv64gc", 64, EM_RISCV, "rv64,v=true,vext_spec=v1.0",
     "gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross",
     "64-bit RISC-V: VisionFive 2, HiFive Unmatched, Banana Pi F3"},
    {"x86_64-windows-gnu", "x86_64", "x86-64", 64, 0, "wine", "gcc-mingw-w64-x86-64-win32",
     "mingw-w64-x86-64-dev",
     "Windows 8 and later on 64-bit Intel and AMD: programs (.exe) and libraries (.dll, .a); "
     "tested under wine"},
    {"thumbv7em-none-eabihf", "thumbv7em", "cortex-m4", 32, EM_ARM, NULL, "gcc-arm-none-eabi",
     "libnewlib-arm-none-eabi", "microcontrollers with an FPU, no operating system: libraries"},
    {"thumbv8.1m.main-none-eabihf", "thumbv8.1m", "cortex-m33", 32, EM_ARM, NULL,
     "gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "the same, of ARMv8-M: libraries"},
};
const int n_machines = sizeof machines / sizeof *machines;

#if defined(__aarch64__)
static const char native_architecture[] = "aarch64";
#else
static const char native_architecture[] = "x86_64";
#endif

bool machine_is_bare(const Machine *m) { return !m->emulated; }
bool machine_has_musl(const Machine *m) { return strstr(m->triple, "-musl"); }
bool machine_is_windows(const Machine *m) { return strstr(m->triple, "-windows-"); }
const char *machine_ending(const Machine *m) { return machine_is_windows(m) ? ".exe" : ""; }
bool machine_is_native(const Machine *m) {
    return !strcmp(m->architecture, native_architecture) && !machine_is_windows(m);
}

const Machine *machine_find(const char *triple) {
    for (int i = 0; i < n_machines; i++)
        if (!strcmp(triple ? triple : native_architecture,
                    triple ? machines[i].triple : machines[i].architecture))
            return &machines[i];
    machine_refuse(triple);
}

// ------------------------------------------------------------------------------------ requirements
static Requirement needs_file(const char *what, const char *file, const char *package) {
    return (Requirement){what, file, package, true, !access(file, R_OK)};
}

static Requirement needs_program(Arena *arena, const char *name, const char *package) {
    return (Requirement){name, name, package, false, find_program(arena, name)};
}

// Debian has it off PATH in wine64, and on it in wine.
static Requirement wine(Arena *arena) {
    const Requirement found = needs_program(arena, "wine", "wine64");
    return found.there ? found
                       : (Requirement){"wine", "/usr/lib/wine/wine64", "wine64", false,
                                       !access("/usr/lib/wine/wine64", X_OK)};
}

// Either name of qemu's user mode is good.
Requirement machine_emulator(Arena *arena, const Machine *m) {
    if (machine_is_windows(m)) return wine(arena);
    const char *name = arena_printf(arena, "qemu-%s", m->architecture);
    Requirement fixed = needs_program(arena, arena_printf(arena, "%s-static", name),
                                      "qemu-user-static"),
                shared = needs_program(arena, name, "qemu-user");
    return !fixed.there && shared.there ? shared : fixed;
}

const char *machine_headers(Arena *arena, const Machine *m) {
    if (machine_is_bare(m)) return "/usr/include/newlib";
    if (machine_has_musl(m)) return arena_printf(arena, "/usr/include/%s", m->triple);
    if (machine_is_windows(m)) return "/usr/x86_64-w64-mingw32/include";
    return machine_is_native(m) ? "/usr/include"
                                : arena_printf(arena, "/usr/%s/include", m->triple);
}

// There is one gcc for the C libraries of a machine, named by glibc's triple.
static const char *gcc_folder(Arena *arena, const Machine *m) {
    const char *musl = strstr(m->triple, "musl");
    if (!musl) return arena_printf(arena, "/usr/lib/gcc-cross/%s", m->triple);
    return arena_printf(arena, "/usr/lib/gcc-cross/%.*sgnu%s", (int)(musl - m->triple), m->triple,
                        musl + strlen("musl"));
}

int machine_requirements(Arena *arena, const Machine *m, Requirement list[MAX_REQUIREMENTS]) {
    const char *header = arena_printf(arena, "%s/stdio.h", machine_headers(arena, m));
    int n = 0;
    if (machine_has_musl(m)) {
        list[n++] = needs_file("musl", header, m->library);
        if (machine_is_native(m)) return n;
        list[n++] = needs_file("gcc's library", gcc_folder(arena, m), m->gcc);
        list[n++] = machine_emulator(arena, m);
    } else if (machine_is_windows(m)) {
        list[n++] = needs_file("C library", header, m->library);
        list[n++] = needs_file("gcc's library", "/usr/lib/gcc/x86_64-w64-mingw32", m->gcc);
        list[n++] = machine_emulator(arena, m);
    } else if (machine_is_native(m)) {
        list[n++] = needs_file("C library", header, "libc6-dev");
    } else if (machine_is_bare(m)) {
        list[n++] = needs_file("headers of the C library", header, m->library);
        list[n++] = needs_program(arena, "arm-none-eabi-gcc", m->gcc);
        list[n++] = needs_program(arena, "qemu-system-arm", "qemu-system-arm");
    } else {
        list[n++] = needs_file("C library", header, m->library);
        list[n++] = needs_file("gcc's library", gcc_folder(arena, m), m->gcc);
        list[n++] = machine_emulator(arena, m);
    }
    return n;
}

const char *machine_lacks(Arena *arena, const Machine *m) {
    Requirement needs[MAX_REQUIREMENTS];
    int n =
        machine_is_native(m) && !machine_has_musl(m) ? 0 : machine_requirements(arena, m, needs);
    for (int i = 0; i < n; i++)
        if (needs[i].builds && !needs[i].there) return needs[i].place;
    return NULL;
}

const char *machine_packages(Arena *arena, const Machine *m) {
    return machine_is_bare(m) || (machine_has_musl(m) && machine_is_native(m))
               ? m->library
               : arena_printf(arena, "%s %s", m->gcc, m->library);
}
