// SHA-256: values of FIPS 180-4 and of lengths around a block.
#include "util/sha256.h"

#include <stdio.h>

#include "unit.h"

static const char *hex_of(const void *data, size_t bytes) {
    static char text[65];
    uint8_t digest[32];
    sha256(data, bytes, digest);
    for (int i = 0; i < 32; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

static void known_texts(void) {
    CHECK_TEXT(hex_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK_TEXT(hex_of("abc", 3),
               "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_TEXT(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

SUITE(sha256) { TEST(known_texts); }
