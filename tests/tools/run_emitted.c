// Runs an emitted program over fixed tokens: run_emitted CPU THREADS CHUNK [TOKENS]. Prints the
// hash of all logits. The tokens are read twice: by slot 0 in chunks, and by slots 1 and 2 in one
// batch, both of which must give the same bits. A call without logit rows gets no memory for
// logits.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/forward.h"
#include "engine/hash.h"

enum { MAX_TOKENS = 64 };

static burin_row row_of(int i, int slot) {
    return (burin_row){.token = (i * 37 + 11) % burin_model_this.vocab_size,
                       .slot = slot,
                       .position = i,
                       .wants_logits = i % 3 != 1};
}

static void forward(burin_session *s, const burin_row *rows, int n, float *logits) {
    burin_status status = burin_forward(s, rows, n, logits);
    if (status) {
        printf("not ok - %s\n", burin_status_text(status));
        exit(1);
    }
}

static size_t run_alone(burin_session *s, int tokens, int chunk, float *logits) {
    size_t wanted = 0;
    for (int at = 0; at < tokens; at += chunk) {
        burin_row rows[MAX_TOKENS];
        int n = tokens - at < chunk ? tokens - at : chunk, more = 0;
        for (int i = 0; i < n; i++) {
            rows[i] = row_of(at + i, 0);
            more += rows[i].wants_logits;
        }
        forward(s, rows, n, more ? logits + wanted * (size_t)burin_model_this.vocab_size : NULL);
        wanted += (size_t)more;
    }
    return wanted;
}

static bool batch_agrees(burin_session *s, int tokens, const float *expected) {
    size_t width = (size_t)burin_model_this.vocab_size, wanted = 0;
    float *logits = malloc(2 * width * sizeof *logits);
    bool same = true;
    for (int i = 0; i < tokens; i++) {
        burin_row rows[2] = {row_of(i, 1), row_of(i, 2)};
        forward(s, rows, 2, rows[0].wants_logits ? logits : NULL);
        if (!rows[0].wants_logits) continue;
        for (int j = 0; j < 2; j++)
            same = same && !memcmp(logits + (size_t)j * width, expected + wanted * width,
                                   width * sizeof *logits);
        wanted++;
    }
    free(logits);
    return same;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    int chunk = atoi(argv[3]), tokens = argc > 4 ? atoi(argv[4]) : 40;
    burin_options o = {.slots = 3, .threads = atoi(argv[2]), .cpu = argv[1]};
    size_t bytes = burin_session_bytes(&burin_model_this, &o);
    void *memory = aligned_alloc(64, bytes);
    memset(memory, 0xff, bytes);
    burin_session *s;
    burin_status status = burin_session_open(&s, &burin_model_this, &o, memory, bytes);
    if (status) {
        printf("not ok - %s: %s\n", argv[1], burin_status_text(status));
        return 1;
    }
    float *logits = malloc(MAX_TOKENS * (size_t)burin_model_this.vocab_size * sizeof *logits);
    size_t wanted = run_alone(s, tokens, chunk, logits);
    bool same = batch_agrees(s, tokens, logits);
    size_t floats = wanted * (size_t)burin_model_this.vocab_size;
    printf("%016llx%s\n",
           (unsigned long long)burin_hash_bytes(burin_hash_start, logits, floats * sizeof *logits),
           same ? "" : " batch differs");
    if (getenv("SHOW"))
        for (int i = 0; i < 4; i++) printf("%g ", (double)logits[i]);
    burin_session_close(s);
    free(memory);
    free(logits);
    return 0;
}
