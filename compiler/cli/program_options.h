// Options that programs take, which are often tried on burin build.
#ifndef BURIN_PROGRAM_OPTIONS_H
#define BURIN_PROGRAM_OPTIONS_H
#include <stdbool.h>

// The word is an option of some kind of program, with or without a value after =.
bool is_program_option(const char *word);
#endif
