// Cuts pictures into tiles: sizes and rounding are those of transformers' processors.
#include "image/cut.h"

#include <math.h>
#include <string.h>

#include "image/anyres.h"
#include "image/resize.h"

enum { MOST_CUT_SIDE = 4096 };

static int32_t at_least_one(int32_t n) { return n < 1 ? 1 : n; }

static int32_t whole_tiles(int32_t pixels, int32_t tile) {
    return (pixels + tile - 1) / tile * tile;
}

typedef struct picture_size {
    int32_t width, height;
} picture_size;

static picture_size size_of(const burin_image *i) { return (picture_size){i->width, i->height}; }

// The size with the same sides' ratio whose longer side is `longer`; `even`: the other is rounded
// up to an even number.
static picture_size scale_to(picture_size s, int32_t longer, bool even) {
    double ratio = (double)s.width / s.height;
    bool wide = s.width >= s.height;
    int32_t other = (int32_t)(wide ? longer / ratio : longer * ratio);
    if (even) other += other % 2;
    other = at_least_one(other);
    return wide ? (picture_size){longer, other} : (picture_size){other, longer};
}

// The longer side is rounded up to whole tiles, the other, in the same ratio, too.
static picture_size scale_to_tiles(picture_size s, const burin_eyes *e) {
    bool wide = s.width >= s.height;
    s = scale_to(s, wide ? whole_tiles(s.width, e->columns) : whole_tiles(s.height, e->height),
                 false);
    return (picture_size){whole_tiles(s.width, e->columns), whole_tiles(s.height, e->height)};
}

static void resize_picture(burin_image *image, const burin_eyes *e, picture_size s) {
    if (s.width != image->width || s.height != image->height)
        burin_image_resize(image, s.width, s.height, (burin_resampling)e->picture.resample);
}

// Idefics3: the longer side becomes e->longest (at most 4096), then both become whole tiles.
static void resize_to_grid(burin_image *image, const burin_eyes *e) {
    picture_size s = scale_to(size_of(image), e->longest, true);
    if (e->longest > MOST_CUT_SIDE) s = scale_to(s, MOST_CUT_SIDE, false);
    resize_picture(image, e, s);
    resize_picture(image, e, scale_to_tiles(s, e));
}

// InternVL: the grid whose ratio of sides is nearest to the picture's; of equal ones the later, as
// long as the picture has more than half of its pixels.
static burin_tiles nearest_grid(const burin_image *image, const burin_eyes *e) {
    double ratio = (double)image->width / image->height, nearest = INFINITY;
    double area = (double)image->width * image->height, tile = (double)e->height * e->columns;
    burin_tiles best = {.lines = 1, .columns = 1, .n = 1};
    for (int32_t n = e->least; n <= e->most; n++) {
        for (int32_t columns = 1; columns <= n; columns++) {
            if (n % columns) continue;
            double away = fabs(ratio - (double)columns / (n / columns));
            if (away > nearest || (away == nearest && area <= 0.5 * tile * n)) continue;
            nearest = away;
            best = (burin_tiles){.lines = n / columns, .columns = columns, .n = n + (n > 1)};
        }
    }
    return best;
}

static void copy_image(const burin_image *from, int32_t top, int32_t left, burin_image *to) {
    for (int32_t y = 0; y < to->height; y++)
        memcpy(to->pixels + 3 * (size_t)y * (size_t)to->width,
               from->pixels + 3 * ((size_t)(top + y) * (size_t)from->width + (size_t)left),
               3 * (size_t)to->width);
}

void burin_tiles_keep_whole(const burin_image *image, burin_image *whole) {
    burin_image_open(whole, (uint64_t)image->width, (uint64_t)image->height);
    copy_image(image, 0, 0, whole);
}

// The tiles are cut out of a resized picture, the last one is made of the picture as it is.
static void keep_whole(burin_image *image, const burin_eyes *e, burin_tiles *tiles) {
    burin_tiles_keep_whole(image, &tiles->whole);
    resize_picture(image, e, (picture_size){tiles->columns * e->columns, tiles->lines * e->height});
}

const char *burin_tiles_of(burin_image *image, const burin_eyes *e, burin_tiles *tiles) {
    *tiles = (burin_tiles){.n = 1};
    if (e->cut == BURIN_CUT_NOT) return NULL;
    if (e->cut == BURIN_CUT_ANYRES) return burin_anyres_cut(image, e, tiles);
    if (image->width / image->height > 1000 || image->height / image->width > 1000)
        return "one side is more than 1000 times the other";
    if (e->cut == BURIN_CUT_RATIO) {
        *tiles = nearest_grid(image, e);
        if (tiles->n == 1)
            *tiles = (burin_tiles){.n = 1};
        else
            keep_whole(image, e, tiles);
        return NULL;
    }
    resize_to_grid(image, e);
    if (image->width <= e->columns && image->height <= e->height) return NULL;
    tiles->lines = image->height / e->height, tiles->columns = image->width / e->columns;
    tiles->n = tiles->lines * tiles->columns + 1;
    return NULL;
}

void burin_tile_cut(const burin_image *image, const burin_eyes *e, const burin_tiles *tiles,
                    int32_t i, burin_image *tile) {
    bool whole = i == tiles->n - 1;
    if (whole && tiles->whole.pixels) image = &tiles->whole;
    int32_t width = whole ? image->width : e->columns, height = whole ? image->height : e->height;
    burin_image_open(tile, (uint64_t)width, (uint64_t)height);
    if (whole) {
        copy_image(image, 0, 0, tile);
        if (e->cut != BURIN_CUT_NOT)
            burin_image_resize(tile, e->columns, e->height, (burin_resampling)e->picture.resample);
    } else {
        copy_image(image, i / tiles->columns * e->height, i % tiles->columns * e->columns, tile);
    }
}
