// Opening what a program reads: a file, or what somebody writes into a pipe while the program reads.
#ifndef BURIN_INPUT_H
#define BURIN_INPUT_H
#include <stdbool.h>

// The file descriptor of `path`, or -1 and in *why what stands in the way (until the next call). A pipe of a name is waited
// for; after a second a note says so. Devices other than terminals and /dev/null are refused: nothing says where they end.
int burin_open_file(const char *path, const char **why);

// Likewise, but only a file, and only of so many bytes: nothing to wait for.
int burin_open_small_file(const char *path, long long most_bytes, const char **why);

// Opens a file ("-": standard input) and says what to call it in messages; ends the program when it cannot.
int burin_open_input(const char *path, const char **name);

bool burin_input_is_offered(void);  // on standard input, when nobody said so
#endif
