#include "program/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/profile.h"
#include "program/output.h"

static struct {
    uint64_t started, shown;  // nanoseconds; 0: not yet
    bool drawn;
    const char *things;
    volatile int64_t done, kept;  // kept: -1 for nothing that counts
} progress_line = {.kept = -1};

static const uint64_t progress_second = 1000000000;

// On a terminal that results go to as well, a line would stand between them.
static bool can_redraw(void) { return isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO); }

static void draw_bar(const char *things, int64_t done, int64_t total, const char *more) {
    char line[160];
    double spent = (double)(progress_line.shown - progress_line.started) / 1e9;
    int n = snprintf(line, sizeof line, "\r\x1b[K%lld", (long long)done);
    if (total) n += snprintf(line + n, sizeof line - (size_t)n, " of %lld", (long long)total);
    n += snprintf(line + n, sizeof line - (size_t)n, " %s%.60s", things, more);
    if (total && done)
        n += snprintf(line + n, sizeof line - (size_t)n, ", %.0f s left",
                      spent * (double)(total - done) / (double)done);
    burin_write_all(STDERR_FILENO, line, (size_t)n);
    progress_line.drawn = true;
}

void burin_progress(const char *things, int64_t done, int64_t total, const char *more) {
    uint64_t now = burin_nanoseconds();
    bool redraw = can_redraw();
    progress_line.things = things, progress_line.done = done;
    if (!progress_line.started) progress_line.started = progress_line.shown = now;
    if (now - progress_line.started < 2 * progress_second ||
        now - progress_line.shown < (redraw ? progress_second / 5 : 60 * progress_second))
        return;
    progress_line.shown = now;
    if (redraw)
        draw_bar(things, done, total, more);
    else if (total)
        burin_note("%lld of %lld %s%s", (long long)done, (long long)total, things, more);
    else
        burin_note("%lld %s%s", (long long)done, things, more);
}

void burin_progress_end(void) {
    if (progress_line.drawn) burin_write_all(STDERR_FILENO, "\r\x1b[K", 4);
    progress_line.started = 0, progress_line.done = 0, progress_line.kept = -1;
    progress_line.drawn = false;
}

void burin_progress_kept(int64_t results) { progress_line.kept = results; }

// Appends what fits: a signal handler may not call snprintf.
static size_t add_words(char *text, size_t n, const char *words) {
    while (*words && n < BURIN_PROGRESS_TEXT) text[n++] = *words++;
    return n;
}

static size_t add_count(char *text, size_t n, int64_t count) {
    char digits[24], *at = digits + sizeof digits;
    *--at = 0;
    do *--at = (char)('0' + count % 10);
    while (count /= 10);
    return add_words(text, n, at);
}

size_t burin_progress_interrupted(char text[BURIN_PROGRESS_TEXT]) {
    if (!progress_line.done) return 0;
    size_t n = add_count(text, add_words(text, 0, " after "), progress_line.done);
    n = add_words(text, add_words(text, n, " "), progress_line.things);
    if (progress_line.kept < 0) return n;
    n = add_count(text, add_words(text, n, "; the results of "), progress_line.kept);
    return add_words(text, n, " are kept");
}
