// A listener's card: the files beside an ONNX file of wav2vec2's kind, as optimum exports it.
// preprocessor_config.json has the samples' rate and form; vocab.json the characters of CTC, or
// config.json the classes. Settings that the runtime does not compute leave a program of tensors.
#include <string.h>

#include "engine/card.h"
#include "engine/listener.h"
#include "frontend/card.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

enum { MOST_LABELS = 65536 };

static bool refuse_listener(const char *file, const char *why) {
    diag_warning(NO_LOC, "%s %s: the program takes tensors (--input), not recordings", file, why);
    return false;
}

// The folder of the file, or the one around onnx/.
static json_t *json_near(Arena *arena, const char *path, const char *name) {
    const char *folder = path_folder(arena, path);
    json_t *found = json_beside(folder, name);
    return found ? found : json_beside(arena_printf(arena, "%s/..", folder), name);
}

bool listener_is_beside(Arena *arena, const char *path) {
    json_t *config = json_near(arena, path, "preprocessor_config.json");
    const char *type = json_string_value(json_object_get(config, "feature_extractor_type"));
    bool is = type && !strcmp(type, "Wav2Vec2FeatureExtractor");
    json_decref(config);
    return is;
}

static bool read_features(burin_listener *l, const json_t *config) {
    static const char *const file = "preprocessor_config.json";
    const json_t *rate = json_object_get(config, "sampling_rate"),
                 *size = json_object_get(config, "feature_size"),
                 *padding = json_object_get(config, "padding_value");
    l->sample_rate = rate ? (int32_t)json_integer_value(rate) : 16000;
    l->normalize = !json_is_false(json_object_get(config, "do_normalize"));
    if (l->sample_rate < 1000 || l->sample_rate > 384000)
        return refuse_listener(file, "has a sampling_rate that is not between 1000 and 384000");
    if (size && json_integer_value(size) != 1)
        return refuse_listener(file, "has a feature_size other than 1");
    if (json_is_number(padding) && json_number_value(padding) != 0)
        return refuse_listener(file, "has a padding_value other than 0");
    return true;
}

// ------------------------------------------------------------------------------------ characters
static const char *word_of(const json_t *settings, const char *name, const char *absent) {
    const json_t *v = json_object_get(settings, name);
    if (json_is_object(v)) v = json_object_get(v, "content");
    return json_is_string(v) ? json_string_value(v) : absent;
}

// Returns the text of a token: "" of a special one, a space of the delimiter of words.
static const char *written(const json_t *settings, const char *token) {
    static const char *const special[] = {"pad_token", "bos_token", "eos_token", "unk_token"};
    static const char *const usual[] = {"<pad>", "<s>", "</s>", "<unk>"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!strcmp(token, word_of(settings, special[i], usual[i]))) return "";
    return strcmp(token, word_of(settings, "word_delimiter_token", "|")) ? token : " ";
}

static bool read_characters(Arena *arena, burin_listener *l, const json_t *settings,
                            json_t *vocabulary, int64_t n, Text *labels) {
    const char **label = ARENA_ARRAY(arena, const char *, n), *token;
    const json_t *id;
    for (int64_t i = 0; i < n; i++) label[i] = "";
    l->lower = json_is_true(json_object_get(settings, "do_lower_case"));
    json_object_foreach(vocabulary, token, id) {
        json_int_t at = json_integer_value(id);
        if (!json_is_integer(id) || at < 0 || at >= n)
            return refuse_listener("vocab.json", "has an id that is no column of the logits");
        if (!strcmp(token, word_of(settings, "pad_token", "<pad>"))) l->blank = (int32_t)at;
        label[at] = written(settings, token);
    }
    if (l->blank < 0) return refuse_listener("vocab.json", "has no token for CTC's blank");
    for (int64_t i = 0; i < n; i++) text_append(labels, label[i], strlen(label[i]) + 1);
    return true;
}

static bool read_classes(Arena *arena, const json_t *config, int64_t n, Text *labels) {
    const json_t *names = json_object_get(config, "id2label");
    for (int64_t i = 0; i < n; i++) {
        const char *key = arena_printf(arena, "%lld", (long long)i),
                   *name = json_string_value(json_object_get(names, key));
        if (!name) return refuse_listener("config.json", "has no id2label for each class");
        text_append(labels, name, strlen(name) + 1);
    }
    return true;
}

// ------------------------------------------------------------------------------------- the graph
static bool takes_samples(const Graph *g) {
    if (g->n_inputs < 1 || g->n_inputs > 2 || g->n_outputs < 1) return false;
    for (int i = 0; i < g->n_inputs; i++) {
        const Node *in = g->inputs[i];
        bool samples = !strcmp(in->name, "input_values") && in->type.dtype == DT_f32;
        bool mask = !strcmp(in->name, "attention_mask");
        if ((!samples && !mask) || in->type.rank != 2 || !dim_is(in->type.dim[0], 1) ||
            in->type.dim[1]->kind != DIM_SYMBOL)
            return false;
    }
    return true;
}

// [1, frames, characters] or [1, classes]; NULL: neither.
static const Type *logits_of(const Graph *g, int64_t *n) {
    int at = graph_output_index(g, "logits");
    const Type *t = at < 0 ? NULL : &g->outputs[at]->type;
    bool fits = t && t->dtype == DT_f32 && (t->rank == 2 || t->rank == 3) &&
                dim_is_const(t->dim[t->rank - 1], n) && *n > 0 && *n <= MOST_LABELS;
    return fits ? t : NULL;
}

static Card make_listener_card(Arena *arena, int64_t n, const Text *labels,
                               const burin_listener *l) {
    burin_card card = {.magic = BURIN_CARD_MAGIC,
                       .version = BURIN_CARD_VERSION,
                       .mask = -1,
                       .task = BURIN_HEARS,
                       .scoring = BURIN_SOFTMAX,
                       .n_labels = (uint32_t)n,
                       .default_prompt = -1};
    size_t at = (sizeof card + labels->length + 7) / 8 * 8;
    card.bytes = (uint32_t)(at + sizeof *l);
    Card made = {.blob = arena_alloc(arena, card.bytes), .bytes = card.bytes};
    memset(made.blob, 0, card.bytes);
    memcpy(made.blob, &card, sizeof card);
    memcpy((char *)made.blob + sizeof card, labels->data, labels->length);
    memcpy((char *)made.blob + at, l, sizeof *l);
    return made;
}

Card listener_card_read(Arena *arena, const char *path, const Graph *g) {
    Card card = {0};
    int64_t n;
    const Type *logits = takes_samples(g) ? logits_of(g, &n) : NULL;
    if (!logits || !listener_is_beside(arena, path)) return card;
    json_t *features = json_near(arena, path, "preprocessor_config.json"),
           *settings = json_near(arena, path, "tokenizer_config.json"),
           *vocabulary = json_near(arena, path, "vocab.json"),
           *config = json_near(arena, path, "config.json");
    burin_listener l = {.blank = -1};
    Text labels = {0};
    bool whole = read_features(&l, features);
    if (whole && logits->rank == 3)
        whole = read_characters(arena, &l, settings, vocabulary, n, &labels);
    else if (whole)
        whole = read_classes(arena, config, n, &labels);
    if (whole) card = make_listener_card(arena, n, &labels, &l);
    text_free(&labels);
    json_decref(features), json_decref(settings), json_decref(vocabulary), json_decref(config);
    return card;
}
