// The program of an image classifier: each file of the command line is read, preprocessed, run, and
// its labels printed.
#include "image/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/element.h"
#include "engine/network.h"
#include "image/preprocess.h"
#include "network/labels.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/scores.h"
#include "program/input.h"
#include "program/output.h"
#include "text/run.h"

typedef struct classifier {
    const burin_model *model;
    const burin_command *command;
    const burin_card *card;
    const burin_picture *picture;
    burin_session *session;
    int64_t *symbols;
    float *input;    // [3][height][width]
    void **outputs;  // by output
    float *score;    // [n_labels]
    int logits;      // its number among the outputs
    bool several;    // more than one picture: lines begin with their names
} classifier;

static size_t tensor_bytes(const classifier *k, const burin_tensor *t) {
    size_t bytes = (size_t)burin_element_named(t->type)->bytes;
    for (int i = 0; i < t->rank; i++)
        bytes *= (size_t)burin_network_dim(k->model->net, t->dim[i], k->symbols);
    return bytes;
}

static void open_classifier(classifier *k) {
    const burin_network *net = k->model->net;
    k->symbols =
        burin_allocate((size_t)(net->n_symbols + net->n_data_dependent) + 1, sizeof *k->symbols);
    k->input = burin_allocate(1, tensor_bytes(k, &net->inputs[0]));
    k->outputs = burin_allocate((size_t)net->n_outputs, sizeof *k->outputs);
    for (int i = 0; i < net->n_outputs; i++)
        k->outputs[i] = burin_allocate(1, tensor_bytes(k, &net->outputs[i]));
    k->score = burin_allocate(k->card->n_labels, sizeof *k->score);
    k->logits = burin_logits_output(net);
    k->session = burin_open(k->model, k->command, &(burin_options){.symbols = k->symbols});
}

static void close_classifier(classifier *k) {
    burin_close(k->session);
    for (int i = 0; i < k->model->net->n_outputs; i++) free(k->outputs[i]);
    free(k->outputs);
    free(k->input);
    free(k->score);
    free(k->symbols);
}

static void print_json_labels(const char *path, const burin_card *card, const burin_scored *best,
                              int64_t n) {
    burin_print("{\"file\": ");
    burin_print_json_string(path, strlen(path));
    burin_print(", \"labels\": [");
    for (int64_t i = 0; i < n; i++) {
        const char *name = burin_card_label(card, (uint32_t)best[i].column);
        burin_print(i ? ", {\"label\": " : "{\"label\": ");
        burin_print_json_string(name, strlen(name));
        burin_print(", \"score\": %.6f}", (double)best[i].score);
    }
    burin_print("]}\n");
}

static void print_picture_labels(const classifier *k, const char *path) {
    bool json = k->command->format && !strcmp(k->command->format, "json");
    int64_t n = k->card->n_labels, most = k->command->most_texts;
    if (!most) most = json ? n : 1;
    if (most > n) most = n;
    burin_scored *best = burin_allocate((size_t)most + 1, sizeof *best);
    n = burin_best_scores(k->score, n, most, best);
    if (json) {
        print_json_labels(path, k->card, best, n);
    } else {
        if (k->several) burin_print("%s\t", path);
        for (int64_t i = 0; i < n; i++)
            burin_print("%-s%s\t%.6f", i ? "\t" : "",
                        burin_card_label(k->card, (uint32_t)best[i].column), (double)best[i].score);
        burin_print("\n");
    }
    burin_show();
    free(best);
}

static void classify_file(classifier *k, const char *path) {
    const burin_tensor *t = &k->model->net->inputs[0];
    int32_t height = (int32_t)burin_network_dim(k->model->net, t->dim[1], k->symbols);
    int32_t width = (int32_t)burin_network_dim(k->model->net, t->dim[2], k->symbols);
    burin_image image;
    size_t bytes;
    uint8_t *file = burin_read_bytes(path, BURIN_MOST_PICTURE, &bytes);
    const char *why = burin_image_read(&image, file, bytes);
    free(file);
    if (!why) why = burin_image_preprocess(&image, k->picture, height, width, k->input);
    burin_image_close(&image);
    if (why)
        burin_stop(BURIN_USER_MISTAKE, "%s: %s\nhint: pictures are %sPPM, PGM and BMP files", path,
                   why, BURIN_PICTURE_LIBRARIES);
    const void *inputs[] = {k->input};
    burin_status status = burin_network_run(k->session, inputs, k->symbols, k->outputs);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    burin_scores((burin_scoring)k->card->scoring, k->outputs[k->logits], k->card->n_labels,
                 k->score);
    print_picture_labels(k, path);
}

int burin_classify(const burin_model *model, const burin_command *c) {
    classifier k = {.model = model, .command = c, .card = burin_card_of(model)};
    if (c->inputs.n || c->random || c->bench || c->output || c->logits_hash)
        return burin_run_network(model, c);
    if (!c->n_texts)
        burin_stop(BURIN_USER_MISTAKE, "which picture?\nhint: %s photo.png", burin_program_name);
    k.picture = burin_card_picture(model);
    k.several = c->n_texts > 1;
    open_classifier(&k);
    for (int i = 0; i < c->n_texts; i++) classify_file(&k, c->texts[i]);
    close_classifier(&k);
    return 0;
}
