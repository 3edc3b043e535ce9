// moves: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 19 distinct, 19 in a step
//   barriers : 1 in a step of one row, 8 in a step of more
//   arena    : 17408 bytes for 16 rows; at least 17408 bytes live at once
//   local    : 1088 bytes a thread
//   state    : 0 bytes a slot, of which KV cache 0 bytes
//   weights  : 52288 bytes, packed
#include "moves_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(moves_forward_, BURIN_CPU)
#define EXP JOIN(moves_exp_, BURIN_CPU)
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

// %c: f32[R, 4, 15] -> bool[R, 4, 15]
KERNEL void less_4x15(burin_range range, const float *a0, uint8_t *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            uint8_t *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vm_store_n(q, vf_less(vf_load_n(p0, 15), vf_set1(0x1.4p+1f)), 15);
        }
    }
}

// %w: bool[R, 4, 15], f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void where_4x15(burin_range range, const uint8_t *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const uint8_t *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_where(vm_load_n(p0, 15), vf_load_n(p1, 15), vf_set1(0x1.4p+1f)), 15);
        }
    }
}

// %cat: f32[R, 4, 15], f32[R, 4, 15] -> f32[R, 8, 15]
KERNEL void concat_8x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            for (int i2 = 0; i2 < 15; i2++) {
                y[(ptrdiff_t)i0 * 120 + (ptrdiff_t)i1 * 15 + i2] = a0[(ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15 + i2];
            }
        }
        for (int i1 = 0; i1 < 4; i1++) {
            for (int i2 = 0; i2 < 15; i2++) {
                y[(ptrdiff_t)i0 * 120 + (ptrdiff_t)(4 + i1) * 15 + i2] = a1[(ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15
                + i2];
            }
        }
    }
}

// %s2: f32[R, 4, 15], f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void add_4x15(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 120 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_add(vf_load_n(p0, 15), vf_load_n(p1, 15)), 15);
        }
    }
}

// %bf: f32[R, 4, 15] -> bf16[R, 4, 15]
KERNEL void cast_bf16_4x15(burin_range range, const float *a0, uint16_t *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            uint16_t *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_bf16_n(q, vf_load_n(p0, 15), 15);
        }
    }
}

// %bf2: bf16[R, 4, 15] -> f32[R, 4, 15]
KERNEL void cast_f32_4x15(burin_range range, const uint16_t *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const uint16_t *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_load_bf16_n(p0, 15), 15);
        }
    }
}

// %in: f32[R, 4, 15] -> i32[R, 4, 15]
KERNEL void cast_i32_4x15(burin_range range, const float *a0, int32_t *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            int32_t *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vi_store_n(q, vi_from_float(vf_load_n(p0, 15)), 15);
        }
    }
}

// %in2: i32[R, 4, 15], i32[R, 4, 15] -> i32[R, 4, 15]
KERNEL void mul_4x15(burin_range range, const int32_t *a0, const int32_t *a1, int32_t *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const int32_t *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const int32_t *p1 = a1 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            int32_t *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vi_store_n(q, vi_mul(vi_load_n(p0, 15), vi_load_n(p1, 15)), 15);
        }
    }
}

// %in3: i32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void cast_f32_4x15_2(burin_range range, const int32_t *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const int32_t *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_from_int(vi_load_n(p0, 15)), 15);
        }
    }
}

// %s3: f32[R, 4, 15], f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void add_4x15_2(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 4; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            const float *p1 = a1 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15;
            vf_store_n(q, vf_add(vf_load_n(p0, 15), vf_load_n(p1, 15)), 15);
        }
    }
}

// %rnt: f32[R, 4, 15] -> f32[R, 4, 15]
KERNEL void copy_4x15(burin_range range, const float *a0, float *y) {
    for (int i = range.first; i < range.last; i++) {
        int i1 = i % 4;
        int i0 = i / 4;
        for (int i2 = 0; i2 < 15; i2++) {
            y[(ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 15 + i2] = a0[(ptrdiff_t)i0 * 15 + i2];
        }
    }
}

// %gp: f32[R, 60], i32[6] -> f32[R, 6]
KERNEL void gather_6(burin_range range, const float *a0, const int32_t *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 6; i1++) {
            int chosen = burin_index((int)a1[i1], 60);
            y[(ptrdiff_t)i0 * 6 + i1] = a0[(ptrdiff_t)i0 * 60 + chosen];
        }
    }
}

// %gc: f32[R, 60], f32[R, 6], f32[R, 60] -> f32[R, 126]
KERNEL void concat_126(burin_range range, const float *a0, const float *a1, const float *a2, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 60; i1++) {
            y[(ptrdiff_t)i0 * 126 + i1] = a0[(ptrdiff_t)i0 * 60 + i1];
        }
        for (int i1 = 0; i1 < 6; i1++) {
            y[(ptrdiff_t)i0 * 126 + (60 + i1)] = a1[(ptrdiff_t)i0 * 6 + i1];
        }
        for (int i1 = 0; i1 < 60; i1++) {
            y[(ptrdiff_t)i0 * 126 + (66 + i1)] = a2[(ptrdiff_t)i0 * 60 + i1];
        }
    }
}

