// The program of an object detector: the boxes of a picture with their labels, in its own pixels.
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "image/classify.h"
#include "image/picture_network.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/scores.h"
#include "program/output.h"

typedef struct found_object {
    float score, left, top, right, bottom;
    uint32_t label;
} found_object;

typedef struct object_finder {
    burin_picture_network net;
    const burin_card *card;
    int logits, boxes;
    int64_t queries, columns;  // of a query: labels, and one for no object
    float *score;              // [columns]
    found_object *found;       // [queries]
} object_finder;

static int by_score(const void *x, const void *y) {
    const found_object *a = x, *b = y;
    return a->score < b->score ? 1 : a->score > b->score ? -1 : a < b ? -1 : a > b;
}

// Of each query the likeliest label that is an object; those above the threshold, best first.
static int64_t find_in_outputs(object_finder *f, burin_image size, double threshold) {
    int64_t n = 0;
    for (int64_t q = 0; q < f->queries; q++) {
        const float *logit = (const float *)f->net.outputs[f->logits] + q * f->columns;
        const float *box = (const float *)f->net.outputs[f->boxes] + q * 4;
        burin_scored best;
        burin_scores(BURIN_SOFTMAX, logit, f->columns, f->score);
        burin_best_scores(f->score, f->columns - 1, 1, &best);
        if ((double)best.score <= threshold) continue;
        float w = (float)size.width, h = (float)size.height;
        f->found[n++] = (found_object){.score = best.score,
                                       .left = (box[0] - 0.5f * box[2]) * w,
                                       .top = (box[1] - 0.5f * box[3]) * h,
                                       .right = (box[0] + 0.5f * box[2]) * w,
                                       .bottom = (box[1] + 0.5f * box[3]) * h,
                                       .label = (uint32_t)best.column};
    }
    qsort(f->found, (size_t)n, sizeof *f->found, by_score);
    return n;
}

static void print_objects(const object_finder *f, const char *file, int64_t n) {
    const burin_command *c = f->net.command;
    bool json = c->format && !strcmp(c->format, "json");
    if (json) {
        burin_print("{\"file\": ");
        burin_print_json_string(file, strlen(file));
        burin_print(", \"objects\": [");
    }
    for (int64_t i = 0; i < n; i++) {
        const found_object *o = &f->found[i];
        const char *label = burin_card_label(f->card, o->label);
        if (json) {
            burin_print(i ? ", {\"label\": " : "{\"label\": ");
            burin_print_json_string(label, strlen(label));
            burin_print(", \"score\": %.6f, \"box\": [%.2f, %.2f, %.2f, %.2f]}", (double)o->score,
                        (double)o->left, (double)o->top, (double)o->right, (double)o->bottom);
        } else {
            if (c->n_texts > 1) burin_print("%s\t", file);
            burin_print("%s\t%.6f\t%.2f\t%.2f\t%.2f\t%.2f\n", label, (double)o->score,
                        (double)o->left, (double)o->top, (double)o->right, (double)o->bottom);
        }
    }
    if (json) burin_print("]}\n");
    burin_show();
}

int burin_find_objects(const burin_model *model, const burin_command *c) {
    object_finder f = {.card = burin_card_of(model)};
    if (burin_takes_tensors(c) || c->output) return burin_run_network(model, c);
    burin_need_picture(c, false);
    burin_picture_network_open(&f.net, model, c);
    f.logits = burin_output_named(model->net, "logits");
    f.boxes = burin_output_named(model->net, "pred_boxes");
    f.queries = model->net->outputs[f.logits].dim[0];
    f.columns = model->net->outputs[f.logits].dim[1];
    f.score = burin_allocate((size_t)f.columns, sizeof *f.score);
    f.found = burin_allocate((size_t)f.queries, sizeof *f.found);
    double threshold = c->threshold >= 0 ? c->threshold : 0.5;
    for (int i = 0; i < c->n_texts; i++) {
        burin_image size = burin_picture_network_load(&f.net, c->texts[i]);
        burin_picture_network_run(&f.net);
        int64_t n = find_in_outputs(&f, size, threshold);
        if (c->most_texts && n > c->most_texts) n = c->most_texts;
        print_objects(&f, c->texts[i], n);
    }
    free(f.score);
    free(f.found);
    burin_picture_network_close(&f.net);
    return 0;
}
