// A tensor of a test case as something that programs read: case_tensor FILE.pb OUT.npy; without
// OUT, its integers as 1,2,3.
#include "case_values.h"

static const char *npy_type(DType t) {
    switch (t) {
        case DT_f32:
            return "<f4";
        case DT_f16:
            return "<f2";
        case DT_i64:
            return "<i8";
        case DT_i32:
            return "<i4";
        case DT_bool:
            return "|b1";
        default:
            diag_fatal(NO_LOC, "no .npy of %s", dtype_name(t));
    }
}

static void print_integers(const Tensor *t) {
    for (int64_t i = 0, n = tensor_count(t); i < n; i++)
        printf("%s%.0f", i ? "," : "", dtype_load(t->dtype, t->data, i));
    printf("\n");
}

static void write_npy(const Tensor *t, const char *path) {
    char header[256], shape[128] = "";
    size_t at = 0;
    for (int i = 0; i < t->rank; i++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%lld,", (long long)t->dim[i]);
    int n =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                 npy_type(t->dtype), shape);
    FILE *f = fopen(path, "wb");
    if (!f) diag_fatal(NO_LOC, "cannot write %s", path);
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, f);
    fprintf(f, "%-117.*s\n", n, header);
    fwrite(t->data, 1, t->bytes, f);
    fclose(f);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    Arena *arena = arena_new();
    const Tensor *t = read_case_tensor(arena, argv[1]);
    if (argc > 2)
        write_npy(t, argv[2]);
    else
        print_integers(t);
    arena_free(arena);
    return 0;
}
