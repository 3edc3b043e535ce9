// Element types of tensors at run time: those of burin_tensor, their sizes, and values converted
// one by one.
#ifndef BURIN_ELEMENT_H
#define BURIN_ELEMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum burin_element_kind {
    ELEMENT_FLOAT,
    ELEMENT_SIGNED,
    ELEMENT_UNSIGNED,
    ELEMENT_TRUTH
} burin_element_kind;

typedef struct burin_element {
    const char *name;   // "f32"
    const char *numpy;  // its descr in a .npy file, without the byte order: "f4"; NULL: numpy has
                        // no such type
    burin_element_kind kind;
    int bytes;
    float (*decode)(uint16_t bits);  // of floats of at most 16 bits
    uint16_t (*encode)(float);
} burin_element;

const burin_element *burin_element_named(const char *name);      // NULL: unknown type
const burin_element *burin_element_of_numpy(const char *descr);  // "f4"

// One value. Floats as double, truths as 0 and 1.
double burin_load_real(const burin_element *, const void *data, size_t i);
void burin_store_real(const burin_element *, void *data, size_t i, double value);
int64_t burin_load_integer(const burin_element *, const void *data, size_t i);
void burin_store_integer(const burin_element *, void *data, size_t i, int64_t value);

// n elements from one type to another, rounding floats. Stops at an integer that does not fit:
// returns its index, n if all fit. Floats never become integers or bools: see burin_converts.
bool burin_converts(const burin_element *from, const burin_element *to);
size_t burin_convert(const burin_element *from, const void *data, const burin_element *to,
                     void *result, size_t n);
#endif
