// Sentence after sentence becomes phonemes, ids and samples. A pipe gets each sentence as soon as
// it is computed; a file is written once, when all are.
#include "voice/speak.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "base/escape.h"
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

struct burin_speaker {
    const burin_model *model;
    const burin_card *card;
    const burin_voice *voice;
    burin_session *session;
    int64_t *symbols, *ids, most_ids;
    float *samples;         // of one run
    burin_delivery manner;  // of this run
    burin_capture *sound;   // where samples of 16 bits go
    const char *why;        // NULL, or what went wrong
    char message[256];
};

// ---------------------------------------------------------------------------------------- the run
static int64_t count_elements(const burin_speaker *k, const burin_tensor *t) {
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++) n *= burin_network_dim(k->model->net, t->dim[i], k->symbols);
    return n;
}

// The inputs of a network by their names, as Piper's voices have them.
static const void *voice_input(const burin_speaker *k, const char *name, const int64_t *n,
                               const float *scales) {
    if (!strcmp(name, "input")) return k->ids;
    if (!strcmp(name, "input_lengths")) return n;
    return strcmp(name, "scales") ? (const void *)&k->manner.voice : scales;
}

static burin_status run_ids(burin_speaker *k, int64_t n) {
    const burin_network *net = k->model->net;
    const burin_voice *v = k->voice;
    double noise = k->manner.noise;
    const float scales[] = {(float)(v->noise * noise), (float)(v->length / k->manner.speed),
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

static void give_samples(burin_speaker *k, const float *samples, size_t n) {
    unsigned char *bytes = burin_allocate(2 * n + 1, 1);
    burin_wav_samples(samples, n, bytes);
    burin_capture_add(k->sound, bytes, 2 * n);
    free(bytes);
}

static void give_pause(burin_speaker *k) {
    size_t n = (size_t)k->voice->sample_rate / PAUSES_A_SECOND;
    float *silence = burin_allocate(n, sizeof *silence);
    give_samples(k, silence, n);
    free(silence);
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
static void say_phonemes(burin_speaker *k, const char *phonemes, size_t bytes) {
    int64_t n = burin_phoneme_ids(k->card, k->voice, phonemes, bytes, k->ids, k->most_ids,
                                  k->manner.unknown);
    burin_status status = n <= k->most_ids ? run_ids(k, n) : BURIN_TOO_MANY;
    size_t middle = status == BURIN_TOO_MANY ? middle_space(phonemes, bytes) : 0;
    if (middle) {
        say_phonemes(k, phonemes, middle);
        if (!k->why) say_phonemes(k, phonemes + middle + 1, bytes - middle - 1);
    } else if (status == BURIN_TOO_MANY) {
        burin_format(k->message, sizeof k->message,
                     "a word of %lld phonemes is too long for this voice\nhint: burin build "
                     "--max=phonemes=N,range=N",
                     (long long)n);
        k->why = k->message;
    } else if (status) {
        k->why = burin_status_text(status);
    } else {
        give_samples(k, k->samples, (size_t)count_elements(k, &k->model->net->outputs[0]));
    }
}

size_t burin_speaker_say(burin_speaker *k, const burin_delivery *how, const char *text,
                         size_t bytes, burin_capture *sound, const char **why) {
    burin_capture phonemes = {0};
    size_t n = burin_sentence_bytes(text, bytes);
    k->manner = *how, k->sound = sound, k->why = NULL;
    k->session->step.seed = how->seed;
    const char *silent = burin_add_phonemes(k->voice, text, n, &phonemes);
    if (!silent && phonemes.n) {
        if (how->pause) give_pause(k);
        say_phonemes(k, phonemes.data, phonemes.n);
    }
    free(phonemes.data);
    if (silent)
        burin_format(k->message, sizeof k->message,
                     "espeak-ng: %s\nhint: this voice takes phonemes, which the program espeak-ng "
                     "makes of a text (apt install espeak-ng); --phonemes \"...\" needs it not",
                     silent);
    *why = silent ? k->message : k->why;
    return n;
}

// ---------------------------------------------------------------------------------------- speakers
int64_t burin_speaker_find(const burin_speaker *k, const char *name) {
    char *end = NULL;
    for (uint32_t i = 0; i < k->card->n_labels; i++)
        if (!strcmp(burin_card_label(k->card, i), name)) return i;
    long number = strtol(name, &end, 10);
    return *name && !*end && number >= 0 && number < (long)k->card->n_labels ? number : -1;
}

// --voice: the name of a speaker, or its number.
static int64_t asked_voice(const burin_speaker *k, const char *name) {
    int64_t number = name ? burin_speaker_find(k, name) : 0;
    if (number >= 0) return number;
    if (!k->card->n_labels)
        burin_stop(BURIN_USER_MISTAKE, "--voice %s: this model has one voice", name);
    burin_stop(BURIN_USER_MISTAKE,
               "--voice %s: this model has no such voice\nhint: it has %u: --voice %s is the first",
               name, k->card->n_labels, burin_card_label(k->card, 0));
}

burin_speaker *burin_speaker_open(const burin_model *model, const burin_command *c,
                                  burin_delivery *usual) {
    const burin_network *net = model->net;
    burin_speaker *k = burin_allocate(1, sizeof *k);
    *k = (burin_speaker){
        .model = model, .card = burin_card_of(model), .voice = burin_card_voice(model)};
    size_t n = (size_t)(net->n_symbols + net->n_data_dependent);
    k->symbols = burin_allocate(n + 1, sizeof *k->symbols);
    burin_network_usual_symbols(net, k->symbols);
    for (int i = 0; i < net->n_inputs; i++)
        if (!strcmp(net->inputs[i].name, "input")) k->most_ids = count_elements(k, &net->inputs[i]);
    k->ids = burin_allocate((size_t)k->most_ids + 1, sizeof *k->ids);
    k->samples =
        burin_allocate((size_t)count_elements(k, &net->outputs[0]) + 1, sizeof *k->samples);
    *usual =
        (burin_delivery){.voice = asked_voice(k, c->voice), .speed = c->speed, .noise = c->noise};
    k->session = burin_open(model, c, &(burin_options){.symbols = k->symbols});
    usual->seed = c->sampling.has_seed ? c->sampling.seed : k->session->step.seed;
    return k;
}

burin_session *burin_speaker_session(const burin_speaker *k) { return k->session; }

void burin_speaker_close(burin_speaker *k) {
    burin_close(k->session);
    free(k->samples);
    free(k->ids);
    free(k->symbols);
    free(k);
}

// ----------------------------------------------------------------------------------------- output
typedef struct speech {
    burin_speaker *speaker;
    const burin_command *command;
    burin_delivery manner;
    burin_capture sound, unknown;  // not written yet: of a pipe a sentence, of a file all
    bool streams;
    uint64_t n_bytes, began;
} speech;

static _Noreturn void nothing_to_say(void) {
    burin_stop(BURIN_USER_MISTAKE,
               "nothing is given to say\nhint: %s \"Hello there.\" -o hello.wav",
               burin_program_name);
}

static void write_sound(const void *data, size_t bytes) {
    if (!burin_write_all(STDOUT_FILENO, data, bytes))
        burin_stop(BURIN_USER_MISTAKE, "cannot write to standard output");
}

static void begin_stream(const speech *p) {
    unsigned char header[BURIN_WAV_HEADER];
    burin_wav_header(header, p->speaker->voice->sample_rate, BURIN_ENDLESS_WAV);
    write_sound(header, sizeof header);
}

// Ends the program where a sentence could not be said, else writes it or keeps it for the file.
static void take_sentence(speech *p, size_t before, const char *why) {
    if (why) burin_stop(BURIN_USER_MISTAKE, "%s", why);
    if (p->streams && !p->n_bytes && p->sound.n > before) begin_stream(p);
    p->n_bytes += p->sound.n - before;
    p->manner.pause = p->n_bytes > 0;
    if (p->streams) {
        write_sound(p->sound.data, p->sound.n);
        p->sound.n = 0;
    } else if (p->n_bytes > BURIN_MOST_WAV_BYTES) {
        burin_stop(BURIN_USER_MISTAKE,
                   "more than 4 GB of speech are no WAV file\nhint: write to a pipe: -o -");
    }
}

static void say_text(speech *p, const char *text, size_t bytes) {
    while (bytes) {
        const char *why;
        size_t before = p->sound.n,
               n = burin_speaker_say(p->speaker, &p->manner, text, bytes, &p->sound, &why);
        take_sentence(p, before, why);
        text += n, bytes -= n;
    }
}

// Returns true if a line has a control character other than a tab, form feed or carriage return.
static bool is_binary(const char *line, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)line[i];
        if ((c < ' ' && c != '\t' && c != '\f' && c != '\r') || c == 0x7f) return true;
    }
    return false;
}

static void say_lines(speech *p, const char *path) {
    burin_lines lines;
    burin_lines_open(&lines, path);
    for (long long n = 1; burin_next_line(&lines); n++) {
        if (is_binary(lines.line, lines.bytes))
            burin_stop(BURIN_USER_MISTAKE, "%s: line %lld is no text: it has control characters",
                       lines.name, n);
        say_text(p, lines.line, lines.bytes);
    }
    burin_lines_close(&lines);
}

static void say_given(speech *p) {
    const burin_command *c = p->command;
    if (c->phonemes) {
        burin_speaker *k = p->speaker;
        k->manner = p->manner, k->sound = &p->sound, k->why = NULL;
        k->session->step.seed = p->manner.seed;
        say_phonemes(k, c->phonemes, strlen(c->phonemes));
        take_sentence(p, 0, k->why);
    }
    for (int i = 0; i < c->n_texts; i++) say_text(p, c->texts[i], strlen(c->texts[i]));
    if (!c->phonemes && !c->n_texts) say_lines(p, c->prompt_file ? c->prompt_file : "-");
}

static void end_file(const speech *p) {
    const char *path = p->command->output, *why = NULL;
    unsigned char header[BURIN_WAV_HEADER];
    bool to_file = path && strcmp(path, "-");
    if (!p->n_bytes) nothing_to_say();
    if (p->streams) return;
    burin_wav_header(header, p->speaker->voice->sample_rate, (uint32_t)p->sound.n);
    int file = to_file ? burin_create_file(path, &why) : STDOUT_FILENO;
    if (file < 0) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
    bool whole = burin_write_all(file, header, sizeof header) &&
                 burin_write_all(file, p->sound.data, p->sound.n);
    if (to_file) whole &= !close(file);
    if (!whole)
        burin_stop(BURIN_USER_MISTAKE, "cannot write all of %s", to_file ? path : "the speech");
}

// ------------------------------------------------------------------------------------------ begin
static void check_speech_output(const burin_command *c) {
    static const char *const others[] = {".mp3", ".ogg", ".opus", ".flac", ".m4a", ".aac"};
    const char *why = c->output && strcmp(c->output, "-") ? burin_cannot_create(c->output) : NULL;
    if (why) burin_stop(BURIN_USER_MISTAKE, "--output %s: %s", c->output, why);
    for (size_t i = 0; c->output && i < sizeof others / sizeof *others; i++)
        if (burin_ends_with(c->output, others[i]))
            burin_stop(
                BURIN_BAD_COMMAND_LINE,
                "--output %s: speech is written as WAV\nhint: -o hello.wav, or -o - | ffmpeg "
                "-i - %s",
                c->output, c->output);
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

static void close_speech(speech *p) {
    double seconds = (double)p->n_bytes / 2 / p->speaker->voice->sample_rate,
           took = (double)(burin_nanoseconds() - p->began) / 1e9;
    if (p->unknown.n) {
        burin_capture_add(&p->unknown, "", 1);
        burin_note("this voice has no sound for: %s", p->unknown.data);
    }
    if (p->command->verbose) burin_note("%.2f s of speech in %.2f s", seconds, took);
    burin_speaker_close(p->speaker);
    free(p->unknown.data);
    free(p->sound.data);
}

int burin_speak(const burin_model *model, const burin_command *c) {
    speech p = {.command = c};
    if (c->inputs.n || c->random || c->bench || c->logits_hash) return burin_run_network(model, c);
#ifdef BURIN_SERVER
    if (c->server.address) return burin_serve_voice(model, c);
#endif
    if (!c->n_texts && !c->prompt_file && !c->phonemes && isatty(STDIN_FILENO)) nothing_to_say();
    check_speech_output(c);
    p.speaker = burin_speaker_open(model, c, &p.manner);
    p.manner.unknown = &p.unknown;
    p.streams = (!c->output || !strcmp(c->output, "-")) && !is_regular_file(STDOUT_FILENO);
    p.began = burin_nanoseconds();
    say_given(&p);
    end_file(&p);
    close_speech(&p);
    return 0;
}
