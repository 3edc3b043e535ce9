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
    uint32_t overflow;  // what too large numbers become when they do not saturate, without infinity: 0 if that cannot be
} SmallFloat;

static const SmallFloat SMALL_F16 = {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, 0}, SMALL_BF16 = {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0},
                        SMALL_F8E4M3FN = {4, 3, 7, 0x7e, 0, 0x7f, 0x7f}, SMALL_F8E4M3FNUZ = {4, 3, 8, 0x7f, 0, 0x80, 0x80},
                        SMALL_F8E5M2 = {5, 2, 15, 0x7b, 0, 0x7f, 0x7c}, SMALL_F8E5M2FNUZ = {5, 2, 16, 0x7f, 0, 0x80, 0x80},
                        SMALL_F4E2M1 = {2, 1, 1, 0x7, 0, 0x8, 0};

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
        case DT_f4e2m1:
            return &SMALL_F4E2M1;
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
    return t == DT_u8 || t == DT_u16 || t == DT_u32 || t == DT_u64 || t == DT_u4 || t == DT_u2 || t == DT_bool;
}

// Elements narrower than a byte are packed from the low bits on.
static uint32_t load_packed(int bits, const void *data, int64_t i) {
    int64_t in_byte = 8 / bits;
    return ((const uint8_t *)data)[i / in_byte] >> (i % in_byte * bits) & ((1u << bits) - 1);
}

static void store_packed(int bits, void *data, int64_t i, uint32_t v) {
    int64_t in_byte = 8 / bits;
    uint8_t *byte = (uint8_t *)data + i / in_byte;
    uint32_t shift = (uint32_t)(i % in_byte) * (uint32_t)bits, mask = ((1u << bits) - 1) << shift;
    *byte = (uint8_t)((*byte & ~mask) | (v << shift & mask));
}

static int64_t load_narrow(DType t, const void *data, int64_t i) {
    int bits = dtype_bits(t);
    int v = (int)load_packed(bits, data, i);
    return !is_unsigned(t) && v >> (bits - 1) ? v - (1 << bits) : v;
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
        case DT_i2:
        case DT_u2:
            return load_narrow(t, data, i);
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
        case DT_u4:
        case DT_i2:
        case DT_u2:
            store_packed(dtype_bits(t), data, i, (uint32_t)v);
            break;
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

// Float to integer. Narrow integers wrap, as ONNX's Cast has it.
static int64_t integer_of(DType t, double x) {
    return dtype_bits(t) < 8 ? truncate_saturated(DT_i64, x) : truncate_saturated(t, x);
}

// ---------------------------------------------------------------------------------------------------------- powers of two:
// e8m0 An exponent alone: 2^(bits - 127). The sign is dropped, infinity is NaN, and zero the least power.
static uint8_t scale_encode(double x, DTypeRounding r) {
    enum { SCALE_NAN = 255, SCALE_TOP = 254 };
    if (!isfinite(x)) return SCALE_NAN;
    int exponent = 0;
    double rest = frexp(fabs(x), &exponent) * 2;  // 1 <= rest < 2
    if (x == 0 || exponent - 1 < -127) return 0;
    exponent += 126;
    bool up = r.direction == ROUND_UP ? rest > 1 : r.direction == ROUND_NEAREST && rest >= 1.5;
    exponent += up;
    return (uint8_t)(exponent <= SCALE_TOP ? exponent : r.overflows ? SCALE_NAN : SCALE_TOP);
}

static double scale_decode(uint8_t bits) { return bits == 255 ? NAN : ldexp(1, bits - 127); }

// -------------------------------------------------------------------------------------------------------------- by element
double dtype_load(DType t, const void *data, int64_t i) {
    if (t == DT_f32) return READ(float, data, i);
    if (t == DT_f64) return READ(double, data, i);
    if (t == DT_bf16) return f32_of_bf16(READ(uint16_t, data, i));
    if (t == DT_f8e8m0) return scale_decode(READ(uint8_t, data, i));
    if (t == DT_f4e2m1) return small_decode(&SMALL_F4E2M1, load_packed(4, data, i));
    const SmallFloat *f = small_float(t);
    if (f) return small_decode(f, dtype_bits(t) == 16 ? READ(uint16_t, data, i) : READ(uint8_t, data, i));
    int64_t v = load_integer(t, data, i);
    return t == DT_u64 ? (double)(uint64_t)v : (double)v;
}

void dtype_store_rounded(DType t, void *data, int64_t i, double x, DTypeRounding r) {
    const SmallFloat *f = small_float(t);
    SmallFloat unsaturated;
    if (f && r.overflows && f->overflow) {
        unsaturated = *f, unsaturated.infinity = f->overflow;
        f = &unsaturated;
    }
    if (t == DT_f32)
        ((float *)data)[i] = (float)x;
    else if (t == DT_f64)
        ((double *)data)[i] = x;
    else if (t == DT_f8e8m0)
        ((uint8_t *)data)[i] = scale_encode(x, r);
    else if (f && dtype_bits(t) == 16)
        ((uint16_t *)data)[i] = (uint16_t)small_encode(f, x);
    else if (f && dtype_bits(t) == 8)
        ((uint8_t *)data)[i] = (uint8_t)small_encode(f, x);
    else if (f)
        store_packed(dtype_bits(t), data, i, small_encode(f, x));
    else
        store_integer(t, data, i, integer_of(t, x));
}

void dtype_store(DType t, void *data, int64_t i, double x) { dtype_store_rounded(t, data, i, x, (DTypeRounding){0}); }

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
