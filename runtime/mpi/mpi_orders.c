// The first rank runs the program; before each step it sends all other ranks the inputs of the same
// step: rows, a network's inputs, a slot to copy. The other ranks wait for such orders, without
// using the CPU.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allocate.h"
#include "engine/element.h"
#include "engine/encoder.h"
#include "engine/forward.h"
#include "engine/network.h"
#include "mpi_world.h"
#include "program/output.h"

enum { ORDER_OPEN = 100, ORDER_ITEMS, ORDER_END };
enum { NO_MEMORY = -1000, ALIGNED = 64 };

// In front of every order; `bytes` follow.
typedef struct order_head {
    int32_t order, rows, logit_rows, slots[2], status;
    uint64_t seed;
} order_head;

typedef struct opening {
    int32_t slots, max_rows, threads, n_symbols, verbose, messages, numa, unused;
    int64_t patience;
} opening;

typedef struct report {
    int64_t status, bytes;
} report;

// ---- messages ----

typedef struct message {
    unsigned char *data;
    size_t n, capacity;
} message;

static void reserve(message *m, size_t bytes) {
    if (bytes <= m->capacity) return;
    free(m->data);
    m->capacity = bytes + bytes / 2;
    m->data = aligned_alloc(ALIGNED, (m->capacity + ALIGNED - 1) / ALIGNED * ALIGNED);
    if (!m->data)
        burin_stop(BURIN_USER_MISTAKE, "not enough memory for a message of %zu bytes", bytes);
}

