// --attention: the attention weights of every query, collected from the steps into one array
// [layers, heads, rows, keys]; 0 where a layer has fewer heads, rows or keys than others. A
// decoder's rows are positions: rows that are read again are overwritten. Attentions are numbered
// in the order of a step; those of an encoder come first.
#include "measure/attention_dump.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "program/ids.h"
#include "program/npy.h"
#include "program/output.h"

typedef struct attended_row {
    int heads, keys;
    float *shares;  // [heads][keys]
} attended_row;

typedef struct attended_layer {
    attended_row *rows;
    int n, room;
} attended_layer;

static struct {
    const burin_session *session;
    const char *path;
    burin_tokens wanted;  // numbers of attentions; none: all
    attended_layer *layers;
    int n, room, of_encoder;
    int next, texts, steps;  // next: the attention that the step has not come to
    bool by_row;             // the step is of a network or an encoder: it has all rows
} attended;

static bool is_attended(int layer) {
    for (int i = 0; i < attended.wanted.n; i++)
        if (attended.wanted.id[i] == layer) return true;
    return !attended.wanted.n;
}

// `count` elements of these bytes, `room` of which there were
static void *attended_room(void *old, int *room, int count, size_t bytes) {
    if (count <= *room) return old;
    int larger = 2 * count + 16;
    char *more = burin_allocate((size_t)larger, bytes);
    if (old) memcpy(more, old, (size_t)*room * bytes);
    free(old);
    *room = larger;
    return more;
}

static void begin_step(void *context, bool encoder) {
    (void)context;
    attended.by_row = encoder || attended.session->model->net;
    if (attended.by_row && attended.texts++)
        burin_stop(
            BURIN_USER_MISTAKE,
            "--attention looks at one text, and here is another one\nhint: give it one alone");
    if (!encoder && !attended.steps++) attended.of_encoder = attended.n;
    attended.next = encoder ? 0 : attended.of_encoder;
}

static attended_row *attended_row_of(const burin_query *q) {
    attended_layer *l = &attended.layers[attended.next - 1];
    int at = attended.by_row ? q->row : q->position;
    l->rows = attended_room(l->rows, &l->room, at + 1, sizeof *l->rows);
    if (at >= l->n) l->n = at + 1;
    return &l->rows[at];
}

static float *take_query(void *context, const burin_query *q) {
    (void)context;
    if (q->row == 0 && q->head == 0) attended.next++;
    attended.layers =
        attended_room(attended.layers, &attended.room, attended.next, sizeof *attended.layers);
    if (attended.n < attended.next) attended.n = attended.next;
    if (!is_attended(attended.next - 1)) return NULL;
    attended_row *row = attended_row_of(q);
    if (q->head == 0) {
        free(row->shares);
        *row = (attended_row){q->heads, q->keys,
                              burin_allocate((size_t)q->heads * (size_t)q->keys, sizeof(float))};
    }
    return row->shares + (size_t)q->head * (size_t)q->keys;
}

// After a step all attentions are known: nothing is written in vain.
static void check_layers(void *context) {
    (void)context;
    if (!attended.n)
        burin_stop(BURIN_USER_MISTAKE,
                   "--attention: this model has none that burin knows as attention");
    for (int i = 0; i < attended.wanted.n; i++)
        if (attended.wanted.id[i] >= attended.n)
            burin_stop(BURIN_USER_MISTAKE, "--layers %d: there are %d attentions, from 0 on",
                       attended.wanted.id[i], attended.n);
}

const burin_trace *burin_attention_open(const burin_session *session, const burin_command *c) {
    static const burin_trace trace = {
        .begin = begin_step, .query = take_query, .end = check_layers};
    attended.session = session;
    attended.path = c->attention_file;
    if (c->layers) attended.wanted = burin_parse_ids("--layers", c->layers, INT32_MAX);
    return &trace;
}

// ---- the array ----

// Valid rows of a layer: a slot may have been truncated.
static int attended_rows(int layer) {
    int n = attended.layers[layer].n;
    bool of_slot = !attended.session->model->net && layer >= attended.of_encoder;
    return of_slot ? burin_min(n, burin_slot_length(attended.session, 0)) : n;
}

static burin_array attended_array(void) {
    burin_array a = {.element = burin_element_named("f32"), .rank = 4};
    for (int i = 0; i < attended.n; i++) {
        const attended_layer *l = &attended.layers[i];
        int rows = attended_rows(i);
        a.dim[0] += is_attended(i);
        if (rows > a.dim[2]) a.dim[2] = rows;
        for (int r = 0; r < rows; r++) {
            if (l->rows[r].heads > a.dim[1]) a.dim[1] = l->rows[r].heads;
            if (l->rows[r].keys > a.dim[3]) a.dim[3] = l->rows[r].keys;
        }
    }
    a.count = (size_t)(a.dim[0] * a.dim[1] * a.dim[2] * a.dim[3]);
    a.data = burin_allocate(a.count, sizeof(float));
    return a;
}

static void fill_attended(const burin_array *a, int64_t at, int layer) {
    for (int r = 0; r < attended_rows(layer); r++) {
        const attended_row *row = &attended.layers[layer].rows[r];
        for (int h = 0; h < row->heads; h++) {
            int64_t to = ((at * a->dim[1] + h) * a->dim[2] + r) * a->dim[3];
            memcpy((float *)a->data + to, row->shares + (size_t)h * (size_t)row->keys,
                   (size_t)row->keys * sizeof(float));
        }
    }
}

void burin_attention_close(const burin_session *session) {
    int64_t at = 0;
    if (!session->step.trace) return;
    burin_array a = attended_array();
    for (int i = 0; i < attended.n; i++)
        if (is_attended(i)) fill_attended(&a, at++, i);
    const char *why = burin_npy_write(&a, attended.path);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", attended.path, why);
    free(a.data);
}
