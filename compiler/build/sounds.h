// Programs that take recordings: libFLAC, if this machine has it.
#ifndef BURIN_BUILD_SOUNDS_H
#define BURIN_BUILD_SOUNDS_H
#include "build/build.h"

bool sounds_are_asked_for(const Options *);
// Ends the run where --with=sounds cannot be met.
void sounds_check(const Build *, const char *output);
void sounds_choose(Build *);                // sets tools.flac; clang is found
const char *sounds_formats(const Build *);  // "FLAC, WAV"
// Changes when the library is installed or removed.
uint64_t sounds_key(const Build *, uint64_t hash);
#endif
