// Embeddings of pictures: a line of numbers each, or all in one array.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/network.h"
#include "image/classify.h"
#include "image/embeddings.h"
#include "image/picture_network.h"
#include "network/network_program.h"
#include "program/npy.h"
#include "program/output.h"

void burin_embeddings_open(burin_embeddings *e, const burin_command *c, const char *name,
                           int64_t width) {
    *e = (burin_embeddings){.command = c, .width = width};
    e->array = c->output || (c->format && !strcmp(c->format, "npy"));
    if (!e->array) return;
    burin_flush();
    if (!c->output) {
        if (!burin_npy_stream(&e->npy, STDOUT_FILENO, (int32_t)width))
            burin_stop(BURIN_USER_MISTAKE,
                       "--format npy: write to a file: > F.npy, or --output DIR");
        return;
    }
    burin_output_path(e->path, sizeof e->path, c->output, name);
    if (mkdir(c->output, 0777) && errno != EEXIST)
        burin_stop(BURIN_USER_MISTAKE, "--output %s: %s", c->output, strerror(errno));
    const char *why = burin_npy_open(&e->npy, e->path, (int32_t)width);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", e->path, why);
}

static void print_numbers(const burin_embeddings *e, const char *separator, const float *values) {
    for (int64_t i = 0; i < e->width; i++)
        burin_print("%s%.9g", i ? separator : "", (double)values[i]);
}

void burin_embeddings_add(burin_embeddings *e, const char *what, const char *named,
                          const float *values) {
    if (e->array) {
        if (!burin_npy_add(&e->npy, values, 1))
            burin_stop(BURIN_USER_MISTAKE, "cannot write the embeddings: %s", strerror(errno));
        return;
    }
    if (e->command->format && !strcmp(e->command->format, "json")) {
        burin_print("{\"%s\": ", what);
        burin_print_json_string(named, strlen(named));
        burin_print(", \"embedding\": [");
        print_numbers(e, ", ", values);
        burin_print("]}\n");
    } else {
        print_numbers(e, " ", values);
        burin_print("\n");
    }
    burin_show();
}

void burin_embeddings_close(burin_embeddings *e) {
    if (e->array && !burin_npy_close(&e->npy))
        burin_stop(BURIN_USER_MISTAKE, "cannot write the embeddings: %s", strerror(errno));
}

// The output that stands for the picture, and the number of its values: pooled, or the class token
// of the last states.
static int output_of_picture(const burin_network *net, int64_t *width) {
    static const char *const names[] = {"image_embeds", "pooler_output", "last_hidden_state"};
    int at = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && at < 0; i++)
        at = burin_output_named(net, names[i]);
    if (at < 0) at = 0;
    const burin_tensor *t = &net->outputs[at];
    *width = t->dim[t->rank - 1];
    return at;
}

int burin_embed_pictures(const burin_model *model, const burin_command *c) {
    burin_picture_network k;
    burin_embeddings e;
    int64_t width;
    if (burin_takes_tensors(c) || (c->output && !c->n_texts)) return burin_run_network(model, c);
    burin_need_picture(c, true);
    burin_picture_network_open(&k, model, c);
    int at = output_of_picture(model->net, &width);
    burin_embeddings_open(&e, c, model->net->outputs[at].name, width);
    for (int i = 0; i < c->n_texts; i++) {
        burin_picture_network_load(&k, c->texts[i]);
        burin_picture_network_run(&k);
        burin_embeddings_add(&e, "file", c->texts[i], k.outputs[at]);
    }
    burin_embeddings_close(&e);
    burin_picture_network_close(&k);
    return 0;
}
