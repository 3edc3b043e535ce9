// The first tokens of an encoder-decoder and the tokens that a model never generates, or not yet,
// from generation_config.json, or else config.json: the logits processors of transformers'
// generate(). Unsupported settings cause a warning.
#include <string.h>

#include "build/build.h"
#include "util/files.h"
#include "util/json.h"

typedef struct Settings {
    json_t *generation, *config;
} Settings;

// Of a checkpoint, or of an ONNX file in a folder like one.
static json_t *load_beside(const Build *b, const char *name) {
    return json_beside(
        b->checkpoint ? b->checkpoint->folder : path_folder(b->arena, b->options->model), name);
}

// The setting of generation_config.json; of config.json where that file is missing, as in
// transformers.
static const json_t *setting(const Settings *s, const char *name) {
    const json_t *v = json_object_get(s->generation ? s->generation : s->config, name);
    return json_is_null(v) ? NULL : v;
}

// config.json, or its part of the decoder after an encoder of another family.
static const json_t *config_setting(const Settings *s, const char *name) {
    const json_t *v = json_object_get(s->config, name);
    return v && !json_is_null(v) ? v : json_object_get(json_object_get(s->config, "decoder"), name);
}

static const json_t *token_setting(const Settings *s, const char *name) {
    const json_t *v = setting(s, name);
    if (!v) v = config_setting(s, name);
    return json_is_null(v) ? NULL : v;
}

static bool token_of(const json_t *v, int32_t *token) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX)
        return false;
    *token = (int32_t)json_integer_value(v);
    return true;
}

static int32_t *tokens_of(Arena *arena, const json_t *list, int *n) {
    int32_t *tokens = ARENA_ARRAY(arena, int32_t, json_array_size(list) + 1);
    *n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        *n += token_of(json_array_get(list, i), &tokens[*n]);
    return tokens;
}

// [[1, 50259], [2, 50359]]: position and token; they follow the first token without a gap, or a
// null ends them.
static void add_forced(Module *m, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i);
        if (json_integer_value(json_array_get(pair, 0)) != m->n_start) return;
        if (!token_of(json_array_get(pair, 1), &m->start[m->n_start])) return;
        m->n_start++;
    }
}

static void set_start(Module *m, const Settings *s) {
    const json_t *start = token_setting(s, "decoder_start_token_id"),
                 *forced = setting(s, "forced_decoder_ids");
    m->start = ARENA_ARRAY(m->arena, int32_t, 2 + json_array_size(forced));
    if (!start) start = token_setting(s, "bos_token_id");
    m->n_start += token_of(start, &m->start[0]);
    if (m->n_start) m->n_start += token_of(setting(s, "forced_bos_token_id"), &m->start[1]);
    m->min_new_tokens -=
        m->n_start > 1 && m->min_new_tokens > 0;  // generate() counts the forced token as a new one
    if (m->n_start) add_forced(m, forced);
}

static bool ends_texts(const Module *m, const json_t *word) {
    int32_t token;
    bool ends = false;
    if (json_array_size(word) != 1 || !token_of(json_array_get(word, 0), &token)) return false;
    for (int i = 0; i < m->n_eos; i++) ends |= m->eos[i] == token;
    return ends;
}

// bad_words_ids; tokens that end a text are exempt, even if listed.
static void set_bad_words(Module *m, const json_t *words) {
    size_t room = 0;
    for (size_t i = 0; i < json_array_size(words); i++)
        room += 1 + json_array_size(json_array_get(words, i));
    m->bad_words = ARENA_ARRAY(m->arena, int32_t, room + 1);
    for (size_t i = 0; i < json_array_size(words); i++) {
        const json_t *word = json_array_get(words, i);
        int n;
        const int32_t *tokens = tokens_of(m->arena, word, &n);
        if (!n || (size_t)n < json_array_size(word) || ends_texts(m, word)) continue;
        m->bad_words[m->n_bad_words++] = n;
        memcpy(&m->bad_words[m->n_bad_words], tokens, (size_t)n * sizeof *tokens);
        m->n_bad_words += n;
    }
}

