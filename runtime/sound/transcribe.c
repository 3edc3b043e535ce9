// A recording becomes one channel at the model's rate, then features of the whole, then windows of
// as many frames as the encoder takes. Recordings longer than a window are decoded with timestamps,
// which tell where the next window begins.
#include "sound/transcribe.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "engine/encoder.h"
#include "program/input.h"
#include "program/output.h"
#include "program/progress.h"
#include "sound/alignment.h"
#include "sound/decode.h"
#include "sound/log_mel.h"
#include "sound/recording_file.h"
#include "sound/transcript.h"
#include "text/prompt.h"

enum {
    FRAMES_PER_TIMESTAMP = 2,  // the encoder's stride
    LONG_PAUSE = 100,          // frames of silence that --vad skips
    MARGIN = 20                // frames before a sound that are heard
};

typedef struct burin_transcription {
    burin_run *run;
    burin_decoding decoding;
    burin_transcript transcript;
    burin_log_mel log_mel;
    int64_t from, content;    // frames: the next window begins, the recording ends
    double least;             // loudness that is no silence, with --vad
    float *features;          // [n_mels][frames] of a window
    burin_segment *segments;  // [context + 1] of a window
    double *times;            // [context + 1] of a window's start and tokens; NULL: not asked for
} transcription;

// -------------------------------------------------------------------------------------- recordings
// A recording shorter than a window is padded with silence. Returns how many frames have sound.
static int64_t compute_features(transcription *t, burin_sound *sound) {
    const burin_speech *s = t->decoding.speech;
    int64_t window = (int64_t)s->frames * s->hop, content = sound->n / s->hop;
    if (sound->n < window) {
        float *padded = burin_allocate((size_t)window, sizeof *padded);
        memcpy(padded, sound->samples, (size_t)sound->n * sizeof *padded);
        free(sound->samples);
        content = (sound->n + s->hop - 1) / s->hop;
        *sound = (burin_sound){.samples = padded, .n = window, .rate = sound->rate};
    }
    const burin_mel_size size = {s->sample_rate, s->n_fft, s->hop, s->n_mels};
    t->log_mel = burin_log_mel_compute(&size, sound->samples, sound->n);
    free(sound->samples);
    return content;
}

// ---------------------------------------------------------------------------------------- decoding
// Tokens from `at` on that repeat an earlier stretch, at most: text that repeats itself is short
// when it is compressed.
static int32_t repeated_length(const int32_t *tokens, int32_t n, int32_t at) {
    int32_t longest = 0;
    for (int32_t from = 0; from < at; from++) {
        int32_t length = 0;
        while (at + length < n && tokens[from + length] == tokens[at + length]) length++;
        if (length > longest) longest = length;
    }
    return longest;
}

// How many times shorter the tokens are when stretches of two or more that came before cost as much
// as 1.5 tokens.
static double compression(const burin_decoding *d) {
    const int32_t *tokens = d->tokens + d->n_first, n = d->n_tokens - d->n_first;
    double cost = 0;
    for (int32_t at = 0; at < n;) {
        int32_t length = repeated_length(tokens, n, at);
        cost += length > 1 ? 1.5 : 1;
        at += length > 1 ? length : 1;
    }
    return n ? n / cost : 1;
}

// Greedy first; a text that repeats itself or is unlikely is sampled again, at higher temperatures.
// Returns false for a window in which nobody speaks.
static bool decode_window(transcription *t, burin_segment *sure) {
    burin_decoding *d = &t->decoding;
    double given = t->run->command->sampling.temperature;
    for (int fifths = 0; fifths <= 5; fifths++) {
        double temperature = given >= 0 ? given : fifths / 5.0;
        burin_decode_window(d, temperature);
        *sure = (burin_segment){.temperature = temperature,
                                .compression = compression(d),
                                .log_probability = d->mean_log_probability,
                                .no_speech = d->no_speech};
        bool unlikely = d->mean_log_probability < -1;
        if (unlikely && d->no_speech > 0.6) return false;
        if (given < 0 && fifths > 2) burin_remember_text(d, NULL, 0);  // too unsure to go on with
        if (given >= 0 || (!unlikely && sure->compression <= 2.4)) break;
    }
    return true;
}

static void encode_window(transcription *t, int64_t from) {
    const burin_speech *s = t->decoding.speech;
    const void *inputs[] = {t->features};
    const int64_t dims[] = {s->n_mels, s->frames};
    burin_log_mel_window(&t->log_mel, from, s->frames, t->features);
    burin_status status = burin_encode_inputs(t->run->session, 0, inputs, dims);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
}

// --word-timestamps: seconds of the recording, to a hundredth.
static void align_tokens(transcription *t, const burin_window *w) {
    double start = (double)w->from * w->frame_seconds;
    burin_align_window(&t->decoding, w->frames, t->times + 1);
    t->times[0] = start;
    for (int32_t i = 1; i <= w->n; i++) t->times[i] += start;
}

