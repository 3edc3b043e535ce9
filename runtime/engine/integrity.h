// Checks that the mapped weights are those that burin wrote: a checksum follows weights and
// tokenizer (image.h of the compiler).
#ifndef BURIN_INTEGRITY_H
#define BURIN_INTEGRITY_H
#include "program.h"

// As the image ends, at burin_model.sums_offset.
typedef struct burin_sums {
    // checksums of the bytes before the tokenizer, and of those from there to here
    uint64_t weights, tokenizer;
    // a prompt that the program has read already: the offset of its session in the image (0: none),
    // the session's bytes, and those of the system message after it
    uint64_t prompt, prompt_bytes, system_bytes;
} burin_sums;

// Checks at each opening of a session: weights of at most this many bytes, in less than 5 ms, and
// any tokenizer, whose damage would mislead the code that reads it.
enum { BURIN_SMALL_WEIGHTS = 16 << 20 };

BURIN_LINKAGE burin_sums burin_sums_of(const burin_model *);  // zeros where there are none
BURIN_LINKAGE bool burin_weights_intact(const burin_model *);
BURIN_LINKAGE bool burin_tokenizer_intact(const burin_model *);
#endif
