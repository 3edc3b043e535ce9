// The card of a network that takes pictures: preprocessor_config.json, and the labels of
// config.json. Settings that the runtime does not compute leave a program of tensors, with a
// warning that names them.
#include <math.h>
#include <string.h>

#include "engine/card.h"
#include "engine/picture.h"
#include "frontend/card.h"
#include "ir/convert.h"
#include "tokenizer/tokenizer.h"
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
    int values;  // mean and deviation where they are missing: 0: 0.5, 1: CLIP's, 2: ImageNet's, 3:
                 // 0 and 1
} Processor;

static const Processor processors[] = {
    {"ViT", 224, false, 0, BURIN_BILINEAR, 0},
    {"DeiT", 256, false, 224, BURIN_BICUBIC, 0},
    {"Beit", 0, false, 224, BURIN_BICUBIC, 0},
    {"Bit", 224, true, 224, BURIN_BICUBIC, 1},
    {"CLIP", 224, true, 224, BURIN_BICUBIC, 1},
    {"Siglip", 224, false, 0, BURIN_BICUBIC, 0},
    {"Gemma3", 224, false, 0, BURIN_BILINEAR, 0},
    {"Yolos", 800, false, 0, BURIN_BILINEAR, 2},
    {"ConvNext", 384, true, 0, BURIN_BICUBIC, 0},
    {"EfficientNet", 346, false, 0, BURIN_BICUBIC, 0},
    {"MobileNetV1", 256, true, 224, BURIN_BILINEAR, 0},
    {"MobileNetV2", 256, true, 224, BURIN_BILINEAR, 0},
    {"Segformer", 512, false, 0, BURIN_BILINEAR, 2},
    {"DPT", 384, false, 0, BURIN_BICUBIC, 0},
    {"Donut", 2560, false, 0, BURIN_BILINEAR, 0},
};

// Fields of one processor alone.
static const struct {
    const char *processor, *field;
} own_fields[] = {{"ConvNext", "crop_pct"},     {"EfficientNet", "include_top"},
                  {"DPT", "keep_aspect_ratio"}, {"DPT", "ensure_multiple_of"},
                  {"Donut", "do_thumbnail"},    {"Donut", "do_align_long_axis"},
                  {"Donut", "do_pad"}};

// Processors that cut pictures into tiles, and the fields that say how (frontend/eyes.c).
static const Processor cutters[] = {
    {"Idefics3", 0, false, 0, BURIN_LANCZOS, 0}, {"SmolVLM", 0, false, 0, BURIN_LANCZOS, 0},
    {"GotOcr2", 0, false, 0, BURIN_BICUBIC, 1},  {"Qwen2VL", 0, false, 0, BURIN_BICUBIC, 1},
    {"Glm46V", 0, false, 0, BURIN_BICUBIC, 1},   {"Glm4v", 0, false, 0, BURIN_BICUBIC, 1},
    {"Pixtral", 0, false, 0, BURIN_BICUBIC, 1},  {"Gemma4", 0, false, 0, BURIN_BICUBIC, 3},
    {"LlavaNext", 0, true, 0, BURIN_BICUBIC, 1},
};
static const char *const cut_fields[] = {
    "do_image_splitting",  "max_image_size",  "do_pad",
    "return_row_col_info", "video_sampling",  "crop_to_patches",
    "min_patches",         "max_patches",     "min_pixels",
    "max_pixels",          "patch_size",      "temporal_patch_size",
    "merge_size",          "max_soft_tokens", "pooling_kernel_size",
    "image_grid_pinpoints"};

static const float usual_values[4][2][3] = {
    {{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}},
    {{0.48145466f, 0.4578275f, 0.40821073f}, {0.26862954f, 0.26130258f, 0.27577711f}},
    {{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}},
    {{0, 0, 0}, {1, 1, 1}}};