// %lw: f32[R, 126] -> f32[L, 126]
KERNEL void gather_rows_126(burin_range range, const int32_t *row, const float *x, float *y) {
    for (int r = range.first; r < range.last; r++) memcpy(y + r * 126, x + row[r] * 126, 126 * sizeof *y);
}

// %logits: f32[L, 126], f32[50, 126], f32[50] -> f32[L, 50]
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

KERNEL void matmul_f32_126x50_add_gelu(burin_range units, int own_rows, const float *x, const float *w,
                                       const float *b1, float *y) {
    matmul_args m = {.panels = 4, .k = 126, .x_stride = 126, .rows = own_rows, .x = x, .w = w, .units = units};
    matmul_f32(m, store_add_gelu_50, &(result_rows_b1){y, b1});
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct moves_weights *w = (const void *)s->weights;
    const int rows = s->rows, logit_rows = s->n_logit_rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 1088;
    float *e = burin_per_thread(s, local + 512, 512);  // 256 bytes a row: %e
    float *p = burin_per_thread(s, local, 0);  // 256 bytes a row: %p
    float *rn = burin_per_thread(s, local + 1024, 1024);  // 64 bytes a row: %rn
    uint8_t *c = burin_per_thread(s, local, 0);  // 64 bytes a row: %c
    float *v_w = burin_per_thread(s, local + 768, 768);  // 256 bytes a row: %w
    float *cat = burin_per_thread(s, local, 0);  // 512 bytes a row: %cat
    uint16_t *bf = burin_per_thread(s, local, 0);  // 128 bytes a row: %bf
    float *bf2 = burin_per_thread(s, local + 512, 512);  // 256 bytes a row: %bf2
    int32_t *in = burin_per_thread(s, local, 0);  // 256 bytes a row: %in
    float *in3 = burin_per_thread(s, local + 256, 256);  // 256 bytes a row: %in3
    float *rnt = burin_per_thread(s, local + 768, 768);  // 256 bytes a row: %rnt
    float *gp = burin_shared(s, 0, 1024);  // 64 bytes a row: %gp
    float *gc = burin_per_thread(s, local, 0);  // 512 bytes a row: %gc
    float *lw = burin_per_thread(s, local + 512, 512);  // 512 bytes a row: %lw

    embed_f32_50x60(ROW_RANGE(rows), s->token, w->embed, e);
    DONE(0); RECORD("e", -1, e, rows, 60, 60);
    embed_f16_64x60(ROW_RANGE(rows), s->position, w->pos, p);
    DONE(1); RECORD("p", -1, p, rows, 60, 60);
    add_60(ROW_RANGE(rows), e, p, e);
    DONE(2); RECORD("x", -1, e, rows, 60, 60);
    if (many) BARRIER();
    reduce_min_15(ROW_RANGE(rows), e, rn);
    DONE(3); RECORD("rn", -1, rn, rows, 15, 15);
    less_4x15(ROW_RANGE(rows), e, c);
    DONE(4);
    where_4x15(ROW_RANGE(rows), c, e, v_w);
    DONE(5); RECORD("w", -1, v_w, (rows * 4), 15, 15);
    if (many) BARRIER();
    concat_8x15(ROW_RANGE(rows), v_w, e, cat);
    DONE(6); RECORD("cat", -1, cat, (rows * 8), 15, 15);
    add_4x15(ROW_RANGE(rows), cat + 15, e, e);
    DONE(7); RECORD("s2", -1, e, (rows * 4), 15, 15);
    if (many) BARRIER();
    cast_bf16_4x15(ROW_RANGE(rows), e, bf);
    DONE(8);
    if (many) BARRIER();
    cast_f32_4x15(ROW_RANGE(rows), bf, bf2);
    DONE(9); RECORD("bf2", -1, bf2, (rows * 4), 15, 15);
    if (many) BARRIER();
    cast_i32_4x15(ROW_RANGE(rows), bf2, in);
    DONE(10);
    mul_4x15(ROW_RANGE(rows), in, in, in);
    DONE(11);
    cast_f32_4x15_2(ROW_RANGE(rows), in, in3);
    DONE(12); RECORD("in3", -1, in3, (rows * 4), 15, 15);
    add_4x15_2(ROW_RANGE(rows), bf2, in3, bf2);
    DONE(13); RECORD("s3", -1, bf2, (rows * 4), 15, 15);
    copy_4x15(ROW_RANGE((rows * 4)), rn, rnt);
    DONE(14);
    if (many) BARRIER();
    gather_6(THREAD_RANGE(rows), bf2, w->pick, gp);
    DONE(15); RECORD("gp", -1, gp, rows, 6, 6);
    if (!many) BARRIER();
    concat_126(ROW_RANGE(rows), bf2, gp, rnt, gc);
    DONE(16); RECORD("gc", -1, gc, rows, 126, 126);
    if (many) BARRIER();
    gather_rows_126(ROW_RANGE(logit_rows), s->logit_rows, gc, lw);
    DONE(17); RECORD("lw", -1, lw, logit_rows, 126, 126);
    if (many) BARRIER();
    FOR_EACH_SLICE(4, logit_rows)
        matmul_f32_126x50_add_gelu(slices.range, logit_rows, lw, w->head, w->bias, s->logits);
    DONE(18); RECORD("logits", -1, s->logits, logit_rows, 50, 50);
}
