// How an encoder-decoder begins and what it never says, from generation_config.json, or else config.json: the greedy search of
// transformers' generate(). Beams and penalties are not taken over: a warning says which option has them.
#include <string.h>

#include "driver/build.h"
#include "util/files.h"
#include "util/json.h"

typedef struct Settings {
    json_t *generation, *config;
} Settings;

// Of a checkpoint, or of an ONNX file in a folder like one.
static json_t *load_beside(const Build *b, const char *name) {
    return json_beside(b->checkpoint ? b->checkpoint->folder : path_folder(b->arena, b->options->model), name);
}

static const json_t *setting(const Settings *s, const char *name) {
    const json_t *v = json_object_get(s->generation, name);
    if (!v || json_is_null(v)) v = json_object_get(s->config, name);
    return json_is_null(v) ? NULL : v;
}

static bool token_of(const json_t *v, int32_t *token) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX) return false;
    *token = (int32_t)json_integer_value(v);
    return true;
}

static int32_t *tokens_of(Arena *arena, const json_t *list, int *n) {
    int32_t *tokens = ARENA_ARRAY(arena, int32_t, json_array_size(list) + 1);
    *n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) *n += token_of(json_array_get(list, i), &tokens[*n]);
    return tokens;
}

// [[1, 50259], [2, 50359]]: position and token; they follow the first token without a gap, or a null ends them.
static void add_forced(Module *m, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        if (json_integer_value(json_array_get(pair, 0)) != m->n_start) return;
        if (!token_of(json_array_get(pair, 1), &m->start[m->n_start])) return;
        m->n_start++;
    }
}

static void set_start(Module *m, const Settings *s) {
    const json_t *start = setting(s, "decoder_start_token_id"), *forced = setting(s, "forced_decoder_ids");
    m->start = ARENA_ARRAY(m->arena, int32_t, 2 + json_array_size(forced));
    if (!start) start = setting(s, "bos_token_id");
    m->n_start += token_of(start, &m->start[0]);
    if (m->n_start) m->n_start += token_of(setting(s, "forced_bos_token_id"), &m->start[1]);
    if (m->n_start) add_forced(m, forced);
}

// suppress_tokens, and those of bad_words_ids that are single tokens.
static void set_suppressed(Module *m, const Settings *s) {
    const json_t *suppress = setting(s, "suppress_tokens"), *words = setting(s, "bad_words_ids");
    size_t most = json_array_size(suppress) + json_array_size(words);
    m->suppress = ARENA_ARRAY(m->arena, int32_t, most + 1);
    for (size_t i = 0; i < json_array_size(suppress); i++)
        m->n_suppress += token_of(json_array_get(suppress, i), &m->suppress[m->n_suppress]);
    for (size_t i = 0; i < json_array_size(words); i++) {
        const json_t *word = json_array_get(words, i);
        if (json_array_size(word) == 1) m->n_suppress += token_of(json_array_get(word, 0), &m->suppress[m->n_suppress]);
    }
    m->begin_suppress = tokens_of(m->arena, setting(s, "begin_suppress_tokens"), &m->n_begin_suppress);
}

// What generate() would do otherwise than the program: settings that are not at the value where they change nothing.
static void warn_of_others(const Settings *s) {
    static const struct {
        const char *name;
        double off;
        const char *hint;  // of the program's options
    } settings[] = {{"num_beams", 1, "--beams searches as generate() does"},
                    {"no_repeat_ngram_size", 0, "--beams does that, --dry-multiplier is near"},
                    {"encoder_no_repeat_ngram_size", 0, "no option does that"},
                    {"repetition_penalty", 1, "--repeat-penalty with --repeat-last-n -1 does that"},
                    {"min_length", 0, "no option does that"},
                    {"min_new_tokens", 0, "no option does that"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const json_t *v = setting(s, settings[i].name);
        if (!json_is_number(v) || json_number_value(v) == settings[i].off) continue;
        diag_warning(NO_LOC, "the model asks for %s %g: the program takes the likeliest token each time\nhint: %s",
                     settings[i].name, json_number_value(v), settings[i].hint);
    }
}

void build_generation(Build *b) {
    if (b->options->start_from || b->module->n_graphs < 2) return;
    Settings s = {load_beside(b, "generation_config.json"), load_beside(b, "config.json")};
    set_start(b->module, &s);
    set_suppressed(b->module, &s);
    token_of(setting(&s, "no_repeat_ngram_size"), &b->module->no_repeat);
    b->module->n_forced_end = token_of(setting(&s, "forced_eos_token_id"), b->module->forced_end);
    warn_of_others(&s);
    const json_t *length = setting(&s, "max_length");
    if (json_is_integer(length) && json_integer_value(length) > 0) b->module->max_length = json_integer_value(length);
    json_decref(s.generation);
    json_decref(s.config);
}
