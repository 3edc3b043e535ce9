// --roofline
#ifndef BURIN_ROOFLINE_H
#define BURIN_ROOFLINE_H
#include "text/run.h"

void burin_show_roofline(burin_run *, const int32_t *tokens,
                         int32_t n);  // of a step of one row, and of some of n
#endif
