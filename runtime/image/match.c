// The program of a model of pictures and texts (CLIP, SigLIP): which texts fit a picture, which
// pictures fit a text (--rank), or the embeddings of either.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/allocate.h"
#include "engine/element.h"
#include "engine/network.h"
#include "image/classify.h"
#include "image/embeddings.h"
#include "image/picture_network.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/scores.h"
#include "program/input.h"
#include "program/output.h"
#include "text/prompt.h"
#include "tokenizer/prompt_ids.h"

typedef struct matcher {
    burin_picture_network net;
    const burin_pairing *settings;
    int text_input, image_output, text_output;
    int64_t width;
    const char **picture, **text;  // [n_pictures], [n_texts]
    int n_pictures, n_texts;
    float *images, *texts;  // [..][width]
} matcher;

// ---------------------------------------------------------------------------------------- arguments
static bool ends_as_picture(const char *name) {
    static const char *const ends[] = {".jpg", ".jpeg", ".png",  ".gif", ".bmp",
                                       ".ppm", ".pgm",  ".webp", ".tif", ".tiff"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (!strcasecmp(dot, ends[i])) return true;
    return false;
}

// A file that is there, standard input, or a name that ends as those of pictures do.
static bool is_picture(const char *argument) {
    struct stat about;
    return !strcmp(argument, "-") || ends_as_picture(argument) ||
           (!stat(argument, &about) && S_ISREG(about.st_mode));
}

static void sort_arguments(matcher *m, char **argument, int n) {
    m->picture = burin_allocate((size_t)n + 1, sizeof *m->picture);
    m->text = burin_allocate((size_t)n + 1, sizeof *m->text);
    for (int i = 0; i < n; i++) {
        bool picture = m->net.command->rank || is_picture(argument[i]);
        if (picture)
            m->picture[m->n_pictures++] = argument[i];
        else
            m->text[m->n_texts++] = argument[i];
    }
}

// Pictures named in the lines of -f FILE.
static char **read_names(const char *path, int *n) {
    size_t bytes;
    char *all = (char *)burin_read_bytes(path, BURIN_MOST_TEXT, &bytes);
    char **name = burin_allocate(bytes / 2 + 2, sizeof *name);
    *n = 0;
    for (char *line = all, *end = all + bytes, *next; line < end; line = next) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        next = line + length + 1;
        if (!length) continue;
        char *copy = name[(*n)++] = burin_allocate(length + 1, 1);
        memcpy(copy, line, length), copy[length] = 0;
    }
    free(all);
    return name;
}

// -------------------------------------------------------------------------------------------- runs
static void set_text(matcher *m, const char *text) {
    const burin_network *net = m->net.model->net;
    const burin_pairing *s = m->settings;
    burin_tokens t = burin_tokenize(m->net.model, text, strlen(text), true);
    size_t n = burin_cut_ids(m->net.model, burin_tokenizer_of(m->net.model), t.id, (size_t)t.n,
                             (size_t)t.n);
    size_t most = (size_t)s->length, rows = s->pad >= 0 ? most : n < most ? n : most;
    bool wide = burin_element_named(net->inputs[m->text_input].type)->bytes == 8;
    char *ids = burin_allocate(rows + 1, 8);
    if (!rows) burin_stop(BURIN_USER_MISTAKE, "a text has no tokens");
    for (size_t i = 0; i < rows; i++) {
        int64_t id = i < n ? t.id[i] : s->pad;
        int32_t narrow = (int32_t)id;
        memcpy(ids + i * (wide ? 8 : 4), wide ? (void *)&id : (void *)&narrow, wide ? 8 : 4);
    }
    free((void *)(uintptr_t)m->net.inputs[m->text_input]);
    m->net.inputs[m->text_input] = ids;
    m->net.symbols[0] = (int64_t)rows;
    free(t.id);
}

static void keep_row(const matcher *m, float *to, int i, int output) {
    memcpy(to + (size_t)i * (size_t)m->width, m->net.outputs[output],
           (size_t)m->width * sizeof *to);
}

// A run reads a picture and a text: the next of each, as long as there are more.
static void embed_all(matcher *m) {
    int runs = m->n_pictures > m->n_texts ? m->n_pictures : m->n_texts;
    m->images = burin_allocate((size_t)(m->n_pictures + 1) * (size_t)m->width, sizeof *m->images);
    m->texts = burin_allocate((size_t)(m->n_texts + 1) * (size_t)m->width, sizeof *m->texts);
    if (!m->n_texts) set_text(m, "a");
    for (int i = 0; i < runs; i++) {
        if (i < m->n_pictures) burin_picture_network_load(&m->net, m->picture[i]);
        if (i < m->n_texts) set_text(m, m->text[i]);
        burin_picture_network_run(&m->net);
        if (i < m->n_pictures) keep_row(m, m->images, i, m->image_output);
        if (i < m->n_texts) keep_row(m, m->texts, i, m->text_output);
    }
}

static float logit_of(const matcher *m, int picture, int text) {
    const float *a = m->images + (size_t)picture * (size_t)m->width;
    const float *b = m->texts + (size_t)text * (size_t)m->width;
    double sum = 0;
    for (int64_t i = 0; i < m->width; i++) sum += (double)a[i] * (double)b[i];
    return (float)(sum * (double)m->settings->scale + (double)m->settings->bias);
}

