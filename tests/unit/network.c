// Networks over a fake model: a run of several sequences takes their rows, and refuses any other
// number, whatever the library's caller passes, before anything is computed.
#include "engine/network.h"

#include <stdlib.h>

#include "tests/e2e/fake_model.h"
#include "unit.h"

enum { WIDTH = 2 };

static int n_runs;

// An embedding of each text: how many rows it has, and which text it is.
static void run_texts(const burin_step *s, int thread) {
    float *to = s->outputs[0];
    if (thread) return;
    n_runs++;
    for (int i = 0; i < s->n_sequences; i++) {
        to[i * WIDTH] = (float)s->sequence_rows[i];
        to[i * WIDTH + 1] = (float)i;
    }
}

static int64_t rows_of(int k, const int64_t *symbols) { return symbols[k]; }

static const burin_variant variants[] = {
    {.cpu = "plain", .needs = "any CPU", .supported = fake_here, .forward = run_texts}};
static const burin_tensor tokens = {.name = "input_ids",
                                    .type = "i64",
                                    .rank = 1,
                                    .dim = {-1},
                                    .shape = "[L]",
                                    .least = 1},
                          embedding = {.name = "embedding",
                                       .type = "f32",
                                       .rank = 1,
                                       .dim = {WIDTH},
                                       .shape = "[2]"};
static const burin_symbol length = {.name = "L", .lower = 1, .upper = FAKE_ROWS};
static const burin_network net = {.inputs = &tokens,
                                  .outputs = &embedding,
                                  .n_inputs = 1,
                                  .n_outputs = 1,
                                  .symbols = &length,
                                  .n_symbols = 1,
                                  .dimension = rows_of,
                                  .texts = true};

typedef struct Opened {
    burin_model model;
    burin_session *session;
    void *memory;
} Opened;

static void open_network(Opened *o, const burin_network *network) {
    burin_options options = {.threads = 1};
    o->model = (burin_model)FAKE_MODEL;
    o->model.net = network;
    o->model.variants = variants;
    o->model.n_variants = 1;
    size_t bytes = burin_session_bytes(&o->model, &options);
    o->memory = aligned_alloc(BURIN_ALIGNMENT, bytes);
    CHECK(burin_session_open(&o->session, &o->model, &options, o->memory, bytes) == BURIN_OK);
    n_runs = 0;
}

static void close_network(const Opened *o) {
    burin_session_close(o->session);
    free(o->memory);
}

static burin_status run(const Opened *o, const int32_t *rows, int n, int64_t all, float *result) {
    static const int64_t ids[2 * FAKE_ROWS];
    const void *const inputs[] = {ids};
    void *const outputs[] = {result};
    int64_t symbols[] = {all};
    return burin_network_run_sequences(o->session, inputs, &(burin_sequence_rows){rows, n}, symbols,
                                       outputs);
}

static void texts_share_a_step(void) {
    Opened o;
    float result[8];
    open_network(&o, &net);
    CHECK(run(&o, (const int32_t[]){7}, 1, 7, result) == BURIN_OK);
    CHECK(result[0] == 7 && o.session->step.n_sequences == 0 && !o.session->step.sequence_rows);
    CHECK(run(&o, (const int32_t[]){FAKE_ROWS}, 1, FAKE_ROWS, result) == BURIN_OK);
    CHECK(n_runs == 2);
    close_network(&o);
}

static void rows_of_no_texts_are_refused(void) {
    static const struct {
        int32_t rows[4];
        int n;
        int64_t all;
    } wrong[] = {
        {{3}, 0, 3},        // no text
        {{3}, -1, 3},       // fewer
        {{3, 4}, 2, 8},     // rows of no text
        {{3, 4}, 2, 6},     // more rows than there are
        {{3, 0, 4}, 3, 7},  // a text without rows
        {{-1, 8}, 2, 7},    // one with fewer
        {{3, 4}, 2, 7},     // each in whole blocks of its caches: more keys than there is room for
        {{FAKE_ROWS + 1}, 1, 17},  // more rows than the model takes
        {{INT32_MAX, INT32_MAX, 2}, 3, 0},
    };
    Opened o;
    float result[8] = {42};
    open_network(&o, &net);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(run(&o, wrong[i].rows, wrong[i].n, wrong[i].all, result) == BURIN_BAD_SHAPE);
    CHECK(n_runs == 0 && result[0] == 42 && o.session->step.n_sequences == 0);
    CHECK(strstr(burin_status_text(BURIN_BAD_SHAPE), "dimensions") != NULL);
    close_network(&o);
}

static void a_network_of_one_text_refuses_all(void) {
    Opened o;
    float result[8];
    burin_network alone = net;
    alone.texts = false;
    open_network(&o, &alone);
    CHECK(run(&o, (const int32_t[]){7}, 1, 7, result) == BURIN_BAD_SHAPE && n_runs == 0);
    close_network(&o);
}

SUITE(network) {
    TEST(texts_share_a_step);
    TEST(rows_of_no_texts_are_refused);
    TEST(a_network_of_one_text_refuses_all);
}
