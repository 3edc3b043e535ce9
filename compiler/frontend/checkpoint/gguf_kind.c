// GGUF files that are no model of texts: what llama.cpp's tools write beside one.
#include <string.h>

#include "frontend/checkpoint/gguf.h"

static const struct {
    const char *kind, *what, *hint;
} others[] = {
    {"adapter", "a LoRA adapter", "merge it into its model's safetensors (peft's merge_and_unload), and build that"},
    {"mmproj", "the encoder of images or sounds of a model (mmproj)", "take the file of the model itself, which reads texts"},
    {"clip", "the encoder of images or sounds of a model (mmproj)", "take the file of the model itself, which reads texts"},
    {"imatrix", "an importance matrix, of which llama.cpp quantizes",
     "take the file of the model itself; burin has --calibrate"},
    {"controlvector", "a control vector", "take the file of the model itself"},
};

void gguf_check_kind(const Gguf *g) {
    const char *type = "model", *architecture = "";
    gguf_string(g, "general.type", &type);
    gguf_string(g, "general.architecture", &architecture);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(others[i].kind, type) || !strcmp(others[i].kind, architecture))
            file_fatal(g->file, "the file is %s, no model\nhint: %s", others[i].what, others[i].hint);
    if (!g->n_tensors && gguf_find(g, "tokenizer.ggml.tokens"))
        file_fatal(
            g->file,
            "the file has a vocabulary, and no weights\nhint: `burin tokenize` reads it; to build take the file of the model");
}
