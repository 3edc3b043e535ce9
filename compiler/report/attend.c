// burin report --text: the interpreter runs the program's own command line over the text, and tells
// the shares of every attention. A share is a byte, 255 of which are all; [row][head][key], in
// base64.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "program/output.h"
#include "report/report.h"
#include "tokenizer/tokenizer.h"

enum { MOST_TOKENS = 64 };

// The rows of one attention, as they come: a prompt at once, an answer row after row.
typedef struct Heads {
    const Node *node;
    int64_t rows, heads, keys;
    unsigned char *shares;  // [MOST_TOKENS][heads][MOST_TOKENS]
} Heads;

typedef struct Tokens {
    const Graph *graph;
    int32_t id[MOST_TOKENS];
    int n, seen;
} Tokens;

typedef struct Attending {
    Build *build;
    Map heads;         // name of the graph and the node -> Heads
    Tokens tokens[2];  // of each graph that reads some
} Attending;

static void take_tokens(void *user, const Graph *g, const int32_t *ids, int n) {
    Attending *a = user;
    Tokens *t = &a->tokens[a->tokens[0].graph && a->tokens[0].graph != g];
    t->graph = g;
    for (int i = 0; i < n; i++, t->seen++)
        if (t->n < MOST_TOKENS) t->id[t->n++] = ids[i];
}

static Heads *heads_of(Attending *a, const Node *n, int64_t heads) {
    Arena *arena = a->build->arena;
    const char *key = arena_printf(arena, "%s %s", n->graph->name, n->name);
    Heads *h = map_get(&a->heads, key);
    if (h) return h;
    h = ARENA_NEW(arena, Heads);
    *h = (Heads){.node = n,
                 .heads = heads,
                 .shares = arena_alloc(arena, (size_t)(MOST_TOKENS * heads * MOST_TOKENS))};
    map_put(&a->heads, key, h);
    return h;
}

// Of a batch of sequences, the first
static void take_shares(void *user, const Node *n, const double *shares, const int64_t shape[3]) {
    Heads *h = heads_of(user, n, shape[1]);
    int64_t rows = attr_find(n, "batch") && shape[0] > shape[2] ? shape[2] : shape[0];
    int64_t keys = shape[2] < MOST_TOKENS ? shape[2] : MOST_TOKENS;
    if (keys > h->keys) h->keys = keys;
    for (int64_t r = 0; r < rows && h->rows < MOST_TOKENS; r++, h->rows++)
        for (int64_t i = 0; i < shape[1]; i++)
            for (int64_t k = 0; k < keys; k++)
                h->shares[(h->rows * h->heads + i) * MOST_TOKENS + k] =
                    (unsigned char)(255 * shares[(r * shape[1] + i) * shape[2] + k] + 0.5);
}

// -------------------------------------------------------------------------------------------- JSON
static json_t *base64(const unsigned char *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Text t = {0};
    text_add(&t, "%s", "");
    for (size_t i = 0; i < n; i += 3) {
        unsigned bits = (unsigned)bytes[i] << 16 | (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                        (i + 2 < n ? bytes[i + 2] : 0u);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                        i + 1 < n ? digits[bits >> 6 & 63] : '=',
                        i + 2 < n ? digits[bits & 63] : '='};
        text_append(&t, four, 4);
    }
    json_t *value = json_of_text(t.data);
    text_free(&t);
    return value;
}

static json_t *json_of_heads(const Heads *h) {
    json_t *o = json_object();
    size_t n = (size_t)(h->rows * h->heads), keys = (size_t)h->keys;
    unsigned char *dense = malloc(n * keys + 1);
    if (!dense) diag_fatal(NO_LOC, "out of memory (the report)");
    for (size_t i = 0; i < n; i++) memcpy(dense + i * keys, h->shares + i * MOST_TOKENS, keys);
    json_put_text(o, "graph", h->node->graph->name), json_put_text(o, "node", h->node->name);
    json_put(o, "at", json_of_loc(h->node->loc));
    json_put_count(o, "rows", (uint64_t)h->rows), json_put_count(o, "heads", (uint64_t)h->heads);
    json_put_count(o, "keys", (uint64_t)h->keys);
    json_put(o, "shares", base64(dense, n * keys));
    free(dense);
    return o;
}

