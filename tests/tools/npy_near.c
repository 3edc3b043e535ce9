// Compares two .npy files of any shape and type: npy_near GOT EXPECTED TOLERANCE [largest | rms
// [units]] Prints the largest difference; status 1 when it is above TOLERANCE (with `largest`:
// times the largest magnitude expected), with `rms` when the differences' root mean square is above
// TOLERANCE times the expected one's, or when the shapes differ (with `units`: but for axes of 1).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/npy.h"

static burin_array read_array(const char *path) {
    burin_array a;
    const char *error = burin_npy_read(&a, path);
    if (error) {
        fprintf(stderr, "npy_near: %s %s\n", path, error);
        exit(2);
    }
    return a;
}

static void drop_units(burin_array *a) {
    int rank = 0;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != 1) a->dim[rank++] = a->dim[i];
    a->rank = rank;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    burin_array got = read_array(argv[1]), expected = read_array(argv[2]);
    bool rms = argc > 4 && !strcmp(argv[4], "rms");
    double worst = 0, largest = 0, squares = 0, expected_squares = 0;
    if (argc > 5) {
        drop_units(&got);
        drop_units(&expected);
    }
    bool same_shape = got.rank == expected.rank &&
                      !memcmp(got.dim, expected.dim, (size_t)got.rank * sizeof *got.dim);
    for (size_t i = 0; same_shape && i < got.count; i++) {
        double a = burin_load_real(got.element, got.data, i),
               b = burin_load_real(expected.element, expected.data, i);
        double difference = a == b ? 0 : isnan(a - b) ? INFINITY : fabs(a - b);
        if (difference > worst) worst = difference;
        if (fabs(b) > largest) largest = fabs(b);
        squares += difference * difference;
        expected_squares += b * b;
    }
    if (!same_shape) {
        printf("the shapes differ\n");
        worst = INFINITY;
    } else
        printf("largest difference %.3g, largest magnitude %.3g, rms %.3g of %.3g\n", worst,
               largest, sqrt(squares / (double)got.count),
               sqrt(expected_squares / (double)got.count));
    free(got.data);
    free(expected.data);
    if (rms) return !(same_shape && sqrt(squares) <= atof(argv[3]) * sqrt(expected_squares));
    return !(worst <= atof(argv[3]) * (argc > 4 ? largest : 1));
}
