// An image classifier's card: preprocessor_config.json, and the labels of config.json. Settings
// that the runtime does not compute leave a program of tensors, with a warning that names them.
#include <math.h>
#include <string.h>

#include "engine/card.h"
#include "engine/picture.h"
#include "frontend/card.h"
#include "util/diag.h"
#include "util/json.h"
#include "util/text.h"

#define FILE_NAME "preprocessor_config.json"

// A processor's class, without ImageProcessor or FeatureExtractor at the end, and its defaults.
typedef struct Processor {
    const char *name;
    int edge;       // pixels of "size" where it is missing; 0: defaults differ between versions
    bool shortest;  // a "size" that is a number means the shortest edge
    int crop;       // pixels of "crop_size" where it is missing; 0: it never crops
    burin_resampling resample;
    bool clip;  // CLIP's mean and deviation where they are missing; else 0.5
} Processor;

static const Processor processors[] = {
    {"ViT", 224, false, 0, BURIN_BILINEAR, false},
    {"DeiT", 256, false, 224, BURIN_BICUBIC, false},
    {"Beit", 0, false, 224, BURIN_BICUBIC, false},
    {"Bit", 224, true, 224, BURIN_BICUBIC, true},
    {"CLIP", 224, true, 224, BURIN_BICUBIC, true},
    {"Siglip", 224, false, 0, BURIN_BICUBIC, false},
    {"Gemma3", 224, false, 0, BURIN_BILINEAR, false},
};

// Processors that cut pictures into tiles, and the fields that say how (frontend/eyes.c).
static const Processor cutters[] = {
    {"Idefics3", 0, false, 0, BURIN_LANCZOS, false}, {"SmolVLM", 0, false, 0, BURIN_LANCZOS, false},
    {"GotOcr2", 0, false, 0, BURIN_BICUBIC, true},   {"Qwen2VL", 0, false, 0, BURIN_BICUBIC, true},
    {"Pixtral", 0, false, 0, BURIN_BICUBIC, true},
};
static const char *const cut_fields[] = {
    "do_image_splitting", "max_image_size",  "do_pad",      "return_row_col_info",
    "video_sampling",     "crop_to_patches", "min_patches", "max_patches",
    "min_pixels",         "max_pixels",      "patch_size",  "temporal_patch_size",
    "merge_size"};

static const float clip[2][3] = {{0.48145466f, 0.4578275f, 0.40821073f},
                                 {0.26862954f, 0.26130258f, 0.27577711f}};

// Fields that no value depends on, and those that are read below.
static const char *const known_fields[] = {"image_processor_type",
                                           "feature_extractor_type",
                                           "processor_class",
                                           "_valid_processor_keys",
                                           "do_convert_rgb",
                                           "return_tensors",
                                           "data_format",
                                           "input_data_format",
                                           "device",
                                           "disable_grouping",
                                           "do_reduce_labels",
                                           "reduce_labels",
                                           "auto_map",
                                           "default_to_square",
                                           "do_resize",
                                           "size",
                                           "resample",
                                           "do_center_crop",
                                           "crop_size",
                                           "do_rescale",
                                           "rescale_factor",
                                           "do_normalize",
                                           "image_mean",
                                           "image_std"};

// --------------------------------------------------------------------------------------- reading
static bool refuse_field(const char *name, const char *why) {
    diag_warning(NO_LOC, FILE_NAME ": %s %s: the program takes tensors (--input), no pictures",
                 name, why);
    return false;
}

static bool is_cut_field(const char *name) {
    for (size_t i = 0; i < sizeof cut_fields / sizeof *cut_fields; i++)
        if (!strcmp(name, cut_fields[i])) return true;
    return false;
}

static bool has_known_fields(const json_t *config, bool cut) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)config, name, value) {
        bool known = json_is_null(value) || json_is_false(value) || (cut && is_cut_field(name));
        for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++)
            known |= !strcmp(name, known_fields[i]);
        if (!known) return refuse_field(name, "is not supported");
    }
    return true;
}

static const Processor *processor_of(const json_t *config, const Processor *list, size_t count) {
    static const char *const ends[] = {"ImageProcessor", "ImageProcessorFast", "FeatureExtractor",
                                       "ImageProcessorPil"};
    const char *type = json_string_value(json_object_get(config, "image_processor_type"));
    if (!type) type = json_string_value(json_object_get(config, "feature_extractor_type"));
    for (size_t i = 0; type && i < count; i++) {
        size_t n = strlen(list[i].name);
        if (strncmp(type, list[i].name, n) != 0) continue;
        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++)
            if (!strcmp(type + n, ends[j])) return &list[i];
    }
    refuse_field(type ? type : "image_processor_type", type ? "is not supported" : "is missing");
    return NULL;
}

