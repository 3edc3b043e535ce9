// The checksum of images and saved slots.
#include "engine/checksum.h"

#include "unit.h"

enum { BYTES = 1000 };

static unsigned char bytes[BYTES];

static void fill(void) {
    for (int i = 0; i < BYTES; i++) bytes[i] = (unsigned char)(i * i >> 3);
}

static void portions_do_not_matter(void) {
    fill();
    const uint64_t whole = burin_checksum_of(bytes, BYTES);
    for (size_t part = 1; part < 200; part += 3) {
        burin_checksum c = {{0}, 0, {0}};
        for (size_t at = 0; at < BYTES; at += part)
            burin_checksum_add(&c, bytes + at, BYTES - at < part ? BYTES - at : part);
        CU_ASSERT_EQUAL(burin_checksum_end(&c), whole);
    }
}

static void every_bit_matters(void) {
    fill();
    const uint64_t whole = burin_checksum_of(bytes, BYTES);
    for (int bit = 0; bit < 8 * BYTES; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        CU_ASSERT_NOT_EQUAL(burin_checksum_of(bytes, BYTES), whole);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

static void zeros_and_order_matter(void) {
    memset(bytes, 0, BYTES);
    for (size_t n = 1; n < BYTES; n++)
        CU_ASSERT_NOT_EQUAL(burin_checksum_of(bytes, n), burin_checksum_of(bytes, n - 1));
    bytes[0] = 1;
    const uint64_t first = burin_checksum_of(bytes, BYTES);
    for (size_t at = 1; at < BYTES; at++) {
        bytes[at - 1] = 0;
        bytes[at] = 1;
        CU_ASSERT_NOT_EQUAL(burin_checksum_of(bytes, BYTES), first);
    }
}

SUITE(checksum) {
    TEST(portions_do_not_matter);
    TEST(every_bit_matters);
    TEST(zeros_and_order_matter);
}
