// --over=mpi: each rank has the whole model, and computes items (lines of a file, elements of a
// batch) that the first rank gives it. The first rank reads them, computes items itself, and
// between its own steps hands out new ones, and takes results: in the order of items, whichever
// rank is ready first. A rank without an answer for --rank-timeout seconds, or a dead one, loses
// its items to other ranks. A rank that stops with a message ends the run when its item's turn
// comes: earlier items are printed, as by one rank.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/allocate.h"
#include "engine/forward.h"
#include "engine/hash.h"
#include "mpi_journal.h"
#include "mpi_world.h"
#include "program/input.h"
#include "program/lines.h"
#include "program/output.h"
#include "program/work_items.h"

enum { AT_ONCE = 2, AHEAD = 8, LEAST_ROOM = 64, NOWHERE = -1, FAILED_EARLY = -1 };

typedef enum entry_state { ENTRY_WAITS, ENTRY_GIVEN, ENTRY_DONE } entry_state;

// An item from when it is read until its result is taken.
typedef struct entry {
    entry_state state;
    int rank;  // that has it; NOWHERE: none
    int64_t index, status;
    uint64_t sum;
    char *message;  // the index and the line with its 0
    size_t bytes;   // of the message
    burin_result result;
    MPI_Request request;
} entry;

typedef struct result_head {
    int64_t index, status;
    uint64_t printed, given;
} result_head;

typedef struct other_rank {
    int given;    // items that it has
    bool silent;  // for too long: it gets no more until it answers
    bool gone;    // returned by MPI
    double heard;
    int64_t computed;
} other_rank;

static struct {
    const burin_work *items;
    burin_lines lines;
    burin_journal *journal;
    bool active, ended;   // ended: there is no further item to read
    int64_t read, shown;  // items
    entry *ring, *own;    // own: the first rank computes it just now
    int64_t room;         // of the ring
    other_rank *others;   // by rank
    int64_t failed;       // a status that ends the run now; 0: none
    burin_capture printed, given;
    burin_ranks alone;
    int64_t whole[2];
    int64_t index;  // of the item in hand, on other ranks
    double looked;  // when there were last looks at messages between steps
} work;

static int count(void) { return burin_all_ranks.ranks.count; }
static bool is_first(void) { return burin_all_ranks.ranks.rank == 0; }
static entry *entry_of(int64_t index) { return &work.ring[index % work.room]; }
static bool answers(const other_rank *o) { return !o->silent && !o->gone; }

// ---- results ----

void burin_ranks_give(const void *given, size_t bytes) {
    burin_capture_add(&work.given, given, bytes);
}

// Printed output, then handed-over results.
static burin_result result_of_work(void) {
    burin_result r = {.printed = work.printed.n, .given = work.given.n};
    r.data = burin_allocate(1, r.printed + r.given + 1);
    if (r.printed) memcpy(r.data, work.printed.data, r.printed);
    if (r.given) memcpy(r.data + r.printed, work.given.data, r.given);
    return r;
}

static void compute(const burin_work_item *item) {
    work.printed.n = work.given.n = 0;
    burin_capture *before = burin_capture_into(&work.printed);
    work.items->compute(work.items->context, item);
    burin_capture_into(before);
}

static burin_work_item item_of(int64_t index, const char *message, size_t bytes) {
    if (!work.items->lines) return (burin_work_item){.index = index};
    return (burin_work_item){
        .index = index, .line = message + sizeof index, .bytes = bytes - sizeof index - 1};
}

static void settle(entry *e, int64_t status, burin_result r) {
    e->state = ENTRY_DONE, e->status = status, e->result = r;
    if (!status) burin_journal_add(work.journal, e->index, e->sum, &r);
}

static void release(entry *e) {
    free(e->message), free(e->result.data);
    *e = (entry){.rank = NOWHERE};
}

// Exits with the status of an item that failed.
static void show_results(void) {
    for (; work.shown < work.read; work.shown++) {
        entry *e = entry_of(work.shown);
        if (e->state != ENTRY_DONE) return;
        if (e->status) {
            work.active = false;
            exit((int)e->status);
        }
        const burin_work_item item = item_of(e->index, e->message, e->bytes);
        burin_print_text(e->result.data, e->result.printed);
        if (e->result.given)
            work.items->take(work.items->context, &item, e->result.data + e->result.printed,
                             e->result.given);
        burin_show();
        release(e);
    }
}

// ---- reading ----

static bool next_is_there(void) {
    if (work.ended || work.read - work.shown >= work.room) return false;
    return !work.items->lines || burin_line_is_near(&work.lines);
}

static void enter(const void *line, size_t bytes, uint64_t sum) {
    entry *e = entry_of(work.read);
    *e = (entry){
        .rank = NOWHERE, .index = work.read, .bytes = sizeof e->index + bytes + 1, .sum = sum};
    e->message = burin_allocate(1, e->bytes);
    memcpy(e->message, &work.read, sizeof work.read);
    if (bytes) memcpy(e->message + sizeof work.read, line, bytes);
    work.read++;
    if (burin_journal_find(work.journal, e->index, sum, &e->result)) e->state = ENTRY_DONE;
}

