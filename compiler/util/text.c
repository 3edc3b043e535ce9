#include "util/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "util/diag.h"
#include "util/files.h"

static void reserve(Text *t, size_t more) {
    if (t->length + more + 1 <= t->capacity) return;
    size_t capacity = t->capacity ? t->capacity : 256;
    while (capacity < t->length + more + 1) capacity *= 2;
    char *data = realloc(t->data, capacity);
    if (!data) diag_fatal(NO_LOC, "out of memory (a text of %zu bytes)", capacity);
    t->data = data;
    t->capacity = capacity;
}

void text_append(Text *t, const char *bytes, size_t n) {
    reserve(t, n);
    if (n) memcpy(t->data + t->length, bytes, n);
    t->data[t->length += n] = 0;
}

void text_vadd(Text *t, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    reserve(t, (size_t)n);
    vsnprintf(t->data + t->length, (size_t)n + 1, format, args);
    t->length += (size_t)n;
}

void text_add(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vadd(t, format, args);
    va_end(args);
}

void text_vspell(Text *t, const char *format, va_list args) {
    size_t room = (size_t)burin_vformat(NULL, 0, format, args) + 1;
    reserve(t, room);
    burin_vformat(t->data + t->length, room, format, args);
    t->length += room - 1;
}

void text_spell(Text *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vspell(t, format, args);
    va_end(args);
}

void print_spelled(const char *format, ...) {
    Text t = {0};
    va_list args;
    va_start(args, format);
    text_vspell(&t, format, args);
    va_end(args);
    fwrite(t.data, 1, t.length, stdout);
    text_free(&t);
}

void text_free(Text *t) {
    free(t->data);
    *t = (Text){0};
}

const char *skip_blanks(const char *text) { return text + strspn(text, " \t"); }

char *text_lower(char *text) {
    for (char *c = text; *c; c++) *c = (char)tolower((unsigned char)*c);
    return text;
}

bool text_ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

const char *text_number(const char *text, unsigned *number) {
    const char *at = text;
    for (*number = 0; *at >= '0' && *at <= '9' && at - text < 9; at++)
        *number = *number * 10 + (unsigned)(*at - '0');
    return at == text || (*text == '0' && at - text > 1) ? NULL : at;
}

// Offsets into texts have 32 bits.
enum { MOST_TEXT = 1 << 30 };

static bool read_whole(int fd, char *data, uint64_t size, uint64_t *got) {
    for (*got = 0; *got < size;) {
        ssize_t n = read(fd, data + *got, size - *got);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (!n) break;
        *got += (uint64_t)n;
    }
    return true;
}

char *read_text_file(const char *path, size_t *size) {
    uint64_t bytes, got;
    int fd = open_input(path, &bytes);
    if (bytes > MOST_TEXT)
        diag_fatal(NO_LOC, "%s has %" PRIu64 " bytes: too many for a text", path, bytes);
    char *data = malloc(bytes + 1);
    if (!data) diag_fatal(NO_LOC, "out of memory (a text of %" PRIu64 " bytes)", bytes);
    bool failed = !read_whole(fd, data, bytes, &got);
    int error = errno;
    close(fd);
    if (failed) diag_fatal(NO_LOC, "cannot read %s: %s", path, strerror(error));
    data[got] = 0;
    if (size) *size = got;
    return data;
}

static void free_text(void *text) { free(text); }

Source *read_source(Arena *arena, const char *path) {
    Source *s = ARENA_NEW(arena, Source);
    char *text = read_text_file(path, &s->size);
    arena_at_free(arena, free_text, text);
    s->name = arena_strdup(arena, path);
    s->text = text;
    return s;
}

void write_file(const char *path, const void *data, size_t bytes) {
    int fd = create_output(path, O_WRONLY);
    if (fd >= 0) diag_remove_on_stop(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f))
        diag_fatal(NO_LOC, "cannot write %s: %s", path, strerror(errno));
    diag_keep(path);
}
