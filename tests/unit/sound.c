// Recordings: WAV files good and bad, other sample rates, features, segments.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sound/alignment.h"
#include "sound/detect.h"
#include "sound/elementary.h"
#include "sound/log_mel.h"
#include "sound/resample.h"
#include "sound/segments.h"
#include "sound/words.h"
#include "unit.h"

typedef struct file {
    unsigned char bytes[256];
    size_t n;
} file;

static void put(file *f, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; i++) f->bytes[f->n++] = (unsigned char)(value >> 8 * i);
}

static void put_text(file *f, const char *text) {
    for (; *text; text++) f->bytes[f->n++] = (unsigned char)*text;
}

typedef struct header {
    uint32_t format, channels, rate, bits, data_bytes;
    bool extensible;
} header;

static file begin_file(const header *h) {
    file f = {.n = 0};
    put_text(&f, "RIFF");
    put(&f, 0, 4);
    put_text(&f, "WAVELIST");
    put(&f, 3, 4);
    put(&f, 0, 4);  // three bytes and one that makes them even
    put_text(&f, "fmt ");
    put(&f, h->extensible ? 40 : 16, 4);
    put(&f, h->extensible ? 0xfffe : h->format, 2);
    put(&f, h->channels, 2);
    put(&f, h->rate, 4);
    put(&f, h->rate * h->channels * h->bits / 8, 4);
    put(&f, h->channels * h->bits / 8, 2);
    put(&f, h->bits, 2);
    if (h->extensible) {
        put(&f, 22, 2);
        put(&f, h->bits, 2);
        put(&f, 0, 4);
        put(&f, h->format, 4);
        for (int i = 0; i < 3; i++) put(&f, 0x00100000, 4);
    }
    put_text(&f, "data");
    put(&f, h->data_bytes, 4);
    return f;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

// Two samples of each format: 1/2 and -1/4 (of A-law and mu-law what is nearest).
static void every_format_is_read(void) {
    static const struct {
        uint32_t format, bits, first, second;
        float a, b;
    } rows[] = {{1, 8, 192, 96, 0.5f, -0.25f},
                {1, 16, 0x4000, 0xe000, 0.5f, -0.25f},
                {1, 24, 0x400000, 0xe00000, 0.5f, -0.25f},
                {1, 32, 0x40000000, 0xe0000000, 0.5f, -0.25f},
                {3, 32, 0x3f000000, 0xbe800000, 0.5f, -0.25f},
                {6, 8, 0xd5, 0x55, 8.0f / 32768, -8.0f / 32768},
                {6, 8, 0xaa, 0x2a, 32256.0f / 32768, -32256.0f / 32768},
                {7, 8, 0x80, 0x00, 32124.0f / 32768, -32124.0f / 32768},
                {7, 8, 0xff, 0x7e, 0, -8.0f / 32768}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const int row = (int)i / 2, bytes = (int)rows[row].bits / 8;
        header h = {rows[row].format, 1, 16000, rows[row].bits, (uint32_t)(2 * bytes), i % 2};
        file f = begin_file(&h);
        burin_sound s;
        put(&f, rows[row].first, bytes);
        put(&f, rows[row].second, bytes);
        CHECK(burin_wav_read(&s, f.bytes, f.n) == NULL);
        CHECK(s.n == 2 && s.rate == 16000 && s.samples[0] == rows[row].a &&
              s.samples[1] == rows[row].b);
        free(s.samples);
    }
}

static void channels_are_averaged(void) {
    header h = {3, 2, 44100, 32, 0xffffffff, false};  // as a pipe has it
    file f = begin_file(&h);
    burin_sound s;
    put(&f, bits_of(1), 4);
    put(&f, bits_of(-0.5f), 4);
    put(&f, bits_of(0.25f), 4);  // half of a frame
    CHECK(burin_wav_read(&s, f.bytes, f.n) == NULL && s.n == 1 && s.samples[0] == 0.25f &&
          s.rate == 44100);
    free(s.samples);
}

static void bad_files_have_messages(void) {
    static const struct {
        header h;
        uint32_t sample;
        size_t n;  // bytes of the file; 0: all
        const char *message;
    } rows[] = {
        {{1, 1, 16000, 16, 4, false}, 0, 0, NULL},
        {{1, 1, 16000, 16, 6, false},
         0,
         0,
         "it is cut: its header has 6 bytes of samples, the file has 4"},
        {{1, 1, 16000, 16, 0x40000000, false},
         0,
         0,
         "it is cut: its header has 1073741824 bytes of samples, the file has 4"},
        {{1, 1, 16000, 16, 3, false},
         0,
         0,
         "its samples have 3 bytes, not a multiple of the 2 of a frame"},
        {{1, 0, 16000, 16, 4, false}, 0, 0, "it has 0 channels: expected 1 to 256"},
        {{1, 1, 0, 16, 4, false}, 0, 0, "it has 0 samples per second: expected 1000 to 384000"},
        {{1, 1, 4000000000, 16, 4, false},
         0,
         0,
         "it has 4000000000 samples per second: expected 1000 to 384000"},
        {{1, 1, 16000, 12, 4, false}, 0, 0, "its samples have 12 bits: expected 8, 16, 24 or 32"},
        {{3, 1, 16000, 16, 4, false}, 0, 0, "its samples have 16 bits: expected 32 or 64"},
        {{2, 1, 16000, 4, 4, false},
         0,
         0,
         "its samples have format 2: expected PCM (1), floats (3), A-law (6) or mu-law (7)"},
        {{3, 1, 16000, 32, 4, false}, 0x7fc00000, 0, "sample 0 is no finite number"},
        {{3, 1, 16000, 32, 4, false}, 0xff800000, 0, "sample 0 is no finite number"},
        {{1, 1, 16000, 16, 4, false}, 0, 20, "a chunk at byte 12 has 3 bytes, the file has 0 more"},
        {{1, 1, 16000, 16, 4, false}, 0, 26, "it has no \"data\" chunk"},
        {{1, 1, 16000, 16, 4, false},
         0,
         40,
         "a chunk at byte 24 has 16 bytes, the file has 8 more"},
        {{1, 1, 16000, 16, 0, false}, 0, 56, "it has no samples"},
        {{1, 1, 16000, 16, 4, false}, 0, 11, "it does not begin as a WAV file does"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file f = begin_file(&rows[i].h);
        burin_sound s;
        put(&f, rows[i].sample, 4);
        const char *why = burin_wav_read(&s, f.bytes, rows[i].n ? rows[i].n : f.n);
        CHECK_TEXT(why ? why : "", rows[i].message ? rows[i].message : "");
        if (!why) free(s.samples);
    }
}

static void other_formats_are_named(void) {
    static const char *const rows[][2] = {
        {"", "it is empty"},
        {"fLaC....", "it is FLAC"},
        {"OggS....", "it is Ogg"},
        {"ID3.....", "it is MP3"},
        {"....ftypM4A ", "it is MP4"},
        {"Dear reader, this is a text.", "it does not begin as a WAV file does"}};
    burin_sound s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_TEXT(burin_wav_read(&s, (const unsigned char *)rows[i][0], strlen(rows[i][0])),
                   rows[i][1]);
}

// ------------------------------------------------------------------------------------ sample rates
static burin_sound make_tone(int32_t rate, double hertz) {
    burin_sound s = {.n = rate / 4, .rate = rate};
    s.samples = malloc((size_t)s.n * sizeof *s.samples);
    for (int64_t i = 0; i < s.n; i++)
        s.samples[i] = (float)(0.5 * sin(2 * M_PI * hertz * (double)i / rate));
    return s;
}

// The largest difference from the same tone at the other rate, away from both ends.
static double tone_error(int32_t from, int32_t to, double hertz, double gain) {
    burin_sound s = make_tone(from, hertz);
    burin_resample(&s, to);
    CHECK(s.n == ((int64_t)(from / 4) * to + from - 1) / from && s.rate == to);
    double largest = 0;
    for (int64_t i = s.n / 4; i < 3 * s.n / 4; i++) {
        double error =
            fabs((double)s.samples[i] - gain * 0.5 * sin(2 * M_PI * hertz * (double)i / to));
        largest = error > largest ? error : largest;
    }
    free(s.samples);
    return largest;
}

static void tones_keep_their_shape(void) {
    static const int32_t rates[] = {8000, 11025, 16000, 22050, 44100, 48000, 96000, 12345};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        CHECK(tone_error(rates[i], 16000, 440, 1) < 1e-5);
    CHECK(tone_error(48000, 16000, 6000, 1) < 1e-5);
    CHECK(tone_error(48000, 16000, 9000, 0) < 1e-4);  // above half of the rate: gone, no alias
}

// ---------------------------------------------------------------------------------------- features
static void functions_are_right(void) {
    for (int k = 0; k < 1600; k++) {
        CHECK(fabs(burin_sine_of_turn(k, 400) - sin(2 * M_PI * (k % 400) / 400)) < 4e-15);
        CHECK(fabs(burin_cosine_of_turn(k, 400) - cos(2 * M_PI * (k % 400) / 400)) < 4e-15);
        double x = (k - 800) / 37.0;
        CHECK(fabs(burin_sine_of_pi(x) - sin(M_PI * x)) < 1e-13);
        CHECK(fabs(burin_exponential(x) / exp(x) - 1) < 1e-14);
    }
}

// A tone of 1000 Hz: the triangle around it is the largest in every frame, silence after it is 8
// below.
static void a_tone_is_in_its_band(void) {
    enum { N = 8000, MELS = 40, FRAMES = N / 160 };
    float samples[N] = {0}, features[MELS * (FRAMES + 2)];
    for (int i = 0; i < N / 2; i++) samples[i] = (float)burin_sine_of_turn(i, 16);
    burin_log_mel mel = burin_log_mel_compute(&(burin_mel_size){16000, 400, 160, MELS}, samples, N);
    CHECK(mel.frames == FRAMES && mel.n_mels == MELS);
    burin_log_mel_window(&mel, 0, FRAMES + 2, features);
    int top = 0;
    for (int m = 0; m < MELS; m++)
        top = mel.value[10 * MELS + m] > mel.value[10 * MELS + top] ? m : top;
    CHECK(top == 13 || top == 12);
    CHECK(features[FRAMES - 1] == (mel.largest - 8 + 4) / 4 &&
          mel.value[(FRAMES - 1) * MELS] == -10);
    CHECK(features[FRAMES] == 0 && features[FRAMES + 1] == 0);
    burin_log_mel_close(&mel);
}

// ---------------------------------------------------------------------------------------- segments
static void segments_follow_their_timestamps(void) {
    enum { T = 100 };  // the timestamp of 0 s
    static const struct {
        int32_t tokens[8], n, segments, forward;
        double end;  // of the last segment
    } rows[] = {
        {{T, 1, 2, T + 50}, 4, 1, 3000, 11},                    // one segment
        {{T, 1, T + 50, T + 50, 2, T + 80}, 6, 2, 3000, 11.6},  // nobody speaks after the last
        {{T, 1, T + 50, T + 50, 2}, 5, 1, 100, 11},             // the second is unfinished
        {{T, 1, T + 50, T + 60, 2, T + 70, T + 75, 3},
         8,
         2,
         140,
         11.4},                       // times of a pair may differ
        {{T, 1, 2}, 3, 1, 3000, 40},  // no time of its end
        {{T, T, 1}, 3, 1, 3000, 10},  // it would not get on
        {{1, 2}, 2, 1, 3000, 40}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        burin_window w = {rows[i].tokens, rows[i].n, T, 1000, 3000, 0.01, 2};
        burin_segment segments[9];
        int32_t n;
        CHECK(burin_cut_segments(&w, segments, &n) == rows[i].forward);
        CHECK(n == rows[i].segments && fabs(segments[n - 1].end - rows[i].end) < 1e-9 &&
              segments[0].start == 10);
    }
}

// ------------------------------------------------------------------------------------------ words
static void punctuation_joins_words(void) {
    static const struct {
        const char *pieces[7], *words;
        bool by_piece;
    } rows[] = {{{" He", "llo", ",", " you", "!"}, " Hello,| you!", false},
                {{" say", " \"", "yes", "\"", " (", "no", ")"}, " say| \"yes\"| (no)", false},
                {{" 3", ".", "5", " %"}, " 3|.5| %", false},
                {{" -", "x"}, " -x", false},
                {{" ", "a"}, " a", false},
                {{"\u4f60", "\u597d", "\u3002"}, "\u4f60|\u597d\u3002", true},
                {{"a", " ", ""}, "a| ", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[80] = "", words[90] = "";
        burin_word pieces[7];
        int32_t n = 0;
        for (; n < 7 && rows[i].pieces[n] && *rows[i].pieces[n]; n++) {
            pieces[n] =
                (burin_word){strlen(text), strlen(text) + strlen(rows[i].pieces[n]), n, n + 1};
            strcat(text, rows[i].pieces[n]);
        }
        CHECK(n > 0);
        n = burin_join_words(text, pieces, n, rows[i].by_piece);
        for (int32_t k = 0; k < n; k++) {
            CHECK(pieces[k].start < pieces[k].end);
            if (k) strcat(words, "|");
            strncat(words, text + pieces[k].from, pieces[k].to - pieces[k].from);
        }
        CHECK_TEXT(words, rows[i].words);
    }
    CHECK(burin_join_words("", NULL, 0, false) == 0);
}

static void paths_follow_the_weights(void) {
    static const float weights[3 * 5] = {9, 9, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 9, 9};
    static const float equal[3 * 2] = {0};
    int32_t first[3];
    burin_align_path(weights, 3, 5, first);
    CHECK(first[0] == 0 && first[1] == 1 && first[2] == 2);
    burin_align_path(equal, 3, 2, first);  // more tokens than steps
    CHECK(first[0] == 0 && first[1] == 0 && first[2] == 0);
}

// ------------------------------------------------------------------------------------------- spans
// Probabilities in tenths, a digit for a window of 512 samples; the spans are those of Silero's
// own function.
static void spans_are_those_of_silero(void) {
    static const struct {
        const char *tenths;
        int64_t n, spans[4];
    } rows[] = {{"9990000000000009999996660000004444446664", 1, {7200, 12768}},
                {"6669996664449994444440000006669994446669", 2, {0, 11232, 13344, 20380}},
                {"6660000004446660009994449996666669994444", 1, {5664, 20380}},
                {"0000000000000000000000000000000000000000", 0, {0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float probability[40];
        burin_speech_span spans[22];
        for (int k = 0; k < 40; k++) probability[k] = (float)(rows[i].tenths[k] - '0') / 10;
        int64_t n = burin_find_speech(probability, 512 * 40 - 100, 512, 16000, spans);
        CHECK(n == rows[i].n);
        for (int64_t k = 0; k < n; k++)
            CHECK(spans[k].start == rows[i].spans[2 * k] &&
                  spans[k].end == rows[i].spans[2 * k + 1]);
    }
    CHECK(burin_find_speech(NULL, 0, 512, 16000, (burin_speech_span[1]){{0, 0}}) == 0);
}

SUITE(sound) {
    TEST(every_format_is_read);
    TEST(channels_are_averaged);
    TEST(bad_files_have_messages);
    TEST(other_formats_are_named);
    TEST(tones_keep_their_shape);
    TEST(functions_are_right);
    TEST(a_tone_is_in_its_band);
    TEST(segments_follow_their_timestamps);
    TEST(punctuation_joins_words);
    TEST(paths_follow_the_weights);
    TEST(spans_are_those_of_silero);
}
