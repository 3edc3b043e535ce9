// How recordings become inputs of a network: preprocessor_config.json of wav2vec2's kind, of
// Parakeet, AST. Settings that the runtime does not compute are named, and leave a program of
// tensors.
#include <string.h>

#include "engine/listener.h"
#include "frontend/card.h"
#include "util/files.h"
#include "util/json.h"

static const char *const file = "preprocessor_config.json";

static double number_of(const json_t *settings, const char *name, double absent) {
    const json_t *v = json_object_get(settings, name);
    return json_is_number(v) ? json_number_value(v) : absent;
}

static int32_t count_of(const json_t *settings, const char *name, int32_t absent) {
    double v = number_of(settings, name, absent);
    return v >= 0 && v <= INT32_MAX && v == (double)(int32_t)v ? (int32_t)v : -1;
}

static bool flag_of(const json_t *settings, const char *name, bool absent) {
    const json_t *v = json_object_get(settings, name);
    return json_is_boolean(v) ? json_is_true(v) : absent;
}

// --------------------------------------------------------------------------------------- extractors
static bool read_samples(burin_listener *l, const json_t *settings) {
    l->normalize = flag_of(settings, "do_normalize", true);
    if (count_of(settings, "feature_size", 1) != 1)
        return refuse_listener(file, "has a feature_size other than 1");
    return true;
}

static bool read_parakeet(burin_listener *l, const json_t *settings) {
    l->features = (burin_features){.n_mels = count_of(settings, "feature_size", 80),
                                   .n_fft = count_of(settings, "n_fft", 512),
                                   .hop = count_of(settings, "hop_length", 160),
                                   .width = count_of(settings, "win_length", 400),
                                   .window = BURIN_HANN,
                                   .scale = BURIN_MEL_SLANEY,
                                   .centred = 1,
                                   .norm = BURIN_BANDS_STANDARD,
                                   .divisor_less = 1,
                                   .sample_scale = 1,
                                   .emphasis = number_of(settings, "preemphasis", 0.97),
                                   .added = 0x1p-24,
                                   .deviation_added = 1e-5};
    return true;
}

// Kaldi's bands: frames of 25 ms every 10 ms.
static burin_features kaldi_features(int32_t n_mels) {
    return (burin_features){.n_mels = n_mels,
                            .n_fft = 512,
                            .hop = 160,
                            .width = 400,
                            .scale = BURIN_MEL_KALDI,
                            .by_frame = 1,
                            .sample_scale = 1,
                            .emphasis = 0.97,
                            .least_hertz = 20,
                            .least = 1.192092955078125e-07};
}

static bool read_ast(burin_listener *l, const json_t *settings) {
    l->features = kaldi_features(count_of(settings, "num_mel_bins", 128));
    l->features.frames = count_of(settings, "max_length", 1024);
    l->features.mean = number_of(settings, "mean", -4.2677393);
    l->features.deviation = 2 * number_of(settings, "std", 4.5689974);
    if (flag_of(settings, "do_normalize", true)) l->features.norm = BURIN_BANDS_FIXED;
    if (!(l->features.deviation > 0)) return refuse_listener(file, "has a std that is not above 0");
    return true;
}

static bool read_speech2text(burin_listener *l, const json_t *settings) {
    bool means = flag_of(settings, "normalize_means", true),
         deviations = flag_of(settings, "normalize_vars", true);
    l->features = kaldi_features(count_of(settings, "num_mel_bins", 80));
    l->features.window = BURIN_POVEY;
    l->features.sample_scale = 32768;
    if (number_of(settings, "dither", 0) != 0) return refuse_listener(file, "has dither");
    if (!flag_of(settings, "do_ceptral_normalize", true)) return true;
    l->features.norm = means && deviations ? BURIN_BANDS_STANDARD
                       : means             ? BURIN_BANDS_CENTRED
                       : deviations        ? BURIN_BANDS_SCALED
                                           : BURIN_BANDS_AS_THEY_ARE;
    return true;
}

static const struct {
    const char *type;
    bool (*read)(burin_listener *, const json_t *settings);
} extractors[] = {{"Wav2Vec2FeatureExtractor", read_samples},
                  {"ParakeetFeatureExtractor", read_parakeet},
                  {"ASTFeatureExtractor", read_ast},
                  {"Speech2TextFeatureExtractor", read_speech2text}};
enum { N_EXTRACTORS = sizeof extractors / sizeof *extractors };

static int extractor_named(const json_t *settings) {
    const char *type = json_string_value(json_object_get(settings, "feature_extractor_type"));
    for (int i = 0; type && i < N_EXTRACTORS; i++)
        if (!strcmp(type, extractors[i].type)) return i;
    return -1;
}

bool sound_features_known(const json_t *settings) { return extractor_named(settings) >= 0; }

// ------------------------------------------------------------------------------------------ checks
static bool sizes_fit(const burin_features *f) {
    if (!f->n_mels) return true;
    bool fit = f->n_mels >= 1 && f->n_mels <= 1024 && f->n_fft >= 2 && f->n_fft <= 8192 &&
               f->width >= 2 && f->width <= f->n_fft && f->hop >= 1 && f->hop <= f->n_fft &&
               f->frames >= 0 && f->frames <= 1 << 20;
    return fit || refuse_listener(file, "has sizes of frames or bands outside of their range");
}

bool sound_features_read(burin_listener *l, const json_t *settings) {
    int kind = extractor_named(settings);
    if (kind < 0) return false;
    l->sample_rate = count_of(settings, "sampling_rate", 16000);
    if (l->sample_rate < 1000 || l->sample_rate > 384000)
        return refuse_listener(file, "has a sampling_rate that is not between 1000 and 384000");
    if (number_of(settings, "padding_value", 0) != 0)
        return refuse_listener(file, "has a padding_value other than 0");
    return extractors[kind].read(l, settings) && sizes_fit(&l->features);
}
