// Where the program starts, its terminal, and Ctrl-C. A console is written to and read from in its
// own characters, since its code page is rarely UTF-8; pipes and files get bytes.
#include <errno.h>

#include "posix.h"
#include "wide.h"

enum { MOST = 1 << 30 };  // bytes at once: the C library counts them in 32 bits

static bool is_console(HANDLE file) {
    DWORD mode;
    return GetConsoleMode(file, &mode);
}

int burin_windows_isatty(int file) { return is_console((HANDLE)_get_osfhandle(file)); }

// ---- writing ----

static bool write_console(HANDLE console, const char *text, int bytes) {
    enum { AT_ONCE = 8192 };  // older consoles take no more
    int length, done = 0;
    wchar_t *wide = burin_wide(text, bytes, &length);
    for (DWORD n = 0; wide && done < length; done += (int)n)
        if (!WriteConsoleW(console, wide + done,
                           (DWORD)(length - done < AT_ONCE ? length - done : AT_ONCE), &n, NULL))
            break;
    free(wide);
    return wide && done >= length;
}

// The C library calls a pipe without a reader an invalid argument.
static int write_bytes(int file, const void *data, int bytes) {
    int n = _write(file, data, (unsigned)bytes);
    if (n < 0 && errno == EINVAL) errno = burin_windows_error();
    return n;
}

ssize_t burin_windows_write(int file, const void *data, size_t bytes) {
    int n = (int)(bytes < MOST ? bytes : MOST);
    HANDLE handle = (HANDLE)_get_osfhandle(file);
    if (!is_console(handle)) return write_bytes(file, data, n);
    if (write_console(handle, data, n)) return n;
    errno = EIO;
    return -1;
}

// ---- reading ----

// Typed but unread characters. A line is at most as long as the console's buffer; longer ones come
// in parts.
static struct {
    char text[3 * 4096 + 4];
    int at, end;
    wchar_t half;  // of a pair that the end of a part took apart, or 0
} typed;

// Lines end with one character, as everywhere else.
static int without_returns(wchar_t *wide, int length) {
    int n = 0;
    for (int i = 0; i < length; i++)
        if (wide[i] != '\r') wide[n++] = wide[i];
    return n;
}

// False: it cannot be read. Ctrl-C, which ends a read early, is no end of it; Ctrl-Z or Ctrl-D at
// the beginning of a line is.
static bool read_console(HANDLE console) {
    enum { CTRL_D = 4, CTRL_Z = 26 };
    wchar_t wide[4096];
    DWORD n = 0;
    int from = typed.half != 0;
    wide[0] = typed.half, typed.half = 0;
    do {
        SetLastError(0);
        if (!ReadConsoleW(console, wide + from, 4096 - (DWORD)from, &n, NULL)) return false;
    } while (!n && GetLastError() == ERROR_OPERATION_ABORTED);
    int length = without_returns(wide, from + (int)n);
    if (length && !from && (*wide == CTRL_Z || *wide == CTRL_D)) length = 0;
    if (length && IS_HIGH_SURROGATE(wide[length - 1])) typed.half = wide[--length];
    typed.at = 0;
    typed.end = length ? WideCharToMultiByte(CP_UTF8, 0, wide, length, typed.text,
                                             sizeof typed.text, NULL, NULL)
                       : 0;
    return true;
}

ssize_t burin_windows_read(int file, void *data, size_t bytes) {
    HANDLE handle = (HANDLE)_get_osfhandle(file);
    if (!is_console(handle)) return _read(file, data, (unsigned)(bytes < MOST ? bytes : MOST));
    if (typed.at == typed.end && !read_console(handle)) return errno = EIO, -1;
    int n = typed.end - typed.at;
    if ((size_t)n > bytes) n = (int)bytes;
    memcpy(data, typed.text + typed.at, (size_t)n);
    typed.at += n;
    return n;
}

// ---- Ctrl-C ----

void (*burin_windows_signal(int number, void (*handler)(int)))(int) {
    return number == SIGBUS || number == SIGPIPE || number == SIGXFSZ ? SIG_DFL
                                                                      : (signal)(number, handler);
}

static void (*interrupted)(int);

static BOOL WINAPI on_control(DWORD event) {
    if (event != CTRL_C_EVENT) return FALSE;
    interrupted(SIGINT);
    return TRUE;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    (void)number, (void)old;
    interrupted = action->sa_handler;
    return SetConsoleCtrlHandler(on_control, TRUE) ? 0 : -1;
}

// ---- the start ----

int _dowildcard = 0;  // arguments are literal texts: no expansion of *

static void allow_sequences(DWORD which) {
    HANDLE console = GetStdHandle(which);
    DWORD mode;
    if (GetConsoleMode(console, &mode))
        SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

int main(int argc, char **argv);

int wmain(int argc, wchar_t **wide) {
    char **argv = calloc((size_t)argc + 1, sizeof *argv);
    for (int i = 0; argv && i < argc; i++)
        if (!(argv[i] = burin_narrow(wide[i]))) return 1;
    for (char *slash; argc && argv && (slash = strpbrk(argv[0], "\\/")); argv[0] = slash + 1) {}
    for (int file = 0; file < 3; file++) _setmode(file, _O_BINARY);
    allow_sequences(STD_OUTPUT_HANDLE), allow_sequences(STD_ERROR_HANDLE);
    return argv ? main(argc, argv) : 1;
}
