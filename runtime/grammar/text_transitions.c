#include "text_transitions.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"

enum { NOT_KNOWN = -1, DIFFERENT = -2, NONE_YET = -3 };

void burin_plain_forget(burin_text_transitions *p) {
    for (int g = 0; g < BURIN_ALPHABETS; g++) free(p->next[g]);
    *p = (burin_text_transitions){0};
}

static void room_for_state(burin_text_transitions *p, int32_t state) {
    if (state < p->room) return;
    int32_t room = 2 * state + 256;
    for (int g = 0; g < BURIN_ALPHABETS; g++) {
        int32_t *more = burin_allocate((size_t)room, sizeof *more);
        if (p->room) memcpy(more, p->next[g], (size_t)p->room * sizeof *more);
        for (int32_t i = p->room; i < room; i++) more[i] = NOT_KNOWN;
        free(p->next[g]);
        p->next[g] = more;
    }
    p->room = room;
}

static int32_t agree(int32_t so_far, int32_t next) {
    return so_far == NONE_YET || so_far == next ? next : DIFFERENT;
}

// The state after each of the bytes low to high, those of `plain` alone if it is given.
static int32_t step_range(burin_recognizer *m, int32_t state, int low, int high,
                          bool (*plain)(uint8_t)) {
    const uint8_t *class_of;
    int32_t found = NONE_YET, n_classes, last = -1;
    burin_recognizer_steps(m, &class_of, &n_classes);
    for (int byte = low; byte <= high && found != DIFFERENT; byte++) {
        if ((plain && !plain((uint8_t)byte)) || class_of[byte] == last) continue;
        last = class_of[byte];
        found = agree(found, burin_recognizer_step(m, state, (uint8_t)byte));
    }
    return found;
}

static int32_t step_wide(burin_recognizer *m, int32_t state, const burin_wide_row *row,
                         int32_t found) {
    const uint8_t *class_of;
    int32_t n_classes, last = -1;
    burin_recognizer_steps(m, &class_of, &n_classes);
    for (int byte = row->low; byte <= row->high && found != DIFFERENT; byte++) {
        if (class_of[byte] == last) continue;
        last = class_of[byte];
        int32_t next = burin_recognizer_step(m, state, (uint8_t)byte);
        if (next) next = step_range(m, next, row->second_low, row->second_high, NULL);
        for (int k = 0; k < row->more && next > 0; k++)
            next = step_range(m, next, 0x80, 0xbf, NULL);
        found = agree(found, next);
    }
    return found;
}

static int32_t step_all_wide(burin_recognizer *m, int32_t state) {
    int32_t next = burin_recognizer_step_parts(m, state, BURIN_PART_WIDE), found = NONE_YET;
    if (next >= 0) return next;
    for (int i = 0; i < BURIN_WIDE_ROWS && found != DIFFERENT; i++)
        found = step_wide(m, state, &burin_wide_rows[i], found);
    return found;
}

static const struct {
    uint8_t part;
    bool (*has)(uint8_t byte);
} ascii_parts[BURIN_ALPHABETS] = {[BURIN_ASCII] = {BURIN_PART_ASCII, burin_plain_ascii},
                                  [BURIN_LETTERS] = {BURIN_PART_LETTERS, burin_plain_lower},
                                  [BURIN_WORDS] = {BURIN_PART_WORD, burin_plain_word}};

static int32_t plain_step(burin_text_transitions *p, burin_recognizer *m, int32_t state,
                          burin_alphabet alphabet) {
    room_for_state(p, state);
    int32_t found = p->next[alphabet][state];
    if (found != NOT_KNOWN) return found;
    if (alphabet == BURIN_ANY || alphabet == BURIN_ANY_LETTER) {
        found = plain_step(p, m, state, alphabet == BURIN_ANY ? BURIN_ASCII : BURIN_LETTERS);
        if (found != DIFFERENT) found = agree(found, plain_step(p, m, state, BURIN_BEYOND));
    } else if (alphabet == BURIN_BEYOND) {
        found = step_all_wide(m, state);
    } else {
        found = burin_recognizer_step_parts(m, state, ascii_parts[alphabet].part);
        if (found < 0) found = step_range(m, state, 0, 0x7f, ascii_parts[alphabet].has);
    }
    return p->next[alphabet][state] = found;
}

int32_t burin_plain_reach(burin_text_transitions *p, burin_recognizer *m, int32_t state,
                          burin_alphabet alphabet) {
    for (int32_t n = 0; n < BURIN_PLAIN_LONGEST; n++) {
        int32_t next = plain_step(p, m, state, alphabet);
        if (next == state) break;
        if (next <= 0) return next ? -1 : n;
        state = next;
    }
    return BURIN_PLAIN_LONGEST;
}
