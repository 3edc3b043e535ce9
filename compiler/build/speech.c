// Whisper's settings for recordings: preprocessor_config.json, or processor_config.json of
// transformers 5, describes the features, generation_config.json the tokens that begin a text.
// Settings that the runtime does not compute leave a program that takes features alone, with a
// warning.
#include "sound/speech.h"

#include <string.h>

#include "build/build.h"
#include "frontend/card.h"
#include "tokenizer/tokenizer.h"
#include "util/json.h"

static int32_t count_of(const json_t *object, const char *name, int32_t absent) {
    const json_t *v = json_object_get(object, name);
    if (!v || json_is_null(v)) return absent;
    bool fits =
        json_is_integer(v) && json_integer_value(v) >= 0 && json_integer_value(v) <= INT32_MAX;
    return fits ? (int32_t)json_integer_value(v) : -1;
}

// The setting of generation_config.json, or else the token of this text.
static int32_t token_of(const Build *b, const json_t *generation, const char *name,
                        const char *text) {
    int32_t token = count_of(generation, name, -1);
    return token >= 0 ? token : burin_token_find(b->tokenizer->blob, text, strlen(text));
}

// ---------------------------------------------------------------------------------------- features
static void warn_of_features(const char *name, const char *why) {
    diag_warning(NO_LOC,
                 "preprocessor_config.json: %s %s: the program takes features (--input), not "
                 "recordings",
                 name, why);
}

static bool changes_nothing(const json_t *features) {
    static const struct {
        const char *name;
        double off;
    } numbers[] = {{"dither", 0}, {"padding_value", 0}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const json_t *v = json_object_get(features, numbers[i].name);
        if (!json_is_number(v) || json_number_value(v) == numbers[i].off) continue;
        warn_of_features(numbers[i].name, "is not 0");
        return false;
    }
    const json_t *side = json_object_get(features, "padding_side");
    if (json_is_true(json_object_get(features, "do_normalize"))) {
        warn_of_features("do_normalize", "is true");
        return false;
    }
    if (json_is_string(side) && strcmp(json_string_value(side), "right") != 0) {
        warn_of_features("padding_side", "is not \"right\"");
        return false;
    }
    return true;
}

// The encoder's input is [n_mels, frames]; every count has a bound that keeps the runtime's memory
// small.
static bool fits(const burin_speech *s, const Graph *encoder) {
    int64_t mels, frames;
    if (encoder->n_inputs != 1 || encoder->inputs[0]->type.rank != 2) return false;
    const Type *type = &encoder->inputs[0]->type;
    if (!dim_is_const(type->dim[0], &mels) || !dim_is_const(type->dim[1], &frames)) return false;
    bool rate = s->sample_rate >= 1000 && s->sample_rate <= 384000;
    bool transform = s->n_fft >= 2 && s->n_fft <= 8192 && s->hop >= 1 && s->hop <= s->n_fft;
    if (!rate || !transform)
        warn_of_features("sampling_rate, n_fft or hop_length", "is outside of its range");
    if (rate && transform && (mels != s->n_mels || frames != s->frames))
        warn_of_features("feature_size or nb_max_frames", "is not the encoder's");
    return rate && transform && mels == s->n_mels && frames == s->frames &&
           (int64_t)s->frames * s->hop > s->n_fft;
}

static void set_features(burin_speech *s, const json_t *features) {
    s->sample_rate = count_of(features, "sampling_rate", 16000);
    s->n_fft = count_of(features, "n_fft", 400);
    s->hop = count_of(features, "hop_length", 160);
    s->n_mels = count_of(features, "feature_size", 80);
    int64_t samples = (int64_t)count_of(features, "chunk_length", 30) * s->sample_rate;
    s->frames = s->hop > 0 && samples / s->hop <= INT32_MAX ? (int32_t)(samples / s->hop) : -1;
}

// ------------------------------------------------------------------------------------------ tokens
static void set_languages(const Build *b, burin_speech *s, const json_t *generation) {
    json_t *map = json_object_get(generation, "lang_to_id");
    int32_t *tokens = ARENA_ARRAY(b->arena, int32_t, json_object_size(map) + 1);
    const char *name;
    json_t *token;
    json_object_foreach(map, name, token) {
        json_int_t id = json_integer_value(token);
        if (json_is_integer(token) && id >= 0 && id < b->tokenizer->vocab_size)
            tokens[s->n_languages++] = (int32_t)id;
    }
    s->languages = tokens;
}

static bool is_language(const burin_speech *s, int32_t token) {
    for (int32_t i = 0; i < s->n_languages; i++)
        if (s->languages[i] == token) return true;
    return false;
}

