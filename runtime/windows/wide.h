// Between UTF-8, which the runtime speaks, and the 16-bit characters of Windows.
#ifndef BURIN_WINDOWS_WIDE_H
#define BURIN_WINDOWS_WIDE_H
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

// In memory of its own, which the caller frees; NULL, with errno set, when there is none. `bytes`:
// -1 for up to a 0.
wchar_t *burin_wide(const char *text, int bytes, int *length);
char *burin_narrow(const wchar_t *text);

// What errno is for GetLastError().
int burin_windows_error(void);
// output stays bytes; terminals understand the sequences that the runtime writes
void burin_console_open(void);
#endif