// Text of a token in the vocabulary.
static json_t *json_of_tokens(const Attending *a, const Tokens *t) {
    json_t *o = json_object(), *pieces = json_array();
    for (int i = 0; i < t->n; i++) {
        size_t n = 0;
        const char *text =
            a->build->tokenizer ? burin_token_text(a->build->tokenizer->blob, t->id[i], &n) : NULL;
        json_add(pieces, json_of_text(text ? arena_strndup(a->build->arena, text, n)
                                           : arena_printf(a->build->arena, "%d", t->id[i])));
    }
    json_put_text(o, "graph", t->graph->name), json_put(o, "tokens", pieces);
    return o;
}

// ----------------------------------------------------------------------------------------- the run
// The program's own output is not part of the report.
static void run_silently(Build *b, const InterpreterWatch *watch) {
    fflush(stdout);
    int out = dup(STDOUT_FILENO), nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0)
        diag_fatal(NO_LOC, "cannot open /dev/null");
    int status = interpret_built(b, watch);
    burin_flush();
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out), close(nothing);
    if (status) diag_stop();
}

// The words of the program's command line: a text or tokens, of which a decoder writes on; or
// inputs of a network.
static void run_words(Attending *a) {
    Build b = *a->build;
    Options options = *b.options;
    CommandLine line = {.arena = b.arena};
    if (options.text) command_add(&line, "--"), command_add(&line, options.text);
    if (options.tokens) command_addf(&line, "--tokens=%s", options.tokens);
    for (int i = 0; i < options.inputs.n; i++)
        command_addf(&line, "--input=%s", options.inputs.word[i]);
    CommandLine all = {.arena = b.arena};
    if (is_decoder(b.program))
        command_add_words(&all, b.program->encoder ? "--temp 0 -n 24" : "--temp 0 -n 0");
    for (int i = 0; i < line.n; i++) command_add(&all, line.words[i]);
    options.rest = (char **)all.words, options.n_rest = all.n;
    b.options = &options;
    run_silently(&b, &(InterpreterWatch){a, take_tokens, take_shares});
}

static void check_options(const Build *b) {
    const Options *o = b->options;
    bool reads_text = b->tokenizer && (is_decoder(b->program) || b->embeds);
    if (o->text && !reads_text)
        diag_fatal(
            NO_LOC,
            "--text: the program of this model reads no text\nhint: it needs a tokenizer, and "
            "--pooling makes an "
            "encoder read texts; --tokens 1,2,3 or --input NAME=F.npy says what it reads instead");
    if (o->tokens && !is_decoder(b->program) && !b->embeds)
        usage_error("--tokens: the program of this network reads --input NAME=F.npy");
}

// Rows of a network that reads no tokens have numbers.
static void number_rows(Attending *a) {
    Tokens *t = &a->tokens[0];
    for (int i = 0; i < a->heads.n && !t->graph; i++) {
        const Heads *h = a->heads.entries[i].value;
        while (t->n < h->rows || t->n < h->keys) t->id[t->n] = t->n, t->n++;
    }
    if (!t->graph) t->graph = a->build->program->graph;
}

json_t *attend(Build *b) {
    Attending a = {.build = b};
    json_t *o = json_object(), *tokens = json_array(), *list = json_array();
    check_options(b);
    map_init(&a.heads, b->arena);
    run_words(&a);
    number_rows(&a);
    for (int i = 0; i < 2; i++) {
        if (a.tokens[i].graph) json_add(tokens, json_of_tokens(&a, &a.tokens[i]));
        if (a.tokens[i].seen > MOST_TOKENS)
            diag_warning(NO_LOC, "--text has %d tokens: the page shows the first %d",
                         a.tokens[i].seen, MOST_TOKENS);
    }
    for (int i = 0; i < a.heads.n; i++) json_add(list, json_of_heads(a.heads.entries[i].value));
    json_put_text(o, "text", b->options->text ? b->options->text : b->options->tokens);
    json_put(o, "tokens", tokens), json_put(o, "layers", list);
    return o;
}
