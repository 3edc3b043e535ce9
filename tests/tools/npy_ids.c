// Prints the integers of a .npy file with commas between: npy_ids FILE
#include <stdio.h>
#include <stdlib.h>

#include "program/npy.h"

int main(int argc, char **argv) {
    burin_array a;
    const char *error = argc == 2 ? burin_npy_read(&a, argv[1]) : "is missing: npy_ids FILE";
    if (error) {
        fprintf(stderr, "npy_ids: %s %s\n", argc > 1 ? argv[1] : "FILE", error);
        return 2;
    }
    for (size_t i = 0; i < a.count; i++)
        printf("%s%lld", i ? "," : "", (long long)burin_load_integer(a.element, a.data, i));
    putchar('\n');
    free(a.data);
    return 0;
}
