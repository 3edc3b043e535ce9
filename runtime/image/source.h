// A picture as the source of an encoder before a decoder.
#ifndef BURIN_PICTURE_SOURCE_H
#define BURIN_PICTURE_SOURCE_H
#include "text/run.h"

// Reads a file and prepares it as the model's processor does: malloc'd. Ends the program for a file
// that is no picture.
float *burin_picture_source(const burin_run *, const char *file);
#endif
