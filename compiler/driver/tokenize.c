// burin tokenize: texts to ids and back, as a program does it.
#include "tokenize.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/commands.h"
#include "frontend/tokenizer.h"
#include "output.h"
#include "util/text.h"

// The tokenizer of a folder, or of the folder of a checkpoint's file; any other file is one.
static const char *tokenizer_of(Arena *arena, const char *path) {
    static const char *const names[] = {"tokenizer.json", "vocab.json", "encoder.json", "tokenizer.bin"};
    struct stat s;
    if (stat(path, &s)) diag_fatal(NO_LOC, "there is no %s", path);
    const char *slash = strrchr(path, '/'), *folder = path;
    if (!S_ISDIR(s.st_mode)) {
        if (!text_ends_with(path, ".safetensors")) return path;
        folder = slash ? arena_strndup(arena, path, (size_t)(slash - path)) : ".";
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *file = arena_printf(arena, "%s/%s", folder, names[i]);
        if (!access(file, R_OK)) return file;
    }
    diag_fatal(NO_LOC, "there is no tokenizer in %s\nhint: name its file", folder);
}

int tokenize_texts(Arena *arena, const Options *o) {
    if (o->format && strcmp(o->format, "json") && strcmp(o->format, "text"))
        usage_error("--format=%s: expected text or json", o->format);
    burin_tokenizing how = {.pieces = o->pieces, .json = o->format && !strcmp(o->format, "json"), .decode = o->decode};
    how.tokenizer = tokenizer_load(arena, tokenizer_of(arena, o->model), 0)->blob;
    how.text = o->n_rest ? o->rest[0] : NULL;
    burin_program_name = "burin";
    burin_print_tokens(&how);
    burin_flush();
    return 0;
}
