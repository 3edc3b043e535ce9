// The limits of a CPU without AVX-512, where the tools of ../shared/bench do not run: lines of
// kind, model, format, threads, value.
//
//   limits peak           GFLOP/s of f32 multiply-adds; GOP/s of exact products of 8-bit weights and rows (int8), and of weights
//                         that leave room for sums of 16 bits (int4)
//   limits stream MODEL   tokens a second if a token does nothing but read the weights of a real shape, mapped from a file
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "kernels/kernels.h"
#include "measure.h"

enum { STEPS = 200000, CHAINS = 6 };
// ---- peaks: everything stays in registers; `OPAQUE` keeps a step from being computed ahead ----

#define OPAQUE(x) __asm__ volatile("" : "+x"(x))

static void multiply_adds(const Work *work, int thread) {
    (void)work;
    (void)thread;
    __m256 sum[2 * CHAINS], x = _mm256_set1_ps(1), y = _mm256_set1_ps(0);
    for (int i = 0; i < 2 * CHAINS; i++) sum[i] = y;
    for (int step = 0; step < STEPS; step++) {
        UNROLL
        for (int i = 0; i < 2 * CHAINS; i++) {
            sum[i] = _mm256_fmadd_ps(x, y, sum[i]);
            OPAQUE(sum[i]);
        }
    }
}

// 32 products in two multiplications and an addition: vpmaddwd of bytes widened to 16 bits takes
// two and two
static void byte_products(const Work *work, int thread) {
    (void)work;
    (void)thread;
    __m256i sum[CHAINS], w = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm256_setzero_si256();
    for (int step = 0; step < STEPS; step++) {
        UNROLL
        for (int i = 0; i < CHAINS; i++) {
            OPAQUE(w);
            __m256i pairs = _mm256_maddubs_epi16(w, ones);
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(pairs, ones));
            OPAQUE(sum[i]);
        }
    }
}

// 8 times 32 products whose pairs are added up in 16 bits, then widened once: what weights of 4
// bits allow
static void nibble_products(const Work *work, int thread) {
    (void)work;
    (void)thread;
    __m256i sum[CHAINS], w = _mm256_set1_epi8(1), ones = _mm256_set1_epi16(1);
    for (int i = 0; i < CHAINS; i++) sum[i] = _mm256_setzero_si256();
    for (int step = 0; step < STEPS / 8; step++) {
        __m256i words[CHAINS];
        for (int i = 0; i < CHAINS; i++) words[i] = _mm256_setzero_si256();
        UNROLL
        for (int k = 0; k < 8; k++) {
            UNROLL
            for (int i = 0; i < CHAINS; i++) {
                OPAQUE(w);
                words[i] = _mm256_add_epi16(words[i], _mm256_maddubs_epi16(w, ones));
            }
        }
        UNROLL
        for (int i = 0; i < CHAINS; i++)
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(words[i], ones));
        for (int i = 0; i < CHAINS; i++) OPAQUE(sum[i]);
    }
}

static void print_peak(const char *kind, void (*part)(const Work *, int), double operations) {
    Work w = {.part = part, .repeat = 30};
    for (threads = 1; threads <= 2; threads++) {
        run(&w);
        printf("peak - %s %d %.1f\n", kind, threads, threads * operations * 1e-9 / w.seconds[0]);
    }
}

// ---- memory ----

typedef struct shape {
    const char *name;
    int layers, width, kv_width, hidden, vocabulary;
} shape;
static const shape shapes[] = {{"s15", 6, 288, 288, 768, 32000},
                               {"smol", 30, 576, 192, 1536, 49152},
                               {"l1b", 16, 2048, 512, 8192, 128256}};
typedef struct number_format {
    const char *name;
    int bits_of_block;  // of 32 weights
} number_format;
static const number_format formats[] = {{"f32", 1024}, {"bf16", 512}, {"q8_0", 272}, {"q4_0", 144}};

enum { MATRICES_MOST = 30 * 4 + 1 };
static size_t matrix_end[MATRICES_MOST];
static int matrices;
static const unsigned char *weights;
static volatile int32_t sink;

static void add_matrix(size_t rows, size_t columns, int bits_of_block) {
    size_t before = matrices ? matrix_end[matrices - 1] : 0,
           bytes = rows * columns / 32 * (size_t)bits_of_block / 8;
    matrix_end[matrices++] = before + bytes / 1024 * 1024;
}

// Each thread reads its part of a matrix, then waits for the other, as a step does.
static void read_weights(const Work *work, int thread) {
    (void)work;
    vi sum[4] = {vi_set1(0), vi_set1(0), vi_set1(0), vi_set1(0)};
    for (int m = 0; m < matrices; m++) {
        size_t before = m ? matrix_end[m - 1] : 0, n = (matrix_end[m] - before) / 1024;
        const unsigned char *p = weights + before + n * (size_t)thread / (size_t)threads * 1024;
        const unsigned char *end =
            weights + before + n * (size_t)(thread + 1) / (size_t)threads * 1024;
        for (; p < end; p += 256) {
            UNROLL
            for (int j = 0; j < 4; j++) {
                PREFETCH_FAR(p + 4096 + j * 64);
                sum[j] = vi_xor(sum[j], vi_load((const int32_t *)(const void *)(p + j * 64)));
            }
        }
        barrier();
    }
    sink = (int32_t)vf_sum(vf_from_int(vi_xor(vi_xor(sum[0], sum[1]), vi_xor(sum[2], sum[3]))));
}

static void map_weights(size_t bytes) {
    static unsigned char block[1 << 20];
    FILE *f = tmpfile();
    if (!f) exit(1);
    memset(block, 0x3c, sizeof block);
    for (size_t done = 0; done < bytes + 8192; done += sizeof block)
        if (fwrite(block, 1, sizeof block, f) != sizeof block) exit(1);
    fflush(f);
    weights = mmap(NULL, bytes + 8192, PROT_READ, MAP_PRIVATE, fileno(f), 0);
    if (weights == MAP_FAILED) exit(1);
    fclose(f);
}

static void print_stream(const shape *s, number_format f) {
    const size_t width = (size_t)s->width, hidden = (size_t)s->hidden;
    matrices = 0;
    for (int i = 0; i < s->layers; i++) {
        add_matrix(width + 2 * (size_t)s->kv_width, width, f.bits_of_block);
        add_matrix(width, width, f.bits_of_block);
        add_matrix(2 * hidden, width, f.bits_of_block);
        add_matrix(width, hidden, f.bits_of_block);
    }
    add_matrix((size_t)s->vocabulary, width, f.bits_of_block);
    const size_t bytes = matrix_end[matrices - 1];
    map_weights(bytes);
    Work w = {.part = read_weights, .repeat = 1 + (int)(4e8 / (double)bytes)};
    for (threads = 1; threads <= 2; threads++)
        printf("stream %s %s %d %.2f\nmegabytes %s %s %d %.2f\n", s->name, f.name, threads,
               1 / run(&w), s->name, f.name, threads, (double)bytes / 1e6);
    munmap((void *)weights, bytes + 8192);
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "peak")) {
        print_peak("f32", multiply_adds, 2.0 * 2 * CHAINS * 8 * STEPS);
        print_peak("int8", byte_products, 2.0 * CHAINS * 32 * STEPS);
        print_peak("int4", nibble_products, 2.0 * CHAINS * 32 * STEPS);
        return 0;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0;
             argc == 3 && !strcmp(argv[2], shapes[i].name) && j < sizeof formats / sizeof *formats;
             j++)
            print_stream(&shapes[i], formats[j]);
    return argc == 3 ? 0 : 2;
}
