// scan: emitted by burin from llama.burin. Compiled once for each CPU, with -DBURIN_CPU=x86_64_v3 or the like.
//
//   kernels  : 19 distinct, 22 in a step
//   barriers : 6 in a step of one row, 12 in a step of more
//   arena    : 21504 bytes for 16 rows; at least 21504 bytes live at once
//   local    : 384 bytes a thread
//   state    : 2368 bytes a slot, of which KV cache 2368 bytes
//   weights  : 23552 bytes, packed
#include "scan_plan.h"

#define JOINED(name, cpu) name##cpu
#define JOIN(name, cpu) JOINED(name, cpu)
#define FORWARD JOIN(scan_forward_, BURIN_CPU)
#define EXP JOIN(scan_exp_, BURIN_CPU)
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

// %x: f16[96, 32], i32[R] -> f32[R, 32]     scans.burin:33:7
KERNEL void embed_f16_96x32(burin_range range, const int32_t *index, const uint16_t *table, float *y) {
    for (int r = range.first; r < range.last; r++)
        gather_row_f16(32, table, burin_index(index[r], 96), y + r * 32);
}

// %matmul_packed: f32[R, 32], f16[105, 32] -> f32[R, 105]     scans.burin:35:26 q
KERNEL void matmul_f16_32x105(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 7, .k = 32, .x_stride = 32, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_rows, &(result_rows){y, 105, 105});
}

// %sigmoid: f32[R, 3, 5] -> f32[R, 3, 5]     scans.burin:38:70
KERNEL void sigmoid_3x5(burin_range range, const float *a0, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 3; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 105 + (ptrdiff_t)i1 * 5;
            float *q = y + (ptrdiff_t)i0 * 15 + (ptrdiff_t)i1 * 5;
            vf_store_n(q, vf_sigmoid(vf_load_n(p0, 5)), 5);
        }
    }
}

// %y.4: f32[1, 20], i32[R], i32[R], f32[S, 1, 64, 300], f32[S, 1, 64, 60], f32[R, 3, 5], f32[R, 3, 5], f32[R, 3, 20],
//   f32[R, 3, 5] -> f32[R, 3, 20]     scans.burin:38:13
KERNEL void scan_3x5x20(burin_range range, int rows, const int32_t *slot, const int32_t *position, const float *a0,
                        const int32_t *a2, void *a3, void *a4, const float *a6, const float *a7, const float *a8,
                        const float *a9, float *y0, float *y1) {
    for (int unit = range.first; unit < range.last; unit++) {
        const int j = unit % 2 * 16, i0 = unit / 2;
        for (int r = 0; r < rows; r++) {
            float *s3 = (float *)(void *)((char *)a3 + (size_t)slot[r] * 2368);
            if (position[r] < 1) {
                for (int i1 = 0; i1 < 5; i1++)
                    vf_store_n(s3 + i0 * (ptrdiff_t)100 + i1 * (ptrdiff_t)20 + j, vf_zero(), 20 - j);
            }
            float *s4 = (float *)(void *)((char *)a4 + (size_t)slot[r] * 2368);
            if (position[r] < 1)
                vf_store_n(s4 + i0 * (ptrdiff_t)20 + j, vf_zero(), 20 - j);
            const vf v0 = vf_load_n(a0 + j, 20 - j);
            const vi v2 = vi_set1(*(a2 + r));
            const vf v6 = vf_load_n(s4 + i0 * (ptrdiff_t)20 + j, 20 - j);
            const vi v7 = vi_set1(1);
            const vm v8 = vi_less(v2, v7);
            const vf v10 = vf_where(v8, v0, v6);
            const vf v14 = vf_load_n(a8 + r * (ptrdiff_t)105 + i0 * (ptrdiff_t)20 + j, 20 - j);
            vf v20 = vf_set1(0);
            vf v21 = vf_set1(-INFINITY);
            for (int i1 = 0; i1 < 5; i1++) {
                const vf v16 = vf_set1(*(a9 + r * (ptrdiff_t)15 + i0 * (ptrdiff_t)5 + i1));
                const vf v18 = vf_set1(*(a7 + r * (ptrdiff_t)105 + i0 * (ptrdiff_t)5 + i1));
                const vf v4 = vf_load_n(s3 + i0 * (ptrdiff_t)100 + i1 * (ptrdiff_t)20 + j, 20 - j);
                const vf v17 = vf_mul(v16, v4);
                const vf v19 = vf_mul(v18, v17);
                v20 = vf_add(v19, v20);
                v21 = vf_max(v17, v21);
            }
            v20 = vf_div(v20, vf_set1(5));
            const vf v22 = vf_sub(v14, v20);
            const vf v25 = vf_max(vf_mul(v10, vf_set1(0x1p-1f)), v21);
            const vf v26 = vf_div(vf_set1(1), vf_add(vf_mul(v25, v25), vf_set1(1)));
            vf v30 = vf_set1(0);
            for (int i1 = 0; i1 < 5; i1++) {
                const vf v16 = vf_set1(*(a9 + r * (ptrdiff_t)15 + i0 * (ptrdiff_t)5 + i1));
                const vf v18 = vf_set1(*(a7 + r * (ptrdiff_t)105 + i0 * (ptrdiff_t)5 + i1));
                const vf v27 = vf_set1(*(a6 + r * (ptrdiff_t)105 + i0 * (ptrdiff_t)5 + i1));
                const vf v4 = vf_load_n(s3 + i0 * (ptrdiff_t)100 + i1 * (ptrdiff_t)20 + j, 20 - j);
                const vf v17 = vf_mul(v16, v4);
                const vf v24 = vf_add(vf_mul(v18, v22), v17);
                const vf v29 = vf_mul(vf_mul(v27, v24), v26);
                v30 = vf_add(v29, v30);
                vf_store_n(s3 + i0 * (ptrdiff_t)100 + i1 * (ptrdiff_t)20 + j, v24, 20 - j);
            }
            vf_store_n(s4 + i0 * (ptrdiff_t)20 + j, v25, 20 - j);
            vf_store_n(y0 + r * (ptrdiff_t)60 + i0 * (ptrdiff_t)20 + j, v30, 20 - j);
            vf_store_n(y1 + r * (ptrdiff_t)60 + i0 * (ptrdiff_t)20 + j, v21, 20 - j);
        }
    }
}

