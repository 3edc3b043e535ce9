// Compares two .npy files of f32 (or one's first rows): usage: npy_compare GOT EXPECTED TOLERANCE
// Prints the largest absolute difference and where it is; status 1 when it is above the tolerance or the shapes differ.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

typedef struct Array {
    const char *path;
    size_t rows, columns;
    const float *data;
} Array;

static _Noreturn void stop(const char *path, const char *what) {
    fprintf(stderr, "npy_compare: %s: %s\n", path, what);
    exit(2);
}

static Array array_read(const char *path) {
    Array a = {.path = path, .columns = 1};
    size_t size, header;
    unsigned char *bytes = (unsigned char *)read_text_file(path, &size);
    if (size < 12 || memcmp(bytes, "\x93NUMPY\x01", 7)) stop(path, "not a version 1 .npy file");
    header = 10u + bytes[8] + 256u * bytes[9];
    const char *shape = strstr((char *)bytes + 10, "'shape': (");
    if (header > size || !shape || !strstr((char *)bytes + 10, "'<f4'")) stop(path, "not an array of f32");
    int n = sscanf(shape, "'shape': (%zu, %zu", &a.rows, &a.columns);
    if (n < 1 || size - header != a.rows * a.columns * sizeof(float)) stop(path, "size and shape differ");
    a.data = (const float *)(const void *)(bytes + header);
    return a;
}

int main(int argc, char **argv) {
    if (argc != 4) stop("usage", "npy_compare GOT EXPECTED TOLERANCE");
    Array got = array_read(argv[1]), expected = array_read(argv[2]);
    double tolerance = strtod(argv[3], NULL), worst = 0;
    size_t where = 0, n = expected.rows * expected.columns;
    if (got.columns != expected.columns || got.rows < expected.rows) {
        printf("%s is [%zu, %zu], %s is [%zu, %zu]\n", got.path, got.rows, got.columns, expected.path, expected.rows,
               expected.columns);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got.data[i] - (double)expected.data[i]);
        if (!(d <= worst)) worst = d, where = i;
        if (isnan(d)) break;
    }
    printf("largest difference %g at [%zu, %zu]: got %.9g, expected %.9g\n", worst, where / got.columns, where % got.columns,
           (double)got.data[where], (double)expected.data[where]);
    return worst <= tolerance ? 0 : 1;
}
