// A recording becomes one channel at the model's rate, with mean 0 and variance 1 or as frames of
// mel bands. A recording longer than the network takes is cut where it is quietest. Frames become
// characters by CTC: of equal neighbours the first is written, blanks not at all.
#include "sound/listen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/listener.h"
#include "engine/network.h"
#include "network/label_line.h"
#include "network/labels.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/scores.h"
#include "program/input.h"
#include "program/output.h"
#include "sampler/sampler.h"
#include "sound/detect.h"
#include "sound/features.h"
#include "sound/recording_file.h"
#include "sound/resample.h"
#include "text/prompt.h"
#include "text/run.h"
#include "tokenizer/tokenizer.h"

typedef struct burin_hearer {
    const burin_model *model;
    const burin_command *command;
    const burin_card *card;
    const burin_listener *settings;
    burin_session *session;
    int64_t *symbols, least, most;  // samples of a run
    float *features;                // [frames][n_mels] of a run; NULL: it takes samples
    int64_t *mask;                  // ones
    void **outputs;
    int logits;           // its number among the outputs
    int32_t last;         // the id of the last frame; -1: none
    burin_capture *text;  // of a recording
    burin_decoder decoder;
} listener;

// ------------------------------------------------------------------------------------------ runs
static size_t count_values(const listener *k, const burin_tensor *t) {
    size_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= (size_t)burin_network_dim(k->model->net, t->dim[i], k->symbols);
    return n;
}

static bool is_mask(const burin_tensor *input) { return !strcmp(input->name, "attention_mask"); }

static const burin_tensor *sound_input(const burin_network *net) {
    return &net->inputs[net->n_inputs > 1 && is_mask(&net->inputs[0])];
}

// How many samples a run takes: those of its frames, or its own.
static void set_limits(listener *k, int64_t values) {
    const burin_network *net = k->model->net;
    const burin_features *f = &k->settings->features;
    k->least = net->n_symbols ? net->symbols[0].lower : 1;
    k->most = values;
    if (!f->n_mels) return;
    k->features = burin_allocate((size_t)values, sizeof *k->features);
    k->least = f->frames ? f->width : burin_features_samples(f, k->least);
    k->most = burin_features_samples(f, values / f->n_mels);
    if (f->centred) k->most += f->hop - 1;
}

burin_hearer *burin_hearer_open(const burin_model *model, const burin_command *c) {
    listener *k = burin_allocate(1, sizeof *k);
    const burin_network *net = model->net;
    *k = (listener){.model = model,
                    .command = c,
                    .card = burin_card_of(model),
                    .settings = burin_card_listener(model)};
    k->symbols =
        burin_allocate((size_t)(net->n_symbols + net->n_data_dependent) + 1, sizeof *k->symbols);
    burin_network_usual_symbols(net, k->symbols);
    size_t values = count_values(k, sound_input(net));
    k->mask = burin_allocate(values, sizeof *k->mask);
    for (size_t i = 0; i < values; i++) k->mask[i] = 1;
    k->outputs = burin_allocate((size_t)net->n_outputs, sizeof *k->outputs);
    for (int i = 0; i < net->n_outputs; i++)
        k->outputs[i] = burin_allocate(count_values(k, &net->outputs[i]), sizeof(double));
    set_limits(k, (int64_t)values);
    k->logits = burin_logits_output(net);
    k->session = burin_open(k->model, k->command, &(burin_options){.symbols = k->symbols});
    return k;
}

burin_session *burin_hearer_session(const burin_hearer *k) { return k->session; }

void burin_hearer_close(burin_hearer *k) {
    burin_close(k->session);
    for (int i = 0; i < k->model->net->n_outputs; i++) free(k->outputs[i]);
    free(k->outputs);
    free(k->features);
    free(k->mask);
    free(k->symbols);
    free(k);
}

