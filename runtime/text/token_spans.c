// The bytes of a text that belong to a token.
#include "text/token_spans.h"

#include <stdlib.h>
#include <string.h>

#include "text/run.h"
#include "tokenizer/tokenizer.h"

typedef struct walk {
    const void *tokenizer;
    const char *text;
    size_t bytes, at;  // of the text: after the last piece
    burin_decoder decoder;
    char *decoded;
} walk;

static size_t blanks_at(const walk *w) {
    size_t n = 0;
    while (w->at + n < w->bytes && strchr(" \t\n\r", w->text[w->at + n]) && w->text[w->at + n]) n++;
    return n;
}

static bool lies_at(const walk *w, size_t at, const char *text, size_t n) {
    return at + n <= w->bytes && !memcmp(w->text + at, text, n);
}

// The position of the bytes: here, or after blanks without a token.
static bool find_piece(walk *w, burin_token_span *p, const char *text, size_t n) {
    size_t blanks = blanks_at(w);
    if (!n) return false;
    for (size_t skip = 0; skip <= blanks; skip++)
        if (lies_at(w, w->at + skip, text, n)) {
            p->from = w->at + skip;
            p->end = w->at = p->from + n;
            return true;
        }
    return n > 1 && *text == ' ' &&
           find_piece(w, p, text + 1, n - 1);  // a space that the tokenizer has put there
}

// If a tokenizer has changed the text (lower case, no accents), characters are matched one by one,
// after blanks.
static void take_characters(walk *w, burin_token_span *p, const char *text, size_t n) {
    size_t blank = n && *text == ' ', end = w->at + blanks_at(w);
    p->from = end;
    for (size_t i = blank; i < n; i++) {
        if (((unsigned char)text[i] & 0xc0) == 0x80 || end == w->bytes) continue;
        for (end++; end < w->bytes && ((unsigned char)w->text[end] & 0xc0) == 0x80;) end++;
    }
    p->end = w->at = end;
}

static burin_token_span next_piece(walk *w, int32_t id) {
    const void *t = w->tokenizer;
    burin_token_span p = {.from = w->at, .end = w->at};
    p.text = burin_token_text(t, id, &p.bytes);
    size_t n = burin_decode(t, &w->decoder, id, w->decoded);
    bool own = p.bytes && (*p.text == ' ' || (p.bytes >= 3 && !memcmp(p.text, "\xe2\x96\x81", 3)));
    if (n && *w->decoded == ' ' && !own)
        memmove(w->decoded, w->decoded + 1, --n);  // between two words
    if (!find_piece(w, &p, w->decoded, n) && !(p.text && find_piece(w, &p, p.text, p.bytes)) &&
        !burin_token_is_special(t, id))
        take_characters(w, &p, w->decoded, n);
    return p;
}

burin_token_span *burin_find_spans(const void *tokenizer, const burin_tokens *ids, const char *text,
                                   size_t bytes) {
    walk w = {.tokenizer = tokenizer,
              .text = text,
              .bytes = bytes,
              .decoded = burin_allocate(1, burin_decode_max(tokenizer))};
    burin_token_span *pieces = burin_allocate((size_t)ids->n, sizeof *pieces);
    for (int32_t i = 0; i < ids->n; i++) pieces[i] = next_piece(&w, ids->id[i]);
    free(w.decoded);
    return pieces;
}
