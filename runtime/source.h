// The sources of an encoder-decoder, from the command line: an argument, the lines of a file or of standard input, ids, or
// tensors in files.
#ifndef BURIN_SOURCE_H
#define BURIN_SOURCE_H
#include "run.h"

typedef struct burin_sources {
    burin_run *run;
    char *file, *line, *next;  // of a file: all of it, the source, and what follows
    bool done;
} burin_sources;

void burin_sources_open(burin_sources *, burin_run *);
void burin_sources_close(burin_sources *);
bool burin_next_source(burin_sources *);  // false: there is none

// Encodes it into slot 0, and returns its length. Every mistake ends the program with a sentence.
int32_t burin_encode_next(burin_sources *);
#endif
