// LLaVA-NeXT: a grid of tiles from a list of sizes, with the picture as a whole before it.
#ifndef BURIN_IMAGE_ANYRES_H
#define BURIN_IMAGE_ANYRES_H
#include "image/cut.h"

// Resizes the picture to the best of the sizes in e->sizes, black around it, and sets the tiles.
// NULL, or why it cannot be.
const char *burin_anyres_cut(burin_image *, const burin_eyes *, burin_tiles *);
// Rows of a picture with that many lines and columns of patches, a row after each line included.
int64_t burin_anyres_rows(const burin_eyes *, int32_t lines, int32_t columns);
// The picture's rows out of those of its tiles: the picture as a whole, then the lines of patches
// that are not black, and after each line the last row of a tile.
void burin_anyres_arrange(const burin_eyes *, const burin_tiles *, const float *of_tiles,
                          float *rows);
#endif
