// Netpbm's binary gray (P5) and colour (P6) pictures, of 8 or 16 bits.
#include <string.h>

#include "image/image.h"

typedef struct netpbm {
    const uint8_t *at, *end;
} netpbm;

static bool is_blank_byte(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_header_blanks(netpbm *f) {
    while (f->at < f->end && (is_blank_byte(*f->at) || *f->at == '#')) {
        if (*f->at++ != '#') continue;
        while (f->at < f->end && *f->at != '\n' && *f->at != '\r') f->at++;
    }
}

// A number of the header, UINT32_MAX at most; 0: there is none.
static uint64_t read_header_number(netpbm *f) {
    uint64_t value = 0;
    skip_header_blanks(f);
    for (; f->at < f->end && *f->at >= '0' && *f->at <= '9'; f->at++) {
        value = value * 10 + (uint64_t)(*f->at - '0');
        if (value > UINT32_MAX) value = UINT32_MAX;
    }
    return value;
}

// Values below the largest are spread over 0 to 255, rounded to the nearest, half up.
static uint8_t load_netpbm(const uint8_t *p, uint32_t largest) {
    uint32_t value = largest > 255 ? (uint32_t)p[0] << 8 | p[1] : *p;
    if (value > largest) value = largest;
    return (uint8_t)((value * 510 + largest) / (2 * largest));
}

const char *burin_netpbm_read(burin_image *image, const uint8_t *file, size_t bytes) {
    netpbm f = {file + 2, file + bytes};
    uint64_t width = read_header_number(&f), height = read_header_number(&f);
    uint64_t largest = read_header_number(&f);
    if (f.at == f.end || !is_blank_byte(*f.at)) return "its header is cut";
    if (!largest || largest > 65535) return "its largest value is not from 1 to 65535";
    f.at++;
    size_t channels = file[1] == '6' ? 3 : 1, value_bytes = largest > 255 ? 2 : 1;
    size_t rest = (size_t)(f.end - f.at);
    bool fits = width <= BURIN_MOST_SIDE && height <= BURIN_MOST_SIDE;
    if (fits && width * height * channels * value_bytes > rest)
        return "it is cut: the file ends before its last pixel";
    const char *why = burin_image_open(image, width, height);
    if (why) return why;
    size_t n = (size_t)(width * height);
    for (size_t i = 0; i < 3 * n; i++) {
        size_t from = channels == 3 ? i : i / 3;
        image->pixels[i] = load_netpbm(f.at + from * value_bytes, (uint32_t)largest);
    }
    return NULL;
}
