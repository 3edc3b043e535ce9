// nests: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 19 distinct, 20 in a step
//   barriers : 2 in a step of one row, 8 in a step of more
//   arena    : 13312 bytes for 16 rows; at least 13312 bytes live at once
//   local    : 576 bytes a thread
//   state    : 0 bytes a slot, of which KV cache 0 bytes
//   weights  : 35584 bytes, packed
#include "nests_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(nests_forward_, BURIN_CPU)
#define EXP JOIN(nests_exp_, BURIN_CPU)
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

// %e: f32[50, 60], i32[R] -> f32[R, 60]
KERNEL void embed_f32_50x60(burin_range range, const int32_t *index, const float *table, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_row_f32(60, table, burin_index(index[r], 50), y + r * 60);
}

// %p: f16[64, 60], i32[R] -> f32[R, 60]
KERNEL void embed_f16_64x60(burin_range range, const int32_t *index, const uint16_t *table, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_row_f16(60, table, burin_index(index[r], 64), y + r * 60);
}

// %x: f32[R, 60], f32[R, 60] -> f32[R, 60]
KERNEL void add_60(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const float *p0 = a0 + (ptrdiff_t)i0 * 60;
        const float *p1 = a1 + (ptrdiff_t)i0 * 60;
        float *q = y + (ptrdiff_t)i0 * 60;
        for (int j = 0; j < 60; j += LANES) {
            int n = 60 - j;
            vf_store_n(q + j, vf_add(vf_load_n(p0 + j, n), vf_load_n(p1 + j, n)), n);
        }
    }
}

// %y: f32[R, 60], f32[60] -> f32[R, 60]
// mul(tanh($0), add($1, $2))
KERNEL void tanh_add_mul_60(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const float *p0 = a0 + (ptrdiff_t)i0 * 60;
        float *q = y + (ptrdiff_t)i0 * 60;
        for (int j = 0; j < 60; j += LANES) {
            int n = 60 - j;
            vf_store_n(q + j, vf_mul(vf_tanh(vf_load_n(p0 + j, n)), vf_add(vf_load_n(a1 + j, n), vf_set1(0x1.4p+1f))),
                       n);
        }
    }
}

// %mm: f32[R, 4, 15], f32[R, 15, 4] -> f32[R, 4, 4]
KERNEL void matmul_4x4(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i = range.first; i < range.last; i++) {
        int i1 = i % 4;
        int i0 = i / 4;
        const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
        const float *p1 = a1 + (ptrdiff_t)i0 * 60;
        float *q = y + (ptrdiff_t)i0 * 16 + (ptrdiff_t)i1 * 4;
        vf sum = vf_zero();
        for (int k = 0; k < 15; k++)
            sum = vf_fma(vf_set1(p0[k]), vf_load_strided(p1 + k, 15, 4), sum);
        vf_store_n(q, sum, 4);
    }
}

// %sm: f32[R, 4, 4] -> f32[R, 4, 4]
KERNEL void softmax_4x4(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 16 + (ptrdiff_t)i1 * 4;
            float *q = y + (ptrdiff_t)i0 * 16 + (ptrdiff_t)i1 * 4;
            softmax_row(4, p0, q);
        }
    }
}

// %mv: f32[R, 4, 4], f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void matmul_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i = range.first; i < range.last; i++) {
        int i1 = i % 4;
        int i0 = i / 4;
        const float *p0 = a0 + (ptrdiff_t)i0 * 16 + (ptrdiff_t)i1 * 4;
        const float *p1 = a1 + (ptrdiff_t)i0 * 60;
        float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
        vf sum = vf_zero();
        for (int k = 0; k < 4; k++)
            sum = vf_fma(vf_set1(p0[k]), vf_load_n(p1 + k * (ptrdiff_t)15, 15), sum);
        vf_store_n(q, sum, 15);
    }
}

// %gm: f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void softmax_4x15(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i2 = 0; i2 < 15; i2++) {
            float row[4];
            for (int j = 0; j < 4; j++) row[j] = a0[(ptrdiff_t)i0 * 60 + (ptrdiff_t)j * 15 + i2];
            softmax_chain(4, row, row);
            for (int j = 0; j < 4; j++) y[(ptrdiff_t)i0 * 60 + (ptrdiff_t)j * 15 + i2] = row[j];
        }
    }
}

// %rs: f32[R, 4, 15] -> f32[R, 4, 1]
KERNEL void reduce_sum_4x1(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf lanes = vf_set1(0);
            for (int j = 0; j < 15; j += LANES) {
                int n = 15 - j;
                vf x = vf_load_n(p + j, n);
                lanes = n < LANES ? vf_where(vm_first(n), vf_add(x, lanes), lanes) : vf_add(x, lanes);
            }
            y[(ptrdiff_t)i0 * 4 + i1] = vf_sum(lanes);
        }
    }
}

