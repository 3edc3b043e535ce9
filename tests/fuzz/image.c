// libFuzzer target: pictures as a program reads them, also by libpng and libjpeg where they are
// installed. A picture is oriented by its EXIF and becomes the input of a model: finite numbers.
#if __has_include(<png.h>)
#define BURIN_PNG 1
#endif
#if __has_include(<jpeglib.h>)
#define BURIN_JPEG 1
#endif
#include "runtime/image/image.h"
// Far less than a program takes, so that a header alone costs no second under a sanitizer.
#define BURIN_MOST_PIXELS (1 << 18)
#include "runtime/image/image.c"
#ifdef BURIN_PNG
#include "runtime/codecs/png.c"
#endif
#ifdef BURIN_JPEG
#include "runtime/codecs/jpeg.c"
#endif
#include <math.h>

#include "runtime/image/preprocess.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIDE = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const burin_picture crop = {.scale = 1 / 255.0,
                                       .mean = {0.5F, 0.5F, 0.5F},
                                       .deviation = {0.5F, 0.5F, 0.5F},
                                       .resize = BURIN_SHORTEST_EDGE,
                                       .height = SIDE,
                                       .resample = BURIN_BICUBIC,
                                       .crop_height = SIDE,
                                       .crop_width = SIDE};
    float values[3 * SIDE * SIDE];
    burin_image image = {0};
    if (burin_image_read(&image, data, size)) {
        if (image.pixels) abort();
        return 0;
    }
    if (image.width < 1 || image.height < 1) abort();
    if (!burin_image_preprocess(&image, &crop, SIDE, SIDE, values))
        for (int i = 0; i < 3 * SIDE * SIDE; i++)
            if (!isfinite(values[i])) abort();
    burin_image_close(&image);
    return 0;
}
