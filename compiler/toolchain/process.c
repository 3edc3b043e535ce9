// Runs compilers and linkers, watches signals, shows progress.
#include "toolchain/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "toolchain/scratch.h"
#include "toolchain/toolchain_errors.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/mapping.h"
#include "util/text.h"

enum { MAX_CHILDREN = 64, POLL_MS = 5 };

extern char **environ;

// The running processes, which a signal has to stop.
static volatile pid_t children[MAX_CHILDREN];

// ----------------------------------------------------------------------------------- command lines
void command_add(CommandLine *c, const char *word) {
    if (c->n + 2 > c->capacity) {
        int capacity = c->capacity ? 2 * c->capacity : 32;
        const char **words = ARENA_ARRAY(c->arena, const char *, capacity);
        if (c->n) memcpy(words, c->words, (size_t)c->n * sizeof *words);
        c->words = words, c->capacity = capacity;
    }
    c->words[c->n++] = word;
    c->words[c->n] = NULL;
}

void command_add_words(CommandLine *c, const char *words) {
    while (*words) {
        size_t n = strcspn(words, " ");
        if (n) command_add(c, arena_strndup(c->arena, words, n));
        words += n + (words[n] == ' ');
    }
}

void command_addf(CommandLine *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    command_add(c, arena_vprintf(c->arena, format, args));
    va_end(args);
}

const char *find_program(Arena *arena, const char *name) {
    const char *path = getenv("PATH");
    for (path = path ? path : "/usr/bin:/bin"; *path;) {
        size_t n = strcspn(path, ":");
        const char *full = arena_printf(arena, "%.*s/%s", (int)n, path, name);
        if (n && access(full, X_OK) == 0) return full;
        path += n + (path[n] == ':');
    }
    return NULL;
}

// -------------------------------------------------------------------------------------------- jobs
static double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int processors(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MAX_CHILDREN ? MAX_CHILDREN : (int)n;
}

static void remember_child(pid_t from, pid_t to) {
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (children[i] == from) {
            children[i] = to;
            return;
        }
}

// Our own process, with the log's folder for files left by a failure, and messages in English.
static char **environment_of(const Job *j) {
    size_t n = 0, kept = 0;
    while (environ[n]) n++;
    char **words = ARENA_ARRAY(j->line.arena, char *, n + 3);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) && strncmp(environ[i], "LC_ALL=", 7))
            words[kept++] = environ[i];
    words[kept++] = arena_printf(j->line.arena, "TMPDIR=%s", path_folder(j->line.arena, j->log));
    words[kept++] = arena_strdup(j->line.arena, "LC_ALL=C");
    return words;
}

static void job_start(Job *j, bool verbose) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, j->log, O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (verbose) {
        Text line = {0};
        for (int i = 0; i < j->line.n; i++)
            text_spell(&line, "%s%s", i ? " " : "+ ", j->line.words[i]);
        fprintf(stderr, "%s\n", line.data);
        text_free(&line);
    }
    j->started = seconds_now();
    diag_hold();
    int failed = posix_spawnp(&j->pid, j->line.words[0], &files, &attributes,
                              (char *const *)j->line.words, environment_of(j));
    if (!failed) remember_child(0, j->pid);
    diag_release();
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (failed) diag_fatal(NO_LOC, "cannot run %s: %s", j->line.words[0], strerror(failed));
}

static void stop_children(void) {
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (children[i] > 0) kill(children[i], SIGTERM);
}

// The comment above the kernel around a line of emitted C: "%y: f32[T, 4] -> f32[T, 4] model.onnx,
// node 3 (y)", or NULL.
static const char *kernel_at(const char *path, long line) {
    static char found[512];
    FILE *f = fopen(path, "r");
    char text[4096];
    *found = 0;
    for (long i = 1; f && i <= line && fgets(text, sizeof text, f);) {
        if (!strncmp(text, "// %", 4))
            snprintf(found, sizeof found, "%.*s", (int)strcspn(text + 3, "\n"), text + 3);
        i += strchr(text, '\n') != NULL;
    }
    if (f) fclose(f);
    return *found ? found : NULL;
}