static bool flag_of(const json_t *config, const char *name, bool absent) {
    const json_t *v = json_object_get(config, name);
    return json_is_boolean(v) ? json_is_true(v) : absent;
}

// 0: no count of pixels.
static int32_t pixels_of(const json_t *v) {
    bool fits = json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= 4096;
    return fits ? (int32_t)json_integer_value(v) : 0;
}

static bool read_sides(const json_t *size, int32_t *height, int32_t *width) {
    *height = pixels_of(json_is_object(size) ? json_object_get(size, "height") : size);
    *width = pixels_of(json_is_object(size) ? json_object_get(size, "width") : size);
    return *height && *width && (!json_is_object(size) || json_object_size(size) == 2);
}

static bool read_filter(burin_picture *p, const json_t *config, const Processor *k) {
    const json_t *resample = json_object_get(config, "resample");
    p->resample =
        json_is_integer(resample) ? (int32_t)json_integer_value(resample) : (int32_t)k->resample;
    return (p->resample >= BURIN_NEAREST && p->resample <= BURIN_BOX) ||
           refuse_field("resample", "is not 0 to 4 (nearest, lanczos, bilinear, bicubic, box)");
}

static bool read_resize(burin_picture *p, const json_t *config, const Processor *k) {
    const json_t *size = json_object_get(config, "size"), *edge;
    if (!flag_of(config, "do_resize", true)) return true;
    if (!read_filter(p, config, k)) return false;
    edge = json_object_get(size, "shortest_edge");
    bool one = edge && json_object_size(size) == 1;
    p->resize =
        one || (k->shortest && !json_is_object(size)) ? BURIN_SHORTEST_EDGE : BURIN_EXACT_SIZE;
    p->height = p->width = k->edge;
    if (!size || json_is_null(size)) return k->edge || refuse_field("size", "is missing");
    if (one) size = edge;
    if (one && !k->shortest) return refuse_field("size", "is no height and width");
    return read_sides(size, &p->height, &p->width) ||
           refuse_field("size", "is no height and width, nor a shortest edge, of 1 to 4096 pixels");
}

static bool read_crop(burin_picture *p, const json_t *config, const Processor *k) {
    const json_t *size = json_object_get(config, "crop_size");
    if (!k->crop && flag_of(config, "do_center_crop", false))
        return refuse_field("do_center_crop", "is not supported for this class");
    if (!k->edge && !json_is_boolean(json_object_get(config, "do_center_crop")))
        return refuse_field("do_center_crop", "is missing");
    if (!k->crop || !flag_of(config, "do_center_crop", true)) return true;
    p->crop_height = p->crop_width = k->crop;
    if (!size || json_is_null(size)) return true;
    return read_sides(size, &p->crop_height, &p->crop_width) ||
           refuse_field("crop_size", "is no height and width of 1 to 4096 pixels");
}

static bool read_channels(float *to, const json_t *config, const char *name, const float *absent) {
    const json_t *list = json_object_get(config, name);
    for (size_t i = 0; i < 3; i++) {
        const json_t *v = json_is_array(list) ? json_array_get(list, i) : list;
        bool missing = !list || json_is_null(list);
        if (!missing && !json_is_number(v)) return refuse_field(name, "is no list of 3 numbers");
        to[i] = missing ? absent[i] : (float)json_number_value(v);
        if (!isfinite(to[i])) return refuse_field(name, "has a number that is too large");
    }
    return !json_is_array(list) || json_array_size(list) == 3 ||
           refuse_field(name, "is no list of 3 numbers");
}

static bool read_values(burin_picture *p, const json_t *config, const Processor *k) {
    static const float half[3] = {0.5f, 0.5f, 0.5f};
    const json_t *factor = json_object_get(config, "rescale_factor");
    p->scale = 1;
    if (flag_of(config, "do_rescale", true))
        p->scale = json_is_number(factor) ? json_number_value(factor) : 1.0 / 255;
    for (int i = 0; i < 3; i++) p->deviation[i] = 1;
    if (!flag_of(config, "do_normalize", true)) return true;
    if (!read_channels(p->mean, config, "image_mean", k->clip ? clip[0] : half)) return false;
    if (!read_channels(p->deviation, config, "image_std", k->clip ? clip[1] : half)) return false;
    for (int i = 0; i < 3; i++)
        if (p->deviation[i] == 0) return refuse_field("image_std", "has a 0");
    return true;
}

