// The sampler that the command line asks for.
#ifndef BURIN_SAMPLING_H
#define BURIN_SAMPLING_H
#include "sampler/sampler.h"
#include "text/run.h"

uint64_t burin_random_seed_now(void);  // below 2^53
// The sampler that the command line asks for; the seed is random when none is given.
void burin_run_open_sampler(const burin_run *, burin_sampler *);
void burin_run_restart_sampler(const burin_run *, burin_sampler *,
                               uint64_t seed);  // as if it were opened with this seed
void burin_run_close_sampler(burin_sampler *);
#endif