// %rm: f32[R, 4, 15] -> f32[R, 1, 15]
KERNEL void reduce_mean_1x15(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int j = 0; j < 15; j += LANES) {
            int n = 15 - j;
            vf total = vf_set1(0);
            for (int r1 = 0; r1 < 4; r1++) {
                total = vf_add(vf_load_n(a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)r1 * 15 + j, n), total);
            }
            vf_store_n(y + (ptrdiff_t)i0 * 15 + j, vf_div(total, vf_set1((float)(4))), n);
        }
    }
}

// %rx: f32[R, 4, 15] -> f32[R, 1, 1]
KERNEL void reduce_max_1x1(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const float *p = a0 + (ptrdiff_t)i0 * 60;
        vf lanes = vf_set1(-INFINITY);
        for (int j = 0; j < 60; j += LANES) {
            int n = 60 - j;
            vf x = vf_load_n(p + j, n);
            lanes = n < LANES ? vf_where(vm_first(n), vf_max(x, lanes), lanes) : vf_max(x, lanes);
        }
        y[i0] = vf_reduce_max(lanes);
    }
}

// %rn: f32[R, 15, 4] -> f32[R, 15]
KERNEL void reduce_min_15(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int j = 0; j < 15; j += LANES) {
            int n = 15 - j;
            vf lane[LANES], start = vf_set1(INFINITY);
            fill_lanes(lane, start);
            int e = 0;
            for (int r2 = 0; r2 < 4; r2++) {
                lane[e % LANES] = vf_min(vf_load_n(a0 + (ptrdiff_t)i0 * 60 + j + (ptrdiff_t)r2 * 15, n),
                                         lane[e % LANES]);
                e++;
            }
            vf_store_n(y + (ptrdiff_t)i0 * 15 + j, vf_reduce_min_of(lane), n);
        }
    }
}

// %rt: f32[R, 15, 4] -> f32[R, 1, 1]
KERNEL void reduce_sum_1x1(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        float lane[LANES];
        vf_store(lane, vf_set1(0));
        int e = 0;
        for (int r1 = 0; r1 < 15; r1++) {
            for (int r2 = 0; r2 < 4; r2++) {
                lane[e % LANES] = sf_add(a0[(ptrdiff_t)i0 * 60 + r1 + (ptrdiff_t)r2 * 15], lane[e % LANES]);
                e++;
            }
        }
        y[i0] = vf_sum(vf_load(lane));
    }
}

// %d: f32[R, 4, 15], f32[R, 1, 1] -> f32[R, 4, 15]
KERNEL void div_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + i0;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_div(vf_load_n(p0, 15), vf_set1(*p1)), 15);
        }
    }
}

// %d2: f32[R, 4, 15], f32[R, 1, 15] -> f32[R, 4, 15]
KERNEL void sub_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + (ptrdiff_t)i0 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_sub(vf_load_n(p0, 15), vf_load_n(p1, 15)), 15);
        }
    }
}

// %d3: f32[R, 4, 15], f32[R, 4, 1] -> f32[R, 4, 15]
KERNEL void mul_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + (ptrdiff_t)i0 * 4 + i1;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_mul(vf_load_n(p0, 15), vf_set1(*p1)), 15);
        }
    }
}

// %s: f32[R, 4, 15], f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void add_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + i0;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_add(vf_load_n(p0, 15), vf_set1(*p1)), 15);
        }
    }
}

// %lw: f32[R, 60] -> f32[L, 60]
KERNEL void gather_rows_60(burin_range range, const int32_t *row, const float *x, float *y) {
    for (int r = range.first; r < range.last; r++) memcpy(y + r * 60, x + row[r] * 60, 60 * sizeof *y);
}

// %logits: f32[L, 60], f32[50, 60], f32[50] -> f32[L, 50]
// gelu(add($0, $1))
typedef struct result_rows_b1 {
    float *y;
    const float *b1;
} result_rows_b1;

static inline void store_add_gelu_50(const void *context, vf a0, int row, int column) {
    const result_rows_b1 *c = context;
    vf_store_n(c->y + (size_t)row * 50 + column, vf_gelu(vf_add(a0, vf_load_n(c->b1 + column, 50 - column))),
               50 - column);
}

