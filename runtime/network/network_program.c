// The program of a network: its runs over the inputs of the command line, their outputs written,
// printed or hashed; --bench.
#include "network/network_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "engine/hash.h"
#include "engine/ranks.h"
#include "program/network_values.h"
#include "program/npz.h"
#include "program/output.h"
#include "program/timing.h"
#include "program/work_items.h"
#include "text/run.h"

typedef struct batch {
    burin_session *session;
    burin_network_values *values;
    burin_work items;
} batch;

// Of one run.
static size_t run_bytes(const burin_array *a, const burin_tensor *t) {
    return a->count / (size_t)(a->rank > t->rank ? a->dim[0] : 1) * (size_t)a->element->bytes;
}

static size_t output_bytes(const burin_network_values *v, int i) {
    return run_bytes(&v->outputs[i], &v->net->outputs[i]);
}

// The outputs are in their places; elsewhere they are bytes, one output after the other.
static void give_outputs(const batch *b, const burin_work_item *item) {
    burin_capture all = {0};
    for (int i = 0; i < b->values->net->n_outputs; i++)
        burin_capture_add(&all, b->values->output_data[i], output_bytes(b->values, i));
    burin_item_give(&b->items, item, all.data, all.n);
    free(all.data);
}

// May come in the middle of another run: its turn stays.
static void take_outputs(void *context, const burin_work_item *item, const void *given,
                         size_t bytes) {
    const batch *b = context;
    const char *from = given;
    const burin_network_values *v = b->values;
    for (int i = 0; i < v->net->n_outputs; i++, from += bytes) {
        bytes = output_bytes(v, i);
        memcpy(burin_network_part(&v->outputs[i], &v->net->outputs[i], item->index), from, bytes);
    }
}

static void run_element(void *context, const burin_work_item *item) {
    const batch *b = context;
    burin_network_values *v = b->values;
    burin_network_values_turn(v, item->index);
    burin_status status = burin_network_run(b->session, (const void *const *)v->input_data,
                                            v->symbols, v->output_data);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    if (burin_ranks_share_items()) give_outputs(b, item);
}

static uint64_t sum_of_element(void *context, int64_t index) {
    const burin_network_values *v = ((const batch *)context)->values;
    uint64_t sum = burin_hash_start;
    for (int i = 0; i < v->net->n_inputs; i++)
        sum = burin_hash_bytes(sum, burin_network_part(&v->inputs[i], &v->net->inputs[i], index),
                               run_bytes(&v->inputs[i], &v->net->inputs[i]));
    return sum;
}

static void run_all(burin_session *session, burin_network_values *v) {
    batch b = {.session = session, .values = v};
    b.items = (burin_work){.context = &b,
                           .count = v->batch > 1 ? v->batch : 1,
                           .sum = sum_of_element,
                           .compute = run_element,
                           .take = take_outputs};
    if (burin_ranks_share_items() && v->net->n_data_dependent)
        burin_stop(BURIN_USER_MISTAKE,
                   "--over: a run of this network decides sizes of its outputs");
    burin_items_run(&b.items);
    burin_network_values_settle(v);
}

// ---- outputs ----

void burin_make_output_folder(const char *output, int n_outputs) {
    bool file = burin_ends_with(output, ".npy");
    if (file && n_outputs > 1)
        burin_stop(BURIN_USER_MISTAKE,
                   "--output %s: there are %d outputs, and an .npy holds one array\nhint: "
                   "--output DIR, or F.npz for all in one file",
                   output, n_outputs);
    if (!file && burin_ends_with(output, ".npz"))
        burin_stop(BURIN_USER_MISTAKE, "--output %s: here is one array\nhint: --output F.npy",
                   output);
    if (!file && mkdir(output, 0777) && errno != EEXIST)
        burin_stop(BURIN_USER_MISTAKE, "--output %s: %s", output, strerror(errno));
}

// F.npy, or DIR/NAME.npy, where NAME has no folders of its own, and prints.
void burin_output_path(char *path, size_t room, const char *folder, const char *name) {
    if (burin_ends_with(folder, ".npy")) {
        snprintf(path, room, "%s", folder);
        return;
    }
    size_t length = strlen(folder);
    int n = snprintf(path, room, "%s%s%s.npy", folder,
                     length && folder[length - 1] == '/' ? "" : "/", name);
    if (n < 0 || (size_t)n >= room)
        burin_stop(BURIN_USER_MISTAKE, "--output %s: the name is too long", folder);
    for (char *c = path + length + 1; *c; c++) {
        size_t whole = burin_printable(c, strlen(c));
        if (*c == '/' || !whole)
            *c = '_';
        else
            c += whole - 1;
    }
}

