// Is what the program maps what burin wrote? Weights and tokenizer are followed by a checksum of each (image.h of the
// compiler).
#ifndef BURIN_INTEGRITY_H
#define BURIN_INTEGRITY_H
#include "program.h"

// As the image ends, at burin_model.sums_offset.
typedef struct burin_sums {
    uint64_t weights, tokenizer;  // of the bytes before the tokenizer; of those from there to here
} burin_sums;

// What is checked whenever a session opens: weights of at most so many bytes, which takes less than 5 ms, and any tokenizer,
// whose damage would mislead the code that reads it.
enum { BURIN_SMALL_WEIGHTS = 16 << 20 };

BURIN_LINKAGE bool burin_weights_intact(const burin_model *);
BURIN_LINKAGE bool burin_tokenizer_intact(const burin_model *);
#endif
