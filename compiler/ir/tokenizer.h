// A model's tokenizer, as modules carry it and dumps keep it (made by frontend/tokenizer.h).
#ifndef BURIN_IR_TOKENIZER_H
#define BURIN_IR_TOKENIZER_H
#include <stddef.h>
#include <stdint.h>

typedef struct Tokenizer {
    const void *blob;  // little-endian, 8-aligned; layout: runtime/tokenizer/tokenizer.h
    size_t bytes;
    int32_t vocab_size;
    int32_t bos;       // prepended to a prompt, or -1
    int32_t eos;       // ends a text, or -1
    const char *note;  // for -v: how its folder is read, or NULL
} Tokenizer;
#endif
