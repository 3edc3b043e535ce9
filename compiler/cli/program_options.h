// Options that programs take, which are often tried on burin build.
#ifndef BURIN_PROGRAM_OPTIONS_H
#define BURIN_PROGRAM_OPTIONS_H
#include <stdbool.h>

// The word is an option of some kind of program, with or without a value after =.
bool is_program_option(const char *word);
// Reads the words of a program of this burin_kind, the first of which is its name. Ends the process
// with the program's message if one is wrong (program_words.c).
void program_words_read(int kind, int n, char **words);
#endif
