// A host with two compiled models: batches against single texts, slots, errors by number and text,
// both models side by side.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
        alpha_state one = open_alpha(
            (alpha_options){.slots = 2, .threads = 1, .max_rows = 3, .cpu = "plain"}, &other);
        for (int i = 0; i < LENGTH; i++) {
            alpha_row row = row_of(slot, i);
            alpha_forward(&one, &row, 1, alone[slot][i]);
            same &= !memcmp(alone[slot][i], batch[2 * i + slot], sizeof *batch);
        }
        alpha_close(&one);
        free(other);
    }
    expect(same, "the same bits in one batch and each alone");
    expect(alpha_slot_copy(&state, 0, 1) == 0 && alpha_slot_length(&state, 0) == LENGTH,
           "a copied slot");
    expect(alpha_slot_truncate(&state, 0, LENGTH - 1) == 0, "a truncated slot");
    alpha_row last = row_of(1, LENGTH - 1);
    last.slot = 0;
    alpha_forward(&state, &last, 1, batch[0]);
    expect(!memcmp(batch[0], alone[1][LENGTH - 1], sizeof *batch),
           "goes on like the one it was copied from");
    alpha_close(&state);
    free(memory);
}

static void errors(void) {
    void *memory;
    alpha_state state = open_alpha((alpha_options){.threads = 1}, &memory), closed = {0};
    alpha_row row = {.token = alpha_VOCAB_SIZE};
    expect(alpha_forward(&state, &row, 1, NULL) == alpha_BAD_TOKEN,
           "a token outside the vocabulary");
    row.token = 0, row.position = 1;
    expect(alpha_forward(&state, &row, 1, NULL) == alpha_BAD_POSITION,
           "a position that does not follow");
    expect(alpha_forward(&closed, &row, 1, NULL) == alpha_NOT_OPEN, "a state that is not open");
    expect(alpha_slot_length(&state, 1) == alpha_BAD_SLOT, "a slot that is not there");
    expect(alpha_state_bytes(&(alpha_options){.slots = -1}) == 0, "options out of range");
    expect(alpha_init(&closed, NULL, (char *)memory + 1, 1 << 20) == alpha_BAD_ALIGNMENT &&
               !closed.session,
           "unaligned memory");
    expect(alpha_init(&closed, NULL, memory, 10) == alpha_SMALL_MEMORY, "too little memory");
    expect(!strcmp(alpha_error_text(alpha_BAD_SLOT), "there is no such slot"),
           "an error has a text");
    expect(strstr(alpha_error_text(alpha_TOO_MANY), "loop") &&
               strstr(alpha_error_text(alpha_BAD_SOURCE), "source"),
           "two errors are two numbers");
    alpha_close(&state);
    alpha_close(&closed);
    free(memory);
}

// Every argument that is wrong has a number, in every function; nothing is touched.
static void bad_arguments(void) {
    enum { BAD = alpha_BAD_ARGUMENT };
    void *memory, *saved[64];
    alpha_state state = open_alpha((alpha_options){.slots = 2, .threads = 2}, &memory);
    alpha_sampler sampler = {0};
    alpha_row row = {.token = 1, .wants_logits = true};
    int32_t token = 1;
    float logits[alpha_VOCAB_SIZE] = {0};
    expect(alpha_forward(&state, &row, -1, logits) == BAD, "a number of rows below 0");
    expect(
        alpha_forward(&state, NULL, 1, logits) == BAD && alpha_forward(&state, NULL, 0, NULL) == 0,
        "no rows");
    expect(alpha_forward(NULL, &row, 1, logits) == BAD, "no state to compute with");
    expect(alpha_forward(&state, &row, 1, NULL) == alpha_NO_LOGITS, "no memory for logits");
    expect(alpha_init(NULL, NULL, memory, 1 << 20) == BAD &&
               alpha_init(&(alpha_state){0}, NULL, NULL, 1 << 20) == BAD,
           "nothing to open");
    expect(alpha_slot_reset(NULL, 0) == BAD && alpha_slot_truncate(NULL, 0, 0) == BAD &&
               alpha_slot_copy(NULL, 0, 1) == BAD && alpha_slot_length(NULL, 0) == BAD &&
               alpha_slot_saved_bytes(NULL, 0) == 0,
           "no state whose slots are meant");
    expect(alpha_slot_reset(&state, -1) == alpha_BAD_SLOT &&
               alpha_slot_copy(&state, 0, 2) == alpha_BAD_SLOT &&
               alpha_slot_truncate(&state, 0, -1) == alpha_BAD_LENGTH &&
               alpha_slot_saved_bytes(&state, 2) == 0,
           "slots and lengths that are not there");
    expect(alpha_slot_save(&state, 0, NULL, 512) == BAD &&
               alpha_slot_load(&state, 0, NULL, 512) == BAD &&
               alpha_slot_save(&state, 0, saved, 10) == alpha_SMALL_MEMORY &&
               alpha_slot_load(&state, 0, saved, 10) != 0,
           "no memory to save to, or to load from");
    expect(alpha_read_source(&state, 0, NULL, 3) == BAD &&
               alpha_read_source(&state, 0, &token, -1) == BAD &&
               alpha_read_source(&state, 0, &token, 1) == alpha_BAD_SOURCE,
           "no source");
    expect(alpha_read_inputs(NULL, 0, NULL, NULL) == BAD &&
               alpha_read_inputs(&state, 0, NULL, NULL) < 0,
           "no inputs");
    expect(alpha_first_tokens(NULL, 3) == BAD && alpha_first_tokens(NULL, 0) == 0 &&
               alpha_end_tokens(NULL, 1) == BAD && alpha_end_tokens(&token, -1) == BAD &&
               alpha_end_tokens(&token, 1) == 1 && token == 2,
           "nowhere to write tokens to");
    expect(alpha_begin_token() == 1 && alpha_token("x", 1) == -1 && alpha_token(NULL, 3) == -1,
           "tokens by name");
    expect(alpha_encode("x", 1, &token, 1, saved) == -1 && alpha_decode(NULL, 1, NULL) == 0,
           "no tokenizer");
    expect(alpha_sampler_init(NULL, NULL, saved, 1) == BAD &&
               alpha_sampler_init(&sampler, NULL, NULL, 1) == BAD &&
               alpha_sampler_init(&sampler, NULL, saved, 1) == alpha_SMALL_MEMORY,
           "nothing to open a sampler in");
    expect(alpha_sample(&sampler, logits, NULL, 0) == alpha_NOT_OPEN &&
               alpha_sample(NULL, logits, NULL, 0) == BAD &&
               alpha_sample(&sampler, logits, NULL, 3) == BAD,
           "a sampler that is not open");
    void *room = aligned_alloc(64, (alpha_sampler_bytes() + 63) / 64 * 64);
    expect(alpha_sampler_init(&sampler, &(alpha_sampling){.temperature = -1}, room, 1 << 20) ==
                   alpha_BAD_OPTION &&
               alpha_sampler_init(&sampler, &(alpha_sampling){.top_p = 2}, room, 1 << 20) ==
                   alpha_BAD_OPTION,
           "settings that make no sense");
    expect(alpha_sampler_init(&sampler, NULL, room, alpha_sampler_bytes()) == 0 &&
               alpha_sample(&sampler, logits, &(int32_t){alpha_VOCAB_SIZE}, 1) == alpha_BAD_TOKEN,
           "a token before that is none");
    expect(!strcmp(alpha_cpu(NULL), "none") && strstr(alpha_error_text(BAD), "NULL"),
           "it has a text");
    alpha_close(NULL);
    alpha_close(&state);
    alpha_close(&state);
    free(room);
    free(memory);
}

