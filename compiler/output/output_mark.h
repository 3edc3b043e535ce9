// A mark in the files that burin writes, so that another build replaces these and no others.
#ifndef BURIN_OUTPUT_MARK_H
#define BURIN_OUTPUT_MARK_H
#include <stdbool.h>

enum { OUTPUT_MARK_BYTES = 51 };  // that mark_output appends, but to an archive

// Marks a whole program, library, object or archive. Ends the run when it cannot.
void mark_output(const char *path);
// Returns true if the file is as mark_output has left it. One that was stripped, merged or linked
// into another since is not.
bool output_is_marked(int file);
#endif
