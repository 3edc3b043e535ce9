// The clang that compiles, and what to install where there is none.
#ifndef BURIN_TOOLCHAIN_COMPILER_H
#define BURIN_TOOLCHAIN_COMPILER_H
#include "toolchain/toolchain.h"

#define TESTED_COMPILER "clang-19"

// A clang that compiles with these flags (split at spaces), by its name on PATH or its path. Ends
// the run when there is none. `home` is set.
const char *compiler_find(const Toolchain *, const char *flags);
const char *compiler_on_path(Arena *);  // the first that might be one; NULL: none
// What runs programs of a foreign machine here: qemu's name on PATH. Ends the run with what to
// install.
const char *emulator_find(const Toolchain *);
const char *compiler_path(Arena *, const char *name);  // NULL: there is no such program

// How packages are installed on a system with this /etc/os-release: "dnf install"; NULL: unknown.
const char *install_command(Arena *, const char *os_release);
const char *system_install_command(Arena *);
const char *clang_hint(Arena *);  // what to install for a clang
// What to install for cross compiling to `triple`; `packages` are Debian's.
const char *cross_hint(Arena *, const char *packages, const char *triple);
#endif
