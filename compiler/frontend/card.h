// How a network uses texts, from config.json and config_sentence_transformers.json: compiled into
// the blob that the program reads (runtime/engine/card.h).
#ifndef BURIN_FRONTEND_CARD_H
#define BURIN_FRONTEND_CARD_H
#include "frontend/checkpoint.h"
#include "frontend/tokenizer.h"
#include "ir.h"

typedef struct Card {
    void *blob;  // NULL: tensors in and out, and nothing else
    uint32_t bytes;
    bool labels;  // texts in, labels or words out
} Card;

// `embeds`: the graph gives embeddings of texts. Of other graphs the class in `architectures`, the labels and the output
// "logits" must fit together.
bool card_has_labels(const Checkpoint *, const Graph *);  // in that way
Card card_read(Arena *, const Checkpoint *, const Graph *, const Tokenizer *, bool embeds);
#endif
