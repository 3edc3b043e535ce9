#include "ir/convert.h"

#include <math.h>
#include <string.h>

// Data in files need not be aligned.
#define READ(type, data, i)                                                           \
    ({                                                                                \
        type v_;                                                                      \
        memcpy(&v_, (const char *)(data) + (size_t)(i) * sizeof(type), sizeof(type)); \
        v_;                                                                           \
    })

// A float of at most 16 bits. Patterns above `top` (exponent and fraction) are infinity or NaN.
typedef struct {
    int exponent_bits, fraction_bits, bias;
    uint32_t top;       // the largest finite number
    uint32_t infinity;  // 0: it has none, and too large numbers become `top`
    uint32_t nan;
} SmallFloat;

static const SmallFloat SMALL_F16 = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00}, SMALL_BF16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0},
                        SMALL_F8E4M3FN = {4, 3, 7, 0x7e, 0, 0x7f}, SMALL_F8E4M3FNUZ = {4, 3, 8, 0x7f, 0, 0x80},
                        SMALL_F8E5M2 = {5, 2, 15, 0x7b, 0, 0x7f}, SMALL_F8E5M2FNUZ = {5, 2, 16, 0x7f, 0, 0x80};

static uint32_t small_encode(const SmallFloat *f, double x) {
    uint32_t sign = signbit(x) ? 1u << (f->exponent_bits + f->fraction_bits) : 0;
    bool unsigned_zero = f->nan == 0x80;
    if (isnan(x)) return f->nan;
    if (isinf(x)) return sign | (f->infinity ? f->infinity : f->top);
    int exponent;
    frexp(x, &exponent);
    exponent--;
    bool subnormal = x == 0 || exponent < 1 - f->bias;
    if (subnormal) exponent = 1 - f->bias;
    if (exponent > 2 * f->bias + 2) return sign | (f->infinity ? f->infinity : f->top);
    uint32_t whole = (uint32_t)nearbyint(ldexp(fabs(x), f->fraction_bits - exponent));
    uint32_t bits = subnormal ? whole : whole + ((uint32_t)(exponent + f->bias - 1) << f->fraction_bits);
    if (bits > f->top) bits = f->infinity ? f->infinity : f->top;
    return !bits && unsigned_zero ? 0 : sign | bits;
}

static double small_decode(const SmallFloat *f, uint32_t bits) {
    int width = f->exponent_bits + f->fraction_bits;
    uint32_t magnitude = bits & ((1u << width) - 1);
    double sign = bits >> width & 1 ? -1 : 1;
    if (f->nan == 0x80 && bits == 0x80) return NAN;
    if (magnitude > f->top) {
        bool infinite = f->exponent_bits == 5 || f->infinity ? magnitude == f->top + 1 : false;
        return infinite ? sign * INFINITY : NAN;
    }
    int exponent = (int)(magnitude >> f->fraction_bits);
    uint32_t fraction = magnitude & ((1u << f->fraction_bits) - 1);
    if (exponent) fraction |= 1u << f->fraction_bits;
    return sign * ldexp(fraction, (exponent ? exponent : 1) - f->bias - f->fraction_bits);
}

static const SmallFloat *small_float(DType t) {
    switch (t) {
        case DT_f16:
            return &SMALL_F16;
        case DT_bf16:
            return &SMALL_BF16;
        case DT_f8e4m3fn:
            return &SMALL_F8E4M3FN;
        case DT_f8e4m3fnuz:
            return &SMALL_F8E4M3FNUZ;
        case DT_f8e5m2:
            return &SMALL_F8E5M2;
        case DT_f8e5m2fnuz:
            return &SMALL_F8E5M2FNUZ;
        default:
            return NULL;
    }
}

uint16_t f16_of(double x) { return (uint16_t)small_encode(&SMALL_F16, x); }
uint16_t bf16_of(double x) { return (uint16_t)small_encode(&SMALL_BF16, x); }
float f32_of_f16(uint16_t bits) { return (float)small_decode(&SMALL_F16, bits); }

float f32_of_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

// ------------------------------------------------------------------------------------------------------------ integer access
static bool is_unsigned(DType t) {
    return t == DT_u8 || t == DT_u16 || t == DT_u32 || t == DT_u64 || t == DT_u4 || t == DT_bool;
}

static int64_t load_nibble(DType t, const void *data, int64_t i) {
    int v = ((const uint8_t *)data)[i / 2] >> (i % 2 * 4) & 15;
    return t == DT_i4 && v > 7 ? v - 16 : v;
}

