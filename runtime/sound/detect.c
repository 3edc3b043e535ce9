// A window of samples, with the last samples of the window before in front, and the network's state
// give a probability of speech and the next state. A span begins at 0.5, and ends where the
// probability stays below 0.35 for a tenth of a second.
#include "sound/detect.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "engine/listener.h"
#include "engine/network.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "program/output.h"
#include "sound/recording_file.h"
#include "text/run.h"

typedef struct detector {
    const burin_model *model;
    const burin_listener *settings;
    burin_session *session;
    int64_t *symbols;
    const void *inputs[3];
    void *outputs[2];
    int64_t rate;
    float *samples;       // [context + window]
    float *state, *next;  // [state_values]
    size_t state_values;
    float probability;
} detector;

// ------------------------------------------------------------------------------------------ spans
static const double speech_begins = 0.5, speech_ends = 0.35;

// Half of a pause between two spans belongs to each, at most 30 ms.
static void widen_spans(burin_speech_span *spans, int64_t n, int64_t samples, int32_t rate) {
    int64_t margin = rate * 3 / 100;
    if (n) spans[0].start = spans[0].start > margin ? spans[0].start - margin : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i + 1 < n ? spans[i + 1].start - spans[i].end : 2 * margin;
        int64_t more = rest < 2 * margin ? rest / 2 : margin;
        spans[i].end = spans[i].end + more < samples ? spans[i].end + more : samples;
        if (i + 1 < n) spans[i + 1].start -= more;
    }
}

// Spans of at most a quarter of a second are left out.
static void end_span(burin_speech_span *spans, int64_t *n, int64_t end, int32_t rate) {
    spans[*n].end = end;
    *n += end - spans[*n].start > rate / 4;
}

int64_t burin_find_speech(const float *probability, int64_t samples, int32_t window, int32_t rate,
                          burin_speech_span *spans) {
    int64_t n = 0, silence = 0;  // silence: where it began; 0: nowhere
    bool speaks = false;
    for (int64_t at = 0; at < samples; at += window) {
        double p = (double)probability[at / window];
        if (p >= speech_begins) silence = 0;
        if (p >= speech_begins && !speaks) {
            speaks = true, spans[n].start = at;
        } else if (p < speech_ends && speaks) {
            if (!silence) silence = at;
            if (10 * (at - silence) < rate) continue;
            end_span(spans, &n, silence, rate);
            speaks = false, silence = 0;
        }
    }
    if (speaks) end_span(spans, &n, samples, rate);
    widen_spans(spans, n, samples, rate);
    return n;
}

// ---------------------------------------------------------------------------------------- network
static bool is_tensor_named(const burin_tensor *t, const char *name) {
    return !strcmp(t->name, name);
}

static void place_tensors(detector *d) {
    const burin_network *net = d->model->net;
    for (int i = 0; i < net->n_inputs; i++)
        d->inputs[i] = is_tensor_named(&net->inputs[i], "input")   ? (const void *)d->samples
                       : is_tensor_named(&net->inputs[i], "state") ? (const void *)d->state
                                                                   : (const void *)&d->rate;
    for (int i = 0; i < net->n_outputs; i++)
        d->outputs[i] = net->outputs[i].rank == 3 ? (void *)d->next : (void *)&d->probability;
}

static detector open_detector(const burin_model *model, const burin_command *c) {
    const burin_network *net = model->net;
    detector d = {.model = model, .settings = burin_card_listener(model)};
    d.rate = d.settings->sample_rate;
    d.state_values = (size_t)d.settings->state;
    d.symbols =
        burin_allocate((size_t)(net->n_symbols + net->n_data_dependent) + 1, sizeof *d.symbols);
    burin_network_usual_symbols(net, d.symbols);
    d.samples =
        burin_allocate((size_t)(d.settings->context + d.settings->window), sizeof *d.samples);
    d.state = burin_allocate(d.state_values, sizeof *d.state);
    d.next = burin_allocate(d.state_values, sizeof *d.next);
    d.session = burin_open(model, c, &(burin_options){.symbols = d.symbols});
    return d;
}

static void close_detector(detector *d) {
    burin_close(d->session);
    free(d->symbols), free(d->samples), free(d->state), free(d->next);
}

// `left`: samples from here on; a window that lacks some ends with silence.
static float probability_of_window(detector *d, const float *samples, int64_t left) {
    int32_t context = d->settings->context, window = d->settings->window;
    int64_t n = left < window ? left : window;
    memmove(d->samples, d->samples + window, (size_t)context * sizeof *samples);
    memset(d->samples + context, 0, (size_t)window * sizeof *samples);
    memcpy(d->samples + context, samples, (size_t)n * sizeof *samples);
    place_tensors(d);
    burin_status status = burin_network_run(d->session, d->inputs, d->symbols, d->outputs);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    float *before = d->state;
    d->state = d->next, d->next = before;
    return d->probability;
}

static int64_t detect_spans(detector *d, const burin_sound *sound, burin_speech_span **spans) {
    int32_t window = d->settings->window;
    int64_t windows = (sound->n + window - 1) / window;
    float *probability = burin_allocate((size_t)windows + 1, sizeof *probability);
    *spans = burin_allocate((size_t)windows / 2 + 2, sizeof **spans);
    memset(d->samples, 0, (size_t)(d->settings->context + window) * sizeof *d->samples);
    memset(d->state, 0, d->state_values * sizeof *d->state);
    for (int64_t i = 0; i < windows; i++)
        probability[i] =
            probability_of_window(d, sound->samples + i * window, sound->n - i * window);
    int64_t n = burin_find_speech(probability, sound->n, window, sound->rate, *spans);
    free(probability);
    return n;
}

// ----------------------------------------------------------------------------------------- output
static void print_speech(const burin_command *c, const char *path, const burin_sound *sound,
                         const burin_speech_span *spans, int64_t n) {
    bool json = c->format && !strcmp(c->format, "json");
    double second = sound->rate;
    if (json) {
        burin_print("{\"file\": ");
        burin_print_json_string(path, strlen(path));
        burin_print(", \"seconds\": %.3f, \"spans\": [", (double)sound->n / second);
    }
    for (int64_t i = 0; i < n; i++) {
        double start = (double)spans[i].start / second, end = (double)spans[i].end / second;
        if (json) {
            burin_print("%s{\"start\": %.3f, \"end\": %.3f}", i ? ", " : "", start, end);
        } else {
            burin_print("%.3f %.3f", start, end);
            if (c->n_texts > 1) burin_print(" "), burin_print_text(path, strlen(path));
            burin_print("\n");
        }
    }
    if (json) burin_print("]}\n");
    burin_show();
}

int burin_detect_speech(const burin_model *model, const burin_command *c) {
    detector d = open_detector(model, c);
    for (int i = 0; i < c->n_texts; i++) {
        burin_sound sound = burin_recording_load(c->texts[i], d.settings->sample_rate);
        burin_speech_span *spans;
        int64_t n = detect_spans(&d, &sound, &spans);
        print_speech(c, c->texts[i], &sound, spans, n);
        free(spans);
        free(sound.samples);
    }
    close_detector(&d);
    return 0;
}
