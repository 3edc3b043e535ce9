// Sessions over a fake model whose logits depend on every token, slot and position: chunks,
// batches, threads, slots, and errors that change nothing.
#include <stdlib.h>

#include "engine/forward.h"
#include "tests/e2e/fake_model.h"
#include "unit.h"

static const burin_model fake = FAKE_MODEL;

typedef struct Opened {
    burin_session *session;
    void *memory;
} Opened;

static Opened open_model(const burin_model *model, int slots, int max_rows, int threads) {
    burin_options o = {.slots = slots, .max_rows = max_rows, .threads = threads};
    size_t bytes = burin_session_bytes(model, &o);
    Opened opened = {.memory = aligned_alloc(BURIN_ALIGNMENT, bytes)};
    memset(opened.memory, 0xff, bytes);
    CHECK(burin_session_open(&opened.session, model, &o, opened.memory, bytes) == BURIN_OK);
    return opened;
}

static Opened open_session(int slots, int max_rows, int threads) {
    return open_model(&fake, slots, max_rows, threads);
}

static void close_session(Opened o) {
    burin_session_close(o.session);
    free(o.memory);
}

static int32_t token_at(int slot, int position) {
    return (slot * 31 + position * 7 + 3) % FAKE_VOCAB;
}

static burin_row row_of(int slot, int position) {
    return (burin_row){.token = token_at(slot, position),
                       .slot = slot,
                       .position = position,
                       .wants_logits = true};
}

// The fake model's token after the first n tokens of a slot.
static float expected(int slot, int n, int token) {
    int32_t history[FAKE_CONTEXT];
    for (int i = 0; i < n; i++) history[i] = token_at(slot, i);
    return fake_logit(history, n - 1, token);
}

static bool logits_right(const float *logits, int slot, int n) {
    for (int v = 0; v < FAKE_VOCAB; v++)
        if (logits[v] != expected(slot, n, v)) return false;
    return true;
}

static void same_for_all_chunks_and_threads(void) {
    const int chunks[] = {1, 3, 7, FAKE_ROWS}, threads[] = {1, 2, 7};
    static float logits[40][FAKE_VOCAB];
    burin_row rows[40];
    for (int i = 0; i < 40; i++) rows[i] = row_of(0, i);
    for (int c = 0; c < 4; c++)
        for (int t = 0; t < 3; t++) {
            Opened o = open_session(1, chunks[c], threads[t]);
            CHECK(burin_forward(o.session, rows, 40, logits[0]) == BURIN_OK);
            for (int i = 0; i < 40; i++) CHECK(logits_right(logits[i], 0, i + 1));
            CHECK(burin_slot_length(o.session, 0) == 40);
            close_session(o);
        }
}

static void slots_in_one_call(void) {
    static float logits[4][FAKE_VOCAB];
    Opened o = open_session(2, 0, 2);
    burin_row rows[] = {row_of(1, 0), row_of(0, 0), row_of(0, 1), row_of(1, 1)};
    rows[1].wants_logits = false;
    CHECK(burin_forward(o.session, rows, 4, logits[0]) == BURIN_OK);
    CHECK(logits_right(logits[0], 1, 1));
    CHECK(logits_right(logits[1], 0, 2));
    CHECK(logits_right(logits[2], 1, 2));
    close_session(o);
}

static void truncates_and_copies(void) {
    static float logits[8][FAKE_VOCAB];
    Opened o = open_session(2, 4, 1);
    burin_row rows[8];
    for (int i = 0; i < 8; i++) rows[i] = row_of(0, i);
    burin_forward(o.session, rows, 8, logits[0]);
    CHECK(burin_slot_truncate(o.session, 0, 9) == BURIN_BAD_LENGTH);
    CHECK(burin_slot_truncate(o.session, 0, 5) == BURIN_OK);
    CHECK(burin_slot_copy(o.session, 1, 0) == BURIN_OK);
    CHECK(burin_slot_length(o.session, 1) == 5);
    rows[5].slot = 1;
    CHECK(burin_forward(o.session, &rows[5], 1, logits[0]) == BURIN_OK);
    CHECK(logits_right(logits[0], 0, 6));
    CHECK(burin_slot_reset(o.session, 0) == BURIN_OK && burin_slot_length(o.session, 0) == 0);
    CHECK(burin_slot_copy(o.session, 2, 0) == BURIN_BAD_SLOT &&
          burin_slot_reset(o.session, -1) == BURIN_BAD_SLOT);
    close_session(o);
}

// An encoder's result belongs to the slot: a copy has it, and a copy of a slot without one has
// none.
static void copies_have_the_memory_of_their_source(void) {
    static const burin_encoder encoder;
    burin_model reader = fake;
    reader.encoder = &encoder;
    Opened o = open_model(&reader, 3, 4, 1);
    burin_row row = row_of(1, 0);
    row.wants_logits = false;
    CHECK(burin_forward(o.session, &row, 1, NULL) == BURIN_NO_SOURCE);
    o.session->source_length[0] = 5;
    CHECK(burin_slot_copy(o.session, 1, 0) == BURIN_OK && o.session->source_length[1] == 5);
    CHECK(burin_forward(o.session, &row, 1, NULL) == BURIN_OK);
    CHECK(burin_slot_copy(o.session, 1, 2) == BURIN_OK && burin_slot_length(o.session, 1) == 0);
    CHECK(burin_forward(o.session, &row, 1, NULL) == BURIN_NO_SOURCE);
    close_session(o);
}

