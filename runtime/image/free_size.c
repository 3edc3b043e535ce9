// Pictures of free sizes. Patches are in groups of merge x merge, which become one row each; groups
// are in lines. The inputs of the encoder, by their names:
//
//   pixel_values [G][merge * merge][3 * patch * patch]   values of a patch: channel, line, column
//   place        [G][merge * merge][2]                   line and column of a patch in the picture
//   grid         [2]                                     lines and columns of patches
//   windows      [W][side * side]                        groups of a window; 0 where it has none
//   inside       [W][side * side]                        1 where a window has a group
//   window_place [G]                                     place of a group in `windows`
#include "image/free_size.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "engine/network.h"
#include "image/preprocess.h"
#include "image/resize.h"

static char free_size_reason[160];

static int64_t larger_of(int64_t a, int64_t b) { return a > b ? a : b; }

// ------------------------------------------------------------------------------------------- size
// The nearest multiple, of two equally near ones that of an even factor.
static int64_t nearest_multiple(int64_t pixels, int64_t factor) {
    int64_t n = pixels / factor, rest = 2 * (pixels % factor);
    return (n + (rest > factor || (rest == factor && n % 2))) * factor;
}

// Qwen2-VL: both sides become multiples of a group, the picture e->least to e->most pixels.
static void size_by_pixels(const burin_eyes *e, int64_t *height, int64_t *width) {
    int64_t factor = (int64_t)e->patch * e->merge;
    if (e->enlarge && (*height < factor || *width < factor)) {
        double up = (double)factor / (double)*height, across = (double)factor / (double)*width;
        if (across > up) up = across;
        *height = (int64_t)((double)*height * up), *width = (int64_t)((double)*width * up);
    }
    double h = (double)*height, w = (double)*width;
    *height = nearest_multiple(*height, factor), *width = nearest_multiple(*width, factor);
    if (*height * *width > e->most) {
        double beta = sqrt(h * w / e->most), f = (double)factor;
        *height = larger_of(factor, (int64_t)floor(h / beta / f) * factor);
        *width = larger_of(factor, (int64_t)floor(w / beta / f) * factor);
    } else if (*height * *width < e->least) {
        double beta = sqrt(e->least / (h * w)), f = (double)factor;
        *height = (int64_t)ceil(h * beta / f) * factor;
        *width = (int64_t)ceil(w * beta / f) * factor;
    }
}

// Gemma 4: as many pixels as e->most allows, both sides rounded down to a group. False: a side of
// the picture is shorter than that of a pixel.
static bool size_to_fill(const burin_eyes *e, int64_t *height, int64_t *width) {
    int64_t group = (int64_t)e->patch * e->merge, longest = e->most / (group * group);
    int64_t h = *height, w = *width;
    double factor = sqrt((double)e->most / (double)(h * w));
    *height = (int64_t)floor(factor * (double)h / (double)group) * group;
    *width = (int64_t)floor(factor * (double)w / (double)group) * group;
    if (!*height && !*width) return false;
    if (!*height) *height = group, *width = (w / h < longest ? w / h : longest) * group;
    if (!*width) *width = group, *height = (h / w < longest ? h / w : longest) * group;
    return *height * *width <= e->most;
}

// Pixtral: no side is longer than e->longest; then both are rounded up to a group.
static void size_by_longest(const burin_eyes *e, int64_t *height, int64_t *width) {
    int64_t group = (int64_t)e->patch * e->merge;
    double h = (double)*height / e->longest, w = (double)*width / e->longest, ratio = h > w ? h : w;
    if (ratio > 1) {
        *height = larger_of(1, (int64_t)floor((double)*height / ratio));
        *width = larger_of(1, (int64_t)floor((double)*width / ratio));
    }
    *height = ((*height - 1) / group + 1) * group;
    *width = ((*width - 1) / group + 1) * group;
}

static const char *refuse_size(const char *format, int64_t a, int64_t b) {
    burin_format(free_size_reason, sizeof free_size_reason, format, (long long)a, (long long)b);
    return free_size_reason;
}

const char *burin_free_resize(burin_image *image, const burin_eyes *e, int32_t *lines,
                              int32_t *columns) {
    enum { MOST_RATIO = 200 };
    int64_t height = image->height, width = image->width, group = (int64_t)e->patch * e->merge;
    if (height > MOST_RATIO * width || width > MOST_RATIO * height)
        return "one side is more than 200 times the other";
    if (e->fill && !size_to_fill(e, &height, &width)) return "its sides differ too much";
    if (e->fill)
        (void)0;
    else if (e->longest)
        size_by_longest(e, &height, &width);
    else
        size_by_pixels(e, &height, &width);
    const burin_network *net = e->encoder->net;
    int64_t most = e->encoder->max_rows, rows = height / group * (width / group);
    if (net->rows >= 0 && rows > most)
        return refuse_size("it becomes %lld rows, and this program takes %lld: make it smaller",
                           rows, most);
    burin_image_resize(image, (int32_t)width, (int32_t)height,
                       (burin_resampling)e->picture.resample);
    *lines = (int32_t)(height / group), *columns = (int32_t)(width / group);
    return NULL;
}

