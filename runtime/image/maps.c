// The program of a network that judges each pixel: depth, or a label. The map has the picture's
// size: depth by bicubic interpolation, labels by the largest of their bilinear scores, as
// transformers' processors do it. --output writes it: F.png (depth in 16 bits from its least to its
// largest value, or the labels' numbers) or F.npy (depth in f32, labels in i32).
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "image/classify.h"
#include "image/picture_network.h"
#include "image/png_write.h"
#include "network/label_line.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "program/npy.h"
#include "program/output.h"

typedef struct pixel_map {
    burin_picture_network net;
    const burin_card *card;
    const float *scores;  // [channels][height][width]
    int64_t channels, height, width;
    int32_t rows, columns;  // of the picture
    float *depth;           // [rows][columns]; NULL: labels
    int32_t *label;         // [rows][columns]; NULL: depth
} pixel_map;

// ----------------------------------------------------------------------------------- interpolation
// Four elements around a position and their weights, torch's cubic convolution with a = -0.75.
typedef struct cubic_taps {
    int64_t at[4];
    float weight[4];
} cubic_taps;

static float cubic_near(float x) { return (1.25f * x - 2.25f) * x * x + 1; }
static float cubic_far(float x) { return ((-0.75f * x + 3.75f) * x - 6) * x + 3; }

static cubic_taps find_cubic_taps(int64_t i, int64_t from, int64_t to) {
    cubic_taps t;
    const float scale = (float)from / (float)to, real = scale * ((float)i + 0.5f) - 0.5f;
    int64_t first = (int64_t)real;
    if ((float)first > real) first--;
    const float part = real - (float)first;
    t.weight[0] = cubic_far(part + 1), t.weight[1] = cubic_near(part);
    t.weight[2] = cubic_near(1 - part), t.weight[3] = cubic_far(2 - part);
    for (int k = 0; k < 4; k++) {
        const int64_t at = first + k - 1;
        t.at[k] = at < 0 ? 0 : at < from ? at : from - 1;
    }
    return t;
}

static void fill_depth(const pixel_map *m) {
    for (int32_t y = 0; y < m->rows; y++) {
        const cubic_taps v = find_cubic_taps(y, m->height, m->rows);
        for (int32_t x = 0; x < m->columns; x++) {
            const cubic_taps h = find_cubic_taps(x, m->width, m->columns);
            float sum = 0;
            for (int i = 0; i < 4; i++) {
                const float *row = m->scores + v.at[i] * m->width;
                float of_row = 0;
                for (int k = 0; k < 4; k++) of_row += h.weight[k] * row[h.at[k]];
                sum += v.weight[i] * of_row;
            }
            m->depth[(size_t)y * (size_t)m->columns + (size_t)x] = sum;
        }
    }
}

// Two elements around a position, and the second one's part.
static float find_linear_taps(int64_t i, int64_t from, int64_t to, int64_t at[2]) {
    const float scale = (float)from / (float)to, real = scale * ((float)i + 0.5f) - 0.5f;
    const float position = real < 0 ? 0 : real;
    at[0] = (int64_t)position;
    at[1] = at[0] + (at[0] + 1 < from);
    return position - (float)at[0];
}

static int32_t label_of_pixel(const pixel_map *m, const int64_t *y, float down, const int64_t *x,
                              float right) {
    int32_t best = 0;
    float most = 0;
    for (int64_t c = 0; c < m->channels; c++) {
        const float *top = m->scores + (c * m->height + y[0]) * m->width,
                    *bottom = m->scores + (c * m->height + y[1]) * m->width;
        const float score = (1 - down) * ((1 - right) * top[x[0]] + right * top[x[1]]) +
                            down * ((1 - right) * bottom[x[0]] + right * bottom[x[1]]);
        if (c && !(score > most)) continue;
        most = score, best = (int32_t)c;
    }
    return best;
}

static void fill_labels(const pixel_map *m) {
    int64_t v[2], h[2];
    for (int32_t y = 0; y < m->rows; y++) {
        const float down = find_linear_taps(y, m->height, m->rows, v);
        for (int32_t x = 0; x < m->columns; x++) {
            const float right = find_linear_taps(x, m->width, m->columns, h);
            m->label[(size_t)y * (size_t)m->columns + (size_t)x] =
                label_of_pixel(m, v, down, h, right);
        }
    }
}

// --------------------------------------------------------------------------------------- printing
static void find_range(const pixel_map *m, float *least, float *largest) {
    const size_t n = (size_t)m->rows * (size_t)m->columns;
    *least = *largest = m->depth[0];
    for (size_t i = 1; i < n; i++) {
        if (m->depth[i] < *least) *least = m->depth[i];
        if (m->depth[i] > *largest) *largest = m->depth[i];
    }
}

