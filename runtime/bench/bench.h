// --bench
#ifndef BURIN_BENCH_H
#define BURIN_BENCH_H
#include "text/run.h"

int burin_bench(burin_run *);           // returns the exit status
void burin_bench_encoder(burin_run *);  // of an encoder-decoder
#endif