// An error that the compiler sees in the C that burin emitted.
static void explain_emitted(const Job *j, const char *said) {
    const char *name = j->emitted ? path_name(j->emitted) : "",
               *at = *name ? strstr(said, name) : NULL;
    char *end = NULL;
    long line = at && at[strlen(name)] == ':' ? strtol(at + strlen(name) + 1, &end, 10) : 0;
    if (line < 1 || !strstr(end, "error: ")) return;
    const char *kernel = kernel_at(j->emitted, line);
    diag_fatal(
        NO_LOC,
        "%s refuses the C that burin emitted: this is a bug of burin\nnote: in the kernel of %s\n"
        "hint: please report it, with the model",
        j->line.words[0], kernel ? kernel : "the whole");
}

// The signal that ended a job comes to this process, too: the thread that waits for it ends the
// run.
static bool is_ending_signal(int number) {
    return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
}

static void wait_to_be_ended(void) {
    const struct timespec second = {.tv_sec = 1};
    nanosleep(&second, NULL);
}

static _Noreturn void job_failed(const Job *j, int status, bool verbose) {
    size_t size;
    stop_children();
    while (wait(NULL) > 0) {}
    char *said = read_text_file(j->log, &size);
    if (verbose) fwrite(said, 1, size, stderr);
    explain_full_disk(j, said);
    explain_missing_header(j, said);
    explain_missing_library(j, said);
    if (!verbose) fwrite(said, 1, size, stderr);
    if (WIFEXITED(status) && size) explain_emitted(j, said);
    if (WIFSIGNALED(status) && is_ending_signal(WTERMSIG(status))) wait_to_be_ended();
    if (WIFSIGNALED(status))
        diag_fatal(NO_LOC, "%s: %s was stopped by signal %d", j->what, j->line.words[0],
                   WTERMSIG(status));
    diag_fatal(NO_LOC, "%s: %s failed with status %d", j->what, j->line.words[0],
               WEXITSTATUS(status));
}

static void job_ended(Job *jobs, int n, pid_t pid, int status, bool verbose) {
    remember_child(pid, 0);
    for (int i = 0; i < n; i++) {
        if (jobs[i].pid != pid) continue;
        jobs[i].pid = 0;
        if (status) job_failed(&jobs[i], status, verbose);
        if (verbose)
            fprintf(stderr, "  %s: %.2f s\n", jobs[i].what, seconds_now() - jobs[i].started);
    }
}

bool process_succeeds(const CommandLine *line, const char *log, bool verbose) {
    Job j = {.line = *line, .what = line->words[0], .log = log};
    int status;
    job_start(&j, verbose);
    while (waitpid(j.pid, &status, 0) < 0)
        if (errno != EINTR)
            diag_fatal(NO_LOC, "cannot wait for %s: %s", line->words[0], strerror(errno));
    remember_child(j.pid, 0);
    return !status;
}

void jobs_run(Job *jobs, int n, int at_once, bool verbose) {
    int started = 0, ended = 0, status;
    struct timespec pause = {.tv_nsec = POLL_MS * 1000000};
    while (ended < n) {
        if (started < n && started - ended < at_once) {
            job_start(&jobs[started++], verbose);
            continue;
        }
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid > 0) {
            ended++;
            job_ended(jobs, n, pid, status, verbose);
        } else if (pid < 0 && errno != EINTR) {
            diag_fatal(NO_LOC, "cannot wait for %s: %s", jobs[0].line.words[0], strerror(errno));
        } else {
            progress(jobs[started - 1].what, (double)ended / n);
            nanosleep(&pause, NULL);
        }
    }
    progress(NULL, 0);
}

// ----------------------------------------------------------------------------------------- folders
static const char *if_home(Arena *arena, const char *folder) {
    char real[PATH_MAX];
    if (!realpath(folder, real)) return NULL;
    bool here = !access(arena_printf(arena, "%s/runtime/engine/program.h", real), R_OK) &&
                !access(arena_printf(arena, "%s/dsl", real), R_OK);
    return here ? arena_strdup(arena, real) : NULL;
}

const char *burin_home(Arena *arena) {
    static const char *const around[] = {"..", "../..", "../share/burin"};
    const char *given = getenv("BURIN_HOME"), *home;
    char self[PATH_MAX];
    if (given) {
        if ((home = if_home(arena, given))) return home;
        diag_fatal(NO_LOC, "BURIN_HOME is %s, but runtime/ and dsl/ are not in it", given);
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0) diag_fatal(NO_LOC, "cannot read /proc/self/exe: %s", strerror(errno));
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        if ((home = if_home(arena, arena_printf(arena, "%s/%s", self, around[i])))) return home;
    diag_fatal(NO_LOC,
               "burin's runtime/ and dsl/ folders are not near %s\nhint: set BURIN_HOME to the "
               "folder that has them",
               self);
}

