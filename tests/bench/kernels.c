// The kernel templates as shares of this machine's limits, measured in one run: see README.md.
// usage: kernels [decode | cached | prefill | attention | convolutions [FORMAT [THREADS]]]
#define _GNU_SOURCE
#include "kernels/kernels.h"

#include <stdio.h>
#include <sys/mman.h>

#include "measure.h"

enum { MAX_ROWS = 128, MAX_WIDTH = 3072, VOCAB = 49152 };

#if defined(__AVX512VNNI__)
enum { VNNI = 1 };
#else
enum { VNNI = 0 };
#endif

// ------------------------------------------------------------------------------------------ limits
static volatile float sink_float;

static double peak_fma(void) {
    enum { CHAINS = TILE_PANELS == 4 ? 16 : 5, STEPS = 400000 };
    double t[RUNS];
    for (int r = 0; r < RUNS; r++) {
        vf a[CHAINS], x = vf_set1(1.000001f), y = vf_set1(1e-9f);
        UNROLL
        for (int i = 0; i < CHAINS; i++) a[i] = vf_set1((float)i);
        double start = now();
        for (int s = 0; s < STEPS; s++) {
            UNROLL
            for (int i = 0; i < CHAINS; i++) a[i] = vf_fma(a[i], x, y);
        }
        for (int i = 0; i < CHAINS; i++) sink_float = vf_sum(a[i]);
        t[r] = (now() - start) / STEPS;
    }
    return CHAINS * 32 / lower_quarter(t, RUNS) / 1e9;
}

static double peak_dot4(void) {
    enum { CHAINS = 8, STEPS = 200000 };
    volatile uint8_t anything = 7;
    uint8_t bytes[80];
    for (int i = 0; i < 80; i++) bytes[i] = (uint8_t)(anything * i);
    double t[RUNS];
    for (int r = 0; r < RUNS; r++) {
        vi a[CHAINS];
        weights4 w[CHAINS];
        fours x = load_k4((const int8_t *)bytes);
        for (int i = 0; i < CHAINS; i++) {
            a[i] = vi_set1(i);
            w[i] = weights4_load(bytes + i % 2);
        }
        double start = now();
        for (int s = 0; s < STEPS; s++) {
            UNROLL
            for (int i = 0; i < CHAINS; i++) a[i] = vi_dot4(a[i], &w[i], &x, s % 8);
        }
        for (int i = 0; i < CHAINS; i++) sink_float = vf_sum(vf_from_int(a[i]));
        t[r] = (now() - start) / STEPS;
    }
    return CHAINS * 128 / lower_quarter(t, RUNS) / 1e9;
}

// --------------------------------------------------- SmolLM2-135M: its products, one after another
typedef struct Shape {
    int n, k, glu;
} Shape;
static const Shape layer_shapes[] = {{960, 576, 0}, {576, 576, 0}, {1536, 576, 1}, {576, 1536, 0}};
enum { LAYERS = 30, SHAPES = 4 };

static unsigned char *weights;
float x[MAX_ROWS * MAX_WIDTH], y[MAX_ROWS * VOCAB];
static q8_block xq[MAX_ROWS * MAX_WIDTH / 32];

typedef struct Output {
    float *y;
    int n;
} Output;
static inline void store_plain(const void *context, vf sum, int row, int column) {
    const Output *o = context;
    vf_store(o->y + (size_t)row * (size_t)o->n + column, sum);
}
static inline void store_glu(const void *context, vf gate, vf up, int row, int column) {
    const Output *o = context;
    vf_store(o->y + (size_t)row * (size_t)o->n + column, vf_mul(vf_silu(gate), up));
}

static size_t shape_bytes(int format, Shape s) {
    size_t panel = in_blocks((weight_format)format) ? block_panel_bytes((weight_format)format, s.k)
                                                    : panel_bytes((weight_format)format, s.k);
    return panel * (size_t)(s.n / 16 * (s.glu ? 2 : 1));
}

#define PRODUCT(suffix, N, K, plain)                                                           \
    static __attribute__((noinline)) void product_##suffix##_##N##_##K(const matmul_args *a) { \
        matmul_args m = {.panels = N / 16,                                                     \
                         .k = K,                                                               \
                         .x_stride = plain ? K : K / 32,                                       \
                         .streamed = a->streamed,                                              \
                         .rows = a->rows,                                                      \
                         .x = a->x,                                                            \
                         .w = a->w,                                                            \
                         .first = a->first,                                                    \
                         .last = a->last};                                                     \
        Output o = {y, N};                                                                     \
        if (N == 1536)                                                                         \
            matmul_##suffix##_glu(m, store_glu, &o);                                           \
        else                                                                                   \
            matmul_##suffix(m, store_plain, &o);                                               \
    }
