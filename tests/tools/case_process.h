// What programs of broken input share: --list, NAME, and `--each TEXTS`: every case in a process of its own and in a folder of
// its name, what it says on stderr in TEXTS/NAME.err. A case that does not end with status 1, or prints, is named on standard
// output.
#ifndef BURIN_TEST_CASE_PROCESS_H
#define BURIN_TEST_CASE_PROCESS_H
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
    if (mkdir(name, 0777) || chdir(name) || !freopen(path, "w", stderr) || !freopen("printed", "w", stdout)) exit(3);
    exit(run_this(name));
}

static void visit_process(const char *name) {
    struct stat printed = {0};
    char path[4096];
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) in_own_folder(name);
    waitpid(child, &status, 0);
    snprintf(path, sizeof path, "%s/printed", name);
    bool refused = WIFEXITED(status) && WEXITSTATUS(status) == 1, silent = !stat(path, &printed) && !printed.st_size;
    if (!refused || !silent) printf("%s ends with status %d%s\n", name, status, silent ? "" : " and prints"), wrong++;
}

static void visit_name(const char *name) { puts(name); }

static int run_cases(int argc, char **argv, void (*each_name)(Visit), RunCase run) {
    if (argc == 3 && !strcmp(argv[1], "--each")) {
        texts = argv[2], run_this = run;
        each_name(visit_process);
        return wrong > 0;
    }
    if (argc != 2) return 2;
    if (strcmp(argv[1], "--list")) return run(argv[1]);
    each_name(visit_name);
    return 0;
}
#endif
