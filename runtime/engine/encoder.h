// The encoder of an encoder-decoder: reads a source once, and leaves in a slot the keys and values
// that the slot's rows attend to.
#ifndef BURIN_ENCODER_H
#define BURIN_ENCODER_H
#include "forward.h"

// `inputs` and `symbols` as for burin_network_run, of model->encoder->net. The slot begins anew:
// its length is 0. Nothing has changed when the status is not BURIN_OK.
BURIN_LINKAGE burin_status burin_encode_source(burin_session *, int32_t slot,
                                               const void *const *inputs, const int64_t *symbols);

// The same with the dimensions of all inputs, one after the other, as for burin_network_bind;
// integers are checked.
BURIN_LINKAGE burin_status burin_encode_inputs(burin_session *, int32_t slot,
                                               const void *const *inputs, const int64_t *dims);

// The most tokens of a source; 0 when it is not made of tokens.
BURIN_LINKAGE int64_t burin_most_source_tokens(const burin_model *);
#endif
