// The later steps of the sampler: candidates, fewer from step to step, and their weights. Sums are
// double, in the order of the candidates; logarithms are our own.
#ifndef BURIN_SAMPLER_FILTERS_H
#define BURIN_SAMPLER_FILTERS_H
#include "sampler_order.h"

static burin_candidate candidate_of(float logit, int32_t token) {
    logit = plain(logit);
    return (burin_candidate){.logit = logit, .key = logit, .token = token};
}

// The k likeliest, in order.
static int32_t take_top_k(burin_sampler *s, int32_t n) {
    int32_t k = (int32_t)s->settings.top_k;
    burin_candidate *heap = s->candidates;
    for (int32_t i = 0; i < k; i++) heap[i] = candidate_of(s->logits[i], i);
    make_heap(heap, k, true);
    for (int32_t i = k; i < n; i++) {
        if (!(s->logits[i] > heap[0].logit)) continue;  // an equal one later has a higher id
        heap[0] = candidate_of(s->logits[i], i);
        sift_down(heap, k, 0, true);
    }
    sort_heap(heap, k);
    return k;
}

static int32_t take_all(burin_sampler *s, int32_t n) {
    for (int32_t i = 0; i < n; i++) s->candidates[i] = candidate_of(s->logits[i], i);
    return n;
}

// ---- weights ----

static float top_logit(const burin_candidate *c, int32_t n) {
    float top = -INFINITY;
    for (int32_t i = 0; i < n; i++) top = c[i].logit > top ? c[i].logit : top;
    return top;
}

// Distances from the largest logit; removes impossible tokens.
static int32_t scale(burin_sampler *s, int32_t n, float temperature) {
    burin_candidate *c = s->candidates;
    float top = top_logit(c, n);
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++) {
        c[kept] = c[i];
        c[kept].weight = c[i].logit == top ? 0 : (c[i].logit - top) / temperature;
        kept += c[kept].weight > -INFINITY;
    }
    return kept;
}

static int32_t weigh(burin_sampler *s, int32_t n, float temperature) {
    enum { BLOCK = 256 };
    float weight[BLOCK];
    burin_candidate *c = s->candidates;
    n = scale(s, n, temperature);
    for (int32_t from = 0; from < n; from += BLOCK) {
        int32_t count = n - from < BLOCK ? n - from : BLOCK;
        for (int32_t i = 0; i < count; i++) weight[i] = c[from + i].weight;
        s->exp(weight, (size_t)count);
        for (int32_t i = 0; i < count; i++) c[from + i].weight = weight[i];
    }
    return n;
}

static double total_weight(const burin_candidate *c, int32_t n) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += c[i].weight;
    return sum;
}

static double natural_log(double x) { return log2_double(x) * 0x1.62e42fefa39efp-1; }

// Of candidates that are weighed by e^(logit - top): the mean of -log p.
static double entropy(const burin_candidate *c, int32_t n) {
    double total = total_weight(c, n), sum = 0, top = (double)top_logit(c, n);
    for (int32_t i = 0; i < n; i++)
        if (c[i].weight > 0) sum += (double)c[i].weight * (top - (double)c[i].logit);
    return natural_log(total) + sum / total;
}

// ---- filters ----

// The fewest leading candidates whose weights reach or exceed the goal. They end up at the back,
// the first one last.
static int32_t take_fewest(burin_sampler *s, int32_t n, double goal, bool exceed) {
    burin_candidate *heap = s->candidates;
    double sum = 0;
    int32_t end = n;
    make_heap(heap, n, false);
    while (end > 0) {
        swap(&heap[0], &heap[--end]);
        sum += heap[end].weight;
        if (exceed ? sum > goal : sum >= goal) break;
        sift_down(heap, end, 0, false);
    }
    for (int32_t i = 0; i < n - end; i++) heap[i] = heap[end + i];
    return n - end;
}

static int32_t take_top_p(burin_sampler *s, int32_t n) {
    n = weigh(s, n, 1);
    return take_fewest(s, n, s->settings.top_p * total_weight(s->candidates, n), false);
}

