// The modes of a decoder's program, chosen by the command line.
#include "main/run_text.h"

#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/perplexity.h"
#include "engine/network.h"
#include "program/input.h"
#include "program/output.h"
#include "text/generation.h"
#include "text/line_slots.h"
#include "text/modes.h"
#include "text/prompt.h"
#include "text/tokenize.h"
#include "tokenizer/prompt_ids.h"

// --chat, or nothing to read at a terminal and a model that is made to talk.
static bool wants_to_talk(const burin_model *model, const burin_command *c) {
    bool nothing = !c->prompt && !c->prompt_file && !c->tokens && !c->json;
    return c->chat ||
           (nothing && model->modes->chat && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO));
}

static void tokenize_prompts(const burin_model *model, const burin_command *c) {
    burin_tokenizing how = {
        .tokenizer = burin_tokenizer_of(model), .model = model, .pieces = c->pieces};
    how.json = c->format && !strcmp(c->format, "json");
    how.text = c->prompt, how.file = c->prompt_file, how.decode = c->decode;
    burin_print_tokens(&how);
}

// A model with a chat template answers its prompt, unless --raw makes it the beginning of a text.
static bool is_question(const burin_model *model, const burin_command *c) {
    if (!model->modes->question || c->raw || c->tokens || c->over) return false;
    return (c->prompt && *c->prompt) || c->prompt_file || burin_input_is_offered(false);
}

typedef int (*way_to_run)(burin_run *);

static way_to_run find_way(const burin_model *model, const burin_command *c) {
    if (c->server.address) return model->modes->serve;
    if (c->server.replay) return burin_replay;
    if (c->perplexity_file) return burin_perplexity;
    if (c->bench) return burin_bench;
    if (c->messages) return model->modes->messages;
    if (c->lines) return c->raw ? burin_continue_lines : model->modes->lines;
    if (model->modes->transcribe && !c->inputs.n) return model->modes->transcribe;
    if (wants_to_talk(model, c)) return model->modes->chat;
    return is_question(model, c) ? model->modes->question : burin_generate;
}

static void check_way(const burin_model *model, const burin_command *c, way_to_run way) {
    bool talks = way && (way == model->modes->chat || way == model->modes->question ||
                         (way == model->modes->lines && model->modes->question));
    if (!model->modes->chat && (!way || c->system || c->raw))
        burin_stop(BURIN_USER_MISTAKE,
                   "%sthis model has no chat template\nhint: %s \"a text\" continues a text",
                   c->system ? "--system: "
                   : c->raw  ? "--raw: "
                             : "",
                   burin_program_name);
    if (c->system && !talks)
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--system is for a question or a chat\nhint: %s --system TEXT \"a question\"",
                   burin_program_name);
}

int burin_run_text(const burin_model *model, const burin_command *c) {
    burin_run run;
    if (c->tokenize || c->decode) return tokenize_prompts(model, c), 0;
    way_to_run way = find_way(model, c);
    check_way(model, c, way);
    burin_run_open(&run, model, c);
    int status = way(&run);
    burin_run_close(&run);
    return status;
}
