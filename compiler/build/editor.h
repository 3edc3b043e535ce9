// --line-editor: whether a program that talks is linked with libedit.
#ifndef BURIN_BUILD_EDITOR_H
#define BURIN_BUILD_EDITOR_H
#include "build/build.h"

// --line-editor=libedit for an output that cannot have it, or where there is none, ends the run.
void editor_check(const Build *, const char *output);
void editor_choose(Build *);  // sets tools.editor; clang is found
// The part of a program's key that depends on the machine: it changes when libedit is installed or
// removed.
uint64_t editor_key(const Build *, uint64_t hash);
#endif
