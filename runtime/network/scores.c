#include "network/scores.h"

#include <string.h>

#include "kernels/vec.h"

static float sigmoid_of(float x) { return 1 / (1 + sf_exp(-x)); }

static void softmax_of(const float *x, int64_t n, float *y) {
    float top = x[0];
    double sum = 0;
    for (int64_t i = 1; i < n; i++) top = x[i] > top ? x[i] : top;
    for (int64_t i = 0; i < n; i++) {
        y[i] = sf_exp(x[i] - top);
        sum += (double)y[i];
    }
    for (int64_t i = 0; i < n; i++) y[i] = (float)((double)y[i] / sum);
}

void burin_scores(burin_scoring scoring, const float *logits, int64_t n, float *score) {
    if (scoring == BURIN_SOFTMAX) {
        softmax_of(logits, n, score);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        score[i] = scoring == BURIN_SIGMOID ? sigmoid_of(logits[i]) : logits[i];
}

int64_t burin_best_scores(const float *score, int64_t n, int64_t most, burin_scored *best) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = found;
        while (at > 0 && score[i] > best[at - 1].score) at--;
        if (at == most) continue;
        if (found < most) found++;
        memmove(best + at + 1, best + at, (size_t)(found - 1 - at) * sizeof *best);
        best[at] = (burin_scored){score[i], i};
    }
    return found;
}
