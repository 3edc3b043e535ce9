// What is printed for a recording: text, SRT or WebVTT subtitles, or JSON.
#ifndef BURIN_TRANSCRIPT_H
#define BURIN_TRANSCRIPT_H
#include "base/utf8.h"
#include "program/output.h"
#include "sound/segments.h"
#include "sound/words.h"
#include "text/run.h"
#include "tokenizer/tokenizer.h"

typedef struct burin_transcript {
    const burin_run *run;
    const char *name;  // of the recording
    char *language;    // "<|en|>"; NULL: not known
    double seconds;    // length of the recording
    const void *tokenizer;
    burin_decoder decoder;
    burin_utf8 characters;
    char *bytes, *whole;     // of one token
    burin_capture text;      // of all segments so far
    burin_capture segments;  // --json
    burin_capture words;     // of --word-timestamps, with --json
    burin_word *pieces;      // [most_pieces] of a segment
    int32_t most_pieces;
    int64_t n_segments;
    size_t printed;  // bytes of `text`
} burin_transcript;

// `run` and `name` are set. Segments come in order, and go out at once where the form allows it.
void burin_transcript_open(burin_transcript *);
void burin_transcript_add(burin_transcript *, const burin_segment *);
void burin_transcript_end(const burin_transcript *);  // what follows the last segment
// Members of an object in JSON: language, text, segments.
void burin_transcript_print_fields(const burin_transcript *);
void burin_transcript_close(burin_transcript *);
#endif
