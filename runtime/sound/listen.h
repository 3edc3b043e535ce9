// The program of a listener: recordings in, texts or classes out.
#ifndef BURIN_LISTEN_H
#define BURIN_LISTEN_H
#include "engine/forward.h"
#include "program/options.h"
#include "program/output.h"
#include "sound/wav.h"

int burin_listen(const burin_model *, const burin_command *);

// The same part by part
typedef struct burin_hearer burin_hearer;
burin_hearer *burin_hearer_open(const burin_model *, const burin_command *);
void burin_hearer_close(burin_hearer *);
burin_session *burin_hearer_session(const burin_hearer *);
// Resamples and normalizes a recording. Returns how many samples it lacks; 0: none.
int64_t burin_hearer_prepare(const burin_hearer *, burin_sound *);
// Adds the text of the first of these samples, and moves `samples` and `n` to the others.
void burin_hearer_next(burin_hearer *, const float **samples, int64_t *n, burin_capture *text);
#endif
