// The words of the text form of graphs: blanks and comments, names, numbers, strings, and the
// message of the first mistake.
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/parse.h"

enum { MAX_NAME = 512 };

Loc parse_here(const Parser *p, size_t length) {
    return (Loc){.source = p->source,
                 .offset = (uint32_t)(p->at - p->source->text),
                 .length = (uint32_t)length};
}

size_t parse_token_length(const Parser *p) {
    size_t n = *p->at == '%';
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || p->at[n] == '.') n++;
    return n ? n : 1;
}

bool parse_fail(Parser *p, const char *format, ...) {
    if (p->failed) return false;
    p->failed = true;
    va_list args;
    va_start(args, format);
    const char *message = arena_vmessage(p->scratch, format, args);
    va_end(args);
    diag_error(parse_here(p, parse_token_length(p)), "%-s", message);
    return false;
}

void parse_skip(Parser *p) {
    for (;;) {
        while (isspace((unsigned char)*p->at)) p->at++;
        if (p->at[0] != '/' || p->at[1] != '/') return;
        while (*p->at && *p->at != '\n') p->at++;
    }
}

bool parse_peek(Parser *p, const char *word) {
    parse_skip(p);
    return !strncmp(p->at, word, strlen(word));
}

bool parse_accept(Parser *p, const char *word) {
    if (p->failed || !parse_peek(p, word)) return false;
    p->at += strlen(word);
    return true;
}

bool parse_expect(Parser *p, const char *word) {
    return parse_accept(p, word) || parse_fail(p, "expected \"%s\"", word);
}

// A copy in the scratch arena.
const char *parse_word(Parser *p, const char *what) {
    parse_skip(p);
    size_t n = 0;
    while (isalnum((unsigned char)p->at[n]) || p->at[n] == '_' || p->at[n] == '.') n++;
    if (!n || n >= MAX_NAME) return parse_fail(p, "expected %s", what), NULL;
    const char *word = arena_strndup(p->scratch, p->at, n);
    p->at += n;
    return word;
}

bool parse_int(Parser *p, int64_t *value) {
    parse_skip(p);
    char *end;
    errno = 0;
    *value = strtoll(p->at, &end, 0);
    if (end == p->at || errno == ERANGE) return parse_fail(p, "expected an integer of 64 bits");
    p->at = end;
    return true;
}

bool parse_unsigned(Parser *p, int base, uint64_t *value) {
    parse_skip(p);
    char *end;
    errno = 0;
    *value = strtoull(p->at, &end, base);
    bool good = end != p->at && *p->at != '-' && errno != ERANGE;
    if (!good)
        return parse_fail(p, base == 16 ? "expected a hash: 0x and 16 hexadecimal digits"
                                        : "expected a number of 64 bits");
    p->at = end;
    return true;
}

bool parse_float(Parser *p, double *value) {
    parse_skip(p);
    char *end;
    *value = strtod(p->at, &end);
    if (end == p->at) return parse_fail(p, "expected a number");
    p->at = end;
    return true;
}

static int hex_digit(char c) {
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? tolower(c) - 'a' + 10
                                        : -1;
}

const char *parse_string(Parser *p) {
    if (!parse_expect(p, "\"")) return NULL;
    Text t = {0};
    text_append(&t, "", 0);
    for (; *p->at != '"'; p->at++) {
        char c = *p->at;
        if (!c || c == '\n') {
            text_free(&t);
            return parse_fail(p, "this string has no closing quote"), NULL;
        }
        if (c == '\\' && p->at[1]) {
            c = *++p->at;
            int high = c == 'x' ? hex_digit(p->at[1]) : -1,
                low = high >= 0 ? hex_digit(p->at[2]) : -1;
            if (low >= 0) c = (char)(16 * high + low), p->at += 2;
        }
        text_append(&t, &c, 1);
    }
    p->at++;
    const char *s = arena_strdup(p->scratch, t.data);
    text_free(&t);
    return s;
}