static void set_limits(Module *m, const Settings *s) {
    const json_t *penalty = setting(s, "repetition_penalty");
    m->suppress = tokens_of(m->arena, setting(s, "suppress_tokens"), &m->n_suppress);
    m->begin_suppress =
        tokens_of(m->arena, setting(s, "begin_suppress_tokens"), &m->n_begin_suppress);
    set_bad_words(m, setting(s, "bad_words_ids"));
    token_of(setting(s, "no_repeat_ngram_size"), &m->no_repeat);
    token_of(setting(s, "encoder_no_repeat_ngram_size"), &m->encoder_no_repeat);
    token_of(setting(s, "min_length"), &m->min_length);
    token_of(setting(s, "min_new_tokens"), &m->min_new_tokens);
    m->n_forced_end = token_of(setting(s, "forced_eos_token_id"), m->forced_end);
    if (json_is_number(penalty) && json_number_value(penalty) != 1)
        m->repetition_penalty = json_number_value(penalty);
}

// What generate() would do otherwise than the program: settings that are not at the value where
// they change nothing.
static void warn_of_numbers(const Settings *s, bool encodes) {
    static const char none[] = "no option does that";
    static const struct {
        const char *name;
        double off;
        const char *hint;  // of the program's options
    } settings[] = {
        {"num_beams", 1,
         "--beams searches as generate() does, in programs of an encoder and a decoder"},
        {"encoder_repetition_penalty", 1, none},
        {"diversity_penalty", 0, none},
        {"guidance_scale", 1, none},
        {"penalty_alpha", 0, none},
        {"epsilon_cutoff", 0, none},
        {"eta_cutoff", 0, none},
        {"top_h", 0, none},
        {"typical_p", 1, "--typical P does that"}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const json_t *v = setting(s, settings[i].name);
        if (!json_is_number(v) || json_number_value(v) == settings[i].off) continue;
        diag_warning(
            NO_LOC, "the model asks for %s %g, which the program does not take over\nhint: %s",
            settings[i].name, json_number_value(v), i || encodes ? settings[i].hint : none);
    }
}

static bool is_off(const json_t *v) {
    return !v || json_is_false(v) || (json_is_array(v) && !json_array_size(v)) ||
           (json_is_object(v) && !json_object_size(v));
}

static void warn_of_others(const Settings *s, bool encodes) {
    static const char *const names[] = {"sequence_bias",       "exponential_decay_length_penalty",
                                        "force_words_ids",     "constraints",
                                        "watermarking_config", "renormalize_logits",
                                        "stop_strings",        "token_healing",
                                        "dola_layers"};
    warn_of_numbers(s, encodes);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!is_off(setting(s, names[i])))
            diag_warning(NO_LOC, "the model asks for %s, which the program does not take over",
                         names[i]);
}

// A decoder has its own options: it takes no length from the file.
void build_generation(Build *b) {
    if (b->options->start_from || !b->module->n_graphs) return;
    bool encodes = b->module->n_graphs > 1;
    Settings s = {load_beside(b, "generation_config.json"), load_beside(b, "config.json")};
    const json_t *length = setting(&s, "max_length"), *more = setting(&s, "max_new_tokens");
    set_limits(b->module, &s);
    if (encodes) set_start(b->module, &s);
    warn_of_others(&s, encodes);
    if (encodes && json_is_integer(length) && json_integer_value(length) > 0)
        b->module->max_length = json_integer_value(length);
    if (encodes && json_is_integer(more) && json_integer_value(more) > 0 &&
        json_integer_value(more) < INT32_MAX)
        b->module->max_length = 1 + json_integer_value(more);
    json_decref(s.generation);
    json_decref(s.config);
}
