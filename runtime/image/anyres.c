// LLaVA-NeXT: sizes, rounding and order of rows are those of transformers' processor and model.
//
//   sizes "672 336 336 672" (height, width), tiles of 336 pixels, a picture of 600 x 500 pixels
//   best size 672 x 336: two tiles, one above the other; the picture becomes 336 x 280 there
//   rows: the picture as a whole, then the lines of patches between the black borders
#include "image/anyres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/resize.h"

// A tile's patches by side; its last row is the one that follows a line.
static int32_t side_of_tile(const burin_eyes *e) {
    return (int32_t)(sqrt((double)(e->tile_rows - 1)) + 0.5);
}

static int32_t smaller_of(int32_t a, int32_t b) { return a < b ? a : b; }

// The size that keeps most of the picture's pixels; of equal ones that with the fewest others.
static void best_size(const burin_image *image, const char *sizes, int32_t *height,
                      int32_t *width) {
    int64_t most = 0, least_wasted = INT64_MAX, pixels = (int64_t)image->width * image->height;
    for (char *end; *sizes; sizes = end + (*end == ' ')) {
        int32_t h = (int32_t)strtol(sizes, &end, 10), w = (int32_t)strtol(end + 1, &end, 10);
        double across = (double)w / image->width, down = (double)h / image->height;
        double scale = across < down ? across : down;
        int64_t kept = (int64_t)(image->width * scale) * (int64_t)(image->height * scale);
        if (kept > pixels) kept = pixels;
        int64_t wasted = (int64_t)h * w - kept;
        if (kept > most || (kept == most && wasted < least_wasted))
            most = kept, least_wasted = wasted, *height = h, *width = w;
    }
}

// The picture in the middle of a black one.
static void put_in_middle(burin_image *image, int32_t height, int32_t width) {
    burin_image whole;
    burin_image_open(&whole, (uint64_t)width, (uint64_t)height);
    memset(whole.pixels, 0, 3 * (size_t)width * (size_t)height);
    size_t left = (size_t)((width - image->width) / 2), row = 3 * (size_t)image->width;
    for (int32_t y = 0; y < image->height; y++)
        memcpy(
            whole.pixels + 3 * ((size_t)(y + (height - image->height) / 2) * (size_t)width + left),
            image->pixels + row * (size_t)y, row);
    burin_image_close(image);
    *image = whole;
}

// Patches without a row at each border of a side, of which the picture takes `part`, rounded
// to 7 digits.
static int32_t dropped(int32_t patches, double part) {
    return (patches - (int32_t)floor(part + 5e-8)) / 2;
}

static void set_borders(const burin_image *image, const burin_eyes *e, burin_tiles *tiles) {
    int32_t side = side_of_tile(e), high = tiles->lines * side, wide = tiles->columns * side;
    double h = image->height, w = image->width;
    bool flat = w / h > (double)wide / high;
    tiles->top = flat ? dropped(high, h * (wide / w)) : 0;
    tiles->left = flat ? 0 : dropped(wide, w * (high / h));
    tiles->kept_lines = high - 2 * tiles->top, tiles->kept_columns = wide - 2 * tiles->left;
}

const char *burin_anyres_cut(burin_image *image, const burin_eyes *e, burin_tiles *tiles) {
    int32_t height = e->height, width = e->columns;
    best_size(image, e->sizes, &height, &width);
    *tiles = (burin_tiles){.lines = height / e->height, .columns = width / e->columns};
    tiles->n = tiles->lines * tiles->columns + 1;
    set_borders(image, e, tiles);
    double across = (double)width / image->width, down = (double)height / image->height;
    int32_t w = across < down ? width : smaller_of((int32_t)ceil(image->width * down), width);
    int32_t h = across < down ? smaller_of((int32_t)ceil(image->height * across), height) : height;
    burin_tiles_keep_whole(image, &tiles->whole);
    if (w != image->width || h != image->height)
        burin_image_resize(image, w, h, (burin_resampling)e->picture.resample);
    put_in_middle(image, height, width);
    return NULL;
}

int64_t burin_anyres_rows(const burin_eyes *e, int32_t lines, int32_t columns) {
    return e->tile_rows - 1 + (int64_t)lines * (columns + 1);
}

void burin_anyres_arrange(const burin_eyes *e, const burin_tiles *tiles, const float *of_tiles,
                          float *rows) {
    size_t width = (size_t)e->width, tile = (size_t)e->tile_rows * width;
    int32_t side = side_of_tile(e);
    const float *whole = of_tiles + (size_t)(tiles->n - 1) * tile;
    memcpy(rows, whole, (tile - width) * sizeof *rows);
    rows += tile - width;
    for (int32_t y = tiles->top; y < tiles->top + tiles->kept_lines; y++) {
        for (int32_t x = tiles->left; x < tiles->left + tiles->kept_columns; x++) {
            size_t of = (size_t)(y / side * tiles->columns + x / side),
                   at = (size_t)(y % side * side + x % side);
            memcpy(rows, of_tiles + of * tile + at * width, width * sizeof *rows);
            rows += width;
        }
        memcpy(rows, whole + tile - width, width * sizeof *rows);
        rows += width;
    }
}
