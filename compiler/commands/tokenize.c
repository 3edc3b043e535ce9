// burin tokenize: texts to ids and back, as a program does it.
#include "text/tokenize.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/commands.h"
#include "frontend/tokenizer.h"
#include "program/output.h"
#include "util/files.h"
#include "util/text.h"

// The tokenizer of a folder, or of the folder of a checkpoint's file; any other file is one.
static const char *tokenizer_of(Arena *arena, const char *path) {
    struct stat s;
    if (stat(path, &s)) diag_fatal(NO_LOC, "there is no %s", path);
    bool weights =
        text_ends_with(path, ".safetensors") || text_ends_with(path, ".safetensors.index.json");
    if (!weights && !S_ISDIR(s.st_mode)) return path;
    const char *folder = weights ? path_folder(arena, path) : path,
               *file = tokenizer_in(arena, folder);
    if (!file) diag_fatal(NO_LOC, "there is no tokenizer in %s\nhint: name its file", folder);
    return file;
}

int tokenize_texts(Arena *arena, const Options *o) {
    if (o->format && strcmp(o->format, "json") && strcmp(o->format, "text"))
        usage_error("--format=%s: expected text or json", o->format);
    if (access(o->model, F_OK) && o->n_rest && !access(o->rest[0], F_OK))
        diag_fatal(NO_LOC, "there is no %s\nhint: the model comes first: burin tokenize %s \"%s\"",
                   o->model, o->rest[0], o->model);
    burin_tokenizing how = {
        .pieces = o->pieces, .json = o->format && !strcmp(o->format, "json"), .decode = o->decode};
    how.tokenizer =
        tokenizer_load(arena, o->tokenizer_beside ? o->tokenizer : tokenizer_of(arena, o->model), 0)
            ->blob;
    how.text = o->n_rest ? o->rest[0] : NULL;
    burin_program_name = "burin";
    burin_print_tokens(&how);
    burin_flush();
    return 0;
}
