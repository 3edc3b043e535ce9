// A voice's card: the JSON file beside an ONNX file has the ids of its phonemes, as Piper's voices
// do. Fields that the runtime does not compute leave a program of tensors, with a warning.
#include <stdlib.h>
#include <string.h>

#include "engine/card.h"
#include "engine/voice.h"
#include "frontend/card.h"
#include "util/diag.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

enum { MOST_CHARACTERS = 65536, MOST_IDS = 16, MOST_SPEAKERS = 65536 };

static bool refuse_field(const char *name, const char *why) {
    diag_warning(NO_LOC, "the voice's JSON file: %s %s: the program takes tensors (--input)", name,
                 why);
    return false;
}

static json_t *settings_beside(Arena *arena, const char *path) {
    json_t *config =
        json_beside(path_folder(arena, path), arena_printf(arena, "%s.json", path_name(path)));
    if (json_is_object(json_object_get(config, "phoneme_id_map"))) return config;
    json_decref(config);
    return NULL;
}

bool voice_is_beside(Arena *arena, const char *path) {
    json_t *config = settings_beside(arena, path);
    json_decref(config);
    return config != NULL;
}

// -------------------------------------------------------------------------------------- characters
// The only character of a UTF-8 text that is known to be valid; 0: it has several.
static uint32_t only_character(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    int more = *s < 0x80 ? 0 : *s < 0xe0 ? 1 : *s < 0xf0 ? 2 : 3;
    static const unsigned char bits[] = {0x7f, 0x1f, 0x0f, 0x07};
    uint32_t character = *s & bits[more];
    for (int i = 1; i <= more; i++) character = character << 6 | (s[i] & 0x3f);
    return s[0] && !s[1 + more] ? character : 0;
}

static int compare_phonemes(const void *a, const void *b) {
    uint32_t x = ((const burin_phoneme *)a)->character, y = ((const burin_phoneme *)b)->character;
    return (x > y) - (x < y);
}

// Ids are numbers, or a list of one list: [[3]].
static bool add_ids(Text *ids, const json_t *list, burin_phoneme *p) {
    p->first_id = (uint32_t)(ids->length / sizeof(int32_t));
    p->n_ids = (uint32_t)json_array_size(list);
    if (!p->n_ids || p->n_ids > MOST_IDS) return false;
    for (size_t i = 0; i < p->n_ids; i++) {
        const json_t *v = json_array_get(list, i);
        json_int_t id = json_integer_value(v);
        if (!json_is_integer(v) || id < 0 || id > INT32_MAX) return false;
        int32_t number = (int32_t)id;
        text_append(ids, (const char *)&number, sizeof number);
    }
    return true;
}

static bool read_phonemes(Text *phonemes, Text *ids, json_t *map) {
    const char *key;
    json_t *list;
    if (json_object_size(map) > MOST_CHARACTERS)
        return refuse_field("phoneme_id_map", "has more than 65536 phonemes");
    json_object_foreach(map, key, list) {
        burin_phoneme p = {.character = only_character(key)};
        if (!p.character) return refuse_field("phoneme_id_map", "has a phoneme of two characters");
        if (!add_ids(ids, list, &p))
            return refuse_field("phoneme_id_map", "has a phoneme without a list of ids");
        text_append(phonemes, (const char *)&p, sizeof p);
    }
    qsort(phonemes->data, phonemes->length / sizeof(burin_phoneme), sizeof(burin_phoneme),
          compare_phonemes);
    return true;
}

// ---------------------------------------------------------------------------------------- settings
static double number_of(const json_t *object, const char *name, double absent) {
    const json_t *v = json_object_get(object, name);
    return json_is_number(v) ? json_number_value(v) : absent;
}

static bool read_phoneme_source(burin_voice *v, const json_t *config) {
    const char *type = json_string_value(json_object_get(config, "phoneme_type"));
    const char *language =
        json_string_value(json_object_get(json_object_get(config, "espeak"), "voice"));
    if (type && strcmp(type, "espeak") && strcmp(type, "text"))
        return refuse_field("phoneme_type", "is neither \"espeak\" nor \"text\"");
    v->source = type && !strcmp(type, "text") ? BURIN_CHARACTERS : BURIN_FROM_ESPEAK;
    if (v->source == BURIN_CHARACTERS) return true;
    if (!language || !*language || strlen(language) >= sizeof v->language || *language == '-')
        return refuse_field("espeak.voice", "is no name of a voice");
    memcpy(v->language, language, strlen(language));
    return true;
}

static bool read_settings(burin_voice *v, const json_t *config) {
    const json_t *inference = json_object_get(config, "inference");
    double rate = number_of(json_object_get(config, "audio"), "sample_rate", 22050);
    v->noise = number_of(inference, "noise_scale", 0.667);
    v->width_noise = number_of(inference, "noise_w", 0.8);
    v->length = number_of(inference, "length_scale", 1);
    if (rate < 1000 || rate > 384000)
        return refuse_field("audio.sample_rate", "is not between 1000 and 384000");
    v->sample_rate = (int32_t)rate;
    if (!(v->length >= 0.01 && v->length <= 100 && v->noise >= 0 && v->noise <= 10 &&
          v->width_noise >= 0 && v->width_noise <= 10))
        return refuse_field("inference", "has a scale out of its range");
    return read_phoneme_source(v, config);
}

