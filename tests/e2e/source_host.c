// A host of an encoder-decoder as burin emits it: two sources in two slots, decoded greedily in one
// batch, then each alone; the bits of the logits must agree. usage: source_host IDS IDS; prints the
// result of each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "runtime/engine/hash.h"

enum { MOST = 90, END = 2 };

static int failures;
#define CHECK(condition) \
    if (!(condition)) printf("not ok - line %d: %s\n", __LINE__, #condition), failures++

typedef struct text {
    int32_t source[MOST], ids[MOST];
    int length, n;  // of the source, of the decoded text
    uint64_t hash;  // of all logits
} text;

static void read_ids(const char *list, text *t) {
    for (char *end = (char *)list; *list; list = *end ? end + 1 : end)
        t->source[t->length++] = (int32_t)strtol(list, &end, 10);
}

static int32_t likeliest(const float *logits) {
    int32_t best = 0;
    for (int32_t i = 1; i < numbers_VOCAB_SIZE; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static void take(text *t, const float *logits) {
    t->hash = burin_hash_bytes(t->hash, logits, numbers_VOCAB_SIZE * sizeof *logits);
    t->ids[t->n++] = likeliest(logits);
}

static int goes_on(const text *t) { return !t->n || (t->ids[t->n - 1] != END && t->n < MOST); }

// Slots [first, first + n) in steps of one row each.
static void decode(numbers_state *state, text *texts, int first, int n) {
    float logits[2 * numbers_VOCAB_SIZE];
    int32_t start;
    CHECK(numbers_first_tokens(&start, 1) == 1);
    for (int step = 0; step < MOST; step++) {
        numbers_row rows[2];
        int of[2], count = 0;
        for (int i = first; i < first + n; i++)
            if (goes_on(&texts[i])) {
                of[count] = i;
                rows[count++] =
                    (numbers_row){texts[i].n ? texts[i].ids[texts[i].n - 1] : start, i, step, 1};
            }
        if (!count) return;
        CHECK(numbers_forward(state, rows, count, logits) == 0);
        for (int i = 0; i < count; i++) take(&texts[of[i]], logits + i * numbers_VOCAB_SIZE);
    }
}

int main(int argc, char **argv) {
    static text together[2], alone[2];
    numbers_options o = {.slots = 2, .threads = 2};
    numbers_state state;
    size_t bytes = numbers_state_bytes(&o);
    void *memory = aligned_alloc(numbers_ALIGNMENT, bytes);
    if (argc != 3 || !memory) return 2;
    memset(memory, 0xff, bytes);  // unwritten state must not be read
    CHECK(numbers_init(&state, &o, memory, bytes) == 0);
    CHECK(numbers_forward(&state, &(numbers_row){0, 0, 0, 0}, 1, NULL) == numbers_NO_SOURCE);
    CHECK(numbers_read_source(&state, 0, (int32_t[]){99}, 1) == numbers_BAD_TOKEN);
    CHECK(numbers_read_source(&state, 0, (int32_t[]){5}, 0) == numbers_BAD_SOURCE);
    CHECK(numbers_read_source(&state, 2, (int32_t[]){5}, 1) == numbers_BAD_SLOT);
    for (int i = 0; i < 2; i++) {
        read_ids(argv[1 + i], &together[i]);
        read_ids(argv[1 + i], &alone[i]);
        CHECK(numbers_read_source(&state, i, together[i].source, together[i].length) == 0);
    }
    decode(&state, together, 0, 2);
    for (int i = 0; i < 2; i++) CHECK(numbers_slot_reset(&state, i) == 0);
    decode(&state, alone, 1, 1);
    CHECK(numbers_slot_copy(&state, 1, 0) == 0 && numbers_slot_length(&state, 1) == 0);
    decode(&state, alone, 0, 1);
    for (int i = 0; i < 2; i++) {
        CHECK(together[i].hash == alone[i].hash && together[i].n == alone[i].n);
        for (int j = 0; j + 1 < together[i].n; j++)
            printf("%s%d", j ? "," : "", together[i].ids[j]);
        printf("\n");
    }
    numbers_close(&state);
    free(memory);
    return failures != 0;
}