// A language and a task that the folder fixes: as settings ("en", "<|en|>"), or by
// forced_decoder_ids.
static void set_fixed(const Build *b, burin_speech *s, const json_t *generation) {
    const json_t *language = json_object_get(generation, "language"),
                 *task = json_object_get(generation, "task");
    const Module *m = b->module;
    s->language = s->task = -1;
    for (int i = 1; i < m->n_start; i++) {
        if (is_language(s, m->start[i])) s->language = m->start[i];
        if (m->start[i] == s->transcribe || m->start[i] == s->translate) s->task = m->start[i];
    }
    if (json_is_string(task))
        s->task = strcmp(json_string_value(task), "translate") ? s->transcribe : s->translate;
    if (!json_is_string(language)) return;
    const char *text = json_string_value(language),
               *mark = *text == '<' ? text : arena_printf(b->arena, "<|%s|>", text);
    s->language = burin_token_find(b->tokenizer->blob, mark, strlen(mark));
    if (is_language(s, s->language)) return;
    diag_warning(NO_LOC,
                 "generation_config.json: \"language\": \"%s\" is not in lang_to_id: the language "
                 "is detected",
                 text);
    s->language = -1;
}

static void set_tokens(const Build *b, burin_speech *s, const json_t *generation) {
    const json_t *tasks = json_object_get(generation, "task_to_id");
    s->start = b->module->n_start ? b->module->start[0] : -1;
    s->no_timestamps = token_of(b, generation, "no_timestamps_token_id", "<|notimestamps|>");
    s->timestamp_begin = s->no_timestamps >= 0 ? s->no_timestamps + 1 : -1;
    s->no_speech = s->no_timestamps > 0 ? s->no_timestamps - 1 : -1;
    s->previous = token_of(b, generation, "prev_sot_token_id", "<|startofprev|>");
    s->initial_timestamp = count_of(generation, "max_initial_timestamp_index", -1);
    set_languages(b, s, generation);
    s->transcribe = s->n_languages ? token_of(b, tasks, "transcribe", "<|transcribe|>") : -1;
    s->translate = s->n_languages ? token_of(b, tasks, "translate", "<|translate|>") : -1;
    set_fixed(b, s, generation);
}

// -------------------------------------------------------------------------------- times of words
// Returns the number of heads in a list of [layer, head], 0 if one is not of the decoder.
static size_t count_heads(const json_t *list, int32_t layers, int32_t heads) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *pair = json_array_get(list, i), *layer = json_array_get(pair, 0),
                     *head = json_array_get(pair, 1);
        bool known = json_array_size(pair) == 2 && json_is_integer(layer) && json_is_integer(head);
        if (!known || json_integer_value(layer) < 0 || json_integer_value(layer) >= layers ||
            json_integer_value(head) < 0 || json_integer_value(head) >= heads)
            return 0;
    }
    return json_array_size(list);
}

// The heads whose attention follows the words, and the steps of the median that smooths it.
static void set_alignment(const Build *b, burin_speech *s, const json_t *generation) {
    const json_t *list = json_object_get(generation, "alignment_heads"),
                 *config = b->checkpoint->config;
    s->median = count_of(config, "median_filter_width", 7);
    if (!json_array_size(list)) return;
    size_t n = count_heads(list, count_of(config, "decoder_layers", 4),
                           count_of(config, "decoder_attention_heads", 6));
    if (!n || n > 4096 || s->median < 1 || s->median > 99 || s->median % 2 == 0) {
        diag_warning(NO_LOC,
                     "generation_config.json: \"alignment_heads\", or \"median_filter_width\" of "
                     "config.json, is not what this decoder has: words get no times");
        return;
    }
    int32_t *pairs = ARENA_ARRAY(b->arena, int32_t, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        pairs[i] = (int32_t)json_integer_value(json_array_get(json_array_get(list, i / 2), i % 2));
    s->alignment = pairs;
    s->n_alignment = (int32_t)(2 * n);
}

// Every token must be one of the model's.
static bool tokens_fit(const Build *b, const burin_speech *s) {
    const int32_t tokens[] = {s->start, s->no_timestamps, s->previous, s->transcribe, s->translate};
    bool fit = s->start >= 0;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        fit &= tokens[i] < b->tokenizer->vocab_size;
    if (!fit)
        diag_warning(
            NO_LOC,
            "generation_config.json has tokens outside of the vocabulary, or no "
            "decoder_start_token_id: the program takes features (--input), not recordings");
    return fit;
}

static bool is_whisper(const json_t *features) {
    const json_t *type = json_object_get(features, "feature_extractor_type");
    return json_is_string(type) && !strcmp(json_string_value(type), "WhisperFeatureExtractor");
}

void build_speech(Build *b) {
    if (b->options->start_from || !b->checkpoint || b->module->n_graphs < 2 || !b->tokenizer)
        return;
    json_t *features = sound_settings_read(b->arena, b->checkpoint->folder);
    json_t *generation = json_beside(b->checkpoint->folder, "generation_config.json");
    burin_speech *speech = ARENA_NEW(b->arena, burin_speech);
    if (is_whisper(features) && changes_nothing(features)) {
        set_features(speech, features);
        set_tokens(b, speech, generation);
        set_alignment(b, speech, generation);
        if (fits(speech, b->module->graphs[0]) && tokens_fit(b, speech)) b->module->speech = speech;
    }
    json_decref(features);
    json_decref(generation);
}
