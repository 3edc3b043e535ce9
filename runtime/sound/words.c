#include "sound/words.h"

#include <string.h>

static const char separate[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
// Punctuation that belongs to the next word, and to the one before.
static const char opening[] = "\"'\u201c\u00bf([{-",
                  closing[] = "\"'.\u3002,\uff0c!\uff01?\uff1f:\uff1a\u201d)]}\u3001";

static bool is_word_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_within(const char *text, size_t bytes, const char *list) {
    for (size_t n = strlen(list); n >= bytes; n--, list++)
        if (!memcmp(list, text, bytes)) return true;
    return false;
}

// The same for a word without blanks at both ends.
static bool is_word_in(const char *text, const burin_word *w, const char *list) {
    size_t from = w->from, to = w->to;
    while (from < to && is_word_blank(text[from])) from++;
    while (from < to && is_word_blank(text[to - 1])) to--;
    return is_within(text + from, to - from, list);
}

static void append_word(burin_word *to, const burin_word *next) {
    to->to = next->to;
    to->end = next->end;
}

static int32_t join_word_pieces(const char *text, burin_word *w, int32_t n) {
    int32_t words = 0;
    for (int32_t i = 0; i < n; i++) {
        bool begins = !words || text[w[i].from] == ' ' || is_word_in(text, &w[i], separate);
        if (begins)
            w[words++] = w[i];
        else
            append_word(&w[words - 1], &w[i]);
    }
    return words;
}

static int32_t join_opening(const char *text, burin_word *w, int32_t n) {
    int32_t last = n;  // the words so far are at its end
    for (int32_t i = n - 1; i >= 0; i--) {
        bool joins = last < n && text[w[i].from] == ' ' && is_word_in(text, &w[i], opening);
        if (joins)
            w[last].from = w[i].from, w[last].start = w[i].start;
        else
            w[--last] = w[i];
    }
    memmove(w, w + last, (size_t)(n - last) * sizeof *w);
    return n - last;
}

static int32_t join_closing(const char *text, burin_word *w, int32_t n) {
    int32_t words = 0;
    for (int32_t i = 0; i < n; i++) {
        bool joins = words && text[w[words - 1].to - 1] != ' ' &&
                     is_within(text + w[i].from, w[i].to - w[i].from, closing);
        if (joins)
            append_word(&w[words - 1], &w[i]);
        else
            w[words++] = w[i];
    }
    return words;
}

int32_t burin_join_words(const char *text, burin_word *pieces, int32_t n, bool by_piece) {
    if (!by_piece) n = join_word_pieces(text, pieces, n);
    n = join_opening(text, pieces, n);
    return join_closing(text, pieces, n);
}