const char *work_folder(Arena *arena) {
    const char *given = getenv("TMPDIR"), *base = given && *given ? given : "/tmp",
               *path = scratch_folder(arena, base, "burin.");
    if (!path)
        diag_fatal(NO_LOC, "cannot make a folder in %s: %s\nhint: TMPDIR says where", base,
                   strerror(errno));
    return path;
}

void make_folder(const char *path) {
    char part[PATH_MAX];
    for (size_t i = 1; i <= strlen(path) && i < sizeof part; i++) {
        if (path[i] && path[i] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) && errno != EEXIST)
            diag_fatal(NO_LOC, "cannot make the folder %s: %s", part, strerror(errno));
    }
}

// ----------------------------------------------------------------------------------------- signals
static sigset_t watched;

// They may write as long as they live. Another thread may have waited for them already.
static void end_children(void) {
    stop_children();
    for (int i = 0; i < MAX_CHILDREN; i++)
        if (children[i] > 0) waitpid(children[i], NULL, 0);
}

// A thread of its own waits for the signals, so that ending the run is ordinary code. It alone ends
// it: other threads stay silent about stopped processes and removed files.
static void *wait_for_signal(void *unused) {
    int signal_number;
    (void)unused;
    sigwait(&watched, &signal_number);
    diag_hold();
    end_children();
    progress(NULL, 0);
    if (signal_number == SIGINT)
        fprintf(stderr, "burin: interrupted; what was compiled before is kept\n");
    diag_remove_outputs();
    signal(signal_number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
    raise(signal_number);
    return NULL;
}

// A closed pipe is told to the thread that writes, not to the one that waits.
static void hand_over(int signal_number) {
    kill(getpid(), signal_number);
    for (;;) pause();
}

// A file that grows beyond `ulimit -f` is an error of its write, like a full disk.
void catch_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    pthread_t thread;
    sigset_t pipe;
    sigemptyset(&watched), sigemptyset(&pipe);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&watched, signals[i]);
    signal(SIGXFSZ, SIG_IGN);
    mapping_watch();
    pthread_sigmask(SIG_BLOCK, &watched, NULL);
    if (pthread_create(&thread, NULL, wait_for_signal, NULL)) return release_signals();
    pthread_detach(thread);
    sigaddset(&pipe, SIGPIPE);
    signal(SIGPIPE, hand_over);
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
}

void release_signals(void) {
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
}

// ---------------------------------------------------------------------------------------- progress
enum { BAR = 24 };

static struct {
    const char *what;     // the step
    double first, since;  // when the run told of a step, and of this one
    int shown;            // per mille; -1: nothing
} bar = {.shown = -1};

static void draw_bar(double fraction, uint64_t done, uint64_t total) {
    char cells[BAR + 1];
    double spent = seconds_now() - bar.since,
           left = fraction > 0 ? spent * (1 - fraction) / fraction : 0;
    for (int i = 0; i < BAR; i++) cells[i] = i < fraction * BAR ? '#' : '.';
    cells[BAR] = 0;
    fprintf(stderr, "\r\033[K%s [%s] %3d %%", bar.what, cells, (int)(100 * fraction));
    if (total) fprintf(stderr, "  %.0f of %.0f MB", (double)done / 1e6, (double)total / 1e6);
    if (spent > 0.5 && left >= 1) fprintf(stderr, "  %.0f s left", left);
}

static void show_progress(const char *what, double fraction, uint64_t done, uint64_t total) {
    int thousandth = (int)(1000 * (fraction < 1 ? fraction : 1));
    if (!isatty(STDERR_FILENO)) return;
    if (!bar.first) bar.first = seconds_now();
    if (what != bar.what) {
        if (bar.shown >= 0) fputs("\r\033[K", stderr);
        bar.since = seconds_now(), bar.shown = -1, bar.what = what;
    }
    if (!what || seconds_now() - bar.first < 1 || thousandth == bar.shown) return;
    draw_bar((double)thousandth / 1000, done, total);
    bar.shown = thousandth;
}

void progress(const char *what, double fraction) { show_progress(what, fraction, 0, 0); }

void progress_bytes(const char *what, uint64_t done, uint64_t total) {
    show_progress(what, total ? (double)done / (double)total : 1, done, total);
}
