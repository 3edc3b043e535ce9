// libedit around a terminal. It reads keys by next_key, which waits with signals let in: what came
// is handled here, between two keys, and libedit's own handlers, which send signals to the whole
// process group, stay out.
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/utf8.h"
#include "history_file.h"
#include "program/line_editor.h"
#include "program/output.h"

static const int watched[] = {SIGWINCH, SIGCONT, SIGTSTP, SIGTERM, SIGHUP, SIGQUIT};
enum { N_WATCHED = sizeof watched / sizeof *watched };

struct burin_editor {
    EditLine *line;
    History *history;
    int file;  // of the history; -1: none
    const char *mark;
    volatile sig_atomic_t *interrupted;
    bool was_interrupted;
    bool pasting;      // the terminal sends a text that was pasted
    const char *keys;  // typed in the user's place
    int early;         // bytes typed before the terminal was set for a line
    char character[16];
    size_t at, n;  // unread bytes of `character`
    burin_utf8 partial;
    sigset_t before;
    struct sigaction actions[N_WATCHED];
};

static volatile sig_atomic_t came[N_WATCHED];

static void note_signal(int number) {
    for (int i = 0; i < N_WATCHED; i++)
        if (watched[i] == number) came[i] = 1;
}

// A terminal puts these around a text that is pasted (bracketed paste), when it is asked to:
// newlines in it end no line.
static const char ask_for_marks[] = "\x1b[?2004h", ask_for_none[] = "\x1b[?2004l";

static void stop_marks(void) {
    burin_write_all(STDOUT_FILENO, ask_for_none, sizeof ask_for_none - 1);
}

static void start_marks(void) {
    burin_write_all(STDOUT_FILENO, ask_for_marks, sizeof ask_for_marks - 1);
    atexit(stop_marks);
}

// ----------------------------------------------------------------------------------------- signals
// Blocked but while a key is waited for.
static void watch_signals(burin_editor *e) {
    struct sigaction action = {.sa_handler = note_signal};
    sigset_t set;
    sigemptyset(&set);
    sigemptyset(&action.sa_mask);
    sigaddset(&set, SIGINT);
    for (int i = 0; i < N_WATCHED; i++) sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, &e->before);
    for (int i = 0; i < N_WATCHED; i++) {
        came[i] = 0;
        sigaction(watched[i], NULL, &e->actions[i]);
        if (e->actions[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, NULL);
    }
}

static void leave_signals(burin_editor *e) {
    for (int i = 0; i < N_WATCHED; i++) sigaction(watched[i], &e->actions[i], NULL);
    sigprocmask(SIG_SETMASK, &e->before, NULL);
}

static void obey_signal(burin_editor *e, int number) {
    switch (number) {
        case SIGWINCH:
            el_resize(e->line);
            break;
        case SIGTSTP:
            el_set(e->line, EL_PREP_TERM, 0);
            kill(getpid(), SIGSTOP);
            break;
        case SIGCONT:
            el_set(e->line, EL_PREP_TERM, 1);
            el_set(e->line, EL_REFRESH);
            break;
        default:  // the program ends, and leaves the terminal as it was
            el_set(e->line, EL_PREP_TERM, 0);
            stop_marks();
            leave_signals(e);
            raise(number);
            _exit(128 + number);
    }
}

static void obey_signals(burin_editor *e) {
    for (int i = 0; i < N_WATCHED; i++)
        if (came[i]) came[i] = 0, obey_signal(e, watched[i]);
}

// -------------------------------------------------------------------------------------------- keys
// Ctrl-C ends the line, after its last character.
static bool take_interrupt(burin_editor *e) {
    static const char end_of_line[] = "\005\n";
    if (!*e->interrupted) return false;
    *e->interrupted = 0;
    e->was_interrupted = true;
    e->keys = end_of_line;
    e->at = e->n = 0;
    e->partial.have = 0;
    return true;
}

// A Ctrl-D that came while the terminal made lines itself is kept there as a zero.
static void as_typed(burin_editor *e, char *byte) {
    if (!e->early) return;
    e->early--;
    if (!*byte) *byte = '\004';
}

