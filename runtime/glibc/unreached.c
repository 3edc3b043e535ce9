// Parts of glibc that a static program links but never reaches: pthread_create clears the
// resolver's state, messages of errors may be translated, strtod looks for "inf" in any locale.
//
// Weak: if another reference brings in glibc's own function, that one is linked instead. Names are
// glibc's; with another version only the size changes.
#include <stddef.h>

#define STAND_IN __attribute__((weak))

STAND_IN __thread void
    *__libc_resp;  // the resolver's state, which each new thread points at its own

STAND_IN char *__dcgettext(const char *domain, const char *message, int category);
STAND_IN int __strncasecmp_l(const char *a, const char *b, size_t n, void *locale);
STAND_IN int __strcasecmp_l(const char *a, const char *b, void *locale);
STAND_IN int __strcasecmp(const char *a, const char *b);

char *__dcgettext(const char *domain, const char *message, int category) {
    (void)domain;
    (void)category;
    return (char *)message;
}

static int lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c; }

int __strncasecmp_l(const char *a, const char *b, size_t n, void *locale) {
    (void)locale;
    for (size_t i = 0; i < n; i++) {
        int difference = lower_ascii(a[i]) - lower_ascii(b[i]);
        if (difference || !a[i]) return difference;
    }
    return 0;
}

int __strcasecmp_l(const char *a, const char *b, void *locale) {
    return __strncasecmp_l(a, b, (size_t)-1, locale);
}

int __strcasecmp(const char *a, const char *b) { return __strncasecmp_l(a, b, (size_t)-1, NULL); }

// No thread is cancelled or ends by pthread_exit, and C has no exceptions.
#define UNWINDER(name)        \
    STAND_IN void name(void); \
    void name(void) { __builtin_trap(); }

UNWINDER(__gcc_personality_v0)
UNWINDER(_Unwind_Resume)
UNWINDER(_Unwind_ForcedUnwind)
UNWINDER(_Unwind_GetCFA)
UNWINDER(_Unwind_GetIP)
UNWINDER(_Unwind_Backtrace)
