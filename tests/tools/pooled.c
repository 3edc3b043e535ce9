// Checks an embedding against the states it is made of: usage: pooled STATES.npy KIND LINE
// KIND is a pooling_mode_KIND of sentence-transformers; LINE is a file with the embedding as
// numbers. Both are compared at length 1.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/npy.h"

enum { MOST = 4096 };

static double pool(const burin_array *a, int64_t column, const char *kind) {
    double sum = 0, largest = -INFINITY;
    for (int64_t i = 0; i < a->dim[0]; i++) {
        double value = burin_load_real(a->element, a->data, (size_t)(i * a->dim[1] + column));
        if (!strcmp(kind, "cls_token") && i == 0) return value;
        if (!strcmp(kind, "lasttoken") && i == a->dim[0] - 1) return value;
        sum += strcmp(kind, "weightedmean_tokens") ? value : value * (double)(i + 1);
        if (value > largest) largest = value;
    }
    return !strcmp(kind, "max_tokens") ? largest : sum;
}

int main(int argc, char **argv) {
    burin_array a;
    double expected[MOST], got[MOST], e = 0, g = 0, worst = 0;
    FILE *f = argc == 4 && !burin_npy_read(&a, argv[1]) ? fopen(argv[3], "r") : NULL;
    if (!f || a.rank != 2 || a.dim[1] > MOST) return 2;
    for (int64_t i = 0; i < a.dim[1]; i++) {
        if (fscanf(f, "%lf", &got[i]) != 1) return 2;
        expected[i] = pool(&a, i, argv[2]);
        e += expected[i] * expected[i];
        g += got[i] * got[i];
    }
    for (int64_t i = 0; i < a.dim[1]; i++)
        worst = fmax(worst, fabs(got[i] / sqrt(g) - expected[i] / sqrt(e)));
    printf("largest difference %.3g\n", worst);
    fclose(f);
    free(a.data);
    return !(worst < 1e-6);
}
