// A picture is cut into tiles as its model's processor does, each tile becomes rows by the encoder,
// and the text around the rows is made.
#include "image/eyes.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "engine/encoder.h"
#include "engine/hash.h"
#include "engine/network.h"
#include "image/anyres.h"
#include "image/cut.h"
#include "image/free_size.h"
#include "image/preprocess.h"
#include "program/output.h"

// --------------------------------------------------------------------------------------- the text
typedef struct sight_text {
    char *data;
    size_t n, room;
} sight_text;

static void append_around(sight_text *t, const char *text, size_t n) {
    if (t->n + n + 1 > t->room) {
        char *more = burin_allocate(1, t->room = 2 * t->room + n + 256);
        if (t->n) memcpy(more, t->data, t->n);
        free(t->data);
        t->data = more;
    }
    memcpy(t->data + t->n, text, n);
    t->n += n;
    t->data[t->n] = 0;
}

static void append_number(sight_text *t, int32_t number) {
    char digits[16];
    burin_format(digits, sizeof digits, "%d", number);
    append_around(t, digits, strlen(digits));
}

// The rows of a tile; of free sizes those of `lines` and `columns`, with e->line between lines.
static void append_rows(sight_text *t, const burin_eyes *e, int32_t lines, int32_t columns) {
    bool is_free = e->cut == BURIN_CUT_FREE;
    int32_t n = is_free                      ? lines * columns
                : e->cut == BURIN_CUT_ANYRES ? (int32_t)burin_anyres_rows(e, lines, columns)
                                             : e->tile_rows;
    for (int32_t i = 0; i < n; i++) {
        if (is_free && i && i % columns == 0)
            append_around(t, e->line, e->line ? strlen(e->line) : 0);
        append_around(t, e->row, strlen(e->row));
    }
}

// A pattern with "@" for the rows of a tile, "%r" and "%c" for its line and column, "%n" for a
// newline.
static void append_pattern(sight_text *t, const burin_eyes *e, const char *pattern, int32_t line,
                           int32_t column) {
    for (const char *c = pattern ? pattern : ""; *c; c++) {
        if (*c == '@')
            append_rows(t, e, line, column);
        else if (*c == '%' && c[1] == 'r')
            append_number(t, line + 1), c++;
        else if (*c == '%' && c[1] == 'c')
            append_number(t, column + 1), c++;
        else if (*c == '%' && c[1] == 'n')
            append_around(t, "\n", 1), c++;
        else
            append_around(t, c, 1);
    }
}

// Lines and columns of a picture's tiles, or of its rows.
static int32_t lines_of_sight(const burin_eyes *e, const burin_tiles *tiles) {
    return e->cut == BURIN_CUT_ANYRES ? tiles->kept_lines : tiles->lines;
}

static int32_t columns_of_sight(const burin_eyes *e, const burin_tiles *tiles) {
    return e->cut == BURIN_CUT_ANYRES ? tiles->kept_columns : tiles->columns;
}

static int64_t rows_of_sight(const burin_eyes *e, const burin_tiles *tiles) {
    return e->cut == BURIN_CUT_ANYRES ? burin_anyres_rows(e, tiles->kept_lines, tiles->kept_columns)
                                      : (int64_t)tiles->n * e->tile_rows;
}

static char *text_of_cut(const burin_eyes *e, const burin_tiles *tiles) {
    sight_text t = {0};
    append_around(&t, "", 0);
    if (e->cut == BURIN_CUT_FREE || e->cut == BURIN_CUT_ANYRES) {
        append_pattern(&t, e, e->alone, lines_of_sight(e, tiles), columns_of_sight(e, tiles));
        return t.data;
    }
    if (tiles->lines) append_pattern(&t, e, e->first, 0, 0);
    for (int32_t line = 0; line < tiles->lines; line++) {
        for (int32_t column = 0; column < tiles->columns; column++)
            append_pattern(&t, e, e->tile, line, column);
        append_pattern(&t, e, e->line, line, 0);
    }
    append_pattern(&t, e, tiles->lines ? e->overview : e->alone, 0, 0);
    return t.data;
}

// ---------------------------------------------------------------------------------------- the rows
static const char *encode_tile(burin_run *run, burin_image *tile, float *input, float *rows) {
    const burin_eyes *e = run->model->eyes;
    const char *why = burin_image_preprocess(tile, &e->picture, e->height, e->columns, input);
    if (why) return why;
    const void *inputs[] = {input};
    void *outputs[] = {rows};
    const int64_t symbols[1] = {0};
    burin_status status = burin_eyes_run(run->session, inputs, symbols, outputs);
    return status ? burin_status_text(status) : NULL;
}

static const char *encode_tiles(burin_run *run, burin_image *image, const burin_tiles *tiles,
                                float *rows) {
    const burin_eyes *e = run->model->eyes;
    size_t pixels = (size_t)e->height * (size_t)e->columns;
    float *input = burin_allocate(3 * pixels, sizeof *input);
    const char *why = NULL;
    for (int32_t i = 0; i < tiles->n && !why; i++) {
        burin_image tile;
        burin_tile_cut(image, e, tiles, i, &tile);
        why = encode_tile(run, &tile, input,
                          rows + (size_t)i * (size_t)e->tile_rows * (size_t)e->width);
        burin_image_close(&tile);
    }
    free(input);
    return why;
}

