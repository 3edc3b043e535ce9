#include "util/diag.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "util/files.h"
#include "util/text.h"

enum { MAX_OUTPUTS = 16, MAX_ERRORS = 20, MAX_EDIT_NAME = 64, MAX_EDITS = 3 };

static struct {
    int errors;
    char *outputs[MAX_OUTPUTS];
    jmp_buf guard;
    bool guarded;
} diag;

static pthread_mutex_t held = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void diag_hold(void) { pthread_mutex_lock(&held); }

void diag_release(void) { pthread_mutex_unlock(&held); }

typedef struct {
    const char *label, *color;
} Severity;

static const Severity SEVERITY_ERROR = {"error", "\033[1;31m"},
                      SEVERITY_WARNING = {"warning", "\033[1;35m"},
                      SEVERITY_NOTE = {"note", "\033[1;36m"};

static bool use_color(void) { return isatty(STDERR_FILENO) && !getenv("NO_COLOR"); }

typedef struct {
    size_t line, column, begin, end;  // 1-based line and column; byte range of the line
} Place;

static Place place_of(Loc at) {
    const char *text = at.source->text;
    size_t offset = at.offset < at.source->size ? at.offset : at.source->size;
    Place p = {.line = 1};
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') p.line++, p.begin = i + 1;
    p.column = offset - p.begin + 1;
    for (p.end = p.begin; p.end < at.source->size && text[p.end] != '\n';) p.end++;
    return p;
}

const char *loc_text(Loc at) {
    static char buffer[512];
    buffer[0] = 0;
    if (!at.source) return buffer;
    if (at.source->text) {
        Place p = place_of(at);
        snprintf(buffer, sizeof buffer, "%s:%zu:%zu", at.source->name, p.line, p.column);
    } else if (at.source->size == SOURCE_OF_LINES) {
        snprintf(buffer, sizeof buffer, "%s:%u:%u", at.source->name, at.offset >> 12,
                 at.offset & 4095);
    } else if (at.scope) {
        snprintf(buffer, sizeof buffer, "%s, node %u (%s)", at.source->name, at.offset, at.scope);
    } else {
        snprintf(buffer, sizeof buffer, "%s", at.source->name);
    }
    return buffer;
}

static bool starts_character(char c) { return (c & 0xc0) != 0x80; }

// As wide as it is in the file: one column a character.
static void print_escaped(const char *text, size_t n) {
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        length = text[i] == '\t' ? 1 : burin_printable(text + i, n - i);
        if (length)
            fwrite(text + i, 1, length, stderr);
        else if (starts_character(text[i]))
            fputc('?', stderr);
    }
    fputc('\n', stderr);
}

// Long lines (a JSON file of one line) are cut around the place.
static void print_excerpt(Loc at) {
    enum { MOST = 120, LEAD = 60 };
    if (!at.source || !at.source->text) return;
    Place p = place_of(at);
    size_t offset = p.begin + p.column - 1;
    if (p.end - p.begin > MOST) {
        if (p.column > LEAD) p.begin = offset - LEAD;
        if (p.end - p.begin > MOST) p.end = p.begin + MOST;
    }
    const char *line = at.source->text + p.begin;
    int width = fprintf(stderr, "%5zu | ", p.line);
    print_escaped(line, p.end - p.begin);
    fprintf(stderr, "%*s", width, "| ");
    for (size_t i = 0; i < offset - p.begin; i++)
        if (starts_character(line[i])) fputc(line[i] == '\t' ? '\t' : ' ', stderr);
    size_t room = p.end > offset ? p.end - offset : 0, length = at.length < room ? at.length : room;
    fputc('^', stderr);
    for (size_t i = 1; i < length; i++) fputc('~', stderr);
    fputc('\n', stderr);
}

// Each line indented.
static void print_further(char *text) {
    for (char *line; (line = strsep(&text, "\n"));) fprintf(stderr, "  %s\n", line);
}

static void report(Severity s, Loc at, const char *format, va_list args) {
    Text text = {0}, where = {0};
    diag_hold();  // not while it writes, which may end the run by SIGPIPE
    diag_release();
    text_vspell(&text, format, args);
    char *rest = strchr(text.data, '\n');
    if (rest) *rest++ = 0;
    text_spell(&where, "%s", loc_text(at));
    bool color = use_color();
    fflush(stdout);  // earlier output comes first
    fprintf(stderr, "%s: %s%s:%s %s\n", where.length ? where.data : "burin", color ? s.color : "",
            s.label, color ? "\033[0m" : "", text.data);
    print_excerpt(at);
    print_further(rest);
    text_free(&text);
    text_free(&where);
}