static void *grow(message *m, size_t bytes) {
    size_t at = (m->n + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (at + bytes > m->capacity) {
        message larger = {0};
        reserve(&larger, 2 * (at + bytes));
        if (m->n) memcpy(larger.data, m->data, m->n);
        free(m->data);
        m->data = larger.data, m->capacity = larger.capacity;
    }
    m->n = at + bytes;
    return m->data + at;
}

static void put(message *m, const void *data, size_t bytes) {
    void *to = grow(m, bytes);
    if (bytes) memcpy(to, data, bytes);
}

static void *take(message *m, size_t bytes) {
    size_t at = (m->n + ALIGNED - 1) / ALIGNED * ALIGNED;
    m->n = at + bytes;
    return m->data + at;
}

static message outgoing;

static void begin(const order_head *head) {
    outgoing.n = 0;
    put(&outgoing, head, sizeof *head);
}

static void send_to_all(void) {
    MPI_Request requests[MOST_RANKS];
    const burin_ranks *r = &burin_all_ranks.ranks;
    if (outgoing.n > INT_MAX)
        burin_stop(BURIN_USER_MISTAKE,
                   "inputs of %zu bytes are more than ranks can be sent at once", outgoing.n);
    burin_mpi_begin();
    for (int i = 1; i < r->count; i++)
        MPI_Isend(outgoing.data, (int)outgoing.n, MPI_BYTE, i, TAG_ORDER, MPI_COMM_WORLD,
                  &requests[i - 1]);
    int late = burin_wait_requests(requests, r->count - 1);
    if (late >= 0) burin_rank_is_late(late + 1);
    burin_mpi_end();
}

// ---- the first rank ----

static size_t tensor_bytes(const burin_network *net, const burin_tensor *t,
                           const int64_t *symbols) {
    size_t bytes = (size_t)burin_element_named(t->type)->bytes;
    for (int j = 0; j < t->rank; j++) bytes *= (size_t)burin_network_dim(net, t->dim[j], symbols);
    return bytes;
}

static int all_symbols(const burin_network *net) { return net->n_symbols + net->n_data_dependent; }

static void put_inputs(const burin_network *net, const burin_step *s) {
    put(&outgoing, s->symbols, (size_t)all_symbols(net) * sizeof *s->symbols);
    for (int i = 0; i < net->n_inputs; i++)
        put(&outgoing, s->inputs[i], tensor_bytes(net, &net->inputs[i], s->symbols));
}

static void put_rows(const burin_step *s) {
    size_t bytes = (size_t)s->rows * sizeof(int32_t);
    put(&outgoing, s->token, bytes), put(&outgoing, s->slot, bytes);
    put(&outgoing, s->position, bytes), put(&outgoing, s->source_last, bytes);
    put(&outgoing, s->logit_rows, (size_t)s->n_logit_rows * sizeof(int32_t));
}

void burin_lead_ranks(struct burin_session *session, burin_rank_order order, const burin_step *s,
                      const int32_t slots[2]) {
    order_head head = {
        .order = (int32_t)order, .rows = s->rows, .logit_rows = s->n_logit_rows, .seed = s->seed};
    if (slots) memcpy(head.slots, slots, sizeof head.slots);
    begin(&head);
    if (order == BURIN_ORDER_STEP) put_rows(s);
    if (order == BURIN_ORDER_NETWORK) put_inputs(session->model->net, s);
    if (order == BURIN_ORDER_ENCODE) put_inputs(session->model->encoder->net, s);
    send_to_all();
}

void burin_order_items(void) {
    begin(&(order_head){.order = ORDER_ITEMS, .seed = (uint64_t)burin_all_ranks.patience});
    send_to_all();
}

void burin_dismiss_ranks(int status) {
    begin(&(order_head){.order = ORDER_END, .status = status});
    send_to_all();
}

// "3,1": the sums before each rank.
static void read_shares(const char *text) {
    int n = 0;
    int64_t *sums = burin_all_ranks.shares;
    const int count = burin_all_ranks.ranks.count;
    for (const char *at = text; at; n++) {
        char *end;
        long share = strtol(at, &end, 10);
        if (end == at || share < 0 || share > 1000000 || (*end && *end != ','))
            burin_stop(BURIN_BAD_COMMAND_LINE,
                       "--shares %s: expected a whole number for each rank, such as 3,1", text);
        if (n < count) sums[n + 1] = sums[n] + share;
        at = *end ? end + 1 : NULL;
    }
    if (n != count)
        burin_stop(BURIN_USER_MISTAKE, "--shares %s: %d shares, and this run has %d ranks", text, n,
                   count);
    if (!sums[count]) burin_stop(BURIN_USER_MISTAKE, "--shares %s: no rank has a share", text);
}

static void hear(int rank) {
    report r;
    MPI_Request request;
    burin_mpi_begin();
    MPI_Irecv(&r, sizeof r, MPI_BYTE, rank, TAG_REPORT, MPI_COMM_WORLD, &request);
    if (burin_wait_requests(&request, 1) >= 0) burin_rank_is_late(rank);
    burin_mpi_end();
    if (r.status == NO_MEMORY)
        burin_stop(BURIN_USER_MISTAKE, "%s has not enough memory: %.1f MB are needed",
                   burin_rank_name(rank), (double)r.bytes / 1e6);
    if (r.status)
        burin_stop(BURIN_USER_MISTAKE, "%s: %s", burin_rank_name(rank),
                   burin_status_text((burin_status)r.status));
}

static void choose_exchange(bool messages) {
    burin_world *w = &burin_all_ranks;
    w->ranks.exchange =
        w->shares_memory && !messages ? burin_exchange_memory : burin_exchange_messages;
    burin_shared_begin();
}

void burin_ranks_open(struct burin_session *session, const struct burin_options *o,
                      const burin_rank_options *asked) {
    const burin_network *net = session->model->net;
    if (burin_all_ranks.items) return burin_items_open(session, asked);
    if (!burin_all_ranks.several) {
        if (asked->shares) burin_note("--shares has no effect: this run has one rank");
        return;
    }
    if (asked->patience) burin_alive_patience(asked->patience);
    if (asked->shares) read_shares(asked->shares);
    opening open = {.slots = o->slots,
                    .max_rows = o->max_rows,
                    .threads = asked->threads,
                    .verbose = asked->verbose};
    open.n_symbols = o->symbols ? all_symbols(net) : 0, open.patience = burin_all_ranks.patience;
    open.messages = asked->messages, open.numa = asked->numa;
    if (asked->verbose) burin_all_ranks.shows = session->model;
    choose_exchange(asked->messages);
    begin(&(order_head){.order = ORDER_OPEN});
    put(&outgoing, &open, sizeof open);
    put(&outgoing, burin_all_ranks.shares,
        sizeof *burin_all_ranks.shares * (size_t)(burin_all_ranks.ranks.count + 1));
    put(&outgoing, o->symbols, (size_t)open.n_symbols * sizeof *o->symbols);
    send_to_all();
    for (int i = 1; i < burin_all_ranks.ranks.count; i++) hear(i);
    session->step.ranks = &burin_all_ranks.ranks;
}

// ---- the serving ranks ----

typedef struct follower {
    const burin_model *model;
    burin_session *session;
    message in, out;
    void **tensors;  // of a network's outputs, or its inputs
    float *logits;
    void *memory;
    size_t bytes, logits_bytes;
} follower;

static void await_order(follower *f) {
    int bytes;
    burin_await_first_rank((int[]){TAG_ORDER}, 1, &bytes);
    reserve(&f->in, (size_t)bytes);
    MPI_Recv(f->in.data, bytes, MPI_BYTE, 0, TAG_ORDER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    f->in.n = 0;
}

static void *map_pages(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static report open_session(follower *f, const opening *o, const int64_t *symbols) {
    burin_options options = {.slots = o->slots, .max_rows = o->max_rows, .threads = o->threads};
    if (!options.threads) options.threads = burin_ranks_threads();
    if (o->n_symbols) options.symbols = symbols;
    f->bytes = burin_session_bytes(f->model, &options);
    f->logits_bytes = (size_t)o->max_rows * (size_t)f->model->vocab_size * sizeof(float);
    f->memory = f->bytes ? map_pages(f->bytes) : NULL;
    f->logits = f->logits_bytes ? map_pages(f->logits_bytes) : NULL;
    if (f->bytes && (!f->memory || (f->logits_bytes && !f->logits)))
        return (report){NO_MEMORY, (int64_t)(f->bytes + f->logits_bytes)};
    report r = {burin_session_open(&f->session, f->model, &options, f->memory, f->bytes), 0};
    if (!r.status) f->session->step.ranks = &burin_all_ranks.ranks;
    return r;
}

static void follow_opening(follower *f) {
    opening *o = take(&f->in, sizeof *o);
    burin_world *w = &burin_all_ranks;
    w->patience = o->patience;
    if (o->numa) burin_ranks_pin(o->verbose);
    choose_exchange(o->messages);
    w->shows = o->verbose ? f->model : NULL;
    size_t bytes = sizeof *w->shares * (size_t)(w->ranks.count + 1);
    memcpy(w->shares, take(&f->in, bytes), bytes);
    if (f->session) {
        burin_session_close(f->session);
        munmap(f->memory, f->bytes);
        if (f->logits) munmap(f->logits, f->logits_bytes);
        f->session = NULL;
    }
    report r = open_session(f, o, take(&f->in, (size_t)o->n_symbols * sizeof(int64_t)));
    MPI_Send(&r, sizeof r, MPI_BYTE, 0, TAG_REPORT, MPI_COMM_WORLD);
}

static void follow_step(follower *f, const order_head *head) {
    burin_step *s = &f->session->step;
    size_t bytes = (size_t)head->rows * sizeof(int32_t);
    s->rows = head->rows, s->n_logit_rows = head->logit_rows, s->seed = head->seed;
    s->token = take(&f->in, bytes), s->slot = take(&f->in, bytes);
    s->position = take(&f->in, bytes), s->source_last = take(&f->in, bytes);
    s->logit_rows = take(&f->in, (size_t)head->logit_rows * sizeof(int32_t));
    s->logits = f->logits;
    burin_session_run(f->session);
}

static int64_t *take_inputs(follower *f, const burin_network *net) {
    int64_t *symbols = take(&f->in, (size_t)all_symbols(net) * sizeof *symbols);
    size_t most = (size_t)(net->n_inputs + net->n_outputs + 1);
    if (!f->tensors) f->tensors = burin_allocate(most, sizeof *f->tensors);
    for (int i = 0; i < net->n_inputs; i++)
        f->tensors[i] = take(&f->in, tensor_bytes(net, &net->inputs[i], symbols));
    return symbols;
}

static void follow_network(follower *f, const order_head *head) {
    const burin_network *net = f->model->net;
    int64_t *symbols = take_inputs(f, net);
    void **outputs = f->tensors + net->n_inputs;
    size_t at[net->n_outputs + 1];
    f->out.n = 0;
    f->session->step.seed = head->seed;
    for (int i = 0; i < net->n_outputs; i++) {
        size_t bytes = tensor_bytes(net, &net->outputs[i], symbols);
        at[i] = (size_t)((unsigned char *)grow(&f->out, bytes) - f->out.data);
    }
    for (int i = 0; i < net->n_outputs; i++) outputs[i] = f->out.data + at[i];
    burin_network_run(f->session, (const void *const *)f->tensors, symbols, outputs);
}

static _Noreturn void end(const order_head *head) {
    if (burin_all_ranks.shows && !head->status) burin_tell_pages(burin_all_ranks.shows);
    burin_drop_messages();
    MPI_Finalize();
    _exit(head->status);
}

void burin_follow_end(void) {
    follower f = {0};
    await_order(&f);
    end(take(&f.in, sizeof(order_head)));
}

void burin_serve(const burin_model *model) {
    follower f = {.model = model};
    for (;;) {
        await_order(&f);
        const order_head head = *(order_head *)take(&f.in, sizeof head);
        if (head.order == ORDER_OPEN) follow_opening(&f);
        if (head.order == ORDER_END) end(&head);
        if (head.order == ORDER_ITEMS) {
            burin_all_ranks.patience = (int64_t)head.seed;
            return;
        }
        if (head.order == BURIN_ORDER_STEP) follow_step(&f, &head);
        if (head.order == BURIN_ORDER_NETWORK) follow_network(&f, &head);
        if (head.order == BURIN_ORDER_COPY)
            burin_slot_copy(f.session, head.slots[0], head.slots[1]);
        if (head.order != BURIN_ORDER_ENCODE) continue;
        const int64_t *symbols = take_inputs(&f, model->encoder->net);
        burin_encode_source(f.session, head.slots[0], (const void *const *)f.tensors, symbols);
    }
}
