// Opening what a program reads: a file, or what somebody writes into a pipe while the program reads.
#ifndef BURIN_INPUT_H
#define BURIN_INPUT_H
#include <stdbool.h>
#include <stddef.h>

// The file descriptor of `path`, or -1 and in *why what stands in the way (until the next call). A pipe of a name is waited
// for; after a second a note says so. Devices other than terminals and /dev/null are refused: nothing says where they end.
int burin_open_file(const char *path, const char **why);

// Likewise, but only a file, and only of so many bytes: nothing to wait for.
int burin_open_small_file(const char *path, long long most_bytes, const char **why);

// Opens a file ("-": standard input) and says what to call it in messages; ends the program when it cannot.
int burin_open_input(const char *path, const char **name);

// True if there is text on standard input though no option names it: a file; a pipe that brings something, or ends, within a second
// (one that a parent process left open would make the program wait for ever). After a prompt on the command line a file counts only
// from its beginning: else it is the input of a loop in a shell, which has read some lines of it. False for a terminal.
bool burin_input_is_offered(bool prompted);

// What a text, and a line of many, may have of bytes: what never ends is not read for ever.
enum { BURIN_MOST_TEXT = 256 << 20, BURIN_MOST_LINE = 16 << 20 };

// A whole file ("-": standard input), ends the program with a message when it cannot be read.
char *burin_read_file(const char *path, size_t *bytes);
char *burin_read_open_file(int file, const char *name, size_t *bytes);  // closes it; name: for messages
#endif
