// The first rank sends a sign of life now and then, also while it waits for a line of a
// conversation: from a thread of its own, which takes turns with other threads in calling MPI. A
// rank that hears nothing for twice its patience ends the run: by then the first rank would have
// missed anyone else.
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "mpi_world.h"
#include "program/output.h"

enum { BEATS = 4 };  // in the time that ranks wait

static struct {
    pthread_t thread;
    pthread_mutex_t calls, wake;
    pthread_cond_t changed;
    bool running, ended;
    MPI_Request request[MOST_RANKS];
} alive = {.calls = PTHREAD_MUTEX_INITIALIZER,
           .wake = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

void burin_mpi_begin(void) { pthread_mutex_lock(&alive.calls); }
void burin_mpi_end(void) { pthread_mutex_unlock(&alive.calls); }

// Who has not taken the last one gets no other.
static void beat(void) {
    burin_mpi_begin();
    for (int i = 1; i < burin_all_ranks.ranks.count; i++) {
        int taken = 1;
        if (alive.request[i] != MPI_REQUEST_NULL)
            MPI_Test(&alive.request[i], &taken, MPI_STATUS_IGNORE);
        if (taken) MPI_Isend(NULL, 0, MPI_BYTE, i, TAG_ALIVE, MPI_COMM_WORLD, &alive.request[i]);
    }
    burin_mpi_end();
}

static void *beat_on(void *unused) {
    pthread_mutex_lock(&alive.wake);
    while (!alive.ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        int64_t wait = burin_all_ranks.patience * 1000000000 / BEATS + until.tv_nsec;
        until.tv_sec += (time_t)(wait / 1000000000), until.tv_nsec = (long)(wait % 1000000000);
        pthread_cond_timedwait(&alive.changed, &alive.wake, &until);
        if (!alive.ended) beat();
    }
    pthread_mutex_unlock(&alive.wake);
    return unused;
}

void burin_alive_start(void) {
    sigset_t all, before;
    for (int i = 0; i < MOST_RANKS; i++) alive.request[i] = MPI_REQUEST_NULL;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &before);  // signals are for the thread that reads the terminal
    alive.running = !pthread_create(&alive.thread, NULL, beat_on, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!alive.running) burin_stop(BURIN_USER_MISTAKE, "the system refused to start a thread");
}

void burin_alive_patience(int64_t patience) {
    pthread_mutex_lock(&alive.wake);
    burin_all_ranks.patience = patience;
    pthread_cond_signal(&alive.changed);
    pthread_mutex_unlock(&alive.wake);
}

void burin_alive_stop(void) {
    if (!alive.running) return;
    pthread_mutex_lock(&alive.wake);
    alive.ended = true;
    pthread_cond_signal(&alive.changed);
    pthread_mutex_unlock(&alive.wake);
    pthread_join(alive.thread, NULL);
    alive.running = false;
}
