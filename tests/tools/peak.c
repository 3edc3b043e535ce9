// Runs a command and fails if it needs more memory than allowed. usage: peak MEGABYTES COMMAND...
// The measure is the largest resident set of the command or one of its children, mapped files
// included.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct rusage usage;
    int status;
    if (argc < 3) return 2;
    pid_t child = fork();
    if (!child) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "peak: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    getrusage(RUSAGE_CHILDREN, &usage);
    fprintf(stderr, "peak: %ld KB\n", usage.ru_maxrss);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) return 1;
    return usage.ru_maxrss / 1024 > atol(argv[1]);
}
