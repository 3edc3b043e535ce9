// A speech-to-text model's settings in its descriptor: how features are computed and which tokens
// steer the decoder.
#ifndef BURIN_SPEECH_H
#define BURIN_SPEECH_H
#include <stdint.h>

// Counts and tokens; -1: the model has no such token. timestamp_begin: the token of 0.00 s, the
// next is 0.02 s later. initial_timestamp: the largest first timestamp, in steps of 0.02 s.
// language, task: what generation_config.json fixes. median: encoder steps that smooth an
// alignment.
#define BURIN_SPEECH_FIELDS(X) \
    X(sample_rate)             \
    X(n_fft)                   \
    X(hop)                     \
    X(n_mels)                  \
    X(frames)                  \
    X(start)                   \
    X(timestamp_begin)         \
    X(no_timestamps)           \
    X(transcribe)              \
    X(translate) X(previous) X(no_speech) X(initial_timestamp) X(language) X(task) X(median)
#define BURIN_SPEECH_FIELD(name) int32_t name;

typedef struct burin_speech {
    BURIN_SPEECH_FIELDS(BURIN_SPEECH_FIELD)
    const int32_t *languages;  // tokens such as <|en|>
    int32_t n_languages;       // 0: of one language alone
    const int32_t *alignment;  // layer and head of each head that follows the words
    int32_t n_alignment;       // numbers of these; 0: none is known
} burin_speech;
#endif
