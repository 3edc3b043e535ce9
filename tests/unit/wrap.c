// Words at the edge of a terminal, on a terminal of arrays: whole, for any width and any pieces.
#include "program/wrap.h"

#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "unit.h"

enum { LINES = 200, COLUMNS = 128 };
static char screen[LINES][COLUMNS + 1];

// What a terminal of this width shows: the cursor waits in the last column once that is filled.
static int show(const char *text, size_t n, int width) {
    int line = 0, column = 0;
    memset(screen, 0, sizeof screen);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\x1b' && text[i + 2] == 'K') {
            memset(&screen[line][column], 0, (size_t)(COLUMNS - column)), i += 2;
        } else if (text[i] == '\x1b') {
            char *end;
            column = (column >= width ? width - 1 : column) - (int)strtol(text + i + 2, &end, 10);
            CHECK(*end == 'D' && column >= 0);
            i = (size_t)(end - text);
        } else if (text[i] == '\n') {
            line++, column = 0;
        } else {
            if (column == width) line++, column = 0;
            if (text[i + 1] == '\x1b' && text[i + 2] == '[' && text[i + 3] == 'K') {
                screen[line][column] = text[i];  // erased at once: the cursor did not leave it
                continue;
            }
            screen[line][column++] = text[i];
        }
    }
    return line + 1;
}

static void words_stay_whole(void) {
    static const char text[] =
        "It is a truth universally acknowledged, that a single man in possession of a good "
        "fortune, must be in want of a wife. However little known the feelings or views of such a "
        "man may be on his first entering a neighbourhood, this truth is so well fixed ...";
    for (int width = 20; width < 100; width++)
        for (size_t piece = 1; piece < 9; piece += 3) {
            burin_capture out = {0}, *before = burin_capture_into(&out);
            burin_wrap w = {.width = width};
            for (size_t at = 0; at < sizeof text - 1; at += piece)
                burin_wrap_text(&w, text + at,
                                at + piece < sizeof text - 1 ? piece : sizeof text - 1 - at);
            burin_capture_into(before);
            int lines = show(out.data, out.n, width);
            char joined[sizeof text + LINES] = "";
            for (int i = 0; i < lines; i++) {
                size_t n = strlen(screen[i]);
                while (n && screen[i][n - 1] == ' ') n--;
                strncat(joined, screen[i], n);
                if (i < lines - 1) strcat(joined, " ");
            }
            CHECK_TEXT(joined, text);
            free(out.data);
        }
}

static void others_are_left_to_the_terminal(void) {
    static const char text[] = "a\u4e2d\u6587 wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww x";
    burin_capture out = {0}, *before = burin_capture_into(&out);
    burin_wrap w = {.width = 20}, unknown = {0};
    burin_wrap_text(&w, text, sizeof text - 1);
    burin_wrap_text(&unknown, text, sizeof text - 1);
    burin_capture_into(before);
    CHECK(out.n == 2 * (sizeof text - 1) && !memchr(out.data, '\x1b', out.n));
    free(out.data);
}

SUITE(wrap) {
    TEST(words_stay_whole);
    TEST(others_are_left_to_the_terminal);
}