static void print_depth(const pixel_map *m, const char *file) {
    const burin_command *c = m->net.command;
    float least, largest;
    find_range(m, &least, &largest);
    if (c->format && !strcmp(c->format, "json")) {
        burin_print("{\"file\": ");
        burin_print_json_string(file, strlen(file));
        burin_print(", \"width\": %d, \"height\": %d, \"least\": %.6f, \"largest\": %.6f}\n",
                    m->columns, m->rows, (double)least, (double)largest);
    } else {
        if (c->n_texts > 1) burin_print("%s\t", file);
        burin_print("%.6f\t%.6f\n", (double)least, (double)largest);
    }
    burin_show();
}

// The part of the pixels that each label has.
static void print_parts(const pixel_map *m, const char *file) {
    const size_t n = (size_t)m->rows * (size_t)m->columns;
    float *part = burin_allocate((size_t)m->channels, sizeof *part);
    int64_t *count = burin_allocate((size_t)m->channels, sizeof *count), seen = 0;
    memset(count, 0, (size_t)m->channels * sizeof *count);
    for (size_t i = 0; i < n; i++) seen += !count[m->label[i]]++;
    for (int64_t c = 0; c < m->channels; c++) part[c] = (float)((double)count[c] / (double)n);
    burin_command command = *m->net.command;
    if (!command.most_texts || command.most_texts > seen) command.most_texts = (int)seen;
    burin_print_labels(&command, m->card, file, part);
    free(part);
    free(count);
}

// ----------------------------------------------------------------------------------------- writing
static const char *write_map_array(const pixel_map *m, const char *path) {
    burin_array a = {.element = burin_element_named(m->depth ? "f32" : "i32"),
                     .rank = 2,
                     .dim = {m->rows, m->columns},
                     .count = (size_t)m->rows * (size_t)m->columns,
                     .data = m->depth ? (void *)m->depth : (void *)m->label};
    return burin_npy_write(&a, path);
}

static const char *write_map_picture(const pixel_map *m, const char *path) {
    const size_t n = (size_t)m->rows * (size_t)m->columns;
    uint16_t *values = burin_allocate(n, sizeof *values);
    float least = 0, largest = 0;
    if (m->depth) find_range(m, &least, &largest);
    const double range = largest > least ? (double)largest - (double)least : 1;
    for (size_t i = 0; i < n; i++)
        values[i] = m->depth
                        ? (uint16_t)(((double)m->depth[i] - (double)least) / range * 65535 + 0.5)
                        : (uint16_t)m->label[i];
    const char *why =
        burin_png_write(path, values, m->columns, m->rows, m->depth || m->channels > 256 ? 16 : 8);
    free(values);
    return why;
}

static void check_map_output(const burin_command *c) {
    if (!c->output) return;
    if (!burin_ends_with(c->output, ".png") && !burin_ends_with(c->output, ".npy"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--output %s: expected F.png or F.npy", c->output);
    if (c->n_texts > 1)
        burin_stop(BURIN_BAD_COMMAND_LINE, "--output %s: of one picture, here are %d", c->output,
                   c->n_texts);
    const char *why = burin_cannot_create(c->output);
    if (why) burin_stop(BURIN_USER_MISTAKE, "--output %s: %s", c->output, why);
}

static void map_one_picture(pixel_map *m, const char *file) {
    const burin_command *c = m->net.command;
    const burin_image size = burin_picture_network_load(&m->net, file);
    burin_picture_network_run(&m->net);
    m->rows = size.height, m->columns = size.width;
    const size_t n = (size_t)m->rows * (size_t)m->columns;
    const bool labels = m->card->n_labels > 0;
    m->label = labels ? burin_allocate(n, sizeof *m->label) : NULL;
    m->depth = labels ? NULL : burin_allocate(n, sizeof *m->depth);
    labels ? fill_labels(m) : fill_depth(m);
    if (c->output) {
        const char *why = burin_ends_with(c->output, ".png") ? write_map_picture(m, c->output)
                                                             : write_map_array(m, c->output);
        if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", c->output, why);
    }
    labels ? print_parts(m, file) : print_depth(m, file);
    free(m->label);
    free(m->depth);
}

int burin_map_pixels(const burin_model *model, const burin_command *c) {
    pixel_map m = {.card = burin_card_of(model)};
    if (burin_takes_tensors(c)) return burin_run_network(model, c);
    burin_need_picture(c, false);
    check_map_output(c);
    burin_picture_network_open(&m.net, model, c);
    const int output =
        burin_output_named(model->net, m.card->n_labels ? "logits" : "predicted_depth");
    const burin_tensor *t = &model->net->outputs[output];
    m.channels = t->rank == 3 ? t->dim[0] : 1;
    m.height = t->dim[t->rank - 2], m.width = t->dim[t->rank - 1];
    m.scores = m.net.outputs[output];
    for (int i = 0; i < c->n_texts; i++) map_one_picture(&m, c->texts[i]);
    burin_picture_network_close(&m.net);
    return 0;
}
