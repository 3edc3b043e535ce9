// --prompt and --messages of a build: a program that has read the beginning of its conversations.
// It is run once, on that beginning, and its session becomes part of it.
#ifndef BURIN_BAKE_H
#define BURIN_BAKE_H
#include "build/build.h"

// Refuses outputs and models that keep no prompt.
void bake_check(const Build *, const char *output);
void bake_prompt(const Build *, const char *folder, const char *program);
#endif
