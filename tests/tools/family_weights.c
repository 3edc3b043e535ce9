// A tiny model of tests/families as a Hugging Face folder: usage: family_weights FOLDER OUT [F64]
// Weights are a formula (tests/families/generate.py): a line NAME SCALE OFFSET DIMENSIONS... of
// FOLDER/tensors makes a tensor whose element i is OFFSET + SCALE * u(NAME, i), rounded to f16 and
// stored so, or as F64. Everything else of FOLDER is copied.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/convert.h"
#include "util/text.h"

typedef struct Formula {
    char name[256];
    double scale, offset;
    size_t count;
    int shape;  // where the dimensions begin in the line
} Formula;

static uint64_t mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static void add_values(Text *data, const Formula *f, bool wide) {
    uint64_t seed = 0xCBF29CE484222325u;
    for (const char *c = f->name; *c; c++) seed = (seed ^ (unsigned char)*c) * 0x100000001B3u;
    for (size_t i = 1; i <= f->count; i++) {
        double u = (double)(mix(seed + i * 0x9E3779B97F4A7C15u) >> 40) / (1 << 23) - 1;
        uint16_t half = f16_from_float((float)(f->offset + f->scale * u));
        double same = (double)sf_from_f16(half);
        text_append(data, wide ? (char *)&same : (char *)&half, wide ? sizeof same : sizeof half);
    }
}

static Formula read_line(const char *line, Text *shape) {
    Formula f = {.count = 1};
    if (sscanf(line, "%255s %lf %lf%n", f.name, &f.scale, &f.offset, &f.shape) != 3) exit(2);
    const char *at = line + f.shape, *separator = "";
    for (char *end; *(at += strspn(at, " \t\r")) && *at != '\n'; at = end, separator = ",") {
        size_t n = strtoul(at, &end, 10);
        if (end == at) exit(2);
        text_add(shape, "%s%zu", separator, n);
        f.count *= n;
    }
    return f;
}

static void write_weights(const char *formulas, const char *path, bool wide) {
    Text header = {0}, data = {0}, file = {0};
    for (const char *line = formulas, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next != 0;
        Text shape = {0};
        text_add(&shape, "%s", "");
        size_t begin = data.length;
        Formula f = read_line(line, &shape);
        add_values(&data, &f, wide);
        text_add(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                 header.length ? "," : "{", f.name, wide ? "F64" : "F16", shape.data, begin,
                 data.length);
        text_free(&shape);
    }
    text_add(&header, "}");
    while (header.length % 8) text_add(&header, " ");
    uint64_t length = header.length;
    text_append(&file, (char *)&length, sizeof length);
    text_append(&file, header.data, header.length);
    text_append(&file, data.data, data.length);
    write_file(path, file.data, file.length);
    text_free(&header);
    text_free(&data);
    text_free(&file);
}

int main(int argc, char **argv) {
    char path[4096];
    DIR *folder = argc >= 3 ? opendir(argv[1]) : NULL;
    bool wide = argc == 4 && !strcmp(argv[3], "F64");
    if (!folder || argc != 3 + wide) {
        fprintf(stderr, "usage: family_weights FOLDER OUT [F64]\n");
        return 2;
    }
    mkdir(argv[2], 0777);
    for (const struct dirent *e; (e = readdir(folder));) {
        if (*e->d_name == '.') continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        size_t size;
        char *text = read_text_file(path, &size);
        bool weights = !strcmp(e->d_name, "tensors");
        snprintf(path, sizeof path, "%s/%s", argv[2], weights ? "model.safetensors" : e->d_name);
        if (weights)
            write_weights(text, path, wide);
        else
            write_file(path, text, size);
        free(text);
    }
    closedir(folder);
    return 0;
}
