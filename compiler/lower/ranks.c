// What ranks share of a program that runs over several machines (--with=mpi): products by panels, attention and its caches by
// KV heads. A result that ranks share is gathered, whole columns of it, before anything else reads it; no sum is ever split, so
// the bits are those of one rank. What is not shared is computed whole by every rank.
#include <string.h>

#include "ir/operands.h"
#include "lower/lowering.h"

// A cache that kernels other than attention read is kept whole.
static bool is_read_elsewhere(const Program *p, const View *cache) {
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        for (int j = 0; j < k->n_in && k->family != FAMILY_ATTENTION; j++) {
            bool state = cache->base == BASE_STATE && k->in[j].base == BASE_STATE && k->in[j].state == cache->state;
            if (state || (cache->base == BASE_BUFFER && k->in[j].base == BASE_BUFFER && k->in[j].buffer == cache->buffer))
                return true;
        }
    }
    return false;
}

static bool holds_heads(const View *cache) {
    const char *kind = cache->base == BASE_STATE ? attr_string(cache->state->node, "kind", "") : "key";
    return !strcmp(kind, "key") || !strcmp(kind, "value");
}

// Panels, or heads, that ranks share; 0: the kernel is computed whole. Of one KV head for all, ranks share the heads of the
// queries, and each keeps the whole cache.
static int shared_units(const Program *p, const Kernel *k) {
    int64_t panels, heads;
    switch (k->family) {
        case FAMILY_MATMUL:
        case FAMILY_EXPERTS:
            return dim_is_const(k->share.count, &panels) && panels > 1 ? (int)panels : 0;
        case FAMILY_APPEND:
            if (!dim_is_const(k->out[0].type.dim[1], &heads) || heads < 2 || !holds_heads(&k->out[0])) return 0;
            return is_read_elsewhere(p, &k->out[0]) ? 0 : (int)heads;
        case FAMILY_ATTENTION:
            if (!dim_is_const(k->in[ATTENTION_KEY].type.dim[1], &heads)) return 0;
            if (heads == 1) heads = kernel_int(k, "num_heads", 1);
            return heads > 1 ? (int)heads : 0;
        default:
            return 0;
    }
}

bool kernel_is_gathered(const Kernel *k) { return k->rank_units && k->family != FAMILY_APPEND; }

void share_over_ranks(Program *p) {
    for (int i = 0; i < p->n_kernels && p->over_ranks; i++) p->kernels[i]->rank_units = shared_units(p, p->kernels[i]);
}