void diag_error(Loc at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(SEVERITY_ERROR, at, format, args);
    va_end(args);
    if (++diag.errors >= MAX_ERRORS) {
        fprintf(stderr, "burin: too many errors, stopping here\n");
        diag_stop();
    }
}

void diag_warning(Loc at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(SEVERITY_WARNING, at, format, args);
    va_end(args);
}

void diag_note(Loc at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(SEVERITY_NOTE, at, format, args);
    va_end(args);
}

void diag_fatal(Loc at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report(SEVERITY_ERROR, at, format, args);
    va_end(args);
    diag_stop();
}

// A thread that does not wait yet may still write a file into a folder that is being emptied.
static void remove_output(const char *path) {
    enum { TRIES = 50 };
    const struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < TRIES && !remove_tree(path); i++) nanosleep(&pause, NULL);
}

void diag_remove_outputs(void) {
    diag_hold();
    for (int i = 0; i < MAX_OUTPUTS; i++) {
        if (!diag.outputs[i]) continue;
        remove_output(diag.outputs[i]);
        free(diag.outputs[i]);
        diag.outputs[i] = NULL;
    }
    diag_release();
}

void diag_stop(void) {
    diag_hold();
    diag_remove_outputs();
    diag.errors = 0;
    diag_release();
    if (diag.guarded) longjmp(diag.guard, 1);
    exit(1);
}

void diag_stop_if_errors(void) {
    if (diag.errors) diag_stop();
}

void diag_remove_on_stop(const char *path) {
    int i = 0;
    diag_hold();
    while (i < MAX_OUTPUTS && diag.outputs[i]) i++;
    if (i < MAX_OUTPUTS) diag.outputs[i] = strdup(path);
    diag_release();
}

void diag_keep(const char *path) {
    diag_hold();
    for (int i = 0; i < MAX_OUTPUTS; i++)
        if (diag.outputs[i] && !strcmp(diag.outputs[i], path)) {
            free(diag.outputs[i]);
            diag.outputs[i] = NULL;
        }
    diag_release();
}

jmp_buf *diag_guard(void) {
    diag.guarded = true;
    return &diag.guard;
}

void diag_unguard(void) { diag.guarded = false; }

static size_t min3(size_t a, size_t b, size_t c) {
    return a < b ? (a < c ? a : c) : (b < c ? b : c);
}

// Letters put in, left out, exchanged for others, or with their neighbour.
static size_t edit_distance(const char *a, const char *b) {
    size_t n = strlen(b), rows[3][MAX_EDIT_NAME + 1], *earlier = rows[0], *before = rows[1],
           *row = rows[2];
    if (n > MAX_EDIT_NAME || strlen(a) > MAX_EDIT_NAME) return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) before[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            row[j] = min3(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && earlier[j - 2] + 1 < row[j]) row[j] = earlier[j - 2] + 1;
        }
        size_t *oldest = earlier;
        earlier = before, before = row, row = oldest;
    }
    return before[n];
}

// The longest candidate that begins the name, or else the shortest one that the name begins
static const char *name_by_prefix(const char *name, const char *const *candidates, size_t n) {
    enum { LEAST = 3 };
    const char *inside = NULL, *longer = NULL;
    size_t length = strlen(name);
    for (size_t i = 0; i < n && length >= LEAST; i++) {
        size_t m = strlen(candidates[i]);
        if (m >= LEAST && !strncmp(name, candidates[i], m) && (!inside || m > strlen(inside)))
            inside = candidates[i];
        if (!strncmp(name, candidates[i], length) && (!longer || m < strlen(longer)))
            longer = candidates[i];
    }
    return inside ? inside : longer;
}

const char *nearest_name(const char *name, const char *const *candidates, size_t n) {
    const char *best = NULL, *prefix = name_by_prefix(name, candidates, n);
    size_t length = strlen(name), limit = length < 4 || prefix     ? 1
                                          : length / 3 < MAX_EDITS ? length / 3
                                                                   : MAX_EDITS;
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(name, candidates[i]);
        if (d <= limit) best = candidates[i], limit = d ? d - 1 : 0;
        if (!d) break;
    }
    return best ? best : prefix;
}

const char *name_list(const char *const *names, size_t n) {
    static char list[1024];
    size_t length = 0;
    for (size_t i = 0; i < n && length < sizeof list; i++)
        length +=
            (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
    return list;
}
