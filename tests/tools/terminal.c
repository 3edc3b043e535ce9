// Runs a program on a pseudo-terminal and talks to it: terminal SCRIPT PROGRAM [ARGUMENT...]. Lines
// of the script: "expect TEXT" waits until the program has printed TEXT after the last expected
// text, "more N" for N bytes after it, "send TEXT" types it, "repeat N TEXT" N times, "width N"
// sets the terminal's width, "hangup" closes it;
// , \c (Ctrl-C), \d (Ctrl-D), \e (escape) and \\ are escapes. Prints the program's output, and
// exits with its status, or 99 if a text does not come, or the program does not end, within 20
// seconds.
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char seen[1 << 20];
static size_t n_seen, from;

// False at the end of the program's output, or after `milliseconds` without any.
static int take(int terminal, int milliseconds) {
    struct pollfd p = {.fd = terminal, .events = POLLIN};
    if (poll(&p, 1, milliseconds) <= 0) return 0;
    ssize_t n = read(terminal, seen + n_seen, sizeof seen - 1 - n_seen);
    if (n <= 0) return 0;
    n_seen += (size_t)n;
    seen[n_seen] = 0;
    return 1;
}

static void expect(int terminal, const char *text) {
    char *there;
    while (!(there = strstr(seen + from, text)))
        if (!take(terminal, 20000)) {
            printf("%s\nnot seen: %s\n", seen, text);
            exit(99);
        }
    from = (size_t)(there - seen) + strlen(text);
}

// Waits for this many bytes after the last expected text.
static void expect_more(int terminal, size_t bytes) {
    while (n_seen < from + bytes)
        if (!take(terminal, 20000)) {
            printf("%s\nnot seen: %zu bytes more\n", seen, bytes);
            exit(99);
        }
}

static void unescape(char *text) {
    static const char names[] = "ncde\\", bytes[] = "\n\003\004\033\\";
    char *to = text;
    for (; *text; text++) {
        const char *known = *text == '\\' && text[1] ? strchr(names, text[1]) : NULL;
        *to++ = known ? bytes[known - names] : *text;
        text += known != NULL;
    }
    *to = 0;
}

// "N TEXT"
static void send_often(int terminal, char *text) {
    for (unsigned long n = strtoul(text, &text, 10); n; n--)
        if (write(terminal, text + 1, strlen(text + 1)) < 0) exit(98);
}

static void set_width(int terminal, const char *text) {
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)strtoul(text, NULL, 10)};
    if (ioctl(terminal, TIOCSWINSZ, &size)) exit(98);
}

static void run_script(const char *path, int terminal) {
    char line[1024];
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(98);
    }
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        char *text = line + strcspn(line, " ");
        if (*text) text++;
        unescape(text);
        if (!strncmp(line, "expect", 6)) expect(terminal, text);
        if (!strncmp(line, "more", 4)) expect_more(terminal, strtoul(text, NULL, 10));
        if (!strncmp(line, "repeat", 6)) send_often(terminal, text);
        if (!strncmp(line, "width", 5)) set_width(terminal, text);
        if (!strncmp(line, "hangup", 6)) close(terminal);
        if (!strncmp(line, "send", 4) && write(terminal, text, strlen(text)) < 0) exit(98);
    }
    fclose(f);
}

// Ctrl-C discards neither typed nor printed text: the output does not depend on its timing.
static void without_flush(int terminal) {
    struct termios mode;
    if (tcgetattr(terminal, &mode)) {
        perror("tcgetattr");
        exit(98);
    }
    mode.c_lflag |= NOFLSH;
    if (tcsetattr(terminal, TCSANOW, &mode)) {
        perror("tcsetattr");
        exit(98);
    }
}

// In 20 seconds.
static int ends(pid_t child, int *status) {
    for (int i = 0; i < 200; i++) {
        if (waitpid(child, status, WNOHANG) == child) return 1;
        usleep(100000);
    }
    return 0;
}

int main(int argc, char **argv) {
    int terminal, status;
    if (argc < 3) {
        fprintf(stderr, "usage: terminal SCRIPT PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0) {
        perror("forkpty");
        return 98;
    }
    if (child == 0) {
        without_flush(STDIN_FILENO);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    run_script(argv[1], terminal);
    while (take(terminal, 20000)) {}
    printf("%s", seen);
    if (!ends(child, &status)) {
        printf("\nit does not end\n");
        kill(child, SIGKILL);
        return 99;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
