// Opens a program's inputs: a file, or a pipe that someone writes into while the program reads.
#ifndef BURIN_INPUT_H
#define BURIN_INPUT_H
#include <stdbool.h>
#include <stddef.h>

// The file descriptor of `path`, or -1 and the reason in *why (until the next call). Waits for a
// named pipe; after a second a note tells so. Devices other than terminals and /dev/null are
// refused: they may have no end.
int burin_open_file(const char *path, const char **why);

// The same for a regular file of at most this many bytes: nothing to wait for.
int burin_open_small_file(const char *path, long long most_bytes, const char **why);

// Opens a file ("-": standard input) and returns its name for messages; ends the program on
// failure.
int burin_open_input(const char *path, const char **name);

// True if there is text on standard input though no option names it: a file; a pipe that brings
// something, or ends, within a second (one that a parent process left open would make the program
// wait for ever). After a prompt on the command line a file counts only from its beginning: else it
// is the input of a loop in a shell, which has read some lines of it. False for a terminal.
bool burin_input_is_offered(bool prompted);

// Bytes of a text, and of one line of many: endless input is not read for ever.
enum { BURIN_MOST_TEXT = 256 << 20, BURIN_MOST_LINE = 16 << 20, BURIN_MOST_PICTURE = 256 << 20 };

// A whole file ("-": standard input), ends the program with a message when it cannot be read.
char *burin_read_file(const char *path, size_t *bytes);
void *burin_read_bytes(const char *path, size_t most,
                       size_t *bytes);  // likewise, of at most so many bytes
char *burin_read_open_file(int file, const char *name,
                           size_t *bytes);  // closes it; name: for messages
#endif
