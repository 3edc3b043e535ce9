// The end of the interface of a shared library of a network that reads texts (library_labels.h).

#include "engine/card.h"
#include "network/scores.c"

_Static_assert(sizeof(NAME_pair_item) == sizeof(burin_pair_item) &&
                   (int)NAME_PAIR_SECOND == (int)BURIN_PAIR_SECOND,
               "items are passed on as they are");

int32_t NAME_most_tokens(void) { return burin_most_tokens(&NAME_model); }

int NAME_pair_layout(const NAME_pair_item **items) {
    const burin_tokenizer *t = tokenizer_blob();
    if (!items) return NAME_BAD_ARGUMENT;
    *items = (const NAME_pair_item *)(const void *)((const char *)t + t->pair.offset);
    return (int)t->pair.count;
}

int NAME_scores(const float *logits, int64_t n, float *scores) {
    burin_scoring scoring = BURIN_AS_IT_IS;
    if (!logits || !scores || n < 1) return NAME_BAD_ARGUMENT;
    if (NAME_model.template_bytes)
        scoring = (burin_scoring)((const burin_card *)(const void *)(NAME_model.weights() +
                                                                     NAME_model.template_offset))
                      ->scoring;
    burin_scores(scoring, logits, n, scores);
    return 0;
}
