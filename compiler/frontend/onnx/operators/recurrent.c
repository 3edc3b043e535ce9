// RNN, GRU, LSTM: one product for all steps' inputs, then a loop over the steps.
#include <string.h>

#include "frontend/onnx/body.h"
#include "frontend/onnx/operators/compose.h"

// One direction of one node.
typedef struct Cell {
    OnnxCall *c;
    int gates;
    int64_t hidden;
    int direction;    // its index
    Node *projected;  // [T, B, gates * H]: x W^T + Wb
    Node *recurrent;  // R^T [H, gates * H]
    Node *scale;      // of R in whole numbers, a scalar or [gates * H], or NULL: R is of floats
    Node *bias;       // Rb [gates * H] or NULL
    Node *peephole;   // [3 * H] or NULL
    const char *functions[3];          // f, g, h
    const double *alpha[3], *beta[3];  // NULL: the activation's own
} Cell;

static Node *activate(const Cell *cell, int which, Node *x) {
    double clip = onnx_float(cell->c, "clip", 0);
    if (clip > 0) x = onnx_formula(cell->c, &x, 1, "max(%a, min(%a, $0))", -clip, clip);
    return onnx_activated(cell->c, cell->functions[which], x, cell->alpha[which],
                          cell->beta[which]);
}

static void read_activations(Cell *cell, int count, const char *const *absent) {
    const BurinOnnx__Attribute *names = onnx_attribute(cell->c, "activations");
    int n_alpha = 0, n_beta = 0;
    const double *alpha = onnx_floats(cell->c, "activation_alpha", &n_alpha),
                 *beta = onnx_floats(cell->c, "activation_beta", &n_beta);
    for (int i = 0; i < count; i++) {
        size_t at = (size_t)(cell->direction * count + i);
        bool given = names && at < names->n_strings;
        const char *name =
            given ? arena_strndup(cell->c->graph->arena, (const char *)names->strings[at].data,
                                  names->strings[at].len)
                  : absent[i];
        cell->functions[i] = onnx_activation_block(cell->c, name);
        cell->alpha[i] = (int)at < n_alpha ? &alpha[at] : NULL;
        cell->beta[i] = (int)at < n_beta ? &beta[at] : NULL;
    }
}

static Node *gate(const Cell *cell, Node *x, int index) {
    return onnx_slice_from(cell->c, x, x->type.rank - 1, index * cell->hidden, cell->hidden);
}

static Node *sum(const Cell *cell, Node *a, Node *b) {
    return b ? ONNX_BINARY(cell->c, OP_add, a, b) : a;
}
static Node *product(const Cell *cell, Node *a, Node *b) {
    return ONNX_BINARY(cell->c, OP_mul, a, b);
}

// x in bytes by its range, times whole numbers
static Node *quantized_product(OnnxCall *c, Node *x, Node *weights, Node *scale) {
    Node *a[3];
    onnx_quantized_by_range(c, x, a);
    Node *sums = ONNX_BINARY(c, OP_matmul, onnx_centred(c, a[0], a[2], false), weights);
    return onnx_scaled_sums(c, sums, a[1], scale, NULL);
}

static Node *recur(const Cell *cell, Node *h, Node *weights, Node *bias) {
    if (cell->scale) return sum(cell, quantized_product(cell->c, h, weights, cell->scale), bias);
    return sum(cell, ONNX_BINARY(cell->c, OP_matmul, h, weights), bias);
}

static Node *rnn_step(const Cell *cell, Node *x, Node *h) {
    return activate(cell, 0, sum(cell, x, recur(cell, h, cell->recurrent, cell->bias)));
}

// h' = (1 - z) g + z h
static Node *gru_step(const Cell *cell, Node *x, Node *h) {
    Node *bias[3] = {NULL}, *weights[3], *gates[2];
    for (int i = 0; i < 3; i++) {
        weights[i] = gate(cell, cell->recurrent, i);
        if (cell->bias) bias[i] = gate(cell, cell->bias, i);
    }
    for (int i = 0; i < 2; i++)
        gates[i] =
            activate(cell, 0, sum(cell, gate(cell, x, i), recur(cell, h, weights[i], bias[i])));
    bool after = onnx_int(cell->c, "linear_before_reset", 0);
    Node *past = after ? product(cell, gates[1], recur(cell, h, weights[2], bias[2]))
                       : recur(cell, product(cell, gates[1], h), weights[2], bias[2]);
    Node *in[] = {gates[0], activate(cell, 1, sum(cell, gate(cell, x, 2), past)), h};
    return onnx_formula(cell->c, in, 3, "add(mul(sub(1, $0), $1), mul($0, $2))");
}

static Node *peep(const Cell *cell, Node *state, int index) {
    return cell->peephole ? product(cell, gate(cell, cell->peephole, index), state) : NULL;
}

