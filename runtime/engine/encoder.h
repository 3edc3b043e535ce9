// The encoder of an encoder-decoder: reads a source once, and leaves in a slot the keys and values
// that the slot's rows attend to.
#ifndef BURIN_ENCODER_H
#define BURIN_ENCODER_H
#include "forward.h"
#include "picture.h"

// `inputs` and `symbols` as for burin_network_run, of model->encoder->net. The slot begins anew:
// its length is 0. Nothing has changed when the status is not BURIN_OK.
BURIN_LINKAGE burin_status burin_encode_source(burin_session *, int32_t slot,
                                               const void *const *inputs, const int64_t *symbols);

// The same with the dimensions of all inputs, one after the other, as for burin_network_bind;
// integers are checked.
BURIN_LINKAGE burin_status burin_encode_inputs(burin_session *, int32_t slot,
                                               const void *const *inputs, const int64_t *dims);

// The encoder of a model: that of a source, or of its eyes; NULL: none.
static inline const burin_encoder *burin_encoder_of(const burin_model *model) {
    return model->eyes ? model->eyes->encoder : model->encoder;
}

// Runs the encoder of a model with eyes over one tile: `inputs` and `symbols` as for
// burin_network_run, `outputs` its rows. Slots stay as they are.
BURIN_LINKAGE burin_status burin_eyes_run(burin_session *, const void *const *inputs,
                                          const int64_t *symbols, void *const *outputs);

// The most tokens of a source; 0 when it is not made of tokens.
BURIN_LINKAGE int64_t burin_most_source_tokens(const burin_model *);
#endif
