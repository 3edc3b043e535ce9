// GIF: the first picture of a file. Codes of 3 to 12 bits are strings of a dictionary (LZW); a
// transparent pixel is white.
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "image/image.h"

enum { GIF_CODES = 4096, GIF_HEADER = 13, GIF_FRAME = 9 };

typedef struct gif_reader {
    const uint8_t *at, *end;
    const uint8_t *colors;  // three bytes each
    int n_colors;
    int clear;  // number of the transparent color, or -1
    int32_t left, top, width, height;
    bool interlaced;
    // bits of the data blocks
    uint32_t bits;
    int held;
    size_t block;  // bytes left in it
} gif_reader;

static int gif_word(const uint8_t *p) { return p[0] | p[1] << 8; }

// The colors after a byte of flags that has their number; false: the file is cut.
static bool gif_colors(gif_reader *g, int flags) {
    if (!(flags & 0x80)) return true;
    int n = 2 << (flags & 7);
    if (g->end - g->at < 3 * n) return false;
    g->colors = g->at, g->n_colors = n;
    g->at += 3 * n;
    return true;
}

static bool gif_skip_blocks(gif_reader *g) {
    while (g->at < g->end && *g->at) {
        if (g->end - g->at <= *g->at) return false;
        g->at += *g->at + 1;
    }
    return g->at++ < g->end;
}

// Extensions up to the first picture; false: there is none.
static bool gif_find_frame(gif_reader *g) {
    enum { EXTENSION = 0x21, CONTROL = 0xf9, PICTURE = 0x2c };
    g->clear = -1;
    while (g->end - g->at > GIF_FRAME && *g->at == EXTENSION) {
        if (g->at[1] == CONTROL && g->at[2] >= 4) g->clear = g->at[3] & 1 ? g->at[6] : -1;
        g->at += 2;
        if (!gif_skip_blocks(g)) return false;
    }
    if (g->end - g->at <= GIF_FRAME || *g->at++ != PICTURE) return false;
    g->left = gif_word(g->at), g->top = gif_word(g->at + 2);
    g->width = gif_word(g->at + 4), g->height = gif_word(g->at + 6);
    int flags = g->at[8];
    g->interlaced = flags & 0x40;
    g->at += GIF_FRAME;
    return gif_colors(g, flags);
}

// Returns the next code of `size` bits, or -1 at the end of the data.
static int gif_code(gif_reader *g, int size) {
    while (g->held < size) {
        if (!g->block && (g->at >= g->end || !(g->block = *g->at++))) return -1;
        if (g->at >= g->end) return -1;
        g->bits |= (uint32_t)*g->at++ << g->held;
        g->held += 8, g->block--;
    }
    int code = (int)(g->bits & ((1u << size) - 1));
    g->bits >>= size, g->held -= size;
    return code;
}

typedef struct gif_dictionary {
    uint16_t before[GIF_CODES];
    uint8_t last[GIF_CODES], first[GIF_CODES];
    uint16_t length[GIF_CODES];
} gif_dictionary;

static void gif_add(gif_dictionary *d, int code, int before, uint8_t last) {
    d->before[code] = (uint16_t)before;
    d->last[code] = last;
    d->first[code] = before < 0 ? last : d->first[before];
    d->length[code] = (uint16_t)(before < 0 ? 1 : d->length[before] + 1);
}

// Numbers of colors, as far as the data go; returns how many.
static size_t gif_decode(gif_reader *g, gif_dictionary *d, int bits, uint8_t *to, size_t room) {
    const int reset = 1 << bits, stop = reset + 1;
    int size = bits + 1, next = stop + 1, before = -1, code;
    size_t n = 0;
    for (int i = 0; i < reset; i++) gif_add(d, i, -1, (uint8_t)i);
    while (n < room && (code = gif_code(g, size)) >= 0 && code != stop) {
        if (code == reset) {
            size = bits + 1, next = stop + 1, before = -1;
            continue;
        }
        if (code > next || (code == next && before < 0) || (before < 0 && code > stop)) break;
        if (before >= 0 && next < GIF_CODES)
            gif_add(d, next, before, d->first[code == next ? before : code]), next++;
        if (code >= next) break;
        size_t length = d->length[code], end = n + length;
        for (int c = code; length--; c = d->before[c])
            if (n + length < room) to[n + length] = d->last[c];
        n = end < room ? end : room;
        before = code;
        if (next == 1 << size && size < 12) size++;
    }
    return n;
}

static const uint8_t *gif_color(const gif_reader *g, int number) {
    static const uint8_t white[3] = {255, 255, 255}, black[3];
    if (number == g->clear) return white;
    return number < g->n_colors ? g->colors + 3 * number : black;
}

// Where row i of the data is in the picture.
static int32_t gif_row(const gif_reader *g, int32_t i) {
    static const int32_t begin[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4 && g->interlaced; pass++) {
        int32_t rows = (g->height - begin[pass] + step[pass] - 1) / step[pass];
        if (i < rows) return begin[pass] + i * step[pass];
        i -= rows;
    }
    return i;
}

static void gif_paint(const gif_reader *g, const uint8_t *numbers, burin_image *image) {
    const uint8_t *around = gif_color(g, g->clear < 0 ? 0 : g->clear);
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; i < pixels; i++) memcpy(image->pixels + 3 * i, around, 3);
    for (int32_t i = 0; i < g->height; i++) {
        int32_t y = g->top + gif_row(g, i);
        for (int32_t x = 0; x < g->width; x++, numbers++)
            if (y < image->height && g->left + x < image->width)
                memcpy(
                    image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)(g->left + x)),
                    gif_color(g, *numbers), 3);
    }
}

static const char *gif_read_frame(gif_reader *g, burin_image *image) {
    static const char cut[] = "GIF: the file is cut";
    if (!gif_find_frame(g) || g->at >= g->end) return "GIF: it has no picture";
    int bits = *g->at++;
    if (bits < 1 || bits > 8 || !g->width || !g->height) return "GIF: it is damaged";
    size_t n = (size_t)g->width * (size_t)g->height;
    if (n > BURIN_MOST_PIXELS) return "GIF: it has too many pixels";
    uint8_t *numbers = burin_allocate(n, 1);
    gif_dictionary *d = burin_allocate(1, sizeof *d);
    bool whole = gif_decode(g, d, bits, numbers, n) == n;
    if (whole) gif_paint(g, numbers, image);
    free(d);
    free(numbers);
    return whole ? NULL : cut;
}

const char *burin_gif_read(burin_image *image, const uint8_t *file, size_t bytes) {
    gif_reader g = {.at = file + GIF_HEADER, .end = file + bytes};
    if (bytes < GIF_HEADER) return "GIF: the file is cut";
    if (!gif_colors(&g, file[10])) return "GIF: the file is cut";
    const char *why =
        burin_image_open(image, (uint64_t)gif_word(file + 6), (uint64_t)gif_word(file + 8));
    if (!why) why = gif_read_frame(&g, image);
    if (why) burin_image_close(image);
    return why;
}