// Gates in the order i, o, f, c; *state is the cell's.
static Node *lstm_step(const Cell *cell, Node *x, Node *h, Node **state) {
    Node *all = sum(cell, x, recur(cell, h, cell->recurrent, cell->bias));
    Node *i = activate(cell, 0, sum(cell, gate(cell, all, 0), peep(cell, *state, 0)));
    Node *f = onnx_int(cell->c, "input_forget", 0)
                  ? onnx_formula(cell->c, &i, 1, "sub(1, $0)")
                  : activate(cell, 0, sum(cell, gate(cell, all, 2), peep(cell, *state, 2)));
    Node *g = activate(cell, 1, gate(cell, all, 3));
    *state = sum(cell, product(cell, f, *state), product(cell, i, g));
    Node *o = activate(cell, 0, sum(cell, gate(cell, all, 1), peep(cell, *state, 1)));
    return product(cell, o, activate(cell, 2, *state));
}

// -------------------------------------------------------------------------------------- directions
static Node *without_first(OnnxCall *c, Node *x, int direction) {
    x = onnx_slice_from(c, x, 0, direction, 1);
    return onnx_shape_to(c, x, x->type.rank - 1, x->type.dim + 1);
}

static Node *operand_of(const Cell *cell, int i) {
    return onnx_operand(cell->c, i) ? without_first(cell->c, onnx_node(cell->c, i), cell->direction)
                                    : NULL;
}

// [B, H] of the initial state of this direction, or zeros.
static Node *initial(const Cell *cell, int i, const Dim *batch) {
    if (onnx_operand(cell->c, i)) {
        Node *all = onnx_node(cell->c, i);
        if (onnx_int(cell->c, "layout", 0)) all = onnx_swap(cell->c, all, 0, 1);
        return without_first(cell->c, all, cell->direction);
    }
    DType dtype = cell->projected->type.dtype;
    Type type = {
        .dtype = dtype, .rank = 2, .dim = {batch, dim_const(cell->c->graph, cell->hidden)}};
    return onnx_expand_to(cell->c, onnx_scalar(cell->c, dtype, 0), &type);
}

// Beyond a sequence's end nothing changes and the result is zero.
static Node *while_it_lasts(OnnxCall *c, Node *lengths, const Dim *at, Node *now, Node *before) {
    const Dim *column[] = {lengths->type.dim[0], dim_const(c->graph, 1)};
    Node *time = onnx_number_of(c, at, lengths->type.dtype);
    Node *lasts = ONNX_BINARY(c, OP_greater, onnx_shape_to(c, lengths, 2, column), time);
    return onnx_emit(c, OP_where, 3,
                     (Node *[]){lasts, now, before ? before : onnx_scalar(c, now->type.dtype, 0)});
}

// One step at time `at`: new states and the result as outputs of the body.
static void write_step(const Cell *cell, const Dim *at, Node *h, Node *state, Node *lengths) {
    OnnxCall *c = cell->c;
    Node *x = without_first(c, onnx_slice_at(c, cell->projected, 0, at, dim_const(c->graph, 1)), 0),
         *next_state = state;
    Node *next = cell->gates == 1   ? rnn_step(cell, x, h)
                 : cell->gates == 3 ? gru_step(cell, x, h)
                                    : lstm_step(cell, x, h, &next_state);
    graph_add_output(c->graph, lengths ? while_it_lasts(c, lengths, at, next, h) : next, "h");
    if (state)
        graph_add_output(c->graph,
                         lengths ? while_it_lasts(c, lengths, at, next_state, state) : next_state,
                         "state");
    graph_add_output(c->graph, lengths ? while_it_lasts(c, lengths, at, next, NULL) : next, "y");
}

static Cell cell_inside(const Cell *cell, OnnxBody *b) {
    Cell inside = *cell;
    inside.c = &b->call;
    inside.projected = onnx_body_value(b, cell->projected);
    inside.recurrent = onnx_body_value(b, cell->recurrent);
    if (cell->scale) inside.scale = onnx_body_value(b, cell->scale);
    if (cell->bias) inside.bias = onnx_body_value(b, cell->bias);
    if (cell->peephole) inside.peephole = onnx_body_value(b, cell->peephole);
    return inside;
}

// The results of all steps, in the order of time; last states in *h and *state.
static Node *run_direction(Cell *cell, bool reverse, Node **h, Node **state) {
    OnnxCall *c = cell->c;
    Graph *g = c->graph;
    const Dim *batch = cell->projected->type.dim[1], *steps = cell->projected->type.dim[0],
              *at = onnx_counter(c, steps);
    OnnxLoop loop = {.counter = at, .extent = steps, .length = steps};
    OnnxBody *b = onnx_body_new(c, "step");
    Node *inner_h = onnx_body_state(b, initial(cell, 5, batch)),
         *inner_state = cell->gates == 4 ? onnx_body_state(b, initial(cell, 6, batch)) : NULL;
    Node *lengths = onnx_operand(c, 4) ? onnx_body_value(b, onnx_node(c, 4)) : NULL;
    Cell inside = cell_inside(cell, b);
    if (reverse) at = dim_sub(g, dim_sub(g, steps, dim_const(g, 1)), at);
    write_step(&inside, at, inner_h, inner_state, lengths);
    Node *all = onnx_body_loop(b, &loop);
    *h = onnx_tuple_item(c, all, 0);
    *state = inner_state ? onnx_tuple_item(c, all, 1) : NULL;
    Node *y = onnx_tuple_item(c, all, inner_state ? 2 : 1);
    return reverse ? onnx_reverse(c, y, 0) : y;
}

