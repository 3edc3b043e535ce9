// --perplexity FILE
#ifndef BURIN_PERPLEXITY_H
#define BURIN_PERPLEXITY_H
#include "text/run.h"

int burin_perplexity(burin_run *);  // returns the exit status
#endif
