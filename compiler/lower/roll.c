// Identical layers become a loop. A period is found by equal keys in the list of all kernels:
//
//   embed norm | qkv ... down skip_norm | qkv ... down skip_norm | qkv ... down | gather_rows ...
//                first                    first + period           the last iteration stops `missing` kernels early
//
// An operand of the loop must be the same memory in every iteration: the buffers of all iterations
// become one, which is correct if their values are never live at the same time. Weights and states
// are either the same in all iterations, or different in each.
#include <stdlib.h>
#include <string.h>

#include "lower/lowering.h"

// A stretch in which kernel i is of the same kind as kernel i + period.
typedef struct Run {
    int first, period, length;
} Run;

// Layers of more kernels are not looked for, and no more kernels are compared in all: time stays
// linear in long graphs.
enum { MOST_RUNS = 32, LONGEST_PERIOD = 4096, MOST_COMPARED = 1 << 26 };

static int saved(const Run *r) { return r->length - r->period; }

// Keeps the runs that leave the fewest kernels to write out, best first; of equals the shortest
// period.
static void keep_run(Run *runs, int *n, Run run) {
    if (saved(&run) < run.period / 2 || saved(&run) < 2) return;
    int at = *n;
    while (at > 0 && saved(&runs[at - 1]) < saved(&run)) at--;
    if (at == MOST_RUNS) return;
    if (*n < MOST_RUNS) ++*n;
    memmove(runs + at + 1, runs + at, (size_t)(*n - at - 1) * sizeof *runs);
    runs[at] = run;
}

static int find_runs(const Program *p, Run runs[MOST_RUNS]) {
    int n = 0;
    for (int period = 1; period <= p->n_kernels / 2 && period <= LONGEST_PERIOD; period++)
        for (int i = 0; i + period < p->n_kernels; i++) {
            int first = i;
            while (i + period < p->n_kernels &&
                   p->kernels[i]->signature == p->kernels[i + period]->signature)
                i++;
            if (i > first) keep_run(runs, &n, (Run){first, period, i - first + period});
        }
    return n;
}

// The loop that begins `later` kernels into a run; iterations 0 when too little of it is left.
static Loop loop_of_run(const Run *r, int later) {
    int length = r->length - later, iterations = (length + r->period - 1) / r->period;
    if (length - r->period < 2 || length - r->period < r->period / 2) return (Loop){0};
    return (Loop){r->first + later, r->period, iterations, iterations * r->period - length};
}

static Kernel *kernel_at(const Program *p, const Loop *loop, int iteration, int position) {
    int i = loop->first + iteration * loop->period + position;
    return i < loop->first + loop->period * loop->iterations - loop->missing ? p->kernels[i] : NULL;
}

// ------------------------------------------------------------------------------------------ checks
static bool same_in_all(const View *a, const View *b, int step) {
    if (a->offset != b->offset || a->row_index != b->row_index) return false;
    switch (a->base) {
        case BASE_BUFFER:
            return a->buffer->per_thread == b->buffer->per_thread &&
                   a->buffer->fixed_size == b->buffer->fixed_size &&
                   a->buffer->row_bytes == b->buffer->row_bytes &&
                   a->buffer->units == b->buffer->units;
        case BASE_STATE:
            return a->state->bytes == b->state->bytes && step >= 0;
        case BASE_WEIGHT:
            return a->weight->bytes == b->weight->bytes;
        default:
            return true;
    }
}

static bool linear_states(const View *v0, const View *v1, const View *v, int iteration) {
    if (v0->base != BASE_STATE) return true;
    return v->state->offset - v0->state->offset ==
           (uint64_t)iteration * (v1->state->offset - v0->state->offset);
}

// Weights: one for all iterations, or one for each, used only at this position of that iteration.
static bool claim_weight(const Loop *loop, const View *v0, const View *v1, PackedWeight *w,
                         int at[2]) {
    if (v0->base != BASE_WEIGHT) return true;
    if (v0->weight == v1->weight) return w == v0->weight && w->layer < 0;
    if (w->layer >= 0) return w->layer == at[0] && w->like == v0->weight;
    w->layer = at[0], w->like = v0->weight;
    w->group =
        loop->missing && at[1] >= loop->period - loop->missing ? GROUP_LAYER_END : GROUP_LAYER;
    return true;
}

static bool each_operand(const Program *p, const Loop *loop,
                         bool (*check)(const Loop *, View *const of[3], int at[2], void *),
                         void *user) {
    for (int iteration = 0; iteration < loop->iterations; iteration++)
        for (int position = 0; position < loop->period; position++) {
            Kernel *k = kernel_at(p, loop, iteration, position),
                   *k0 = kernel_at(p, loop, 0, position), *k1 = kernel_at(p, loop, 1, position);
            if (!k) break;
            if (!k1) k1 = k0;
            int at[2] = {iteration, position};
            for (int i = 0; i < k->n_in + k->n_out; i++) {
                bool in = i < k->n_in;
                int j = in ? i : i - k->n_in;
                View *of[3] = {in ? &k0->in[j] : &k0->out[j], in ? &k1->in[j] : &k1->out[j],
                               in ? &k->in[j] : &k->out[j]};
                if (!check(loop, of, at, user)) return false;
            }
        }
    return true;
}

