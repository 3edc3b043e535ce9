// Attention masks as functions of the distance between query and key.
//
// Whatever nodes an exporter builds a mask from, what matters is its value for query position q and
// key position k. A value is followed down to index counters and constants, and written as a
// piecewise function of the distance q - k, each piece linear:
//
//   where(less_or_equal(k, q), 0, -inf)      ->   distance < 0: -inf    distance >= 0: 0
//
// so a causal mask is one that allows distances from 0 on, and a sliding window one that allows
// them up to a bound.
#ifndef BURIN_PASSES_DISTANCE_H
#define BURIN_PASSES_DISTANCE_H
#include "passes/match.h"

enum { MAX_DISTANCE_PIECES = 24 };
#define NO_DISTANCE INT64_MIN  // before the first piece: minus infinity

typedef struct DistancePiece {
    int64_t from;    // the first distance; the piece ends where the next one starts
    double q, k, c;  // the value: q * query + k * key + c
} DistancePiece;

typedef struct Distance {
    int n;
    DistancePiece piece[MAX_DISTANCE_PIECES];
    const Node *broke;  // the node that is no such function
} Distance;

// `n` broadcasts against scores [..., queries, keys]. False, with `broke` set, when it is no
// function of the distance.
bool distance_of(const Node *n, Distance *);

// The same when every element of an input that is a mask of keys, [keys] or [sequences, keys], is
// `element`. The sequences are the first of three axes of `n` and more. *mask is that input; NULL:
// there is none.
bool distance_with_mask(const Node *n, double element, const Node **mask, Distance *);

// The distances for which `d` is not zero (not very negative, for added masks) as one interval;
// false when they are several.
typedef struct Interval {
    int64_t from, to;  // inclusive; INT64_MIN and INT64_MAX without a bound
} Interval;

enum { VERY_NEGATIVE = -9999 };
bool distance_is_condition(const Distance *);  // every piece is constant
bool distance_allows(const Distance *, bool added, Interval *);
#endif
