// The program of an image classifier: each file of the command line is read, preprocessed, run, and
// its labels printed.
#include "image/classify.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "image/picture_network.h"
#include "network/label_line.h"
#include "network/labels.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/scores.h"
#include "program/output.h"

bool burin_takes_tensors(const burin_command *c) {
    return c->inputs.n || c->random || c->bench || c->logits_hash;
}

void burin_need_picture(const burin_command *c, bool embeds) {
    if (!embeds && c->format && !strcmp(c->format, "npy"))
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--format npy: expected text or json\nhint: --format json");
    if (c->rank || c->prompt_file)
        burin_stop(BURIN_BAD_COMMAND_LINE, "%s: the model has no texts\nhint: leave it out",
                   c->rank ? "--rank" : "-f");
    if (!c->n_texts)
        burin_stop(BURIN_USER_MISTAKE, "which picture?\nhint: %s photo.png", burin_program_name);
}

int burin_classify(const burin_model *model, const burin_command *c) {
    burin_picture_network k;
    const burin_card *card = burin_card_of(model);
    if (burin_takes_tensors(c) || c->output) return burin_run_network(model, c);
    burin_need_picture(c, false);
    burin_picture_network_open(&k, model, c);
    float *score = burin_allocate(card->n_labels, sizeof *score);
    for (int i = 0; i < c->n_texts; i++) {
        burin_picture_network_load(&k, c->texts[i]);
        burin_picture_network_run(&k);
        burin_scores((burin_scoring)card->scoring, k.outputs[burin_logits_output(model->net)],
                     card->n_labels, score);
        burin_print_labels(c, card, c->texts[i], score);
    }
    free(score);
    burin_picture_network_close(&k);
    return 0;
}
