// libFuzzer target: checkpoints by their content (safetensors, GGUF, llama2.c): the header, the
// data of every tensor in the order it is given out, the token ids, and a GGUF's vocabulary.
#include "frontend/checkpoint.h"

#include "frontend/tokenizer.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_checkpoint(Arena *arena, const char *path) {
    const Checkpoint *c = checkpoint_open(arena, path, "dsl");
    volatile unsigned char last;
    for (int i = 0; i < c->n_tensors; i++) {
        const Tensor *t = checkpoint_find(c, c->tensors[i]->name);
        if (!t) abort();
        if (t->bytes) last = ((const unsigned char *)t->data)[t->bytes - 1];
    }
    (void)last;
    checkpoint_special_tokens(c);
    if (c->tokenizer) tokenizer_load(arena, c->tokenizer, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, read_checkpoint);
    return 0;
}
