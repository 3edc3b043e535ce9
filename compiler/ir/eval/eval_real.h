// Rows of floats, the heart of the ops that are not elementwise: one text for f32 (the numeric
// contract) and f64 (the truth). eval_real.c includes it twice, with REAL, its functions and
// N(name) defined.
//
// Sums over the last axes: element i goes to lane i mod 16, then lane i takes in lane i + 8, 4,
// 2, 1. Other sums are one chain: `lanes` is 16 or 1.

static REAL N(tree)(REAL *lane, int lanes, REAL (*step)(REAL, REAL)) {
    for (int w = lanes / 2; w; w /= 2)
        for (int i = 0; i < w; i++) lane[i] = step(lane[i], lane[i + w]);
    return lane[0];
}

static REAL N(plus)(REAL a, REAL b) { return a + b; }
static REAL N(times)(REAL a, REAL b) { return a * b; }
static REAL N(higher)(REAL a, REAL b) { return a > b ? a : b; }
static REAL N(lower)(REAL a, REAL b) { return a < b ? a : b; }

// The accumulator is the second operand of min and max, as in the kernels.
static REAL N(reduce)(Op op, int64_t n, int lanes, const void *values) {
    const REAL *x = values;
    bool product = op == OP_reduce_prod, top = op == OP_reduce_max, bottom = op == OP_reduce_min;
    REAL lane[MAX_LANES];
    for (int i = 0; i < lanes; i++) lane[i] = product ? 1 : top ? -INFINITY : bottom ? INFINITY : 0;
    REAL (*step)(REAL, REAL) = product ? N(times) : top ? N(higher) : bottom ? N(lower) : N(plus);
    for (int64_t i = 0; i < n; i++) {
        REAL *l = &lane[i % lanes];
        *l = top || bottom ? step(x[i], *l) : step(*l, x[i]);
    }
    REAL r = N(tree)(lane, lanes, step);
    return op == OP_reduce_mean ? r / (REAL)n : r;
}

static void N(reduce_row)(Op op, int64_t n, int lanes, const void *x, void *y) {
    *(REAL *)y = N(reduce)(op, n, lanes, x);
}

static void N(softmax)(int64_t n, int lanes, const void *in, void *out) {
    const REAL *x = in;
    REAL *y = out, top = N(reduce)(OP_reduce_max, n, lanes, x), shift = top > -INFINITY ? top : 0;
    for (int64_t i = 0; i < n; i++) y[i] = EXP(x[i] - shift);
    REAL total = N(reduce)(OP_reduce_sum, n, lanes, y), whole = total > 0 ? total : 1;
    for (int64_t i = 0; i < n; i++) y[i] = y[i] / whole;
}

static REAL N(sum_of_squares)(int64_t n, const REAL *x, REAL mean) {
    REAL lane[MAX_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        REAL d = x[i] - mean, *l = &lane[i % MAX_LANES];
        *l = FMA(d, d, *l);
    }
    return N(tree)(lane, MAX_LANES, N(plus));
}

static void N(rms_norm)(int64_t n, double epsilon, const void *const *in, void *out) {
    const REAL *x = in[0], *weight = in[1];
    REAL *y = out, scale = 1 / SQRT(N(sum_of_squares)(n, x, 0) / (REAL)n + (REAL)epsilon);
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * scale * weight[i];
}

static void N(layer_norm)(int64_t n, double epsilon, const void *const *in, void *out) {
    const REAL *x = in[0], *weight = in[1], *bias = in[2];
    REAL mean = N(reduce)(OP_reduce_mean, n, MAX_LANES, x);
    REAL *y = out, scale = 1 / SQRT(N(sum_of_squares)(n, x, mean) / (REAL)n + (REAL)epsilon);
    for (int64_t i = 0; i < n; i++) {
        REAL v = (x[i] - mean) * scale;
        y[i] = bias ? FMA(v, weight[i], bias[i]) : v * weight[i];
    }
}

// Pairs (i, i + turned / 2) of each head, or (2i, 2i + 1).
static void N(rotary)(const RotaryShape *s, const void *const *in, void *out) {
    const REAL *x = in[0], *cosine = in[1], *sine = in[2];
    REAL *y = out;
    for (int64_t h = 0; h < s->heads; h++, x += s->width, y += s->width) {
        for (int64_t i = 0; i < s->width; i++) y[i] = x[i];
        for (int64_t i = 0; i < s->turned / 2; i++) {
            int64_t p = s->interleaved ? 2 * i : i, q = s->interleaved ? p + 1 : i + s->turned / 2;
            REAL a = x[p], b = x[q];
            y[p] = FMA(a, cosine[i], -(b * sine[i]));
            y[q] = FMA(b, cosine[i], a * sine[i]);
        }
    }
}

