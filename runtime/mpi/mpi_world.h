// The ranks of this run, and how they wait for each other: files of this room only.
#ifndef BURIN_WORLD_H
#define BURIN_WORLD_H
#include <mpi.h>

#include "engine/ranks.h"

enum { MOST_RANKS = 1024, HOST_BYTES = 64 };
enum { TAG_COLUMNS = 1, TAG_ORDER = 2, TAG_REPORT = 3 };

typedef struct burin_world {
    burin_ranks ranks;
    int64_t shares[MOST_RANKS + 1];
    char host[MOST_RANKS][HOST_BYTES];  // known to the first rank
    int64_t patience;                   // seconds
    int here;                           // ranks on this machine
    bool several;
} burin_world;

extern burin_world burin_all_ranks;

// Waits for all requests. The first that is not done after `patience` seconds, or -1.
int burin_wait_requests(MPI_Request *, int n, int64_t patience);
// Ends the program on all ranks at once: `rank` has not answered.
_Noreturn void burin_rank_is_late(int rank);
const char *burin_rank_name(int rank);  // "rank 2 (host)"

void burin_exchange(const burin_columns *);

// mpi_orders.c
void burin_lead_ranks(struct burin_session *, burin_rank_order, const burin_step *, const int32_t slots[2]);
_Noreturn void burin_serve(const burin_model *);
void burin_dismiss_ranks(int status);  // the other ranks end with this status
#endif