// %add: f32[R, 3, 20], f32[R, 3, 20] -> f32[R, 3, 20]     scans.burin:39:15
KERNEL void add_3x20(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        for (int i1 = 0; i1 < 3; i1++) {
            const float *p0 = a0 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 20;
            const float *p1 = a1 + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 20;
            float *q = y + (ptrdiff_t)i0 * 60 + (ptrdiff_t)i1 * 20;
            for (int j = 0; j < 20; j += LANES) {
                int n = 20 - j;
                vf_store_n(q + j, vf_add(vf_load_n(p0 + j, n), vf_load_n(p1 + j, n)), n);
            }
        }
    }
}

// %y.6: f32[R, 60], f16[32, 60] -> f32[R, 32]     scans.burin:40:41 z
KERNEL void matmul_f16_60x32(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 2, .k = 60, .x_stride = 60, .rows = rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_rows, &(result_rows){y, 32, 32});
}

// %z: i32[R], i32[R], f32[S, 1, 64, 160], f32[R, 32], f32[R, 5], f32[R, 5] -> f32[R, 32]     scans.burin:40:7
KERNEL void scan_5x32(burin_range range, int rows, const int32_t *slot, const int32_t *position, void *a2,
                      const float *a3, const float *a4, const float *a5, float *y0) {
    for (int unit = range.first; unit < range.last; unit++) {
        const int j = unit * 16;
        for (int r = 0; r < rows; r++) {
            float *s2 = (float *)(void *)((char *)a2 + (size_t)slot[r] * 2368);
            if (position[r] < 1) {
                for (int i0 = 0; i0 < 5; i0++)
                    vf_store(s2 + i0 * (ptrdiff_t)32 + j, vf_zero());
            }
            const vf v4 = vf_load(a3 + r * (ptrdiff_t)32 + j);
            const vf v14 = vf_set1(1);
            vf v9 = vf_set1(0);
            vf v10 = vf_set1(0);
            for (int i0 = 0; i0 < 5; i0++) {
                const vf v7 = vf_set1(*(a4 + r * (ptrdiff_t)105 + i0));
                const vf v3 = vf_load(s2 + i0 * (ptrdiff_t)32 + j);
                const vf v8 = vf_mul(v7, v3);
                v9 = vf_add(v8, v9);
                v10 = vf_add(v8, v10);
            }
            vf v13 = vf_set1(0);
            for (int i0 = 0; i0 < 5; i0++) {
                const vf v3 = vf_load(s2 + i0 * (ptrdiff_t)32 + j);
                const vf v11 = vf_exp(vf_neg(vf_abs(vf_sub(v3, v10))));
                v13 = vf_add(v11, v13);
            }
            const vf v15 = vf_add(v14, v13);
            vf v18 = vf_set1(INFINITY);
            for (int i0 = 0; i0 < 5; i0++) {
                const vf v12 = vf_set1(*(a5 + r * (ptrdiff_t)105 + i0));
                const vf v3 = vf_load(s2 + i0 * (ptrdiff_t)32 + j);
                const vf v16 = vf_add(vf_mul(v3, vf_set1(0x1p-1f)), vf_div(vf_mul(v12, v4), v15));
                const vf v17 = vf_sub(v16, v13);
                v18 = vf_min(v17, v18);
                vf_store(s2 + i0 * (ptrdiff_t)32 + j, v16);
            }
            const vf v19 = vf_add(v18, v9);
            vf_store(y0 + r * (ptrdiff_t)32 + j, v19);
        }
    }
}

