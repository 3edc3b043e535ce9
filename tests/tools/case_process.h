// Common parts of programs of broken input: --list, NAME, and `--each TEXTS`: every case in a
// process of its own and in a folder of its name, with its stderr and `status N` in TEXTS/NAME.err.
// Cases that end with more than status 1, print nothing on stderr, or print on stdout, are listed
// on standard output.
#ifndef BURIN_TEST_CASE_PROCESS_H
#define BURIN_TEST_CASE_PROCESS_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*Visit)(const char *name);
typedef int (*RunCase)(const char *name);

static const char *texts;  // a path from the root
static RunCase run_this;
static int wrong;

static void in_own_folder(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.err", texts, name);
    if (mkdir(name, 0777) || chdir(name) || !freopen(path, "w", stderr) ||
        !freopen("printed", "w", stdout))
        exit(3);
    exit(run_this(name));
}

// Appends its status to a case's output; false if there was none.
static bool add_status(const char *name, int status) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.err", texts, name);
    FILE *text = fopen(path, "a");
    bool says = text && !fseek(text, 0, SEEK_END) && ftell(text) > 0;
    if (!text || fprintf(text, "status %d\n", status) < 0 || fclose(text)) exit(3);
    return says;
}

static void visit_process(const char *name) {
    struct stat printed = {0};
    char path[4096];
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) in_own_folder(name);
    waitpid(child, &status, 0);
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    snprintf(path, sizeof path, "%s/printed", name);
    bool says = add_status(name, status), silent = !stat(path, &printed) && !printed.st_size;
    if (says && status <= 1 && silent) return;
    printf("%s ends with status %d, says %s%s\n", name, status, says ? "why" : "nothing",
           silent ? "" : ", and prints");
    wrong++;
}

static void visit_name(const char *name) { puts(name); }

static int run_cases(int argc, char **argv, void (*each_name)(Visit), RunCase run) {
    if (argc == 3 && !strcmp(argv[1], "--each")) {
        texts = argv[2];
        run_this = run;
        each_name(visit_process);
        return wrong > 0;
    }
    if (argc != 2) return 2;
    if (strcmp(argv[1], "--list")) return run(argv[1]);
    each_name(visit_name);
    return 0;
}
#endif
