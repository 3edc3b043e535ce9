// Element types: a table, and loads and stores by kind and size.
#include "element.h"

#include <string.h>

#include "convert.h"

static const burin_element table[] = {
    {"f32", "f4", ELEMENT_FLOAT, 4},    {"f64", "f8", ELEMENT_FLOAT, 8},    {"f16", "f2", ELEMENT_FLOAT, 2},
    {"bf16", NULL, ELEMENT_FLOAT, 2},   {"i8", "i1", ELEMENT_SIGNED, 1},    {"i16", "i2", ELEMENT_SIGNED, 2},
    {"i32", "i4", ELEMENT_SIGNED, 4},   {"i64", "i8", ELEMENT_SIGNED, 8},   {"u8", "u1", ELEMENT_UNSIGNED, 1},
    {"u16", "u2", ELEMENT_UNSIGNED, 2}, {"u32", "u4", ELEMENT_UNSIGNED, 4}, {"u64", "u8", ELEMENT_UNSIGNED, 8},
    {"bool", "b1", ELEMENT_TRUTH, 1},
};
enum { N_ELEMENTS = sizeof table / sizeof *table };

const burin_element *burin_element_named(const char *name) {
    for (int i = 0; i < N_ELEMENTS; i++)
        if (!strcmp(table[i].name, name)) return &table[i];
    return NULL;
}

const burin_element *burin_element_of_numpy(const char *descr) {
    for (int i = 0; i < N_ELEMENTS; i++)
        if (table[i].numpy && !strcmp(table[i].numpy, descr)) return &table[i];
    return NULL;
}

double burin_load_real(const burin_element *e, const void *data, size_t i) {
    const unsigned char *p = (const unsigned char *)data + i * (size_t)e->bytes;
    double real;
    float single;
    uint16_t half;
    if (e->kind != ELEMENT_FLOAT) {
        int64_t integer = burin_load_integer(e, data, i);
        return e->kind == ELEMENT_UNSIGNED ? (double)(uint64_t)integer : (double)integer;
    }
    switch (e->bytes) {
        case 8:
            memcpy(&real, p, sizeof real);
            return real;
        case 4:
            memcpy(&single, p, sizeof single);
            return (double)single;
        default:
            memcpy(&half, p, sizeof half);
            return (double)(e->numpy ? sf_from_f16(half) : sf_from_bf16(half));
    }
}

void burin_store_real(const burin_element *e, void *data, size_t i, double value) {
    unsigned char *p = (unsigned char *)data + i * (size_t)e->bytes;
    float single = (float)value;
    uint16_t half;
    switch (e->bytes) {
        case 8:
            memcpy(p, &value, sizeof value);
            break;
        case 4:
            memcpy(p, &single, sizeof single);
            break;
        default:
            half = e->numpy ? f16_from_float(sf_rounded_to_odd(value)) : bf16_from_float(sf_rounded_to_odd(value));
            memcpy(p, &half, sizeof half);
    }
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

bool burin_fits(const burin_element *e, int64_t value) {
    int bits = 8 * e->bytes;
    if (e->kind == ELEMENT_TRUTH) return true;
    if (e->kind == ELEMENT_UNSIGNED) return value >= 0 && (bits == 64 || value < (int64_t)1 << bits);
    return bits == 64 || (value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1));
}

bool burin_converts(const burin_element *from, const burin_element *to) {
    return from->kind != ELEMENT_FLOAT || to->kind == ELEMENT_FLOAT;
}

// An unsigned value of the upper half is no int64_t.
static bool too_large(const burin_element *from, const burin_element *to, int64_t value) {
    return from->kind == ELEMENT_UNSIGNED && from->bytes == 8 && value < 0 && to->kind != ELEMENT_TRUTH &&
           !(to->kind == ELEMENT_UNSIGNED && to->bytes == 8);
}

static size_t convert_integers(const burin_element *from, const void *data, const burin_element *to, void *result, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int64_t value = burin_load_integer(from, data, i);
        bool same_bits = from->kind == to->kind && from->bytes == to->bytes;
        if (!same_bits && (too_large(from, to, value) || !burin_fits(to, value))) return i;
        burin_store_integer(to, result, i, value);
    }
    return n;
}

size_t burin_convert(const burin_element *from, const void *data, const burin_element *to, void *result, size_t n) {
    if (to->kind != ELEMENT_FLOAT) return convert_integers(from, data, to, result, n);
    if (from == to) {
        memcpy(result, data, n * (size_t)to->bytes);
    } else {
        for (size_t i = 0; i < n; i++) burin_store_real(to, result, i, burin_load_real(from, data, i));
    }
    return n;
}
