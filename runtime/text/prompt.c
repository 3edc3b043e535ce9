// Reading prompts: files, standard input, ids, and the tokenizer in the program's weights.
#include "text/prompt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/input.h"
#include "program/output.h"

static int32_t first_token(const burin_model *model) {
    return model->bos >= 0 ? model->bos
           : model->n_eos  ? model->eos[0]
                           : -1;  // GPT-2 starts a text where another ended
}

static burin_tokens begin_text(const burin_model *model) {
    burin_tokens tokens = {.id = burin_allocate(1, sizeof *tokens.id), .n = 1};
    *tokens.id = first_token(model);
    if (*tokens.id < 0)
        burin_stop(BURIN_USER_MISTAKE,
                   "this model has no token that begins a text: give it a prompt\nhint: %s \"Once "
                   "upon a time\"",
                   burin_program_name);
    return tokens;
}

static burin_tokens prompt_of(const burin_model *model, const char *text, size_t bytes) {
    burin_tokens tokens = burin_tokenize(model, text, bytes, true);
    if (tokens.n) return tokens;
    free(tokens.id);
    return begin_text(model);
}

static void check_length(const burin_model *model, const char *text, size_t bytes, int32_t most) {
    if (burin_text_is_far_longer(model, text, bytes, most))
        burin_stop(BURIN_USER_MISTAKE,
                   "the prompt has %zu bytes, far more than the context of %d tokens holds", bytes,
                   most);
}

burin_tokens burin_prompt_tokens(const burin_model *model, const char *text, size_t bytes,
                                 int32_t most) {
    check_length(model, text, bytes, most);
    return prompt_of(model, text, bytes);
}

char *burin_prompt_text(const burin_command *c, size_t *bytes) {
    static const char between[] = "\n\n";
    const char *file = c->prompt_file                                  ? c->prompt_file
                       : !c->chat && burin_input_is_offered(c->prompt) ? "-"
                                                                       : NULL;
    size_t words = c->prompt ? strlen(c->prompt) : 0, read = 0, gap = 0;
    char *text = file ? burin_read_file(file, &read) : NULL;
    if (words && read) gap = sizeof between - 1;
    char *all = burin_allocate(1, words + gap + read + 1);
    if (words) memcpy(all, c->prompt, words);
    if (gap) memcpy(all + words, between, gap);
    if (read) memcpy(all + words + gap, text, read);
    free(text);
    *bytes = words + gap + read;
    return all;
}

burin_tokens burin_read_prompt(const burin_model *model, const burin_command *c, int32_t most,
                               bool *empty) {
    *empty = !c->tokens && !model->tokenizer_bytes && !c->prompt && !c->prompt_file;
    if (c->tokens) return burin_parse_ids("--tokens", c->tokens, burin_input_vocabulary(model));
    if (*empty) return begin_text(model);
    size_t bytes;
    char *text = burin_prompt_text(c, &bytes);
    *empty = !bytes;
    burin_tokens tokens =
        *empty ? begin_text(model) : burin_prompt_tokens(model, text, bytes, most);
    free(text);
    return tokens;
}

burin_tokens burin_read_start(const burin_model *model, const burin_command *c) {
    if (c->decoder_tokens)
        return burin_parse_ids("--decoder-tokens", c->decoder_tokens,
                               burin_input_vocabulary(model));
    if (!model->n_start)
        burin_stop(
            BURIN_USER_MISTAKE,
            "this model does not say what its decoder begins with\nhint: %s --decoder-tokens 0",
            burin_program_name);
    burin_tokens tokens = {.id = burin_allocate((size_t)model->n_start, sizeof *tokens.id),
                           .n = model->n_start};
    memcpy(tokens.id, model->start, (size_t)tokens.n * sizeof *tokens.id);
    return tokens;
}

const void *burin_tokenizer_of(const burin_model *model) {
    if (!model->tokenizer_bytes)
        burin_stop(BURIN_USER_MISTAKE,
                   "this model has no tokenizer: give it token ids\nhint: %s --tokens 1,2,3",
                   burin_program_name);
    return model->weights() + model->tokenizer_offset;
}

burin_tokens burin_encode_text(const void *tokenizer, const burin_encoding *how) {
    burin_encoding e = *how;
    size_t memory = burin_encode_memory(tokenizer, e.bytes), n = e.bytes + 16;
    if (memory == SIZE_MAX)
        burin_stop(BURIN_USER_MISTAKE, "a text of %zu bytes is too long for this tokenizer",
                   e.bytes);
    e.memory = burin_allocate(1, memory);
    e.ids = NULL;
    do {  // a second time where normalization makes a text longer
        free(e.ids);
        e.capacity = n;
        e.ids = burin_allocate(e.capacity, sizeof *e.ids);
        n = burin_encode(tokenizer, &e);
    } while (n > e.capacity);
    free(e.memory);
    if (n > INT32_MAX) burin_stop(BURIN_USER_MISTAKE, "the text has too many tokens");
    return (burin_tokens){.id = e.ids, .n = (int32_t)n};
}

burin_tokens burin_tokenize(const burin_model *model, const char *text, size_t bytes,
                            bool special) {
    return burin_encode_text(
        burin_tokenizer_of(model),
        &(burin_encoding){.text = text, .bytes = bytes, .special = special, .whole = true});
}

burin_tokens burin_tokenize_marked(const burin_model *model, const char *text, const uint8_t *marks,
                                   size_t bytes) {
    return burin_encode_text(
        burin_tokenizer_of(model),
        &(burin_encoding){.text = text, .bytes = bytes, .marks = marks, .whole = true});
}

// Tokens near the place where a text is cut may be others than those of the whole: twice as many
// leave no doubt.
bool burin_text_is_far_longer(const burin_model *model, const char *text, size_t bytes,
                              int64_t most) {
    enum { FIRST = 1 << 16, GROWTH = 4 };
    for (size_t part = FIRST; part < bytes / 2; part *= GROWTH) {
        burin_tokens tokens = burin_tokenize(model, text, part, false);
        free(tokens.id);
        if (tokens.n > 2 * most) return true;
    }
    return false;
}
