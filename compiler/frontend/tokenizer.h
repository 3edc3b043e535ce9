// Tokenizers, compiled at build time into one position-independent blob that runtime/tokenizer/tokenizer.c reads in place.
#ifndef BURIN_FRONTEND_TOKENIZER_H
#define BURIN_FRONTEND_TOKENIZER_H
#include "ir/tokenizer.h"
#include "util/arena.h"

// `path`: tokenizer.json (byte-level BPE, ...), llama2.c's tokenizer.bin, or a GGUF with its vocabulary; by content.
// tokenizer.bin does not say its size: vocab_size is that of the model (0: as many as the file holds).
Tokenizer *tokenizer_load(Arena *, const char *path, int vocab_size);
#endif
