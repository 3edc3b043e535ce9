// .npy files and element types of the runtime.
#include "program/npy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static const char path[] = "build/unit-test.npy";

static void every_type_comes_back(void) {
    static const char *const types[] = {"f32", "f64", "f16", "i8",  "i16", "i32",
                                        "i64", "u8",  "u16", "u32", "u64", "bool"};
    unsigned char bytes[6 * 8];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 37 + 1);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        burin_array a = {.element = burin_element_named(types[i]),
                         .rank = 2,
                         .dim = {2, 3},
                         .count = 6,
                         .data = bytes},
                    b;
        CHECK(a.element && !burin_npy_write(&a, path));
        CHECK(burin_npy_read(&b, path) == NULL);
        CHECK(b.element == a.element && b.rank == 2 && b.dim[0] == 2 && b.dim[1] == 3);
        CHECK(!memcmp(bytes, b.data, 6 * (size_t)a.element->bytes));
        free(b.data);
    }
    unlink(path);
}

static void shapes_come_back(void) {
    float value = 2.5f;
    for (int rank = 0; rank <= BURIN_MAX_RANK; rank++) {
        burin_array a = {.element = burin_element_named("f32"),
                         .rank = rank,
                         .count = 1,
                         .data = &value},
                    b;
        for (int i = 0; i < rank; i++) a.dim[i] = 1;
        CHECK(!burin_npy_write(&a, path) && burin_npy_read(&b, path) == NULL);
        CHECK(b.rank == rank && b.count == 1 && burin_load_real(b.element, b.data, 0) == 2.5);
        free(b.data);
    }
    unlink(path);
}

// bf16 has no name in numpy.
static void types_that_numpy_lacks_are_f32(void) {
    uint16_t value = 0xc040;  // -3
    burin_array a = {.element = burin_element_named("bf16"),
                     .rank = 1,
                     .dim = {1},
                     .count = 1,
                     .data = &value},
                b;
    CHECK(!burin_npy_write(&a, path) && burin_npy_read(&b, path) == NULL);
    CHECK(!strcmp(b.element->name, "f32") && *(float *)b.data == -3);
    free(b.data);
    unlink(path);
}

static void integers_keep_their_value_or_stop(void) {
    const int64_t values[] = {0, -1, 127, 128, -129, INT64_MAX};
    const burin_element *i64 = burin_element_named("i64");
    unsigned char to[64];
    CHECK(burin_convert(i64, values, burin_element_named("i8"), to, 6) == 3);
    CHECK(burin_convert(i64, values, burin_element_named("u64"), to, 6) == 1);
    CHECK(burin_convert(i64, values, burin_element_named("i16"), to, 6) == 5);
    CHECK(burin_convert(i64, values, burin_element_named("bool"), to, 6) == 6 && to[0] == 0 &&
          to[1] == 1 && to[5] == 1);
    const uint64_t large = UINT64_MAX;
    CHECK(burin_convert(burin_element_named("u64"), &large, i64, to, 1) == 0);
    CHECK(burin_load_real(burin_element_named("u64"), &large, 0) == 0x1p64);
    CHECK(!burin_converts(burin_element_named("f32"), i64) &&
          burin_converts(i64, burin_element_named("f16")));
}

// 1 + 2^-11 is the middle of two f16: a value slightly above it rounds up, even if a float would
// lose the difference.
static void doubles_round_once(void) {
    const double values[] = {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, -1 - 0x1p-11 - 0x1p-40,
                             1 + 0x1p-11 - 0x1p-40};
    uint16_t to[4];
    CHECK(burin_convert(burin_element_named("f64"), values, burin_element_named("f16"), to, 4) ==
          4);
    CHECK(to[0] == 0x3c00 && to[1] == 0x3c01 && to[2] == 0xbc01 && to[3] == 0x3c00);
}

SUITE(npy) {
    TEST(every_type_comes_back);
    TEST(shapes_come_back);
    TEST(types_that_numpy_lacks_are_f32);
    TEST(integers_keep_their_value_or_stop);
    TEST(doubles_round_once);
}