// Threads stay with the parent: the child's calls end with an error instead of never, and its own
// state works.
static int in_child(alpha_state *state) {
    void *memory;
    float logits[alpha_VOCAB_SIZE];
    alpha_row row = {.token = 5, .wants_logits = true};
    alarm(20);
    if (alpha_forward(state, &row, 1, logits) != alpha_FORKED) return 1;
    alpha_close(state);
    alpha_state own = open_alpha((alpha_options){.threads = 2}, &memory);
    if (alpha_forward(&own, &row, 1, logits)) return 2;
    alpha_close(&own);
    return 0;
}

static void forks(void) {
    void *memory, *single;
    float logits[alpha_VOCAB_SIZE];
    alpha_row row = {.token = 5, .wants_logits = true};
    alpha_state state = open_alpha((alpha_options){.threads = 2}, &memory),
                alone = open_alpha((alpha_options){.threads = 1}, &single);
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) _exit(in_child(&state) ? 1 : alpha_forward(&alone, &row, 1, logits) ? 2 : 0);
    expect(waitpid(child, &status, 0) == child && status == 0,
           "a forked child is told, and goes on by itself");
    expect(alpha_forward(&state, &row, 1, logits) == 0, "its parent goes on as before");
    alpha_close(&state);
    alpha_close(&alone);
    free(memory);
    free(single);
}

static void saved_slots(void) {
    static float logits[3][alpha_VOCAB_SIZE];
    unsigned char saved[1024];
    void *memory, *other;
    alpha_state state = open_alpha((alpha_options){.slots = 2}, &memory),
                fresh = open_alpha((alpha_options){0}, &other);
    for (int i = 0; i <= LENGTH; i++) {
        alpha_row row = row_of(1, i);
        if (i == LENGTH)
            expect(alpha_slot_save(&state, 1, saved, sizeof saved) == 0 &&
                       alpha_slot_load(&fresh, 0, saved, sizeof saved) == 0,
                   "a slot is saved and loaded");
        alpha_forward(&state, &row, 1, logits[0]);
    }
    alpha_row next = row_of(1, LENGTH);
    next.slot = 0;
    expect(alpha_slot_length(&fresh, 0) == LENGTH &&
               alpha_forward(&fresh, &next, 1, logits[1]) == 0 &&
               !memcmp(logits[0], logits[1], sizeof *logits),
           "and goes on with the same bits");
    size_t bytes = alpha_slot_saved_bytes(&state, 1);
    int noticed = 1;
    alpha_slot_save(&state, 1, saved, sizeof saved);
    for (size_t i = 0; i < bytes && i < 40; i++) {
        saved[i] ^= 4;
        noticed &= alpha_slot_load(&fresh, 0, saved, bytes) != 0;
        saved[i] ^= 4;
    }
    expect(noticed && alpha_slot_length(&fresh, 0) == LENGTH + 1,
           "a flipped bit is noticed, and the slot is as it was");
    saved[8] ^= 1;
    expect(alpha_slot_load(&fresh, 0, saved, bytes) == alpha_OTHER_MODEL,
           "another model's is refused");
    alpha_close(&state);
    alpha_close(&fresh);
    free(memory);
    free(other);
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
    expect(alpha_abi_version() == alpha_ABI_VERSION && !strcmp(beta_cpu(&b), "plain+more"),
           "says what it is");
    alpha_close(&a);
    beta_close(&b);
    free(memory);
    free(other);
}

int main(void) {
    batches();
    errors();
    bad_arguments();
    forks();
    saved_slots();
    two_models();
    return failed;
}
