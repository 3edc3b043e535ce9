// Which file of a folder holds the model's weights, as transformers chooses; and what a folder
// holds where it is none that burin reads: each kind is called by its name, with the command that
// helps.
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/reader.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

static bool has(Arena *arena, const char *folder, const char *name) {
    return !access(arena_printf(arena, "%s/%s", folder, name), F_OK);
}

// Beside a model, not the model: adapters, and the weights by the names of Mistral's own library.
static bool is_beside_model(const char *name) {
    return gguf_is_later_part(name) || gguf_is_beside_model(name) ||
           !strncmp(name, "adapter_", 8) || !strncmp(name, "consolidated", 12);
}

const char *folder_only_file(Arena *arena, const char *folder, const char *suffix) {
    DIR *d = opendir(folder);
    const char *found = NULL;
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (text_ends_with(e->d_name, suffix) && !is_beside_model(e->d_name))
            found = arena_printf(arena, "%s/%s", folder, e->d_name), n++;
    if (d) closedir(d);
    return n == 1 ? found : NULL;
}

const char *checkpoint_find_mmproj(Arena *arena, const char *model, int *n) {
    const char *folder = text_ends_with(model, ".gguf") ? path_folder(arena, model) : model;
    DIR *d = opendir(folder);
    const char *found = NULL;
    *n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        if (text_ends_with(e->d_name, ".gguf") && gguf_is_beside_model(e->d_name))
            found = arena_printf(arena, "%s/%s", folder, e->d_name), ++*n;
    if (d) closedir(d);
    return *n == 1 ? found : NULL;
}

// The first of shards whose index is missing: model-00001-of-00003.safetensors, of *count; NULL:
// there is none.
const char *folder_first_shard(Arena *arena, const char *folder, int *count) {
    DIR *d = opendir(folder);
    const char *found = NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        int n = 0, length = 0;
        if (sscanf(e->d_name, "model-00001-of-%5d.safetensors%n", &n, &length) != 1 || !length ||
            e->d_name[length] || n < 1)
            continue;
        *count = n;
        found = arena_printf(arena, "%s/%s", folder, e->d_name);
    }
    if (d) closedir(d);
    return found;
}

const char *folder_weights(Arena *arena, const char *folder) {
    static const char *const usual[] = {"model.safetensors", "model.safetensors.index.json"};
    static const char *const pickles[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (has(arena, folder, usual[i])) return arena_printf(arena, "%s/%s", folder, usual[i]);
    const char *path = folder_only_file(arena, folder, ".safetensors");
    if (!path) path = folder_only_file(arena, folder, ".gguf");
    for (size_t i = 0; !path && i < sizeof pickles / sizeof *pickles; i++)
        if (has(arena, folder, pickles[i])) path = arena_printf(arena, "%s/%s", folder, pickles[i]);
    return path;
}

// ---------------------------------------------------------------------------------------- refusals
// What adapter_config.json says of its model; never NULL.
static const char *base_of(Arena *arena, const char *folder) {
    json_t *config = json_beside(folder, "adapter_config.json");
    const char *base =
        config
            ? json_string_value(json_object_get(json_own(arena, config), "base_model_name_or_path"))
            : NULL;
    return base && *base ? base : "its model";
}

static void refuse_adapter(Arena *arena, const char *folder) {
    if (has(arena, folder, "adapter_config.json"))
        diag_fatal(NO_LOC,
                   "%s is an adapter (LoRA) of %s, not a model\nhint: burin build MODEL --lora %s, "
                   "where MODEL is that model's folder",
                   folder, base_of(arena, folder), folder);
}

static const char *read_word(Arena *arena, const char *path) {
    char word[128] = "";
    FILE *f = fopen(path, "r");
    bool read = f && fscanf(f, "%127s", word) == 1;
    if (f) fclose(f);
    return read && !strchr(word, '/') && *word != '.' ? arena_strdup(arena, word) : NULL;
}

// models--org--name of Hugging Face's cache: refs/main names a folder of snapshots.
static void refuse_cache(Arena *arena, const char *folder) {
    if (!has(arena, folder, "snapshots")) return;
    const char *version = read_word(arena, arena_printf(arena, "%s/refs/main", folder));
    if (version && !has(arena, folder, arena_printf(arena, "snapshots/%s", version)))
        version = NULL;
    diag_fatal(NO_LOC,
               "%s is a folder of Hugging Face's cache: the model is in a folder of its "
               "snapshots\nhint: burin build %s/snapshots/%s",
               folder, folder, version ? version : "*");
}

static bool starts_one(const char *folder, const char *start, const char *end) {
    DIR *d = opendir(folder);
    bool found = false;
    for (struct dirent *e; d && !found && (e = readdir(d));)
        found = !strncmp(e->d_name, start, strlen(start)) && text_ends_with(e->d_name, end);
    if (d) closedir(d);
    return found;
}

static void refuse_formats(Arena *arena, const char *folder) {
    if (starts_one(folder, "consolidated", ".pth"))
        diag_fatal(NO_LOC,
                   "%s holds Meta's own files (consolidated.*.pth), whose tensors have other names"
                   "\nhint: take the model's folder for transformers (config.json, "
                   "model.safetensors), or make it: "
                   "python -m transformers.models.llama.convert_llama_weights_to_hf --input_dir %s "
                   "--output_dir OUT",
                   folder, folder);
    if (starts_one(folder, "consolidated", ".safetensors"))
        diag_fatal(NO_LOC,
                   "%s holds Mistral's own files (consolidated.safetensors, params.json), whose "
                   "tensors have other names"
                   "\nhint: download the files for transformers of the same model: config.json and "
                   "model*.safetensors",
                   folder);
    static const char *const others[][2] = {
        {"tf_model.h5", "TensorFlow"}, {"flax_model.msgpack", "Flax"}, {"rust_model.ot", "Rust"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (has(arena, folder, others[i][0]))
            diag_fatal(
                NO_LOC,
                "%s holds weights for %s alone (%s)\nhint: download the model's model.safetensors",
                folder, others[i][1], others[i][0]);
}

_Noreturn void folder_refuse(Arena *arena, const char *folder) {
    refuse_adapter(arena, folder);
    refuse_cache(arena, folder);
    refuse_formats(arena, folder);
    diag_fatal(NO_LOC,
               "%s has no model.safetensors, no model.safetensors.index.json, and not exactly one "
               ".safetensors or .gguf file"
               "\nhint: download every file of the model, or name the file of weights itself",
               folder);
}

void checkpoint_warn_of_adapter(const Checkpoint *c) {
    const char *folder = c->folder;
    if (has(c->arena, folder, "adapter_config.json") &&
        (has(c->arena, folder, "adapter_model.safetensors") ||
         has(c->arena, folder, "adapter_model.bin")))
        diag_warning(NO_LOC,
                     "%s holds an adapter (LoRA) beside the model, which is left out\nhint: --lora "
                     "%s merges it",
                     folder, folder);
}
