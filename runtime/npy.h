// Writes a two-dimensional f32 array to a .npy file, row after row; the number of rows may be unknown until the end.
#ifndef BURIN_NPY_H
#define BURIN_NPY_H
#include <stdbool.h>
#include <stdint.h>

typedef struct burin_npy {
    int file;
    int64_t rows;
    int32_t columns;
} burin_npy;

// All false with errno when the file cannot be written.
bool burin_npy_open(burin_npy *, const char *path, int32_t columns);
bool burin_npy_add(burin_npy *, const float *values, int64_t rows);
bool burin_npy_close(burin_npy *);
#endif
