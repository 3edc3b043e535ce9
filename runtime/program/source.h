// The sources of an encoder-decoder, from the command line: an argument, the lines of a file or of standard input, ids, or
// tensors in files.
#ifndef BURIN_SOURCE_H
#define BURIN_SOURCE_H
#include "lines.h"
#include "run.h"

typedef struct burin_sources {
    burin_run *run;
    burin_lines lines;
    bool has_lines;  // a file, or standard input: a source in each line
    int64_t n;       // how many were asked for
} burin_sources;

void burin_sources_open(burin_sources *, burin_run *);
void burin_sources_close(burin_sources *);
bool burin_next_source(burin_sources *);  // false: there is none

// Encodes it into slot 0, and returns its length. Every mistake ends the program with a sentence.
int32_t burin_encode_next(burin_sources *);
#endif
