#include "network/label_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "network/model_card.h"
#include "network/scores.h"
#include "program/output.h"

static void print_json_labels(const char *file, const burin_card *card, const burin_scored *best,
                              int64_t n) {
    burin_print("{\"file\": ");
    burin_print_json_string(file, strlen(file));
    burin_print(", \"labels\": [");
    for (int64_t i = 0; i < n; i++) {
        const char *name = burin_card_label(card, (uint32_t)best[i].column);
        burin_print(i ? ", {\"label\": " : "{\"label\": ");
        burin_print_json_string(name, strlen(name));
        burin_print(", \"score\": %.6f}", (double)best[i].score);
    }
    burin_print("]}\n");
}

void burin_print_labels(const burin_command *c, const burin_card *card, const char *file,
                        const float *score) {
    bool json = c->format && !strcmp(c->format, "json");
    int64_t n = card->n_labels, most = c->most_texts;
    if (!most) most = json ? n : 1;
    if (most > n) most = n;
    burin_scored *best = burin_allocate((size_t)most + 1, sizeof *best);
    n = burin_best_scores(score, n, most, best);
    if (json) {
        print_json_labels(file, card, best, n);
    } else {
        if (c->n_texts > 1) burin_print("%s\t", file);
        for (int64_t i = 0; i < n; i++)
            burin_print("%-s%s\t%.6f", i ? "\t" : "",
                        burin_card_label(card, (uint32_t)best[i].column), (double)best[i].score);
        burin_print("\n");
    }
    burin_show();
    free(best);
}
