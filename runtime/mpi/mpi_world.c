// Starting: ranks find each other and see that they run the same build. Waiting: for a bounded
// time, so that a rank that is gone is named. Exchanging: every rank sends its columns to every
// other; they are written where they belong, nothing is added up.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "mpi_world.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/forward.h"
#include "program/output.h"

enum { USUAL_PATIENCE = 300, LOOKS = 256 };

burin_world burin_all_ranks = {
    .ranks = {.count = 1}, .patience = USUAL_PATIENCE, .here = 1, .beside = 1};

// ---- waiting ----

double burin_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int first_pending(MPI_Request *requests, int n) {
    for (int i = 0; i < n; i++) {
        int done = 0;
        MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
        if (!done) return i;
    }
    return -1;
}

double burin_rank_patience(void) {
    return (double)burin_all_ranks.patience * (burin_all_ranks.ranks.rank ? 2 : 1);
}

// Looks, then yields: other ranks of this machine may need the CPU that this one waits on.
int burin_wait_requests(MPI_Request *requests, int n) {
    double until = 0;
    for (int look = 1;; look++) {
        int late = first_pending(requests, n);
        if (late < 0) return late;
        if (look % LOOKS) continue;
        sched_yield();
        if (until == 0) until = burin_seconds() + burin_rank_patience();
        if (burin_seconds() > until) return late;
    }
}

const char *burin_rank_name(int rank) {
    static char name[HOST_BYTES + 32];
    const char *host = burin_all_ranks.host[rank];
    snprintf(name, sizeof name, *host ? "rank %d (%s)" : "rank %d", rank, host);
    return name;
}

void burin_rank_is_late(int rank) {
    burin_note(
        "rank %d has waited %.0f seconds for %s, which is stopped, gone, or too slow\nhint: "
        "--rank-timeout S waits longer",
        burin_all_ranks.ranks.rank, burin_rank_patience(), burin_rank_name(rank));
    MPI_Abort(MPI_COMM_WORLD, BURIN_USER_MISTAKE);
    _exit(BURIN_USER_MISTAKE);
}

static bool is_there(int tag, int *bytes) {
    MPI_Status status;
    int there = 0;
    MPI_Iprobe(0, tag, MPI_COMM_WORLD, &there, &status);
    if (there) MPI_Get_count(&status, MPI_BYTE, bytes);
    return there;
}

int burin_await_first_rank(const int *tags, int n, int *bytes) {
    const double yields = 0.02,
                 short_naps =
                     1;  // seconds: on a machine with other work a yield may take milliseconds
    double from = burin_seconds(), heard = from;
    for (;;) {
        for (int i = 0; i < n; i++)
            if (is_there(tags[i], bytes)) return tags[i];
        double waited = burin_seconds() - from;
        if (waited < yields) {
            sched_yield();
            continue;
        }
        nanosleep(&(struct timespec){.tv_nsec = waited < short_naps ? 100000 : 1000000}, NULL);
        for (; is_there(TAG_ALIVE, bytes); heard = burin_seconds())
            MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_ALIVE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (burin_seconds() - heard > burin_rank_patience()) burin_rank_is_late(0);
    }
}

