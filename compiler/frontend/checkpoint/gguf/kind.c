// GGUF files that are no model of texts, or none that writes a text from left to right: what
// llama.cpp's tools write beside one, diffusion models, drafts, voices.
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"

#define DIFFUSION                                                                                 \
    "a diffusion language model, which fills in a whole answer's masks in many steps; burin's "   \
    "programs write one token after "                                                             \
    "another",                                                                                    \
        "take a model that writes from left to right; llama.cpp's llama-diffusion-cli runs this " \
        "file"
#define DRAFT                                                         \
    "a draft that reads another model's states, no model of its own", \
        "build the model itself; --draft takes a whole small model of its family"
#define VOICE                                                      \
    "a part of a model that speaks; burin's programs write texts", \
        "take a model of texts; llama.cpp runs this file"

static const struct {
    const char *kind, *what, *hint;
} others[] = {
    {"adapter", "a LoRA adapter, no model",
     "merge it into its model's safetensors (peft's merge_and_unload), and build that"},
    {"mmproj", "the encoder of images or sounds of a model (mmproj), no model",
     "build the file of the model itself: this one is read where it is in the same folder, or as "
     "--mmproj"},
    {"clip", "the encoder of images or sounds of a model (mmproj), no model",
     "build the file of the model itself: this one is read where it is in the same folder, or as "
     "--mmproj"},
    {"imatrix", "an importance matrix, of which llama.cpp quantizes, no model",
     "take the file of the model itself; burin has --calibrate"},
    {"controlvector", "a control vector, no model", "take the file of the model itself"},
    {"dream", DIFFUSION},
    {"llada", DIFFUSION},
    {"llada-moe", DIFFUSION},
    {"rnd1", DIFFUSION},
    {"dflash", DRAFT},
    {"eagle3", DRAFT},
    {"gemma4-assistant", DRAFT},
    {"pockettts", VOICE},
    {"qwen3tts", VOICE},
    {"wavtokenizer-dec", VOICE},
};

bool gguf_is_beside_model(const char *name) { return strstr(name, "mmproj") != NULL; }

void gguf_check_kind(const Gguf *g) {
    const char *type = "model", *architecture = "";
    gguf_string(g, "general.type", &type);
    gguf_string(g, "general.architecture", &architecture);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].kind, type) || !strcmp(others[i].kind, architecture))
            file_fatal(g->file, "the file is %s\nhint: %s", others[i].what, others[i].hint);
    if (!g->n_tensors && gguf_find(g, "tokenizer.ggml.tokens"))
        file_fatal(g->file,
                   "the file has a vocabulary, and no weights\nhint: `burin tokenize` reads it; to "
                   "build take the file of the model");
}