KERNEL void matmul_f32_60x50_add_gelu(burin_range units, int own_rows, const float *x, const float *w, const float *b1,
                                      float *y) {
    matmul_args m = {.panels = 4, .k = 60, .x_stride = 60, .rows = own_rows, .x = x, .w = w, .units = units};
    matmul_f32(m, store_add_gelu_50, &(result_rows_b1){y, b1});
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct nests_weights *w = (const void *)s->weights;
    const int rows = s->rows, logit_rows = s->n_logit_rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 576;
    float *e = burin_per_thread(s, local, 0);  // 256 bytes a row: %e
    float *p = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %p
    float *mm = burin_shared(s, 256, 256);  // 64 bytes a row: %mm
    float *sm = burin_per_thread(s, local + 256, 512);  // 64 bytes a row: %sm
    float *mv = burin_shared(s, 0, 256);  // 256 bytes a row: %mv
    float *gm = burin_per_thread(s, local + 256, 512);  // 256 bytes a row: %gm
    float *rs = burin_per_thread(s, local + 512, 768);  // 64 bytes a row: %rs
    float *rm = burin_per_thread(s, local + 256, 512);  // 64 bytes a row: %rm
    float *rx = burin_per_thread(s, local + 320, 576);  // 64 bytes a row: %rx
    float *rn = burin_per_thread(s, local + 384, 640);  // 64 bytes a row: %rn
    float *rt = burin_per_thread(s, local + 448, 704);  // 64 bytes a row: %rt
    float *d = burin_per_thread(s, local, 0);  // 256 bytes a row: %d
    float *lw = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %lw

    embed_f32_50x60(ROW_RANGE(rows), s->token, w->embed, e);
    DONE(0); RECORD("e", -1, e, rows, 60, 60);
    embed_f16_64x60(ROW_RANGE(rows), s->position, w->pos, p);
    DONE(1); RECORD("p", -1, p, rows, 60, 60);
    add_60(ROW_RANGE(rows), e, p, e);
    DONE(2); RECORD("x", -1, e, rows, 60, 60);
    tanh_add_mul_60(ROW_RANGE(rows), e, w->v, e);
    DONE(3); RECORD("y", -1, e, rows, 60, 60);
    if (many) BARRIER();
    matmul_4x4(THREAD_RANGE((rows * 4)), e, e, mm);
    DONE(4); RECORD("mm", -1, mm, (rows * 4), 4, 4);
    BARRIER();
    softmax_4x4(ROW_RANGE(rows), mm, sm);
    DONE(5); RECORD("sm", -1, sm, (rows * 4), 4, 4);
    if (many) BARRIER();
    matmul_4x15(THREAD_RANGE((rows * 4)), sm, e, mv);
    DONE(6); RECORD("mv", -1, mv, (rows * 4), 15, 15);
    BARRIER();
    softmax_4x15(ROW_RANGE(rows), mv, gm);
    DONE(7); RECORD("gm", -1, gm, (rows * 4), 15, 15);
    reduce_sum_4x1(ROW_RANGE(rows), gm, rs);
    DONE(8); RECORD("rs", -1, rs, (rows * 4), 1, 1);
    if (many) BARRIER();
    reduce_mean_1x15(ROW_RANGE(rows), mv, rm);
    DONE(9); RECORD("rm", -1, rm, rows, 15, 15);
    reduce_max_1x1(ROW_RANGE(rows), mv, rx);
    DONE(10); RECORD("rx", -1, rx, rows, 1, 1);
    reduce_min_15(ROW_RANGE(rows), e, rn);
    DONE(11); RECORD("rn", -1, rn, rows, 15, 15);
    reduce_sum_1x1(ROW_RANGE(rows), e, rt);
    DONE(12); RECORD("rt", -1, rt, rows, 1, 1);
    if (many) BARRIER();
    div_4x15(ROW_RANGE(rows), mv, rx, d);
    DONE(13); RECORD("d", -1, d, (rows * 4), 15, 15);
    sub_4x15(ROW_RANGE(rows), d, rm, d);
    DONE(14); RECORD("d2", -1, d, (rows * 4), 15, 15);
    mul_4x15(ROW_RANGE(rows), d, rs, d);
    DONE(15); RECORD("d3", -1, d, (rows * 4), 15, 15);
    add_4x15(ROW_RANGE(rows), d, rt, d);
    DONE(16); RECORD("s", -1, d, (rows * 4), 15, 15);
    sub_4x15(ROW_RANGE(rows), d, rn, d);
    DONE(17); RECORD("s2", -1, d, (rows * 4), 15, 15);
    if (many) BARRIER();
    gather_rows_60(ROW_RANGE(logit_rows), s->logit_rows, d, lw);
    DONE(18); RECORD("lw", -1, lw, logit_rows, 60, 60);
    if (many) BARRIER();
    FOR_EACH_SLICE(4, logit_rows)
        matmul_f32_60x50_add_gelu(slices.range, logit_rows, lw, w->head, w->bias, s->logits);
    DONE(19); RECORD("logits", -1, s->logits, logit_rows, 50, 50);
}
