// For tests on graphs: parse a text, print a graph, and keep expected errors off the screen.
#ifndef BURIN_TEST_GRAPHS_H
#define BURIN_TEST_GRAPHS_H
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ir.h"
#include "ir/dump.h"
#include "unit.h"

// The text must outlive the graph: locations of errors point into it.
static inline Graph *parse_text(const char *text) {
    static Source source;
    source = (Source){.name = "test.ir", .text = text, .size = strlen(text)};
    return graph_parse(&source, NULL);
}

// What `run` writes to stderr, with its result in *ok: malloc'd.
static inline char *stderr_of(bool (*run)(void *), void *user, bool *ok) {
    char path[] = "/tmp/burin-unit-XXXXXX";
    fflush(stderr);
    int file = mkstemp(path), saved = dup(STDERR_FILENO);
    dup2(file, STDERR_FILENO);
    *ok = run(user);
    if (setjmp(*diag_guard()) == 0)
        diag_stop();  // forgets the errors: the next ones are not "too many"
    diag_unguard();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    char *text = read_text_file(path, NULL);
    unlink(path);
    return text;
}

static inline bool parses(void *text) {
    Graph *g = parse_text(text);
    bool ok = g != NULL;
    graph_free(g);
    return ok;
}

// The text is refused and the message contains `expected`.
static inline void check_refused(const char *text, const char *expected) {
    bool ok;
    char *message = stderr_of(parses, (void *)text, &ok);
    bool said = strstr(message, expected);
    if (ok || !said)
        printf("# expected \"%s\" for\n# %s\n# got %s\n", expected, text,
               ok ? "no error" : message);
    CHECK(!ok && said);
    free(message);
}
#endif
