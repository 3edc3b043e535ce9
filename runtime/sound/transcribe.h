// Recordings to text: what the program of a speech-to-text model does by itself.
#ifndef BURIN_TRANSCRIBE_H
#define BURIN_TRANSCRIBE_H
#include "text/run.h"

int burin_transcribe(burin_run *);  // returns the exit status
#endif
