#include "integrity.h"

#include "checksum.h"

BURIN_LINKAGE burin_sums burin_sums_of(const burin_model *model) {
    burin_sums sums = {0};
    if (model->sums_offset) memcpy(&sums, model->weights() + model->sums_offset, sizeof sums);
    return sums;
}

BURIN_LINKAGE bool burin_weights_intact(const burin_model *m) {
    return !m->sums_offset ||
           burin_checksum_of(m->weights(), m->tokenizer_offset) == burin_sums_of(m).weights;
}

BURIN_LINKAGE bool burin_tokenizer_intact(const burin_model *m) {
    return !m->sums_offset ||
           burin_checksum_of(m->weights() + m->tokenizer_offset,
                             m->sums_offset - m->tokenizer_offset) == burin_sums_of(m).tokenizer;
}