// %item: i32[R], i32[R], f32[S, 1, 64, 32], f32[R, 32] -> f32[R, 32]     scans.burin:41:11
KERNEL void scan_32(burin_range range, int rows, const int32_t *slot, const int32_t *position, void *a2,
                    const float *a3, float *y0) {
    for (int unit = range.first; unit < range.last; unit++) {
        const int j = unit * 16;
        for (int r = 0; r < rows; r++) {
            float *s2 = (float *)(void *)((char *)a2 + (size_t)slot[r] * 2368);
            if (position[r] < 1)
                vf_store(s2 + j, vf_zero());
            const vf v3 = vf_load(s2 + j);
            const vf v4 = vf_load(a3 + r * (ptrdiff_t)32 + j);
            vf_store(s2 + j, v4);
            vf_store(y0 + r * (ptrdiff_t)32 + j, v3);
        }
    }
}

// %z.1: f32[R, 32], f32[R, 32] -> f32[R, 32]     scans.burin:41:7
KERNEL void add_32(burin_range range, const float *a0, const float *a1, float *y) {
    for (int i0 = range.first; i0 < range.last; i0++) {
        const float *p0 = a0 + (ptrdiff_t)i0 * 32;
        const float *p1 = a1 + (ptrdiff_t)i0 * 32;
        float *q = y + (ptrdiff_t)i0 * 32;
        for (int j = 0; j < 32; j += LANES) {
            vf_store(q + j, vf_add(vf_load(p0 + j), vf_load(p1 + j)));
        }
    }
}

// %shift_rows: f32[S, 1, 64, 32], i32[1], i32[1] -> f32[1, 32]     scans.burin:42:11
KERNEL void shift_rows_32(burin_range range, void *x, const int32_t *slot, const int32_t *position, float *y) {
    kv_cache cache = (kv_cache){1, 32, 1, CACHE_F32, 2368, x, true};
    for (int r = range.first; r < range.last; r++)
        cache_earlier(cache, slot[r], position[r] - 1, y + r * 32);
}

// %S.1: f32[32], f32[32] -> f32[32]     scans.burin:28:7
// add(mul($0, 0x1p-1), $1)
KERNEL void mul_add_32(burin_range range, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 32; j += LANES) {
        vf_store(y + j, vf_add(vf_mul(vf_load(a0 + j), vf_set1(0x1p-1f)), vf_load(a1 + j)));
    }
}

// %mul.1: f32[32], f32[32] -> f32[32]     scans.burin:29:33
KERNEL void mul_32(burin_range range, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 32; j += LANES) {
        vf_store(y + j, vf_mul(vf_load(a0 + j), vf_load(a1 + j)));
    }
}

// %reduce_sum: f32[32] -> f32     scans.burin:29:22
KERNEL void nest_reduce_sum(burin_range range, const float *a0, float *y) {
    if (range.first == range.last) return;
    vf lanes = vf_set1(0);
    for (int j = 0; j < 32; j += LANES) {
        int n = 32 - j;
        vf x = vf_load_n(a0 + j, n);
        lanes = n < LANES ? vf_where(vm_first(n), vf_add(x, lanes), lanes) : vf_add(x, lanes);
    }
    *y = vf_sum(lanes);
}

// %add: f32 -> f32     scans.burin:29:18
KERNEL void nest_add(burin_range range, const float *a1, float *y) {
    if (range.first == range.last) return;
    vf_store_n(y, vf_add(vf_set1(1), vf_set1(*a1)), 1);
}

// %div: f32[32], f32 -> f32[32]     scans.burin:29:13
KERNEL void div_32(burin_range range, const float *a0, const float *a1, float *y) {
    if (range.first == range.last) return;
    for (int j = 0; j < 32; j += LANES) {
        vf_store(y + j, vf_div(vf_load(a0 + j), vf_set1(*a1)));
    }
}

