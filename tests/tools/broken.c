// Broken checkpoints and tokenizers, one a diagnostic. usage: broken --list | broken NAME | broken
// --each TEXTS NAME writes its files into the current folder and opens them: the message comes out
// on stderr, with status 1. --each: case_process.h
#include "broken_blocks.h"
#include "broken_checkpoints.h"
#include "broken_gguf.h"
#include "broken_quantized.h"
#include "broken_tables.h"
#include "broken_tokenizers.h"
#include "case_process.h"

#define COUNT(table) (sizeof table / sizeof *table)

static void each_name(Visit visit) {
    for (size_t i = 0; i < COUNT(broken_checkpoints); i++) visit(broken_checkpoints[i].name);
    for (size_t i = 0; i < COUNT(broken_gguf); i++) visit(broken_gguf[i].name);
    for (size_t i = 0; i < COUNT(broken_blocks); i++) visit(broken_blocks[i].name);
    for (size_t i = 0; i < COUNT(broken_tokenizers); i++) visit(broken_tokenizers[i].name);
    for (size_t i = 0; i < COUNT(headers); i++) visit(headers[i].name);
    for (int i = 0; i < n_formats; i++) {
        char name[64];
        snprintf(name, sizeof name, "nan-scale-%s", formats[i].name);
        if (formats[i].ggml >= 0) visit(name);
    }
    for (size_t i = 0; i < COUNT(quantized); i++) visit(quantized[i].name);
    for (size_t i = 0; i < COUNT(tokenizers); i++) visit(tokenizers[i].name);
    for (size_t i = 0; i < COUNT(gguf_tables); i++) visit(gguf_tables[i].name);
}

static void run_named(const BrokenCase *cases, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(cases[i].name, name)) cases[i].run();
}

static int run(const char *name) {
    arena = arena_new();
    run_named(broken_checkpoints, COUNT(broken_checkpoints), name);
    run_named(broken_gguf, COUNT(broken_gguf), name);
    run_named(broken_blocks, COUNT(broken_blocks), name);
    run_named(broken_tokenizers, COUNT(broken_tokenizers), name);
    for (size_t i = 0; i < COUNT(headers); i++)
        if (!strcmp(headers[i].name, name)) open_safetensors(headers[i].header, headers[i].data);
    if (!strncmp(name, "nan-scale-", 10)) gguf_nan_scale(name + 10);
    for (size_t i = 0; i < COUNT(quantized); i++)
        if (!strcmp(quantized[i].name, name))
            open_quantized(quantized[i].config, quantized[i].tensors);
    for (size_t i = 0; i < COUNT(tokenizers); i++)
        if (!strcmp(tokenizers[i].name, name)) open_tokenizer(tokenizers[i].text);
    for (size_t i = 0; i < COUNT(gguf_tables); i++)
        if (!strcmp(gguf_tables[i].name, name)) open_gguf_table(&gguf_tables[i]);
    arena_free(arena);
    return 0;
}

int main(int argc, char **argv) { return run_cases(argc, argv, each_name, run); }