static void write_archive(const burin_network_values *v, const char *path) {
    int n = v->net->n_outputs;
    burin_named_array *arrays = burin_allocate((size_t)n, sizeof *arrays);
    for (int i = 0; i < n; i++)
        arrays[i] = (burin_named_array){v->net->outputs[i].name, &v->outputs[i]};
    const char *why = burin_npz_write(arrays, n, path);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
    free(arrays);
}

// Before the run: what cannot be written is not computed.
static void check_output(const burin_network *net, const char *output) {
    bool archive = burin_ends_with(output, ".npz");
    if (!archive) burin_make_output_folder(output, net->n_outputs);
    const char *why =
        archive || burin_ends_with(output, ".npy") ? burin_cannot_create(output) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", output, why);
}

static void write_outputs(const burin_network_values *v, const char *folder) {
    char path[4096], other[4096];
    if (burin_ends_with(folder, ".npz")) {
        write_archive(v, folder);
        return;
    }
    for (int i = 0; i < v->net->n_outputs; i++) {
        burin_output_path(path, sizeof path, folder, v->net->outputs[i].name);
        for (int j = 0; j < i; j++) {
            burin_output_path(other, sizeof other, folder, v->net->outputs[j].name);
            if (!strcmp(path, other))
                burin_stop(BURIN_USER_MISTAKE, "the outputs %s and %s would both be %s",
                           v->net->outputs[j].name, v->net->outputs[i].name, path);
        }
        const char *why = burin_npy_write(&v->outputs[i], path);
        if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
    }
}

static void print_outputs(const burin_network_values *v) {
    enum { FIRST_VALUES = 8 };
    for (int i = 0; i < v->net->n_outputs; i++) {
        const burin_array *a = &v->outputs[i];
        burin_print("%s: %s%s\n ", v->net->outputs[i].name, a->element->name,
                    burin_network_shape(a->rank, a->dim));
        for (size_t j = 0; j < a->count && j < FIRST_VALUES; j++) {
            if (a->element->kind == ELEMENT_FLOAT)
                burin_print(" %.7g", burin_load_real(a->element, a->data, j));
            else
                burin_print(" %lld", (long long)burin_load_integer(a->element, a->data, j));
        }
        burin_print(a->count > FIRST_VALUES ? " ...\n" : "\n");
    }
}

static void print_hash(const burin_network_values *v) {
    uint64_t hash = burin_hash_start;
    for (int i = 0; i < v->net->n_outputs; i++) {
        const burin_array *a = &v->outputs[i];
        hash = burin_hash_bytes(hash, a->data, a->count * (size_t)a->element->bytes);
    }
    burin_print("%016llx\n", (unsigned long long)hash);
}

// ---- --bench ----

// Two seconds of runs; the first is not counted.
static void bench(burin_session *session, burin_network_values *v) {
    burin_timing t = {.enough = 2000000000, .most = BURIN_MOST_RUNS};
    run_all(session, v);
    while (burin_timing_goes_on(&t)) {
        uint64_t start = burin_nanoseconds();
        run_all(session, v);
        uint64_t all = burin_nanoseconds() - start;
        burin_timing_add(&t, all, all);
    }
    double median = burin_median(&t);
    burin_print("%s, cpu %s, %d threads, weights %.1f MB", session->model->name,
                session->variant->cpu, session->step.threads,
                (double)session->model->weight_bytes / 1e6);
    for (int i = 0; i < v->net->n_inputs; i++)
        burin_print("%s %s%s", i ? "," : "; inputs", v->net->inputs[i].name,
                    burin_network_shape(v->inputs[i].rank, v->inputs[i].dim));
    burin_print("\none run  %10.3f ms (median of %d; the fastest %.3f)\n", median * 1e3, t.runs,
                (double)t.time[0] / 1e6);
}

void burin_note_seed(const burin_network *net, const burin_command *c) {
    if (c->sampling.has_seed && !net->random)
        burin_note("--seed has no effect: nothing in this network is random%s",
                   c->random ? ", and --random gives the same values every time" : "");
}

int burin_run_network(const burin_model *model, const burin_command *c) {
    burin_network_values values;
    burin_network_values_open(&values, model->net, c);
    burin_session *session = burin_open(model, c, &(burin_options){.symbols = values.symbols});
    if (c->sampling.has_seed) session->step.seed = c->sampling.seed;
    burin_note_seed(model->net, c);
    if (c->bench) {
        bench(session, &values);
    } else {
        if (c->output) check_output(model->net, c->output);
        run_all(session, &values);
        if (c->verbose)
            burin_note("one run; cpu %s, threads %d", session->variant->cpu, session->step.threads);
        if (c->output) write_outputs(&values, c->output);
        if (c->logits_hash) print_hash(&values);
        if (!c->output && !c->logits_hash) print_outputs(&values);
    }
    burin_close(session);
    burin_network_values_close(&values);
    return 0;
}