// %cache_append: f32[1, 32], i32[1], i32[1] -> f32[S, 1, 64, 32]     scans.burin:42:11
KERNEL void cache_append_value_1x32(burin_range heads, int own_rows, const float *x, const int32_t *slot,
                                    const int32_t *position, void *cache) {
    kv_rows in = {.rows = own_rows, .stride = 32, .x = x, .slot = slot, .position = position};
    cache_append_values((kv_cache){1, 32, 1, CACHE_F32, 2368, cache, true}, in, heads.first, heads.last);
}

// %gather_rows: f32[R, 32] -> f32[L, 32]     scans.burin:41:7
KERNEL void gather_rows_32(burin_range range, const int32_t *row, const float *x, float *y) {
    for (int r = range.first; r < range.last; r++) memcpy(y + r * 32, x + row[r] * 32, 32 * sizeof *y);
}

// %item.4: f32[L, 32], f32[L, 32], f32[32] -> f32[L, 32]     scans.burin:43:17
KERNEL void skip_rms_normalization_32(burin_range range, const float *x, const float *residual, const float *weight,
                                      float *y) {
    for (int r = range.first; r < range.last; r++) {
        add_row(32, x + r * 32, residual + r * 32, y + r * 32);
        rms_norm(32, 0x1.0c6f7ap-20f, y + r * 32, weight, y + r * 32);
    }
}

// %y.8: f32[L, 32], f16[96, 32] -> f32[L, 96]     scans.burin:43:10 head
KERNEL void matmul_f16_32x96(burin_range units, int own_rows, const float *x, const uint16_t *w, float *y) {
    matmul_args m = {.panels = 6, .k = 32, .x_stride = 32, .rows = own_rows, .x = x, .w = w, .units = units};
    matmul_f16(m, store_rows, &(result_rows){y, 96, 96});
}

