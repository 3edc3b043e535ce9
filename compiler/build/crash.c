#include "build/crash.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/dump.h"
#include "passes/pass.h"

static struct {
    Arena *arena;  // of the copy; NULL: no pass is running
    Module before;
    Pass pass;
    const Options *options;
    const char *folder, *file, *command;  // made before: a handler allocates nothing
    char stack[1 << 18];
} crash;

static const int signals[] = {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGSYS};

static const char *name_before(Pass p) { return p ? pass_info[p - 1].name : "input"; }

static void keep(void *user, Module *m, Pass pass) {
    const Build *b = user;
    Text command = {0};
    crash.arena = arena_new();
    crash.before = module_clone(crash.arena, m);
    crash.pass = pass;
    crash.folder = arena_printf(crash.arena, "%s.crash", b->name);
    crash.file =
        arena_printf(crash.arena, "%s/%02d-%s.ir", crash.folder, (int)pass, name_before(pass));
    text_add(&command, "burin build %s --start-from=%s", crash.file, pass_info[pass].name);
    options_of_passes(&command, b->options);
    crash.command = arena_strndup(crash.arena, command.data, command.length);
    text_free(&command);
}

static void forget(void *user, Module *m, Pass pass) {
    (void)user, (void)m, (void)pass;
    arena_free(crash.arena);
    crash.arena = NULL;
}

// In a process of its own: what crashed may have left locks and lists as they must not be.
static void write_copy(void) {
    pid_t child = fork();
    if (!child) {
        struct ConstantFile *constants = NULL;
        alarm(60);
        module_dump(&crash.before, crash.folder, (int)crash.pass, name_before(crash.pass),
                    &constants);
        constants_close(constants);
        _exit(0);
    }
    int status = 1;
    if (child > 0) waitpid(child, &status, 0);
    if (!status)
        fprintf(stderr, "  hint: %s is the graph before it; this repeats it: %s\n", crash.file,
                crash.command);
}

static void say_and_write(const char *what) {
    fflush(stdout);
    fprintf(stderr, "burin: error: the pass %s %s: this is a bug of burin\n",
            pass_info[crash.pass].name, what);
    write_copy();
}

static void failed(void *user, Module *m, Pass pass) {
    (void)user, (void)m, (void)pass;
    say_and_write("leaves a graph that is wrong");
}

static void die(int number) {
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    if (crash.arena) {
        say_and_write(number == SIGABRT ? "aborts" : "crashes");
        diag_remove_outputs();
    }
    raise(number);
}

void crash_watch(Build *b) {
    PassGuard *w = ARENA_NEW(b->arena, PassGuard);
    *w = (PassGuard){
        .next = b->passes.guards, .user = b, .before = keep, .after = forget, .failed = failed};
    b->passes.guards = w;
#ifdef __SANITIZE_ADDRESS__
    return;  // more information about a crash
#endif
    stack_t stack = {.ss_sp = crash.stack, .ss_size = sizeof crash.stack};
    struct sigaction action = {.sa_handler = die, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}
