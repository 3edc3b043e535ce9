// A listener's settings in its card (card.h): a network that takes the samples of a recording, and
// gives characters by CTC, or classes.
#ifndef BURIN_LISTENER_H
#define BURIN_LISTENER_H
#include <stdint.h>

// The last bytes of the card, at a multiple of 8. The card's labels are classes, or the characters
// of each id: "" for an id that is never written, " " for the end of a word.
typedef struct burin_listener {
    int32_t sample_rate;
    int32_t normalize;  // 1: samples get mean 0 and variance 1
    int32_t blank;      // the id between characters; -1: labels are classes
    int32_t lower;      // 1: capitals of ASCII become small letters
} burin_listener;
#endif
