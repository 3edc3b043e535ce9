#include "voice/espeak.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
void burin_espeak(const char *language, const char *words, size_t bytes, burin_capture *phonemes) {
    (void)language, (void)words, (void)bytes, (void)phonemes;
    burin_stop(BURIN_USER_MISTAKE,
               "texts need the program espeak-ng, which is not called on Windows\nhint: --phonemes "
               "\"...\"");
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

static _Noreturn void stop_at_espeak(const char *why) {
    burin_stop(BURIN_USER_MISTAKE,
               "espeak-ng: %s\nhint: this voice takes phonemes, which the program espeak-ng makes "
               "of a text (apt install espeak-ng); --phonemes \"...\" needs it not",
               why);
}

static void open_pipes(espeak_pipes *p) {
    if (pipe(p->to) || pipe(p->from)) stop_at_espeak(strerror(errno));
    for (int i = 0; i < 2; i++) {
        fcntl(p->to[i], F_SETFD, FD_CLOEXEC);
        fcntl(p->from[i], F_SETFD, FD_CLOEXEC);
    }
}

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
    if (error) stop_at_espeak(strerror(error));
    close(p->to[0]);
    close(p->from[1]);
    return pid;
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

void burin_espeak(const char *language, const char *words, size_t bytes, burin_capture *phonemes) {
    espeak_pipes p;
    int status;
    open_pipes(&p);
    pid_t pid = start_espeak(&p, language);
    write_words(p.to[1], words, bytes);
    read_ipa(p.from[0], phonemes);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        stop_at_espeak("it failed; does it have the voice that this model was trained with?");
}
#endif