// Those whose surprise, -log p, is nearest the expected one.
static int32_t take_typical(burin_sampler *s, int32_t n) {
    burin_candidate *c = s->candidates;
    n = weigh(s, n, 1);
    double total = total_weight(c, n), expected = entropy(c, n) - natural_log(total),
           top = (double)top_logit(c, n);
    for (int32_t i = 0; i < n; i++) c[i].key = (float)-fabs(top - (double)c[i].logit - expected);
    n = take_fewest(s, n, s->settings.typical * total, true);
    for (int32_t i = 0; i < n; i++) c[i].key = c[i].logit;
    return n;
}

static int32_t take_min_p(burin_sampler *s, int32_t n) {
    burin_candidate *c = s->candidates;
    float least = (float)s->settings.min_p;
    int32_t kept = 0;
    n = weigh(s, n, 1);
    for (int32_t i = 0; i < n; i++) {
        c[kept] = c[i];
        kept += c[i].weight >= least;
    }
    return kept;
}

// Exclude top choices: of all that reach the threshold the least likely alone stays, if chance will
// have it.
static int32_t exclude_top_choices(burin_sampler *s, int32_t n) {
    burin_candidate *c = s->candidates;
    double threshold = s->settings.xtc_threshold;
    int32_t last = -1, kept = 0;
    if (n < 2 || burin_random_unit(&s->random) > s->settings.xtc_probability) return n;
    n = weigh(s, n, 1);
    threshold *= total_weight(c, n);
    for (int32_t i = 0; i < n; i++)
        if ((double)c[i].weight >= threshold && (last < 0 || before(&c[last], &c[i]))) last = i;
    for (int32_t i = 0; i < n; i++) {
        bool stays = i == last || (double)c[i].weight < threshold;
        c[kept] = c[i];
        kept += stays;
    }
    return kept;
}

// From temperature - range to temperature + range: the higher, the nearer the candidates are to
// being equally likely.
static float dynamic_temperature(burin_sampler *s, int32_t n) {
    const burin_sampling *set = &s->settings;
    double least =
               set->temperature > set->dynatemp_range ? set->temperature - set->dynatemp_range : 0,
           most = set->temperature + set->dynatemp_range;
    float share = (float)(entropy(s->candidates, n) / natural_log((double)n));
    return (float)(least + (most - least) * (double)sf_pow(share < 0 ? 0 : share,
                                                           (float)set->dynatemp_exponent));
}

static int32_t apply_temperature(burin_sampler *s, int32_t n) {
    float temperature = (float)s->settings.temperature;
    if (s->settings.dynatemp_range > 0) n = weigh(s, n, 1);
    if (s->settings.dynatemp_range > 0 && n > 1) temperature = dynamic_temperature(s, n);
    return weigh(s, n, temperature);
}

// Mirostat 2.0: none whose surprise is above mu bits, which the surprise of the chosen one
// corrects.
static int32_t take_unsurprising(burin_sampler *s, int32_t n) {
    burin_candidate *c = s->candidates;
    double mu = s->mu < -100  ? -100
                : s->mu > 100 ? 100
                              : s->mu,
           least = total_weight(c, n) * (double)exp2_double(-mu);
    int32_t kept = 0, best = 0;
    for (int32_t i = 1; i < n; i++)
        if (before(&c[i], &c[best])) best = i;
    burin_candidate top = c[best];
    for (int32_t i = 0; i < n; i++) {
        c[kept] = c[i];
        kept += (double)c[i].weight >= least;
    }
    if (!kept) c[kept++] = top;
    return kept;
}

static int32_t draw(burin_sampler *s, int32_t n) {
    double total = total_weight(s->candidates, n), at = burin_random_unit(&s->random) * total,
           sum = 0;
    int32_t chosen = 0;
    for (; chosen < n - 1; chosen++) {
        sum += s->candidates[chosen].weight;
        if (sum > at) break;
    }
    const burin_candidate *c = &s->candidates[chosen];
    s->surprise = c->weight > 0 ? log2_double(total) - log2_double((double)c->weight) : 0;
    return c->token;
}
#endif
