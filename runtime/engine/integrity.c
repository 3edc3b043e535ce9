#include "integrity.h"

#include "checksum.h"

static burin_sums sums_of(const burin_model *model) {
    burin_sums sums;
    memcpy(&sums, model->weights() + model->sums_offset, sizeof sums);
    return sums;
}

BURIN_LINKAGE bool burin_weights_intact(const burin_model *m) {
    return !m->sums_offset ||
           burin_checksum_of(m->weights(), m->tokenizer_offset) == sums_of(m).weights;
}

BURIN_LINKAGE bool burin_tokenizer_intact(const burin_model *m) {
    return !m->sums_offset ||
           burin_checksum_of(m->weights() + m->tokenizer_offset,
                             m->sums_offset - m->tokenizer_offset) == sums_of(m).tokenizer;
}
