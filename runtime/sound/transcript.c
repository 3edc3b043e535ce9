// Text loses the space before its first word. Subtitles lose what would end a cue early: line ends,
// "-->", and in WebVTT & and <.
#include "sound/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "sound/speech.h"
#include "text/prompt.h"

typedef struct text_range {
    const char *text;
    size_t bytes;
} text_range;

void burin_transcript_open(burin_transcript *t) {
    const burin_command *c = t->run->command;
    t->tokenizer = burin_tokenizer_of(t->run->model);
    size_t longest = burin_decode_max(t->tokenizer);
    t->bytes = burin_allocate(1, longest + 1);
    t->whole = burin_allocate(3, longest + 2);
    if (c->vtt) burin_print("WEBVTT\n\n");
    if (c->csv) burin_print("start,end,text\n");
}

static text_range trim_spaces(const char *text, size_t bytes) {
    while (bytes && (*text == ' ' || *text == '\n')) {
        text++;
        bytes--;
    }
    while (bytes && (text[bytes - 1] == ' ' || text[bytes - 1] == '\n')) bytes--;
    return (text_range){text, bytes};
}

// --------------------------------------------------------------------------------------- subtitles
static void print_cue_time(double seconds, char separator) {
    long long ms = (long long)(seconds * 1000 + 0.5);
    burin_print("%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
                separator, ms % 1000);
}

static void print_cue_text(const burin_command *c, text_range r) {
    for (size_t i = 0; i < r.bytes; i++) {
        const char *piece = NULL;
        bool arrow = i + 2 < r.bytes && !memcmp(r.text + i, "-->", 3);
        if (arrow) piece = "-";  // "->" is left
        if (r.text[i] == '\n' || r.text[i] == '\r') piece = " ";
        if (c->vtt && r.text[i] == '&') piece = "&amp;";
        if (c->vtt && r.text[i] == '<') piece = "&lt;";
        int length = burin_utf8_length((unsigned char)r.text[i]);
        if (piece) {
            burin_print_text(piece, strlen(piece));
            i += arrow;
        } else {
            size_t n = length < 1 || (size_t)length > r.bytes - i ? 1 : (size_t)length;
            burin_print_text(r.text + i, n);
            i += n - 1;
        }
    }
}

static void print_cue(burin_transcript *t, double start, double end, text_range r) {
    const burin_command *c = t->run->command;
    r = trim_spaces(r.text, r.bytes);
    if (!r.bytes) return;
    t->n_segments++;
    if (c->srt) burin_print("%lld\n", (long long)t->n_segments);
    print_cue_time(start, c->srt ? ',' : '.');
    burin_print(" --> ");
    print_cue_time(end, c->srt ? ',' : '.');
    burin_print("\n");
    print_cue_text(c, r);
    burin_print("\n\n");
    burin_show();
}

// --------------------------------------------------------------------------------------------- CSV
// Times in seconds; the text in quotes, its own quotes twice.
static void print_csv_row(double start, double end, text_range r) {
    r = trim_spaces(r.text, r.bytes);
    if (!r.bytes) return;
    burin_print("%.2f,%.2f,\"", start, end);
    for (size_t from = 0, at = 0; at < r.bytes; from = at) {
        while (at < r.bytes && r.text[at] != '"') at++;
        burin_print_text(r.text + from, at - from);
        if (at < r.bytes) burin_print("\"\""), at++;
    }
    burin_print("\"\n");
    burin_show();
}

// -------------------------------------------------------------------------------------------- JSON
static void add_json_segment(burin_transcript *t, const burin_segment *s, text_range r) {
    burin_capture *before = burin_capture_into(&t->segments);
    burin_print("%s{\"id\": %lld, \"seek\": %lld, \"start\": %.2f, \"end\": %.2f, \"text\": ",
                t->n_segments ? ", " : "", (long long)t->n_segments, (long long)s->seek, s->start,
                s->end);
    burin_print_json_string(r.text, r.bytes);
    burin_print(", \"tokens\": [");
    for (int32_t i = 0; i < s->n; i++) burin_print("%s%d", i ? ", " : "", s->tokens[i]);
    burin_print(
        "], \"temperature\": %.1f, \"avg_logprob\": %.4f, \"compression_ratio\": %.4f, "
        "\"no_speech_prob\": %.4g}",
        s->temperature, s->log_probability, s->compression, s->no_speech);
    burin_capture_into(before);
    t->n_segments++;
}

static void add_json_word(burin_transcript *t, const burin_word *w, text_range r) {
    burin_capture *before = burin_capture_into(&t->words);
    burin_print("%s{\"word\": ", t->words.n ? ", " : "");
    burin_print_json_string(r.text, r.bytes);
    burin_print(", \"start\": %.2f, \"end\": %.2f}", w->start, w->end);
    burin_capture_into(before);
}

