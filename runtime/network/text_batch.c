#include "network/text_batch.h"

#include <stdlib.h>
#include <string.h>

#include "engine/network.h"
#include "engine/ranks.h"
#include "program/network_values.h"
#include "program/output.h"

// More rows than these make products no faster, and leave the caches of the CPU.
enum { USUAL_TEXTS = 32, USUAL_ROWS = 512 };

void burin_text_batch_open(burin_text_batch *b, const burin_command *c) {
    const burin_network *net = b->session->model->net;
    bool together = net->texts && !burin_ranks_share_items() && !c->attention_file;
    b->most = !together ? 1 : c->batch_size ? (int)c->batch_size : USUAL_TEXTS;
    b->most_keys = burin_network_most_keys(b->session);
    b->most_rows = b->session->step.max_rows < USUAL_ROWS ? b->session->step.max_rows : USUAL_ROWS;
    b->list = burin_allocate((size_t)b->most, sizeof *b->list);
}

static int64_t keys_of_text(const burin_batched *x) {
    return (int64_t)(x->tokens.n + BURIN_STATE_BLOCK - 1) / BURIN_STATE_BLOCK * BURIN_STATE_BLOCK;
}

void burin_text_batch_add(burin_text_batch *b, const burin_batched *x) {
    bool fits = b->rows + x->tokens.n <= b->most_rows && b->keys + keys_of_text(x) <= b->most_keys;
    if (b->n && !fits) burin_text_batch_run(b);
    burin_batched *mine = &b->list[b->n++];
    *mine = *x;
    if (x->item.line) {
        char *line = burin_allocate(1, x->item.bytes + 1);
        mine->item.line = memcpy(line, x->item.line, x->item.bytes);
    }
    b->rows += x->tokens.n;
    b->keys += keys_of_text(x);
    if (b->n == b->most) burin_text_batch_run(b);
}

// The ids of all texts in order; with types if any text has them.
static burin_token_rows rows_of(const burin_text_batch *b) {
    burin_token_rows all = {.n_texts = b->n, .n = (int32_t)b->rows};
    size_t rows = (size_t)b->rows, at = 0;
    bool typed = false;
    for (int i = 0; i < b->n; i++) typed |= b->list[i].types != NULL;
    all.id = burin_allocate(rows, sizeof *all.id);
    all.rows = burin_allocate((size_t)b->n, sizeof *all.rows);
    if (typed) all.type = burin_allocate(rows, sizeof *all.type);
    for (int i = 0; i < b->n; i++) {
        const burin_batched *x = &b->list[i];
        size_t n = (size_t)x->tokens.n;
        all.rows[i] = x->tokens.n;
        memcpy(all.id + at, x->tokens.id, n * sizeof *all.id);
        if (typed) memset(all.type + at, 0, n * sizeof *all.type);
        if (x->types) memcpy(all.type + at, x->types, n * sizeof *all.type);
        at += n;
    }
    return all;
}

static burin_status run_texts(const burin_text_batch *b, const burin_token_rows *all,
                              burin_network_values *v) {
    const void *const *inputs = (const void *const *)v->input_data;
    if (b->n == 1) return burin_network_run(b->session, inputs, v->symbols, v->output_data);
    return burin_network_run_sequences(b->session, inputs, &(burin_sequence_rows){all->rows, b->n},
                                       v->symbols, v->output_data);
}

static void give(burin_text_batch *b, const burin_network_values *v) {
    const burin_array *a = &v->outputs[b->output];
    bool by_rows = burin_network_is_by_rows(v->net, &v->net->outputs[b->output]);
    size_t each = a->count / (by_rows ? (size_t)b->rows : (size_t)b->n);
    burin_batch_result result = {.data = v->output_data[b->output], .columns = a->dim[a->rank - 1]};
    for (int i = 0; i < b->n; i++) {
        result.n = by_rows ? each * (size_t)b->list[i].tokens.n : each;
        b->take(b->context, &b->list[i], &result);
        result.data += result.n;
    }
}

static void forget(burin_text_batch *b) {
    for (int i = 0; i < b->n; i++) {
        free((void *)(uintptr_t)b->list[i].item.line);
        free(b->list[i].tokens.id);
        free(b->list[i].types);
    }
    b->n = 0;
    b->rows = b->keys = 0;
}

void burin_text_batch_run(burin_text_batch *b) {
    if (!b->n) return;
    burin_network_values values;
    burin_token_rows all = rows_of(b);
    burin_network_values_of_texts(&values, b->session->model->net, &all);
    burin_status status = run_texts(b, &all, &values);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    b->texts += b->n;
    b->steps++;
    give(b, &values);
    burin_network_values_close(&values);
    free(all.id);
    free(all.type);
    free(all.rows);
    forget(b);
}

void burin_text_batch_close(burin_text_batch *b, const burin_command *c) {
    if (c->verbose)
        burin_note("%lld texts in %lld steps", (long long)b->texts, (long long)b->steps);
    free(b->list);
}
