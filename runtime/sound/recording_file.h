// A recording from a file or a pipe.
#ifndef BURIN_RECORDING_FILE_H
#define BURIN_RECORDING_FILE_H
#include "sound/recording.h"

// Reads PATH ("-": standard input) at this rate. Ends the program with a message when it cannot.
burin_sound burin_recording_load(const char *path, int32_t rate);
#endif
