// Recordings and speech: /v1/audio/transcriptions and /v1/audio/translations of programs that hear,
// /v1/audio/speech of voices. A step computes a window of a recording, or a sentence, and requests
// take turns; what a request gets is what it has alone.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/listener.h"
#include "network/model_card.h"
#include "program/output.h"
#include "server/server.h"
#include "sound/listen.h"
#include "sound/recording.h"
#include "sound/resample.h"
#include "sound/speech.h"
#include "sound/transcribe.h"
#include "voice/speak.h"
#include "voice/wav_write.h"

// Recordings that are in memory at once, other than as files; the longest one.
enum { MOST_RECORDINGS = 4, MOST_HOURS = 2, PCM_RATE = 24000 };

typedef struct burin_sounds {
    burin_hearer *hearer;  // of a program of CTC; NULL: another one
    burin_speaker *speaker;
    burin_delivery usual;
    int32_t rate;        // samples a second of the model
    int32_t recordings;  // in memory
} burin_sounds;

typedef enum sound_form { AS_JSON, AS_TEXT, AS_SRT, AS_VTT, AS_VERBOSE, AS_WAV, AS_PCM } sound_form;

typedef struct burin_sound_job {
    sound_form form;
    bool begun;
    double seconds;                      // of the recording
    burin_run run;                       // with the request's own command
    burin_transcription *transcription;  // NULL: not begun, or another program
    burin_sound sound;                   // of a hearer
    const float *rest;                   // [left] samples that are not heard yet
    int64_t left;
    char *language, *prompt;    // of the command
    char *input;                // [bytes] to speak
    size_t at, bytes;           // at: what is said
    burin_delivery delivery;    // of the speech
    burin_capture out, silent;  // text or samples; characters without a sound
    size_t sent;                // of a stream
} sound_job;

static void close_sound_job(burin_request *q) {
    sound_job *job = q->sound;
    if (job->begun) q->server->sounds->recordings--;
    burin_transcription_close(job->transcription);
    free(job->sound.samples), free(job->language), free(job->prompt), free(job->input);
    free(job->out.data), free(job->silent.data), free(job);
}

static sound_job *open_sound_job(burin_request *q) {
    q->sound = burin_allocate(1, sizeof *q->sound), q->close_job = close_sound_job;
    q->stream = burin_body_bool(q, "stream", false);
    return q->sound;
}

// ---- requests for a text ----
static sound_form form_of(burin_request *q) {
    static const char *const names[] = {"json", "text", "srt", "vtt", "verbose_json"};
    const burin_value *v = burin_body_string(q, "response_format");
    const burin_speech *speech = q->server->model->speech;
    bool times = speech && speech->timestamp_begin >= 0;
    sound_form form = AS_JSON;
    while (v && form <= AS_VERBOSE && !burin_is_text(*v, names[form])) form++;
    if (form > AS_VERBOSE)
        burin_request_fail(q, 400, "response_format",
                           "\"response_format\" must be json, text, srt, vtt or verbose_json");
    if ((form == AS_SRT || form == AS_VTT) && !times)
        burin_request_fail(q, 400, "response_format",
                           "\"response_format\": this model gives no times");
    return form;
}

// Fields of a form are text.
static double number_of_field(burin_request *q, const char *name, double absent, double most) {
    const burin_value *v = burin_body_string(q, name);
    char *text = v ? burin_copy_text(*v) : NULL, *end = text;
    double number = text ? strtod(text, &end) : absent;
    bool good = !text || (end != text && !*end && number >= 0 && number <= most);
    free(text);
    if (!good)
        burin_request_fail(q, 400, name, "\"%s\" must be a number from 0 to %.9g", name, most);
    return number;
}

static void read_language(burin_request *q) {
    const burin_run *run = q->server->base;
    const burin_value *v = burin_body_string(q, "language");
    if (!v || !v->length) return;
    char *name = q->sound->language = burin_copy_text(*v);
    if (!run->model->speech || !run->model->speech->n_languages) {
        if (strcmp(name, "en"))
            burin_request_fail(q, 400, "language", "\"language\": this model knows one language");
        return;
    }
    if (burin_find_language(run, name) < 0)
        burin_request_fail(q, 400, "language",
                           "\"language\": this model does not know %.40s: expected a code of ISO "
                           "639, such as en",
                           name);
    q->command.language = name;
}

static void read_prompt_text(burin_request *q) {
    const burin_value *v = burin_body_string(q, "prompt");
    if (!v || !v->length) return;
    if (!q->server->model->speech || q->server->model->speech->previous < 0)
        burin_request_fail(q, 400, "prompt", "\"prompt\": this model takes none");
    q->command.prompt_text = q->sound->prompt = burin_copy_text(*v);
}

