// Sentence after sentence becomes phonemes, ids and samples. A pipe gets each sentence as soon as
// it is computed; a file is written once, when all are.
#include "voice/speak.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "engine/network.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "program/lines.h"
#include "program/output.h"
#include "program/timing.h"
#include "text/run.h"
#include "voice/phonemes.h"
#include "voice/sentences.h"
#include "voice/wav_write.h"

enum { PAUSES_A_SECOND = 5 };  // the silence between two sentences is 0.2 s

typedef struct speaker {
    const burin_model *model;
    const burin_command *command;
    const burin_card *card;
    const burin_voice *voice;
    burin_session *session;
    int64_t *symbols, *ids, most_ids;
    float *samples;         // of one run
    int64_t number;         // of the speaker, where the model has several
    burin_capture unknown;  // characters without an id
    // samples; written to a pipe at once, to a file at the end
    burin_capture sound;
    bool streams;
    uint64_t n_samples, began;
} speaker;

// ---------------------------------------------------------------------------------------- the run
static int64_t count_elements(const speaker *k, const burin_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= burin_network_dim(k->model->net, t->dim[i], k->symbols);
    return n;
}

// The inputs of a network by their names, as Piper's voices have them.
static const void *voice_input(const speaker *k, const char *name, const int64_t *n,
                               const float *scales) {
    if (!strcmp(name, "input")) return k->ids;
    if (!strcmp(name, "input_lengths")) return n;
    return strcmp(name, "scales") ? (const void *)&k->number : scales;
}

static burin_status run_ids(speaker *k, int64_t n) {
    const burin_network *net = k->model->net;
    const burin_voice *v = k->voice;
    double noise = k->command->noise;
    const float scales[] = {(float)(v->noise * noise), (float)(v->length / k->command->speed),
                            (float)(v->width_noise * noise)};
    const void *inputs[4];
    int64_t dims[16];
    void *outputs[] = {k->samples};
    burin_network_usual_symbols(net, k->symbols);
    for (int i = 0, at = 0; i < net->n_inputs; i++) {
        const burin_tensor *t = &net->inputs[i];
        bool is_ids = !strcmp(t->name, "input");
        inputs[i] = voice_input(k, t->name, &n, scales);
        for (int j = 0; j < t->rank; j++)
            dims[at++] =
                is_ids && j + 1 == t->rank ? n : burin_network_dim(net, t->dim[j], k->symbols);
    }
    burin_status status = burin_network_bind(net, dims, k->symbols);
    return status ? status : burin_network_run(k->session, inputs, k->symbols, outputs);
}

// ----------------------------------------------------------------------------------------- output
static void write_sound(const void *data, size_t bytes) {
    if (!burin_write_all(STDOUT_FILENO, data, bytes))
        burin_stop(BURIN_USER_MISTAKE, "cannot write to standard output");
}

static void begin_stream(const speaker *k) {
    unsigned char header[BURIN_WAV_HEADER];
    burin_wav_header(header, k->voice->sample_rate, BURIN_ENDLESS_WAV);
    if (k->streams) write_sound(header, sizeof header);
}

static void give_samples(speaker *k, const float *samples, size_t n) {
    unsigned char *bytes = burin_allocate(2 * n + 1, 1);
    burin_wav_samples(samples, n, bytes);
    k->n_samples += n;
    if (!k->streams && 2 * k->n_samples > BURIN_MOST_WAV_BYTES)
        burin_stop(BURIN_USER_MISTAKE,
                   "more than 4 GB of speech are no WAV file\nhint: write to a pipe: -o -");
    if (k->streams)
        write_sound(bytes, 2 * n);
    else
        burin_capture_add(&k->sound, bytes, 2 * n);
    free(bytes);
}

static void give_pause(speaker *k) {
    size_t n = (size_t)k->voice->sample_rate / PAUSES_A_SECOND;
    float *silence = burin_allocate(n, sizeof *silence);
    give_samples(k, silence, n);
    free(silence);
}

static void end_file(const speaker *k) {
    const char *path = k->command->output, *why = NULL;
    unsigned char header[BURIN_WAV_HEADER];
    bool to_file = path && strcmp(path, "-");
    if (k->streams) return;
    burin_wav_header(header, k->voice->sample_rate, (uint32_t)k->sound.n);
    int file = to_file ? burin_create_file(path, &why) : STDOUT_FILENO;
    if (file < 0) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
    bool whole = burin_write_all(file, header, sizeof header) &&
                 burin_write_all(file, k->sound.data, k->sound.n);
    if (to_file) whole &= !close(file);
    if (!whole)
        burin_stop(BURIN_USER_MISTAKE, "cannot write all of %s", to_file ? path : "the speech");
}

// -------------------------------------------------------------------------------------- sentences
// The space nearest to the middle; 0: there is none.
static size_t middle_space(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes / 2; i++) {
        if (text[bytes / 2 - i] == ' ') return bytes / 2 - i;
        if (bytes / 2 + i < bytes - 1 && text[bytes / 2 + i] == ' ') return bytes / 2 + i;
    }
    return 0;
}