// y[i] = the chain of fma over ascending k of x[k] panel[k][i]
static void N(panel_product_plain)(int64_t depth, const REAL *x, const REAL *w, REAL *y) {
    REAL sum[MAX_LANES] = {0};
    for (int64_t k = 0; k < depth; k++, w += MAX_LANES)
        for (int i = 0; i < MAX_LANES; i++) sum[i] = FMA(x[k], w[i], sum[i]);
    memcpy(y, sum, sizeof sum);
}

static void N(panel_product)(int64_t depth, const void *x, const void *panel, void *y) {
#if defined(__x86_64__)
    if (cpu_has_fma()) return N(panel_product_fma)(depth, x, panel, y);
#endif
    N(panel_product_plain)(depth, x, panel, y);
}

static void N(chain)(int64_t n, const void *a, const void *b, int64_t stride, void *y) {
    const REAL *x = a, *w = b;
    REAL sum = 0;
    for (int64_t i = 0; i < n; i++) sum = FMA(x[i], w[i * stride], sum);
    *(REAL *)y = sum;
}

static REAL N(score)(const AttentionRow *a, const REAL *q, int64_t key) {
    const REAL *k = (const REAL *)a->keys + key * a->key_stride;
    REAL s = 0;
    for (int64_t d = 0; d < a->d; d++) s = FMA(q[d], k[d], s);
    s = s * (REAL)a->scale;
    if (a->softcap != 0) s = TANH(s / (REAL)a->softcap) * (REAL)a->softcap;
    if (a->bias) s = s + ((const REAL *)a->bias)[key];
    return a->mask ? s + ((const REAL *)a->mask)[key] : s;
}

// Keys [from, to) of one segment: their highest score, and sums of e^(score - highest), alone and
// times the values.
static REAL N(attend_segment)(const AttentionRow *a, int64_t from, int64_t to, REAL *sum, REAL *o) {
    REAL score[SEGMENT_KEYS], lane[MAX_LANES] = {0}, top = -INFINITY;
    for (int64_t j = from; j < to; j++) {
        score[j - from] = N(score)(a, a->q, j);
        top = N(higher)(score[j - from], top);
    }
    if (!(top > -INFINITY)) return top;
    for (int64_t d = 0; d < a->e; d++) o[d] = 0;
    for (int64_t j = from; j < to; j++) {
        REAL p = EXP(score[j - from] - top);
        lane[j % MAX_LANES] += p;
        const REAL *v = (const REAL *)a->values + j * a->value_stride;
        for (int64_t d = 0; d < a->e; d++) o[d] = FMA(p, v[d], o[d]);
    }
    *sum = N(tree)(lane, MAX_LANES, N(plus));
    return top;
}

// One row and head: segments of 256 keys at absolute positions, folded in ascending order by online
// softmax.
static void N(attend)(const AttentionRow *a, void *out) {
    REAL *y = out, *part = (REAL *)a->scratch, sum = 0;
    REAL m = a->sink ? *(const REAL *)a->sink : -INFINITY, l = a->sink ? 1 : 0;
    for (int64_t d = 0; d < a->e; d++) y[d] = 0;
    for (int64_t s = a->from / SEGMENT_KEYS * SEGMENT_KEYS; s < a->to; s += SEGMENT_KEYS) {
        int64_t from = s > a->from ? s : a->from,
                to = s + SEGMENT_KEYS < a->to ? s + SEGMENT_KEYS : a->to;
        REAL high = N(attend_segment)(a, from, to, &sum, part);
        if (!(high > -INFINITY)) continue;
        REAL top = high > m ? high : m, old = EXP(m - top), new = EXP(high - top);
        l = FMA(l, old, sum * new);
        for (int64_t d = 0; d < a->e; d++) y[d] = FMA(y[d], old, part[d] * new);
        m = top;
    }
    for (int64_t d = 0; d < a->e; d++) y[d] = y[d] / (l > 0 ? l : 1);
}

const RealKernels N(real_kernels) = {
    .reduce = N(reduce_row),
    .softmax = N(softmax),
    .rms_norm = N(rms_norm),
    .layer_norm = N(layer_norm),
    .rotary = N(rotary),
    .panel_product = N(panel_product),
    .attend = N(attend),
    .chain = N(chain),
};
