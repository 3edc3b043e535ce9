#include "voice/espeak.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
const char *burin_espeak(const char *language, const char *words, size_t bytes,
                         burin_capture *phonemes) {
    (void)language, (void)words, (void)bytes, (void)phonemes;
    return "it is not called on Windows";
}
#else
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct espeak_pipes {
    int to[2], from[2];  // of the process: its standard input and output
} espeak_pipes;

static void close_pipe(const int ends[2]) { close(ends[0]), close(ends[1]); }

static bool open_pipes(espeak_pipes *p) {
    if (pipe(p->to)) return false;
    if (pipe(p->from)) return close_pipe(p->to), false;
    for (int i = 0; i < 2; i++) {
        fcntl(p->to[i], F_SETFD, FD_CLOEXEC);
        fcntl(p->from[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

// -1, with errno, where it cannot be started.
static pid_t start_espeak(const espeak_pipes *p, const char *language) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    char *arguments[] = {"espeak-ng", "-q", "--ipa", "-v", (char *)(uintptr_t)language,
                         "--stdin",   NULL};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, p->to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, p->from[1], STDOUT_FILENO);
    int error = posix_spawnp(&pid, *arguments, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(p->to[0]);
    close(p->from[1]);
    errno = error;
    return error ? -1 : pid;
}

// A pipe holds a clause, so the write does not wait for a process that waits to be read.
static void write_words(int file, const char *words, size_t bytes) {
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    burin_write_all(file, words, bytes);
    close(file);
    signal(SIGPIPE, before);
}

static void read_ipa(int file, burin_capture *phonemes) {
    char block[4096];
    ssize_t n;
    while ((n = read(file, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) burin_capture_add(phonemes, block, (size_t)n);
    close(file);
}

const char *burin_espeak(const char *language, const char *words, size_t bytes,
                         burin_capture *phonemes) {
    espeak_pipes p;
    int status;
    if (!open_pipes(&p)) return strerror(errno);
    pid_t pid = start_espeak(&p, language);
    if (pid < 0) {
        close(p.to[1]), close(p.from[0]);
        return strerror(errno);
    }
    write_words(p.to[1], words, bytes);
    read_ipa(p.from[0], phonemes);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) && !WEXITSTATUS(status)
               ? NULL
               : "it failed; does it have the voice that this model was trained with?";
}
#endif
