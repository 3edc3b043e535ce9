// Plants an error in the weights of a .safetensors file: plant FILE swap A B | plant FILE transpose
// A (a square matrix of f32).
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct File {
    char *data;
    size_t size;
    json_t *header;
} File;

static File read_file(const char *path) {
    File f = {0};
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END)) exit(2);
    f.size = (size_t)ftell(in);
    f.data = malloc(f.size + 1);
    rewind(in);
    if (!f.data || fread(f.data, 1, f.size, in) != f.size) exit(2);
    fclose(in);
    uint64_t length;
    memcpy(&length, f.data, 8);
    f.header = json_loadb(f.data + 8, length, 0, NULL);
    return f;
}

// The data of a tensor, and how many bytes.
static char *tensor(const File *f, const char *name, size_t *bytes) {
    uint64_t length;
    memcpy(&length, f->data, 8);
    const json_t *offsets = json_object_get(json_object_get(f->header, name), "data_offsets");
    if (!offsets) {
        fprintf(stderr, "no tensor %s\n", name);
        exit(2);
    }
    json_int_t from = json_integer_value(json_array_get(offsets, 0)),
               to = json_integer_value(json_array_get(offsets, 1));
    *bytes = (size_t)(to - from);
    return f->data + 8 + length + from;
}

static void swap(const File *f, const char *a, const char *b) {
    size_t n, m;
    char *x = tensor(f, a, &n), *y = tensor(f, b, &m);
    if (n != m) exit(2);
    for (size_t i = 0; i < n; i++) {
        char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

static void transpose(const File *f, const char *name) {
    size_t bytes, n = 0;
    float *x = (float *)(void *)tensor(f, name, &bytes), value;
    while (n * n * sizeof *x < bytes) n++;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            value = x[i * n + j];
            x[i * n + j] = x[j * n + i];
            x[j * n + i] = value;
        }
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    File f = read_file(argv[1]);
    if (!strcmp(argv[2], "swap") && argc == 5)
        swap(&f, argv[3], argv[4]);
    else if (!strcmp(argv[2], "transpose"))
        transpose(&f, argv[3]);
    FILE *out = fopen(argv[1], "wb");
    return !out || fwrite(f.data, 1, f.size, out) != f.size || fclose(out);
}