static void refuse_words(burin_request *q) {
    const burin_value *v = burin_body_field(q, q->body, "timestamp_granularities");
    if (v && !burin_is_text(*v, "segment"))
        burin_request_fail(q, 400, "timestamp_granularities",
                           "\"timestamp_granularities\" must be segment: words get no times here");
}

static void hear(burin_request *q);

static void handle_recording(burin_request *q, bool translate) {
    const burin_speech *speech = q->server->model->speech;
    burin_form_data_read(q);
    sound_job *job = open_sound_job(q);
    burin_command *c = &q->command;
    *c = *q->server->command;
    if (!q->file) burin_request_fail(q, 400, "file", "the part \"file\" is missing");
    job->form = form_of(q);
    c->srt = job->form == AS_SRT, c->vtt = job->form == AS_VTT, c->json = job->form == AS_VERBOSE;
    c->translate = translate, c->verbose = false;
    if (translate && (!speech || speech->translate < 0))
        burin_request_fail(q, 400, NULL, "this model translates nothing");
    double temperature = number_of_field(q, "temperature", 0, 100);
    if (temperature > 0) c->sampling.temperature = temperature;
    c->sampling.seed = (uint64_t)number_of_field(q, "seed", 0, 9e15), c->sampling.has_seed = true;
    read_language(q);
    read_prompt_text(q);
    refuse_words(q);
    q->work = hear;
}

void burin_handle_transcription(burin_request *q) { handle_recording(q, false); }
void burin_handle_translation(burin_request *q) { handle_recording(q, true); }

// ---- hearing ----
static void begin_recording(burin_request *q) {
    burin_server *s = q->server;
    sound_job *job = q->sound;
    burin_sound sound;
    const char *why = burin_recording_read(&sound, (const unsigned char *)q->file, q->file_bytes);
    if (why)
        burin_request_fail(q, 400, "file", "the recording: %s: expected " BURIN_SOUND_FORMATS, why);
    job->begun = true, s->sounds->recordings++;
    job->seconds = (double)sound.n / sound.rate;
    if (s->sounds->hearer) {
        int64_t missing = burin_hearer_prepare(s->sounds->hearer, &sound);
        job->sound = sound, job->rest = sound.samples, job->left = sound.n;
        if (missing)
            burin_request_fail(q, 400, "file", "the recording is too short by %lld samples",
                               (long long)missing);
        return;
    }
    burin_resample(&sound, s->sounds->rate);
    job->run = *s->base, job->run.command = &q->command;
    job->transcription = burin_transcription_open(&job->run);
    burin_capture *before = burin_capture_into(&job->out);
    burin_transcription_begin(job->transcription, "recording", &sound);
    burin_capture_into(before);
}

// The next window. False: there is none.
static bool hear_window(burin_request *q) {
    sound_job *job = q->sound;
    if (job->transcription) return burin_transcription_step(job->transcription);
    burin_hearer_next(q->server->sounds->hearer, &job->rest, &job->left, &job->out);
    return job->left > 0;
}

static void send_text(burin_request *q, bool last) {
    sound_job *job = q->sound;
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (job->out.n > job->sent) {
        burin_print("data: {\"type\": \"transcript.text.delta\", \"delta\": ");
        burin_print_json_string(job->out.data + job->sent, job->out.n - job->sent);
        burin_print("}\n\n");
    }
    job->sent = job->out.n;
    if (last) {
        burin_print("data: {\"type\": \"transcript.text.done\", \"text\": ");
        burin_print_json_string(job->out.data ? job->out.data : "", job->out.n);
        burin_print("}\n\n");
    }
    burin_capture_into(before);
    burin_stream_send(q, &event);
}

static void hear(burin_request *q) {
    sound_job *job = q->sound;
    if (!job->begun && q->server->sounds->recordings == MOST_RECORDINGS) return;
    if (!job->begun) begin_recording(q);
    burin_capture *before = burin_capture_into(&job->out);
    bool goes_on = hear_window(q);
    burin_capture_into(before);
    if (!q->first) q->first = burin_nanoseconds();
    if (q->stream && job->form <= AS_TEXT) send_text(q, !goes_on);
    if (!goes_on) q->done = true;
}

static void print_text_member(const sound_job *job) {
    burin_print("\"text\": ");
    burin_print_json_string(job->out.data ? job->out.data : "", job->out.n);
}

