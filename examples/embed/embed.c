// A host program with a compiled model inside: two texts are continued in one batch, then each
// alone, and the logits compared bit by bit. All memory is given at the start; the calls allocate
// nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "austen.h"

enum { SLOTS = 2, MOST_TOKENS = 64, GENERATED = 32 };

typedef struct text {
    int32_t token[MOST_TOKENS];
    int length;
    float logits[austen_VOCAB_SIZE];  // of its last token
} text;

static void check(int status) {
    if (!status) return;
    fprintf(stderr, "embed: %s\n", austen_error_text(status));
    exit(1);
}

static austen_state open_model(void **memory) {
    austen_options options = {.slots = SLOTS};
    austen_state state;
    size_t bytes = austen_state_bytes(&options);
    *memory = aligned_alloc(austen_ALIGNMENT, bytes);
    check(austen_init(&state, &options, *memory, bytes));
    return state;
}

static void encode(text *t, const char *words) {
    size_t bytes = strlen(words);
    void *memory = aligned_alloc(16, (austen_encode_memory(bytes) + 15) & ~(size_t)15);
    t->length = (int)austen_encode(words, bytes, t->token, MOST_TOKENS - GENERATED, memory);
    free(memory);
    if (t->length < 1 || t->length > MOST_TOKENS - GENERATED) {
        fprintf(stderr, "embed: the prompt is too long\n");
        exit(1);
    }
}

// Reads what the slots have not read yet, of all texts in one call. texts[i] is in slot i; NULL:
// not in this batch.
static void read_texts(austen_state *state, text *const texts[SLOTS]) {
    static float logits[SLOTS][austen_VOCAB_SIZE];
    austen_row rows[SLOTS * MOST_TOKENS];
    int n = 0, wanted = 0;
    for (int slot = 0; slot < SLOTS; slot++)
        for (int i = texts[slot] ? austen_slot_length(state, slot) : 0;
             texts[slot] && i < texts[slot]->length; i++)
            rows[n++] = (austen_row){texts[slot]->token[i], slot, i, i == texts[slot]->length - 1};
    check(austen_forward(state, rows, n, logits[0]));
    for (int slot = 0; slot < SLOTS; slot++)
        if (texts[slot]) memcpy(texts[slot]->logits, logits[wanted++], sizeof logits[0]);
}

static int32_t likeliest(const float *logits) {
    int32_t best = 0;
    for (int32_t i = 1; i < austen_VOCAB_SIZE; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static void print(const text *t, int from) {
    char *bytes = malloc(austen_decode_max());
    int decoder = 0;
    for (int i = 0; i < t->length; i++) {
        size_t n = austen_decode(&decoder, t->token[i], bytes);
        if (i >= from) fwrite(bytes, 1, n, stdout);
    }
    putchar('\n');
    free(bytes);
}

int main(void) {
    static const char *const prompts[SLOTS] = {"It was", "She looked at him"};
    static text batch[SLOTS], alone[SLOTS];
    int same = 1;
    void *memory;
    austen_state state = open_model(&memory);
    printf("austen %s on %s, %zu bytes of state\n", austen_identity(), austen_cpu(&state),
           austen_state_bytes(&(austen_options){.slots = SLOTS}));
    for (int slot = 0; slot < SLOTS; slot++) {
        encode(&batch[slot], prompts[slot]);
        alone[slot] = batch[slot];
    }
    for (int i = 0; i < GENERATED; i++) {
        read_texts(&state, (text *const[SLOTS]){&batch[0], &batch[1]});
        for (int slot = 0; slot < SLOTS; slot++)
            batch[slot].token[batch[slot].length++] = likeliest(batch[slot].logits);
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        check(austen_slot_reset(&state, slot));
        text *const one[SLOTS] = {slot == 0 ? &alone[0] : NULL, slot == 1 ? &alone[1] : NULL};
        for (int i = 0; i < GENERATED; i++) {
            read_texts(&state, one);
            alone[slot].token[alone[slot].length++] = likeliest(alone[slot].logits);
        }
        same &= !memcmp(&alone[slot], &batch[slot], sizeof batch[slot]);
        printf("%s:", prompts[slot]);
        print(&batch[slot], batch[slot].length - GENERATED);
    }
    printf("in one batch and each alone: %s\n", same ? "the same bits" : "DIFFERENT");
    austen_close(&state);
    free(memory);
    return !same;
}
