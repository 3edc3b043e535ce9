// A listener's card: the files of a folder, or beside an ONNX file as optimum exports it.
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

bool refuse_listener(const char *file, const char *why) {
    diag_warning(NO_LOC, "%s %s: the program takes tensors (--input), not recordings", file, why);
    return false;
}

// The folder of a model, or of an ONNX file and the one around onnx/.
static json_t *json_near(Arena *arena, const char *folder, bool is_file, const char *name) {
    json_t *found = json_beside(folder, name);
    return found || !is_file ? found : json_beside(arena_printf(arena, "%s/..", folder), name);
}

// Since transformers 5 the settings are a part of processor_config.json.
static json_t *extractor_settings(Arena *arena, const char *folder, bool is_file) {
    json_t *all = json_near(arena, folder, is_file, "processor_config.json");
    json_t *part = json_incref(json_object_get(all, "feature_extractor"));
    json_decref(all);
    return part ? part : json_near(arena, folder, is_file, "preprocessor_config.json");
}

json_t *sound_settings_read(Arena *arena, const char *folder) {
    return extractor_settings(arena, folder, false);
}

bool listener_is_beside(Arena *arena, const char *path) {
    json_t *config = extractor_settings(arena, path_folder(arena, path), true);
    bool is = sound_features_known(config);
    json_decref(config);
    return is;
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
    const char *language = word_of(settings, "target_lang", NULL);
    json_t *own = language ? json_object_get(vocabulary, language) : NULL;
    if (json_is_object(own)) vocabulary = own;  // MMS: a vocabulary for each language
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

// Pieces of words, which the program's tokenizer turns into text.
static bool read_pieces(burin_listener *l, const json_t *config, int64_t n, Text *labels) {
    const json_t *pad = json_object_get(config, "pad_token_id");
    json_int_t blank = json_is_integer(pad) ? json_integer_value(pad) : -1;
    if (blank < 0 || blank >= n)
        return refuse_listener("config.json", "has no pad_token_id that is CTC's blank");
    l->blank = (int32_t)blank;
    l->by_tokenizer = 1;
    for (int64_t i = 0; i < n; i++) text_append(labels, "", 1);
    return true;
}

// ------------------------------------------------------------------------------------- the graph
// Samples [S], or frames [F, bands]; ONNX files have a batch of one in front.
static bool takes_sound(const Node *in, const burin_features *f) {
    const Type *t = &in->type;
    const char *name = f->n_mels && !f->frames ? "input_features" : "input_values";
    int rank = f->n_mels ? 2 : 1;
    bool batch = t->rank == rank + 1 && dim_is(t->dim[0], 1);
    if (t->dtype != DT_f32 || (t->rank != rank && !batch)) return false;
    if (strcmp(in->name, name) && strcmp(in->name, "input_features")) return false;
    if (f->n_mels && !dim_is(t->dim[t->rank - 1], f->n_mels)) return false;
    const Dim *length = t->dim[t->rank - rank];
    return f->frames ? dim_is(length, f->frames) : length->kind == DIM_SYMBOL;
}

static bool takes_recordings(const Graph *g, const burin_features *f) {
    if (g->n_inputs < 1 || g->n_inputs > 2 || g->n_outputs < 1) return false;
    for (int i = 0; i < g->n_inputs; i++) {
        const Node *in = g->inputs[i];
        bool mask = !strcmp(in->name, "attention_mask") && in->type.rank == 2 &&
                    dim_is(in->type.dim[0], 1) && in->type.dim[1]->kind == DIM_SYMBOL;
        if (!mask && !takes_sound(in, f)) return false;
    }
    return true;
}

// [frames, characters] or [classes]; ONNX files have a batch of one in front. NULL: neither.
static const Type *logits_of(const Graph *g, int64_t *n, bool *by_frame) {
    int at = graph_output_index(g, "logits");
    const Type *t = at < 0 ? NULL : &g->outputs[at]->type;
    int rank = t ? t->rank - (t->rank > 1 && dim_is(t->dim[0], 1)) : 0;
    *by_frame = rank == 2;
    bool fits = t && t->dtype == DT_f32 && (rank == 1 || rank == 2) &&
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

// Reads the meaning of each logit: a character of CTC, or a label.
static bool read_labels(Arena *arena, const SoundFolder *f, int64_t n, bool by_frame,
                        burin_listener *l, Text *labels) {
    json_t *vocabulary = json_near(arena, f->folder, f->is_file, "vocab.json"),
           *settings = json_near(arena, f->folder, f->is_file, "tokenizer_config.json"),
           *config = json_near(arena, f->folder, f->is_file, "config.json");
    bool whole;
    if (!by_frame)
        whole = read_classes(arena, config, n, labels);
    else if (!vocabulary && f->has_tokenizer)
        whole = read_pieces(l, config, n, labels);
    else
        whole = read_characters(arena, l, settings, vocabulary, n, labels);
    json_decref(settings), json_decref(vocabulary), json_decref(config);
    return whole;
}

// ---------------------------------------------------------------------------------------- detectors
static bool is_shape(const Node *n, const char *name, int rank, int64_t *last, int64_t *values) {
    if (n->type.dtype != DT_f32 || n->type.rank != rank || (name && strcmp(n->name, name)))
        return false;
    *values = 1;
    for (int axis = 0; axis < rank; axis++) {
        if (!dim_is_const(n->type.dim[axis], last)) return false;
        *values *= *last;
    }
    return true;
}

// A window and a state in, a probability and the next state out: Silero's form, at 16,000 or 8,000
// samples a second.
static bool is_detector(const Graph *g, burin_listener *l) {
    int64_t samples = 0, state = 0, values, one = 0, next = 0;
    if (g->n_inputs != 2 || g->n_outputs != 2) return false;
    for (int i = 0; i < 2; i++) {
        if (is_shape(g->inputs[i], "input", 2, &samples, &values) && values != samples)
            return false;
        is_shape(g->inputs[i], "state", 3, &values, &state);
        is_shape(g->outputs[i], NULL, 2, &values, &one);
        is_shape(g->outputs[i], NULL, 3, &values, &next);
    }
    if ((samples != 576 && samples != 288) || one != 1 || !state || state != next) return false;
    l->sample_rate = samples == 576 ? 16000 : 8000;
    l->context = (int32_t)(samples / 9);
    l->window = (int32_t)(samples - l->context);
    l->state = (int32_t)state;
    return state <= 1 << 20;
}

Card listener_card_read(Arena *arena, const SoundFolder *f, const Graph *g) {
    Card card = {0};
    int64_t n;
    bool by_frame;
    burin_listener *l = ARENA_NEW(arena, burin_listener);
    Text labels = {0};
    json_t *settings = extractor_settings(arena, f->folder, f->is_file);
    l->blank = -1;
    bool hears = logits_of(g, &n, &by_frame) && sound_features_read(l, settings) &&
                 takes_recordings(g, &l->features);
    if (!settings && f->is_file && is_detector(g, l))
        card = make_listener_card(arena, 0, &labels, l);
    else if (hears && read_labels(arena, f, n, by_frame, l, &labels))
        card = make_listener_card(arena, n, &labels, l);
    text_free(&labels);
    json_decref(settings);
    return card;
}