// Returns how many frames the next window is further on.
static int64_t transcribe_window(transcription *t, int64_t from, int64_t content) {
    const burin_decoding *d = &t->decoding;
    burin_window w = {
        .timestamp_begin = d->speech->timestamp_begin < 0 ? INT32_MAX : d->speech->timestamp_begin,
        .from = from,
        .frames = content - from < d->speech->frames ? content - from : d->speech->frames,
        .frame_seconds = (double)d->speech->hop / d->speech->sample_rate,
        .frames_per_timestamp = FRAMES_PER_TIMESTAMP};
    int32_t n = 0;
    burin_segment sure;
    if (!decode_window(t, &sure)) return w.frames;
    w.tokens = d->tokens + d->n_first;
    w.n = d->n_tokens - d->n_first;
    int64_t forward = burin_cut_segments(&w, t->segments, &n);
    if (t->times) align_tokens(t, &w);
    for (int32_t i = 0; i < n; i++) {
        burin_segment *s = &t->segments[i];
        sure.start = s->start, sure.end = s->end, sure.tokens = s->tokens, sure.n = s->n;
        if (t->times) sure.times = t->times + 1 + (s->tokens - w.tokens);
        *s = sure, s->seek = from;
        burin_transcript_add(&t->transcript, s);
        if (s->n) burin_remember_text(&t->decoding, s->tokens, s->n);
    }
    return forward;
}

// ----------------------------------------------------------------------------------------- silence
// Mean of a frame's log10 energies.
static double loudness(const burin_log_mel *m, int64_t frame) {
    double sum = 0;
    for (int32_t i = 0; i < m->n_mels; i++) sum += (double)m->value[frame * m->n_mels + i];
    return sum / m->n_mels;
}

// --vad: frames with sound have an energy of at most 35 dB below the loudest frame, and above that
// of digital silence.
static double least_loudness(const transcription *t, int64_t content) {
    double most = -9 + 3.5;
    for (int64_t i = 0; i < content && i < t->log_mel.frames; i++) {
        double l = loudness(&t->log_mel, i);
        if (l > most) most = l;
    }
    return most - 3.5;
}

// The next frame to hear: `from`, or the end of a long pause.
static int64_t skip_silence(const transcription *t, int64_t from, int64_t content, double least) {
    int64_t at = from;
    while (at < content && at < t->log_mel.frames && loudness(&t->log_mel, at) <= least) at++;
    if (at >= content || at >= t->log_mel.frames) return content;
    return at - from > LONG_PAUSE ? at - MARGIN : from;
}

// Returns true if a window is digital silence: it has no text, whatever a model makes of it.
static bool is_window_silent(const transcription *t, int64_t from, int64_t content) {
    const burin_log_mel *m = &t->log_mel;
    int64_t end = from + t->decoding.speech->frames;
    if (end > content) end = content;
    if (end > m->frames) end = m->frames;
    for (int64_t i = from * m->n_mels; i < end * m->n_mels; i++)
        if (m->value[i] > -10) return false;
    return true;
}

// ---------------------------------------------------------------------------------------- language
static bool is_language(const burin_speech *s, int32_t token) {
    for (int32_t i = 0; i < s->n_languages; i++)
        if (s->languages[i] == token) return true;
    return false;
}

// en, or <|en|>
int32_t burin_find_language(const burin_run *run, const char *name) {
    char mark[32];
    int n = burin_format(mark, sizeof mark, *name == '<' ? "%s" : "<|%s|>", name);
    int32_t token = n < (int)sizeof mark
                        ? burin_token_find(burin_tokenizer_of(run->model), mark, (size_t)n)
                        : -1;
    return is_language(run->model->speech, token) ? token : -1;
}

static int32_t asked_language(const burin_run *run, const char *name) {
    int32_t token = burin_find_language(run, name);
    if (!run->model->speech->n_languages)
        burin_stop(BURIN_USER_MISTAKE, "--language: this model knows one language");
    if (token < 0)
        burin_stop(
            BURIN_USER_MISTAKE,
            "--language %s: this model does not know it\nhint: --language en (a code of ISO 639)",
            name);
    return token;
}

static void set_language_and_task(transcription *t) {
    burin_decoding *d = &t->decoding;
    const burin_command *c = t->run->command;
    d->language = c->language ? asked_language(t->run, c->language) : d->speech->language;
    d->task = d->speech->task >= 0 ? d->speech->task : d->speech->transcribe;
    if (c->translate) d->task = d->speech->translate;
    if (c->translate && d->task < 0)
        burin_stop(BURIN_USER_MISTAKE, "--translate: this model knows one language");
}

static char *name_language(const transcription *t) {
    size_t bytes;
    if (t->decoding.language < 0) return NULL;
    const char *text =
        burin_token_text(burin_tokenizer_of(t->run->model), t->decoding.language, &bytes);
    char *name = burin_allocate(1, bytes + 1);
    memcpy(name, text, bytes);
    return name;
}