// One thread's part of a step.
void FORWARD(const burin_step *s, int thread) {
    const struct scan_weights *w = (const void *)s->weights;
    int64_t symbols[2] = {0};
    burin_step own = *s;
    if (s->symbols) memcpy(symbols, s->symbols, 1 * sizeof *symbols);
    own.symbols = symbols, s = &own;
    const int rows = s->rows, logit_rows = s->n_logit_rows;
    const bool many = rows > 1;
    unsigned char *local = s->local + (size_t)thread * 384;
    float *x = burin_per_thread(s, local + 256, 1216);  // 128 bytes a row: %x
    float *q_k_decay_v = burin_shared(s, 0, 0);  // 448 bytes a row: %matmul_packed
    float *sigmoid = burin_per_thread(s, local, 960);  // 64 bytes a row: %sigmoid
    float *y_4 = burin_shared(s, 448, 448);  // 256 bytes a row: %y.4
    float *most = burin_shared(s, 704, 704);  // 256 bytes a row: %most
    float *add = burin_per_thread(s, local, 960);  // 256 bytes a row: %add
    float *z = burin_shared(s, 960, 448);  // 128 bytes a row: %y.6
    float *z_2 = burin_shared(s, 448, 576);  // 128 bytes a row: %z
    float *item = burin_shared(s, 0, 0);  // 128 bytes a row: %item
    float *z_1 = burin_per_thread(s, local, 128);  // 128 bytes a row: %z.1
    float *div = burin_shared(s, 128, 0);  // 128 bytes a row: %div
    float *shift_rows = burin_shared(s, 256, 256);  // 128 bytes a row: %shift_rows
    float *mul_1 = burin_shared(s, 0, 384);  // 128 bytes a row: %mul.1
    float *reduce_sum = burin_shared(s, 384, 512);  // 64 bytes a row: %reduce_sum
    float *gather_rows = burin_per_thread(s, local + 128, 256);  // 128 bytes a row: %gather_rows
    float *gather_rows_1 = burin_per_thread(s, local, 128);  // 128 bytes a row: %gather_rows.1
    float *gather_rows_2 = burin_per_thread(s, local, 0);  // 128 bytes a row: %gather_rows.2
    float *norm = burin_per_thread(s, local + 256, 128);  // 128 bytes a row: %item.4

    // scans.burin:33:7
    embed_f16_96x32(ROW_RANGE(rows), s->token, w->embed, x);
    DONE(0); RECORD("x", -1, x, rows, 32, 32);
    if (many) BARRIER();
    // scans.burin:35:26 q
    FOR_EACH_SLICE(7, rows)
        matmul_f16_32x105(slices.range, rows, x, w->q_k_decay_v, q_k_decay_v);
    DONE(1); RECORD("matmul_packed", -1, q_k_decay_v, rows, 105, 105);
    BARRIER();
    // scans.burin:38:70
    sigmoid_3x5(ROW_RANGE(rows), q_k_decay_v + 30, sigmoid);
    DONE(2); RECORD("sigmoid", -1, sigmoid, (rows * 3), 5, 5);
    if (many) BARRIER();
    // scans.burin:38:13
    scan_3x5x20(THREAD_RANGE(6), rows, s->slot, s->position, w->start_reshaped, s->position, STATE(0), STATE(1216),
                q_k_decay_v, q_k_decay_v + 15, q_k_decay_v + 45, sigmoid, y_4, most);
    DONE(3);
    BARRIER();
    // scans.burin:39:15
    add_3x20(ROW_RANGE(rows), y_4, most, add);
    DONE(4); RECORD("add", -1, add, (rows * 3), 20, 20);
    if (many) BARRIER();
    // scans.burin:40:41 z
    FOR_EACH_SLICE(2, rows)
        matmul_f16_60x32(slices.range, rows, add, w->z, z);
    DONE(5); RECORD("y.6", -1, z, rows, 32, 32);
    BARRIER();
    // scans.burin:40:7
    scan_5x32(THREAD_RANGE(2), rows, s->slot, s->position, STATE(1472), z, q_k_decay_v, q_k_decay_v + 20, z_2);
    DONE(6);
    BARRIER();
    // scans.burin:41:11
    scan_32(THREAD_RANGE(2), rows, s->slot, s->position, STATE(2112), z_2, item);
    DONE(7);
    BARRIER();
    // scans.burin:41:7
    add_32(ROW_RANGE(rows), z_2, item, z_1);
    DONE(8); RECORD("z.1", -1, z_1, rows, 32, 32);
    for (symbols[1] = 0; symbols[1] < rows; symbols[1]++) {
        BARRIER();
        // scans.burin:42:11
        shift_rows_32(THREAD_RANGE(1), STATE(2240), s->slot + (int)s->symbols[1], s->position + (int)s->symbols[1],
                      shift_rows);
        DONE(9);
        // scans.burin:28:7
        mul_add_32(THREAD_RANGE(1), shift_rows, z_1 + ((int)s->symbols[1] * 32), shift_rows);
        DONE(10);
        // scans.burin:29:33
        mul_32(THREAD_RANGE(1), shift_rows, shift_rows, mul_1);
        DONE(11);
        // scans.burin:29:22
        nest_reduce_sum(THREAD_RANGE(1), mul_1, reduce_sum);
        DONE(12);
        // scans.burin:29:18
        nest_add(THREAD_RANGE(1), reduce_sum, reduce_sum);
        DONE(13);
        // scans.burin:29:13
        div_32(THREAD_RANGE(1), shift_rows, reduce_sum, div + ((int)s->symbols[1] * 32));
        DONE(14);
        BARRIER();
        // scans.burin:42:11
        cache_append_value_1x32(THREAD_RANGE(1), 1, shift_rows, s->slot + (int)s->symbols[1], s->position
                                + (int)s->symbols[1], STATE(2240));
        DONE(15);
    }
    BARRIER();
    // scans.burin:41:7
    gather_rows_32(ROW_RANGE(logit_rows), s->logit_rows, z_1, gather_rows);
    DONE(16); RECORD("gather_rows", -1, gather_rows, logit_rows, 32, 32);
    if (many) BARRIER();
    // scans.burin:42:11
    gather_rows_32(ROW_RANGE(logit_rows), s->logit_rows, div, gather_rows_1);
    DONE(17); RECORD("gather_rows.1", -1, gather_rows_1, logit_rows, 32, 32);
    // scans.burin:42:7
    add_32(ROW_RANGE(logit_rows), gather_rows, gather_rows_1, gather_rows);
    DONE(18); RECORD("z.2", -1, gather_rows, logit_rows, 32, 32);
    if (many) BARRIER();
    // scans.burin:33:7
    gather_rows_32(ROW_RANGE(logit_rows), s->logit_rows, x, gather_rows_2);
    DONE(19); RECORD("gather_rows.2", -1, gather_rows_2, logit_rows, 32, 32);
    // scans.burin:43:17
    skip_rms_normalization_32(ROW_RANGE(logit_rows), gather_rows, gather_rows_2, w->norm, norm);
    DONE(20); RECORD("item.4", -1, norm, logit_rows, 32, 32);
    if (many) BARRIER();
    // scans.burin:43:10 head
    FOR_EACH_SLICE(6, logit_rows)
        matmul_f16_32x96(slices.range, logit_rows, norm, w->head, s->logits);
    DONE(21); RECORD("y.8", -1, s->logits, logit_rows, 96, 96);
}
