// Runs an embedding program on recorded texts: embeddings PROGRAM EXPECTED.json
// EXPECTED.json holds {"cases": [{"text", "ids", "embedding"}, ...]}. Each case needs equal ids and
// a cosine of at least 0.999999.
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static json_t *run(const char *program, const char *text) {
    int ends[2];
    if (pipe(ends)) return NULL;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(program, program, "--format", "json", "--", text, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    json_t *result = json_loadf(f, 0, NULL);
    fclose(f);
    waitpid(child, NULL, 0);
    return result;
}

static double cosine(const json_t *a, const json_t *b) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < json_array_size(a); i++) {
        double x = json_number_value(json_array_get(a, i)),
               y = json_number_value(json_array_get(b, i));
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    return json_array_size(a) == json_array_size(b) ? ab / sqrt(aa * bb) : -1;
}

int main(int argc, char **argv) {
    json_t *expected = argc == 3 ? json_load_file(argv[2], 0, NULL) : NULL,
           *list = json_object_get(expected, "cases");
    int wrong = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *c = json_array_get(list, i),
               *got = run(argv[1], json_string_value(json_object_get(c, "text")));
        bool same_text = json_equal(json_object_get(got, "text"), json_object_get(c, "text")),
             same_ids = json_equal(json_object_get(got, "ids"), json_object_get(c, "ids"));
        double near = cosine(json_object_get(got, "embedding"), json_object_get(c, "embedding"));
        if (!same_text || !same_ids || !(near >= 0.999999)) {
            printf("case %zu: %s%scosine %.9f\n", i, same_text ? "" : "another text, ",
                   same_ids ? "" : "other ids, ", near);
            wrong++;
        }
        json_decref(got);
    }
    printf("%zu cases, %d wrong\n", json_array_size(list), wrong);
    bool none = !json_array_size(list);
    json_decref(expected);
    return none || wrong;
}
