// A description as a case: its config.json and a checkpoint of zeros are written into a folder, and
// its graphs are made.
#ifndef BURIN_TEST_DESCRIPTION_CASE_H
#define BURIN_TEST_DESCRIPTION_CASE_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/dsl.h"

typedef struct Case {
    const char *path;     // of the description
    const char *config;   // text of config.json, or NULL
    const char *tensors;  // lines of NAME DTYPE SIZE ..., or NULL: shapes only
} Case;

static const char *in_folder(const char *folder, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

// The header of a safetensors file with these tensors; returns the bytes of their data.
static size_t add_tensors(Text *header, const char *lines) {
    size_t bytes = 0;
    for (const char *line = lines; line && *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        char name[128], dtype[8];
        int n;
        if (sscanf(line, "%127s %7s%n", name, dtype, &n) != 2) continue;
        size_t count = !strcmp(dtype, "F32") ? 4 : 2;
        text_add(header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", header->length > 1 ? "," : "",
                 name, dtype);
        const char *separator = "";
        for (char *end, *at = (char *)line + n; *at == ' '; at = end, separator = ",") {
            long size = strtol(at, &end, 10);
            text_add(header, "%s%ld", separator, size);
            count *= (size_t)size;
        }
        text_add(header, "],\"data_offsets\":[%zu,%zu]}", bytes, bytes + count);
        bytes += count;
    }
    return bytes;
}

static void write_checkpoint(const Case *c, const char *folder) {
    Text header = {0}, file = {0};
    text_add(&header, "{");
    size_t bytes = add_tensors(&header, c->tensors ? c->tensors : "unused F32 1\n");
    text_add(&header, "}");
    uint64_t length = header.length;
    text_append(&file, (const char *)&length, 8);
    text_append(&file, header.data, header.length);
    char *zeros = calloc(1, bytes + 1);
    text_append(&file, zeros, bytes);
    free(zeros);
    write_file(in_folder(folder, "model.safetensors"), file.data, file.length);
    write_file(in_folder(folder, "config.json"), c->config ? c->config : "{}",
               strlen(c->config ? c->config : "{}"));
    text_free(&header);
    text_free(&file);
}

static bool parses_back(const Graph *g) {
    Text first = {0}, second = {0};
    graph_print(&first, g);
    Graph *again =
        graph_parse(&(Source){.name = "printed", .text = first.data, .size = first.length}, NULL);
    if (again) graph_print(&second, again);
    bool same = again && !strcmp(first.data, second.data);
    if (!same)
        fprintf(stderr, "printed, parsed and printed again:\n%s\nbefore:\n%s\n",
                second.data ? second.data : "", first.data);
    graph_free(again);
    text_free(&first);
    text_free(&second);
    return same;
}

// Loads a description and prints its graphs; false when it ended with errors.
static bool load(const Case *c, const char *folder, const char *library, Text *graphs) {
    Arena *arena = arena_new();
    volatile bool loaded = false;
    if (!setjmp(*diag_guard())) {
        Checkpoint *checkpoint = checkpoint_open(arena, folder, library);
        DslOptions options = {
            .library = library, .checkpoint = checkpoint, .shapes_only = !c->tensors};
        Module *m = dsl_load(arena, c->path, &options);
        loaded = true;
        for (int i = 0; i < m->n_graphs; i++)
            loaded = graph_verify(m->graphs[i], "dsl") && parses_back(m->graphs[i]) && loaded;
        module_print(graphs, m);
    }
    diag_unguard();
    arena_free(arena);
    return loaded;
}

// "tests/errors/x.burin" and ".err" give "tests/errors/x.err".
static const char *sibling(const char *path, const char *suffix) {
    static char buffer[512];
    snprintf(buffer, sizeof buffer, "%.*s%s", (int)(strlen(path) - strlen(".burin")), path, suffix);
    return buffer;
}

static char *read_if_there(const char *path) {
    return access(path, R_OK) ? NULL : read_text_file(path, NULL);
}

// The description with its companion files.
static Case case_of_file(const char *path) {
    return (Case){.path = path,
                  .config = read_if_there(sibling(path, ".json")),
                  .tensors = read_if_there(sibling(path, ".tensors"))};
}

static void free_case(Case *c) {
    free((char *)c->config);
    free((char *)c->tensors);
}
#endif
