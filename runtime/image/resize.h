// Resizing with PIL's bytes.
#ifndef BURIN_IMAGE_RESIZE_H
#define BURIN_IMAGE_RESIZE_H
#include "engine/picture.h"
#include "image/image.h"

// Replaces the picture by one of this size.
void burin_image_resize(burin_image *, int32_t width, int32_t height, burin_resampling);
#endif