#define PRODUCTS(suffix, plain)       \
    PRODUCT(suffix, 960, 576, plain)  \
    PRODUCT(suffix, 576, 576, plain)  \
    PRODUCT(suffix, 1536, 576, plain) \
    PRODUCT(suffix, 576, 1536, plain) \
    PRODUCT(suffix, 49152, 576, plain)
PRODUCTS(f32, 1)
PRODUCTS(f16, 1)
PRODUCTS(bf16, 1)
PRODUCTS(q8_0, 0)
#define ROW(suffix)                                                                       \
    {product_##suffix##_960_576, product_##suffix##_576_576, product_##suffix##_1536_576, \
     product_##suffix##_576_1536, product_##suffix##_49152_576}
static void (*const products[4][SHAPES + 1])(const matmul_args *) = {ROW(f32), ROW(f16), ROW(bf16),
                                                                     ROW(q8_0)};
static const char *const format_names[] = {"f32", "f16", "bf16", "q8_0"};

static const unsigned char *one_product(const Work *w, int thread, int shape,
                                        const unsigned char *at) {
    Shape s = shape < SHAPES ? layer_shapes[shape] : (Shape){VOCAB, 576, 0};
    int units = matmul_units(s.n / 16, w->rows);
    matmul_args m = {.rows = w->rows, .streamed = !w->cached, .w = at};
    m.x = w->format == WEIGHT_q8_0 ? (const void *)xq : x;
    m.first = units * thread / threads;
    m.last = units * (thread + 1) / threads;
    products[w->format][shape](&m);
    barrier();
    return at + shape_bytes(w->format, s);
}

static void token(const Work *w, int thread) {
    const unsigned char *at = weights;
    for (int layer = 0; layer < LAYERS; layer++)
        for (int i = 0; i < SHAPES; i++) at = one_product(w, thread, i, at);
    one_product(w, thread, SHAPES, at);
}

static size_t token_bytes(int format) {
    size_t n = 0;
    for (int i = 0; i < SHAPES; i++) n += shape_bytes(format, layer_shapes[i]);
    return n * LAYERS + shape_bytes(format, (Shape){VOCAB, 576, 0});
}

// The same bytes, only read: what memory gives
static void read_all(const Work *w, int thread) {
    size_t n = token_bytes(w->format) / 1024, from = n * (size_t)thread / (size_t)threads,
           to = n * (size_t)(thread + 1) / (size_t)threads;
    vi a[4] = {vi_set1(0), vi_set1(0), vi_set1(0), vi_set1(0)};
    for (size_t i = from; i < to; i++)
        for (int j = 0; j < 16; j++) {
            const unsigned char *p = weights + i * 1024 + (size_t)j * 64;
            PREFETCH_FAR(p + 4096);
            a[j % 4] = vi_xor(a[j % 4], vi_load((const int32_t *)(const void *)p));
        }
    sink_float = vf_sum(vf_from_int(vi_xor(vi_xor(a[0], a[1]), vi_xor(a[2], a[3]))));
    barrier();
}

static void map_weights(void) {
    size_t bytes = token_bytes(WEIGHT_F32) + 8192;
    FILE *f = tmpfile();
    unsigned char *block = malloc(1 << 20);
    if (!f || !block) exit(1);
    for (int i = 0; i < 1 << 20; i++) block[i] = i % 4 == 3 ? 0x3c : (unsigned char)(i * 7);
    for (size_t done = 0; done < bytes; done += 1 << 20)
        if (fwrite(block, 1, 1 << 20, f) != 1 << 20) exit(1);
    fflush(f);
    weights = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    if (weights == MAP_FAILED) exit(1);
    volatile unsigned sum = 0;
    for (size_t i = 0; i < bytes; i += 4096) sum += weights[i];
    fclose(f);
    free(block);
}

static const char *only_format;
static int only_threads;
static bool wanted(int format) {
    return (!only_format || !strcmp(only_format, format_names[format])) &&
           (!only_threads || only_threads == threads);
}

static void bench_decode(void) {
    printf("%-8s %8s %12s %12s %10s %8s\n", "decode", "threads", "tokens/s", "GB/s", "read GB/s",
           "share");
    for (int format = 0; format < 4; format++)
        for (threads = 1; threads <= 2; threads++) {
            if (!wanted(format)) continue;
            Work gemv = {token, format, 1, 2, false, {0}},
                 bare = {read_all, format, 1, 2, false, {0}};
            double gb = (double)token_bytes(format) * 1e-9, a = run(&gemv), b = run(&bare),
                   c = run(&gemv), d = run(&bare);
            a = a < c ? a : c;
            b = b < d ? b : d;
            printf("%-8s %8d %12.1f %12.1f %10.1f %7.0f%%\n", format_names[format], threads, 1 / a,
                   gb / a, gb / b, 100 * b / a);
        }
}

static void only_layers(const Work *w, int thread) {
    const unsigned char *at = weights;
    for (int i = 0; i < SHAPES; i++) at = one_product(w, thread, i, at);
}

// One layer over and over: weights from the caches, as in small models
static void bench_cached(void) {
    printf("%-8s %8s %12s\n", "cached", "threads", "GB/s");
    for (int format = 0; format < 4; format++)
        for (threads = 1; threads <= 2; threads++) {
            if (!wanted(format)) continue;
            Work w = {only_layers, format, 1, 30, true, {0}};
            double t = run(&w), bytes = 0;
            for (int i = 0; i < SHAPES; i++) bytes += (double)shape_bytes(format, layer_shapes[i]);
            printf("%-8s %8d %12.1f\n", format_names[format], threads, bytes * 1e-9 / t);
        }
}

static void bench_prefill(void) {
    printf("%-8s %8s %8s %12s %8s %8s\n", "prefill", "threads", "rows", "GFLOP/s", "peak", "share");
    static const int rows[] = {2, 8, 64, 128};
    for (int format = 0; format < 4; format++)
        for (threads = 1; threads <= 2; threads++)
            for (int r = 0; r < 4 && wanted(format); r++) {
                Work w = {only_layers, format, rows[r], 256 / rows[r], true, {0}};
                double operations = 0, t = run(&w),
                       peak = (format == WEIGHT_q8_0 ? peak_dot4() : peak_fma()) * threads;
                for (int i = 0; i < SHAPES; i++)
                    operations += 2e-9 * rows[r] * layer_shapes[i].n * layer_shapes[i].k *
                                  (1 + layer_shapes[i].glu);
                printf("%-8s %8d %8d %12.0f %8.0f %7.0f%%\n", format_names[format], threads,
                       rows[r], operations / t, peak, 100 * operations / t / peak);
            }
}

// --------------------------------------------------------------------------------------- attention
enum { HEADS = 9, KV_HEADS = 3, HEAD_DIM = 64, CONTEXT = 2048 };
float keys[KV_HEADS * CONTEXT * HEAD_DIM], values[KV_HEADS * CONTEXT * HEAD_DIM];
static int32_t positions[MAX_ROWS];

static __attribute__((noinline)) void attend_smollm(const Work *w, int thread) {
    attention_args a = {.heads = HEADS,
                        .scale = 0.125f,
                        .causal = true,
                        .rows = w->rows,
                        .q = x,
                        .q_stride = HEADS * HEAD_DIM,
                        .y = y,
                        .y_stride = HEADS * HEAD_DIM,
                        .position = positions,
                        .keys = {.heads = KV_HEADS,
                                 .head_dim = HEAD_DIM,
                                 .capacity = CONTEXT,
                                 .data = (unsigned char *)keys},
                        .values = {.heads = KV_HEADS,
                                   .head_dim = HEAD_DIM,
                                   .capacity = CONTEXT,
                                   .data = (unsigned char *)values}};
    int units = attention_units(HEADS, w->rows);
    attention(a, units * thread / threads, units * (thread + 1) / threads);
}

static void bench_attention(void) {
    static const int cases[][2] = {{1, 16},  {1, 128},   {1, 2048},
                                   {8, 512}, {128, 128}, {128, 2048}};  // rows, last position + 1
    printf("%-10s %8s %8s %12s %8s %8s\n", "attention", "rows", "keys", "GFLOP/s", "peak", "share");
    threads = 1;
    for (int c = 0; c < 6; c++) {
        Work w = {attend_smollm, 0,  cases[c][0], 1 + 200000 / (cases[c][0] * cases[c][1]),
                  true,          {0}};
        double operations = 0, peak = peak_fma();
        for (int r = 0; r < w.rows; r++) {
            positions[r] = cases[c][1] - w.rows + r;
            operations += 4e-9 * HEADS * HEAD_DIM * (positions[r] + 1);
        }
        double t = run(&w);
        printf("%-10s %8d %8d %12.1f %8.0f %7.0f%%\n", "9/3 x 64", w.rows, cases[c][1],
               operations / t, peak, 100 * operations / t / peak);
    }
}

// ---------------------------------------------------------------------------------- convolutions
typedef struct Convolution {
    const char *name;
    int height, width, channels, filters, kernel[2],
        stride;  // filters 0: depthwise; the input is padded
} Convolution;

static const Convolution convolutions[] = {
    {"ResNet-50, 1 x 1, 56 x 56", 56, 56, 64, 256, {1, 1}, 1},
    {"ResNet-50, 3 x 3, 56 x 56", 58, 58, 64, 64, {3, 3}, 1},
    {"ResNet-50, 3 x 3, 28 x 28", 30, 30, 128, 128, {3, 3}, 1},
    {"ResNet-50, 3 x 3, 14 x 14", 16, 16, 256, 256, {3, 3}, 1},
    {"ResNet-50, 3 x 3, 7 x 7", 9, 9, 512, 512, {3, 3}, 1},
    {"ResNet-50, 7 x 7 / 2", 229, 229, 3, 64, {7, 7}, 2},
    {"whisper-base, conv1", 1, 3002, 80, 512, {1, 3}, 1},
    {"whisper-base, conv2", 1, 3001, 512, 512, {1, 3}, 2},
    {"HiFi-GAN, 11, 32 channels", 1, 8202, 32, 32, {1, 11}, 1},
    {"YOLO, 3 x 3, 16 channels", 82, 82, 16, 16, {3, 3}, 1},
    {"MobileNet, depthwise 112", 114, 114, 32, 0, {3, 3}, 1},
    {"MobileNet, depthwise 14", 16, 16, 384, 0, {3, 3}, 1},
    {"MobileNet, depthwise 7", 9, 9, 960, 0, {3, 3}, 1},
    {"ConvNeXt, depthwise 7 x 7", 62, 62, 96, 0, {7, 7}, 1},
};

static const Convolution *convolved;
static float image[64 * 64 * 1024];

static int results(const Convolution *c, int axis) {
    return ((axis ? c->width : c->height) - c->kernel[axis]) / c->stride + 1;
}

static void convolve(const Work *work, int thread) {
    const Convolution *c = convolved;
    const int row = c->width * c->channels, rows = results(c, 0) * results(c, 1);
    const int taps = c->kernel[0] * c->kernel[1], panels = (c->filters + 15) / 16,
              units = c->filters ? matmul_units(panels, rows) : rows;
    const burin_range range = {units * thread / threads, units * (thread + 1) / threads};
    matmul_windows w = {.rows = {results(c, 1), results(c, 0)},
                        .row_steps = {c->stride * c->channels, c->stride * row},
                        .taps = {c->kernel[1], c->kernel[0]},
                        .tap_steps = {c->channels, row},
                        .adjacent = c->channels};
    (void)work;
    if (!c->filters) {
        depthwise_f32((depthwise_args){c->channels, taps, &w, image, (const float *)weights, range},
                      store_plain, &(Output){y, c->channels});
        return;
    }
    w.taps[0] = c->kernel[0], w.tap_steps[0] = row, w.taps[1] = 0;
    w.adjacent = c->kernel[1] * c->channels;
    matmul_args m = {.panels = panels, .k = taps * c->channels, .rows = rows, .x = image};
    m.w = weights, m.windows = &w, m.units = range;
    convolve_f32(m, store_plain, &(Output){y, c->filters});
}

static void bench_convolutions(void) {
    const double peak = peak_fma();
    printf("convolutions, one thread, of the FMA rate (%.0f GFLOP/s)\n", peak);
    threads = 1;
    for (size_t i = 0; i < sizeof convolutions / sizeof *convolutions; i++) {
        const Convolution *c = convolved = &convolutions[i];
        double work = 2.0 * results(c, 0) * results(c, 1) * c->kernel[0] * c->kernel[1] *
                      c->channels * (c->filters ? c->filters : 1);
        Work w = {.part = convolve, .repeat = (int)(3e7 / work) + 1};
        printf("  %-26s %5.2f\n", c->name, work / run(&w) / 1e9 / peak);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    only_format = argc > 2 ? argv[2] : NULL;
    only_threads = argc > 3 ? atoi(argv[3]) : 0;
    for (int i = 0; i < MAX_ROWS * MAX_WIDTH; i++) x[i] = (float)(i % 17) * 0.1f - 0.8f;
    for (int i = 0; i < MAX_ROWS * MAX_WIDTH / 32; i++) quantize_row_q8_0(32, x + 32 * i, xq + i);
    for (int i = 0; i < KV_HEADS * CONTEXT * HEAD_DIM; i++) {
        keys[i] = (float)(i % 23) * 0.05f - 0.5f;
        values[i] = (float)(i % 19) * 0.1f;
    }
    map_weights();
    printf("%s, %s\n", VEC_TARGET, VNNI ? "VNNI" : "no VNNI");
    if (!*what || !strcmp(what, "decode")) bench_decode();
    if (!*what || !strcmp(what, "cached")) bench_cached();
    if (!*what || !strcmp(what, "prefill")) bench_prefill();
    if (!*what || !strcmp(what, "attention")) bench_attention();
    if (!*what || !strcmp(what, "convolutions")) bench_convolutions();
    return 0;
}
