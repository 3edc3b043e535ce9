// Writes the result of a build: a program, a library or a folder of C.
#ifndef BURIN_OUTPUT_OUTPUT_H
#define BURIN_OUTPUT_OUTPUT_H
#include "build/build.h"

// Ends the run when `output` cannot be written; sets the kind of output by its suffix.
void build_check_output(Build *, const char *output);
// Writes the program, library or folder: complete at `output`, or not at all.
void build_output(Build *, const char *output);
uint64_t build_code_bytes(Build *);  // compiles the library of a machine without an operating
                                     // system: its code, without weights
#endif
