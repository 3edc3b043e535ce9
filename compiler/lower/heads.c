// What goes on with a product's result head by head, without waiting for the other heads (runtime/engine/heads.h):
//
//   %qkv = matmul_packed(%x, %w)                                        its share is panels
//   %q = rotary_embedding(slice(%qkv)), %k = rotary_embedding(...)      goes on with it: heads 0 to 8, 9 to 11
//   cache_append(%kc, %k), cache_append(%vc, slice(%qkv))               heads 9 to 11, 12 to 14
//   %a = attention(%q, %kc, %vc)                                        waits
//
// All heads have one width, whole panels, and begin at a multiple of it. A kernel that goes on stands directly behind the
// product, reads that alone of it which lies in its heads, and writes nothing that the others of them touch. Otherwise it is a
// pass of its own, which waits for the product: of heads that share a panel, of values wider than keys, of texts in one step,
// of ranks, in loops and branches of a graph, and under `burin check`, which sees every result.
#include "kernels/vec.h"
#include "lower/lowering.h"

enum { MOST_HEADS = 512 };  // BURIN_HEADS of runtime/engine/threads.h

typedef struct HeadPlace {
    int64_t first, heads, width;  // columns from `first` of the product
} HeadPlace;

// Where the heads of an operand lie in the product's columns; false: it is not whole heads of them
static bool head_place(const Kernel *product, const Kernel *k, HeadPlace *h) {
    const View *x = &k->in[0], *y = &product->out[0];
    int64_t from, begin, columns;
    if (x->base != BASE_BUFFER || y->base != BASE_BUFFER || x->buffer != y->buffer) return false;
    if (x->type.rank != 2 || y->type.rank != 2 || x->type.dim[0] != y->type.dim[0] || x->stride[0] != y->stride[0])
        return false;
    if (!dim_is_const(x->offset, &from) || !dim_is_const(y->offset, &begin) || !dim_is_const(x->stride[1], &h->width))
        return false;
    if (h->width != 1 || !dim_is_const(x->type.dim[1], &columns) || !dim_is_const(k->share.count, &h->heads)) return false;
    h->first = from - begin, h->width = h->heads ? columns / h->heads : 0;
    return h->width > 0 && columns % h->heads == 0;
}

static bool is_whole_heads(const Kernel *product, const HeadPlace *h, int64_t width) {
    int64_t columns = dim_upper(product->out[0].type.dim[1]);
    return h->width == width && width % LANES == 0 && columns % width == 0 && h->first % width == 0 && h->first >= 0 &&
           h->first + h->heads * width <= columns;
}

static const View *operand(const Kernel *k, int i) { return i < k->n_in ? &k->in[i] : &k->out[i - k->n_in]; }

// May two of them run at once, but for the heads of the product itself?
static bool meet(const Kernel *a, const Kernel *b) {
    for (int i = 0; i < a->n_in + a->n_out; i++)
        for (int j = 0; j < b->n_in + b->n_out; j++) {
            const View *v = operand(a, i), *w = operand(b, j);
            if (i < a->n_in && j < b->n_in) continue;
            if (v->base == BASE_BUFFER && w->base == BASE_BUFFER && v->buffer == w->buffer) continue;
            if (share_memory(v, w, true) || share_memory(v, w, false)) return true;
        }
    return false;
}

// Nothing but its first operand, and what it turns in place, lies in the product's buffer.
static bool stays_in_its_heads(const Kernel *product, const Kernel *k) {
    for (int i = 1; i < k->n_in + k->n_out; i++) {
        const View *v = operand(k, i);
        bool there = v->base == BASE_BUFFER && v->buffer == product->out[0].buffer;
        if (there && (i < k->n_in || !view_same_place(v, &k->in[0]))) return false;
    }
    return true;
}

static bool goes_on(const Program *p, int product, int at, int64_t *width) {
    const Kernel *first = p->kernels[product], *k = p->kernels[at];
    HeadPlace h;
    if ((k->family != FAMILY_ROTARY && k->family != FAMILY_APPEND) || k->by_text || !head_place(first, k, &h)) return false;
    if (at == product + 1) *width = h.width;
    if (!is_whole_heads(first, &h, *width) || !stays_in_its_heads(first, k)) return false;
    for (int i = product; i < at; i++)
        if (meet(p->kernels[i], k)) return false;
    return true;
}

static bool is_followed(const Program *p, const Kernel *k) {
    return k->taken && k->family == FAMILY_MATMUL && !p->over_ranks && !p->compared && !p->n_regions;
}

// The end of the kernels that run in the same iteration
static int end_of_iteration(const Program *p, int kernel) {
    const Loop *l = &p->loop;
    int behind = l->first + l->period * l->iterations - l->missing, of = representative(p, kernel) - l->first;
    if (!l->iterations || kernel >= behind) return p->n_kernels;
    if (kernel < l->first) return l->first;
    int end = kernel - of + l->period;
    return end < behind ? end : behind;
}

static int count_following(const Program *p, int product, int64_t *width) {
    int n = 0, end = end_of_iteration(p, product);
    while (product + 1 + n < end && goes_on(p, product, product + 1 + n, width)) n++;
    return n;
}

// Those of a loop's first iteration are those of all: buffers and strides are the same in each.
void follow_heads(Program *p) {
    int heads = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        const Kernel *like = p->kernels[representative(p, i)];
        int64_t width = 0;
        if (like != k) {
            k->n_following = like->n_following, k->head_panels = like->head_panels, k->first_head = like->first_head;
        } else if (is_followed(p, k) && (k->n_following = count_following(p, i, &width))) {
            int of_product = (int)(dim_upper(k->out[0].type.dim[1]) / width);
            k->head_panels = (int)(width / LANES), k->first_head = heads;
            if (heads + of_product > MOST_HEADS) k->n_following = 0;
            if (k->n_following) heads += of_product;
        }
        for (int j = 1; j <= k->n_following; j++) p->kernels[i + j]->follows = k;
    }
}
