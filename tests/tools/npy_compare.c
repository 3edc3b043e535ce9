// Compares two .npy files of f32 (or one's first rows): usage: npy_compare GOT EXPECTED TOLERANCE
// Prints the largest absolute difference and where it is; status 1 when it is above the tolerance
// or the shapes differ.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/npy.h"

static _Noreturn void stop(const char *path, const char *what) {
    fprintf(stderr, "npy_compare: %s %s\n", path, what);
    exit(2);
}

static burin_array matrix_read(const char *path) {
    burin_array a;
    const char *error = burin_npy_read(&a, path);
    if (error) stop(path, error);
    if (strcmp(a.element->name, "f32") || a.rank < 1 || a.rank > 2)
        stop(path, "is no matrix of f32");
    if (a.rank == 1) a.dim[1] = 1;
    return a;
}

// Where the largest difference is.
static int64_t worst_place(const float *got, const float *expected, int64_t n, double *worst) {
    int64_t where = 0;
    *worst = 0;
    for (int64_t i = 0; i < n && !isnan(*worst); i++) {
        double d = fabs((double)got[i] - (double)expected[i]);
        if (!(d <= *worst)) {
            *worst = d;
            where = i;
        }
    }
    return where;
}

int main(int argc, char **argv) {
    if (argc != 4) stop("usage:", "npy_compare GOT EXPECTED TOLERANCE");
    burin_array got = matrix_read(argv[1]), expected = matrix_read(argv[2]);
    long long rows = got.dim[0], columns = got.dim[1], rows_expected = expected.dim[0],
              columns_expected = expected.dim[1];
    bool fits = columns == columns_expected && rows >= rows_expected && expected.count;
    double worst = INFINITY;
    if (fits) {
        const float *g = got.data, *e = expected.data;
        int64_t where = worst_place(g, e, rows_expected * columns, &worst);
        printf("largest difference %g at [%lld, %lld]: got %.9g, expected %.9g\n", worst,
               (long long)where / columns, (long long)where % columns, (double)g[where],
               (double)e[where]);
    } else {
        printf("%s is [%lld, %lld], %s is [%lld, %lld]\n", argv[1], rows, columns, argv[2],
               rows_expected, columns_expected);
    }
    free(got.data);
    free(expected.data);
    return worst <= strtod(argv[3], NULL) ? 0 : 1;
}
