#include "ir/convert.h"

#include <math.h>
#include <string.h>

#include "kernels/plain.h"

// Data in files need not be aligned.
#define READ(type, data, i)                                                           \
    ({                                                                                \
        type v_;                                                                      \
        memcpy(&v_, (const char *)(data) + (size_t)(i) * sizeof(type), sizeof(type)); \
        v_;                                                                           \
    })

static const burin_small *small_float(DType t) {
    switch (t) {
        case DT_f8e4m3fn:
            return &burin_f8e4m3fn;
        case DT_f8e4m3fnuz:
            return &burin_f8e4m3fnuz;
        case DT_f8e5m2:
            return &burin_f8e5m2;
        case DT_f8e5m2fnuz:
            return &burin_f8e5m2fnuz;
        case DT_f4e2m1:
            return &burin_f4e2m1;
        default:
            return NULL;
    }
}

// ---------------------------------------------------------------------------------- integer access
static bool is_unsigned(DType t) {
    return t == DT_u8 || t == DT_u16 || t == DT_u32 || t == DT_u64 || t == DT_u4 || t == DT_u2 ||
           t == DT_bool;
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
        case DT_i2:
            return signed_load(data, i, dtype_bits(t));
        case DT_u4:
        case DT_u2:
            return bits_load(data, i, dtype_bits(t));
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
            bits_store(data, i, dtype_bits(t), v);
            break;
        default:
            ((int64_t *)data)[i] = v;
            break;
    }
}

int64_t int64_of_double(double x) { return sl_from_real(x, 64, false); }

// Float to integer: truncates and saturates. Narrow integers wrap, as ONNX's Cast has it.
static int64_t integer_of(DType t, double x) {
    if (t == DT_bool) return x != 0;
    int bits = dtype_bits(t);
    return bits < 8 ? sl_from_real(x, 64, false) : sl_from_real(x, bits, is_unsigned(t));
}

// ----------------------------------------------------------------------------------- powers of two
// e8m0: an exponent alone, 2^(bits - 127). The sign is dropped, infinity is NaN, and zero the least
// power.
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

// -------------------------------------------------------------------------------------- by element
double dtype_load(DType t, const void *data, int64_t i) {
    if (t == DT_f32) return READ(float, data, i);
    if (t == DT_f64) return READ(double, data, i);
    if (t == DT_f16) return sf_from_f16(READ(uint16_t, data, i));
    if (t == DT_bf16) return sf_from_bf16(READ(uint16_t, data, i));
    if (t == DT_f8e8m0) return scale_decode(READ(uint8_t, data, i));
    const burin_small *f = small_float(t);
    if (f) return sf_from_small(*f, (uint32_t)bits_load(data, i, dtype_bits(t)));
    int64_t v = load_integer(t, data, i);
    return t == DT_u64 ? (double)(uint64_t)v : (double)v;
}

void dtype_store_rounded(DType t, void *data, int64_t i, double x, DTypeRounding r) {
    const burin_small *f = small_float(t);
    if (t == DT_f32)
        ((float *)data)[i] = (float)x;
    else if (t == DT_f64)
        ((double *)data)[i] = x;
    else if (t == DT_f16)
        ((uint16_t *)data)[i] = f16_from_real(x);
    else if (t == DT_bf16)
        ((uint16_t *)data)[i] = bf16_from_real(x);
    else if (t == DT_f8e8m0)
        ((uint8_t *)data)[i] = scale_encode(x, r);
    else if (f)
        bits_store(data, i, dtype_bits(t), small_from_float(*f, sf_rounded_to_odd(x), r.overflows));
    else
        store_integer(t, data, i, integer_of(t, x));
}

void dtype_store(DType t, void *data, int64_t i, double x) {
    dtype_store_rounded(t, data, i, x, (DTypeRounding){0});
}

// -------------------------------------------------------------------------------------------- bulk
static bool convert_fast(DType to, void *out, DType from, const void *in, int64_t n) {
    if (to == from) {
        memcpy(out, in, dtype_bytes(to, n));
        return true;
    }
    if (to != DT_f32 || from != DT_bf16) return false;
    for (int64_t i = 0; i < n; i++) ((float *)out)[i] = sf_from_bf16(READ(uint16_t, in, i));
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
