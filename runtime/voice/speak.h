// The program of a voice: texts in, speech out.
#ifndef BURIN_SPEAK_H
#define BURIN_SPEAK_H
#include "engine/forward.h"
#include "program/options.h"
#include "program/output.h"

int burin_speak(const burin_model *, const burin_command *);

// The same sentence by sentence
typedef struct burin_speaker burin_speaker;
typedef struct burin_delivery {
    int64_t voice;  // the number of the speaker, where the model has several
    double speed, noise;
    uint64_t seed;
    bool pause;              // a silence before the sentence
    burin_capture *unknown;  // gets characters that the voice has no sound for
} burin_delivery;

// Sets the manner of the command line.
burin_speaker *burin_speaker_open(const burin_model *, const burin_command *, burin_delivery *);
void burin_speaker_close(burin_speaker *);
burin_session *burin_speaker_session(const burin_speaker *);
int64_t burin_speaker_find(const burin_speaker *, const char *name);  // -1: no voice has the name
// Adds the samples of a text's first sentence, 16 bits each, little-endian. Returns the sentence's
// bytes; *why: NULL, or why it cannot be said, until the next call.
size_t burin_speaker_say(burin_speaker *, const burin_delivery *, const char *text, size_t bytes,
                         burin_capture *sound, const char **why);
#endif