// Speaks phonemes; in two halves where they, or their sound, exceed the bounds of the network.
static void say_phonemes(speaker *k, const char *phonemes, size_t bytes) {
    int64_t n =
        burin_phoneme_ids(k->card, k->voice, phonemes, bytes, k->ids, k->most_ids, &k->unknown);
    burin_status status = n <= k->most_ids ? run_ids(k, n) : BURIN_TOO_MANY;
    if (status == BURIN_TOO_MANY) {
        size_t middle = middle_space(phonemes, bytes);
        if (!middle)
            burin_stop(BURIN_USER_MISTAKE,
                       "a word of %lld phonemes is too long for this voice\nhint: burin build "
                       "--max=phonemes=N,range=N",
                       (long long)n);
        say_phonemes(k, phonemes, middle);
        say_phonemes(k, phonemes + middle + 1, bytes - middle - 1);
        return;
    }
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    give_samples(k, k->samples, (size_t)count_elements(k, &k->model->net->outputs[0]));
}

static void say_sentence(speaker *k, const char *text, size_t bytes) {
    burin_capture phonemes = {0};
    burin_add_phonemes(k->voice, text, bytes, &phonemes);
    if (phonemes.n) {
        if (k->n_samples) give_pause(k);
        say_phonemes(k, phonemes.data, phonemes.n);
    }
    free(phonemes.data);
}

static void say_text(speaker *k, const char *text, size_t bytes) {
    while (bytes) {
        size_t n = burin_sentence_bytes(text, bytes);
        say_sentence(k, text, n);
        text += n, bytes -= n;
    }
}

static void say_lines(speaker *k, const char *path) {
    burin_lines lines;
    burin_lines_open(&lines, path);
    while (burin_next_line(&lines)) say_text(k, lines.line, lines.bytes);
    burin_lines_close(&lines);
}

// ----------------------------------------------------------------------------------------- begin
// --voice: the name of a speaker, or its number.
static int64_t find_speaker(const burin_card *card, const char *name) {
    char *end = NULL;
    if (!name) return 0;
    if (!card->n_labels)
        burin_stop(BURIN_USER_MISTAKE, "--voice %s: this model has one voice", name);
    for (uint32_t i = 0; i < card->n_labels; i++)
        if (!strcmp(burin_card_label(card, i), name)) return i;
    long number = strtol(name, &end, 10);
    if (*name && !*end && number >= 0 && number < (long)card->n_labels) return number;
    burin_stop(BURIN_USER_MISTAKE,
               "--voice %s: this model has no such voice\nhint: it has %u: --voice %s is the first",
               name, card->n_labels, burin_card_label(card, 0));
}

static void check_speech_output(const burin_command *c) {
    const char *why = c->output && strcmp(c->output, "-") ? burin_cannot_create(c->output) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "--output %s: %s", c->output, why);
    if (!c->output && isatty(STDOUT_FILENO))
        burin_stop(BURIN_USER_MISTAKE,
                   "a terminal plays no sound\nhint: -o hello.wav; %s \"...\" "
                   "| aplay",
                   burin_program_name);
}

static bool is_regular_file(int file) {
    struct stat s;
    return !fstat(file, &s) && S_ISREG(s.st_mode);
}

static void open_speaker(speaker *k) {
    const burin_network *net = k->model->net;
    const burin_command *c = k->command;
    size_t n = (size_t)(net->n_symbols + net->n_data_dependent);
    k->symbols = burin_allocate(n + 1, sizeof *k->symbols);
    burin_network_usual_symbols(net, k->symbols);
    for (int i = 0; i < net->n_inputs; i++)
        if (!strcmp(net->inputs[i].name, "input")) k->most_ids = count_elements(k, &net->inputs[i]);
    k->ids = burin_allocate((size_t)k->most_ids + 1, sizeof *k->ids);
    k->samples =
        burin_allocate((size_t)count_elements(k, &net->outputs[0]) + 1, sizeof *k->samples);
    k->number = find_speaker(k->card, c->voice);
    k->session = burin_open(k->model, c, &(burin_options){.symbols = k->symbols});
    if (c->sampling.has_seed) k->session->step.seed = c->sampling.seed;
    k->streams = (!c->output || !strcmp(c->output, "-")) && !is_regular_file(STDOUT_FILENO);
    k->began = burin_nanoseconds();
}

static void close_speaker(speaker *k) {
    double seconds = (double)k->n_samples / k->voice->sample_rate,
           took = (double)(burin_nanoseconds() - k->began) / 1e9;
    if (k->unknown.n) {
        burin_capture_add(&k->unknown, "", 1);
        burin_note("this voice has no sound for: %s", k->unknown.data);
    }
    if (k->command->verbose) burin_note("%.2f s of speech in %.2f s", seconds, took);
    burin_close(k->session);
    free(k->unknown.data);
    free(k->sound.data);
    free(k->samples);
    free(k->ids);
    free(k->symbols);
}

int burin_speak(const burin_model *model, const burin_command *c) {
    speaker k = {.model = model, .command = c, .card = burin_card_of(model)};
    if (c->inputs.n || c->random || c->bench || c->logits_hash) return burin_run_network(model, c);
    if (!c->n_texts && !c->prompt_file && !c->phonemes && isatty(STDIN_FILENO))
        burin_stop(BURIN_USER_MISTAKE, "what shall it say?\nhint: %s \"Hello there.\" -o hello.wav",
                   burin_program_name);
    check_speech_output(c);
    k.voice = burin_card_voice(model);
    open_speaker(&k);
    begin_stream(&k);
    if (c->phonemes) say_phonemes(&k, c->phonemes, strlen(c->phonemes));
    for (int i = 0; i < c->n_texts; i++) say_text(&k, c->texts[i], strlen(c->texts[i]));
    if (!c->phonemes && !c->n_texts) say_lines(&k, c->prompt_file ? c->prompt_file : "-");
    end_file(&k);
    close_speaker(&k);
    return 0;
}
