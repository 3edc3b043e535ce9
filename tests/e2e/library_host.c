// A host with two compiled models: batches against single texts, slots, errors by number and text, both models side by side.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alpha.h"
#include "beta.h"

enum { LENGTH = 20 };

static int failed;

static void expect(int condition, const char *what) {
    printf("%s - %s\n", condition ? "ok" : "not ok", what);
    failed |= !condition;
}

static alpha_state open_alpha(alpha_options options, void **memory) {
    alpha_state state;
    size_t bytes = alpha_state_bytes(&options);
    *memory = aligned_alloc(alpha_ALIGNMENT, bytes);
    if (alpha_init(&state, &options, *memory, bytes)) exit(1);
    return state;
}

static alpha_row row_of(int slot, int position) {
    return (alpha_row){(slot * 50 + position * 3 + 1) % alpha_VOCAB_SIZE, slot, position, true};
}

static void batches(void) {
    static float batch[2 * LENGTH][alpha_VOCAB_SIZE], alone[2][LENGTH][alpha_VOCAB_SIZE];
    void *memory, *other;
    alpha_row rows[2 * LENGTH];
    alpha_state state = open_alpha((alpha_options){.slots = 2, .threads = 2}, &memory);
    for (int i = 0; i < 2 * LENGTH; i++) rows[i] = row_of(i % 2, i / 2);
    expect(alpha_forward(&state, rows, 2 * LENGTH, batch[0]) == 0, "two texts in one call");
    int same = 1;
    for (int slot = 0; slot < 2; slot++) {
        alpha_state one = open_alpha((alpha_options){.slots = 2, .threads = 1, .max_rows = 3, .cpu = "plain"}, &other);
        for (int i = 0; i < LENGTH; i++) {
            alpha_row row = row_of(slot, i);
            alpha_forward(&one, &row, 1, alone[slot][i]);
            same &= !memcmp(alone[slot][i], batch[2 * i + slot], sizeof *batch);
        }
        alpha_close(&one);
        free(other);
    }
    expect(same, "the same bits in one batch and each alone");
    expect(alpha_slot_copy(&state, 0, 1) == 0 && alpha_slot_length(&state, 0) == LENGTH, "a copied slot");
    expect(alpha_slot_truncate(&state, 0, LENGTH - 1) == 0, "a truncated slot");
    alpha_row last = row_of(1, LENGTH - 1);
    last.slot = 0;
    alpha_forward(&state, &last, 1, batch[0]);
    expect(!memcmp(batch[0], alone[1][LENGTH - 1], sizeof *batch), "goes on like the one it was copied from");
    alpha_close(&state);
    free(memory);
}

static void errors(void) {
    void *memory;
    alpha_state state = open_alpha((alpha_options){.threads = 1}, &memory), closed = {0};
    alpha_row row = {.token = alpha_VOCAB_SIZE};
    expect(alpha_forward(&state, &row, 1, NULL) == alpha_BAD_TOKEN, "a token outside the vocabulary");
    row.token = 0, row.position = 1;
    expect(alpha_forward(&state, &row, 1, NULL) == alpha_BAD_POSITION, "a position that does not follow");
    expect(alpha_forward(&closed, &row, 1, NULL) == alpha_NOT_OPEN, "a state that is not open");
    expect(alpha_slot_length(&state, 1) == alpha_BAD_SLOT, "a slot that is not there");
    expect(alpha_state_bytes(&(alpha_options){.slots = -1}) == 0, "options out of range");
    expect(alpha_init(&closed, NULL, (char *)memory + 1, 1 << 20) == alpha_BAD_ALIGNMENT && !closed.session,
           "unaligned memory");
    expect(alpha_init(&closed, NULL, memory, 10) == alpha_SMALL_MEMORY, "too little memory");
    expect(!strcmp(alpha_error_text(alpha_BAD_SLOT), "there is no such slot"), "an error has a text");
    expect(strstr(alpha_error_text(alpha_TOO_MANY), "loop") && strstr(alpha_error_text(alpha_BAD_SOURCE), "source"),
           "two errors are two numbers");
    alpha_close(&state);
    alpha_close(&closed);
    free(memory);
}

static void two_models(void) {
    static float logits[2][alpha_VOCAB_SIZE];
    void *memory, *other;
    alpha_state a = open_alpha((alpha_options){.threads = 2}, &memory);
    beta_state b;
    size_t bytes = beta_state_bytes(NULL);
    other = aligned_alloc(beta_ALIGNMENT, bytes);
    expect(beta_init(&b, NULL, other, bytes) == 0, "a second model in the same program");
    alpha_forward(&a, &(alpha_row){.token = 5, .wants_logits = true}, 1, logits[0]);
    beta_forward(&b, &(beta_row){.token = 5, .wants_logits = true}, 1, logits[1]);
    expect(!memcmp(logits[0], logits[1], sizeof *logits), "both compute");
    expect(alpha_abi_version() == alpha_ABI_VERSION && !strcmp(beta_cpu(&b), "plain+more"), "says what it is");
    alpha_close(&a);
    beta_close(&b);
    free(memory);
    free(other);
}

int main(void) {
    batches();
    errors();
    two_models();
    return failed;
}
