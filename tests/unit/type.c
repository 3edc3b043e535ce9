// Element types, value types, and conversion of elements.
#include <math.h>

#include "ir.h"
#include "ir/convert.h"
#include "kernels/plain.h"
#include "kernels/quantize.h"
#include "unit.h"

static void names_and_bits(void) {
    DType t;
    for (int i = 0; i < DT_COUNT; i++)
        CHECK(dtype_parse(dtype_name((DType)i), &t) && t == (DType)i);
    CHECK(!dtype_parse("f33", &t) && dtype_bits(DT_bf16) == 16 && dtype_bits(DT_i4) == 4 &&
          dtype_bits(DT_bool) == 8);
    CHECK(dtype_is_float(DT_f8e5m2) && !dtype_is_float(DT_i32) && !dtype_is_float(DT_bool));
    CHECK(dtype_bytes(DT_i4, 3) == 2 && dtype_bytes(DT_f64, 3) == 24);
}

static void types_compare_and_broadcast(void) {
    Graph *g = graph_new("g");
    const Dim *t = dim_symbol(g, "T", 1, 9), *one = dim_const(g, 1), *four = dim_const(g, 4);
    Type a = type_of(DT_f32, 2, (const Dim *[]){t, one}),
         b = type_of(DT_f32, 1, (const Dim *[]){four}), r;
    CHECK(type_broadcast(g, &a, &b, &r));
    CHECK_TEXT(type_text(&r), "f32[T, 4]");
    CHECK(type_broadcast(g, &b, &a, &r));
    CHECK_TEXT(type_text(&r), "f32[T, 4]");
    Type c = type_of(DT_f32, 1, (const Dim *[]){dim_const(g, 3)}), scalar = type_scalar(DT_i64);
    CHECK(!type_broadcast(g, &b, &c, &r) && !dim_broadcast(g, t, four));
    CHECK(type_equal(&a, &a) && !type_equal(&a, &b));
    CHECK(type_count(g, &r) && type_count(g, &scalar) == one);
    CHECK_TEXT(type_text(&scalar), "i64");
    graph_free(g);
}

// Planner, emitted code and interpreter ask storage_units: a row in blocks begins a block of its
// own.
static void rows_in_blocks_are_whole_blocks(void) {
    static const int64_t widths[] = {0, 1, 7, 31, 32, 33, 40, 64};
    Graph *g = graph_new("g");
    const Dim *t = dim_symbol(g, "T", 1, 9);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        int64_t dim[] = {9, widths[i]}, blocks = widths[i] == 0 ? 0 : widths[i] <= 32 ? 1 : 2;
        Type type = type_of(DT_i8_rows, 2, (const Dim *[]){t, dim_const(g, widths[i])});
        CHECK(storage_units(g, &type) == dim_binary(g, DIM_MUL, t, dim_const(g, blocks)));
        CHECK(storage_units_of(DT_i8_rows, 2, dim) == 9 * blocks &&
              storage_units_of(DT_f32, 2, dim) == 9 * widths[i]);
    }
    CHECK(dtype_bytes(DT_q8_rows, 3) == 3 * sizeof(q8_block));
    CHECK(storage_units_of(DT_f32, 3, (int64_t[]){INT64_MAX, 2, 0}) == 0);
    CHECK(storage_units_of(DT_f32, 2, (int64_t[]){INT64_MAX, 2}) == -1);
    graph_free(g);
}

// Every 16-bit pattern survives a trip through double; neighbours' midpoints round to the even one.
static void check_sixteen_bits(DType t) {
    int bad = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        uint16_t bits = (uint16_t)i, back, above = (uint16_t)(i + 1), middle;
        double x = dtype_load(t, &bits, 0), y = dtype_load(t, &above, 0);
        dtype_store(t, &back, 0, x);
        bad += isnan(x) ? !isnan(dtype_load(t, &back, 0)) : back != bits;
        if (!isfinite(x) || !isfinite(y) || signbit(x) != signbit(y)) continue;
        dtype_store(t, &middle, 0, x + (y - x) / 2);
        bad += middle != (i % 2 ? above : bits);
    }
    CHECK(bad == 0);
}

static void sixteen_bits_round_to_even(void) {
    check_sixteen_bits(DT_f16);
    check_sixteen_bits(DT_bf16);
    CHECK(f16_from_real(65520) == 0x7c00 && f16_from_real(65519) == 0x7bff &&
          bf16_from_real(3.4e38) == 0x7f80 && sf_from_f16(1) == 0x1p-24f);
}

