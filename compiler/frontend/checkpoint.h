// Checkpoints: weights and configuration as downloaded. Readers map the files, check every offset and count against the size
// before use, and end the run with one clear message when something is wrong.
//
//   safetensors   one file, or sharded with model.safetensors.index.json; config.json beside it
//   GGUF          F32, F16, BF16 tensors; names and configuration are presented as Hugging Face's
//   llama2.c      .bin, legacy and version 1; likewise
#ifndef BURIN_CHECKPOINT_H
#define BURIN_CHECKPOINT_H
#include <jansson.h>

#include "ir.h"

typedef enum { CHECKPOINT_SAFETENSORS, CHECKPOINT_GGUF, CHECKPOINT_LLAMA2C } CheckpointKind;

typedef struct Checkpoint {
    CheckpointKind kind;
    const char *path;         // as given: a file or a Hugging Face folder
    const char *folder;       // where config.json, tokenizer.json are looked for
    const Tensor **tensors;   // in file order, with Hugging Face's names
    int n_tensors;
    const json_t *config;     // config.json, or what the file's own header says in the same words; NULL when absent
    const Source *config_source;
    const char *architecture; // "llama", of model_type or general.architecture; NULL when unknown
    const char *tokenizer;    // path of tokenizer.json (or of the GGUF itself), or NULL
    Map by_name;
    Arena *arena;
} Checkpoint;

// `path`: a folder, a .safetensors, .safetensors.index.json, .gguf or .bin file; recognised by content, not by suffix.
Checkpoint *checkpoint_open(Arena *, const char *path);
// NULL when absent. Rows of q_proj and k_proj come in Hugging Face's order (halves), whatever the file's.
const Tensor *checkpoint_find(const Checkpoint *, const char *name);
#endif
