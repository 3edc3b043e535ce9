// Compares a tensor of a checkpoint with its values, bit for bit (an integer 0 has no sign). usage:
// weight_values FOLDER TENSOR VALUES.npy [MATRIX] VALUES.npy f32 [rows, columns]: its first rows,
// or those of matrix MATRIX of a stack [matrices, columns, rows].
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/checkpoint.h"
#include "ir/convert.h"
#include "ir/format.h"
#include "program/npy.h"

static float value_at(const Tensor *t, int64_t i) {
    float value;
    const Format *f = format_of(t->dtype);
    if (f)
        format_read(f, t->data, i, 1, 1, &value);
    else
        value = (float)dtype_load(t->dtype, t->data, i);
    return value;
}

int main(int argc, char **argv) {
    burin_array expected;
    if (argc < 4 || burin_npy_read(&expected, argv[3])) return 2;
    Arena *arena = arena_new();
    Checkpoint *c = checkpoint_open(arena, argv[1], "dsl");
    checkpoint_read_quantized(c);
    const Tensor *t = checkpoint_find(c, argv[2]);
    if (t && (t->order || t->factors)) t = checkpoint_as_floats(c, t);
    int64_t rows = expected.dim[0], columns = expected.dim[1], wrong = 0;
    bool stack = argc > 4, turned = t && stack != t->swapped;
    if (!t || t->rank != (stack ? 3 : 2) || t->dim[t->rank - (turned ? 2 : 1)] != columns || !rows)
        return 2;
    int64_t first = stack ? atoll(argv[4]) * t->dim[1] * t->dim[2] : 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < columns; k++) {
            float got =
                value_at(t, first + (turned ? k * t->dim[t->rank - 1] + r : r * columns + k));
            float wanted = ((const float *)expected.data)[r * columns + k];
            wrong += memcmp(&got, &wanted, sizeof got) && (got != 0 || wanted != 0);
        }
    printf("%s: %s, %lld of %lld values differ\n", argv[2], dtype_name(t->dtype), (long long)wrong,
           (long long)(rows * columns));
    arena_free(arena);
    return wrong != 0;
}
