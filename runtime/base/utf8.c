#include "utf8.h"

#include <string.h>

int burin_utf8_length(unsigned char first) {
    return first < 0x80   ? 1
           : first < 0xc2 ? 0
           : first < 0xe0 ? 2
           : first < 0xf0 ? 3
           : first < 0xf5 ? 4
                          : 0;
}

// Returns true if `next` may continue the bytes so far. The second byte excludes overlong forms,
// surrogates and code points above U+10FFFF.
static bool continues(const burin_utf8 *u, unsigned char next) {
    unsigned char first = u->partial[0], low = 0x80, high = 0xbf;
    if (u->have == 1) {
        if (first == 0xe0) low = 0xa0;
        if (first == 0xed) high = 0x9f;
        if (first == 0xf0) low = 0x90;
        if (first == 0xf4) high = 0x8f;
    }
    return next >= low && next <= high;
}

static size_t replacement(char *out) {
    memcpy(out, "\xef\xbf\xbd", 3);
    return 3;
}

size_t burin_utf8_end(burin_utf8 *u, char *out) {
    if (!u->have) return 0;
    u->have = 0;
    return replacement(out);
}

size_t burin_utf8_add(burin_utf8 *u, const char *bytes, size_t n, char *out) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (u->have && !continues(u, byte)) at += burin_utf8_end(u, out + at);
        if (!u->have && !burin_utf8_length(byte)) {
            at += replacement(out + at);
            continue;
        }
        u->partial[u->have++] = byte;
        if (u->have < burin_utf8_length(u->partial[0])) continue;
        memcpy(out + at, u->partial, (size_t)u->have);
        at += (size_t)u->have;
        u->have = 0;
    }
    return at;
}
