#include "network.h"

#include "kernels/one_nan.h"

BURIN_LINKAGE int64_t burin_network_dim(const burin_network *net, int64_t dim,
                                        const int64_t *symbols) {
    return dim >= 0 ? dim : net->dimension((int)(-1 - dim), symbols);
}

// The place of an input's dimensions in the list of all.
static const int64_t *dims_of(const burin_network *net, const int64_t *dims, int input) {
    for (int i = 0; i < input; i++) dims += net->inputs[i].rank;
    return dims;
}

BURIN_LINKAGE burin_status burin_network_bind(const burin_network *net, const int64_t *dims,
                                              int64_t *symbols) {
    if (!dims && net->n_inputs) return BURIN_BAD_ARGUMENT;
    for (int i = 0; i < net->n_symbols; i++) {
        const burin_symbol *s = &net->symbols[i];
        symbols[i] = (dims_of(net, dims, s->input)[s->axis] - s->offset) / s->factor;
        if (symbols[i] < s->lower || symbols[i] > s->upper) return BURIN_BAD_SHAPE;
    }
    for (int i = net->n_symbols; i < net->n_symbols + net->n_data_dependent; i++)
        symbols[i] = net->symbols[i].upper;
    for (int i = 0; i < net->n_inputs; i++)
        for (int j = 0; j < net->inputs[i].rank; j++)
            if (*dims++ != burin_network_dim(net, net->inputs[i].dim[j], symbols))
                return BURIN_BAD_SHAPE;
    return BURIN_OK;
}

static bool is_batch_name(const char *name) {
    static const char batch[] = "batch";
    if ((*name == 'N' || *name == 'B') && !name[1]) return true;
    for (; *name; name++) {
        size_t i = 0;
        while (batch[i] && (name[i] | 0x20) == batch[i]) i++;
        if (!batch[i]) return true;
    }
    return false;
}

BURIN_LINKAGE void burin_network_usual_symbols(const burin_network *net, int64_t *symbols) {
    for (int i = 0; i < net->n_symbols + net->n_data_dependent; i++) {
        const burin_symbol *s = &net->symbols[i];
        bool batch = i < net->n_symbols && is_batch_name(s->name);
        symbols[i] = !batch ? s->upper : s->lower > 1 ? s->lower : 1;
    }
}

// "f32": 4, "i64": 8, "bool": 1
static uintptr_t element_bytes(const char *type) {
    uintptr_t bits = 0;
    for (; *type; type++)
        if (*type >= '0' && *type <= '9') bits = bits * 10 + (uintptr_t)(*type - '0');
    return bits / 8 ? bits / 8 : 1;
}

static int64_t count_of(const burin_network *net, const burin_tensor *t, const int64_t *symbols) {
    int64_t count = 1;
    for (int j = 0; j < t->rank; j++) count *= burin_network_dim(net, t->dim[j], symbols);
    return count;
}

static burin_status check_memory(const burin_network *net, const burin_tensor *t,
                                 const void *memory, const int64_t *symbols) {
    if (!memory) return count_of(net, t, symbols) ? BURIN_BAD_ARGUMENT : BURIN_OK;
    return (uintptr_t)memory % element_bytes(t->type) ? BURIN_BAD_ALIGNMENT : BURIN_OK;
}

static int64_t integer_at(const char *type, const void *data, int64_t i) {
    return type[1] == '6'   ? ((const int64_t *)data)[i]
           : type[1] == '3' ? ((const int32_t *)data)[i]
                            : 0;
}

static burin_status check_values(const burin_network *net, const void *const *inputs,
                                 const int64_t *symbols) {
    for (int i = 0; i < net->n_inputs; i++) {
        const burin_tensor *t = &net->inputs[i];
        int64_t count = t->least <= t->most ? count_of(net, t, symbols) : 0;
        for (int64_t k = 0; k < count; k++) {
            int64_t value = integer_at(t->type, inputs[i], k);
            if (value < t->least || value > t->most) return BURIN_BAD_VALUE;
        }
    }
    return BURIN_OK;
}

