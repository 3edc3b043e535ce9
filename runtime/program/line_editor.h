// Lines of a conversation, edited on the terminal by libedit (runtime/editor), in programs that
// burin build --line-editor has linked with it. Others have no editor.
#ifndef BURIN_LINE_EDITOR_H
#define BURIN_LINE_EDITOR_H
#include <signal.h>
#include <stddef.h>

typedef struct burin_editor burin_editor;
typedef enum { BURIN_LINE, BURIN_LINE_INTERRUPTED, BURIN_LINES_END } burin_line_end;

#ifdef BURIN_EDITOR
// NULL: this terminal cannot move its cursor. `history`: a file of earlier lines, which new ones
// are added to, or NULL. *interrupted becomes nonzero by Ctrl-C; lines set it back.
burin_editor *burin_editor_open(const char *history, volatile sig_atomic_t *interrupted);
void burin_editor_close(burin_editor *);
// The next line after `mark`, without its newline, until the next call.
burin_line_end burin_editor_line(burin_editor *, const char *mark, const char **line,
                                 size_t *bytes);
#else
static inline burin_editor *burin_editor_open(const char *history,
                                              volatile sig_atomic_t *interrupted) {
    (void)history;
    (void)interrupted;
    return NULL;
}
static inline void burin_editor_close(burin_editor *e) { (void)e; }
static inline burin_line_end burin_editor_line(burin_editor *e, const char *mark, const char **line,
                                               size_t *bytes) {
    (void)e;
    (void)mark;
    (void)line;
    (void)bytes;
    return BURIN_LINES_END;
}
#endif
#endif
