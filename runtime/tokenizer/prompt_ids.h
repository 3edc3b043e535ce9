// The ids of a prompt are the tokenizer's; those of a text to embed are cut to the model's length.
#ifndef BURIN_PROMPT_IDS_H
#define BURIN_PROMPT_IDS_H
#include <string.h>

#include "engine/program.h"
#include "tokenizer.h"

// Returns true if a network reads texts: its program has a card (engine/card.h), or embeds them.
static inline bool burin_reads_texts(const burin_model *m) {
    return m->net && m->net->tokens >= 0 && (m->net->embedding >= 0 || m->template_bytes);
}

// Tokens of a text that a network takes.
static inline int32_t burin_most_tokens(const burin_model *m) {
    const burin_network *net = m->net;
    int64_t dim = net->inputs[net->tokens].dim[0], most = m->context;
    if (dim < 0 && -1 - dim < net->n_symbols && net->symbols[-1 - dim].upper < most)
        most = net->symbols[-1 - dim].upper;
    return (int32_t)most;
}

// As burin_encode, but not cut: texts to embed are cut by burin_cut_ids alone, other prompts never.
// An empty text has no ids.
static inline size_t burin_encode_prompt(const void *blob, const burin_encoding *prompt) {
    burin_encoding whole = *prompt;
    whole.whole = true;
    return burin_encode(blob, &whole);
}

// The number of n ids that remain of a text to embed, of which `capacity` may be in `ids`: a text
// beyond the model's limit is cut, tokens that the tokenizer appends stay. Other models do not cut.
static inline size_t burin_cut_ids(const burin_model *model, const void *blob, int32_t *ids,
                                   size_t capacity, size_t n) {
    const burin_tokenizer *t = blob;
    if (!burin_reads_texts(model)) return n;
    size_t after = t->after.count, most = (size_t)burin_most_tokens(model);
    if (n <= most || most <= after) return n;
    const unsigned char *behind = (const unsigned char *)blob + t->after.offset;
    for (size_t i = most - after; i < most && i < capacity; i++)
        memcpy(ids + i, behind + 4 * (i - (most - after)), 4);
    return most;
}
#endif
