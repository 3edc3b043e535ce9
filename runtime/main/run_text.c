// What a decoder's program does: which of its answers the command line asks for.
#include "main/run_text.h"

#include <string.h>
#include <unistd.h>

#include "engine/network.h"
#include "network/model_card.h"
#include "program/output.h"
#include "text/bench.h"
#include "text/generation.h"
#include "text/modes.h"
#include "text/perplexity.h"
#include "text/prompt.h"
#include "text/tokenize.h"
#include "tokenizer/prompt_ids.h"

burin_kind burin_kind_of(const burin_model *model) {
    if (model->encoder) return BURIN_ENCODER_DECODER;
    if (burin_labels(model)) return BURIN_LABELLER;
    return burin_network_embeds(model) ? BURIN_EMBEDDER : model->net ? BURIN_NETWORK : BURIN_DECODER;
}

// --chat, or nothing to read at a terminal and a model that is made to talk.
static bool wants_to_talk(const burin_model *model, const burin_command *c) {
    bool nothing = !c->prompt && !c->prompt_file && !c->tokens && !c->json;
    return c->chat || (nothing && model->template_bytes && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
}

static void tokenize_prompts(const burin_model *model, const burin_command *c) {
    burin_tokenizing how = {.tokenizer = burin_tokenizer_of(model), .model = model, .pieces = c->pieces};
    how.json = c->format && !strcmp(c->format, "json");
    how.text = c->prompt, how.file = c->prompt_file, how.decode = c->decode;
    burin_print_tokens(&how);
}

static int no_template(burin_run *run) {
    (void)run;
    burin_stop(BURIN_USER_MISTAKE, "this model has no chat template\nhint: %s \"a text\" continues a text", burin_program_name);
}

int burin_run_text(const burin_model *model, const burin_command *c) {
    burin_run run;
    if (c->tokenize || c->decode) return tokenize_prompts(model, c), 0;
    burin_run_open(&run, model, c);
    int (*answer)(burin_run *) = c->server.address         ? burin_serve
                                 : c->perplexity_file      ? burin_perplexity
                                 : c->bench                ? burin_bench
                                 : c->messages             ? model->modes->messages
                                 : wants_to_talk(model, c) ? model->modes->chat
                                                           : burin_generate;
    int status = (answer ? answer : no_template)(&run);
    burin_run_close(&run);
    return status;
}
