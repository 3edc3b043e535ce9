// A folder of ONNX files instead of weights, as optimum exports it:
//
//   encoder_model.onnx and decoder_model.onnx (or decoder_model_merged.onnx)    both, one program
//   encoder.onnx and decoder.onnx                                               the same
//   decoder_model_merged.onnx, decoder_model.onnx, model.onnx                   the first existing one
//   model_fp16.onnx, model_quantized.onnx, model_q4.onnx ...                    the same names with an ending, of transformers.js
//   NAME.onnx                                                                   the only file, whatever its name
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
#include "util/diag.h"
#include "util/text.h"

static const char *file_in(const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0) abort();
    if (!access(path, R_OK)) return path;
    free(path);
    return NULL;
}

// The forms of one export that a folder may have side by side: the most exact comes first.
static const char *const FORMS[] = {"",    "_fp16", "_quantized", "_int8", "_uint8",
                                    "_q8", "_q4",   "_q4f16",     "_bnb4"};
enum { N_FORMS = sizeof FORMS / sizeof *FORMS };

static const char *model_in(const char *folder, const char *base, const char *form) {
    char *name;
    if (asprintf(&name, "%s%s.onnx", base, form) < 0) abort();
    const char *path = file_in(folder, name);
    free(name);
    return path;
}

static const char *first_of(const char *folder, const char *const *bases, size_t n,
                            const char *form) {
    const char *path = NULL;
    for (size_t i = 0; !path && i < n; i++) path = model_in(folder, bases[i], form);
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

static bool reads_weights(const Options *o) {
    return o->command != COMMAND_tokenize && o->command != COMMAND_template;
}

static bool take_form(Options *o, const char *folder, const char *form) {
    static const char *const encoders[] = {"encoder_model", "encoder"}, *const decoders[] = {
                                                                            "decoder_model",
                                                                            "decoder_model_merged",
                                                                            "decoder"};
    static const char *const alone[] = {"decoder_model_merged", "decoder_model", "model"};
    const char *encoder = first_of(folder, encoders, 2, form),
               *decoder = encoder ? first_of(folder, decoders, 3, form) : NULL;
    const char *model = decoder ? encoder : first_of(folder, alone, 3, form);
    if (!model) return false;
    o->model = o->files[0] = model;
    if (decoder) o->files[o->n_files++] = decoder;
    return true;
}

static int is_model(const struct dirent *e) { return text_ends_with(e->d_name, ".onnx"); }

// The names of a folder's ONNX files in `names`; returns their number.
static int list_models(const char *folder, Text *names) {
    struct dirent **entry;
    int n = scandir(folder, &entry, is_model, alphasort);
    for (int i = 0; i < n; i++) {
        text_spell(names, "%s%s", i ? ", " : "", entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return n;
}

static bool take_only(Options *o, const char *folder) {
    Text names = {0};
    int n = list_models(folder, &names);
    const char *path = n == 1 ? file_in(folder, names.data) : NULL;
    if (n > 1 && reads_weights(o))
        usage_error(
            "%s has several ONNX files, and none is called model.onnx: %-s\n  hint: name "
            "one of them: %s/NAME.onnx",
            folder, names.data, folder);
    text_free(&names);
    if (path) o->model = o->files[0] = path;
    return path != NULL;
}

static bool take_models(Options *o, const char *folder) {
    int taken = -1, others = 0;
    for (int i = 0; i < N_FORMS; i++) {
        static const char *const bases[] = {"model", "decoder_model", "decoder_model_merged"};
        if (taken >= 0)
            others += first_of(folder, bases, 3, FORMS[i]) != NULL;
        else if (take_form(o, folder, FORMS[i]))
            taken = i;
    }
    if (others && reads_weights(o))
        diag_note(NO_LOC,
                  "%s is taken; the folder has %d other form%s of it\n  hint: name another file",
                  o->model, others, others == 1 ? "" : "s");
    return taken >= 0;
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
    if (!take_models(o, folder) && !(inner && take_models(o, inner)) && !take_only(o, folder) &&
        !(inner && take_only(o, inner)))
        return;
    o->folder = folder;
    take_tokenizer(o, folder);
}
