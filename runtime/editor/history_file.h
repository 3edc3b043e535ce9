// --history F: earlier lines of conversations, one a line, the newest last. Each line is added when
// it is typed: what ends the program loses none, and programs may share a file.
#ifndef BURIN_HISTORY_FILE_H
#define BURIN_HISTORY_FILE_H
#include <stdbool.h>

// Hands over the lines that are there; returns a file descriptor to add others by. Ends the program
// when F is no such file.
int burin_history_open(const char *path, void (*line)(void *context, const char *), void *context);
bool burin_history_add(int file, const char *line);  // false, and errno: it cannot be written
#endif
