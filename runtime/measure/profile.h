// --profile: the time of each kernel. `file`: "" or the file of a trace.
#ifndef BURIN_MEASURE_PROFILE_H
#define BURIN_MEASURE_PROFILE_H
#include "engine/profile.h"
#include "engine/program.h"

void burin_profile_open(burin_profile *, const char *file, int threads);
void burin_profile_close(burin_profile *, const burin_model *, const char *file,
                         int threads);  // prints it
void burin_counters_open(void);         // of the CPU, where they may be read: of threads made later
#endif
