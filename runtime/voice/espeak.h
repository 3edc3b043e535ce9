// Phonemes by the installed program espeak-ng, as its own process: it is never linked.
#ifndef BURIN_ESPEAK_H
#define BURIN_ESPEAK_H
#include "program/output.h"

// Adds the IPA of a clause of at most BURIN_MOST_CLAUSE bytes. NULL, or why espeak-ng gives none.
const char *burin_espeak(const char *language, const char *words, size_t bytes,
                         burin_capture *phonemes);
#endif