// One byte from the terminal: 1; 0: its end; -1: Ctrl-C came first.
static int next_byte(burin_editor *e, char *byte) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    for (;;) {
        if (take_interrupt(e)) return -1;
        obey_signals(e);
        if (ppoll(&input, 1, NULL, &e->before) < 0) {
            if (errno == EINTR) continue;
            return 0;
        }
        ssize_t n = read(STDIN_FILENO, byte, 1);
        if (n > 0) return as_typed(e, byte), 1;
        if (n == 0 || (errno != EINTR && errno != EAGAIN)) return 0;
    }
}

// Of a whole character.
static wchar_t code_point(const char *c, size_t n) {
    wchar_t code = (unsigned char)*c;
    if (n > 1) code &= 0x7f >> n;
    for (size_t i = 1; i < n; i++) code = code << 6 | (c[i] & 0x3f);
    return code;
}

// ----------------------------------------------------------------------------------------- pasting
static unsigned char begin_paste(EditLine *line, int key) {
    burin_editor *e;
    (void)key;
    el_get(line, EL_CLIENTDATA, &e);
    e->pasting = true;
    return CC_NORM;
}

static unsigned char end_paste(EditLine *line, int key) {
    burin_editor *e;
    (void)key;
    el_get(line, EL_CLIENTDATA, &e);
    e->pasting = false;
    return CC_REFRESH;
}

// Ctrl-V takes the next key as it is. A newline that nothing follows was typed: the end of the
// paste was lost.
static void keep_newline(burin_editor *e, wchar_t *key) {
    enum { WAIT = 100 };  // milliseconds
    static const char quoted_newline[] = "\026\n";
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (!e->pasting || (*key != '\r' && *key != '\n')) return;
    e->pasting = poll(&input, 1, WAIT) > 0;
    if (!e->pasting) return;
    e->keys = quoted_newline;
    *key = (unsigned char)*e->keys++;
}

static int next_key(EditLine *line, wchar_t *key) {
    burin_editor *e;
    char byte;
    el_get(line, EL_CLIENTDATA, &e);
    for (;;) {
        if (e->keys && *e->keys) {
            *key = (unsigned char)*e->keys++;
            return 1;
        }
        if (e->at < e->n) {
            size_t n = (size_t)burin_utf8_length((unsigned char)e->character[e->at]);
            *key = code_point(e->character + e->at, n);
            e->at += n;
            keep_newline(e, key);
            return 1;
        }
        int got = next_byte(e, &byte);
        if (!got) return 0;
        if (got > 0) e->at = 0, e->n = burin_utf8_add(&e->partial, &byte, 1, e->character);
    }
}

static char *mark_of(EditLine *line) {
    burin_editor *e;
    el_get(line, EL_CLIENTDATA, &e);
    return (char *)(uintptr_t)e->mark;
}

static void bind_pasting(EditLine *line) {
    el_set(line, EL_ADDFN, "begin-paste", "begins a pasted text", begin_paste);
    el_set(line, EL_ADDFN, "end-paste", "ends it", end_paste);
    el_set(line, EL_BIND, "\\e[200~", "begin-paste", NULL);
    el_set(line, EL_BIND, "\\e[201~", "end-paste", NULL);
    el_set(line, EL_BIND, "^V", "ed-quoted-insert", NULL);
}

