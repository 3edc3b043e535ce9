#include "escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

// ---- characters ----

static uint32_t spell_code_point(const char *s, size_t n) {
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)*s & first[n];
    for (size_t i = 1; i < n; i++) code = code << 6 | ((unsigned char)s[i] & 0x3f);
    return code;
}

// C0, DEL and C1; marks of direction, separators of lines and paragraphs, embeddings and isolates;
// the byte order mark.
static bool commands_terminal(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

size_t burin_printable(const char *s, size_t n) {
    burin_utf8 reader = {0};
    char out[16];
    for (size_t i = 0; i < n && i < 4; i++) {
        size_t length = burin_utf8_add(&reader, s + i, 1, out);
        if (length)
            return length == i + 1 && !memcmp(out, s, length) &&
                           !commands_terminal(spell_code_point(s, length))
                       ? length
                       : 0;
    }
    return 0;
}

// ---- bytes escaped so far ----

typedef struct spelling {
    char *to;
    size_t room, n;
} spelling;

static void spell_put(spelling *w, const char *s, size_t n) {
    if (w->n + 1 < w->room)
        memcpy(w->to + w->n, s, n < w->room - 1 - w->n ? n : w->room - 1 - w->n);
    w->n += n;
}

static void spell_byte(spelling *w, unsigned char byte) {
    static const char names[] = "\n\t\r", letters[] = "ntr";
    char text[8];
    const char *name = byte ? strchr(names, byte) : NULL;
    int n = name ? snprintf(text, sizeof text, "\\%c", letters[name - names])
                 : snprintf(text, sizeof text, "\\x%02x", byte);
    spell_put(w, text, (size_t)n);
}

static void spell_text(spelling *w, const char *s, size_t n) {
    for (size_t length; n; s += length, n -= length) {
        length = burin_printable(s, n);
        if (length)
            spell_put(w, s, length);
        else
            spell_byte(w, (unsigned char)*s), length = 1;
    }
}

static size_t spell_end(const spelling *w) {
    if (w->room) w->to[w->n < w->room ? w->n : w->room - 1] = 0;
    return w->n;
}

size_t burin_escape(char *out, size_t room, const char *s, size_t n) {
    spelling w = {out, room, 0};
    spell_text(&w, s, n);
    return spell_end(&w);
}

// ---- formats ----

enum { MOST_SPEC = 48, MOST_NUMBER = 400 };

typedef struct spelled_arguments {
    va_list list;
} spelled_arguments;

// One conversion of a format: its flags, width and precision with their numbers, without size and
// letter.
typedef struct spell_directive {
    char spec[MOST_SPEC];
    char size[4], letter;
} spell_directive;

static const char *read_directive(const char *at, spell_directive *c, spelled_arguments *a) {
    size_t n = 0, size = 0;
    *c = (spell_directive){0};
    for (c->spec[n++] = *at++; *at && strchr("-+ #0123456789.*", *at) && n < MOST_SPEC - 16; at++) {
        if (*at == '*')
            n += (size_t)snprintf(c->spec + n, MOST_SPEC - n, "%d", va_arg(a->list, int));
        else
            c->spec[n++] = *at;
    }
    while (*at && strchr("hljzt", *at) && size + 1 < sizeof c->size) c->size[size++] = *at++;
    c->letter = *at;
    return *at ? at + 1 : at;
}

static void spell_integer(spelling *w, const spell_directive *c, spelled_arguments *a) {
    char spec[MOST_SPEC + 4], text[MOST_NUMBER];
    bool wide = *c->size == 'l' || *c->size == 'j' || *c->size == 'z' || *c->size == 't',
         with_sign = strchr("di", c->letter);
    long long value;
    if (!strcmp(c->size, "ll") || *c->size == 'j')
        value = va_arg(a->list, long long);
    else if (wide)
        value = with_sign ? va_arg(a->list, long) : (long long)va_arg(a->list, unsigned long);
    else
        value = with_sign ? va_arg(a->list, int) : (long long)va_arg(a->list, unsigned);
    snprintf(spec, sizeof spec, "%sll%c", c->spec, c->letter);
    int n = snprintf(text, sizeof text, spec, value);
    spell_put(w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void spell_real(spelling *w, const spell_directive *c, spelled_arguments *a) {
    char spec[MOST_SPEC + 4], text[MOST_NUMBER];
    snprintf(spec, sizeof spec, "%s%c", c->spec, c->letter);
    int n = snprintf(text, sizeof text, spec, va_arg(a->list, double));
    spell_put(w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void spell_blanks(spelling *w, size_t width, size_t n) {
    for (; n < width; n++) spell_put(w, " ", 1);
}

static void spell_argument(spelling *w, const spell_directive *c, spelled_arguments *a) {
    const char *s = va_arg(a->list, const char *), *point = strchr(c->spec, '.');
    bool left = c->spec[1] == '-';
    if (!s) s = "(null)";
    size_t n = point ? strnlen(s, (size_t)atoi(point + 1)) : strlen(s),
           width = (size_t)atoi(c->spec + 1 + left);
    if (left && !c->spec[2]) return spell_put(w, s, n);
    spelling counted = {0};
    spell_text(&counted, s, n);
    if (!left) spell_blanks(w, width, counted.n);
    spell_text(w, s, n);
    if (left) spell_blanks(w, width, counted.n);
}

static void spell_conversion(spelling *w, const spell_directive *c, spelled_arguments *a) {
    if (c->letter == 's') {
        spell_argument(w, c, a);
    } else if (c->letter == 'c') {
        char byte = (char)va_arg(a->list, int);
        spell_text(w, &byte, 1);
    } else if (strchr("diuxXo", c->letter)) {
        spell_integer(w, c, a);
    } else if (strchr("fFeEgGaA", c->letter)) {
        spell_real(w, c, a);
    } else {
        spell_put(w, &c->letter, 1);
    }
}

int burin_vformat(char *out, size_t room, const char *format, va_list list) {
    spelling w = {out, room, 0};
    spelled_arguments a;
    va_copy(a.list, list);
    while (*format) {
        size_t plain = strcspn(format, "%");
        spell_put(&w, format, plain);
        format += plain;
        if (!*format) break;
        spell_directive c;
        format = read_directive(format, &c, &a);
        if (c.letter) spell_conversion(&w, &c, &a);
    }
    va_end(a.list);
    return (int)spell_end(&w);
}

int burin_format(char *out, size_t room, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int n = burin_vformat(out, room, format, list);
    va_end(list);
    return n;
}
