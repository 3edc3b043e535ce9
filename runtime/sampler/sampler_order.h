// Candidates in order: by their key, the likelier first, ties to the lower id.
#ifndef BURIN_SAMPLER_ORDER_H
#define BURIN_SAMPLER_ORDER_H
#include "kernels/vec.h"
#include "sampler.h"

static bool before(const burin_candidate *a, const burin_candidate *b) {
    return a->key > b->key || (a->key == b->key && a->token < b->token);
}

static void swap(burin_candidate *a, burin_candidate *b) {
    burin_candidate t = *a;
    *a = *b;
    *b = t;
}

// A heap whose top comes first in the order (or last of it: the least likely on top).
static void sift_down(burin_candidate *heap, int32_t n, int32_t at, bool last_on_top) {
    for (int32_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]) != last_on_top) child++;
        if (before(&heap[child], &heap[at]) == last_on_top) return;
        swap(&heap[child], &heap[at]);
    }
}

static void make_heap(burin_candidate *heap, int32_t n, bool last_on_top) {
    for (int32_t i = n / 2 - 1; i >= 0; i--) sift_down(heap, n, i, last_on_top);
}

static void sort_heap(burin_candidate *heap,
                      int32_t n) {  // the least likely on top becomes: likeliest first
    for (int32_t end = n - 1; end > 0; end--) {
        swap(&heap[0], &heap[end]);
        sift_down(heap, end, 0, true);
    }
}

static float plain(float logit) { return logit == logit ? logit : -INFINITY; }
#endif
