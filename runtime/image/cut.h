// Tiles of a picture, as a model's processor cuts them.
#ifndef BURIN_IMAGE_CUT_H
#define BURIN_IMAGE_CUT_H
#include "engine/picture.h"
#include "image/image.h"

typedef struct burin_tiles {
    int32_t lines, columns;  // 0: the picture is not cut
    int32_t n;               // tiles, the picture as a whole included
    burin_image whole;       // the picture before it was resized to tiles; no pixels: not needed
    // BURIN_CUT_ANYRES: patches of the grid that have no rows above and at the left, and those that
    // do
    int32_t top, left, kept_lines, kept_columns;
} burin_tiles;

// Resizes the picture to whole tiles. NULL, or why it cannot be cut. The caller closes
// tiles->whole.
const char *burin_tiles_of(burin_image *, const burin_eyes *, burin_tiles *);
// A copy of the picture; the caller closes it.
void burin_tiles_keep_whole(const burin_image *, burin_image *whole);
// Tile i: those of the lines, then the picture as a whole. The caller closes it.
void burin_tile_cut(const burin_image *, const burin_eyes *, const burin_tiles *, int32_t i,
                    burin_image *tile);
#endif
