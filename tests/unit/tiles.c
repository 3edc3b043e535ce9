// Tile fusion: each tile is consumed once, after all of its columns are finished (engine/tiles.h).
#include "engine/tiles.h"

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

static void compute(Product *p, burin_range units) {
    static const float ones[ROWS] = {0};
    matmul_args m = {.panels = p->panels,
                     .k = 1,
                     .x_stride = 1,
                     .rows = p->rows,
                     .x = ones,
                     .w = p->w,
                     .units = units};
    matmul_f32(m, store, p);
}

static bool is_there(const Product *p, int tile) {
    for (int row = 0; row < p->rows; row++)
        for (int i = tile * p->each * LANES; i < (tile + 1) * p->each * LANES; i++)
            if (isnan(p->y[row][i])) return false;
    return true;
}

// Units in tiles of random sizes, in any order; counts begin at 3
static void run_in_tiles(Product *p, const burin_step *s) {
    int units = matmul_units(p->panels, p->rows), n = 0;
    burin_range tile[UNITS_MOST];
    for (int at = 0; at < units; n++) {
        int most = 1 + rand() % (units - at), size = rand() % 2 ? most : most < 5 ? most : 5;
        tile[n] = (burin_range){at, at + size};
        at += size;
    }
    for (int left = n; left > 0; left--) {
        int i = rand() % left;
        burin_range range = tile[i];
        tile[i] = tile[left - 1];
        compute(p, range);
        burin_tiles tiles = burin_finished_tiles(range, p->panels, p->each, 3, p->rows);
        while (burin_next_tile(s, &tiles)) {
            p->complete[tiles.tile]++;
            p->early |= !is_there(p, tiles.tile);
        }
    }
}

static bool goes_on_once(int panels, int each, int rows) {
    static burin_barrier barrier;
    static Product p;
    burin_step s = {.threads = 2, .barrier = &barrier};
    p = (Product){.panels = panels, .each = each, .rows = rows};
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < COLUMNS_MOST; i++) p.y[row][i] = NAN;
    run_in_tiles(&p, &s);
    bool good = !p.early;
    for (int i = 0; i < panels / each; i++) good &= p.complete[i] == 1;
    for (int i = 0; i < BURIN_MAX_TILES; i++) good &= barrier.done[i] == 0;
    return good;
}

static void each_piece_once(void) {
    static const int shape[][2] = {{24, 1}, {24, 2}, {15, 3}, {24, 4},
                                   {10, 5}, {18, 6}, {24, 8}, {12, 12}};
    srand(1);
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int rows = 1; rows <= ROWS; rows++)
            for (int turn = 0; turn < 4; turn++)
                CHECK(goes_on_once(shape[i][0], shape[i][1], rows));
}

// Heads by blocks of rows, in parts of random sizes in any order: each head when its last block is
// done
static bool attends_once(int heads, int rows) {
    static burin_barrier barrier;
    burin_step s = {.threads = 2, .barrier = &barrier};
    int units = attention_units(heads, rows), blocks = units / heads, first[UNITS_MOST],
        last[UNITS_MOST], n = 0;
    int done[24] = {0}, complete[24] = {0};
    bool good = true;
    for (int at = 0; at < units; at = last[n++]) {
        first[n] = at;
        last[n] = at + 1 + rand() % (units - at);
    }
    for (int left = n; left > 0; left--) {
        int i = rand() % left;
        for (int unit = first[i]; unit < last[i]; unit++) done[unit / blocks]++;
        burin_tiles tiles = burin_finished_heads((burin_range){first[i], last[i]}, 5, rows);
        while (burin_next_tile(&s, &tiles)) {
            complete[tiles.tile]++;
            good &= done[tiles.tile] == blocks;
        }
        first[i] = first[left - 1];
        last[i] = last[left - 1];
    }
    for (int i = 0; i < heads; i++) good &= complete[i] == 1;
    for (int i = 0; i < BURIN_MAX_TILES; i++) good &= barrier.done[i] == 0;
    return good;
}

static void each_head_once(void) {
    srand(2);
    for (int heads = 1; heads <= 24; heads++)
        for (int rows = 1; rows <= 7 * ATTENTION_ROWS; rows += 9) CHECK(attends_once(heads, rows));
}

static void what_of_a_piece(void) {
    burin_tiles p = {.tile = 5};
    CHECK(burin_tile_in(&p, 5, 1) && burin_tile_in(&p, 0, 6) && !burin_tile_in(&p, 0, 5));
    CHECK(!burin_tile_in(&p, 6, 3));
    burin_range heads = burin_tile_range(&p, 3, 1), blocks = burin_tile_range(&p, 0, 2);
    CHECK(heads.first == 2 && heads.last == 3 && blocks.first == 10 && blocks.last == 12);
}

SUITE(tiles) {
    TEST(each_piece_once);
    TEST(each_head_once);
    TEST(what_of_a_piece);
}