// Fields that no value depends on, and those that are read below.
static const char *const known_fields[] = {"image_processor_type",
                                           "feature_extractor_type",
                                           "processor_class",
                                           "_valid_processor_keys",
                                           "do_convert_rgb",
                                           "image_seq_length",
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

// Detectors' processors: fields of annotations; padding of batches.
static bool is_of_batches(const json_t *config, const char *name) {
    static const char *const names[] = {"do_pad",   "do_convert_annotations",    "format",
                                        "pad_size", "pad_and_return_pixel_mask", "max_size"};
    const char *type = json_string_value(json_object_get(config, "image_processor_type"));
    if (!type || strncmp(type, "Yolos", 5) != 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static const char *class_of(const json_t *config) {
    const char *type = json_string_value(json_object_get(config, "image_processor_type"));
    return type ? type : json_string_value(json_object_get(config, "feature_extractor_type"));
}

static bool is_own_field(const json_t *config, const char *name) {
    const char *type = class_of(config);
    for (size_t i = 0; type && i < sizeof own_fields / sizeof *own_fields; i++)
        if (!strncmp(type, own_fields[i].processor, strlen(own_fields[i].processor)) &&
            !strcmp(name, own_fields[i].field))
            return true;
    return false;
}

static bool has_known_fields(const json_t *config, bool cut) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)config, name, value) {
        bool known = json_is_null(value) || json_is_false(value) || (cut && is_cut_field(name)) ||
                     is_of_batches(config, name) || is_own_field(config, name);
        for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++)
            known |= !strcmp(name, known_fields[i]);
        if (!known) return refuse_field(name, "is not supported");
    }
    return true;
}

