// The source of an encoder-decoder, from the command line: a text or ids for the input that is tokens, --input for the others.
#include <stdlib.h>

#include "encoder.h"
#include "net_values.h"
#include "output.h"
#include "prompt.h"

static bool is_given_as_file(const burin_run *run) {
    const burin_command *c = run->command;
    return c->n_inputs && !c->tokens && !c->prompt && !c->prompt_file;
}

static burin_tokens read_tokens(const burin_run *run) {
    burin_tokens tokens = burin_read_prompt(run->model, run->command);
    int64_t most = burin_most_source_tokens(run->model);
    if (tokens.n > most)
        burin_stop(BURIN_USER_MISTAKE, "the source has %d tokens, the encoder takes %lld", tokens.n, (long long)most);
    return tokens;
}

static void check_command(const burin_run *run) {
    const burin_command *c = run->command;
    const burin_encoder *e = run->model->encoder;
    if (e->net->tokens < 0 && (c->tokens || c->prompt || c->prompt_file))
        burin_stop(BURIN_USER_MISTAKE, "this model's source is no text\nhint: --input %s=F.npy", e->net->inputs[0].name);
}

int32_t burin_run_encode(burin_run *run) {
    const burin_encoder *e = run->model->encoder;
    burin_tokens tokens = {0};
    burin_net_values values;
    check_command(run);
    if (e->net->tokens < 0 || is_given_as_file(run)) {
        burin_net_values_open(&values, e->net, run->command);
    } else {
        tokens = read_tokens(run);
        burin_net_values_of_tokens(&values, e->net, tokens.id, tokens.n);
    }
    burin_status status = burin_encode_source(run->session, 0, (const void *const *)values.input_data, values.symbols);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    burin_net_values_close(&values);
    free(tokens.id);
    return run->session->memory[0];
}
