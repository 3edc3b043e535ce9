// What long work tells while it goes: a line that is redrawn on a terminal, a line a minute
// elsewhere; nothing in the first two seconds.
#ifndef BURIN_PROGRESS_H
#define BURIN_PROGRESS_H
#include <stdint.h>

// `done` of `total` (0: unknown) of these things: "lines". `more` follows, or "".
void burin_progress(const char *things, int64_t done, int64_t total, const char *more);
void burin_progress_end(void);  // clears the line
#endif
