// A source is a text, a list of ids, or the tensors of --input. Files of several lines are several
// sources; where the program has no tokenizer, lines are ids.
#include "text/encoder_input.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/encoder.h"
#include "engine/network.h"
#include "program/input.h"
#include "program/network_values.h"
#include "program/output.h"
#include "text/modes.h"
#include "text/prompt.h"

static bool is_text(const burin_run *run) {
    const burin_command *c = run->command;
    if (run->model->encoder->net->tokens < 0) return false;
    return c->tokens || c->prompt || c->prompt_file || !c->inputs.n;
}

// Arguments and lines are names of pictures' files.
static bool reads_pictures(const burin_run *run) {
    return run->model->modes->picture && !run->command->inputs.n && !run->command->random;
}

void burin_no_source(const burin_run *run) {
    const burin_network *net = run->model->encoder->net;
    if (reads_pictures(run))
        burin_stop(BURIN_USER_MISTAKE, "which picture?\nhint: %s photo.png", burin_program_name);
    if (net->tokens < 0)
        burin_stop(BURIN_USER_MISTAKE, "nothing is given to encode\nhint: --input %s=F.npy",
                   net->inputs[0].name);
    burin_stop(BURIN_USER_MISTAKE, "nothing is given to encode\nhint: %s %s", burin_program_name,
               run->model->tokenizer_bytes ? "\"a text\", or a line for each text on standard input"
                                           : "--tokens 1,2,3");
}

const char *burin_source_lines(const burin_run *run) {
    const burin_command *c = run->command;
    if (reads_pictures(run) && !c->tokens) return c->prompt_file;
    if (run->model->encoder->net->tokens < 0 && (c->tokens || c->prompt || c->prompt_file))
        burin_stop(BURIN_USER_MISTAKE, "this model's source is no text\nhint: --input %s=F.npy",
                   run->model->encoder->net->inputs[0].name);
    if (!is_text(run) || c->tokens || c->prompt) return NULL;
    if (!c->prompt_file && !c->over && !burin_input_is_offered(false)) burin_no_source(run);
    return c->prompt_file ? c->prompt_file : "-";
}

// An encoder may know other tokens than its decoder.
static int32_t vocabulary(const burin_model *model) {
    const burin_tensor *t = &model->encoder->net->inputs[model->encoder->net->tokens];
    return t->least <= t->most ? (int32_t)t->most + 1 : model->vocab_size;
}

static burin_tokens read_tokens(const burin_run *run, const burin_work_item *line) {
    const burin_model *model = run->model;
    const burin_command *c = run->command;
    const char *text = line ? line->line : c->prompt;
    size_t bytes = line ? line->bytes : text ? strlen(text) : 0;
    int64_t most = burin_most_source_tokens(model);
    bool is_ids = c->tokens || !model->tokenizer_bytes;
    if (!is_ids && burin_text_is_far_longer(model, text, bytes, most))
        burin_stop(BURIN_USER_MISTAKE,
                   "the source has %zu bytes, far more than the %lld tokens that the encoder takes",
                   bytes, (long long)most);
    burin_tokens tokens = c->tokens ? burin_parse_ids("--tokens", c->tokens, vocabulary(model))
                          : is_ids  ? burin_parse_ids("ids", text, vocabulary(model))
                                    : burin_tokenize(model, text, bytes, true);
    if (!tokens.n) burin_stop(BURIN_USER_MISTAKE, "a source without any token cannot be encoded");
    if (tokens.n > most) {
        free(tokens.id);
        burin_stop(BURIN_USER_MISTAKE, "the source has %d tokens, the encoder takes %lld", tokens.n,
                   (long long)most);
    }
    return tokens;
}

static int32_t encode_picture(burin_run *run, const burin_work_item *line) {
    const burin_network *net = run->model->encoder->net;
    if (!line && !run->command->prompt) burin_no_source(run);
    char *name = NULL;
    if (line) {
        name = burin_allocate(line->bytes + 1, 1);
        memcpy(name, line->line, line->bytes);
        name[line->bytes] = 0;
    }
    float *pixels = run->model->modes->picture(run, name ? name : run->command->prompt);
    int64_t *symbols = burin_allocate((size_t)net->n_symbols + 1, sizeof *symbols);
    burin_network_usual_symbols(net, symbols);
    burin_status status =
        burin_encode_source(run->session, 0, (const void *const[]){pixels}, symbols);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    free(symbols);
    free(pixels);
    free(name);
    return run->session->source_length[0];
}

int32_t burin_encode_next(burin_run *run, const burin_work_item *line, burin_tokens *source) {
    if (reads_pictures(run) && !run->command->tokens) {
        free(source->id);
        *source = (burin_tokens){0};
        return encode_picture(run, line);
    }
    const burin_network *net = run->model->encoder->net;
    burin_tokens tokens = {0};
    burin_network_values values;
    if (is_text(run)) {
        tokens = read_tokens(run, line);
        burin_network_values_of_texts(
            &values, net, &(burin_token_rows){.id = tokens.id, .n = tokens.n, .n_texts = 1});
    } else {
        if (!run->command->inputs.n && !run->command->random) burin_no_source(run);
        burin_network_values_open(&values, net, run->command);
        if (values.batch > 1)
            burin_stop(BURIN_USER_MISTAKE, "%lld sources are given: a run reads one",
                       (long long)values.batch);
    }
    burin_status status = burin_encode_source(
        run->session, 0, (const void *const *)values.input_data, values.symbols);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    burin_network_values_close(&values);
    free(source->id);
    *source = tokens;
    return run->session->source_length[0];
}
