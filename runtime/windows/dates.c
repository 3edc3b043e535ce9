// Dates by formats as chat templates have them. The C library of Windows knows the letters of C89,
// and stops at others.
#include "posix.h"

static const struct {
    char letter;
    const char *format;
} spelled[] = {{'D', "%m/%d/%y"},    {'F', "%Y-%m-%d"}, {'h', "%b"}, {'n', "\n"},
               {'r', "%I:%M:%S %p"}, {'R', "%H:%M"},    {'t', "\t"}, {'T', "%H:%M:%S"}};

// The text of a conversion letter; `bare`: a number without leading zeros.
static size_t put_letter(char *out, size_t room, char letter, bool bare, const struct tm *time) {
    const char format[] = {'%', bare ? '#' : letter, bare ? letter : 0, 0};
    if (letter == 'e') return (size_t)snprintf(out, room, bare ? "%d" : "%2d", time->tm_mday);
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
        if (spelled[i].letter == letter) return (strftime)(out, room, spelled[i].format, time);
    if (strchr("aAbBcdHIjmMpSUwWxXyYzZ%", letter)) return (strftime)(out, room, format, time);
    return (size_t)snprintf(out, room, "%%%c", letter);
}

size_t burin_windows_strftime(char *out, size_t room, const char *format, const struct tm *time) {
    enum { MOST = 64 };  // bytes of one letter's text
    size_t n = 0;
    for (; *format; format++) {
        if (n + MOST > room) return 0;
        if (*format != '%' || !format[1]) {
            out[n++] = *format;
            continue;
        }
        bool bare = format[1] == '-' && format[2];
        format += 1 + bare;
        n += put_letter(out + n, MOST, *format, bare, time);
    }
    out[n] = 0;
    return n;
}