// The bits of a u64 as an int64_t; every other integer dtype by value.
static int64_t load_integer(DType t, const void *data, int64_t i) {
    switch (t) {
        case DT_i8:
            return READ(int8_t, data, i);
        case DT_i16:
            return READ(int16_t, data, i);
        case DT_i32:
            return READ(int32_t, data, i);
        case DT_u8:
        case DT_bool:
            return READ(uint8_t, data, i);
        case DT_u16:
            return READ(uint16_t, data, i);
        case DT_u32:
            return READ(uint32_t, data, i);
        case DT_i4:
        case DT_u4:
            return load_nibble(t, data, i);
        default:
            return READ(int64_t, data, i);
    }
}

static void store_integer(DType t, void *data, int64_t i, int64_t v) {
    switch (t) {
        case DT_i8:
        case DT_u8:
            ((uint8_t *)data)[i] = (uint8_t)v;
            break;
        case DT_bool:
            ((uint8_t *)data)[i] = v != 0;
            break;
        case DT_i16:
        case DT_u16:
            ((uint16_t *)data)[i] = (uint16_t)v;
            break;
        case DT_i32:
        case DT_u32:
            ((uint32_t *)data)[i] = (uint32_t)v;
            break;
        case DT_i4:
        case DT_u4: {
            uint8_t *byte = (uint8_t *)data + i / 2;
            int shift = (int)(i % 2) * 4;
            *byte = (uint8_t)((*byte & ~(15 << shift)) | (int)(v & 15) << shift);
            break;
        }
        default:
            ((int64_t *)data)[i] = v;
            break;
    }
}

static int64_t truncate_saturated(DType t, double x) {
    int bits = dtype_bits(t);
    if (t == DT_bool) return x != 0;
    if (isnan(x)) return 0;
    double low = is_unsigned(t) ? 0 : -ldexp(1, bits - 1), above = ldexp(1, is_unsigned(t) ? bits : bits - 1);
    if (x < low) x = low;
    if (x >= above) return is_unsigned(t) ? (int64_t)(UINT64_MAX >> (64 - bits)) : (int64_t)(UINT64_MAX >> (65 - bits));
    return is_unsigned(t) ? (int64_t)(uint64_t)x : (int64_t)x;
}

// -------------------------------------------------------------------------------------------------------------- by element
double dtype_load(DType t, const void *data, int64_t i) {
    if (t == DT_f32) return READ(float, data, i);
    if (t == DT_f64) return READ(double, data, i);
    if (t == DT_bf16) return f32_of_bf16(READ(uint16_t, data, i));
    const SmallFloat *f = small_float(t);
    if (f) return small_decode(f, dtype_bits(t) == 16 ? READ(uint16_t, data, i) : READ(uint8_t, data, i));
    int64_t v = load_integer(t, data, i);
    return t == DT_u64 ? (double)(uint64_t)v : (double)v;
}

void dtype_store(DType t, void *data, int64_t i, double x) {
    const SmallFloat *f = small_float(t);
    if (t == DT_f32)
        ((float *)data)[i] = (float)x;
    else if (t == DT_f64)
        ((double *)data)[i] = x;
    else if (f && dtype_bits(t) == 16)
        ((uint16_t *)data)[i] = (uint16_t)small_encode(f, x);
    else if (f)
        ((uint8_t *)data)[i] = (uint8_t)small_encode(f, x);
    else
        store_integer(t, data, i, truncate_saturated(t, x));
}

// -------------------------------------------------------------------------------------------------------------------- bulk
static bool convert_fast(DType to, void *out, DType from, const void *in, int64_t n) {
    if (to == from) {
        memcpy(out, in, dtype_bytes(to, n));
        return true;
    }
    if (to != DT_f32 || from != DT_bf16) return false;
    for (int64_t i = 0; i < n; i++) ((float *)out)[i] = f32_of_bf16(READ(uint16_t, in, i));
    return true;
}

void convert_elements(DType to, void *out, DType from, const void *in, int64_t n) {
    if (!n || convert_fast(to, out, from, in, n)) return;
    if (dtype_is_float(to) || dtype_is_float(from)) {
        for (int64_t i = 0; i < n; i++) dtype_store(to, out, i, dtype_load(from, in, i));
        return;
    }
    for (int64_t i = 0; i < n; i++) store_integer(to, out, i, load_integer(from, in, i));
}
