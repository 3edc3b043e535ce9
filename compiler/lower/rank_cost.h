// The cost of a token that ranks compute together (--with=mpi), predicted: `burin plan`.
#ifndef BURIN_RANK_COST_H
#define BURIN_RANK_COST_H
#include <stdbool.h>

#include "lower/lower.h"

// A product, or an attention, of a step of one row. A rank reads the bytes of its units; then
// `columns` floats are gathered.
typedef struct RankStep {
    double weight_bytes, cache_bytes;  // read in the step, by all ranks together
    double held_bytes;                 // of weights, whether the step reads them or not
    RankShare ranks;                   // how ranks share it
    double columns;                    // of the result that is gathered; 0: none
} RankStep;

typedef struct RankModel {
    RankStep *steps;
    int n;
    double whole_bytes;   // weights that no step above has: every rank may need them
    double shared_state;  // bytes of a slot that ranks share by heads
    RankShare heads;      // by which they do
    double own_memory;    // arena and the rest of the state, on every rank
} RankModel;

typedef struct Network {
    const char *name;
    double bytes,
        latency;  // a second in each direction; seconds until a message of no bytes is there
} Network;
// Bytes that a rank reads from memory during a gather on the fastest network: smaller products are
// not gathered.
double gather_in_bytes(void);
const Network *network_find(const char *name);  // 1G, 10G, 100G, local; NULL: unknown name

typedef struct RankCost {
    double seconds;  // of a token
    double reading;  // of these, reading weights and cache
    double sent;     // bytes that a rank sends for a token
    double memory;   // bytes of the rank that holds most
} RankCost;
RankCost rank_cost(const RankModel *, int ranks, const Network *,
                   double read_rate);  // read_rate: bytes a second of a machine
#endif