// The dimensions of all inputs, `length` wherever they have a symbol or a fixed number of frames.
static void list_dims(const listener *k, int64_t length, int64_t *dims) {
    const burin_network *net = k->model->net;
    for (int i = 0, n = 0; i < net->n_inputs; i++) {
        const burin_tensor *t = &net->inputs[i];
        bool bands = !is_mask(t) && k->features;
        for (int axis = 0; axis < t->rank; axis++)
            dims[n++] = bands && axis + 1 == t->rank  ? k->settings->features.n_mels
                        : axis + 1 + bands == t->rank ? length
                                                      : 1;
    }
}

static void run_samples(listener *k, const float *samples, int64_t n) {
    const burin_network *net = k->model->net;
    const burin_features *f = &k->settings->features;
    const void *inputs[2];
    int64_t dims[6], length = f->frames ? f->frames : n;
    if (k->features) {
        burin_features_compute(f, k->settings->sample_rate, samples, n, k->features);
        if (!f->frames) length = burin_features_count(f, n);
    }
    for (int i = 0; i < net->n_inputs; i++)
        inputs[i] = is_mask(&net->inputs[i]) ? (const void *)k->mask
                    : k->features            ? (const void *)k->features
                                             : (const void *)samples;
    list_dims(k, length, dims);
    burin_status status = burin_network_bind(net, dims, k->symbols);
    if (!status) status = burin_network_run(k->session, inputs, k->symbols, k->outputs);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
}

// -------------------------------------------------------------------------------------- recordings
static void normalize_sound(burin_sound *sound) {
    double sum = 0, squares = 0, n = (double)sound->n;
    for (int64_t i = 0; i < sound->n; i++) sum += (double)sound->samples[i];
    double mean = sum / n;
    for (int64_t i = 0; i < sound->n; i++) {
        double x = (double)sound->samples[i] - mean;
        squares += x * x;
    }
    double deviation = sqrt(squares / n + 1e-7);
    for (int64_t i = 0; i < sound->n; i++)
        sound->samples[i] = (float)(((double)sound->samples[i] - mean) / deviation);
}

int64_t burin_hearer_prepare(const burin_hearer *k, burin_sound *sound) {
    burin_resample(sound, k->settings->sample_rate);
    if (sound->n < k->least) return k->least - sound->n;
    if (k->settings->normalize) normalize_sound(sound);
    return 0;
}

static burin_sound read_samples(const listener *k, const char *path) {
    burin_sound sound = burin_recording_load(path, k->settings->sample_rate);
    int64_t missing = burin_hearer_prepare(k, &sound);
    if (missing)
        burin_stop(BURIN_USER_MISTAKE, "%s: it has %lld samples, at least %lld are needed", path,
                   (long long)sound.n, (long long)(sound.n + missing));
    return sound;
}

// The middle of the quietest 20 ms in the last third of what one run takes.
static int64_t quietest(const listener *k, const float *samples) {
    int64_t window = k->settings->sample_rate / 50, best = k->most;
    double least = INFINITY;
    for (int64_t from = k->most / 3 * 2; from + window <= k->most; from += window) {
        double energy = 0;
        for (int64_t i = from; i < from + window; i++)
            energy += (double)samples[i] * (double)samples[i];
        if (energy < least) least = energy, best = from + window / 2;
    }
    return best;
}

// ------------------------------------------------------------------------------------- characters
static void write_character(listener *k, int32_t id) {
    const char *text = burin_card_label(k->card, (uint32_t)id);
    size_t bytes = strlen(text);
    bool space = bytes == 1 && *text == ' ';
    if (space && (!k->text->n || k->text->data[k->text->n - 1] == ' ')) return;
    for (size_t i = 0; i < bytes; i++) {
        char c = text[i];
        if (k->settings->lower && c >= 'A' && c <= 'Z') c = (char)(c + 'a' - 'A');
        burin_capture_add(k->text, &c, 1);
    }
}

static void write_piece(listener *k, int32_t id) {
    const void *tokenizer = burin_tokenizer_of(k->model);
    if (id >= burin_tokenizer_size(tokenizer) || burin_token_is_special(tokenizer, id)) return;
    char *bytes = burin_allocate(1, burin_decode_max(tokenizer) + 1);
    burin_capture_add(k->text, bytes, burin_decode(tokenizer, &k->decoder, id, bytes));
    free(bytes);
}

