// Output: whole characters of generated text, messages, and closed pipes.
#include "program/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"

const char *burin_program_name = "program";

// Non-blocking: a pipe without a reader would block here. Regular files are unaffected.
int burin_create_file(const char *path, const char **why) {
    struct stat status;
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666);
    *why = NULL;
    if (file < 0)
        *why = errno == ELOOP   ? "it is a link, and those are not followed"
               : errno == ENXIO ? "it is no file"
                                : strerror(errno);
    else if (fstat(file, &status) || !S_ISREG(status.st_mode))
        *why = "it is no file";
    else if (ftruncate(file, 0))
        *why = strerror(errno);
    if (!*why) return file;
    if (file >= 0) close(file);
    return -1;
}

const char *burin_cannot_create(const char *path) {
    struct stat status;
    char folder[4096];
    if (!stat(path, &status))
        return S_ISDIR(status.st_mode)    ? strerror(EISDIR)
               : !S_ISREG(status.st_mode) ? "it is no file"
               : access(path, W_OK)       ? strerror(errno)
                                          : NULL;
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) + 1 : 1;
    if (n >= sizeof folder) return strerror(ENAMETOOLONG);
    memcpy(folder, slash ? path : ".", n);
    folder[n] = 0;
    return access(folder, W_OK | X_OK) ? strerror(errno) : NULL;
}

bool burin_ends_with(const char *path, const char *suffix) {
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && !strcmp(path + n - m, suffix);
}

bool burin_write_all(int file, const void *data, size_t bytes) {
    const char *p = data;
    while (bytes) {
        ssize_t n = write(file, p, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

static struct {
    char bytes[1 << 16];
    size_t n;
} held_out;

static burin_capture *capture;

burin_capture *burin_capture_into(burin_capture *c) {
    burin_capture *before = capture;
    capture = c;
    return before;
}

void burin_capture_add(burin_capture *c, const void *data, size_t bytes) {
    if (bytes > c->capacity - c->n) {
        char *larger = realloc(c->data, c->capacity = 2 * c->capacity + bytes);
        if (!larger)
            burin_stop(BURIN_USER_MISTAKE, "not enough memory for what is printed: %zu bytes",
                       c->capacity);
        c->data = larger;
    }
    if (bytes) memcpy(c->data + c->n, data, bytes);
    c->n += bytes;
}

// A reader that has gone away (`program | head`) wants no message.
static void write_out(const char *text, size_t bytes) {
    if (burin_write_all(STDOUT_FILENO, text, bytes)) return;
    if (errno == EPIPE) _exit(BURIN_USER_MISTAKE);
    burin_stop(BURIN_USER_MISTAKE, "cannot write to standard output: %s", strerror(errno));
}

void burin_flush(void) {
    size_t held = held_out.n;
    held_out.n = 0;  // what cannot be written is not tried again on the way out
    if (held) write_out(held_out.bytes, held);
}

void burin_flush_interrupted(void) { burin_write_all(STDOUT_FILENO, held_out.bytes, held_out.n); }

void burin_show(void) {
    static int file = -1;
    struct stat status;
    if (file < 0) file = !fstat(STDOUT_FILENO, &status) && S_ISREG(status.st_mode);
    if (!file) burin_flush();
}

void burin_print_bytes(const char *text, size_t bytes) {
    if (capture) {
        burin_capture_add(capture, text, bytes);
        return;
    }
    if (bytes > sizeof held_out.bytes - held_out.n) burin_flush();
    if (bytes > sizeof held_out.bytes) {
        write_out(text, bytes);
        return;
    }
    memcpy(held_out.bytes + held_out.n, text, bytes);
    held_out.n += bytes;
}

static bool is_control(const char *c, size_t n) {
    unsigned char first = (unsigned char)*c;
    if (n == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f;
    return first == 0xc2 && (unsigned char)c[1] < 0xa0;  // C1
}

void burin_print_text(const char *text, size_t bytes) {
    static int terminal = -1;
    if (terminal < 0) terminal = isatty(STDOUT_FILENO);
    if (!terminal || capture) return burin_print_bytes(text, bytes);
    for (size_t n; bytes; text += n, bytes -= n) {
        char spelled[16];
        n = burin_utf8_length((unsigned char)*text) == 2 && bytes > 1 ? 2 : 1;
        if (is_control(text, n))
            burin_print_bytes(spelled, burin_escape(spelled, sizeof spelled, text, n));
        else
            burin_print_bytes(text, n);
    }
}

void burin_print(const char *format, ...) {
    char line[4096];
    va_list arguments;
    va_start(arguments, format);
    int n = burin_vformat(line, sizeof line, format, arguments);
    va_end(arguments);
    if (n > 0) burin_print_bytes(line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static void message(const char *format, va_list arguments) {
    char line[4096];
    burin_flush();
    int at = burin_format(line, sizeof line / 2, "%s: ", burin_program_name);
    if (at < 0 || at >= (int)sizeof line / 2) at = 0;
    int n = burin_vformat(line + at, sizeof line - (size_t)at - 1, format, arguments);
    size_t length = strlen(line);
    if (n < 0) return;
    line[length] = '\n';
    burin_write_all(STDERR_FILENO, line, length + 1);
}

bool burin_notes_are_off;

void burin_note(const char *format, ...) {
    va_list arguments;
    if (burin_notes_are_off) return;
    va_start(arguments, format);
    message(format, arguments);
    va_end(arguments);
}

void burin_stop(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    message(format, arguments);
    va_end(arguments);
    exit(status);
}

// ---- JSON ----

// A whole character as JSON has it in a string.
static void print_json_character(const char *character, size_t n) {
    unsigned char first = (unsigned char)*character;
    if (first == '"' || first == '\\') burin_print_bytes("\\", 1);
    if (first == '\n')
        burin_print_bytes("\\n", 2);
    else if (first < 0x20)
        burin_print("\\u%04x", first);
    else
        burin_print_bytes(character, n);
}

void burin_print_json_inside(const char *text, size_t bytes) {
    burin_utf8 u = {0};
    char out[8];
    size_t n;
    for (size_t i = 0; i < bytes; i++) {
        n = burin_utf8_add(&u, text + i, 1, out);
        for (size_t at = 0, length; at < n; at += length) {
            length = (size_t)burin_utf8_length((unsigned char)out[at]);
            print_json_character(out + at, length);
        }
    }
    n = burin_utf8_end(&u, out);
    burin_print_bytes(out, n);
}

void burin_print_json_string(const char *text, size_t bytes) {
    burin_print_bytes("\"", 1);
    burin_print_json_inside(text, bytes);
    burin_print_bytes("\"", 1);
}
