// Encoders of block formats: floats to integers and scales.
#ifndef BURIN_IR_ENCODE_H
#define BURIN_IR_ENCODE_H
#include "ir/format.h"

// The values of one block, those from n on missing (0), and their weights besides their size:
// importance[i] >= 0, or NULL: equal.
struct EncodeInput {
    const float *values, *importance;
    int64_t n;
};

void encode_fine(const Format *, const EncodeInput *,
                 CodedBlock *);  // one scale of 8 bits, searched
void encode_scale(const Format *, const EncodeInput *, CodedBlock *);  // one scale, searched
void encode_line(const Format *, const EncodeInput *, CodedBlock *);   // one scale and one minimum
void encode_groups(const Format *, const EncodeInput *,
                   CodedBlock *);  // scales of groups, with minima or without
void encode_integers(const Format *, const EncodeInput *,
                     CodedBlock *);  // integers as they are, less a zero point
void encode_exponent(const Format *, const EncodeInput *, CodedBlock *);  // a power of two
#endif