void burin_transcript_print_fields(const burin_transcript *t) {
    text_range text = trim_spaces(t->text.data, t->text.n);
    if (t->language) {
        burin_print("\"language\": ");
        burin_print_json_string(t->language + 2, strlen(t->language) - 4);
        burin_print(", ");
    }
    burin_print("\"text\": ");
    burin_print_json_string(text.text, text.bytes);
    burin_print(", \"segments\": [");
    if (t->segments.n) burin_print_bytes(t->segments.data, t->segments.n);
    burin_print("]");
    if (!t->run->command->word_timestamps) return;
    burin_print(", \"words\": [");
    if (t->words.n) burin_print_bytes(t->words.data, t->words.n);
    burin_print("]");
}

static void print_transcript_json(const burin_transcript *t) {
    burin_print("{\"file\": ");
    burin_print_json_string(t->name, strlen(t->name));
    burin_print(", \"seconds\": %.2f, ", t->seconds);
    burin_transcript_print_fields(t);
    burin_print("}\n");
}

// -------------------------------------------------------------------------------------------- text
// Only the first word loses its space; spaces at the end wait for more text.
static void print_new_text(burin_transcript *t) {
    if (!t->printed)
        while (t->printed < t->text.n && t->text.data[t->printed] == ' ') t->printed++;
    size_t end = t->text.n;
    while (end > t->printed && t->text.data[end - 1] == ' ') end--;
    burin_print_text(t->text.data + t->printed, end - t->printed);
    t->printed = end;
    burin_show();
}

// ------------------------------------------------------------------------------------------- words
// Languages that put no spaces between words.
static bool has_no_spaces(const char *language) {
    static const char *const list[] = {"<|zh|>", "<|ja|>", "<|th|>", "<|lo|>", "<|my|>", "<|yue|>"};
    for (size_t i = 0; language && i < sizeof list / sizeof *list; i++)
        if (!strcmp(language, list[i])) return true;
    return false;
}

static void print_words(burin_transcript *t, int32_t n_pieces) {
    const burin_command *c = t->run->command;
    int32_t n = burin_join_words(t->text.data, t->pieces, n_pieces, has_no_spaces(t->language));
    for (int32_t i = 0; i < n; i++) {
        const burin_word *w = &t->pieces[i];
        text_range r = {t->text.data + w->from, w->to - w->from};
        if (c->json) {
            add_json_word(t, w, r);
        } else if (c->csv) {
            print_csv_row(w->start, w->end, r);
        } else {
            print_cue(t, w->start, w->end, r);
        }
    }
}

// ---------------------------------------------------------------------------------------- segments
// Adds a token's text. Tokens become a piece when all of their characters are whole.
static void add_token_text(burin_transcript *t, const burin_segment *s, int32_t i, bool *whole,
                           int32_t *n_pieces) {
    size_t before = t->text.n, n = burin_decode(t->tokenizer, &t->decoder, s->tokens[i], t->bytes);
    burin_capture_add(&t->text, t->whole, burin_utf8_add(&t->characters, t->bytes, n, t->whole));
    if (!s->times) return;
    burin_word *piece = &t->pieces[*n_pieces];
    if (*whole) *piece = (burin_word){.from = before, .start = s->times[i - 1]};
    *whole = !t->characters.have;
    piece->to = t->text.n, piece->end = s->times[i];
    *n_pieces += *whole && piece->to > piece->from;
}

static int32_t add_segment_text(burin_transcript *t, const burin_segment *s) {
    int32_t times = t->run->model->speech->timestamp_begin, n_pieces = 0;
    bool whole = true;
    if (s->times && s->n > t->most_pieces) {
        free(t->pieces);
        t->pieces = burin_allocate((size_t)s->n, sizeof *t->pieces);
        t->most_pieces = s->n;
    }
    for (int32_t i = 0; i < s->n; i++)
        if (times < 0 || s->tokens[i] < times) add_token_text(t, s, i, &whole, &n_pieces);
    return n_pieces;
}

void burin_transcript_add(burin_transcript *t, const burin_segment *s) {
    const burin_command *c = t->run->command;
    size_t begin = t->text.n;
    int32_t n_pieces = add_segment_text(t, s);
    text_range text = {t->text.data ? t->text.data + begin : "", t->text.n - begin};
    if (s->times) print_words(t, n_pieces);
    if (c->json) {
        add_json_segment(t, s, text);
    } else if (s->times) {
        return;
    } else if (c->csv) {
        print_csv_row(s->start, s->end, text);
    } else if (c->srt || c->vtt) {
        print_cue(t, s->start, s->end, text);
    } else if (t->text.n) {
        print_new_text(t);
    }
}

void burin_transcript_end(const burin_transcript *t) {
    const burin_command *c = t->run->command;
    if (c->json) {
        print_transcript_json(t);
    } else if (!c->srt && !c->vtt && !c->csv) {
        burin_print("\n");
    }
    burin_show();
}

void burin_transcript_close(burin_transcript *t) {
    free(t->text.data);
    free(t->segments.data);
    free(t->words.data);
    free(t->pieces);
    free(t->bytes);
    free(t->whole);
    free(t->language);
    *t = (burin_transcript){0};
}
