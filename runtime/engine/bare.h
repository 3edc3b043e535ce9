// Without an operating system: the names of threads.h for one thread, no clock and no processes.
// Chosen where the compiler knows none (`arm-none-eabi-gcc`, clang for `thumbv7em-none-eabihf`).
#ifndef BURIN_BARE_H
#define BURIN_BARE_H
#include "float_mode.h"
#include "program.h"

typedef struct burin_barrier {
    int threads;
} burin_barrier;

typedef struct burin_crew {
    int parts;
} burin_crew;

typedef struct burin_pool {
    burin_barrier barrier;
    int threads;
} burin_pool;

enum { BURIN_MAX_THREADS = 1 };

static inline int burin_process(void) { return 0; }
static inline void burin_barrier_wait(burin_barrier *b, int part) {
    (void)b;
    (void)part;
}
static inline int burin_default_threads(void) { return 1; }
static inline burin_crew burin_crew_for(int parts) { return (burin_crew){parts}; }
static inline size_t burin_pool_bytes(int parts) { return (size_t)parts * 64; }

static inline bool burin_pool_start(burin_pool *pool, burin_crew crew) {
    *pool = (burin_pool){{1}, 1};
    return crew.parts == 1;
}

static inline void burin_pool_stop(burin_pool *pool) { (void)pool; }

static inline void burin_pool_run(burin_pool *pool, void (*work)(void *, int), void *argument) {
    float_mode saved = float_mode_begin();
    (void)pool;
    work(argument, 0);
    float_mode_restore(saved);
}
#endif