static void print_transcription(const burin_request *q) {
    const sound_job *job = q->sound;
    if (job->form == AS_VERBOSE) {
        burin_print("{\"task\": \"%-s\", \"duration\": %.3f, ",
                    q->command.translate ? "translate" : "transcribe", job->seconds);
        if (job->transcription)
            burin_transcript_print_fields(burin_transcription_text(job->transcription));
        else
            print_text_member(job);
    } else {
        burin_print("{");
        print_text_member(job);
    }
    burin_print(", \"usage\": {\"type\": \"duration\", \"seconds\": %.0f}}", ceil(job->seconds));
}

static void finish_transcription(burin_request *q) {
    sound_job *job = q->sound;
    bool json = job->form == AS_JSON || job->form == AS_VERBOSE;
    burin_capture body = {0};
    if (q->streaming) {
        burin_stream_end(q);
        return;
    }
    burin_capture *before = burin_capture_into(&body);
    if (json)
        print_transcription(q);
    else if (job->out.n)
        burin_print_bytes(job->out.data, job->out.n);
    if (job->form == AS_TEXT) burin_print("\n");
    burin_capture_into(before);
    burin_reply(q, 200, &body,
                json                  ? NULL
                : job->form == AS_VTT ? "text/vtt; charset=utf-8"
                                      : "text/plain; charset=utf-8");
}

// ---- speech ----
static void read_voice(burin_request *q) {
    burin_sounds *sounds = q->server->sounds;
    const burin_card *card = burin_card_of(q->server->model);
    const burin_value *v = burin_body_field(q, q->body, "voice");
    if (v && v->kind == BURIN_DICT) v = burin_body_field(q, *v, "id");
    if (v && v->kind != BURIN_STRING)
        burin_request_fail(q, 400, "voice", "\"voice\" must be a string");
    if (!v || !card->n_labels) return;  // the only one
    char *name = burin_copy_text(*v);
    q->sound->delivery.voice = burin_speaker_find(sounds->speaker, name);
    free(name);
    if (q->sound->delivery.voice < 0)
        burin_request_fail(q, 400, "voice",
                           "\"voice\": this model has no such voice: it has %u, and %s is the "
                           "first",
                           card->n_labels, burin_card_label(card, 0));
}

static void read_sound_form(burin_request *q) {
    const burin_value *v = burin_body_string(q, "response_format"),
                      *how = burin_body_string(q, "stream_format"),
                      *told = burin_body_string(q, "instructions");
    sound_job *job = q->sound;
    job->form = v && burin_is_text(*v, "pcm") ? AS_PCM : AS_WAV;
    if (v && job->form == AS_WAV && !burin_is_text(*v, "wav"))
        burin_request_fail(q, 400, "response_format", "\"response_format\" must be wav or pcm");
    if (how && !burin_is_text(*how, "audio") && !burin_is_text(*how, "sse"))
        burin_request_fail(q, 400, "stream_format", "\"stream_format\" must be audio or sse");
    q->stream = how && burin_is_text(*how, "sse");
    if (job->form == AS_PCM && !q->stream) q->stream_type = "audio/pcm";
    if (told && told->length)
        burin_request_fail(q, 400, "instructions", "\"instructions\": this voice takes none");
}

// 16 bits at the model's rate to 16 bits at that of OpenAI's pcm.
static void resample_sentence(burin_request *q, size_t from) {
    burin_capture *out = &q->sound->out;
    size_t n = (out->n - from) / 2;
    if (!n || q->server->sounds->rate == PCM_RATE) return;
    burin_sound sound = {burin_allocate(n, sizeof *sound.samples), (int64_t)n,
                         q->server->sounds->rate};
    for (size_t i = 0; i < n; i++) {
        int16_t sample;
        memcpy(&sample, out->data + from + 2 * i, sizeof sample);
        sound.samples[i] = (float)sample / 32767;
    }
    burin_resample(&sound, PCM_RATE);
    unsigned char *bytes = burin_allocate(2, (size_t)sound.n);
    burin_wav_samples(sound.samples, (size_t)sound.n, bytes);
    out->n = from;
    burin_capture_add(out, bytes, 2 * (size_t)sound.n);
    free(bytes), free(sound.samples);
}

