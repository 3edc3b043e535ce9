// Attention over caches that start full of NaN, in every format: GQA, causal or not, window,
// softcap, bias, several slots, chunks, shares.
#include "reference.h"

enum { SLOTS = 2, MOST_ROWS = 64 };
typedef struct Shape {
    int heads, kv_heads, d, e, keys;  // keys: length of the sequence
    bool causal;
    int window;
    float softcap;
    bool bias;
} Shape;

typedef struct Bias {
    const float *table;
    int keys, heads;
} Bias;

static inline vf add_bias(const void *context, bias_place at, int key) {
    const Bias *b = context;
    size_t of_row = (size_t)at.row * (size_t)b->heads + (size_t)at.head;
    return vf_load_n(b->table + of_row * (size_t)b->keys + key, b->keys - key);
}

// All of one test: sequences in both slots, interleaved (row r of slot r % 2 where there are two)
typedef struct Run {
    Shape shape;
    int slots, rows;
    float *q, *k, *v, *bias;
    int32_t *slot, *position;
    kv_cache keys, values;
} Run;

static kv_cache make_cache(kv_cache c, int width) {
    c.slot_stride = cache_bytes(&c, width);
    c.data = buffer_bytes(c.slot_stride * SLOTS);
    memset(c.data, 0xff, c.slot_stride * SLOTS);
    return c;
}

// With two slots, if a sliding window drops keys: a ring buffer, as small as chunks allow
static Run make_run(Shape s, int slots, cache_format format) {
    int all = (s.keys + 15) / 16 * 16 + 16,
        kept = (s.window + MOST_ROWS + SEGMENT - 1) / SEGMENT * SEGMENT;
    bool ring = slots > 1 && s.window && kept < all;
    int capacity = ring ? kept : all;
    Run run = {.shape = s, .slots = slots, .rows = s.keys * slots};
    size_t rows = (size_t)run.rows;
    run.q = random_floats(rows * (size_t)(s.heads * s.d));
    run.k = random_floats(rows * (size_t)(s.kv_heads * s.d));
    run.v = random_floats(rows * (size_t)(s.kv_heads * s.e));
    run.bias = random_floats(rows * (size_t)(s.heads * s.keys));
    for (size_t i = 0; i < rows * (size_t)(s.heads * s.keys); i++)
        run.bias[i] = random_bits() % 4 ? run.bias[i] : -INFINITY;
    run.slot = buffer_bytes(rows * sizeof *run.slot);
    run.position = buffer_bytes(rows * sizeof *run.position);
    for (int r = 0; r < run.rows; r++) {
        run.slot[r] = r % slots;
        run.position[r] = r / slots;
    }
    run.keys = make_cache((kv_cache){s.kv_heads, s.d, capacity, format, 0, NULL, ring}, s.d);
    run.values =
        make_cache((kv_cache){s.kv_heads, s.e, capacity, format, 0, NULL, ring}, padded(s.e));
    return run;
}

// One function: clang takes seconds for each place where attention is inlined.
__attribute__((noinline)) static void attend(const attention_args *a, int first, int last) {
    attention(*a, first, last);
}

// Rows [first, first + n), as one call of the model: appended, then attended to
static void run_chunk(const Run *run, int first, int n, float *y) {
    Shape s = run->shape;
    const int32_t *slot = run->slot + first, *position = run->position + first;
    kv_rows k = {n, s.kv_heads * s.d, run->k + first * s.kv_heads * s.d, slot, position, 0};
    kv_rows v = {n, s.kv_heads * s.e, run->v + first * s.kv_heads * s.e, slot, position, 0};
    cache_append_keys(run->keys, k, 0, s.kv_heads);
    cache_append_values(run->values, v, 0, s.kv_heads);
    Bias bias = {run->bias + (size_t)first * (size_t)(s.heads * s.keys), s.keys, s.heads};
    attention_args a = {.heads = s.heads,
                        .scale = 0.3f,
                        .softcap = s.softcap,
                        .window = s.window,
                        .causal = s.causal,
                        .count = s.keys,
                        .rows = n,
                        .q = run->q + first * s.heads * s.d,
                        .q_stride = s.heads * s.d,
                        .y = y + first * s.heads * s.e,
                        .y_stride = s.heads * s.e,
                        .slot = slot,
                        .position = position,
                        .keys = run->keys,
                        .values = run->values};
    int split = attention_split_units(&a, s.heads + 1),
        units = split ? split : attention_units(s.heads, n);
    int share[] = {units / 3, units, 0, units / 3};
    float *parts =
        split ? malloc(attention_part_bytes(s.heads, s.e, segments_seen(&run->keys))) : NULL;
    a.parts = parts;
    if (s.bias) {
        a.bias = add_bias;
        a.bias_context = &bias;
    }
    for (int i = 0; i < 2; i++) attend(&a, share[2 * i], share[2 * i + 1]);
    if (split) {
        attention_fold(&a, 1, s.heads);
        attention_fold(&a, 0, 1);
    }
    free(parts);
}