static void errors_change_nothing(void) {
    static float logits[2][FAKE_VOCAB];
    Opened o = open_session(1, 0, 1);
    burin_row good = row_of(0, 0), bad;
    burin_row rows[2] = {good};
    bad = row_of(0, 1);
    bad.token = FAKE_VOCAB;
    rows[1] = bad;
    CHECK(burin_forward(o.session, rows, 2, logits[0]) == BURIN_BAD_TOKEN);
    bad = row_of(0, 1);
    bad.token = -1;
    rows[1] = bad;
    CHECK(burin_forward(o.session, rows, 2, logits[0]) == BURIN_BAD_TOKEN);
    bad = row_of(0, 1);
    bad.slot = 1;
    rows[1] = bad;
    CHECK(burin_forward(o.session, rows, 2, logits[0]) == BURIN_BAD_SLOT);
    rows[1] = row_of(0, 2);
    CHECK(burin_forward(o.session, rows, 2, logits[0]) == BURIN_BAD_POSITION);
    rows[1] = row_of(0, 1);
    CHECK(burin_forward(o.session, rows, 2, NULL) == BURIN_NO_LOGITS);
    CHECK(burin_slot_length(o.session, 0) == 0);
    CHECK(burin_forward(o.session, rows, 0, NULL) == BURIN_OK);
    close_session(o);
}

static void context_ends(void) {
    Opened o = open_session(1, 0, 1);
    for (int i = 0; i < FAKE_CONTEXT; i++) {
        burin_row row = row_of(0, i);
        row.wants_logits = false;
        CHECK(burin_forward(o.session, &row, 1, NULL) == BURIN_OK);
    }
    burin_row row = {.token = 1, .position = FAKE_CONTEXT};
    CHECK(burin_forward(o.session, &row, 1, NULL) == BURIN_CONTEXT_FULL);
    close_session(o);
}

static burin_status try_open(burin_options o, ptrdiff_t shift, ptrdiff_t more) {
    burin_options fits = {.slots = 1, .threads = 1};
    size_t bytes = burin_session_bytes(&fake, &fits);
    unsigned char *memory = aligned_alloc(64, bytes + 64);
    burin_session *session;
    burin_status status =
        burin_session_open(&session, &fake, &o, memory + shift, (size_t)((ptrdiff_t)bytes + more));
    if (!status) burin_session_close(session);
    CHECK((session != NULL) == (status == BURIN_OK));
    free(memory);
    return status;
}

static void opening_is_checked(void) {
    burin_options o = {.slots = 1, .threads = 1};
    CHECK(try_open(o, 0, 0) == BURIN_OK);
    CHECK(try_open(o, 8, 0) == BURIN_BAD_ALIGNMENT);
    CHECK(try_open(o, 0, -1) == BURIN_SMALL_MEMORY);
    CHECK(try_open((burin_options){.slots = -1, .threads = 1}, 0, 0) == BURIN_BAD_OPTION);
    CHECK(try_open((burin_options){.max_rows = FAKE_ROWS + 1, .threads = 1}, 0, 0) ==
          BURIN_BAD_OPTION);
    CHECK(try_open((burin_options){.threads = BURIN_MAX_THREADS + 1}, 0, 0) == BURIN_BAD_OPTION);
    CHECK(try_open((burin_options){.threads = 1, .cpu = "z80"}, 0, 0) == BURIN_BAD_CPU);
    CHECK(try_open((burin_options){.threads = 1, .cpu = "future"}, 0, 0) == BURIN_CPU_TOO_OLD);
    CHECK(burin_session_bytes(&fake, &(burin_options){.slots = -5}) == 0);
    burin_model huge = fake;
    huge.slot_bytes = SIZE_MAX / 2;
    CHECK(burin_session_bytes(&huge, &(burin_options){.slots = 3, .threads = 1}) == 0);
    huge.abi = BURIN_ABI + 1;
    burin_session *session;
    CHECK(burin_session_open(&session, &huge, &o, NULL, 0) == BURIN_BAD_ABI);
}

static void takes_the_best_cpu(void) {
    burin_status status;
    CHECK_TEXT(burin_variant_find(&fake, NULL, &status)->cpu, "plain+more");
    CHECK_TEXT(burin_variant_find(&fake, "plain", &status)->cpu, "plain");
    CHECK(!burin_variant_find(&fake, "future", &status) && status == BURIN_CPU_TOO_OLD);
    burin_model old = fake;
    old.variants = &fake.variants[2];
    old.n_variants = 1;
    CHECK(!burin_variant_find(&old, NULL, &status) && status == BURIN_CPU_TOO_OLD);
}

static void every_status_has_a_text(void) {
    for (int status = 0; status >= BURIN_NO_LOGITS; status--)
        CHECK(strcmp(burin_status_text((burin_status)status), "unknown status") != 0);
}

SUITE(session) {
    TEST(same_for_all_chunks_and_threads);
    TEST(slots_in_one_call);
    TEST(truncates_and_copies);
    TEST(copies_have_the_memory_of_their_source);
    TEST(errors_change_nothing);
    TEST(context_ends);
    TEST(opening_is_checked);
    TEST(takes_the_best_cpu);
    TEST(every_status_has_a_text);
}
