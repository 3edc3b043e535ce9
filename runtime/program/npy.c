// .npy version 1.0: a 128-byte header with the shape, then little-endian floats. The header is
// written first without the number of rows and again at the end with it, so the file must be one
// that can be rewound.
#include "program/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/output.h"

enum { HEADER_BYTES = 128 };

static bool write_header(burin_npy *npy) {
    unsigned char header[HEADER_BYTES];
    char text[HEADER_BYTES];
    int n = snprintf(text, sizeof text,
                     "{'descr': '<f4', 'fortran_order': False, 'shape': (%lld, %d), }",
                     (long long)npy->rows, npy->columns);
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = HEADER_BYTES - 10;
    header[9] = 0;
    memcpy(header + 10, text, (size_t)n);
    header[HEADER_BYTES - 1] = '\n';
    return lseek(npy->file, 0, SEEK_SET) == 0 && burin_write_all(npy->file, header, sizeof header);
}

static bool lose(const burin_npy *npy) {
    int error = errno;
    if (npy->path) unlink(npy->path);
    errno = error;
    return false;
}

const char *burin_npy_open(burin_npy *npy, const char *path, int32_t columns) {
    const char *why;
    *npy = (burin_npy){.path = path, .columns = columns, .file = burin_create_file(path, &why)};
    if (npy->file < 0) return why;
    return write_header(npy) || lose(npy) ? NULL : strerror(errno);
}

bool burin_npy_stream(burin_npy *npy, int file, int32_t columns) {
    struct stat status;
    if (fstat(file, &status) || !S_ISREG(status.st_mode) || lseek(file, 0, SEEK_CUR) != 0 ||
        fcntl(file, F_GETFL) & O_APPEND)
        return false;
    *npy = (burin_npy){.columns = columns, .file = file};
    return write_header(npy);
}

bool burin_npy_add(burin_npy *npy, const float *values, int64_t rows) {
    npy->rows += rows;
    return burin_write_all(npy->file, values,
                           (size_t)rows * (size_t)npy->columns * sizeof *values) ||
           lose(npy);
}

bool burin_npy_sync(burin_npy *npy) {
    return write_header(npy) && lseek(npy->file, 0, SEEK_END) >= 0;
}

bool burin_npy_close(burin_npy *npy) {
    bool written = write_header(npy);
    return (close(npy->file) == 0 && written) || lose(npy);
}
