// masks TOKENIZER GRAMMAR|-: how long the mask of a grammar's state takes over a vocabulary, for each token of a text that it
// is led through, when no mask was made before (first) and when it was (kept). "-": any JSON.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/tokenizer.h"
#include "runtime/grammar/constraint.h"
#include "runtime/grammar/grammar.h"
#include "runtime/tokenizer/tokenizer.h"

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

// The longest token that the grammar takes and the text goes on with.
static int32_t next_token(const void *tokenizer, burin_constraint *c, const char *text) {
    char bytes[4096];
    int32_t best = -1, n = burin_tokenizer_size(tokenizer);
    size_t longest = 0;
    for (int32_t id = 0; id < n; id++) {
        burin_decoder inside = {.started = true};
        size_t length = burin_decode(tokenizer, &inside, id, bytes);
        if (length > longest && !strncmp(text, bytes, length) && burin_constraint_allows(c, id)) best = id, longest = length;
    }
    return best;
}

static char *read_whole(const char *path) {
    char *text = calloc(1, 1 << 22);
    FILE *f = fopen(path, "rb");
    if (!f || !fread(text, 1, (1 << 22) - 1, f)) perror(path), exit(1);
    fclose(f);
    return text;
}

int main(int argc, char **argv) {
    static const char text[] =
        "{\"name\": \"A harbour in the north of Portugal\", \"year\": 1832, \"tags\": [\"sea\", \"ships\", \"caf\xc3\xa9\"], "
        "\"open\": true, "
        "\"place\": {\"lat\": 41.18, \"long\": -8.69, \"note\": \"It\\u2019s windy, \\\"they\\\" say.\"}}";
    Arena *arena = arena_new();
    char error[512], *grammar, decoded[4096];
    double first[512], kept[512];
    int n = 0;
    if (argc != 3) return fprintf(stderr, "usage: masks TOKENIZER GRAMMAR|-\n"), 2;
    const Tokenizer *t = tokenizer_load(arena, argv[1], 0);
    int32_t size = burin_tokenizer_size(t->blob);
    grammar = strcmp(argv[2], "-") ? read_whole(argv[2]) : burin_schema_grammar("json", NULL, 0, error, sizeof error);
    burin_grammar g;
    if (!burin_grammar_parse(&g, "grammar", grammar, strlen(grammar))) return puts(g.error), 1;
    float *logits = malloc((size_t)size * sizeof *logits);
    double begin = now();
    burin_constraint *c = burin_constraint_open(&g, t->blob, size, NULL);
    double opened = now() - begin;
    for (const char *at = text; *at && n < 512; n++) {
        first[n] = mask_time(c, logits, size), kept[n] = mask_time(c, logits, size);
        int32_t token = next_token(t->blob, c, at);
        if (token < 0) return printf("no token goes on: %s\n", at), 1;
        burin_decoder inside = {.started = true};
        at += burin_decode(t->blob, &inside, token, decoded);
        burin_constraint_take(c, token);
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += first[i];
    qsort(first, (size_t)n, sizeof *first, by_size), qsort(kept, (size_t)n, sizeof *kept, by_size);
    printf(
        "%d tokens in the vocabulary; ready in %.0f ms; %d masks: mean %.3f, median %.3f, most %.3f ms; the same again %.3f "
        "ms\n",
        size, opened, n, sum / n, first[n / 2], first[n - 1], kept[n / 2]);
    return 0;
}
