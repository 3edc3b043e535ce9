// Sampling: a bounded heap for top-k, a heap in order of probability for top-p, one draw.
#include "sampler.h"

#include "vec.h"

// ---- the generator ----

static uint64_t rotate_left(uint64_t x, int n) { return x << n | x >> (64 - n); }

BURIN_LINKAGE void burin_random_seed(burin_random *r, uint64_t seed) {
    for (int i = 0; i < 4; i++) {  // splitmix64
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        r->state[i] = z ^ z >> 31;
    }
}

BURIN_LINKAGE uint64_t burin_random_next(burin_random *r) {  // xoshiro256**
    uint64_t *s = r->state, result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

BURIN_LINKAGE double burin_random_unit(burin_random *r) { return (double)(burin_random_next(r) >> 11) * 0x1p-53; }

// ---- order: likelier first, ties to the lower id ----

static bool before(const burin_candidate *a, const burin_candidate *b) {
    return a->logit > b->logit || (a->logit == b->logit && a->token < b->token);
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

static void sort_heap(burin_candidate *heap, int32_t n) {  // the least likely on top becomes: likeliest first
    for (int32_t end = n - 1; end > 0; end--) {
        swap(&heap[0], &heap[end]);
        sift_down(heap, end, 0, true);
    }
}

// ---- steps ----

static float plain(float logit) { return logit == logit ? logit : -INFINITY; }

// The largest of sixteen; NaN never wins.
static float largest_of_block(const float *logits) {
    float lane[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < LANES; i++) lane[i & 3] = logits[i] > lane[i & 3] ? logits[i] : lane[i & 3];
    return sf_max(sf_max(lane[0], lane[1]), sf_max(lane[2], lane[3]));
}

BURIN_LINKAGE int32_t burin_argmax(const float *logits, int32_t n) {
    int32_t best = 0, i = 0;
    float top = plain(logits[0]);
    for (; i + LANES <= n; i += LANES) {
        if (!(largest_of_block(logits + i) > top)) continue;
        for (int32_t j = i; j < i + LANES; j++)
            if (logits[j] > top) top = logits[j], best = j;
    }
    for (; i < n; i++)
        if (logits[i] > top) top = logits[i], best = i;
    return best;
}

// Every token of the last few, once however often it stands there.
static void penalize(const burin_sampler *s, float *logits, const int32_t *tokens, int32_t n) {
    float penalty = (float)s->settings.repeat_penalty;
    int32_t first = n > BURIN_PENALIZED_TOKENS ? n - BURIN_PENALIZED_TOKENS : 0;
    if (penalty == 1) return;
    for (int32_t i = first; i < n; i++) {
        bool seen = false;
        for (int32_t j = first; j < i && !seen; j++) seen = tokens[j] == tokens[i];
        float *logit = &logits[tokens[i]];
        if (!seen) *logit = *logit > 0 ? *logit / penalty : *logit * penalty;
    }
}

// The k likeliest, in order.
static int32_t take_top_k(burin_sampler *s, const float *logits, int32_t k) {
    burin_candidate *heap = s->candidates;
    for (int32_t i = 0; i < k; i++) heap[i] = (burin_candidate){.logit = plain(logits[i]), .token = i};
    make_heap(heap, k, true);
    for (int32_t i = k; i < s->vocab_size; i++) {
        if (!(logits[i] > heap[0].logit)) continue;  // an equal one later has a higher id
        heap[0] = (burin_candidate){.logit = logits[i], .token = i};
        sift_down(heap, k, 0, true);
    }
    sort_heap(heap, k);
    return k;
}

static int32_t take_all(burin_sampler *s, const float *logits) {
    for (int32_t i = 0; i < s->vocab_size; i++) s->candidates[i] = (burin_candidate){.logit = plain(logits[i]), .token = i};
    return s->vocab_size;
}

static void exp_plain(float *values, size_t n) {
    for (size_t i = 0; i < n; i++) values[i] = sf_exp(values[i]);
}

// Scaled distances from the largest logit, of those whose weight may reach min-p: what is far below is not worth an exp.
static int32_t scale(burin_sampler *s, int32_t n, float top) {
    float temperature = (float)s->settings.temperature, least = (float)s->settings.min_p;
    float hopeless = least > 0 ? (float)log((double)least) - 0.01f : -88;
    burin_candidate *c = s->candidates;
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        c[kept] = c[i];
        c[kept].weight = c[i].logit == top ? 0 : (c[i].logit - top) / temperature;
        kept += c[kept].weight >= hopeless;
    }
    return kept;
}

// Weights out of distances; keeps those of at least min-p.
static int32_t weigh(burin_sampler *s, int32_t n) {
    enum { BLOCK = 256 };
    float weight[BLOCK], least = (float)s->settings.min_p;
    burin_candidate *c = s->candidates;
    int32_t kept = 0;
    for (int32_t from = 0; from < n; from += BLOCK) {
        int32_t count = n - from < BLOCK ? n - from : BLOCK;
        for (int32_t i = 0; i < count; i++) weight[i] = c[from + i].weight;
        s->exp(weight, (size_t)count);
        for (int32_t i = 0; i < count; i++) {
            c[kept] = c[from + i];
            c[kept].weight = weight[i];
            kept += weight[i] > 0 && weight[i] >= least;
        }
    }
    return kept;
}

static double total_weight(const burin_candidate *c, int32_t n) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += c[i].weight;
    return sum;
}

