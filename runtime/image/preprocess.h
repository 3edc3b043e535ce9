// A picture to a model's input tensor.
#ifndef BURIN_IMAGE_PREPROCESS_H
#define BURIN_IMAGE_PREPROCESS_H
#include "engine/picture.h"
#include "image/image.h"

// Writes [3][height][width] to `values`, the model's size; the picture's pixels change. NULL, or
// why the picture cannot be used.
const char *burin_image_preprocess(burin_image *, const burin_picture *, int32_t height,
                                   int32_t width, float *values);
// A byte of a channel, rescaled and normalized.
float burin_preprocess_byte(const burin_picture *, int channel, uint8_t byte);
#endif
