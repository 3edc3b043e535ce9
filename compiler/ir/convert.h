// Element access and conversion for every dtype, in one place: floats round to nearest even, once.
#ifndef BURIN_IR_CONVERT_H
#define BURIN_IR_CONVERT_H
#include "ir.h"

// Truncates, saturates, and makes NaN 0: a cast of such numbers is undefined.
int64_t int64_of_double(double);

// One element by index, through double (64-bit integers beyond 2^53 lose bits here: use
// convert_elements).
double dtype_load(DType, const void *data, int64_t i);
void dtype_store(DType, void *data, int64_t i, double value);

// How a float becomes one of 8 bits: too large numbers saturate unless `overflows` (then they are
// infinity, or NaN). The direction is that of powers of two (f8e8m0); all other types round to
// nearest even.
typedef struct DTypeRounding {
    bool overflows;
    enum { ROUND_UP, ROUND_DOWN, ROUND_NEAREST } direction;
} DTypeRounding;
void dtype_store_rounded(DType, void *data, int64_t i, double value, DTypeRounding);

// n elements from one dtype to another. Float to integer truncates, saturates, and NaN becomes 0;
// integer to narrower integer wraps, as does anything to an integer of 4 or 2 bits; anything to
// bool is "not zero". 8-bit floats saturate.
void convert_elements(DType to, void *out, DType from, const void *in, int64_t n);
#endif