static void read_next(void) {
    const burin_work *w = work.items;
    if (w->lines) {
        work.ended = !burin_next_line(&work.lines);
        if (!work.ended)
            enter(work.lines.line, work.lines.bytes,
                  burin_hash_bytes(burin_hash_start, work.lines.line, work.lines.bytes));
    } else {
        work.ended = work.read == w->count;
        if (!work.ended) enter(NULL, 0, work.journal && w->sum ? w->sum(w->context, work.read) : 0);
    }
}

// ---- the other ranks ----

static void take_back(int rank, const char *why) {
    other_rank *o = &work.others[rank];
    burin_note("%s %s: its lines go to others", burin_rank_name(rank), why);
    o->given = 0;
    for (int64_t i = work.shown; i < work.read; i++) {
        entry *e = entry_of(i);
        if (e->state != ENTRY_GIVEN || e->rank != rank) continue;
        char *copy = burin_allocate(1, e->bytes);  // MPI may still read the message
        memcpy(copy, e->message, e->bytes);
        e->message = copy, e->state = ENTRY_WAITS, e->rank = NOWHERE;
    }
}

static void lose_rank(int rank) {
    if (work.others[rank].gone) return;
    work.others[rank].gone = true;
    take_back(rank, "is gone");
}

static void receive_from(int rank) {
    MPI_Status status;
    other_rank *o = &work.others[rank];
    for (int there = 0, bytes; !o->gone; there = 0) {
        if (MPI_Iprobe(rank, TAG_RESULT, MPI_COMM_WORLD, &there, &status) != MPI_SUCCESS)
            lose_rank(rank);
        if (!there || o->gone) return;
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        char *message = burin_allocate(1, (size_t)bytes);
        if (MPI_Recv(message, bytes, MPI_BYTE, rank, TAG_RESULT, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS)
            lose_rank(rank);
        result_head head;
        memcpy(&head, message, sizeof head);
        burin_result r = {.printed = head.printed, .given = head.given, .data = message};
        memmove(message, message + sizeof head, (size_t)bytes - sizeof head);
        o->heard = burin_seconds(), o->silent = false;
        if (o->given) o->given--;
        if (head.index == FAILED_EARLY) work.failed = head.status;
        entry *e = head.index >= work.shown && head.index < work.read ? entry_of(head.index) : NULL;
        if (e && e->state != ENTRY_DONE) {
            settle(e, head.status, r), o->computed++;
        } else {
            free(message);  // another rank was asked for it, too
        }
    }
}

static void watch(int rank) {
    other_rank *o = &work.others[rank];
    if (!o->given || !answers(o) || burin_seconds() - o->heard <= (double)burin_all_ranks.patience)
        return;
    o->silent = true;
    char why[64];
    snprintf(why, sizeof why, "has not answered for %lld seconds",
             (long long)burin_all_ranks.patience);
    take_back(rank, why);
}

static entry *first_waiting(void) {
    for (int64_t i = work.shown; i < work.read; i++)
        if (entry_of(i)->state == ENTRY_WAITS) return entry_of(i);
    return NULL;
}

static int64_t n_waiting(void) {
    int64_t n = 0;
    for (int64_t i = work.shown; i < work.read; i++) n += entry_of(i)->state == ENTRY_WAITS;
    return n;
}

static void give(int rank) {
    other_rank *o = &work.others[rank];
    entry *e = first_waiting();
    if (MPI_Isend(e->message, (int)e->bytes, MPI_BYTE, rank, TAG_ITEM, MPI_COMM_WORLD,
                  &e->request) != MPI_SUCCESS) {
        lose_rank(rank);
        return;
    }
    if (!o->given++) o->heard = burin_seconds();
    e->state = ENTRY_GIVEN, e->rank = rank;
}

// One each; a second in advance where there are enough for all.
static void hand_out(void) {
    for (int have = 0; have < AT_ONCE; have++)
        for (int i = 1; i < count() && n_waiting() > (have ? count() : 0); i++)
            if (answers(&work.others[i]) && work.others[i].given == have) give(i);
}

// All that can be done without waiting.
static void continue_items(void) {
    burin_capture *own = burin_capture_into(NULL);
    while (next_is_there()) {
        read_next();
        show_results();  // items of the journal need no room
    }
    burin_mpi_begin();
    for (int i = 1; i < count(); i++) receive_from(i), watch(i);
    hand_out();
    burin_mpi_end();
    if (work.failed) work.active = false, exit((int)work.failed);
    show_results();
    burin_capture_into(own);
}

// ---- running ----

// Before a step, now and then (a look at messages may cost a turn of the CPU): the first rank
// serves all other ranks, and another rank may be told to end.
static void before_step(struct burin_session *session, burin_rank_order order, const burin_step *s,
                        const int32_t slots[2]) {
    static const double pause[] = {0.01, 0.001};
    double now = burin_seconds();
    int there = 0;
    (void)session, (void)order, (void)s, (void)slots;
    if (!work.active || count() == 1 || now - work.looked < pause[is_first()]) return;
    work.looked = now;
    if (is_first()) {
        continue_items();
        return;
    }
    MPI_Iprobe(0, TAG_ORDER, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there) burin_follow_end();
}

void burin_items_open(struct burin_session *session, const burin_rank_options *asked) {
    work.whole[1] = 1;
    work.alone = (burin_ranks){.count = 1, .shares = work.whole, .lead = before_step};
    session->step.ranks = &work.alone;
    if (asked->resume && is_first())
        work.journal = burin_journal_open(asked->resume, session->model, asked->command);
}

static void compute_own(entry *e) {
    e->state = ENTRY_GIVEN, e->rank = 0, work.own = e;
    const burin_work_item item = item_of(e->index, e->message, e->bytes);
    compute(&item);
    work.own = NULL;
    settle(e, 0, result_of_work());
}

static void rest(long *looks) {
    if (++*looks > 1000)
        nanosleep(&(struct timespec){.tv_nsec = *looks < 5000 ? 100000 : 1000000}, NULL);
}

static int64_t run_first(void) {
    long looks = 0;
    work.room = AHEAD * count() + LEAST_ROOM;
    work.ring = burin_allocate((size_t)work.room, sizeof *work.ring);
    work.others = burin_allocate((size_t)count(), sizeof *work.others);
    if (work.items->lines) burin_lines_open(&work.lines, work.items->lines);
    if (count() > 1) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (!work.ended || work.shown < work.read) {
        continue_items();
        entry *own = first_waiting();
        if (own) compute_own(own), looks = 0;
        if (!own) rest(&looks);
    }
    work.active = false;
    if (work.items->lines) burin_lines_close(&work.lines);
    burin_journal_close(work.journal);
    return work.read;
}

static void send_result(int64_t index, int64_t status, burin_result r) {
    result_head head = {index, status, r.printed, r.given};
    size_t bytes = sizeof head + r.printed + r.given;
    char *message = burin_allocate(1, bytes);
    MPI_Request request;
    memcpy(message, &head, sizeof head);
    if (r.data) memcpy(message + sizeof head, r.data, r.printed + r.given);
    MPI_Isend(message, (int)bytes, MPI_BYTE, 0, TAG_RESULT, MPI_COMM_WORLD, &request);
    if (burin_wait_requests(&request, 1) >= 0) burin_rank_is_late(0);
    free(message), free(r.data);
}

static _Noreturn void run_other(void) {
    static const int tags[] = {TAG_ORDER, TAG_ITEM};
    burin_notes_are_off = false;
    for (;;) {
        int bytes;
        if (burin_await_first_rank(tags, 2, &bytes) == TAG_ORDER) burin_follow_end();
        char *message = burin_allocate(1, (size_t)bytes);
        MPI_Recv(message, bytes, MPI_BYTE, 0, TAG_ITEM, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memcpy(&work.index, message, sizeof work.index);
        const burin_work_item item = item_of(work.index, message, (size_t)bytes);
        compute(&item);
        send_result(work.index, 0, result_of_work());
        free(message);
    }
}

int64_t burin_ranks_run_items(const burin_work *items) {
    work.items = items, work.active = true;
    if (!is_first()) run_other();
    return run_first();
}

// ---- leaving ----

// The first rank's own item has failed: those before it still count.
static void finish_before(int64_t failed) {
    bool anyone = true;
    burin_capture_into(NULL);
    work.own = NULL;
    for (long looks = 0; work.shown < failed && anyone; rest(&looks)) {
        anyone = false;
        continue_items();
        for (int i = 1; i < count(); i++) anyone |= answers(&work.others[i]);
    }
    work.active = false;
}

// Output in the pipe to mpirun may be lost when it is told to abort.
static void await_readers(void) {
    enum { MOST_LOOKS = 5000 };
    const struct timespec nap = {.tv_nsec = 1000000};
    int bytes = 0;
    for (int look = 0; look < MOST_LOOKS && !ioctl(STDOUT_FILENO, FIONREAD, &bytes) && bytes > 0;
         look++)
        nanosleep(&nap, NULL);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

static bool any_lost(void) {
    bool lost = false;
    for (int i = 1; i < count() && work.others; i++) lost |= !answers(&work.others[i]);
    return lost;
}

void burin_items_leave(int status) {
    if (!burin_all_ranks.items || count() == 1) return;
    if (is_first()) {
        if (status && work.active && work.own) finish_before(work.own->index);
        burin_flush();
        if (!any_lost()) return;
        await_readers();
        MPI_Abort(MPI_COMM_WORLD, status);  // ending together would wait for them
        _exit(status);
    }
    burin_capture_into(NULL);
    send_result(work.active ? work.index : FAILED_EARLY, status ? status : BURIN_USER_MISTAKE,
                (burin_result){0});
    int bytes;
    burin_await_first_rank((int[]){TAG_ORDER}, 1, &bytes);
    burin_drop_messages();
}
