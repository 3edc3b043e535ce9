#include "program/wrap.h"

#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

#include "base/utf8.h"
#include "program/output.h"

int burin_terminal_width(void) {
#ifdef _WIN32
    return 0;
#else
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
#endif
}

// Bytes of two and three are taken for one column below U+1100, where scripts of wide characters
// begin; combining marks and control characters have another width, too.
static bool is_one_column(const char *c, size_t n) {
    unsigned char first = (unsigned char)*c, second = n > 1 ? (unsigned char)c[1] : 0;
    if (n == 1) return first >= 0x20 && first < 0x7f;
    if (n == 2) return first > 0xc2 || second >= 0xa0 ? first != 0xcc && first != 0xcd : false;
    return n == 3 && ((first == 0xe0 && second >= 0xa0) || (first == 0xe2 && second == 0x80));
}

static void end_wrapped_word(burin_wrap *w) { w->word = 0, w->n = 0; }

static void begin_row(burin_wrap *w) {
    w->column = 0, w->unknown = false;
    end_wrapped_word(w);
}

// The cursor is still in the last column after it was filled.
static void move_wrapped_word(burin_wrap *w) {
    if (w->word > 1) burin_print("\x1b[%dD", w->word - 1);
    burin_print_bytes("\x1b[K\n", 4);
    burin_print_bytes(w->text, w->n);
    w->column = w->word;
}

static void wrap_character(burin_wrap *w, const char *c, size_t n) {
    bool at_edge = w->column >= w->width;
    if (*c == ' ' && at_edge) {
        burin_print_bytes("\n", 1);
        begin_row(w);
        return;
    }
    if (at_edge && (w->column == w->word || w->n + n > sizeof w->text)) {
        w->column = 0;  // a word as long as the line: the terminal breaks it
        end_wrapped_word(w);
    } else if (at_edge) {
        move_wrapped_word(w);
    }
    burin_print_bytes(c, n);
    w->column++;
    if (*c == ' ') {
        end_wrapped_word(w);
        return;
    }
    w->word++;
    if (w->n + n > sizeof w->text) return;
    memcpy(w->text + w->n, c, n);
    w->n += n;
}

void burin_wrap_text(burin_wrap *w, const char *text, size_t bytes) {
    for (size_t n; bytes; text += n, bytes -= n) {
        n = burin_utf8_length((unsigned char)*text);
        if (!n || n > bytes) n = 1;
        if (*text == '\n') {
            burin_print_bytes("\n", 1);
            begin_row(w);
            continue;
        }
        w->unknown |= !is_one_column(text, n);
        if (w->unknown || w->width < 8)
            burin_print_text(text, n);
        else
            wrap_character(w, text, n);
    }
}