// New samples of a stream.
static void send_samples(burin_request *q) {
    sound_job *job = q->sound;
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (q->stream && job->out.n) {
        burin_print("data: {\"type\": \"speech.audio.delta\", \"audio\": \"");
        burin_print_base64(job->out.data, job->out.n);
        burin_print("\"}\n\n");
    } else if (job->out.n) {
        burin_print_bytes(job->out.data, job->out.n);
    }
    if (q->stream && q->done)
        burin_print(
            "data: {\"type\": \"speech.audio.done\", \"usage\": {\"input_tokens\": 0, "
            "\"output_tokens\": 0, \"total_tokens\": 0}}\n\n");
    burin_capture_into(before);
    job->out.n = 0;
    burin_stream_send(q, &event);
}

static void say(burin_request *q) {
    sound_job *job = q->sound;
    size_t from = job->out.n;
    const char *why = NULL;
    if (job->at < job->bytes)
        job->at += burin_speaker_say(q->server->sounds->speaker, &job->delivery,
                                     job->input + job->at, job->bytes - job->at, &job->out, &why);
    if (why) burin_request_fail(q, 500, "input", "%s", why);
    if (job->out.n > from) job->delivery.pause = true;
    if (job->out.n > BURIN_MOST_WAV_BYTES)
        burin_request_fail(q, 400, "input", "\"input\" is longer than 4 GB of speech");
    if (job->form == AS_PCM) resample_sentence(q, from);
    if (!q->first) q->first = burin_nanoseconds();
    q->done = job->at >= job->bytes;
    if (q->stream || q->stream_type) send_samples(q);
}

void burin_handle_speech(burin_request *q) {
    burin_body_read(q);
    sound_job *job = open_sound_job(q);
    const burin_value *input = burin_body_string(q, "input");
    if (!input || !input->length) burin_request_fail(q, 400, "input", "\"input\" must be a text");
    job->delivery = q->server->sounds->usual, job->delivery.unknown = &job->silent;
    job->delivery.speed = burin_body_number(q, "speed", job->delivery.speed, 0.1, 10);
    job->delivery.seed =
        (uint64_t)burin_body_integer(q, "seed", (int64_t)job->delivery.seed, INT64_MIN, INT64_MAX);
    read_voice(q);
    read_sound_form(q);
    job->input = burin_copy_text(*input), job->bytes = input->length;
    q->work = say;
}

static void finish_speech(burin_request *q) {
    sound_job *job = q->sound;
    unsigned char header[BURIN_WAV_HEADER];
    burin_capture body = {0};
    if (job->silent.n)
        burin_note("%s: this voice has no sound for: %.*s", q->path, (int)job->silent.n,
                   job->silent.data);
    if (q->streaming) {
        burin_stream_end(q);
        return;
    }
    burin_wav_header(header, q->server->sounds->rate, (uint32_t)job->out.n);
    burin_capture_add(&body, header, sizeof header);
    burin_capture_add(&body, job->out.data, job->out.n);
    burin_reply(q, 200, &body, "audio/wav");
}

const burin_api burin_transcription_api = {.finished = finish_transcription},
                burin_speech_api = {.finished = finish_speech};

// ---- servers ----
static int serve_sounds(burin_server *s, burin_sounds *sounds) {
    burin_most_seconds = MOST_HOURS * 3600;
    s->sounds = sounds, s->jobs = true;
    s->model = s->base->model, s->command = s->base->command;
    return burin_server_run(s);
}

int burin_serve_recordings(burin_run *run) {
    burin_sounds sounds = {.rate = run->model->speech->sample_rate};
    burin_server s = {.base = run, .routes = burin_recording_routes};
    return serve_sounds(&s, &sounds);
}

int burin_serve_listener(const burin_model *model, const burin_command *c) {
    const burin_listener *settings = burin_card_listener(model);
    if (settings->blank < 0)
        burin_stop(BURIN_USER_MISTAKE, "--serve: this model gives classes of recordings, no texts");
    burin_sounds sounds = {.hearer = burin_hearer_open(model, c), .rate = settings->sample_rate};
    burin_run base = {.model = model, .command = c, .session = burin_hearer_session(sounds.hearer)};
    burin_server s = {.base = &base, .routes = burin_recording_routes};
    int status = serve_sounds(&s, &sounds);
    burin_hearer_close(sounds.hearer);
    return status;
}

int burin_serve_voice(const burin_model *model, const burin_command *c) {
    burin_sounds sounds = {.rate = burin_card_voice(model)->sample_rate};
    sounds.speaker = burin_speaker_open(model, c, &sounds.usual);
    burin_run base = {
        .model = model, .command = c, .session = burin_speaker_session(sounds.speaker)};
    burin_server s = {.base = &base, .routes = burin_voice_routes};
    int status = serve_sounds(&s, &sounds);
    burin_speaker_close(sounds.speaker);
    return status;
}
