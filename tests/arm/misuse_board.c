// A decoder's library on a microcontroller, called wrongly: each call returns its status and
// changes nothing, and memory never lent to it stays. Prints an unexpected status, or "all
// refused".
#include <string.h>

#include "board.h"
#include "text.h"

enum { GUARD = 64 };
extern unsigned char ram_free[], ram_end[];  // of board.ld: what nothing else takes
static float first[text_VOCAB_SIZE], again[text_VOCAB_SIZE];
static int mistakes;

static void expect(int got, int expected, const char *what) {
    if (got == expected) return;
    board_write(what);
    board_write_number(got < 0 ? ": -" : ": ", (uint32_t)(got < 0 ? -got : got), "\n");
    mistakes++;
}

static void wrong_memory(unsigned char *memory, size_t bytes) {
    text_state state;
    expect(text_init(&state, NULL, memory + 4, bytes), text_BAD_ALIGNMENT,
           "memory that is not aligned");
    expect(text_init(&state, NULL, memory, bytes - 1), text_SMALL_MEMORY, "a byte too little");
    expect(text_init(&state, NULL, memory, 0), text_SMALL_MEMORY, "no bytes");
    expect(text_init(&state, NULL, NULL, bytes), text_BAD_ARGUMENT, "no memory");
    expect(text_init(NULL, NULL, memory, bytes), text_BAD_ARGUMENT, "no state");
    expect(text_init(&state, &(text_options){.threads = 2}, memory, bytes), text_BAD_OPTION,
           "two threads");
    expect(text_init(&state, &(text_options){.slots = -1}, memory, bytes), text_BAD_OPTION,
           "slots below 0");
    expect(text_init(&state, &(text_options){.cpu = "cortex-a76"}, memory, bytes), text_BAD_CPU,
           "another CPU");
    expect(text_forward(&state, &(text_row){.token = 1}, 1, first), text_NOT_OPEN,
           "a state that was never opened");
    expect(text_state_bytes(&(text_options){.max_rows = -1}) == 0, 1, "rows below 0");
}

static void wrong_rows(text_state *state) {
    const text_row row = {.token = 1, .position = 1, .wants_logits = true};
    text_row bad = row;
    expect(text_forward(state, NULL, 1, again), text_BAD_ARGUMENT, "no rows");
    expect(text_forward(state, &row, -1, again), text_BAD_ARGUMENT, "a number of rows below 0");
    expect(text_forward(state, &row, 1, NULL), text_NO_LOGITS, "nowhere to write logits");
    expect(text_forward(NULL, &row, 1, again), text_BAD_ARGUMENT, "rows of no state");
    bad.token = text_VOCAB_SIZE;
    expect(text_forward(state, &bad, 1, again), text_BAD_TOKEN, "a token beyond the vocabulary");
    bad.token = -1;
    expect(text_forward(state, &bad, 1, again), text_BAD_TOKEN, "a token below 0");
    bad = row, bad.slot = 1;
    expect(text_forward(state, &bad, 1, again), text_BAD_SLOT, "a slot that is not there");
    bad = row, bad.position = 5;
    expect(text_forward(state, &bad, 1, again), text_BAD_POSITION, "a position ahead");
    expect(text_slot_truncate(state, 0, 2), text_BAD_LENGTH, "a slot made longer");
    expect(text_slot_load(state, 0, ram_free, 10), text_BAD_SAVED, "a slot of ten bytes");
    expect(text_slot_copy(state, 0, 7), text_BAD_SLOT, "a copy of no slot");
    expect(text_slot_length(state, 0), 1, "the slot's length, behind all that");
}

// Fills the context, and one more.
static void overflow(text_state *state) {
    int status = 0;
    text_row row = {.token = 1, .position = 1};
    for (; !status && row.position < text_CONTEXT; row.position++)
        status = text_forward(state, &row, 1, NULL);
    expect(status, 0, "a full context");
    expect(text_forward(state, &row, 1, NULL), text_CONTEXT_FULL, "a row beyond the context");
    expect(text_slot_length(state, 0), text_CONTEXT, "the full slot's length");
    expect(text_slot_reset(state, 0), 0, "a reset");
}

int main(void) {
    text_state state;
    size_t bytes = text_state_bytes(NULL);
    text_row row = {.token = 1, .wants_logits = true};
    memset(ram_free, 0x5a, bytes + GUARD);
    wrong_memory(ram_free, bytes);
    expect(text_init(&state, NULL, ram_free, bytes), 0, "as many bytes as it asks for");
    expect(text_forward(&state, &row, 1, first), 0, "a row");
    wrong_rows(&state);
    overflow(&state);
    expect(text_forward(&state, &row, 1, again), 0, "the same row");
    expect(memcmp(first, again, sizeof first), 0, "its logits");
    for (int i = 0; i < GUARD; i++)
        expect(ram_free[bytes + (size_t)i], 0x5a, "a byte behind the memory");
    text_close(&state);
    expect(text_forward(&state, &row, 1, again), text_NOT_OPEN, "a closed state");
    board_write(mistakes ? "wrong\n" : "all refused\n");
    return mistakes > 0;
}