// ------------------------------------------------------------------------------------------- card
// Pictures of the model's size alone reach it.
static bool fits_input(const burin_picture *p, int64_t height, int64_t width) {
    int32_t from_height = p->crop_height ? p->crop_height : p->height;
    int32_t from_width = p->crop_height ? p->crop_width : p->width;
    bool known = p->crop_height || p->resize == BURIN_EXACT_SIZE;
    if (!known && p->resize == BURIN_SHORTEST_EDGE)
        return refuse_field("do_center_crop", "is off, and sizes differ by picture");
    if (known && (from_height != height || from_width != width))
        return refuse_field(p->crop_height ? "crop_size" : "size",
                            "is not config.json's image_size");
    return true;
}

#define COUNT(list) (sizeof(list) / sizeof *(list))
bool picture_settings_read(burin_picture *p, const json_t *settings, bool cut, int64_t height,
                           int64_t width) {
    if (!has_known_fields(settings, cut)) return false;
    const Processor *k = cut ? processor_of(settings, cutters, COUNT(cutters))
                             : processor_of(settings, processors, COUNT(processors));
    if (cut)
        return k &&
               (flag_of(settings, "do_resize", true) || refuse_field("do_resize", "is false")) &&
               read_filter(p, settings, k) && read_values(p, settings, k);
    return k && read_resize(p, settings, k) && read_crop(p, settings, k) &&
           read_values(p, settings, k) && fits_input(p, height, width);
}

static const Node *classifier_logits(const Checkpoint *c, const Graph *g) {
    const char *name = checkpoint_class(c);
    int at = graph_output_index(g, "logits");
    int64_t channels;
    if (at < 0 || !name || !strstr(name, "ForImageClassification") || g->n_inputs != 1) return NULL;
    const Type *in = &g->inputs[0]->type;
    bool takes = in->rank == 3 && dim_is_const(in->dim[0], &channels) && channels == 3;
    return takes && g->outputs[at]->type.rank == 1 ? g->outputs[at] : NULL;
}

static burin_scoring picture_scoring(const Checkpoint *c, int64_t n) {
    const char *problem = json_string_value(json_object_get(c->config, "problem_type"));
    if (problem && !strcmp(problem, "regression")) return BURIN_AS_IT_IS;
    bool sigmoid = n == 1 || (problem && !strcmp(problem, "multi_label_classification"));
    return sigmoid ? BURIN_SIGMOID : BURIN_SOFTMAX;
}

static Card make_card(Arena *arena, const Checkpoint *c, int64_t n, const burin_picture *p) {
    burin_card card = {.magic = BURIN_CARD_MAGIC,
                       .version = BURIN_CARD_VERSION,
                       .mask = -1,
                       .task = BURIN_LABELS_PICTURES,
                       .default_prompt = -1};
    Text strings = {0};
    card.n_labels = card_add_labels(&strings, c, n);
    card.scoring = picture_scoring(c, n);
    size_t at = (sizeof card + strings.length + 7) / 8 * 8;
    card.bytes = (uint32_t)(at + sizeof *p);
    Card made = {.blob = arena_alloc(arena, card.bytes), .bytes = card.bytes};
    memset(made.blob, 0, card.bytes);
    memcpy(made.blob, &card, sizeof card);
    memcpy((char *)made.blob + sizeof card, strings.data, strings.length);
    memcpy((char *)made.blob + at, p, sizeof *p);
    text_free(&strings);
    return made;
}

Card picture_card_read(Arena *arena, const Checkpoint *c, const Graph *g) {
    const Node *logits = classifier_logits(c, g);
    int64_t n, height, width;
    Card card = {0};
    if (!logits || !dim_is_const(logits->type.dim[0], &n)) return card;
    json_t *config = json_beside(c->folder, FILE_NAME);
    if (!config) return card;
    burin_picture p = {0};
    if (!dim_is_const(g->inputs[0]->type.dim[1], &height) ||
        !dim_is_const(g->inputs[0]->type.dim[2], &width))
        refuse_field("size", "is fixed, and the model's is not");
    else if (picture_settings_read(&p, config, false, height, width))
        card = make_card(arena, c, n, &p);
    json_decref(config);
    return card;
}
