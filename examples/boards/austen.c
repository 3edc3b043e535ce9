// examples/austen on a microcontroller: 64 tokens of text behind a prompt, always the likeliest, the hash of all logits
// (`austen --logits-hash` gives the same on any computer), and the memory that it took.
#include "austen.h"

#include <string.h>

#include "board.h"

enum { TOKENS = 64, MOST_PROMPT = 32 };
static const char prompt[] = "It is a truth";
static _Alignas(64) unsigned char memory[1 << 20];
static float logits[austen_VOCAB_SIZE];

static uint64_t hash_floats(uint64_t hash, const float *values, int n) {
    for (int i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, &values[i], sizeof word);
        hash = (hash ^ word) * 0x100000001b3;
    }
    return hash;
}

static int32_t largest(void) {
    int32_t best = 0;
    for (int32_t i = 1; i < austen_VOCAB_SIZE; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static void write_token(int *decoder, int32_t token) {
    char bytes[256];
    size_t n = austen_decode(decoder, token, bytes);
    bytes[n] = 0;
    board_write(bytes);
}

// Reads ids[0] to ids[n - 1], and writes the tokens that follow.
static int write_text(austen_state *state, int32_t *ids, int n, uint64_t *hash) {
    char unseen[256];
    int decoder = 0, status = 0;
    for (int i = 0; i < n; i++) austen_decode(&decoder, ids[i], unseen);
    for (int at = 0; at < n + TOKENS - 1 && !status; at++) {
        austen_row row = {.token = ids[at < n ? at : n], .position = at, .wants_logits = true};
        status = austen_forward(state, &row, 1, logits);
        *hash = hash_floats(*hash, logits, austen_VOCAB_SIZE);
        if (at >= n - 1) write_token(&decoder, ids[n] = largest());
    }
    return status;
}

int main(void) {
    austen_options options = {.threads = 1};
    austen_state state;
    int32_t ids[MOST_PROMPT + 1];
    uint64_t hash = 0xcbf29ce484222325;
    int n = (int)austen_encode(prompt, sizeof prompt - 1, ids, MOST_PROMPT, memory);
    int status = austen_init(&state, &options, memory, sizeof memory);
    if (!status) status = write_text(&state, ids, n, &hash);
    if (status) board_write(austen_error_text(status));
    board_write_number("\nstate ", (uint32_t)austen_state_bytes(&options), " bytes, ");
    board_write_number("stack ", board_stack_used(), " bytes\nhash ");
    board_write_hash(hash);
    return status;
}
