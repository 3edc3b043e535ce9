// Checkpoints: weights and configuration as downloaded. Readers map the files, check every offset
// and count against the size before use, and end the run with one clear message on an error.
//
//   safetensors   one file, or sharded with model.safetensors.index.json; config.json in the same folder
//   GGUF          F32, F16, BF16 tensors; names and configuration are presented as Hugging Face's
//   llama2.c      .bin, legacy and version 1; presented the same way
#ifndef BURIN_CHECKPOINT_H
#define BURIN_CHECKPOINT_H
#include <jansson.h>

#include "ir.h"

typedef enum { CHECKPOINT_SAFETENSORS, CHECKPOINT_GGUF, CHECKPOINT_LLAMA2C } CheckpointKind;

typedef struct Checkpoint {
    CheckpointKind kind;
    const char *path;        // as given: a file or a Hugging Face folder
    const char *library;     // the dsl/ folder
    const char *folder;      // where config.json, tokenizer.json are looked for
    const Tensor **tensors;  // in file order, with Hugging Face's names: for listing. Use
                             // checkpoint_find for their data
    int n_tensors;
    // config.json, or the file's own header in the same words; NULL if absent
    const json_t *config;
    const json_t *generation;  // generation_config.json, or NULL
    const Source *config_source, *generation_source;
    const json_t *metadata;    // __metadata__ of safetensors, of all files; NULL: none
    const char *architecture;  // "llama", of model_type or general.architecture; NULL when unknown
    // a GGUF's settings of text embeddings, by sentence.h's names; or NULL
    const char *pooling;
    const char *pair_prompt;  // a GGUF's prompt with {query} and {document}; or NULL
    // of a model that takes more than texts: its class, and how many tensors are for the rest;
    // NULL: texts alone
    const char *whole_class;
    int n_left_out;
    const char *quantized;  // the method, once checkpoint_read_quantized found one; or NULL
    const char *tokenizer;  // path of tokenizer.json (or of the GGUF itself), or NULL
    Map by_name;
    Map keys;  // of a GGUF: field of config -> key of the metadata
    Arena *arena;
} Checkpoint;

// `path`: a folder, a .safetensors, .safetensors.index.json, .gguf or .bin file; recognised by
// content, not by suffix. `library`: the dsl/ folder, whose gguf/ defines the names in a GGUF.
Checkpoint *checkpoint_open(Arena *, const char *path, const char *library);
// The rest of a model whose text part checkpoint_open presents: config.json as it is, and the
// tensors that are not of the text, under their own names.
Checkpoint *checkpoint_open_rest(Arena *, const char *path, const char *library);
// The encoder of pictures of a GGUF model: an mmproj file of llama.cpp's, in the words of the
// model's folder; config.processor has its settings of pictures. NULL: *why has the reason.
Checkpoint *checkpoint_open_mmproj(Arena *, const Checkpoint *text, const char *path,
                                   const char **why);
// The one mmproj file in the folder of a model. NULL: there is none, or *n, which is not 1.
const char *checkpoint_find_mmproj(Arena *, const char *model, int *n);
void checkpoint_warn_of_rest(const Checkpoint *);  // that the program leaves it out
// The file of the tokenizer in a folder: tokenizer.json, GPT-2's pair of files, llama2.c's, or the
// one GGUF. NULL: none.
const char *tokenizer_in(Arena *, const char *folder);
const char *checkpoint_class(
    const Checkpoint *);  // "LlamaForCausalLM", of config.json; NULL when it does not say
// NULL when absent. Rows of q_proj and k_proj come in Hugging Face's order (halves), whatever the
// file's; data is aligned.
const Tensor *checkpoint_find(const Checkpoint *, const char *name);
// Reshaped to this many axes: llama.cpp's tools drop leading axes of 1.
const Tensor *checkpoint_with_axes(const Checkpoint *, const Tensor *, int rank);
// One that has an order (Tensor.order) as floats, its columns as Hugging Face has them; in the
// checkpoint's arena.
const Tensor *checkpoint_as_floats(const Checkpoint *, const Tensor *);

// If config.json names a quantization method: the tensors become the model's original f32 ones.
// Ends the run for a method, an option or a tensor that burin does not read. Later calls do
// nothing.
void checkpoint_read_quantized(Checkpoint *);
// Merges adapters of PEFT into the weights: "DIR", or several with commas, each perhaps with a
// factor, "DIR=0.5".
void checkpoint_add_loras(Checkpoint *, const char *list);
void checkpoint_warn_of_adapter(
    const Checkpoint *);                       // of one in the same folder, which is left out
bool checkpoint_is_quantized(const Tensor *);  // a tensor of a checkpoint: did a library?

// The stored form of a listed tensor: "f16", "q4_k", "gptq, 4 bits" and its bytes, all parts
// included.
const char *checkpoint_stored_type(const Checkpoint *, const Tensor *, uint64_t *bytes);

// The location of a key's value (of the outermost object) in config.json, for messages; the file
// alone without text.
Loc checkpoint_config_loc(const Checkpoint *, const char *key);

// What messages call a field of config, or an element of one, and the file that it is in:
// "num_attention_heads" and "config.json", or "llama.attention.head_count" and "model.gguf".
const char *checkpoint_field(const Checkpoint *, const char *field);
const char *checkpoint_config_file(const Checkpoint *);

// Token ids of generation_config.json, else of config.json (or the file's header). They are below
// the vocabulary's size.
typedef struct SpecialTokens {
    int32_t bos;  // -1 when absent
    int32_t eos[BURIN_MOST_EOS];
    int n_eos;
} SpecialTokens;
SpecialTokens checkpoint_special_tokens(const Checkpoint *);
#endif
