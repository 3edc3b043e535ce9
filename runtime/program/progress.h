// What long work tells while it goes: a line that is redrawn on a terminal, a line a minute
// elsewhere; nothing in the first two seconds.
#ifndef BURIN_PROGRESS_H
#define BURIN_PROGRESS_H
#include <stddef.h>
#include <stdint.h>

// `done` of `total` (0: unknown) of these things: "lines". `more` follows, or "".
void burin_progress(const char *things, int64_t done, int64_t total, const char *more);
void burin_progress_end(void);  // clears the line
// The number of results that an interruption leaves: printed, or in a file that is whole.
void burin_progress_kept(int64_t results);
// " after 497 lines; the results of 480 are kept" for a signal handler; "" where nothing is
// counted.
enum { BURIN_PROGRESS_TEXT = 128 };
size_t burin_progress_interrupted(char text[BURIN_PROGRESS_TEXT]);
#endif
