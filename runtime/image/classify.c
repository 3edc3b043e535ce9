// The program of an image classifier: each file of the command line is read, preprocessed, run, and
// its labels printed.
#include "image/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/element.h"
#include "engine/network.h"
#include "image/preprocess.h"
#include "network/label_line.h"
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
        burin_stop(BURIN_USER_MISTAKE, "%s: %s\nhint: pictures are %sPPM, PGM, BMP and GIF files",
                   path, why, BURIN_PICTURE_LIBRARIES);
    const void *inputs[] = {k->input};
    burin_status status = burin_network_run(k->session, inputs, k->symbols, k->outputs);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    burin_scores((burin_scoring)k->card->scoring, k->outputs[k->logits], k->card->n_labels,
                 k->score);
    burin_print_labels(k->command, k->card, path, k->score);
}

int burin_classify(const burin_model *model, const burin_command *c) {
    classifier k = {.model = model, .command = c, .card = burin_card_of(model)};
    if (c->inputs.n || c->random || c->bench || c->output || c->logits_hash)
        return burin_run_network(model, c);
    if (!c->n_texts)
        burin_stop(BURIN_USER_MISTAKE, "which picture?\nhint: %s photo.png", burin_program_name);
    k.picture = burin_card_picture(model);
    open_classifier(&k);
    for (int i = 0; i < c->n_texts; i++) classify_file(&k, c->texts[i]);
    close_classifier(&k);
    return 0;
}
