// A listener's settings in its card (card.h): a network that takes the sound of a recording, and
// gives characters by CTC, or classes.
#ifndef BURIN_LISTENER_H
#define BURIN_LISTENER_H
#include <stdint.h>

typedef enum burin_mel_scale { BURIN_MEL_SLANEY, BURIN_MEL_KALDI } burin_mel_scale;
typedef enum burin_sound_window { BURIN_HANN, BURIN_POVEY } burin_sound_window;
typedef enum burin_band_norm {
    BURIN_BANDS_AS_THEY_ARE,
    BURIN_BANDS_FIXED,    // less `mean`, divided by `deviation`
    BURIN_BANDS_CENTRED,  // each band's mean becomes 0
    BURIN_BANDS_SCALED,   // each band is divided by its deviation
    BURIN_BANDS_STANDARD  // both
} burin_band_norm;

// How samples become frames of mel bands: logarithms of energies. The window is symmetric.
typedef struct burin_features {
    int32_t n_mels;      // 0: none, a network takes samples
    int32_t n_fft, hop;  // samples; hop: from a frame to the next
    int32_t width;       // samples of the window, at most n_fft
    int32_t window;      // a burin_sound_window
    int32_t scale;       // a burin_mel_scale
    int32_t centred;     // 1: frames are around multiples of hop, with zeros before and after all
    int32_t by_frame;    // 1: each frame's mean is taken away, and pre-emphasis is of the frame
    int32_t frames;      // that a network takes, after which zeros follow; 0: as many as there are
    int32_t norm;        // a burin_band_norm
    int32_t divisor_less;    // 1: a variance is the sum divided by one less than there are frames
    double sample_scale;     // of samples from -1 to 1
    double emphasis;         // of a sample, how much of the one before is taken away
    double least_hertz;      // of the lowest band
    double least, added;     // of energies: the least, and what is added before the logarithm
    double mean, deviation;  // of BURIN_BANDS_FIXED
    double deviation_added;  // to a band's deviation
} burin_features;

// The last bytes of the card, at a multiple of 8. The card's labels are classes, or the text of
// each id: "" for an id that is never written, " " for the end of a word.
typedef struct burin_listener {
    int32_t sample_rate;
    int32_t normalize;     // 1: samples get mean 0 and variance 1
    int32_t blank;         // the id between characters; -1: labels are classes
    int32_t lower;         // 1: capitals of ASCII become small letters
    int32_t by_tokenizer;  // 1: ids are those of the program's tokenizer, and labels are empty
    // A detector of speech has these: samples of a step, samples of the step before that it begins
    // with, values of the state between steps; window 0: none
    int32_t window, context, state;
    burin_features features;
} burin_listener;
#endif