// Key sequences that terminals send regardless of their description; and Ctrl-R, Ctrl-W as in other
// line editors.
static void bind_keys(EditLine *line) {
    static const char *const keys[][2] = {
        {"\\e[1~", "ed-move-to-beg"},      {"\\e[7~", "ed-move-to-beg"},
        {"\\e[H", "ed-move-to-beg"},       {"\\eOH", "ed-move-to-beg"},
        {"\\e[4~", "ed-move-to-end"},      {"\\e[8~", "ed-move-to-end"},
        {"\\e[F", "ed-move-to-end"},       {"\\eOF", "ed-move-to-end"},
        {"\\e[3~", "ed-delete-next-char"}, {"\\e[1;5C", "em-next-word"},
        {"\\e[1;5D", "ed-prev-word"},      {"^R", "em-inc-search-prev"},
        {"^W", "ed-delete-prev-word"},     {"\t", "ed-insert"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        el_set(line, EL_BIND, keys[i][0], keys[i][1], NULL);
}

// ----------------------------------------------------------------------------------------- history
enum { MOST_LINES = 1000 };

static void keep_line(void *context, const char *line) {
    burin_editor *e = context;
    HistEvent event;
    history(e->history, &event, H_ENTER, line);
}

static void open_history(burin_editor *e, const char *path) {
    HistEvent event;
    e->history = history_init();
    if (!e->history) return;
    history(e->history, &event, H_SETSIZE, MOST_LINES);
    history(e->history, &event, H_SETUNIQUE, 1);
    e->file = path ? burin_history_open(path, keep_line, e) : -1;
    el_set(e->line, EL_HIST, history, e->history);
}

// A pasted text becomes one line of it.
static void add_to_history(burin_editor *e, const char *text) {
    if (!*text || !e->history) return;
    char *line = burin_allocate(1, strlen(text) + 1);
    for (size_t i = 0; text[i]; i++) line[i] = text[i] == '\n' ? ' ' : text[i];
    keep_line(e, line);
    if (e->file >= 0 && !burin_history_add(e->file, line)) {
        burin_note("--history: %s: lines are no longer kept", strerror(errno));
        close(e->file);
        e->file = -1;
    }
    free(line);
}

// ------------------------------------------------------------------------------------------- lines
burin_editor *burin_editor_open(const char *path, volatile sig_atomic_t *interrupted) {
    const char *terminal = getenv("TERM");
    // texts are UTF-8 in any locale; glibc has this one built in
    if (!terminal || !*terminal || !strcmp(terminal, "dumb") || !setlocale(LC_CTYPE, "C.UTF-8"))
        return NULL;
    burin_editor *e = burin_allocate(1, sizeof *e);
    *e = (burin_editor){.file = -1, .interrupted = interrupted};
    e->line = el_init(burin_program_name, stdin, stdout, stderr);
    if (!e->line) {
        free(e);
        return NULL;
    }
    el_set(e->line, EL_CLIENTDATA, e);
    el_set(e->line, EL_PROMPT, mark_of);
    el_set(e->line, EL_EDITOR, "emacs");
    el_set(e->line, EL_SIGNAL, 0);
    el_set(e->line, EL_GETCFN, next_key);
    bind_keys(e->line);
    bind_pasting(e->line);
    start_marks();
    open_history(e, path);
    return e;
}

void burin_editor_close(burin_editor *e) {
    if (!e) return;
    if (e->history) history_end(e->history);
    if (e->file >= 0) close(e->file);
    el_end(e->line);
    free(e);
}

// Key by key until the mark arrives: keys after it have the editor's meaning.
static void set_terminal(burin_editor *e) {
    el_set(e->line, EL_PREP_TERM, 1);
    if (ioctl(STDIN_FILENO, FIONREAD, &e->early)) e->early = 0;
}

burin_line_end burin_editor_line(burin_editor *e, const char *mark, const char **line,
                                 size_t *bytes) {
    int n = 0;
    burin_flush();
    e->mark = mark;
    e->keys = NULL;
    e->was_interrupted = e->pasting = false;
    watch_signals(e);
    set_terminal(e);
    char *text = (char *)(uintptr_t)el_gets(e->line, &n);
    leave_signals(e);
    if (e->was_interrupted) return BURIN_LINE_INTERRUPTED;
    if (!text || n <= 0) return BURIN_LINES_END;
    *bytes = strlen(text);
    if (*bytes && (text[*bytes - 1] == '\n' || text[*bytes - 1] == '\r')) text[--*bytes] = 0;
    *line = text;
    add_to_history(e, text);
    return BURIN_LINE;
}
