#include "image/picture_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/element.h"
#include "engine/network.h"
#include "image/preprocess.h"
#include "network/model_card.h"
#include "program/input.h"
#include "program/output.h"
#include "text/run.h"

static size_t picture_tensor_bytes(const burin_picture_network *k, const burin_tensor *t) {
    size_t bytes = (size_t)burin_element_named(t->type)->bytes;
    for (int i = 0; i < t->rank; i++)
        bytes *= (size_t)burin_network_dim(k->model->net, t->dim[i], k->symbols);
    return bytes;
}

// The input of the picture: that of three axes.
static int picture_input(const burin_network *net) {
    for (int i = 0; i < net->n_inputs; i++)
        if (net->inputs[i].rank == 3) return i;
    return 0;
}

void burin_picture_network_open(burin_picture_network *k, const burin_model *model,
                                const burin_command *command) {
    const burin_network *net = model->net;
    *k = (burin_picture_network){
        .model = model, .command = command, .picture = burin_card_picture(model)};
    k->symbols =
        burin_allocate((size_t)(net->n_symbols + net->n_data_dependent) + 1, sizeof *k->symbols);
    burin_network_usual_symbols(net, k->symbols);
    const burin_tensor *t = &net->inputs[picture_input(net)];
    k->height = (int32_t)burin_network_dim(net, t->dim[1], k->symbols);
    k->width = (int32_t)burin_network_dim(net, t->dim[2], k->symbols);
    k->pixels = burin_allocate(1, picture_tensor_bytes(k, t));
    k->inputs = burin_allocate((size_t)net->n_inputs, sizeof *k->inputs);
    k->inputs[picture_input(net)] = k->pixels;
    k->outputs = burin_allocate((size_t)net->n_outputs, sizeof *k->outputs);
    for (int i = 0; i < net->n_outputs; i++)
        k->outputs[i] = burin_allocate(1, picture_tensor_bytes(k, &net->outputs[i]));
    k->session = burin_open(model, command, &(burin_options){.symbols = k->symbols});
}

void burin_picture_network_close(burin_picture_network *k) {
    burin_close(k->session);
    for (int i = 0; i < k->model->net->n_outputs; i++) free(k->outputs[i]);
    free(k->outputs);
    free(k->inputs);
    free(k->pixels);
    free(k->symbols);
}

burin_image burin_picture_load(const burin_picture *picture, const char *path, int32_t height,
                               int32_t width, float *pixels) {
    burin_image image;
    size_t bytes;
    uint8_t *file = burin_read_bytes(path, BURIN_MOST_PICTURE, &bytes);
    const char *why = burin_image_read(&image, file, bytes);
    burin_image size = {.width = image.width, .height = image.height};
    free(file);
    if (!why) why = burin_image_preprocess(&image, picture, height, width, pixels);
    burin_image_close(&image);
    if (why)
        burin_stop(BURIN_USER_MISTAKE, "%s: %s\nhint: pictures are %sPPM, PGM, BMP and GIF files",
                   path, why, BURIN_PICTURE_LIBRARIES);
    return size;
}

burin_image burin_picture_network_load(burin_picture_network *k, const char *path) {
    return burin_picture_load(k->picture, path, k->height, k->width, k->pixels);
}

void burin_picture_network_run(burin_picture_network *k) {
    burin_status status = burin_network_run(k->session, k->inputs, k->symbols, k->outputs);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
}

int burin_output_named(const burin_network *net, const char *name) {
    for (int i = 0; i < net->n_outputs; i++)
        if (!strcmp(net->outputs[i].name, name)) return i;
    return -1;
}
