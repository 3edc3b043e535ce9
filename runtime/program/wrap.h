// Text on a terminal whose words stay whole at its edge.
#ifndef BURIN_WRAP_H
#define BURIN_WRAP_H
#include <stdbool.h>
#include <stddef.h>

typedef struct burin_wrap {
    int width;      // columns of the terminal; 0: unknown, words are left to the terminal
    int column;     // where the next character goes; width: beyond the last column
    int word;       // columns of the word that is being written
    size_t n;       // its bytes
    char text[64];  // the word, as far as it is short enough to be moved
    bool unknown;   // the line has characters of other widths: it is left to the terminal
} burin_wrap;

int burin_terminal_width(void);  // of standard output; 0: unknown
// Prints the next part of the text, in whole characters. A word that crosses the edge is taken back
// and written on the next line.
void burin_wrap_text(burin_wrap *, const char *text, size_t bytes);
#endif
