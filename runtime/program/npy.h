// .npy files: whole arrays read and written, and a two-dimensional f32 array written row after row,
// their number unknown.
#ifndef BURIN_NPY_H
#define BURIN_NPY_H
#include "engine/element.h"

typedef struct burin_npy {
    const char *path;
    int file;
    int64_t rows;
    int32_t columns;
} burin_npy;

// NULL, or why the file cannot be written; nothing of it is left then. `path` stays the caller's,
// and is used until the end.
const char *burin_npy_open(burin_npy *, const char *path, int32_t columns);
// False with errno when the file cannot be written; nothing of it is left then.
// The same on a file that is open; false: it cannot be rewound, or is added to.
bool burin_npy_stream(burin_npy *, int file, int32_t columns);
bool burin_npy_add(burin_npy *, const float *values, int64_t rows);
bool burin_npy_sync(burin_npy *);  // from here on the file is whole with the rows so far
bool burin_npy_close(burin_npy *);

enum { BURIN_MAX_RANK = 8 };

typedef struct burin_array {
    const burin_element *element;
    int rank;
    int64_t dim[BURIN_MAX_RANK];
    size_t count;  // of elements
    void *data;    // row-major; malloc'd by burin_npy_read
    bool fortran;  // while a file is read: its values are column-major
} burin_array;

// NULL, or the reason why the file cannot be read (until the next call).
const char *burin_npy_read(burin_array *, const char *path);
// The same in two steps: type and shape, so that a file of another shape is not read; then the
// values, which close `file`.
// The .npy begins at `offset` of the file: that of a member of an .npz, else 0.
const char *burin_npy_open_array(burin_array *, const char *path, int64_t offset, int *file);
const char *burin_npy_read_array(burin_array *, int file);
// from the position of an open file; it stays open
const char *burin_npy_read_from(burin_array *, int file);
// NULL, or why the file cannot be written; nothing of it is left then. A type that numpy does not
// have is written as f32.
const char *burin_npy_write(const burin_array *, const char *path);
bool burin_npy_put(const burin_array *, int file);  // position of the file; false with errno
#endif
