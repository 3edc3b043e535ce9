// Kernels of ops whose values decide how many results there are.
#ifndef BURIN_DATA_DEPENDENT_H
#define BURIN_DATA_DEPENDENT_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

// ---- different slices ----

typedef struct burin_unique_slices {
    const void *values;
    int64_t n;
    int (*order)(const void *values, int64_t i, int64_t j);  // below, at or above 0, like strcmp
    int64_t room;  // slices that `first` and `counts` hold at most
} burin_unique_slices;

// One more than there is room for: the caller refuses the run. Results are defined all the same.
static inline int64_t burin_too_many_slices(const burin_unique_slices *s, int64_t *which,
                                            int64_t *counts) {
    for (int64_t i = 0; i < s->n; i++) {
        which[i] = 0;
    }
    for (int64_t k = 0; k < s->room; k++) {
        counts[k] = 0;
    }
    return s->room + 1;
}

// The first of each set of equal slices, in their order or that of the slices; which of these each
// slice equals; how often each is there. Returns how many there are.
static inline int64_t burin_unique(const burin_unique_slices *s, bool sorted, int64_t *first,
                                   int64_t *which, int64_t *counts) {
    int64_t found = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t at = 0, place;
        while (at < found && s->order(s->values, first[at], i) != 0) at++;
        which[i] = at < found ? first[at] : i;
        if (at < found) continue;
        if (found == s->room) return burin_too_many_slices(s, which, counts);
        for (place = found++; sorted && place > 0 && s->order(s->values, i, first[place - 1]) < 0;
             place--)
            first[place] = first[place - 1];
        first[place] = i;
    }
    for (int64_t k = 0; k < found; k++) counts[k] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t k = 0;
        while (first[k] != which[i]) k++;
        which[i] = k, counts[k]++;
    }
    return found;
}

// ---- boxes that are kept ----

typedef struct burin_suppression {
    int64_t boxes, most,
        room;  // boxes of an image, kept of each class at most, kept in all at most
    double iou, score;
    bool centre;  // boxes are (x, y, width, height) of their centre, not two corners (y, x)
} burin_suppression;

typedef struct burin_box {
    double low[2], high[2];
} burin_box;

static inline burin_box burin_box_of(const float *b, bool centre) {
    burin_box box;
    for (int i = 0; i < 2; i++) {
        double p = centre ? (double)b[1 - i] - b[3 - i] / 2.0 : b[i],
               q = centre ? (double)b[1 - i] + b[3 - i] / 2.0 : b[2 + i];
        box.low[i] = p < q ? p : q, box.high[i] = p < q ? q : p;
    }
    return box;
}

static inline double burin_overlap(const burin_box *a, const burin_box *b) {
    double common = 1, whole_a = 1, whole_b = 1;
    for (int i = 0; i < 2; i++) {
        double low = a->low[i] > b->low[i] ? a->low[i] : b->low[i],
               high = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
        common *= high > low ? high - low : 0;
        whole_a *= a->high[i] - a->low[i], whole_b *= b->high[i] - b->low[i];
    }
    double all = whole_a + whole_b - common;
    return all > 0 ? common / all : 0;
}

// The best score after those of `last`: lower, or as high at a later box. -1: none above the limit.
static inline int64_t burin_next_best(const burin_suppression *s, const float *scores,
                                      int64_t last) {
    int64_t best = -1;
    for (int64_t i = 0; i < s->boxes; i++) {
        bool behind =
            last < 0 || scores[i] < scores[last] || (scores[i] == scores[last] && i > last);
        if (scores[i] > s->score && behind && (best < 0 || scores[i] > scores[best])) best = i;
    }
    return best;
}

// For one batch and class (at[0], at[1] of at[2]): adds rows (batch, class, box) after the `found`
// existing ones; returns their new number.
static inline int64_t burin_suppress(const burin_suppression *s, const float *boxes,
                                     const float *scores, const int64_t at[3], int64_t *rows,
                                     int64_t found) {
    int64_t first = found;
    if (found > s->room) return found;
    boxes += at[0] * s->boxes * 4, scores += (at[0] * at[2] + at[1]) * s->boxes;
    for (int64_t best = -1;
         found - first < s->most && (best = burin_next_best(s, scores, best)) >= 0;) {
        burin_box box = burin_box_of(boxes + 4 * best, s->centre);
        bool hidden = false;
        for (int64_t i = first; i < found && !hidden; i++) {
            burin_box other = burin_box_of(boxes + 4 * rows[3 * i + 2], s->centre);
            hidden = burin_overlap(&box, &other) > s->iou;
        }
        if (hidden) continue;
        if (found == s->room) return found + 1;
        for (int i = 0; i < 2; i++) rows[3 * found + i] = at[i];
        rows[3 * found++ + 2] = best;
    }
    return found;
}
#endif