// ------------------------------------------------------------------------------------------ inputs
typedef struct free_picture {
    const burin_eyes *eyes;
    const burin_image *image;
    int32_t lines, columns;  // of groups
    int32_t side;            // groups of a window's side
    float *values;
    int32_t *place, *windows, *inside, *window_place;
    int32_t grid[2], n_windows;
} free_picture;

static void fill_patches(free_picture *f) {
    const burin_eyes *e = f->eyes;
    int32_t merge = e->merge, size = e->patch, *place = f->place;
    float *to = f->values;
    for (int32_t i = 0; i < f->lines * f->columns * merge * merge; i++) {
        int32_t group = i / (merge * merge), within = i % (merge * merge);
        int32_t line = group / f->columns * merge + within / merge;
        int32_t column = group % f->columns * merge + within % merge;
        *place++ = line, *place++ = column;
        for (int c = 0; c < 3; c++) {
            for (int32_t y = line * size; y < (line + 1) * size; y++) {
                const uint8_t *from = f->image->pixels + 3 * ((size_t)y * (size_t)f->image->width +
                                                              (size_t)column * (size_t)size);
                for (int32_t x = 0; x < size; x++)
                    *to++ = burin_preprocess_byte(&e->picture, c, from[3 * x + c]);
            }
        }
    }
}

static void fill_windows(free_picture *f) {
    int32_t side = f->side, across = (f->columns + side - 1) / side;
    f->n_windows = (f->lines + side - 1) / side * across;
    for (int32_t i = 0; i < f->n_windows * side * side; i++) {
        int32_t window = i / (side * side), within = i % (side * side);
        int32_t line = window / across * side + within / side;
        int32_t column = window % across * side + within % side;
        f->inside[i] = line < f->lines && column < f->columns;
        f->windows[i] = f->inside[i] ? line * f->columns + column : 0;
        if (f->inside[i]) f->window_place[line * f->columns + column] = i;
    }
}

static const void *free_input(const free_picture *f, const char *name) {
    return !strcmp(name, "pixel_values")   ? (const void *)f->values
           : !strcmp(name, "place")        ? f->place
           : !strcmp(name, "grid")         ? f->grid
           : !strcmp(name, "windows")      ? f->windows
           : !strcmp(name, "inside")       ? f->inside
           : !strcmp(name, "window_place") ? f->window_place
                                           : NULL;
}

static int64_t symbol_named(const free_picture *f, const char *name) {
    return !strcmp(name, "W") ? f->n_windows : (int64_t)f->lines * f->columns;
}

static const char *run_free(burin_session *session, const free_picture *f, float *rows) {
    enum { MOST_INPUTS = 8 };
    const burin_network *net = f->eyes->encoder->net;
    const void *inputs[MOST_INPUTS];
    int64_t symbols[MOST_INPUTS];
    if (net->n_inputs > MOST_INPUTS || net->n_symbols > MOST_INPUTS)
        return "the encoder is unknown";
    for (int i = 0; i < net->n_inputs; i++) inputs[i] = free_input(f, net->inputs[i].name);
    for (int i = 0; i < net->n_symbols; i++) symbols[i] = symbol_named(f, net->symbols[i].name);
    for (int i = 0; i < net->n_symbols; i++)
        if (symbols[i] > net->symbols[i].upper)
            return refuse_size(
                "it becomes %lld windows, and this program takes %lld: make it smaller", symbols[i],
                net->symbols[i].upper);
    burin_status status = burin_eyes_run(session, inputs, symbols, (void *const[]){rows});
    return status ? burin_status_text(status) : NULL;
}

const char *burin_free_encode(burin_session *session, const burin_image *image, int32_t lines,
                              int32_t columns, float *rows) {
    const burin_eyes *e = session->model->eyes;
    size_t groups = (size_t)lines * (size_t)columns,
           patches = groups * (size_t)(e->merge * e->merge);
    free_picture f = {.eyes = e, .image = image, .lines = lines, .columns = columns};
    f.grid[0] = lines * e->merge, f.grid[1] = columns * e->merge;
    f.side = e->window_rows;
    size_t padded = f.side ? (size_t)((lines + f.side - 1) / f.side * f.side) *
                                 (size_t)((columns + f.side - 1) / f.side * f.side)
                           : 0;
    f.values = burin_allocate(3 * patches * (size_t)(e->patch * e->patch), sizeof *f.values);
    f.place = burin_allocate(2 * patches, sizeof *f.place);
    f.windows = burin_allocate(2 * padded + groups + 1, sizeof *f.windows);
    f.inside = f.windows + padded, f.window_place = f.inside + padded;
    fill_patches(&f);
    if (f.side) fill_windows(&f);
    const char *why = run_free(session, &f, rows);
    free(f.values);
    free(f.place);
    free(f.windows);
    return why;
}
