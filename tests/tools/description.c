// Descriptions that have a message. usage: description --list | description NAME | description
// --each TEXTS (case_process.h) NAME is $FIXTURES/errors/NAME.burin, with NAME.json and
// NAME.tensors where it has them. Writes the checkpoint into the current folder; status 1 when the
// description has no graphs.
#include <glob.h>

#include "case_process.h"
#include "tests/tools/description_case.h"

static void each_name(Visit visit) {
    char pattern[512];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/errors/*.burin", getenv("FIXTURES"));
    if (glob(pattern, 0, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *name = strrchr(found.gl_pathv[i], '/') + 1;
        name[strlen(name) - strlen(".burin")] = 0;
        visit(name);
    }
    globfree(&found);
}

static int run(const char *name) {
    char path[512], library[512];
    snprintf(path, sizeof path, "%s/errors/%s.burin", getenv("FIXTURES"), name);
    snprintf(library, sizeof library, "%s/dsl", getenv("TOP"));
    Case c = case_of_file(path);
    Text graphs = {0};
    write_checkpoint(&c, ".");
    bool loaded = load(&c, ".", library, &graphs);
    free_case(&c);
    text_free(&graphs);
    return !loaded;
}

int main(int argc, char **argv) {
    return getenv("TOP") && getenv("FIXTURES") ? run_cases(argc, argv, each_name, run) : 2;
}