// Ids around a text: ^ and $, and _ after each phoneme.
static int32_t mark_of(const json_t *map, const char *character) {
    const json_t *id = json_array_get(json_object_get(map, character), 0);
    return id ? (int32_t)json_integer_value(id) : -1;
}

static uint32_t add_speakers(Text *names, Arena *arena, const json_t *config) {
    const json_t *ids = json_object_get(config, "speaker_id_map");
    json_int_t n = json_integer_value(json_object_get(config, "num_speakers"));
    if (n < 2 || n > MOST_SPEAKERS) return 0;
    const char **name = ARENA_ARRAY(arena, const char *, n), *key;
    for (json_int_t i = 0; i < n; i++) name[i] = arena_printf(arena, "%lld", (long long)i);
    const json_t *id;
    json_object_foreach((json_t *)(uintptr_t)ids, key, id) {
        json_int_t at = json_integer_value(id);
        if (json_is_integer(id) && at >= 0 && at < n) name[at] = key;
    }
    for (json_int_t i = 0; i < n; i++) text_append(names, name[i], strlen(name[i]) + 1);
    return (uint32_t)n;
}

// --------------------------------------------------------------------------------------- the graph
static const Node *input_named(const Graph *g, const char *name) {
    for (int i = 0; i < g->n_inputs; i++)
        if (!strcmp(g->inputs[i]->name, name)) return g->inputs[i];
    return NULL;
}

// The ids of one text; how many; three scales. A speaker, where there are several.
static bool takes_phonemes(Graph *g, uint32_t n_speakers) {
    const Node *ids = input_named(g, "input"), *lengths = input_named(g, "input_lengths"),
               *scales = input_named(g, "scales"), *speaker = input_named(g, "sid");
    bool usual = ids && lengths && scales && g->n_outputs == 1 &&
                 g->n_inputs == (speaker ? 4 : 3) && (speaker != NULL) == (n_speakers > 0);
    if (!usual || ids->type.rank != 2 || !dim_is(ids->type.dim[0], 1) ||
        ids->type.dim[1]->kind != DIM_SYMBOL || ids->type.dtype != DT_i64 ||
        lengths->type.dtype != DT_i64 || scales->type.dtype != DT_f32 ||
        !dim_is(type_count(g, &scales->type), 3) || g->outputs[0]->type.dtype != DT_f32)
        return refuse_field("phoneme_id_map", "is not for the inputs and outputs of this network");
    return true;
}

// ---------------------------------------------------------------------------------------- the blob
static size_t pad_to_8(Text *t) {
    static const char zeros[8];
    text_append(t, zeros, (8 - t->length % 8) % 8);
    return t->length;
}

static Card make_card(Arena *arena, uint32_t n_speakers, const Text *names, const Text *phonemes,
                      const Text *ids, burin_voice *v) {
    burin_card card = {.magic = BURIN_CARD_MAGIC,
                       .version = BURIN_CARD_VERSION,
                       .mask = -1,
                       .task = BURIN_SPEAKS,
                       .n_labels = n_speakers,
                       .default_prompt = -1};
    Text blob = {0};
    text_append(&blob, (const char *)&card, sizeof card);
    text_append(&blob, names->data, names->length);
    v->phonemes_offset = (uint32_t)pad_to_8(&blob);
    v->n_phonemes = (uint32_t)(phonemes->length / sizeof(burin_phoneme));
    text_append(&blob, phonemes->data, phonemes->length);
    v->ids_offset = (uint32_t)pad_to_8(&blob);
    text_append(&blob, ids->data, ids->length);
    pad_to_8(&blob);
    text_append(&blob, (const char *)v, sizeof *v);
    Card made = {.blob = arena_alloc(arena, blob.length), .bytes = (uint32_t)blob.length};
    memcpy(made.blob, blob.data, blob.length);
    ((burin_card *)made.blob)->bytes = made.bytes;
    text_free(&blob);
    return made;
}

Card voice_card_read(Arena *arena, const char *path, Graph *g) {
    json_t *config = settings_beside(arena, path);
    json_t *map = json_object_get(config, "phoneme_id_map");
    Text phonemes = {0}, ids = {0}, names = {0};
    burin_voice v = {0};
    Card card = {0};
    if (!config) return card;
    uint32_t n_speakers = add_speakers(&names, arena, config);
    if (read_settings(&v, config) && read_phonemes(&phonemes, &ids, map) &&
        takes_phonemes(g, n_speakers)) {
        v.begin = mark_of(map, "^"), v.end = mark_of(map, "$"), v.between = mark_of(map, "_");
        card = make_card(arena, n_speakers, &names, &phonemes, &ids, &v);
    }
    text_free(&phonemes), text_free(&ids), text_free(&names);
    json_decref(config);
    return card;
}
