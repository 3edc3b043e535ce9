// The sources of an encoder-decoder, from the command line: an argument, the lines of a file or of
// standard input, ids, or tensors in files.
#ifndef BURIN_ENCODER_INPUT_H
#define BURIN_ENCODER_INPUT_H
#include "program/work_items.h"
#include "text/prompt.h"
#include "text/run.h"

// A file whose lines are sources, "-" is standard input; NULL: the command line has the one source.
const char *burin_source_lines(const burin_run *);
_Noreturn void burin_no_source(const burin_run *);

// Encodes a line, or with NULL the command line's source, into slot 0, and returns its length.
// *source: its tokens (of no text: none), which the caller frees; those from before are freed.
// Every mistake ends the program with a sentence.
int32_t burin_encode_next(burin_run *, const burin_work_item *line, burin_tokens *source);
#endif
