// The compiler's flags, in one place for toolchain/toolchain.c, a folder's Makefile, --info and the
// measurements of `burin report`.
#ifndef BURIN_TOOLCHAIN_FLAGS_H
#define BURIN_TOOLCHAIN_FLAGS_H

#define FLAGS_LANGUAGE "-std=gnu17 -D_GNU_SOURCE"
// The numeric contract: only explicit multiply-adds are fused.
#define FLAGS_NUMBERS "-ffp-contract=off -fno-math-errno"
#define FLAGS_KERNELS "-O3"  // of the emitted text, and of what measures it
#define FLAGS_RUNTIME "-O2"  // of sources without kernels
#define FLAGS_SMALL   "-Oz"  // the same for small flash
#define FLAGS_QUICK_KERNELS \
    "-O1 -DBURIN_QUICK"  // -O1: of both, where a program is wanted soon and not fast
#define FLAGS_QUICK_RUNTIME "-O0"
#define FLAGS_ALIKE \
    "-fno-semantic-interposition -fno-ident -Wno-unknown-warning-option"  // clang alone: the same
                                                                          // objects everywhere

// By the use of the objects
#define FLAGS_PROGRAM "-fno-pie -ffunction-sections -fdata-sections"
#define FLAGS_SPARE \
    "-fno-asynchronous-unwind-tables"  // nothing unwinds a program, and its symbols go
#define FLAGS_LIBRARY     "-fPIC -fvisibility=hidden"
#define FLAGS_BARE        "-fshort-enums -ffunction-sections -fstack-size-section -fvisibility=hidden"
#define FLAGS_BARE_FOLDER "-fshort-enums -ffunction-sections -fvisibility=hidden"
#define FLAGS_FOLDER      "-fvisibility=hidden"
#endif