static bool check_operand(const Loop *loop, View *const of[3], int at[2], void *user) {
    (void)loop, (void)user;
    return same_in_all(of[0], of[2], at[0]) && linear_states(of[0], of[1], of[2], at[0]);
}

static bool claim_operand(const Loop *loop, View *const of[3], int at[2], void *user) {
    (void)user;
    return of[2]->base != BASE_WEIGHT || claim_weight(loop, of[0], of[1], of[2]->weight, at);
}

// ----------------------------------------------------------------------------------------- buffers
static int root(int *parent, int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static bool join_operand(const Loop *loop, View *const of[3], int at[2], void *user) {
    int *parent = user;
    (void)loop, (void)at;
    if (of[0]->base != BASE_BUFFER) return true;
    int a = root(parent, of[0]->buffer->index), b = root(parent, of[2]->buffer->index);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
    return true;
}

// The kernels from first to last between which a buffer that becomes one with `root` is live.
typedef struct Joined {
    int root, first, last;
} Joined;

static int compare_joined(const void *a, const void *b) {
    const Joined *x = a, *y = b;
    return x->root != y->root ? (x->root < y->root ? -1 : 1)
                              : (x->first > y->first) - (x->first < y->first);
}

// Ranges of one buffer are apart, so ranges that overlap are of two.
static bool values_are_apart(Arena *arena, const Program *p, int *parent) {
    int n = 0;
    for (int i = 0; i < p->n_buffers; i++) n += p->buffers[i]->n_live;
    Joined *ranges = ARENA_ARRAY(arena, Joined, n + 1);
    n = 0;
    for (int i = 0; i < p->n_buffers; i++)
        for (int j = 0; j < p->buffers[i]->n_live; j++)
            ranges[n++] = (Joined){root(parent, i), p->buffers[i]->live[j].first,
                                   p->buffers[i]->live[j].last};
    qsort(ranges, (size_t)n, sizeof *ranges, compare_joined);
    for (int i = 1; i < n; i++)
        if (ranges[i].root == ranges[i - 1].root && ranges[i].first <= ranges[i - 1].last)
            return false;
    return true;
}

static void use_joined(Program *p, View *v, int *parent) {
    if (v->base == BASE_BUFFER) v->buffer = p->buffers[root(parent, v->buffer->index)];
}

static void join_buffers(Program *p, int *parent) {
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        for (int j = 0; j < k->n_in; j++) use_joined(p, &k->in[j], parent);
        for (int j = 0; j < k->n_out; j++) use_joined(p, &k->out[j], parent);
    }
    int n = 0;
    for (int i = 0; i < p->n_buffers; i++)
        if (root(parent, i) == i) p->buffers[n++] = p->buffers[i];
    p->n_buffers = n;
    for (int i = 0; i < n; i++) p->buffers[i]->index = i;
}

static void forget_layers(Program *p) {
    for (int i = 0; i < p->n_weights; i++)
        p->weights[i]->layer = -1, p->weights[i]->like = NULL, p->weights[i]->group = GROUP_PROGRAM;
}

// Pieces of the loop that kernels outside of it use as well cannot be fields of a layer.
static bool used_outside(const Program *p, const Loop *loop) {
    int end = loop->first + loop->period * loop->iterations - loop->missing;
    for (int i = 0; i < p->n_kernels; i++) {
        if (i >= loop->first && i < end) continue;
        for (int j = 0; j < p->kernels[i]->n_in; j++) {
            const View *v = &p->kernels[i]->in[j];
            if (v->base == BASE_WEIGHT && v->weight->layer >= 0) return true;
        }
    }
    return false;
}

static bool roll_as(Lowering *l, Loop loop) {
    Program *p = l->program;
    int *parent = ARENA_ARRAY(l->arena, int, p->n_buffers + 1);
    for (int i = 0; i < p->n_buffers; i++) parent[i] = i;
    if (each_operand(p, &loop, check_operand, NULL) &&
        each_operand(p, &loop, claim_operand, NULL) && !used_outside(p, &loop) &&
        each_operand(p, &loop, join_operand, parent) && values_are_apart(l->arena, p, parent)) {
        join_buffers(p, parent);
        p->loop = loop;
        return true;
    }
    forget_layers(p);
    return false;
}

// Where a run's first kernel reads something else than in later iterations (the embedding), the
// loop begins after it.
void roll_layers(Lowering *l) {
    Run runs[MOST_RUNS + 1];
    if (l->program->n_regions || l->program->n_data_dependent)
        return;  // bodies and sizes are not apart
    int n = find_runs(l->program, runs);
    find_live_ranges(l->program);
    int64_t compared = 0;
    for (int i = 0; i < n; i++)
        for (int later = 0; later < runs[i].period; later++) {
            Loop loop = loop_of_run(&runs[i], later);
            compared += l->program->n_kernels;
            if (compared > MOST_COMPARED) return;
            if (loop.iterations >= 2 && roll_as(l, loop)) return;
        }
}
