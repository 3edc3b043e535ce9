// Weights that are no numbers: NaN and infinities, which a file holds when a training went wrong or
// a download was damaged.
#include <string.h>

#include "lower/lowering.h"

typedef struct Odd {
    int64_t nans, infinities, positive;
} Odd;

static void count_16(const Tensor *t, uint16_t infinity, Odd *odd) {
    for (int64_t i = 0; i < tensor_count(t); i++) {
        uint16_t bits;
        memcpy(&bits, (const char *)t->data + 2 * i, sizeof bits);
        uint16_t size = bits & 0x7fff;
        odd->nans += size > infinity;
        odd->infinities += size == infinity;
        odd->positive += bits == infinity;
    }
}

static void count_32(const Tensor *t, Odd *odd) {
    for (int64_t i = 0; i < tensor_count(t); i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)t->data + 4 * i, sizeof bits);
        uint32_t size = bits & 0x7fffffff;
        odd->nans += size > 0x7f800000;
        odd->infinities += size == 0x7f800000;
        odd->positive += bits == 0x7f800000;
    }
}

static Odd count_odd(const Tensor *t) {
    Odd odd = {0};
    if (t->dtype == DT_f32) count_32(t, &odd);
    if (t->dtype == DT_bf16) count_16(t, 0x7f80, &odd);
    if (t->dtype == DT_f16) count_16(t, 0x7c00, &odd);
    return odd;
}

static void warn_of(const Tensor *t, bool is_matrix) {
    if (!is_matrix && tensor_count(t) < 2) return;  // a bound
    Odd odd = count_odd(t);
    if (!is_matrix && odd.infinities > odd.positive)
        odd.infinities = odd.positive;  // minus infinity alone is a mask
    if (!odd.nans && !odd.infinities) return;
    const char *what = !odd.infinities ? "are NaN"
                       : odd.nans      ? "are NaN or infinite"
                                       : "are infinite";
    diag_warning(t->source ? loc_file(t->source) : NO_LOC,
                 "%lld of %lld weights in %s %s: what they reach is no number",
                 (long long)(odd.nans + odd.infinities), (long long)tensor_count(t), t->name, what);
}

static bool was_seen(const Program *p, int piece, const Tensor *t) {
    for (int i = 0; i < piece; i++) {
        const Node *n = p->weights[i]->node;
        if (n->value && n->value->data == t->data) return true;
        for (int j = 0; j < n->n_in; j++)
            if (n->in[j] && n->in[j]->value && n->in[j]->value->data == t->data) return true;
    }
    return false;
}

static void warn_once(const Program *p, int piece, const Tensor *t, bool is_matrix) {
    if (t && t->name && t->data && !was_seen(p, piece, t)) warn_of(t, is_matrix);
}

void warn_of_odd_weights(const Program *p) {
    if (p->encoder) warn_of_odd_weights(p->encoder);
    for (int i = 0; i < p->n_weights; i++) {
        const Node *n = p->weights[i]->node;
        bool is_matrix = n->op == OP_pack;
        warn_once(p, i, n->value, is_matrix);
        for (int j = 0; j < n->n_in; j++)
            if (n->in[j]) warn_once(p, i, n->in[j]->value, is_matrix);
    }
}
