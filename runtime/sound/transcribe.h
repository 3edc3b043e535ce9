// Recordings to text: what the program of a speech-to-text model does by itself.
#ifndef BURIN_TRANSCRIBE_H
#define BURIN_TRANSCRIBE_H
#include "sound/transcript.h"
#include "sound/wav.h"
#include "text/run.h"

int burin_transcribe(burin_run *);  // returns the exit status

// The same window by window; form, language and task are those of the run's command.
typedef struct burin_transcription burin_transcription;
burin_transcription *burin_transcription_open(burin_run *);
// Begins with a recording at the model's rate, and frees its samples. The name stays the caller's.
void burin_transcription_begin(burin_transcription *, const char *name, burin_sound *);
bool burin_transcription_step(burin_transcription *);  // a window; false: there is none left
burin_transcript *burin_transcription_text(burin_transcription *);  // so far
void burin_transcription_close(burin_transcription *);              // also NULL
// A language's token by its code; -1: the model does not know it.
int32_t burin_find_language(const burin_run *, const char *name);
#endif
