// biases: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 3 distinct, 3 in a step
//   barriers : 2 in a step of one row, 2 in a step of more
//   arena    : 0 bytes for 1 rows; at least 25600 bytes live at once
//   local    : 0 bytes a thread
//   state    : 0 bytes a slot, of which KV cache 0 bytes
//   weights  : 66432 bytes, packed
#include "biases_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(biases_forward_, BURIN_CPU)
#define EXP JOIN(biases_exp_, BURIN_CPU)
#define THREAD_RANGE(count) burin_thread_range(s, thread, count)
#define ROW_RANGE(count) burin_row_range(s, thread, count)
#define FOR_EACH_SLICE(...) \
    for (burin_slices slices = burin_matmul_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define FOR_EACH_ATTENTION_SLICE(...) \
    for (burin_slices slices = burin_attention_slices(s, thread, __VA_ARGS__); burin_next_slice(s, thread, &slices);)
#define ALL(count) (burin_range){0, count}
#define STATE(offset) ((void *)(s->state + (offset)))
#define BARRIER() burin_step_barrier(s, thread)
#define DONE(kernel) burin_mark(s, thread, kernel)
#define RECORD(...) BURIN_RECORD(s, thread, __VA_ARGS__)

void FORWARD(const burin_step *s, int thread);
void EXP(float *values, size_t n);

void EXP(float *values, size_t n) { burin_exp_values(values, n); }

// %u: f32[T, 64], f32[96, 64], f32[96] -> f32[T, 96]
// add($0, $1)
typedef struct result_rows_b1 {
    float *y;
    const float *b1;
} result_rows_b1;

static inline void store_add_96(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store(c->y + (size_t)row * 96 + column, vf_add(a0, vf_load(c->b1 + column)));
}

KERNEL void matmul_f32_64x96_add(burin_range units, int rows, const float *x, const float *w, const float *b1,
                                 float *y) {
    matmul_args m = {.panels = 6, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f32(m, store_add_96, &(result_rows_b1){y, b1});
}

// %d: f32[T, 96], f32[64, 96], f32[64] -> f32[T, 64]
// add($0, $1)
static inline void store_add_64(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store(c->y + (size_t)row * 64 + column, vf_add(a0, vf_load(c->b1 + column)));
}

KERNEL void matmul_f32_96x64_add(burin_range units, int rows, const float *x, const float *w, const float *b1,
                                 float *y) {
    matmul_args m = {.panels = 4, .k = 96, .x_stride = 96, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f32(m, store_add_64, &(result_rows_b1){y, b1});
}

// %out: f32[T, 64], f32[64, 64], f32[64] -> f32[T, 64]
// add($0, $1)
KERNEL void matmul_f32_64x64_add(burin_range units, int rows, const float *x, const float *w, const float *b1,
                                 float *y) {
    matmul_args m = {.panels = 4, .k = 64, .x_stride = 64, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f32(m, store_add_64, &(result_rows_b1){y, b1});
}

// Offsets of this run's buffers in the scratch memory; returns its bytes.
static size_t buffer_offsets(const int64_t *symbols, size_t *offset) {
    size_t end[2], total = 0;
    offset[0] = 0;
    end[0] = offset[0] + ((size_t)(symbols[0] * 96) * 4 + 63) / 64 * 64;  // up
    if (end[0] > total) total = end[0];
    offset[1] = 0;
    if (end[0] > offset[1]) offset[1] = end[0];
    end[1] = offset[1] + ((size_t)(symbols[0] * 64) * 4 + 63) / 64 * 64;  // down
    if (end[1] > total) total = end[1];
    return total;
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct biases_weights *w = (const void *)s->weights;
    size_t offset[3];
    buffer_offsets(s->symbols, offset);
    float *up = (void *)(s->scratch + offset[0]);
    float *down = (void *)(s->scratch + offset[1]);

    FOR_EACH_SLICE(6, (int)s->symbols[0])
        matmul_f32_64x96_add(slices.range, (int)s->symbols[0], (const float *)s->inputs[0], w->up, w->up_bias, up);
    DONE(0); RECORD("u", -1, up, (int)s->symbols[0], 96, 96);
    BARRIER();
    FOR_EACH_SLICE(4, (int)s->symbols[0])
        matmul_f32_96x64_add(slices.range, (int)s->symbols[0], up, w->down, w->down_bias, down);
    DONE(1); RECORD("d", -1, down, (int)s->symbols[0], 64, 64);
    BARRIER();
    FOR_EACH_SLICE(4, (int)s->symbols[0])
        matmul_f32_64x64_add(slices.range, (int)s->symbols[0], down, w->out, w->out_bias, (float *)s->outputs[0]);
    DONE(2); RECORD("out", -1, (float *)s->outputs[0], (int)s->symbols[0], 64, 64);
}
