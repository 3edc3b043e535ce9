// An image model's preprocessing in its card: what preprocessor_config.json has of it.
#ifndef BURIN_PICTURE_H
#define BURIN_PICTURE_H
#include <stdint.h>

struct burin_encoder;

typedef enum burin_resize {
    BURIN_KEEP_SIZE,
    BURIN_EXACT_SIZE,
    BURIN_SHORTEST_EDGE,
    BURIN_PAGE,  // Donut: as burin_page_steps say, then black around it up to height and width
} burin_resize;

typedef enum burin_page_steps {
    BURIN_PAGE_TURNED = 1,   // by 90 degrees where the longer side is another than the size's
    BURIN_PAGE_RESIZED = 2,  // the shortest edge becomes that of the size
    BURIN_PAGE_WITHIN = 4,   // made smaller until it fits
} burin_page_steps;

// Numbers are PIL's, as in "resample".
typedef enum burin_resampling {
    BURIN_NEAREST = 0,
    BURIN_LANCZOS = 1,
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
    int32_t keep_ratio;  // BURIN_EXACT_SIZE: 1: one side becomes that, the other by the ratio
    int32_t multiple;    // pixels that a side is a multiple of; 0: any
    int32_t page;        // burin_page_steps
    int32_t unused;
} burin_picture;

// Pictures and texts: the score of a product of their embeddings, and the padding of texts.
typedef struct burin_pairing {
    float scale, bias;
    int32_t sigmoid;      // 1: each pair is judged by itself; 0: probabilities of a picture's texts
    int32_t pad, length;  // tokens: shorter texts are padded with `pad` up to `length`; -1: never
    int32_t unused;
} burin_pairing;

// How a picture is cut into the tiles that the encoder reads one by one.
typedef enum burin_cut {
    BURIN_CUT_NOT,    // one tile: the picture
    BURIN_CUT_GRID,   // Idefics3: the longest edge becomes `longest`, both a multiple of the tile;
                      // the last tile is the whole picture
    BURIN_CUT_RATIO,  // InternVL: `least` to `most` tiles in lines and columns nearest to the ratio
                      // of the sides; with several the last tile is the whole picture
    BURIN_CUT_FREE,   // no tiles: groups of merge x merge patches, each a row; `least` to `most`
                      // pixels, where `longest` is not 0 sides of at most that, with `fill` `most`
                      // pixels at most
    BURIN_CUT_ANYRES,  // LLaVA-NeXT: the best grid of `sizes`, without its black borders; the last
                       // row of a tile follows each line
} burin_cut;

// The eyes of a decoder: an encoder from pixels to rows that take the place of tokens, and the text
// around these rows. In the texts "@" is the rows of a tile, "%r" and "%c" are its row and column,
// from 1 on.
#define BURIN_EYES_NUMBERS(X) \
    X(cut)                    \
    X(longest)                \
    X(least)                  \
    X(most)                   \
    X(width)                  \
    X(sees_all)               \
    X(window)                 \
    X(tile_rows)              \
    X(height) X(columns) X(token) X(axes) X(patch) X(merge) X(window_rows) X(enlarge) X(fill)
#define BURIN_EYES_TEXTS(X) \
    X(mark) X(row) X(alone) X(first) X(tile) X(line) X(overview) X(prompt) X(sizes)
enum { BURIN_SEES_PROMPT = 2 };
typedef struct burin_eyes {
    const struct burin_encoder *encoder;
    burin_picture picture;    // of a tile; no resizing where the cut does it
    int32_t cut, longest;     // burin_cut; pixels
    int32_t least, most;      // tiles; of free sizes pixels
    int32_t patch, merge;     // of free sizes: pixels of a patch's side, patches of a group's side
    int32_t window_rows;      // of free sizes: groups of a window's side; 0: no windows
    int32_t enlarge;          // of free sizes: 1: a side is at least a group before it is rounded
    int32_t fill;             // of free sizes: 1: as large as `most` allows, sides rounded down
    int32_t axes;             // 1: rotary embeddings of pictures have lines and columns
    int32_t width;            // of a row: the decoder's
    int32_t sees_all;         // 1: rows of a tile attend to all rows of it, also to later ones;
                              // BURIN_SEES_PROMPT: all rows of a prompt to all of it
    int32_t window;           // with sees_all: positions that such a tile must be within; 0: any
    int32_t tile_rows;        // rows of a tile
    int32_t height, columns;  // pixels of a tile
    int32_t token;            // the id of `row`
    const char *mark;         // a picture in a prompt: "<image>"
    const char *row;          // one row in the tokens
    const char *alone;        // a picture of one tile
    const char *first;        // before the tiles of a picture of several
    const char *tile, *line;  // a tile; the text after the last tile of a line
    const char *overview;     // the last tile, which is the whole picture
    const char *sizes;        // BURIN_CUT_ANYRES: "HEIGHT WIDTH HEIGHT WIDTH ...", pixels
    const char *prompt;       // the text after the pictures of a prompt, "@"; NULL: as it is
} burin_eyes;
#endif
