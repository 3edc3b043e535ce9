// A host of story.h that reads the same tokens, TOKENS (-D) of them, in every way: bits_host all |
// few CPU... For each of these CPUs, 1, 2 and 3 threads, chunks of 1, 7 and 64, alone and as one of
// four sequences of a batch, it prints a line: the hash of all logits, CPU, threads, chunk, batch.
// few: each number of threads with one chunk. A CPU that the machine does not have is one line with
// a note.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "story.h"

enum { BATCH = 4, MOST_ROWS = 64 * BATCH, MINE = 2 };

static float logits[MOST_ROWS * (size_t)story_VOCAB_SIZE];

// The other sequences of a batch read other tokens.
static story_row row_of(int sequence, int position) {
    int token = (position * 37 + 11 + (sequence != MINE) * (sequence + 1)) % 61;
    return (story_row){
        .token = token, .slot = sequence, .position = position, .wants_logits = true};
}

// One step: the chunks of the sequences one after the other; the hash takes in the logits of MINE
static int step(story_state *state, int at, int n, int batch, uint64_t *hash) {
    story_row rows[MOST_ROWS];
    int count = 0, mine = 0;
    for (int s = 0; s < BATCH; s++) {
        if (batch == 1 && s != MINE) continue;
        if (s == MINE) mine = count;
        for (int i = 0; i < n; i++) rows[count++] = row_of(s, at + i);
    }
    int status = story_forward(state, rows, count, logits);
    if (!status)
        *hash = burin_hash_floats(*hash, logits + (size_t)mine * story_VOCAB_SIZE,
                                  (size_t)n * story_VOCAB_SIZE);
    return status;
}

static int cell(const char *cpu, int threads, int chunk, int batch) {
    story_options options = {.slots = BATCH, .threads = threads, .cpu = cpu};
    size_t bytes = story_state_bytes(&options);
    void *memory = aligned_alloc(story_ALIGNMENT, (bytes + 63) / 64 * 64);
    story_state state;
    uint64_t hash = burin_hash_start;
    int status = story_init(&state, &options, memory, bytes);
    if (status == story_CPU_TOO_OLD) {
        printf("missing %s\n", cpu);
        free(memory);
        return 1;
    }
    for (int at = 0; !status && at < TOKENS; at += chunk) {
        int n = TOKENS - at < chunk ? TOKENS - at : chunk;
        status = step(&state, at, n, batch, &hash);
    }
    if (status)
        printf("%s %s\n", story_error_text(status), cpu);
    else
        printf("%016llx %s %d %d %d\n", (unsigned long long)hash, cpu, threads, chunk, batch);
    story_close(&state);
    free(memory);
    return status;
}

int main(int argc, char **argv) {
    static const int chunks[] = {1, 7, 64};
    bool few = argc > 1 && !strcmp(argv[1], "few");
    for (int c = 2; c < argc; c++)
        for (int i = 0, status = 0; i < 18 && !status; i++)
            if (!few || i % 3 == i / 6)
                status = cell(argv[c], 1 + i % 3, chunks[i / 6], i / 3 % 2 ? BATCH : 1);
    return 0;
}
