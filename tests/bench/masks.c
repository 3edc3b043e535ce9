// masks TOKENIZER CASES.json [NAME]: how long the mask of a grammar's state takes over a
// vocabulary, for each token of a text that it is led through, when no mask was made before (mean,
// median, most) and when it was (again).
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/tokenizer.h"
#include "runtime/grammar/constraint.h"
#include "runtime/grammar/grammar.h"
#include "runtime/tokenizer/tokenizer.h"

enum { MOST = 512 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double mask_time(burin_constraint *c, float *logits, int32_t n) {
    memset(logits, 0, (size_t)n * sizeof *logits);
    double begin = now();
    burin_constraint_mask(c, logits);
    return now() - begin;
}

// The longest token that the grammar accepts and that continues the text.
static int32_t next_token(const void *tokenizer, burin_constraint *c, const char *text) {
    char bytes[4096];
    int32_t best = -1, n = burin_tokenizer_size(tokenizer);
    size_t longest = 0;
    for (int32_t id = 0; id < n; id++) {
        burin_decoder inside = {.started = true};
        size_t length = burin_decode(tokenizer, &inside, id, bytes);
        if (length > longest && !strncmp(text, bytes, length) && burin_constraint_allows(c, id)) {
            best = id;
            longest = length;
        }
    }
    return best;
}

// One case: {"name", "schema" or "grammar", "text"}.
static void run_case(const Tokenizer *t, const json_t *one, float *logits) {
    char error[512], decoded[4096],
        *schema = json_dumps(json_object_get(one, "schema"), JSON_COMPACT);
    const char *grammar = json_string_value(json_object_get(one, "grammar")),
               *at = json_string_value(json_object_get(one, "text"));
    if (!grammar)
        grammar = burin_schema_grammar("schema", schema, strlen(schema), error, sizeof error);
    if (!grammar) {
        puts(error);
        exit(1);
    }
    burin_grammar g;
    if (!burin_grammar_parse(&g, "grammar", grammar, strlen(grammar))) {
        puts(g.error);
        exit(1);
    }
    int32_t size = burin_tokenizer_size(t->blob), n = 0;
    double first[MOST], kept[MOST], sum = 0, begin = now();
    burin_constraint *c = burin_constraint_open(&g, t->blob, size, NULL);
    double opened = now() - begin;
    for (; *at && n < MOST; n++) {
        first[n] = mask_time(c, logits, size);
        kept[n] = mask_time(c, logits, size);
        sum += first[n];
        int32_t token = next_token(t->blob, c, at);
        if (token < 0) {
            printf("no token goes on: %s\n", at);
            exit(1);
        }
        burin_decoder inside = {.started = true};
        at += burin_decode(t->blob, &inside, token, decoded);
        burin_constraint_take(c, token);
    }
    qsort(first, (size_t)n, sizeof *first, by_size);
    qsort(kept, (size_t)n, sizeof *kept, by_size);
    printf("%-26s %4.0f %5d %7.3f %7.3f %7.3f %7.3f\n",
           json_string_value(json_object_get(one, "name")), opened, n, sum / n, first[n / 2],
           first[n - 1], kept[n / 2]);
    burin_constraint_close(c);
    free(schema);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: masks TOKENIZER CASES.json [NAME]\n");
        return 2;
    }
    json_error_t problem;
    json_t *cases = json_load_file(argv[2], 0, &problem), *one;
    if (!cases) {
        printf("%s: %s\n", argv[2], problem.text);
        return 1;
    }
    const Tokenizer *t = tokenizer_load(arena_new(), argv[1], 0);
    float *logits = malloc((size_t)burin_tokenizer_size(t->blob) * sizeof *logits);
    size_t i;
    printf("%d tokens; milliseconds\n%-26s %4s %5s %7s %7s %7s %7s\n",
           burin_tokenizer_size(t->blob), "", "open", "masks", "mean", "median", "most", "again");
    json_array_foreach(
        cases, i,
        one) if (argc < 4 || !strcmp(argv[3], json_string_value(json_object_get(one, "name"))))
        run_case(t, one, logits);
    return 0;
}
