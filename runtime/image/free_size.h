// Pictures of free sizes: whole groups of patches, in the order in which the encoder reads them.
#ifndef BURIN_IMAGE_FREE_SIZE_H
#define BURIN_IMAGE_FREE_SIZE_H
#include "engine/encoder.h"
#include "image/image.h"

// Resizes the picture to whole groups of e->merge x e->merge patches, and sets their lines and
// columns. NULL, or why it cannot be.
const char *burin_free_resize(burin_image *, const burin_eyes *, int32_t *lines, int32_t *columns);

// The encoder's rows [lines * columns][e->width] of a picture of that size. NULL, or why not.
const char *burin_free_encode(burin_session *, const burin_image *, int32_t lines, int32_t columns,
                              float *rows);
#endif