// ----------------------------------------------------------------------------------------- the run
burin_transcription *burin_transcription_open(burin_run *run) {
    const burin_speech *s = run->model->speech;
    transcription *t = burin_allocate(1, sizeof *t);
    t->run = run;
    burin_decoding_open(&t->decoding, run);
    t->features = burin_allocate((size_t)s->n_mels * (size_t)s->frames, sizeof *t->features);
    t->segments = burin_allocate((size_t)run->context + 1, sizeof *t->segments);
    if (run->command->word_timestamps)
        t->times = burin_allocate((size_t)run->context + 2, sizeof *t->times);
    return t;
}

void burin_transcription_close(burin_transcription *t) {
    if (!t) return;
    burin_transcript_close(&t->transcript);
    burin_log_mel_close(&t->log_mel);
    free(t->features);
    free(t->segments);
    free(t->times);
    burin_decoding_close(&t->decoding);
    free(t);
}

void burin_transcription_begin(burin_transcription *t, const char *name, burin_sound *sound) {
    const burin_speech *s = t->decoding.speech;
    const burin_command *c = t->run->command;
    bool is_long = sound->n > (int64_t)s->frames * s->hop;
    t->transcript = (burin_transcript){
        .run = t->run, .name = name, .seconds = (double)sound->n / s->sample_rate};
    t->from = 0, t->content = compute_features(t, sound);
    t->decoding.timestamps =
        (is_long || c->srt || c->vtt || c->json || c->csv) && s->timestamp_begin >= 0;
    set_language_and_task(t);
    burin_decoding_start(&t->decoding);
    burin_transcript_open(&t->transcript);
    t->least = c->vad ? least_loudness(t, t->content) : 0;
}

bool burin_transcription_step(burin_transcription *t) {
    if (t->run->command->vad) t->from = skip_silence(t, t->from, t->content, t->least);
    if (t->from >= t->content) return false;
    if (is_window_silent(t, t->from, t->content)) {
        t->from += t->decoding.speech->frames;
        return true;
    }
    encode_window(t, t->from);
    if (t->decoding.language < 0 && t->decoding.speech->n_languages)
        t->decoding.language = burin_detect_language(&t->decoding);
    if (t->times && !t->transcript.language) t->transcript.language = name_language(t);
    t->from += transcribe_window(t, t->from, t->content);
    return true;
}

burin_transcript *burin_transcription_text(burin_transcription *t) {
    if (!t->transcript.language) t->transcript.language = name_language(t);
    return &t->transcript;
}

static void show_heard(const transcription *t) {
    const burin_speech *s = t->decoding.speech;
    int64_t from = t->from < t->content ? t->from : t->content;
    burin_progress("seconds of sound", from * s->hop / s->sample_rate,
                   t->content * s->hop / s->sample_rate, "");
}

static void transcribe_recording(transcription *t, const char *path) {
    burin_sound sound = burin_recording_load(path, t->decoding.speech->sample_rate);
    burin_transcription_begin(t, path, &sound);
    while (burin_transcription_step(t)) show_heard(t);
    burin_progress_end();
    burin_transcript_end(burin_transcription_text(t));
    burin_transcript_close(&t->transcript);
    burin_log_mel_close(&t->log_mel);
}

static void check_recordings_asked(const burin_run *run) {
    const burin_command *c = run->command;
    const char *form = c->srt ? "srt" : c->vtt ? "vtt" : c->csv ? "csv" : NULL;
    if (c->srt + c->vtt + c->csv + c->json > 1)
        burin_stop(BURIN_BAD_COMMAND_LINE, "give one of --srt, --vtt, --csv and --json");
    if (form && c->n_texts > 1)
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--%s writes the segments of one recording, %d are given", form, c->n_texts);
    if (form && run->model->speech->timestamp_begin < 0)
        burin_stop(BURIN_USER_MISTAKE, "--%s: this model has no timestamps", form);
    if (c->beams > 1 && c->sampling.temperature > 0)
        burin_stop(BURIN_BAD_COMMAND_LINE, "--beams needs --temp 0\nhint: leave out --temp");
    if (c->word_timestamps && !run->model->speech->n_alignment)
        burin_stop(BURIN_USER_MISTAKE,
                   "--word-timestamps: the generation_config.json of this model had no "
                   "alignment_heads");
    if (!c->n_texts && !burin_input_is_offered(false))
        burin_stop(BURIN_USER_MISTAKE, "nothing is given to transcribe\nhint: %s talk.wav",
                   burin_program_name);
}

int burin_transcribe(burin_run *run) {
    const burin_command *c = run->command;
    check_recordings_asked(run);
    burin_run_record(run);
    transcription *t = burin_transcription_open(run);
    if (!c->n_texts) transcribe_recording(t, "-");
    for (int i = 0; i < c->n_texts; i++) transcribe_recording(t, c->texts[i]);
    burin_transcription_close(t);
    return 0;
}
