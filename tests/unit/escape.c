// Foreign text on its way to a terminal, into a message or into a comment of emitted C.
#include "base/escape.h"

#include "codegen/emit.h"
#include "unit.h"

static const char *formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *formatted(const char *format, ...) {
    static char out[256];
    va_list list;
    va_start(list, format);
    int n = burin_vformat(out, sizeof out, format, list);
    va_end(list);
    CHECK((size_t)n == strlen(out));
    return out;
}

static void names_are_spelled(void) {
    CHECK_TEXT(formatted("tensor %s!", "a\nhint: \033[2J"), "tensor a\\nhint: \\x1b[2J!");
    CHECK_TEXT(formatted("%s", "t\tr\r\177"), "t\\tr\\r\\x7f");
    CHECK_TEXT(formatted("%s %s", "größe 模型 🙂", "\xc3"), "größe 模型 🙂 \\xc3");
    CHECK_TEXT(formatted("%s",
                         "\xc2\x9b"
                         "31m"),
               "\\xc2\\x9b31m");
    CHECK_TEXT(formatted("%s",
                         "\xe2\x80\xae"
                         "gpj.exe"),
               "\\xe2\\x80\\xaegpj.exe");
    CHECK_TEXT(formatted("%s", "\xe2\x80\xa8\xef\xbb\xbf\xed\xa0\x80"),
               "\\xe2\\x80\\xa8\\xef\\xbb\\xbf\\xed\\xa0\\x80");
    CHECK_TEXT(formatted("%c%c", '\033', 'x'), "\\x1bx");
}

static void lines_of_our_own_stay(void) {
    CHECK_TEXT(formatted("%s%-s", "a\nb", "\nhint: c"), "a\\nb\nhint: c");
}

static void everything_else_is_printf(void) {
    CHECK_TEXT(formatted("%d %u %x %lld %llu %zu %ld", -1, 7u, 255u, -5LL, 6ULL, (size_t)8, -9L),
               "-1 7 ff -5 6 8 -9");
    CHECK_TEXT(formatted("%016llx|%3d|%-4d|%03d", 0xabcULL, 5, 6, 7),
               "0000000000000abc|  5|6   |007");
    CHECK_TEXT(formatted("%.*s|%.2s|%5s|%-5s|", 1, "xyz", "xyz", "a\n", "b"), "x|xy|  a\\n|b    |");
    CHECK_TEXT(formatted("%g %.1f %e %a %%", 0.5, 2.25, 1e10, 1.0),
               "0.5 2.2 1.000000e+10 0x1p+0 %");
    CHECK_TEXT(formatted("%*d|%-*s|", 4, 3, 3, "y"), "   3|y  |");
}

static void a_short_room_cuts(void) {
    char out[6] = "-----";
    CHECK(burin_format(out, sizeof out, "%s", "ab\033cd") == 8);
    CHECK_TEXT(out, "ab\\x1");
    CHECK(burin_format(NULL, 0, "%s", "\n") == 2);
}

static void a_comment_is_one_line(void) {
    Text t = {0};
    size_t comment = c_comment(&t);
    text_add(&t,
             "a\nint x; \\\r ?"
             "?/ \xff é");
    c_comment_end(&t, comment);
    CHECK_TEXT(t.data, "// a\\x0aint x; \\x5c\\x0d \\x3f?/ \\xff é\n");
    text_free(&t);
}

SUITE(escape) {
    TEST(names_are_spelled);
    TEST(lines_of_our_own_stay);
    TEST(everything_else_is_printf);
    TEST(a_short_room_cuts);
    TEST(a_comment_is_one_line);
}
