// A graph as a compiled case: NAME.c, NAME_dispatch.c, NAME_plan.h, the weights, and the tensors of
// the case (case_file.h), which run_cases.c reads; and one process for each case, with a time
// limit.
#ifndef EMIT_CASE_H
#define EMIT_CASE_H
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_file.h"
#include "codegen/codegen.h"

enum { CASE_SECONDS = 20, CASE_OUTPUT = 4096 };

// FOLDER/NAME, to which suffixes are added.
typedef struct CasePlace {
    Arena *arena;
    const char *folder, *name;
} CasePlace;

static inline void case_write(CasePlace at, const char *suffix, Text *t) {
    FILE *f = fopen(arena_printf(at.arena, "%s/%s%s", at.folder, at.name, suffix), "wb");
    if (!f || fwrite(t->data, 1, t->length, f) != t->length || fclose(f))
        diag_fatal(NO_LOC, "cannot write %s%s", at.name, suffix);
    text_free(t);
}

static inline void case_sink(void *text, const void *bytes, size_t n) {
    text_append(text, bytes, n);
}

static inline void case_write_program(CasePlace at, Program *p) {
    Text t = {0};
    const Target *cpu = target_find("x86-64-v3", false);
    name_functions(p);
    emit_program(p, &t);
    case_write(at, ".c", &t);
    emit_header(p, &t);
    case_write(at, "_plan.h", &t);
    emit_dispatch(
        p,
        &(DispatchOptions){.cpus = &cpu,
                           .n_cpus = 1,
                           .identity = "0",
                           .info = "",
                           .weights_symbol = arena_printf(at.arena, "%s_weights", at.name),
                           .descriptor = arena_printf(at.arena, "%s_descriptor", at.name)},
        &t);
    case_write(at, "_dispatch.c", &t);
    weights_write(p, case_sink, &t);
    while (t.length < 64) text_append(&t, "", 1);
    case_write(at, ".weights", &t);
}

static inline void case_put_tensor(Text *t, const Tensor *x) {
    CaseTensor head = {.rank = x->rank, .bytes = x->bytes};
    snprintf(head.type, sizeof head.type, "%s", dtype_name(x->dtype));
    memcpy(head.dim, x->dim, sizeof head.dim);
    text_append(t, (const char *)&head, sizeof head);
    text_append(t, x->data, x->bytes);
    while (t->length % CASE_ALIGN) text_append(t, "", 1);
}

// Tensors in order: `n` inputs, then outputs.
static inline void case_write_values(CasePlace at, CaseHeader head, const Tensor *const *inputs,
                                     const Tensor *const *outputs) {
    Text t = {0};
    text_append(&t, (const char *)&head, sizeof head);
    for (int i = 0; i < head.n_inputs; i++) case_put_tensor(&t, inputs[i]);
    for (int i = 0; i < head.n_outputs; i++) case_put_tensor(&t, outputs[i]);
    case_write(at, ".values", &t);
}

// "error: x: y\nhint: ..." to "x: y"; one line.
static inline void case_print_reason(char *text, int status) {
    char *start = strstr(text, "error: ");
    start = start ? start + 7 : text;
    start[strcspn(start, "\n")] = 0;
    for (char *p = start; *p; p++)
        if (*p == '\t' || *p == '|') *p = ' ';
    if (WIFSIGNALED(status))
        printf("ends by signal %d\n", WTERMSIG(status));
    else
        printf("%s\n", *start ? start : "ends without a result");
}

// Runs `f` in a process of its own, which prints "pass" and exits, and prints that or the reason.
static inline void case_report(void (*f)(const void *), const void *what) {
    int ends[2], status = 0;
    char text[CASE_OUTPUT], more[CASE_OUTPUT];  // a message begins with what counts
    size_t length = 0;
    fflush(stdout);
    if (pipe(ends)) diag_fatal(NO_LOC, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        alarm(CASE_SECONDS);
        f(what);
        _exit(1);
    }
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], more, sizeof more)) > 0;) {
        size_t room = sizeof text - 1 - length, kept = (size_t)n < room ? (size_t)n : room;
        memcpy(text + length, more, kept);
        length += kept;
    }
    text[length] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    const char *last = strrchr(text, '\n');  // warnings come before it
    if (status == 0 && !strcmp(last ? last + 1 : text, "pass"))
        printf("pass\n");
    else
        case_print_reason(text, status);
}
#endif