// Rows as the cache holds them
static float *as_cached(const Run *run, const float *x, int width) {
    size_t rows = (size_t)(run->rows * run->shape.kv_heads);
    float *y = buffer_floats(rows * (size_t)width);
    for (size_t r = 0; r < rows; r++)
        reference_cached(run->keys.format, width, x + r * (size_t)width, y + r * (size_t)width);
    return y;
}

static void expect(const Run *run, float *y) {
    Shape s = run->shape;
    const float *k = as_cached(run, run->k, s.d), *v = as_cached(run, run->v, s.e);
    for (int r = 0; r < run->rows; r++)
        for (int h = 0; h < s.heads; h++) {
            int position = run->position[r], kv = h / (s.heads / s.kv_heads);
            Attention a = {.d = s.d,
                           .e = s.e,
                           .to = s.causal ? position + 1 : s.keys,
                           .scale = 0.3f,
                           .softcap = s.softcap};
            a.from = s.window && position + 1 > s.window ? position + 1 - s.window : 0;
            a.q = run->q + (size_t)(r * s.heads + h) * (size_t)s.d;
            a.bias = s.bias ? run->bias + ((size_t)r * (size_t)s.heads + (size_t)h) * (size_t)s.keys
                            : NULL;
            a.key_stride = run->slots * s.kv_heads * s.d;
            a.value_stride = run->slots * s.kv_heads * s.e;
            a.keys = k + (size_t)(run->slot[r] * s.kv_heads + kv) * (size_t)s.d;
            a.values = v + (size_t)(run->slot[r] * s.kv_heads + kv) * (size_t)s.e;
            reference_attention(&a, y + (size_t)(r * s.heads + h) * (size_t)s.e);
        }
}

static void test_shape(Suite *suite, Shape s, cache_format format) {
    static const int chunks[] = {1, 7, MOST_ROWS};
    static const char *const formats[] = {"f32", "f16", "q8_0"};
    char label[96];
    snprintf(label, sizeof label, "%s, %d/%d heads of %d/%d, %d keys%s, window %d", formats[format],
             s.heads, s.kv_heads, s.d, s.e, s.keys, s.causal ? "" : " all", s.window);
    for (int slots = 1; slots <= SLOTS; slots++) {
        Run run = make_run(s, slots, format);
        size_t size = (size_t)(run.rows * s.heads * s.e);
        float *got = buffer_floats(size), *expected = buffer_floats(size);
        expect(&run, expected);
        for (int c = 0; c < 3; c++) {
            int chunk = s.causal ? chunks[c] : run.rows;
            for (int r = 0; r < run.rows; r += chunk)
                run_chunk(&run, r, run.rows - r < chunk ? run.rows - r : chunk, got);
            check_floats(suite, label, got, expected, size);
            memset(run.keys.data, 0xff, run.keys.slot_stride * SLOTS);
            memset(run.values.data, 0xff, run.values.slot_stride * SLOTS);
        }
        buffers_end(suite, label);
    }
}

// A batch of sequences, one after the other, whose masks hide nothing, keys after one, keys before
// one, some, and all keys; the last mask adds small numbers to the keys after one, and hides none.
enum { SEQUENCES = 6, QUERIES = 11, KEYS = 300, HEADS = 4, GROUPS = 2, WIDTH = 24 };

static void make_masks(float *mask) {
    for (int key = 0; key < KEYS; key++) {
        bool seen[SEQUENCES] = {true, key < 270, key >= 20, random_bits() % 3 > 0, false, key < 3};
        for (int b = 0; b < SEQUENCES; b++) {
            float addend = b + 1 < SEQUENCES ? -3e38f : key % 2 ? 1.5f : -0.5f;
            mask[b * KEYS + key] = seen[b] ? 0 : addend;
        }
    }
}

static kv_cache make_batch_cache(const float *x, bool keys) {
    kv_cache cache = {GROUPS, WIDTH, padded(KEYS), CACHE_F32, 0, NULL, false};
    cache.slot_stride = cache_bytes(&cache, keys ? WIDTH : padded(WIDTH));
    cache.data = buffer_bytes(cache.slot_stride * SEQUENCES);
    kv_rows rows = {.rows = SEQUENCES * KEYS, .stride = GROUPS * WIDTH, .x = x, .sequence = KEYS};
    if (keys)
        cache_append_keys(cache, rows, 0, GROUPS);
    else
        cache_append_values(cache, rows, 0, GROUPS);
    return cache;
}

