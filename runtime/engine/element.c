// Element types: a table, and loads and stores by kind and size.
#include "element.h"

#include <string.h>

#include "kernels/plain.h"

#define SMALL(name)                                                                         \
    static float decode_##name(uint16_t bits) { return sf_from_##name((name##_bits)bits); } \
    static uint16_t encode_##name(float value) { return name##_from_float(value); }
typedef uint16_t f16_bits, bf16_bits;
typedef uint8_t f8e4m3fn_bits, f8e4m3fnuz_bits, f8e5m2_bits, f8e5m2fnuz_bits;
SMALL(f16)
SMALL(bf16)
SMALL(f8e4m3fn)
SMALL(f8e4m3fnuz)
SMALL(f8e5m2)
SMALL(f8e5m2fnuz)
#undef SMALL

static const burin_element elements[] = {
    {"f32", "f4", ELEMENT_FLOAT, 4, NULL, NULL},
    {"f64", "f8", ELEMENT_FLOAT, 8, NULL, NULL},
    {"f16", "f2", ELEMENT_FLOAT, 2, decode_f16, encode_f16},
    {"bf16", NULL, ELEMENT_FLOAT, 2, decode_bf16, encode_bf16},
    {"f8e4m3fn", NULL, ELEMENT_FLOAT, 1, decode_f8e4m3fn, encode_f8e4m3fn},
    {"f8e4m3fnuz", NULL, ELEMENT_FLOAT, 1, decode_f8e4m3fnuz, encode_f8e4m3fnuz},
    {"f8e5m2", NULL, ELEMENT_FLOAT, 1, decode_f8e5m2, encode_f8e5m2},
    {"f8e5m2fnuz", NULL, ELEMENT_FLOAT, 1, decode_f8e5m2fnuz, encode_f8e5m2fnuz},
    {"i8", "i1", ELEMENT_SIGNED, 1, NULL, NULL},
    {"i16", "i2", ELEMENT_SIGNED, 2, NULL, NULL},
    {"i32", "i4", ELEMENT_SIGNED, 4, NULL, NULL},
    {"i64", "i8", ELEMENT_SIGNED, 8, NULL, NULL},
    {"u8", "u1", ELEMENT_UNSIGNED, 1, NULL, NULL},
    {"u16", "u2", ELEMENT_UNSIGNED, 2, NULL, NULL},
    {"u32", "u4", ELEMENT_UNSIGNED, 4, NULL, NULL},
    {"u64", "u8", ELEMENT_UNSIGNED, 8, NULL, NULL},
    {"bool", "b1", ELEMENT_TRUTH, 1, NULL, NULL},
};
enum { N_ELEMENTS = sizeof elements / sizeof *elements };

const burin_element *burin_element_named(const char *name) {
    for (int i = 0; i < N_ELEMENTS; i++)
        if (!strcmp(elements[i].name, name)) return &elements[i];
    return NULL;
}

const burin_element *burin_element_of_numpy(const char *descr) {
    for (int i = 0; i < N_ELEMENTS; i++)
        if (elements[i].numpy && !strcmp(elements[i].numpy, descr)) return &elements[i];
    return NULL;
}

double burin_load_real(const burin_element *e, const void *data, size_t i) {
    const unsigned char *p = (const unsigned char *)data + i * (size_t)e->bytes;
    double real;
    float single;
    uint16_t small = 0;
    if (e->kind != ELEMENT_FLOAT) {
        int64_t integer = burin_load_integer(e, data, i);
        return e->kind == ELEMENT_UNSIGNED ? (double)(uint64_t)integer : (double)integer;
    }
    if (e->decode) {
        memcpy(&small, p, (size_t)e->bytes);
        return (double)e->decode(small);
    }
    if (e->bytes == 4) {
        memcpy(&single, p, sizeof single);
        return (double)single;
    }
    memcpy(&real, p, sizeof real);
    return real;
}

void burin_store_real(const burin_element *e, void *data, size_t i, double value) {
    unsigned char *p = (unsigned char *)data + i * (size_t)e->bytes;
    float single = (float)value;
    uint16_t small = e->encode ? e->encode(sf_rounded_to_odd(value)) : 0;
    if (e->encode)
        memcpy(p, &small, (size_t)e->bytes);
    else if (e->bytes == 4)
        memcpy(p, &single, sizeof single);
    else
        memcpy(p, &value, sizeof value);
}

int64_t burin_load_integer(const burin_element *e, const void *data, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, (const unsigned char *)data + i * (size_t)e->bytes, (size_t)e->bytes);
    int unused = 64 - 8 * e->bytes;
    if (e->kind == ELEMENT_TRUTH) return bits != 0;
    return e->kind == ELEMENT_SIGNED ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

void burin_store_integer(const burin_element *e, void *data, size_t i, int64_t value) {
    if (e->kind == ELEMENT_TRUTH) value = value != 0;
    memcpy((unsigned char *)data + i * (size_t)e->bytes, &value, (size_t)e->bytes);
}

static bool fits(const burin_element *e, int64_t value) {
    int bits = 8 * e->bytes;
    if (e->kind == ELEMENT_TRUTH) return true;
    if (e->kind == ELEMENT_UNSIGNED)
        return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

bool burin_converts(const burin_element *from, const burin_element *to) {
    return from->kind != ELEMENT_FLOAT || to->kind == ELEMENT_FLOAT;
}

// An unsigned value of the upper half is no int64_t.
static bool too_large(const burin_element *from, const burin_element *to, int64_t value) {
    return from->kind == ELEMENT_UNSIGNED && from->bytes == 8 && value < 0 &&
           to->kind != ELEMENT_TRUTH && !(to->kind == ELEMENT_UNSIGNED && to->bytes == 8);
}

static size_t convert_integers(const burin_element *from, const void *data, const burin_element *to,
                               void *result, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t value = burin_load_integer(from, data, i);
        bool same_bits = from->kind == to->kind && from->bytes == to->bytes;
        if (!same_bits && (too_large(from, to, value) || !fits(to, value))) return i;
        burin_store_integer(to, result, i, value);
    }
    return n;
}

size_t burin_convert(const burin_element *from, const void *data, const burin_element *to,
                     void *result, size_t n) {
    if (to->kind != ELEMENT_FLOAT) return convert_integers(from, data, to, result, n);
    if (from == to) {
        memcpy(result, data, n * (size_t)to->bytes);
    } else {
        for (size_t i = 0; i < n; i++)
            burin_store_real(to, result, i, burin_load_real(from, data, i));
    }
    return n;
}