static const char *encode_anyres(burin_run *run, burin_image *image, const burin_tiles *tiles,
                                 float *rows) {
    const burin_eyes *e = run->model->eyes;
    size_t n = (size_t)tiles->n * (size_t)e->tile_rows * (size_t)e->width;
    float *of_tiles = burin_allocate(n, sizeof *of_tiles);
    const char *why = encode_tiles(run, image, tiles, of_tiles);
    if (!why) burin_anyres_arrange(e, tiles, of_tiles, rows);
    free(of_tiles);
    return why;
}

// Adds the picture to the run's, without its rows. -1: it has too many.
static int32_t add_sight(burin_run *run, uint64_t hash, const burin_tiles *tiles) {
    const burin_eyes *e = run->model->eyes;
    int64_t rows = rows_of_sight(e, tiles);
    if (rows > run->context) return -1;
    burin_sight *sight = burin_sights_add(&run->sights, hash, (int32_t)rows);
    sight->lines = lines_of_sight(e, tiles), sight->columns = columns_of_sight(e, tiles);
    sight->text = text_of_cut(e, tiles);
    return (int32_t)(sight - run->sights.items);
}

// True if the picture's size gives the tiles that an earlier run has told of.
static bool has_tiles(const burin_run *run, int32_t number, const burin_tiles *tiles) {
    const burin_sight *sight = &run->sights.items[number];
    const burin_eyes *e = run->model->eyes;
    return sight->lines == lines_of_sight(e, tiles) &&
           sight->columns == columns_of_sight(e, tiles) &&
           (int64_t)sight->n == rows_of_sight(e, tiles);
}

// Sets the number of the picture, which gets its rows unless `sized`.
static const char *see_image(burin_run *run, burin_image *image, uint64_t hash, bool sized,
                             int32_t *number) {
    const burin_eyes *e = run->model->eyes;
    burin_tiles tiles = {0};
    int64_t pixels = (int64_t)image->width * image->height;
    bool is_free = e->cut == BURIN_CUT_FREE;
    const char *why = is_free ? burin_free_resize(image, e, &tiles.lines, &tiles.columns)
                              : burin_tiles_of(image, e, &tiles);
    if (why) return why;
    if (is_free) tiles.n = tiles.lines * tiles.columns;
    if (*number >= 0 && !has_tiles(run, *number, &tiles))
        run->sights.items[*number].hash = 0, *number = -1;
    if (*number < 0) *number = add_sight(run, hash, &tiles);
    if (*number >= 0) run->sights.items[*number].pixels = pixels;
    if (*number < 0) {
        why = "it has more rows than the context has tokens";
    } else if (!sized) {
        burin_sight *sight = &run->sights.items[*number];
        sight->rows = burin_allocate((size_t)sight->n * (size_t)e->width, sizeof *sight->rows);
        why = is_free
                  ? burin_free_encode(run->session, image, tiles.lines, tiles.columns, sight->rows)
              : e->cut == BURIN_CUT_ANYRES ? encode_anyres(run, image, &tiles, sight->rows)
                                           : encode_tiles(run, image, &tiles, sight->rows);
    }
    burin_image_close(&tiles.whole);
    return why;
}

static int32_t read_picture(burin_run *run, const uint8_t *file, size_t bytes, bool sized,
                            const char **why) {
    uint64_t hash = burin_hash_bytes(burin_hash_start, file, bytes);
    int32_t number = burin_sights_find(&run->sights, hash);
    if (number >= 0 &&
        (run->sights.items[number].rows || (sized && run->sights.items[number].pixels)))
        return number;
    burin_image image;
    *why = burin_image_read(&image, file, bytes);
    if (!*why) *why = see_image(run, &image, hash, sized, &number);
    burin_image_close(&image);
    return *why ? -1 : number;
}

int32_t burin_recall(burin_run *run, uint64_t hash, int32_t lines, int32_t columns) {
    int32_t number = burin_sights_find(&run->sights, hash);
    if (number >= 0) return number;
    if (lines < 0 || columns < 0 || lines > run->context || columns > run->context ||
        (!lines != !columns && run->model->eyes->cut != BURIN_CUT_ANYRES) ||
        (int64_t)lines * columns >= run->context)
        return -1;
    int32_t whole = run->model->eyes->cut != BURIN_CUT_FREE;
    return add_sight(run, hash,
                     &(burin_tiles){.lines = lines,
                                    .columns = columns,
                                    .n = lines * columns + whole,
                                    .kept_lines = lines,
                                    .kept_columns = columns});
}

int32_t burin_see(burin_run *run, const uint8_t *file, size_t bytes, const char **why) {
    return read_picture(run, file, bytes, false, why);
}

int32_t burin_look(burin_run *run, const uint8_t *file, size_t bytes, const char **why) {
    return read_picture(run, file, bytes, true, why);
}
