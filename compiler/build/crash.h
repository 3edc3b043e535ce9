// The files kept after a pass crashes: the graph before it, and the command that repeats the crash.
#ifndef BURIN_BUILD_CRASH_H
#define BURIN_BUILD_CRASH_H
#include "build/build.h"

// Keeps a copy of the graphs before each pass, and writes it to NAME.crash/ when the pass aborts,
// is stopped by a signal, or leaves a graph that does not verify.
void crash_watch(Build *);
#endif
