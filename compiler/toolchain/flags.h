// What the compiler is told, for every place that tells it or speaks of it: toolchain/toolchain.c, a folder's Makefile, --info,
// the measurements of `burin report`.
#ifndef BURIN_TOOLCHAIN_FLAGS_H
#define BURIN_TOOLCHAIN_FLAGS_H

#define FLAGS_LANGUAGE "-std=gnu17 -D_GNU_SOURCE"
#define FLAGS_NUMBERS \
    "-ffp-contract=off -fno-math-errno"          // the numeric contract: a multiply-add is fused only where the text says so
#define FLAGS_KERNELS       "-O3"                // of the emitted text, and of what measures it
#define FLAGS_RUNTIME       "-O2"                // of what has no kernels
#define FLAGS_SMALL         "-Os"                // the same, where flash is small
#define FLAGS_QUICK_KERNELS "-O1 -DBURIN_QUICK"  // -O1: of both, where a program is wanted soon and not fast
#define FLAGS_QUICK_RUNTIME "-O0"
#define FLAGS_ALIKE \
    "-fno-semantic-interposition -fno-ident -Wno-unknown-warning-option"  // clang alone: the same objects everywhere

// By what becomes of the objects
#define FLAGS_PROGRAM "-fno-pie -ffunction-sections -fdata-sections"
#define FLAGS_SPARE   "-fno-asynchronous-unwind-tables"  // nothing unwinds a program, and its symbols go
#define FLAGS_LIBRARY "-fPIC -fvisibility=hidden"
#define FLAGS_BARE    "-fshort-enums -ffunction-sections -fstack-size-section -fvisibility=hidden"
#define FLAGS_FOLDER  "-fvisibility=hidden"
#endif
