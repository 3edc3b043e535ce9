#include "tokenize.h"

#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "output.h"
#include "prompt.h"
#include "tokenizer/prompt_ids.h"

// ---- pieces: the bytes of the text that a token stands for ----

typedef struct walk {
    const burin_tokenizing *how;
    const char *text;
    size_t bytes, at;  // of the text: behind the last piece
    burin_decoder decoder;
    char *decoded;
} walk;

typedef struct piece {
    const char *text;
    size_t bytes, from, end;
} piece;

static size_t blanks_at(const walk *w) {
    size_t n = 0;
    while (w->at + n < w->bytes && strchr(" \t\n\r", w->text[w->at + n]) && w->text[w->at + n]) n++;
    return n;
}

static bool lies_at(const walk *w, size_t at, const char *text, size_t n) {
    return at + n <= w->bytes && !memcmp(w->text + at, text, n);
}

// Where the bytes lie: here, or behind blanks that no token stands for.
static bool find_piece(walk *w, piece *p, const char *text, size_t n) {
    size_t blanks = blanks_at(w);
    if (!n) return false;
    for (size_t skip = 0; skip <= blanks; skip++)
        if (lies_at(w, w->at + skip, text, n)) {
            p->from = w->at + skip, p->end = w->at = p->from + n;
            return true;
        }
    return n > 1 && *text == ' ' && find_piece(w, p, text + 1, n - 1);  // a space that the tokenizer has put there
}

// Where a tokenizer has changed the text (lower case, no accents) a character stands for one, behind blanks.
static void take_characters(walk *w, piece *p, const char *text, size_t n) {
    size_t blank = n && *text == ' ', end = w->at + blanks_at(w);
    p->from = end;
    for (size_t i = blank; i < n; i++) {
        if (((unsigned char)text[i] & 0xc0) == 0x80 || end == w->bytes) continue;
        for (end++; end < w->bytes && ((unsigned char)w->text[end] & 0xc0) == 0x80;) end++;
    }
    p->end = w->at = end;
}

static piece next_piece(walk *w, int32_t id) {
    const void *t = w->how->tokenizer;
    piece p = {.from = w->at, .end = w->at};
    p.text = burin_token_text(t, id, &p.bytes);
    size_t n = burin_decode(t, &w->decoder, id, w->decoded);
    bool own = p.bytes && (*p.text == ' ' || (p.bytes >= 3 && !memcmp(p.text, "\xe2\x96\x81", 3)));
    if (n && *w->decoded == ' ' && !own) memmove(w->decoded, w->decoded + 1, --n);  // between two words
    if (!find_piece(w, &p, w->decoded, n) && !(p.text && find_piece(w, &p, p.text, p.bytes)) && !burin_token_is_special(t, id))
        take_characters(w, &p, w->decoded, n);
    return p;
}

static void print_pieces(const burin_tokenizing *how, const burin_tokens *ids, const char *text, size_t bytes) {
    walk w = {.how = how, .text = text, .bytes = bytes, .decoded = burin_allocate(1, burin_decode_max(how->tokenizer))};
    for (int32_t i = 0; i < ids->n; i++) {
        piece p = next_piece(&w, ids->id[i]);
        if (how->json)
            burin_print(i ? ", [%zu, %zu]" : "[%zu, %zu]", p.from, p.end);
        else
            burin_print("%d\t%zu\t%zu\t", ids->id[i], p.from, p.end), burin_print_json_string(p.text, p.bytes),
                burin_print("\n");
    }
    free(w.decoded);
}

static void print_piece_texts(const burin_tokenizing *how, const burin_tokens *ids) {
    for (int32_t i = 0; i < ids->n; i++) {
        size_t bytes = 0;
        const char *text = burin_token_text(how->tokenizer, ids->id[i], &bytes);
        if (i) burin_print(", ");
        burin_print_json_string(text, bytes);
    }
}

// ---- ids ----

static burin_tokens encode_text(const burin_tokenizing *how, const char *text, size_t bytes) {
    burin_encoding e = {.text = text, .bytes = bytes, .special = true, .pad = !how->model};
    size_t n = 2 * bytes + 16;
    for (;;) {
        burin_tokens tokens = {.id = burin_allocate(n, sizeof *tokens.id)};
        e.ids = tokens.id, e.capacity = n, e.memory = burin_allocate(1, burin_encode_memory(how->tokenizer, bytes));
        size_t needed = how->model ? burin_encode_prompt(how->model, how->tokenizer, &e) : burin_encode(how->tokenizer, &e);
        free(e.memory);
        tokens.n = (int32_t)needed;
        if (needed <= n) return tokens;
        free(tokens.id);
        n = needed;
    }
}

static void print_ids(const burin_tokens *ids) {
    for (int32_t i = 0; i < ids->n; i++) burin_print(i ? ",%d" : "%d", ids->id[i]);
}

static void print_text(const burin_tokenizing *how, const char *text, size_t bytes) {
    burin_tokens ids = encode_text(how, text, bytes);
    if (how->json) burin_print("{\"ids\": [");
    print_ids(&ids);
    if (how->json && how->pieces) {
        burin_print("], \"pieces\": [");
        print_piece_texts(how, &ids);
        burin_print("], \"offsets\": [");
        print_pieces(how, &ids, text, bytes);
    }
    burin_print(how->json ? "]}\n" : "\n");
    if (how->pieces && !how->json) print_pieces(how, &ids, text, bytes);
    burin_show();
    free(ids.id);
}

static void print_decoded(const burin_tokenizing *how) {
    const void *t = how->tokenizer;
    burin_tokens ids = burin_parse_ids("--decode", how->decode, burin_tokenizer_size(t));
    char *bytes = burin_allocate(1, burin_decode_max(t)), *characters = burin_allocate(3, burin_decode_max(t) + 1);
    burin_decoder decoder = {0};
    burin_utf8 text = {0};
    for (int32_t i = 0; i < ids.n; i++) {
        size_t n = burin_decode(t, &decoder, ids.id[i], bytes);
        burin_print_text(characters, burin_utf8_add(&text, bytes, n, characters));
    }
    burin_print_text(characters, burin_utf8_end(&text, characters));
    burin_print("\n");
    free(bytes);
    free(characters);
    free(ids.id);
}

void burin_print_tokens(const burin_tokenizing *how) {
    burin_lines lines;
    if (how->decode) return print_decoded(how);
    if (how->text) return print_text(how, how->text, strlen(how->text));
    burin_lines_open(&lines, how->file ? how->file : "-");
    while (burin_next_line(&lines)) print_text(how, lines.line, lines.bytes);
    burin_lines_close(&lines);
}
