// Tokenizers, compiled at build time into one position-independent blob that
// runtime/tokenizer/tokenizer.c reads in place.
#ifndef BURIN_FRONTEND_TOKENIZER_H
#define BURIN_FRONTEND_TOKENIZER_H
#include "ir/tokenizer.h"
#include "util/arena.h"

// `path`: tokenizer.json (byte-level BPE, ...), llama2.c's tokenizer.bin, or a GGUF with its
// vocabulary; by content. tokenizer.bin has no size: vocab_size is the model's (0: all entries of
// the file).
Tokenizer *tokenizer_load(Arena *, const char *path, int vocab_size);
#endif