BURIN_LINKAGE burin_status burin_network_check_inputs(const burin_network *net,
                                                      const void *const *inputs,
                                                      const int64_t *symbols) {
    burin_status status = net->n_inputs && !inputs ? BURIN_BAD_ARGUMENT : BURIN_OK;
    for (int i = 0; i < net->n_inputs && !status; i++)
        status = check_memory(net, &net->inputs[i], inputs[i], symbols);
    return status ? status : check_values(net, inputs, symbols);
}

BURIN_LINKAGE burin_status burin_network_check_outputs(const burin_network *net,
                                                       void *const *outputs,
                                                       const int64_t *symbols) {
    burin_status status = net->n_outputs && !outputs ? BURIN_BAD_ARGUMENT : BURIN_OK;
    for (int i = 0; i < net->n_outputs && !status; i++)
        status = check_memory(net, &net->outputs[i], outputs[i], symbols);
    return status;
}

BURIN_LINKAGE int32_t burin_network_rows(const burin_network *net, const int64_t *symbols) {
    return net->rows < 0 ? 1 : (int32_t)symbols[net->rows];
}

BURIN_LINKAGE int64_t burin_network_most_keys(const burin_session *s) {
    return (s->model->max_rows + (int64_t)BURIN_STATE_BLOCK - 1) / BURIN_STATE_BLOCK *
           BURIN_STATE_BLOCK;
}

BURIN_LINKAGE bool burin_network_is_by_rows(const burin_network *net, const burin_tensor *t) {
    return t->rank && net->rows >= 0 && t->dim[0] == -1 - net->rows;
}

static bool texts_fit(const burin_session *s, const burin_sequence_rows *texts,
                      const int64_t *symbols) {
    int64_t rows = 0, keys = 0;
    for (int i = 0; i < texts->n; i++) {
        if (texts->rows[i] < 1) return false;
        rows += texts->rows[i];
        keys += (texts->rows[i] + (int64_t)BURIN_STATE_BLOCK - 1) / BURIN_STATE_BLOCK *
                BURIN_STATE_BLOCK;
    }
    return rows == burin_network_rows(s->model->net, symbols) && keys <= burin_network_most_keys(s);
}

BURIN_LINKAGE burin_status burin_network_run_sequences(burin_session *s, const void *const *inputs,
                                                       const burin_sequence_rows *texts,
                                                       int64_t *symbols, void *const *outputs) {
    if (!s->model->net->texts || texts->n < 1 || !texts_fit(s, texts, symbols))
        return BURIN_BAD_SHAPE;
    s->step.sequence_rows = texts->rows, s->step.n_sequences = texts->n;
    burin_status status = burin_network_run(s, inputs, symbols, outputs);
    s->step.sequence_rows = NULL, s->step.n_sequences = 0;
    return status;
}

BURIN_LINKAGE burin_status burin_network_run(burin_session *s, const void *const *inputs,
                                             int64_t *symbols, void *const *outputs) {
    const burin_network *net = s->model->net;
    burin_step *step = &s->step;
    burin_status status = burin_session_check(s);
    if (status) return status;
    step->rows = burin_network_rows(net, symbols);
    if (step->rows > step->max_rows) return BURIN_BAD_SHAPE;
    if (net->scratch_bytes && net->scratch_bytes(symbols) > s->scratch_bytes)
        return BURIN_BAD_SHAPE;
    step->inputs = inputs;
    step->outputs = outputs;
    step->symbols = symbols;
    step->data_dependent = symbols + net->n_symbols;
    burin_session_run(s);
    for (int i = net->n_symbols; i < net->n_symbols + net->n_data_dependent; i++)
        if (symbols[i] > net->symbols[i].upper) return BURIN_TOO_MANY;
    for (int i = 0; i < net->n_outputs; i++) {
        int64_t each = step->n_sequences && !burin_network_is_by_rows(net, &net->outputs[i])
                           ? step->n_sequences
                           : 1;
        burin_one_nan(net->outputs[i].type, outputs[i],
                      (size_t)(each * count_of(net, &net->outputs[i], symbols)));
    }
    return BURIN_OK;
}
