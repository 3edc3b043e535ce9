// burin check. Each returns the exit status.
#ifndef BURIN_DEBUG_CHECK_H
#define BURIN_DEBUG_CHECK_H
#include "build/build.h"

int check(Build *);          // every kernel against the reference interpreter
int check_against(Build *);  // --against: values recorded elsewhere
int check_bisect(Build *);   // --bisect: the pass that changes the outputs
#endif
