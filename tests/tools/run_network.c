// Runs an emitted network on fixed inputs: run_network CPU THREADS SYMBOL... Prints the hash of all
// outputs.
#include <stdio.h>
#include <stdlib.h>

#include "engine/element.h"
#include "engine/hash.h"
#include "engine/network.h"
#include "net_fill.h"

enum { MAX_TENSORS = 16 };

static size_t bytes_of(const burin_network *net, const burin_tensor *t, const int64_t *symbols) {
    size_t count = 1;
    for (int i = 0; i < t->rank; i++) count *= (size_t)burin_network_dim(net, t->dim[i], symbols);
    return count * (size_t)burin_element_named(t->type)->bytes;
}

int main(int argc, char **argv) {
    const burin_network *net = burin_model_this.net;
    if (argc < 3 + net->n_symbols) return 2;
    int64_t symbols[MAX_TENSORS], found[MAX_TENSORS], dims[8 * MAX_TENSORS], *dim = dims;
    void *inputs[MAX_TENSORS], *outputs[MAX_TENSORS];
    for (int i = 0; i < net->n_data_dependent; i++)
        symbols[net->n_symbols + i] = net->symbols[net->n_symbols + i].upper;
    for (int i = 0; i < net->n_symbols; i++) symbols[i] = atoi(argv[3 + i]);
    for (int i = 0; i < net->n_inputs; i++) {
        const burin_tensor *t = &net->inputs[i];
        size_t bytes = bytes_of(net, t, symbols);
        inputs[i] = malloc(bytes);
        fill_input(t->type, (int64_t)bytes / burin_element_named(t->type)->bytes, i, inputs[i]);
        for (int j = 0; j < t->rank; j++) *dim++ = burin_network_dim(net, t->dim[j], symbols);
    }
    for (int i = 0; i < net->n_outputs; i++)
        outputs[i] = malloc(bytes_of(net, &net->outputs[i], symbols));
    burin_status status = burin_network_bind(net, dims, found);
    if (status) {
        printf("%s\n", burin_status_text(status));
        return 1;
    }
    burin_options o = {.threads = atoi(argv[2]), .cpu = argv[1], .symbols = found};
    size_t bytes = burin_session_bytes(&burin_model_this, &o);
    void *memory = aligned_alloc(64, bytes);
    memset(memory, 0xff, bytes);
    burin_session *s;
    status = burin_session_open(&s, &burin_model_this, &o, memory, bytes);
    if (!status) status = burin_network_run(s, (const void *const *)inputs, found, outputs);
    if (status) {
        printf("%s\n", burin_status_text(status));
        return 1;
    }
    uint64_t hash = burin_hash_start;
    for (int i = 0; i < net->n_outputs; i++)
        hash = burin_hash_bytes(hash, outputs[i], bytes_of(net, &net->outputs[i], found));
    printf("%016llx\n", (unsigned long long)hash);
    burin_session_close(s);
    return 0;
}