// ----------------------------------------------------------------------------------------- results
static bool match_is_json(const burin_command *c) {
    return c->format && !strcmp(c->format, "json");
}

static void print_matches(const matcher *m, int picture, const burin_scored *best, int64_t n) {
    const burin_command *c = m->net.command;
    if (match_is_json(c)) {
        burin_print("{\"file\": ");
        burin_print_json_string(m->picture[picture], strlen(m->picture[picture]));
        burin_print(", \"texts\": [");
    } else if (m->n_pictures > 1) {
        burin_print("%s\t", m->picture[picture]);
    }
    for (int64_t i = 0; i < n; i++) {
        const char *text = m->text[best[i].column];
        if (match_is_json(c)) {
            burin_print(i ? ", {\"text\": " : "{\"text\": ");
            burin_print_json_string(text, strlen(text));
            burin_print(", \"score\": %.6f}", (double)best[i].score);
        } else {
            burin_print("%-s%s\t%.6f", i ? "\t" : "", text, (double)best[i].score);
        }
    }
    burin_print(match_is_json(c) ? "]}\n" : "\n");
    burin_show();
}

static void print_texts_of_pictures(const matcher *m) {
    int64_t most = m->net.command->most_texts;
    if (!most || most > m->n_texts) most = m->n_texts;
    float *logit = burin_allocate((size_t)m->n_texts, sizeof *logit);
    float *score = burin_allocate((size_t)m->n_texts, sizeof *score);
    burin_scored *best = burin_allocate((size_t)m->n_texts, sizeof *best);
    for (int p = 0; p < m->n_pictures; p++) {
        for (int t = 0; t < m->n_texts; t++) logit[t] = logit_of(m, p, t);
        burin_scores(m->settings->sigmoid ? BURIN_SIGMOID : BURIN_SOFTMAX, logit, m->n_texts,
                     score);
        print_matches(m, p, best, burin_best_scores(score, m->n_texts, most, best));
    }
    free(logit);
    free(score);
    free(best);
}

static void print_ranked_pictures(const matcher *m) {
    int64_t most = m->net.command->most_texts, n = m->n_pictures;
    if (!most) most = 10;
    float *cosine = burin_allocate((size_t)n + 1, sizeof *cosine);
    burin_scored *best = burin_allocate((size_t)n + 1, sizeof *best);
    for (int p = 0; p < n; p++)
        cosine[p] = (logit_of(m, p, 0) - m->settings->bias) / m->settings->scale;
    n = burin_best_scores(cosine, n, most < n ? most : n, best);
    for (int64_t i = 0; i < n; i++) {
        const char *name = m->picture[best[i].column];
        if (match_is_json(m->net.command)) {
            burin_print("{\"score\": %.6f, \"file\": ", (double)best[i].score);
            burin_print_json_string(name, strlen(name));
            burin_print("}\n");
        } else {
            burin_print("%.6f\t%s\n", (double)best[i].score, name);
        }
    }
    burin_show();
    free(cosine);
    free(best);
}

static void print_all_embeddings(const matcher *m, const char *output, const char *what,
                                 const char **names, int n, const float *rows) {
    burin_embeddings e;
    if (!n) return;
    burin_embeddings_open(&e, m->net.command, output, m->width);
    for (int i = 0; i < n; i++)
        burin_embeddings_add(&e, what, names[i], rows + (size_t)i * (size_t)m->width);
    burin_embeddings_close(&e);
}

static void print_results(const matcher *m) {
    const burin_command *c = m->net.command;
    bool array = c->output || (c->format && !strcmp(c->format, "npy"));
    if (array && !c->output && m->n_pictures && m->n_texts)
        burin_stop(BURIN_USER_MISTAKE,
                   "--format npy: pictures and texts are two arrays\nhint: --output DIR");
    if (c->rank) {
        print_ranked_pictures(m);
    } else if (!array && m->n_pictures && m->n_texts) {
        print_texts_of_pictures(m);
    } else {
        print_all_embeddings(m, "image_embeds", "file", m->picture, m->n_pictures, m->images);
        print_all_embeddings(m, "text_embeds", "text", m->text, m->n_texts, m->texts);
    }
}

int burin_match_pictures(const burin_model *model, const burin_command *c) {
    const burin_network *net = model->net;
    matcher m = {.settings = burin_card_pairing(model)};
    char **names = c->texts;
    int n = c->n_texts;
    if (burin_takes_tensors(c) || (c->output && !n)) return burin_run_network(model, c);
    if (c->prompt_file) names = read_names(c->prompt_file, &n);
    if (!n)
        burin_stop(BURIN_USER_MISTAKE, "which picture?\nhint: %s photo.png \"a cat\" \"a dog\"",
                   burin_program_name);
    burin_picture_network_open(&m.net, model, c);
    m.text_input = net->tokens;
    m.image_output = burin_output_named(net, "image_embeds");
    m.text_output = burin_output_named(net, "text_embeds");
    m.width = net->outputs[m.image_output].dim[0];
    sort_arguments(&m, names, n);
    if (c->rank) m.text[m.n_texts++] = c->rank;
    embed_all(&m);
    print_results(&m);
    burin_picture_network_close(&m.net);
    return 0;
}
