// An image model's preprocessing in its card: what preprocessor_config.json has of it.
#ifndef BURIN_PICTURE_H
#define BURIN_PICTURE_H
#include <stdint.h>

typedef enum burin_resize { BURIN_KEEP_SIZE, BURIN_EXACT_SIZE, BURIN_SHORTEST_EDGE } burin_resize;

// Numbers are PIL's, as in "resample".
typedef enum burin_resampling {
    BURIN_NEAREST = 0,
    BURIN_BILINEAR = 2,
    BURIN_BICUBIC = 3,
    BURIN_BOX = 4,
} burin_resampling;

// The steps in their order: resize, center crop, rescale, normalize.
typedef struct burin_picture {
    double scale;                 // factor of a byte; 1: bytes stay
    float mean[3], deviation[3];  // by channel; deviation 1 and mean 0: no change
    int32_t resize;               // burin_resize
    int32_t height, width;        // pixels after resizing; BURIN_SHORTEST_EDGE: height is that edge
    int32_t resample;             // burin_resampling
    int32_t crop_height, crop_width;  // pixels; 0: no crop
} burin_picture;
#endif
