// What quantizing lost, as the root of the mean square of the difference over that of the weights:
// in a line, and by
// --quant-report matrix by matrix. With --calibrate columns count as much as there: so much a
// product's results lose.
#include <math.h>
#include <stdlib.h>

#include "ir/format.h"
#include "lower/lowering.h"

typedef struct {
    const char *name, *format;
    double error;
} Line;

typedef struct {
    Line *lines;
    int n, room;
    QuantError sum;
} Report;

static void add_piece(Report *r, const PackedWeight *w) {
    if (w->format && w->format->blocks && format_is_exact(w->format->blocks)) return;
    for (int i = 0; w->errors && i < w->node->n_in; i++) {
        const QuantError *e = &w->errors[i];
        const Tensor *t = w->node->in[i]->value;
        if (!(e->all > 0)) continue;
        if (r->n == r->room)
            r->lines = realloc(r->lines, (size_t)(r->room = 2 * r->room + 16) * sizeof *r->lines);
        if (!r->lines) diag_fatal(NO_LOC, "out of memory");
        r->lines[r->n++] = (Line){t->name ? t->name : w->node->in[i]->name, w->format->name,
                                  sqrt(e->lost / e->all)};
        r->sum.lost += e->lost;
        r->sum.all += e->all;
    }
}

static void add_program(Report *r, const Program *p) {
    if (p->encoder) add_program(r, p->encoder);
    for (int i = 0; i < p->n_weights; i++) add_piece(r, p->weights[i]);
}

static int worst_first(const void *a, const void *b) {
    const Line *x = a, *y = b;
    return x->error < y->error ? 1 : x->error > y->error ? -1 : x < y ? -1 : x > y;
}

static Report report_of(const Program *p) {
    Report r = {0};
    add_program(&r, p);
    if (r.n) qsort(r.lines, (size_t)r.n, sizeof *r.lines, worst_first);
    return r;
}

void quant_summary(const Program *p, Text *t) {
    enum { NAMED = 3 };
    Report r = report_of(p);
    if (r.n) {
        text_add(t, "quantized %d matrices: error %.4f of the weights' rms; the worst", r.n,
                 sqrt(r.sum.lost / r.sum.all));
        for (int i = 0; i < r.n && i < NAMED; i++)
            text_spell(t, "%s %s %.4f", i ? "," : "", r.lines[i].name, r.lines[i].error);
        text_add(t, "%s\n", r.n > NAMED ? "; --quant-report lists all" : "");
    }
    free(r.lines);
}

void quant_report(const Program *p, Text *t) {
    Report r = report_of(p);
    text_add(t,
             "error     format   matrix (rms of the difference / rms of the weights; --calibrate "
             "weighs columns)\n");
    for (int i = 0; i < r.n; i++)
        text_spell(t, "%-9.5f %-8s %s\n", r.lines[i].error, r.lines[i].format, r.lines[i].name);
    if (r.n)
        text_add(t, "%-9.5f of all %d matrices that were quantized\n", sqrt(r.sum.lost / r.sum.all),
                 r.n);
    free(r.lines);
}
