// Linked into the fake program: every allocation after the first forward call ends it with
// status 99.
#include <stdio.h>
#include <unistd.h>

#include "fake_model.h"
#include "text/modes.h"

static _Alignas(64) unsigned char heap[64 << 20];
static size_t used;
static bool sealed;

static void forward_sealed(const burin_step *s, int thread) {
    __atomic_store_n(&sealed, true, __ATOMIC_RELAXED);
    fake_forward(s, thread);
}

static void *take(size_t bytes, size_t alignment) {
    static const char message[] = "allocated after the first forward call\n";
    if (__atomic_load_n(&sealed, __ATOMIC_RELAXED)) {
        ssize_t n = write(2, message, sizeof message - 1);
        _exit(n < 0 ? 98 : 99);
    }
    used = (used + alignment - 1) & ~(alignment - 1);
    void *p = heap + used + 16;
    memcpy(heap + used, &bytes, sizeof bytes);
    used += bytes + 16;
    return used < sizeof heap ? p : NULL;
}

void *malloc(size_t bytes) { return take(bytes, 16); }
void *calloc(size_t n, size_t bytes) { return take(n * bytes, 16); }
void free(void *p) { (void)p; }
void *realloc(void *old, size_t bytes) {
    void *p = take(bytes, 16);
    size_t had = 0;
    if (old) memcpy(&had, (char *)old - 16, sizeof had);
    if (p && old) memcpy(p, old, had < bytes ? had : bytes);
    return p;
}

static const burin_variant sealed_variants[] = {
    {.cpu = "plain", .needs = "any CPU", .supported = fake_here, .forward = forward_sealed},
};

const burin_model burin_model_this = {
    .abi = BURIN_ABI,
    .name = "sealed",
    .identity = "0",
    .vocab_size = FAKE_VOCAB,
    .context = FAKE_CONTEXT,
    .max_rows = FAKE_ROWS,
    .bos = 1,
    .row_bytes = 64,
    .local_bytes = 64,
    .slot_bytes = FAKE_CONTEXT * sizeof(int32_t),
    .weight_bytes = 64,
    .variants = sealed_variants,
    .n_variants = 1,
    .weights = fake_weights,
    .modes = &burin_modes_text,
};