// The fewest of the likeliest whose weights reach top-p of the total. They end at the back of the array, likeliest last.
static int32_t take_top_p(burin_sampler *s, int32_t n) {
    burin_candidate *heap = s->candidates;
    double goal = s->settings.top_p * total_weight(heap, n), sum = 0;
    int32_t end = n;
    make_heap(heap, n, false);
    while (end > 0) {
        swap(&heap[0], &heap[--end]);
        sum += heap[end].weight;
        if (sum >= goal) break;
        sift_down(heap, end, 0, false);
    }
    for (int32_t i = 0; i < n - end; i++) heap[i] = heap[end + i];
    return n - end;
}

static int32_t draw(burin_sampler *s, int32_t n) {
    double at = burin_random_unit(&s->random) * total_weight(s->candidates, n), sum = 0;
    for (int32_t i = 0; i < n; i++) {
        sum += s->candidates[i].weight;
        if (sum > at) return s->candidates[i].token;
    }
    return s->candidates[n - 1].token;
}

BURIN_LINKAGE size_t burin_sampler_bytes(int32_t vocab_size) { return (size_t)vocab_size * sizeof(burin_candidate); }

BURIN_LINKAGE void burin_sampler_init(burin_sampler *s, const burin_sampling *settings, int32_t vocab_size, void *memory) {
    *s = (burin_sampler){.settings = *settings, .exp = exp_plain, .vocab_size = vocab_size, .candidates = memory};
    burin_random_seed(&s->random, settings->seed);
}

BURIN_LINKAGE int32_t burin_sample(burin_sampler *s, float *logits, const int32_t *tokens, int32_t n_before) {
    int64_t k = s->settings.top_k;
    penalize(s, logits, tokens, n_before);
    int32_t best = burin_argmax(logits, s->vocab_size);
    if (s->settings.temperature == 0) return best;
    int32_t n = k > 0 && k < s->vocab_size ? take_top_k(s, logits, (int32_t)k) : take_all(s, logits);
    n = weigh(s, scale(s, n, plain(logits[best])));
    if (s->settings.top_p < 1) n = take_top_p(s, n);
    return draw(s, n);
}

static void never(float *logits, int32_t vocabulary, const int32_t *tokens, int32_t n) {
    for (int32_t i = 0; i < n; i++)
        if (tokens[i] >= 0 && tokens[i] < vocabulary) logits[tokens[i]] = -INFINITY;
}

BURIN_LINKAGE void burin_suppress(const burin_model *m, float *logits, bool first) {
    never(logits, m->vocab_size, m->suppress, m->n_suppress);
    if (first) never(logits, m->vocab_size, m->begin_suppress, m->n_begin_suppress);
}