static void eight_bit_floats_saturate(void) {
    static const struct {
        DType t;
        double in, out;
    } cases[] = {{DT_f8e4m3fn, 1000, 448},     {DT_f8e4m3fn, 0x1p-9, 0x1p-9},
                 {DT_f8e4m3fn, 17, 16},        {DT_f8e5m2, 1e9, 57344},
                 {DT_f8e4m3fnuz, -1000, -240}, {DT_f8e4m3fnuz, -0.0, 0},
                 {DT_f8e5m2fnuz, 1e9, 57344},  {DT_f8e5m2fnuz, 0x1p-17, 0x1p-17},
                 {DT_f8e5m2, 0x1p-16, 0x1p-16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bits;
        dtype_store(cases[i].t, &bits, 0, cases[i].in);
        CHECK(dtype_load(cases[i].t, &bits, 0) == cases[i].out);
    }
    uint8_t bits;
    dtype_store(DT_f8e4m3fnuz, &bits, 0, NAN);
    CHECK(bits == 0x80 && isnan(dtype_load(DT_f8e4m3fnuz, &bits, 0)));
    dtype_store(DT_f8e4m3fn, &bits, 0, NAN);
    CHECK(isnan(dtype_load(DT_f8e4m3fn, &bits, 0)));
}

static void integers_wrap_and_floats_saturate(void) {
    int64_t wide[3] = {INT64_MAX, -1, 300};
    uint8_t narrow[3];
    convert_elements(DT_u8, narrow, DT_i64, wide, 3);
    CHECK(narrow[0] == 255 && narrow[1] == 255 && narrow[2] == 44);
    float floats[4] = {1e20f, -1e20f, NAN, -3.7f};
    int64_t whole[4];
    convert_elements(DT_i64, whole, DT_f32, floats, 4);
    CHECK(whole[0] == INT64_MAX && whole[1] == INT64_MIN && whole[2] == 0 && whole[3] == -3);
    uint64_t large[1];
    convert_elements(DT_u64, large, DT_f32, floats, 1);
    CHECK(large[0] == UINT64_MAX);
    uint8_t nibbles[2] = {0};
    for (int i = 0; i < 3; i++) dtype_store(DT_i4, nibbles, i, i - 8);
    CHECK(dtype_load(DT_i4, nibbles, 0) == -8 && dtype_load(DT_i4, nibbles, 2) == -6 &&
          nibbles[0] == 0x98);
}

static double stored(DType t, double x, DTypeRounding r) {
    uint8_t bits[2] = {0};
    dtype_store_rounded(t, bits, 0, x, r);
    return dtype_load(t, bits, 0);
}

static void narrow_elements_are_packed(void) {
    uint8_t twos[1] = {0}, fours[2] = {0};
    for (int i = 0; i < 4; i++) dtype_store(DT_i2, twos, i, i - 2);
    CHECK(twos[0] == 0x4e && dtype_load(DT_i2, twos, 0) == -2 && dtype_load(DT_i2, twos, 3) == 1);
    CHECK(dtype_load(DT_u2, twos, 1) == 3 && dtype_bytes(DT_u2, 5) == 2);
    static const double in[] = {0.25, 0.75, 2.5, 100},
                        out[] = {0, 1, 2, 6};  // ties to even; saturated
    for (int i = 0; i < 4; i++) dtype_store(DT_f4e2m1, fours, i, in[i]);
    for (int i = 0; i < 4; i++) CHECK(dtype_load(DT_f4e2m1, fours, i) == out[i]);
    for (int i = 0; i < 16; i++) {
        uint8_t bits = (uint8_t)i, back = 0;
        dtype_store(DT_f4e2m1, &back, 0, dtype_load(DT_f4e2m1, &bits, 0));
        CHECK(back == bits);
    }
    double wide[3] = {9, -9, 3};
    convert_elements(DT_i4, fours, DT_f64, wide, 3);
    CHECK(dtype_load(DT_i4, fours, 0) == -7 && dtype_load(DT_i4, fours, 1) == 7 &&
          dtype_load(DT_i4, fours, 2) == 3);
}

static void floats_overflow_when_asked(void) {
    DTypeRounding overflows = {.overflows = true};
    CHECK(stored(DT_f8e5m2, 1e6, overflows) == INFINITY &&
          stored(DT_f8e5m2, -INFINITY, overflows) == -INFINITY);
    CHECK(isnan(stored(DT_f8e4m3fn, 1e6, overflows)) &&
          isnan(stored(DT_f8e4m3fnuz, -1e6, overflows)));
    CHECK(stored(DT_f8e4m3fn, 448, overflows) == 448 && stored(DT_f4e2m1, 1e6, overflows) == 6);
}

static void powers_of_two_round_as_told(void) {
    DTypeRounding up = {0}, down = {.direction = ROUND_DOWN},
                  nearest = {.direction = ROUND_NEAREST};
    CHECK(stored(DT_f8e8m0, 1.1, up) == 2 && stored(DT_f8e8m0, 1.9, down) == 1 &&
          stored(DT_f8e8m0, 1.4, nearest) == 1);
    CHECK(stored(DT_f8e8m0, 1.5, nearest) == 2 && stored(DT_f8e8m0, 0, up) == 0x1p-127 &&
          stored(DT_f8e8m0, -4, up) == 4);
    CHECK(isnan(stored(DT_f8e8m0, INFINITY, up)) && stored(DT_f8e8m0, 0x1p300, up) == 0x1p127);
    for (int i = 0; i < 255; i++) {
        uint8_t bits = (uint8_t)i, back = 0;
        dtype_store(DT_f8e8m0, &back, 0, dtype_load(DT_f8e8m0, &bits, 0));
        CHECK(back == bits);
    }
}

SUITE(type) {
    TEST(names_and_bits);
    TEST(rows_in_blocks_are_whole_blocks);
    TEST(types_compare_and_broadcast);
    TEST(sixteen_bits_round_to_even);
    TEST(eight_bit_floats_saturate);
    TEST(integers_wrap_and_floats_saturate);
    TEST(narrow_elements_are_packed);
    TEST(floats_overflow_when_asked);
    TEST(powers_of_two_round_as_told);
}
