// What goes on with a product's heads: each once, and not before all of its columns are there (engine/heads.h).
#include "engine/heads.h"

#include <math.h>
#include <stdlib.h>

#include "unit.h"

enum { COLUMNS_MOST = 24 * LANES, ROWS = 40, UNITS_MOST = 24 * 7 };

typedef struct Product {
    int panels, each, rows;
    float w[COLUMNS_MOST], y[ROWS][COLUMNS_MOST];
    int complete[24];
    bool early;
} Product;

static void store(const void *context, vf sum, int row, int column) {
    vf_store(((Product *)(uintptr_t)context)->y[row] + column, sum);
}

static void compute(Product *p, burin_part units) {
    static const float ones[ROWS] = {0};
    matmul_args m = {.panels = p->panels, .k = 1, .x_stride = 1, .rows = p->rows, .x = ones, .w = p->w, .units = units};
    matmul_f32(m, store, p);
}

static bool is_there(const Product *p, int head) {
    for (int row = 0; row < p->rows; row++)
        for (int i = head * p->each * LANES; i < (head + 1) * p->each * LANES; i++)
            if (isnan(p->y[row][i])) return false;
    return true;
}

// Units in pieces of random sizes, in any order; counts of heads begin at 3
static void run_in_pieces(Product *p, const burin_step *s) {
    int units = matmul_units(p->panels, p->rows), n = 0;
    burin_part piece[UNITS_MOST];
    for (int at = 0; at < units; n++) {
        int most = 1 + rand() % (units - at), size = rand() % 2 ? most : most < 5 ? most : 5;
        piece[n] = (burin_part){at, at + size}, at += size;
    }
    for (int left = n; left > 0; left--) {
        int i = rand() % left;
        burin_part part = piece[i];
        piece[i] = piece[left - 1];
        compute(p, part);
        burin_heads heads = burin_heads_within(part, p->panels, p->each, 3, p->rows);
        while (burin_next_head(s, &heads)) p->complete[heads.head]++, p->early |= !is_there(p, heads.head);
    }
}

static bool goes_on_once(int panels, int each, int rows) {
    static burin_barrier barrier;
    static Product p;
    burin_step s = {.threads = 2, .barrier = &barrier};
    p = (Product){.panels = panels, .each = each, .rows = rows};
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS_MOST; i++) p.y[row][i] = NAN;
    run_in_pieces(&p, &s);
    bool good = !p.early;
    for (int i = 0; i < panels / each; i++) good &= p.complete[i] == 1;
    for (int i = 0; i < BURIN_HEADS; i++) good &= barrier.heads[i] == 0;
    return good;
}

static void each_head_once(void) {
    static const int shape[][2] = {{24, 1}, {24, 2}, {15, 3}, {24, 4}, {10, 5}, {18, 6}, {24, 8}, {12, 12}};
    srand(1);
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int rows = 1; rows <= ROWS; rows++)
            for (int turn = 0; turn < 4; turn++) CHECK(goes_on_once(shape[i][0], shape[i][1], rows));
}

SUITE(heads) { TEST(each_head_once); }
