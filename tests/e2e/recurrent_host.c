// A host of a small model with states, as burin emits it: two texts in two slots in turn, one cut
// short and read on, one copied; all logits must have the bits of each text read alone. usage:
// recurrent_host IDS [recurrent]: whose states cannot go back
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "states.h"

enum { MOST = 64 };

static int failures;
#define CHECK(condition) \
    if (!(condition)) printf("not ok - line %d: %s\n", __LINE__, #condition), failures++

static states_state state;
static int32_t text[2][MOST];  // the second is the first backwards
static int length;
static float alone[2][MOST][states_VOCAB_SIZE], got[MOST][states_VOCAB_SIZE];

static states_row row(int which, int slot, int position) {
    return (states_row){text[which][position], slot, position, 1};
}

// Positions [from, length) of a text, one by one.
static void read_on(int which, int slot, int from) {
    for (int i = from; i < length; i++) {
        states_row next = row(which, slot, i);
        CHECK(states_forward(&state, &next, 1, got[i]) == 0);
    }
}

static void read_up_to(int which, int slot, int end) {
    int whole = length;
    length = end;
    read_on(which, slot, 0);
    length = whole;
}

// Three tokens of the second text in slot 1: cut short, or, where a recurrence cannot, read again.
static void cut_short(int recurrent) {
    if (recurrent) {
        CHECK(states_slot_truncate(&state, 1, 3) == states_BEHIND_WINDOW &&
              states_slot_length(&state, 1) == length);
        CHECK(states_slot_truncate(&state, 1, length) == 0 && states_slot_reset(&state, 1) == 0);
        read_up_to(1, 1, 3);
    } else {
        CHECK(states_slot_truncate(&state, 1, 3) == 0);
    }
}

static int same(int which, int from) {
    return !memcmp(got[from], alone[which][from], (size_t)(length - from) * sizeof *got);
}

static void read_alone(int which) {
    states_row rows[MOST];
    for (int i = 0; i < length; i++) rows[i] = row(which, 0, i);
    CHECK(states_slot_reset(&state, 0) == 0 &&
          states_forward(&state, rows, length, alone[which][0]) == 0);
}

// Rows of both texts alternate in one call.
static void read_together(void) {
    static float both[2 * MOST][states_VOCAB_SIZE];
    states_row rows[2 * MOST];
    int equal = 1;
    for (int i = 0; i < length; i++) rows[2 * i] = row(0, 0, i), rows[2 * i + 1] = row(1, 1, i);
    CHECK(states_slot_reset(&state, 0) == 0 && states_slot_reset(&state, 1) == 0);
    CHECK(states_forward(&state, rows, 2 * length, both[0]) == 0);
    for (int i = 0; i < 2 * length; i++)
        equal &= !memcmp(both[i], alone[i % 2][i / 2], sizeof *both);
    CHECK(equal);
}

int main(int argc, char **argv) {
    states_options o = {.slots = 3, .threads = 2};
    size_t bytes = states_state_bytes(&o);
    void *memory = aligned_alloc(states_ALIGNMENT, bytes);
    if (argc < 2 || !memory) return 2;
    memset(memory, 0xff, bytes);  // unwritten state must not be read
    CHECK(states_init(&state, &o, memory, bytes) == 0);
    for (char *at = argv[1]; *at && length < MOST; at += *at == ',')
        text[0][length++] = (int32_t)strtol(at, &at, 10);
    for (int i = 0; i < length; i++) text[1][i] = text[0][length - 1 - i];
    CHECK(length > 6);
    for (int i = 0; i < 2; i++) read_alone(i);
    CHECK(memcmp(alone[0], alone[1], sizeof alone[0]));
    read_together();
    cut_short(argc == 3);
    CHECK(states_slot_copy(&state, 2, 1) == 0 && states_slot_length(&state, 2) == 3);
    read_on(1, 1, 3);
    CHECK(same(1, 3));
    read_on(1, 2, 3);
    CHECK(same(1, 3));
    CHECK(states_slot_reset(&state, 1) == 0);
    read_on(0, 1, 0);
    CHECK(same(0, 0));
    states_close(&state);
    free(memory);
    return failures != 0;
}
