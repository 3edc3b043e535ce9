// A voice's settings in its card (card.h): how a text becomes the ids of its network, from the JSON
// file beside an ONNX file.
#ifndef BURIN_VOICE_H
#define BURIN_VOICE_H
#include <stdint.h>

typedef enum burin_phoneme_source {
    BURIN_CHARACTERS,   // the characters of the text
    BURIN_FROM_ESPEAK,  // phonemes of the installed program espeak-ng
} burin_phoneme_source;

// The ids of one character: n_ids from first_id in the list of all.
typedef struct burin_phoneme {
    uint32_t character, first_id, n_ids;
} burin_phoneme;

// The last bytes of the card, at a multiple of 8. Offsets count from the card's start.
typedef struct burin_voice {
    double noise, width_noise;  // deviation of the noise in the sound, in the lengths of phonemes
    double length;              // factor of all lengths
    int32_t sample_rate;
    int32_t source;                        // burin_phoneme_source
    int32_t begin, end, between;           // ids around a text and after each phoneme; -1: none
    uint32_t phonemes_offset, n_phonemes;  // burin_phoneme, by ascending character
    uint32_t ids_offset;                   // int32_t
    char language[32];                     // espeak-ng's name of it
} burin_voice;
#endif
