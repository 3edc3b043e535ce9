// A PNG file of one gray channel: its values are stored, not compressed, in blocks of deflate.
#include "image/png_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/allocate.h"
#include "program/npz.h"
#include "program/output.h"

enum { PNG_BLOCK = 65535 };  // most bytes of a stored block

typedef struct png_bytes {
    uint8_t *at;  // end of what is written
} png_bytes;

static void put_png_number(png_bytes *p, uint32_t n) {
    for (int shift = 24; shift >= 0; shift -= 8) *p->at++ = (uint8_t)(n >> shift);
}

// Length and type; returns the type's place, for end_png_chunk.
static uint8_t *begin_png_chunk(png_bytes *p, uint32_t bytes, const char *type) {
    put_png_number(p, bytes);
    uint8_t *start = p->at;
    memcpy(p->at, type, 4);
    p->at += 4;
    return start;
}

static void end_png_chunk(png_bytes *p, const uint8_t *start) {
    put_png_number(p, ~burin_add_to_crc(~0u, start, (size_t)(p->at - start)));
}

// Rows of a filter byte 0 and big-endian values.
static void put_png_rows(uint8_t *at, const uint16_t *values, int32_t width, int32_t height,
                         int bits) {
    for (int32_t y = 0; y < height; y++) {
        *at++ = 0;
        for (int32_t x = 0; x < width; x++) {
            const uint16_t v = values[(size_t)y * (size_t)width + (size_t)x];
            if (bits == 16) *at++ = (uint8_t)(v >> 8);
            *at++ = (uint8_t)v;
        }
    }
}

static uint32_t adler_of(const uint8_t *data, size_t n) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) a = (a + data[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

// zlib's header, stored blocks, and the checksum.
static void put_png_data(png_bytes *p, const uint8_t *rows, size_t n) {
    *p->at++ = 0x78, *p->at++ = 1;
    for (size_t i = 0; i < n; i += PNG_BLOCK) {
        const size_t left = n - i, some = left < PNG_BLOCK ? left : PNG_BLOCK;
        *p->at++ = left <= PNG_BLOCK;
        *p->at++ = (uint8_t)some, *p->at++ = (uint8_t)(some >> 8);
        *p->at++ = (uint8_t)~some, *p->at++ = (uint8_t)(~some >> 8);
        memcpy(p->at, rows + i, some);
        p->at += some;
    }
    put_png_number(p, adler_of(rows, n));
}

static const char *write_png_bytes(const char *path, const uint8_t *data, size_t n) {
    const char *why = NULL;
    const int file = burin_create_file(path, &why);
    if (file < 0) return why;
    if (!burin_write_all(file, data, n)) why = strerror(errno);
    if (close(file) && !why) why = strerror(errno);
    return why;
}

const char *burin_png_write(const char *path, const uint16_t *values, int32_t width, int32_t height,
                            int bits) {
    const size_t row = 1 + (size_t)width * (size_t)(bits / 8), n = row * (size_t)height;
    const size_t blocks = (n + PNG_BLOCK - 1) / PNG_BLOCK, data = 2 + 5 * blocks + n + 4;
    uint8_t *rows = burin_allocate(n, 1), *all = burin_allocate(data + 100, 1);
    png_bytes p = {all};
    if (data > INT32_MAX) return "the picture is too large for a PNG file";
    put_png_rows(rows, values, width, height, bits);
    memcpy(p.at, "\211PNG\r\n\032\n", 8);
    p.at += 8;
    uint8_t *start = begin_png_chunk(&p, 13, "IHDR");
    put_png_number(&p, (uint32_t)width);
    put_png_number(&p, (uint32_t)height);
    *p.at++ = (uint8_t)bits;
    memset(p.at, 0, 4);  // gray; deflate; filters; no interlacing
    p.at += 4;
    end_png_chunk(&p, start);
    start = begin_png_chunk(&p, (uint32_t)data, "IDAT");
    put_png_data(&p, rows, n);
    end_png_chunk(&p, start);
    end_png_chunk(&p, begin_png_chunk(&p, 0, "IEND"));
    const char *why = write_png_bytes(path, all, (size_t)(p.at - all));
    free(rows);
    free(all);
    return why;
}
