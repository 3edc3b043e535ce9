#include "network/rank.h"

#include <stdlib.h>
#include <string.h>

#include "program/output.h"

// A place for one more, as long as fewer than `most` are kept; else that of the last.
static void make_place(burin_ranking *r) {
    if (r->n == r->most) {
        free(r->best[--r->n].text);
    } else if ((r->n & (r->n - 1)) == 0) {
        burin_ranked *more = realloc(r->best, (size_t)(r->n ? 2 * r->n : 1) * sizeof *more);
        if (!more) burin_stop(BURIN_USER_MISTAKE, "the texts do not fit in memory");
        r->best = more;
    }
}

void burin_ranking_add(burin_ranking *r, double score, const char *text, size_t bytes) {
    r->seen++;
    if (r->n == r->most && !(score > r->best[r->n - 1].score)) return;
    char *copy = malloc(bytes + 1);
    if (!copy) burin_stop(BURIN_USER_MISTAKE, "the texts do not fit in memory");
    memcpy(copy, text, bytes);
    make_place(r);
    int64_t place = r->n++;
    for (; place > 0 && score > r->best[place - 1].score; place--)
        r->best[place] = r->best[place - 1];
    r->best[place] = (burin_ranked){score, r->seen, copy, bytes};
}

void burin_ranking_print(const burin_ranking *r, bool json) {
    for (int64_t i = 0; i < r->n; i++) {
        const burin_ranked *t = &r->best[i];
        if (json) {
            burin_print("{\"score\": %.6f, \"line\": %lld, \"text\": ", t->score,
                        (long long)t->line);
            burin_print_json_string(t->text, t->bytes);
            burin_print("}\n");
        } else {
            burin_print("%.6f\t", t->score);
            burin_print_text(t->text, t->bytes);
            burin_print("\n");
        }
    }
}

void burin_ranking_free(burin_ranking *r) {
    for (int64_t i = 0; i < r->n; i++) free(r->best[i].text);
    free(r->best);
}
