// The ranks of this run, and how they wait for each other: files of this room only.
#ifndef BURIN_WORLD_H
#define BURIN_WORLD_H
#include <mpi.h>

#include "engine/ranks.h"

enum { MOST_RANKS = 1024, HOST_BYTES = 64 };
enum { TAG_COLUMNS = 1, TAG_ORDER, TAG_REPORT, TAG_ALIVE, TAG_ITEM, TAG_RESULT };

typedef struct burin_world {
    burin_ranks ranks;
    int64_t shares[MOST_RANKS + 1];
    char host[MOST_RANKS][HOST_BYTES];  // known to the first rank
    int64_t patience;                   // seconds
    int here, place;                    // ranks on this machine; index of this one
    int beside;                         // ranks that run on the same CPUs, this one among them
    bool several;
    bool shares_memory;  // all ranks are on one machine, which has memory for their boards
    bool items;          // --over: ranks share items, and no steps
    // -v: rank whose pages each rank reports when it ends; NULL: no report
    const burin_model *shows;
} burin_world;

extern burin_world burin_all_ranks;

double burin_seconds(void);

// mpi_alive.c: on the first rank every call of MPI is between these two.
void burin_mpi_begin(void);
void burin_mpi_end(void);
void burin_alive_start(void);
void burin_alive_patience(int64_t seconds);  // of all waiting, from here on
void burin_alive_stop(void);

// Seconds that this rank waits for another. The first gives up first: while it waits for one rank,
// the rest may wait for it.
double burin_rank_patience(void);
// Waits for all requests. The first that is not done in time, or -1.
int burin_wait_requests(MPI_Request *, int n);
// Ends the program on all ranks at once: `rank` has not answered.
_Noreturn void burin_rank_is_late(int rank);
const char *burin_rank_name(int rank);  // "rank 2 (host)"

void burin_exchange_messages(const burin_columns *, const burin_step *, int thread);
void burin_exchange_memory(const burin_columns *, const burin_step *, int thread);  // mpi_shared.c
int burin_columns_before(const burin_columns *, int rank);
bool burin_shared_open(MPI_Comm machine);  // mpi_shared.c
void burin_shared_begin(void);             // when each rank runs on its CPUs

// Waits for a message of one of these tags from the first rank: yields while it may come soon, then
// sleeps. Returns its tag.
int burin_await_first_rank(const int *tags, int n, int *bytes);

void burin_drop_messages(void);  // of the first rank, on one that ends

// mpi_orders.c
void burin_lead_ranks(struct burin_session *, burin_rank_order, const burin_step *,
                      const int32_t slots[2]);
void burin_serve(const burin_model *);  // returns when ranks share items
void burin_order_items(void);
void burin_dismiss_ranks(int status);   // the other ranks end with this status
_Noreturn void burin_follow_end(void);  // the order is there

void burin_tell_pages(const burin_model *);  // mpi_pages.c

// mpi_items.c
void burin_items_open(struct burin_session *, const burin_rank_options *);
void burin_items_leave(int status);  // of an exiting rank: data that other ranks need
#endif
