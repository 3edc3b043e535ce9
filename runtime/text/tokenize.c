#include "text/tokenize.h"

#include <stdlib.h>
#include <string.h>

#include "program/lines.h"
#include "program/output.h"
#include "text/prompt.h"
#include "text/token_spans.h"

// ---- pieces ----

static void print_pieces(const burin_tokenizing *how, const burin_tokens *ids, const char *text,
                         size_t bytes) {
    burin_token_span *pieces = burin_find_spans(how->tokenizer, ids, text, bytes);
    for (int32_t i = 0; i < ids->n; i++) {
        const burin_token_span *p = &pieces[i];
        if (how->json)
            burin_print(i ? ", [%zu, %zu]" : "[%zu, %zu]", p->from, p->end);
        else
            burin_print("%d\t%zu\t%zu\t", ids->id[i], p->from, p->end),
                burin_print_json_string(p->text, p->bytes), burin_print("\n");
    }
    free(pieces);
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

static void print_ids(const burin_tokens *ids) {
    for (int32_t i = 0; i < ids->n; i++) burin_print(i ? ",%d" : "%d", ids->id[i]);
}

static void print_text(const burin_tokenizing *how, const char *text, size_t bytes) {
    const burin_encoding e = {.text = text,
                              .bytes = bytes,
                              .special = true,
                              .pad = !how->model,
                              .whole = how->model != NULL};
    burin_tokens ids = burin_encode_text(how->tokenizer, &e);
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
    char *bytes = burin_allocate(1, burin_decode_max(t)),
         *characters = burin_allocate(3, burin_decode_max(t) + 1);
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
