// A folder of ONNX files instead of weights, as optimum exports it:
//
//   encoder_model.onnx and decoder_model.onnx (or decoder_model_merged.onnx)    both, one program
//   decoder_model_merged.onnx, decoder_model.onnx, model.onnx                   the first existing one
//   onnx/model.onnx ...                                                         the same names in a folder onnx/
//
// and its tokenizer.json. A file that is named takes the tokenizer.json of its folder, or of the
// one around `onnx/`.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "util/text.h"

static const char *file_in(const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    if (!access(path, R_OK)) return path;
    free(path);
    return NULL;
}

static const char *first_of(const char *folder, const char *const *names, size_t n) {
    const char *path = NULL;
    for (size_t i = 0; !path && i < n; i++) path = file_in(folder, names[i]);
    return path;
}

static bool has_weights(const char *folder) {
    static const char *const ends[] = {".safetensors", ".safetensors.index.json", ".gguf", ".bin"};
    DIR *d = opendir(folder);
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            found |= text_ends_with(e->d_name, ends[i]);
    if (d) closedir(d);
    return found;
}

static bool take_models(Options *o, const char *folder) {
    static const char *const decoders[] = {"decoder_model.onnx", "decoder_model_merged.onnx"};
    static const char *const alone[] = {"decoder_model_merged.onnx", "decoder_model.onnx",
                                        "model.onnx"};
    const char *encoder = file_in(folder, "encoder_model.onnx"),
               *decoder = encoder ? first_of(folder, decoders, 2) : NULL;
    const char *model = decoder ? encoder : first_of(folder, alone, 3);
    if (!model) return false;
    o->model = o->files[0] = model;
    if (decoder) o->files[o->n_files++] = decoder;
    return true;
}

static void take_tokenizer(Options *o, const char *folder) {
    if (o->tokenizer) return;
    o->tokenizer = file_in(folder, "tokenizer.json");
    o->tokenizer_beside = o->tokenizer != NULL;
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    if (!folder) abort();
    return folder;
}

static void open_beside_file(Options *o) {
    if (!text_ends_with(o->model, ".onnx")) return;
    char *folder = folder_of(o->model);
    take_tokenizer(o, folder);
    const char *slash = strrchr(folder, '/'), *name = slash ? slash + 1 : folder;
    if (!strcmp(name, "onnx") && slash) {
        char *outer = folder_of(folder);
        take_tokenizer(o, outer);
        free(outer);
    }
    free(folder);
}

void options_open_onnx_folder(Options *o) {
    const char *folder = o->model, *inner = folder ? file_in(folder, "onnx") : NULL;
    if (!folder || o->n_files != 1) return;
    open_beside_file(o);
    if (has_weights(folder)) return;
    if (!take_models(o, folder) && !(inner && take_models(o, inner))) return;
    o->folder = folder;
    take_tokenizer(o, folder);
}