// Among characters, ids that are never written, except the blank, do not part equal neighbours.
static void add_frame(listener *k, const float *logits) {
    int32_t id = burin_argmax(logits, (int)k->card->n_labels);
    bool pieces = k->settings->by_tokenizer;
    if (!pieces && id != k->settings->blank && !*burin_card_label(k->card, (uint32_t)id)) return;
    if (id != k->last && id != k->settings->blank) (pieces ? write_piece : write_character)(k, id);
    k->last = id;
}

static void hear_part(listener *k, const float *samples, int64_t n) {
    run_samples(k, samples, n);
    const float *logits = k->outputs[k->logits];
    size_t frames = count_values(k, &k->model->net->outputs[k->logits]) / (size_t)k->card->n_labels;
    k->last = -1;
    if (k->text->n && k->text->data[k->text->n - 1] != ' ' && k->settings->by_tokenizer)
        burin_capture_add(k->text, " ", 1);
    memset(&k->decoder, 0, sizeof k->decoder);
    for (size_t i = 0; i < frames; i++) add_frame(k, logits + i * k->card->n_labels);
}

void burin_hearer_next(burin_hearer *k, const float **samples, int64_t *n, burin_capture *text) {
    int64_t part = *n > k->most ? quietest(k, *samples) : *n;
    if (*n - part < k->least && part < *n) part = *n - k->least;
    k->text = text;
    hear_part(k, *samples, part);
    *samples += part, *n -= part;
    while (!k->settings->by_tokenizer && !*n && text->n && text->data[text->n - 1] == ' ')
        text->n--;
}

// ----------------------------------------------------------------------------------------- output
static bool wants_json(const listener *k) {
    return k->command->format && !strcmp(k->command->format, "json");
}

static void print_heard(const listener *k, const char *path, const burin_capture *text) {
    if (wants_json(k)) {
        burin_print("{\"file\": ");
        burin_print_json_string(path, strlen(path));
        burin_print(", \"text\": ");
        burin_print_json_string(text->n ? text->data : "", text->n);
        burin_print("}\n");
    } else {
        if (text->n) burin_print_text(text->data, text->n);
        burin_print("\n");
    }
    burin_show();
}

static void print_classes(listener *k, const char *path, burin_sound *sound) {
    uint32_t n_labels = k->card->n_labels;
    float *score = burin_allocate(n_labels, sizeof *score);
    if (sound->n > k->most)
        burin_note("%s: only its first %.0f s count", path,
                   (double)k->most / k->settings->sample_rate);
    run_samples(k, sound->samples, sound->n > k->most ? k->most : sound->n);
    burin_scores(BURIN_SOFTMAX, k->outputs[k->logits], n_labels, score);
    burin_print_labels(k->command, k->card, path, score);
    free(score);
}

static void hear_recording(listener *k, const char *path) {
    burin_sound sound = read_samples(k, path);
    burin_capture text = {0};
    const float *samples = sound.samples;
    int64_t n = sound.n;
    if (k->settings->blank >= 0) {
        while (n) burin_hearer_next(k, &samples, &n, &text);
        print_heard(k, path, &text);
    } else {
        print_classes(k, path, &sound);
    }
    free(text.data);
    free(sound.samples);
}

int burin_listen(const burin_model *model, const burin_command *c) {
    if (c->inputs.n || c->random || c->bench || c->output || c->logits_hash)
        return burin_run_network(model, c);
    bool detects = burin_card_listener(model)->window > 0;
#ifdef BURIN_SERVER
    if (c->server.address && detects)
        burin_stop(BURIN_USER_MISTAKE, "--serve: spans of speech have no route");
    if (c->server.address) return burin_serve_listener(model, c);
#endif
    if (!c->n_texts)
        burin_stop(BURIN_USER_MISTAKE, "which recording?\nhint: %s talk.wav", burin_program_name);
    if (detects) return burin_detect_speech(model, c);
    listener *k = burin_hearer_open(model, c);
    for (int i = 0; i < c->n_texts; i++) hear_recording(k, c->texts[i]);
    burin_hearer_close(k);
    return 0;
}