static void set_products(Cell *cell, Node *x) {
    OnnxCall *c = cell->c;
    cell->recurrent = onnx_swap(c, operand_of(cell, 2), 0, 1);
    cell->projected = ONNX_BINARY(c, OP_matmul, x, onnx_swap(c, operand_of(cell, 1), 0, 1));
}

// com.microsoft's DynamicQuantizeLSTM: W [D, I, 4 H] and R [D, H, 4 H] in whole numbers, W's scale
// and zero point, R's
static void set_quantized_products(Cell *cell, Node *x) {
    OnnxCall *c = cell->c;
    Node *weights[2];
    for (int i = 0; i < 2; i++)
        weights[i] = onnx_centred(c, operand_of(cell, 1 + i), operand_of(cell, 9 + 2 * i), false);
    cell->scale = operand_of(cell, 10);
    cell->recurrent = weights[1];
    cell->projected = quantized_product(c, x, weights[0], operand_of(cell, 8));
}

static Cell make_cell(OnnxCall *c, int gates, int direction, Node *x) {
    static const char *const absent[] = {"Sigmoid", "Tanh", "Tanh"}, *const plain[] = {"Tanh"};
    Cell cell = {.c = c, .gates = gates, .direction = direction};
    read_activations(&cell, gates == 1 ? 1 : gates == 3 ? 2 : 3, gates == 1 ? plain : absent);
    Node *bias = operand_of(&cell, 3);
    (onnx_count(c) > 8 ? set_quantized_products : set_products)(&cell, x);
    cell.hidden = onnx_extent(c, cell.recurrent, 0);
    if (bias) {
        int64_t width = gates * cell.hidden;
        cell.projected =
            ONNX_BINARY(c, OP_add, cell.projected, onnx_slice_from(c, bias, 0, 0, width));
        cell.bias = onnx_slice_from(c, bias, 0, width, width);
    }
    if (gates == 4) cell.peephole = operand_of(&cell, 7);
    return cell;
}

// [B, H] as one of D: [1, B, H]
static Node *stacked(OnnxCall *c, Node *const *parts, int n) {
    Node *rows[2];
    for (int i = 0; i < n; i++) {
        const Dim *dims[] = {dim_const(c->graph, 1), parts[i]->type.dim[0], parts[i]->type.dim[1]};
        rows[i] = onnx_shape_to(c, parts[i], 3, dims);
    }
    Node *all = onnx_join(c, rows, n, 0);
    return onnx_int(c, "layout", 0) ? onnx_swap(c, all, 0, 1) : all;
}

// Initial states have as many sequences as x: two names of one size, or the number that the file's
// states have.
static void unify_sequences(OnnxCall *c, bool by_batch) {
    for (int i = 5; i < 7; i++) {
        if (!onnx_operand(c, i)) continue;
        Type x = onnx_type(c, 0), state = onnx_type(c, i);
        int batch = by_batch ? 0 : 1;
        if (x.rank == 3 && state.rank == 3)
            onnx_infer_equal_sizes(c, x.dim[batch], state.dim[batch]);
    }
}

// x [T, B, I], W [D, gates * H, I], R [D, gates * H, H], B, lengths, h0, c0, P -> y [T, D, B, H],
// last h, last c [D, B, H]
void onnx_recurrent(OnnxCall *c, int gates) {
    const char *direction = onnx_string(c, "direction", "forward");
    bool both = !strcmp(direction, "bidirectional"), backwards = !strcmp(direction, "reverse"),
         by_batch = onnx_int(c, "layout", 0);
    unify_sequences(c, by_batch);
    Node *x = onnx_node(c, 0), *y[2], *h[2], *state[2];
    if (by_batch) x = onnx_swap(c, x, 0, 1);
    for (int i = 0; i <= both; i++) {
        Cell cell = make_cell(c, gates, i, x);
        y[i] = run_direction(&cell, i ? true : backwards, &h[i], &state[i]);
        const Dim *const *d = y[i]->type.dim, *dims[] = {d[0], dim_const(c->graph, 1), d[1], d[2]};
        y[i] = onnx_shape_to(c, y[i], 4, dims);
    }
    Node *all = onnx_join(c, y, 1 + both, 1);
    onnx_result(c, 0, by_batch ? onnx_permute(c, all, (int64_t[]){2, 0, 1, 3}) : all);
    onnx_result(c, 1, stacked(c, h, 1 + both));
    if (gates == 4) onnx_result(c, 2, stacked(c, state, 1 + both));
}
