// The ids of a prompt: the tokenizer's, with the model's beginning-of-text token in front where the tokenizer leaves that open.
#ifndef BURIN_RUNTIME_TEXT_H
#define BURIN_RUNTIME_TEXT_H
#include <string.h>

#include "program.h"
#include "tokenizer.h"

// As burin_encode. An empty text has no ids.
static inline size_t burin_encode_prompt(const burin_model *model, const void *blob, const burin_encoding *e) {
    size_t n = burin_encode(blob, e), written = n < e->capacity ? n : e->capacity;
    if (!e->special || model->encoder || model->bos < 0 || !written || e->ids[0] == model->bos) return n;
    memmove(e->ids + 1, e->ids, (written < e->capacity ? written : written - 1) * sizeof *e->ids);
    e->ids[0] = model->bos;
    return n + 1;
}
#endif
