// The file that `conformance --emit` writes beside a case's program: CaseHeader, then a CaseTensor
// with its data for each input and each expected output, padded to CASE_ALIGN bytes; and how the
// suite compares two values.
#ifndef CASE_FILE_H
#define CASE_FILE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum { CASE_ALIGN = 64 };

typedef struct CaseHeader {
    int32_t n_inputs, n_outputs;
    int32_t draws;  // random numbers: only types and shapes are compared
    int32_t exact;  // to the last bit, but for NaNs and f64
    char reserved[48];
} CaseHeader;

typedef struct CaseTensor {
    char type[20];
    int32_t rank;
    int64_t dim[8];
    uint64_t bytes;
    char reserved[32];
} CaseTensor;

// The suite's tolerances: 1e-3 relative, 1e-7 absolute.
static inline bool is_close(double got, double expected) {
    if (isnan(got) || isnan(expected)) return isnan(got) && isnan(expected);
    if (isinf(got) || isinf(expected)) return got == expected;
    return fabs(got - expected) <= 1e-7 + 1e-3 * fabs(expected);
}
#endif