// An MPI may warn at its end of messages that were never received.
void burin_drop_messages(void) {
    MPI_Status status;
    for (int there = 1, bytes; there;) {
        MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
        if (!there) return;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        char *message = malloc((size_t)bytes + 1);
        if (!message) return;
        MPI_Recv(message, bytes, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        free(message);
    }
}

// ---- exchanging ----

int burin_columns_before(const burin_columns *c, int rank) {
    int end = burin_rank_begin(&burin_all_ranks.ranks, rank, c->units) * c->width;
    return end < c->columns ? end : c->columns;
}

// The columns of a rank in all rows, as MPI sends and receives them.
static MPI_Datatype columns_type(const burin_columns *c, int n) {
    MPI_Datatype type = MPI_BYTE;
    if (c->rows == 1) return type;
    MPI_Type_vector(c->rows, n * (int)c->size, c->stride * (int)c->size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

static void send_and_receive(const burin_columns *c) {
    const burin_ranks *r = &burin_all_ranks.ranks;
    MPI_Request requests[2 * MOST_RANKS];
    int peer[2 * MOST_RANKS], n = 0;
    int own = burin_columns_before(c, r->rank), width = burin_columns_before(c, r->rank + 1) - own;
    burin_mpi_begin();
    for (int pass = 0; pass < 2; pass++) {  // places to receive into come first
        MPI_Datatype own_type = columns_type(c, width);
        for (int i = 1; i < r->count; i++) {
            int other = (r->rank + i) % r->count, at = burin_columns_before(c, other),
                theirs = burin_columns_before(c, other + 1) - at;
            if (!(pass ? width : theirs)) continue;
            MPI_Datatype type = pass ? own_type : columns_type(c, theirs);
            int count = c->rows > 1 ? 1 : (pass ? width : theirs) * (int)c->size;
            peer[n] = other;
            if (pass)
                MPI_Isend(c->y + (size_t)own * c->size, count, type, other, TAG_COLUMNS,
                          MPI_COMM_WORLD, &requests[n++]);
            else
                MPI_Irecv(c->y + (size_t)at * c->size, count, type, other, TAG_COLUMNS,
                          MPI_COMM_WORLD, &requests[n++]);
            if (!pass && c->rows > 1) MPI_Type_free(&type);
        }
        if (c->rows > 1) MPI_Type_free(&own_type);
    }
    for (burin_bytes next = c->next; next.n && first_pending(requests, n) >= 0;) burin_fetch(&next);
    int late = burin_wait_requests(requests, n);
    if (late >= 0) burin_rank_is_late(peer[late]);
    burin_mpi_end();
}

void burin_exchange_messages(const burin_columns *c, const burin_step *s, int thread) {
    (void)s;
    if (thread == 0) send_and_receive(c);
}

// ---- starting ----

// Started by mpirun, srun or their like, of Open MPI or MPICH.
static bool is_started_by_mpi(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                        "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i])) return true;
    return false;
}

// Who a rank is: builds whose cards differ do not go together.
typedef struct burin_rank_card {
    char host[HOST_BYTES], identity[32];
    uint64_t abi, kernels, row_bytes, slot_bytes, weight_bytes;
} burin_rank_card;

static burin_rank_card own_card(const burin_model *m) {
    burin_rank_card card = {
        .abi = m->abi, .kernels = (uint64_t)m->n_kernels, .row_bytes = m->row_bytes};
    card.slot_bytes = m->slot_bytes, card.weight_bytes = m->weight_bytes;
    gethostname(card.host, sizeof card.host - 1);
    snprintf(card.identity, sizeof card.identity, "%s", m->identity);
    return card;
}

static bool same_build(const burin_rank_card *a, const burin_rank_card *b) {
    return !strcmp(a->identity, b->identity) && a->abi == b->abi && a->kernels == b->kernels &&
           a->row_bytes == b->row_bytes && a->slot_bytes == b->slot_bytes &&
           a->weight_bytes == b->weight_bytes;
}

// Every rank that runs a program's main ends here.
static void end_ranks(int status, void *unused) {
    int finalized = 0;
    (void)unused;
    MPI_Finalized(&finalized);
    if (finalized) return;
    burin_items_leave(status);
    burin_alive_stop();
    if (burin_all_ranks.shows && !status) burin_tell_pages(burin_all_ranks.shows);
    if (!burin_all_ranks.ranks.rank) burin_dismiss_ranks(status);
    MPI_Finalize();
}

static void meet_ranks(const burin_rank_card *own) {
    for (int i = 1; i < burin_all_ranks.ranks.count; i++) {
        burin_rank_card card;
        MPI_Request request;
        MPI_Irecv(&card, sizeof card, MPI_BYTE, i, TAG_REPORT, MPI_COMM_WORLD, &request);
        if (burin_wait_requests(&request, 1) >= 0) burin_rank_is_late(i);
        memcpy(burin_all_ranks.host[i], card.host, HOST_BYTES);
        if (!same_build(own, &card))
            burin_stop(BURIN_USER_MISTAKE,
                       "%s runs another build: identity %.16s, the first rank's is %.16s\nhint: "
                       "all ranks run the same "
                       "program, built once",
                       burin_rank_name(i), card.identity, own->identity);
    }
}

// MPI binds ranks to CPUs, or leaves them all to each: then they share them.
static bool is_bound(void) {
    cpu_set_t allowed;
    return !sched_getaffinity(0, sizeof allowed, &allowed) &&
           CPU_COUNT(&allowed) < sysconf(_SC_NPROCESSORS_ONLN);
}

static void count_ranks(void) {
    MPI_Comm machine;
    burin_ranks *r = &burin_all_ranks.ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    if (r->count > MOST_RANKS)
        burin_stop(BURIN_USER_MISTAKE, "%d ranks, a program takes at most %d", r->count,
                   MOST_RANKS);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &burin_all_ranks.here);
    MPI_Comm_rank(machine, &burin_all_ranks.place);
    burin_all_ranks.beside = is_bound() ? 1 : burin_all_ranks.here;
    burin_all_ranks.several = r->count > 1;
    if (burin_all_ranks.several && burin_all_ranks.here == r->count)
        burin_all_ranks.shares_memory = burin_shared_open(machine);
    MPI_Comm_free(&machine);
    for (int i = 0; i <= r->count; i++) burin_all_ranks.shares[i] = i;
    r->shares = burin_all_ranks.shares;
    r->exchange = burin_exchange_messages;
}

void burin_ranks_start(const burin_model *model) {
    int given;
    if (!is_started_by_mpi()) return;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &given);
    if (given < MPI_THREAD_SERIALIZED)
        burin_stop(BURIN_USER_MISTAKE, "this MPI cannot be called from several threads");
    count_ranks();
    burin_rank_card card = own_card(model);
    memcpy(burin_all_ranks.host[burin_all_ranks.ranks.rank], card.host, HOST_BYTES);
    if (burin_all_ranks.ranks.rank) {
        MPI_Send(&card, sizeof card, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
        burin_serve(model);
        burin_notes_are_off = true;
        on_exit(end_ranks, NULL);
        return;
    }
    on_exit(end_ranks, NULL);
    burin_all_ranks.ranks.lead = burin_lead_ranks;
    meet_ranks(&card);
    if (burin_all_ranks.several) burin_alive_start();
}

void burin_ranks_begin_items(int64_t patience) {
    static char name[512];
    const burin_world *w = &burin_all_ranks;
    if (!w->ranks.rank) {
        if (patience && w->several) burin_alive_patience(patience);
        if (w->several) burin_order_items();
    } else {
        snprintf(name, sizeof name, "%s, %s", burin_program_name, burin_rank_name(w->ranks.rank));
        burin_program_name = name;
    }
    burin_all_ranks.items = true;
}

bool burin_ranks_share_items(void) { return burin_all_ranks.items; }

bool burin_ranks_several(void) { return burin_all_ranks.several; }

int burin_ranks_threads(void) {
    return burin_max(1, burin_default_threads() / burin_all_ranks.beside);
}