static void expect_batch(const float *const *qkv, const float *mask, bool causal, float *y) {
    for (int r = 0; r < SEQUENCES * QUERIES; r++)
        for (int h = 0; h < HEADS; h++) {
            int b = r / QUERIES, group = h / (HEADS / GROUPS);
            Attention a = {.d = WIDTH,
                           .e = WIDTH,
                           .to = causal ? r % QUERIES + 1 : KEYS,
                           .scale = 0.3f,
                           .bias = mask + b * KEYS};
            a.key_stride = a.value_stride = GROUPS * WIDTH;
            a.q = qkv[0] + (size_t)((r * HEADS + h) * WIDTH);
            a.keys = qkv[1] + (size_t)((b * KEYS * GROUPS + group) * WIDTH);
            a.values = qkv[2] + (size_t)((b * KEYS * GROUPS + group) * WIDTH);
            reference_attention(&a, y + (size_t)((r * HEADS + h) * WIDTH));
        }
}

static void test_batch(Suite *suite, bool causal) {
    const char *label = causal ? "a batch with masks, causal" : "a batch with masks";
    size_t size = (size_t)(SEQUENCES * QUERIES * HEADS * WIDTH),
           keys = (size_t)(SEQUENCES * KEYS * GROUPS * WIDTH);
    float *q = random_floats(size), *k = random_floats(keys), *v = random_floats(keys);
    float *mask = buffer_floats(SEQUENCES * KEYS), *got = buffer_floats(size),
          *expected = buffer_floats(size);
    make_masks(mask);
    attention_args a = {.heads = HEADS,
                        .scale = 0.3f,
                        .causal = causal,
                        .sequence = QUERIES,
                        .count = KEYS,
                        .rows = SEQUENCES * QUERIES,
                        .q = q,
                        .q_stride = HEADS * WIDTH,
                        .y = got,
                        .y_stride = HEADS * WIDTH,
                        .keys = make_batch_cache(k, true),
                        .values = make_batch_cache(v, false),
                        .mask = mask};
    int units = attention_units(HEADS, a.rows);
    attend(&a, units / 3, units);
    attend(&a, 0, units / 3);
    expect_batch((const float *[]){q, k, v}, mask, causal, expected);
    check_floats(suite, label, got, expected, size);
    buffers_end(suite, label);
}

// Weighted values that are too small for floats add up to -0, which folding makes +0.
static void test_underflow(Suite *suite) {
    const Run run = make_run((Shape){2, 1, 16, 16, 20, false, 0, 0, false}, 1, CACHE_F32);
    const int n = run.rows * 16;
    float *got = buffer_floats((size_t)n * 2), *expected = buffer_floats((size_t)n * 2);
    for (int i = 0; i < 2 * n; i++) run.q[i] = 1;
    for (int i = 0; i < n; i++) {
        run.k[i] = i / 16 % 2 ? 0 : 1;
        run.v[i] = i / 16 % 2 ? -0x1p-149f : -0.0f;
    }
    expect(&run, expected);
    run_chunk(&run, 0, run.rows, got);
    check_floats(suite, "underflow", got, expected, (size_t)n * 2);
    buffers_end(suite, "underflow");
}

void test_attention(void) {
    static const Shape shapes[] = {
        {4, 2, 8, 8, 40, true, 0, 0, false},    {2, 1, 24, 24, 70, true, 0, 0, false},
        {3, 3, 40, 40, 33, true, 0, 0, false},  {6, 2, 64, 64, 50, true, 0, 0, false},
        {2, 2, 80, 80, 20, true, 0, 2, false},  {4, 1, 16, 16, 300, true, 0, 0, false},
        {2, 1, 8, 8, 280, true, 37, 0, false},  {1, 1, 33, 17, 290, true, 270, 3, false},
        {9, 3, 64, 64, 19, false, 0, 0, false}, {2, 2, 32, 32, 45, false, 0, 0, true},
        {4, 2, 16, 16, 45, true, 0, 0, true},   {12, 1, 128, 128, 9, true, 5, 0, false},
        {1, 1, 1, 1, 3, true, 0, 0, false},     {2, 1, 8, 20, 290, true, 0, 0, true},
        {3, 3, 8, 8, 530, true, 270, 0, false},
    };
    Suite s = suite_begin("attention");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        test_shape(&s, shapes[i], CACHE_F32);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        test_shape(&s, shapes[i], CACHE_F16);
        test_shape(&s, shapes[i], CACHE_Q8_0);
    }
    test_batch(&s, false);
    test_batch(&s, true);
    test_underflow(&s);
    suite_end(&s);
}