static const Processor *processor_of(const json_t *config, const Processor *list, size_t count) {
    static const char *const ends[] = {"ImageProcessor", "ImageProcessorFast", "FeatureExtractor",
                                       "ImageProcessorPil"};
    const char *type = class_of(config);
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

// Donut: a page within the size, black around it. Files of old have [width, height].
static bool read_page(burin_picture *p, const json_t *config) {
    const json_t *size = json_object_get(config, "size");
    const bool pair = json_is_array(size) && json_array_size(size) == 2;
    p->resize = BURIN_PAGE;
    p->page = (flag_of(config, "do_align_long_axis", false) ? BURIN_PAGE_TURNED : 0) |
              (flag_of(config, "do_resize", true) ? BURIN_PAGE_RESIZED : 0) |
              (flag_of(config, "do_thumbnail", true) ? BURIN_PAGE_WITHIN : 0);
    if (!flag_of(config, "do_pad", true)) return refuse_field("do_pad", "is false");
    if (pair) p->width = pixels_of(json_array_get(size, 0));
    if (pair) p->height = pixels_of(json_array_get(size, 1));
    if (pair ? !p->width || !p->height : !read_sides(size, &p->height, &p->width))
        return refuse_field("size", "is no height and width of 1 to 4096 pixels");
    return true;
}

static bool read_resize(burin_picture *p, const json_t *config, const Processor *k) {
    const json_t *size = json_object_get(config, "size"), *edge;
    const bool page = !strcmp(k->name, "Donut");
    if (!page && !flag_of(config, "do_resize", true)) return true;
    if (!read_filter(p, config, k)) return false;
    if (page) return read_page(p, config);
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

// ConvNeXt: the shortest edge is larger by 1 / crop_pct and the middle is cut out, or, from 384
// pixels on, the picture is stretched.
static bool read_crop_part(burin_picture *p, const json_t *config, const Processor *k) {
    const json_t *part = json_object_get(config, "crop_pct");
    const double given = json_is_number(part) ? json_number_value(part) : 224.0 / 256;
    if (strcmp(k->name, "ConvNext") != 0 || !p->resize) return true;
    if (p->resize != BURIN_SHORTEST_EDGE) return refuse_field("size", "is no shortest edge");
    if (!(given > 0.1 && given <= 1)) return refuse_field("crop_pct", "is not 0.1 to 1");
    p->width = p->height;
    p->resize = p->height < 384 ? BURIN_SHORTEST_EDGE : BURIN_EXACT_SIZE;
    if (p->height >= 384) return true;
    p->crop_height = p->crop_width = p->height;
    p->height = p->width = (int32_t)(p->height / given);
    return true;
}

// DPT: a side fits the size, the other keeps the picture's ratio; both are a multiple.
static bool read_ratio(burin_picture *p, const json_t *config) {
    const json_t *multiple = json_object_get(config, "ensure_multiple_of");
    if (!p->resize) return true;
    if (multiple && !json_is_null(multiple) && !pixels_of(multiple))
        return refuse_field("ensure_multiple_of", "is no number of 1 to 4096 pixels");
    p->multiple = pixels_of(multiple);
    p->keep_ratio = flag_of(config, "keep_aspect_ratio", false);
    return true;
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
    const json_t *factor = json_object_get(config, "rescale_factor");
    p->scale = 1;
    if (flag_of(config, "do_rescale", true))
        p->scale = json_is_number(factor) ? json_number_value(factor) : 1.0 / 255;
    for (int i = 0; i < 3; i++) p->deviation[i] = 1;
    if (!flag_of(config, "do_normalize", true)) return true;
    if (!read_channels(p->mean, config, "image_mean", usual_values[k->values][0])) return false;
    if (!read_channels(p->deviation, config, "image_std", usual_values[k->values][1])) return false;
    for (int i = 0; i < 3; i++)
        if (p->deviation[i] == 0) return refuse_field("image_std", "has a 0");
    const bool twice = !strcmp(k->name, "EfficientNet") && flag_of(config, "include_top", true);
    for (int i = 0; twice && i < 3; i++) p->deviation[i] *= p->deviation[i];
    return true;
}

// The processor's settings: since transformers 5 they may be part of another file.
json_t *processor_of_folder(const char *folder) {
    json_t *all = json_beside(folder, "processor_config.json");
    json_t *part = json_incref(json_object_get(all, "image_processor"));
    json_decref(all);
    return part ? part : json_beside(folder, FILE_NAME);
}

bool picture_size_of_folder(const char *folder, int64_t *height, int64_t *width) {
    json_t *config = processor_of_folder(folder);
    const char *type = class_of(config);
    const json_t *crop = json_object_get(config, "do_center_crop"),
                 *size = json_object_get(config, "crop_size");
    const bool crops = json_is_true(crop) || (!json_is_boolean(crop) && json_is_object(size));
    if (!crops) size = json_object_get(config, "size");
    const json_t *edge = json_object_get(size, "shortest_edge");
    int32_t sides[2];
    const bool found = type && read_sides(edge ? edge : size, &sides[0], &sides[1]);
    if (found) *height = sides[0], *width = sides[1];
    json_decref(config);
    return found;
}

// ------------------------------------------------------------------------------------------- card
// Pictures of the model's size alone reach it.
static bool fits_input(const burin_picture *p, int64_t height, int64_t width) {
    int32_t from_height = p->crop_height ? p->crop_height : p->height;
    int32_t from_width = p->crop_height ? p->crop_width : p->width;
    bool known = p->crop_height || p->resize == BURIN_EXACT_SIZE || p->resize == BURIN_PAGE;
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
           read_crop_part(p, settings, k) && read_ratio(p, settings) &&
           read_values(p, settings, k) && fits_input(p, height, width);
}

static bool takes_picture(const Node *input) {
    int64_t channels;
    return input->type.rank == 3 && dim_is_const(input->type.dim[0], &channels) && channels == 3;
}

static const Node *picture_input(const Graph *g) {
    const Node *found = NULL;
    for (int i = 0; i < g->n_inputs; i++)
        if (takes_picture(g->inputs[i])) found = g->inputs[i];
    return found;
}

static int output_rank(const Graph *g, const char *name) {
    int at = graph_output_index(g, name);
    return at < 0 ? -1 : g->outputs[at]->type.rank;
}

static burin_scoring picture_scoring(const Checkpoint *c, int64_t n) {
    const char *problem = json_string_value(json_object_get(c->config, "problem_type"));
    if (problem && !strcmp(problem, "regression")) return BURIN_AS_IT_IS;
    bool sigmoid = n == 1 || (problem && !strcmp(problem, "multi_label_classification"));
    return sigmoid ? BURIN_SIGMOID : BURIN_SOFTMAX;
}

// Sets the program's task by the graph's inputs and outputs, and the labels by the last axis of
// "logits".
static bool find_task(const Checkpoint *c, const Graph *g, const Tokenizer *t, burin_card *card,
                      int64_t *labels) {
    const char *name = checkpoint_class(c);
    int logits = graph_output_index(g, "logits");
    const Type *type = logits < 0 ? NULL : &g->outputs[logits]->type;
    if (g->n_inputs == 2 && t && output_rank(g, "text_embeds") == 1 &&
        output_rank(g, "image_embeds") == 1) {
        card->task = BURIN_MATCHES_PICTURES;
        return true;
    }
    if (g->n_inputs != 1) return false;
    card->task = BURIN_READS_PICTURES;
    if (output_rank(g, "encoder_last_hidden_state") == 2) return true;
    if (name && strstr(name, "ForImageClassification") && type && type->rank == 1) {
        card->task = BURIN_LABELS_PICTURES;
        return dim_is_const(type->dim[0], labels);
    }
    if (name && strstr(name, "ForObjectDetection") && type && type->rank == 2 &&
        output_rank(g, "pred_boxes") == 2) {
        card->task = BURIN_FINDS_OBJECTS;
        return dim_is_const(type->dim[1], labels) && --*labels > 0;  // the last is no object
    }
    card->task = BURIN_MAPS_PIXELS;
    if (output_rank(g, "predicted_depth") == 2) return true;
    if (name && strstr(name, "ForSemanticSegmentation") && type && type->rank == 3)
        return dim_is_const(type->dim[0], labels);
    card->task = BURIN_EMBEDS_PICTURES;
    return logits < 0 &&
           (output_rank(g, "image_embeds") == 1 || output_rank(g, "pooler_output") == 1 ||
            output_rank(g, "last_hidden_state") == 2);
}

static double scalar_of(const Checkpoint *c, const char *name, double absent) {
    const Tensor *t = checkpoint_find(c, name);
    return t && t->data ? dtype_load(t->dtype, t->data, 0) : absent;
}

// CLIP's texts end with their last token; SigLIP pads them to the length that it was trained with.
static burin_pairing match_of(const Checkpoint *c, const Graph *g, const Tokenizer *t) {
    burin_pairing m = {.pad = -1, .scale = (float)exp(scalar_of(c, "logit_scale", 0))};
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS)
            m.length = (int32_t)dim_upper(g->inputs[i]->type.dim[0]);
    if (!checkpoint_find(c, "logit_bias")) return m;
    json_t *settings = json_beside(c->folder, "tokenizer_config.json");
    const json_t *pad = json_object_get(settings, "pad_token");
    if (json_is_object(pad)) pad = json_object_get(pad, "content");
    const char *word = json_is_string(pad) ? json_string_value(pad) : "</s>";
    m.pad = burin_token_find(t->blob, word, strlen(word));
    m.bias = (float)scalar_of(c, "logit_bias", 0), m.sigmoid = 1;
    json_decref(settings);
    return m;
}

static Card make_card(Arena *arena, const Checkpoint *c, burin_card card, const void *settings,
                      size_t bytes) {
    Text strings = {0};
    uint32_t n = card.n_labels;
    card.magic = BURIN_CARD_MAGIC, card.version = BURIN_CARD_VERSION;
    card.mask = card.default_prompt = -1;
    if (n) card.n_labels = card_add_labels(&strings, c, n);
    size_t at = (sizeof card + strings.length + 7) / 8 * 8;
    card.bytes = (uint32_t)(at + bytes);
    Card made = {.blob = arena_alloc(arena, card.bytes), .bytes = card.bytes};
    memset(made.blob, 0, card.bytes);
    memcpy(made.blob, &card, sizeof card);
    if (strings.length) memcpy((char *)made.blob + sizeof card, strings.data, strings.length);
    memcpy((char *)made.blob + at, settings, bytes);
    text_free(&strings);
    return made;
}

static Card card_of_task(Arena *arena, const Checkpoint *c, const Graph *g, const Tokenizer *t,
                         burin_card card, const burin_picture *p) {
    struct {
        burin_picture picture;
        burin_pairing match;
    } both = {.picture = *p};
    bool matches = card.task == BURIN_MATCHES_PICTURES;
    if (matches) both.match = match_of(c, g, t);
    Card made = make_card(arena, c, card, &both, matches ? sizeof both : sizeof *p);
    made.pictures = card.task == BURIN_LABELS_PICTURES   ? "picture"
                    : card.task == BURIN_EMBEDS_PICTURES ? "picture_embed"
                    : card.task == BURIN_FINDS_OBJECTS   ? "picture_objects"
                    : card.task == BURIN_MAPS_PIXELS     ? "picture_map"
                    : card.task == BURIN_READS_PICTURES  ? "picture_text"
                                                         : "picture_match";
    return made;
}

Card picture_card_read(Arena *arena, const Checkpoint *c, const Graph *g, const Tokenizer *t) {
    _Static_assert(sizeof(burin_picture) % 8 == 0, "a match follows without padding");
    const Node *input = picture_input(g);
    int64_t labels = 0, height, width;
    burin_card card = {0};
    burin_picture p = {0};
    Card made = {0};
    if (!input || !find_task(c, g, t, &card, &labels)) return made;
    json_t *config = processor_of_folder(c->folder);
    if (!config) return made;
    card.n_labels = (uint32_t)labels;
    if (labels) card.scoring = picture_scoring(c, labels);
    if (!dim_is_const(input->type.dim[1], &height) || !dim_is_const(input->type.dim[2], &width))
        refuse_field("size", "is fixed, and the model's is not");
    else if (picture_settings_read(&p, config, false, height, width))
        made = card_of_task(arena, c, g, t, card, &p);
    json_decref(config);
    return made;
}
