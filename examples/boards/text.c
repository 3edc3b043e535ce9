// A decoder or an encoder-decoder on a microcontroller: the likeliest TOKENS tokens behind PROMPT,
// fewer where the text ends, the hash of all logits (`--temp 0 --logits-hash` gives the same on any
// computer), and the memory that it took.
#include "text.h"

#include <string.h>

#include "board.h"

#ifndef PROMPT
#define PROMPT "It is a truth"
#endif
#ifndef TOKENS
#define TOKENS 64
#endif

extern unsigned char ram_free[], ram_end[];  // of board.ld: what nothing else takes
static const char prompt[] = PROMPT;
static float logits[text_VOCAB_SIZE];
static int32_t ids[text_CONTEXT + 1], ends[8];
static int n_ends;

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
    for (int32_t i = 1; i < text_VOCAB_SIZE; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static bool ends_text(int32_t token) {
    for (int i = 0; i < n_ends; i++)
        if (ends[i] == token) return true;
    return false;
}

static void write_token(int *decoder, int32_t token) {
    char bytes[256];
    size_t n = text_decode(decoder, token, bytes);
    bytes[n] = 0;
    board_write(bytes);
}

// Reads ids[0] to ids[n - 1], and writes the tokens that follow.
static int write_text(text_state *state, int n, uint64_t *hash) {
    char unseen[256];
    int decoder = 0, status = 0;
    for (int i = 0; i < n; i++) text_decode(&decoder, ids[i], unseen);
    for (int at = 0; at < n + TOKENS - 1 && at < text_CONTEXT && !status; at++) {
        text_row row = {.token = ids[at], .position = at, .wants_logits = true};
        status = text_forward(state, &row, 1, logits);
        *hash = hash_floats(*hash, logits, text_VOCAB_SIZE);
        if (at < n - 1) continue;
        ids[at + 1] = largest();
        if (ends_text(ids[at + 1])) break;
        write_token(&decoder, ids[at + 1]);
    }
    return status;
}

// What an encoder-decoder is asked is its source; the text begins with tokens of its own.
static int read_prompt(text_state *state, int *n) {
    int first = text_first_tokens(NULL, 0);
    if (first <= 0) return 0;
    int status = text_read_source(state, 0, ids, *n);
    *n = text_first_tokens(ids, text_CONTEXT);
    return status;
}

int main(void) {
    text_options options = {.threads = 1};
    text_state state;
    uint64_t hash = 0xcbf29ce484222325;
    int n = (int)text_encode(prompt, sizeof prompt - 1, ids, text_CONTEXT, ram_free);
    n_ends = text_end_tokens(ends, 8);
    int status = text_init(&state, &options, ram_free, (size_t)(ram_end - ram_free));
    if (!status) status = read_prompt(&state, &n);
    if (!status) status = write_text(&state, n, &hash);
    if (status) board_write(text_error_text(status));
    board_write_number("\nstate ", (uint32_t)text_state_bytes(&options), " bytes, ");
    board_write_number("stack ", board_stack_used(), " bytes\nhash ");
    board_write_hash(hash);
    return status;
}
