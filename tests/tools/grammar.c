// Texts against grammars, byte by byte and, with a tokenizer, token by token, where every mask is
// compared with single tokens. usage: grammar gbnf FILE.gbnf CASES.json [TOKENIZER]   CASES:
// {"accepted": [...], "rejected": [{"text", "at" | "incomplete"}]}
//        grammar bad BAD.json                            a list of {"grammar"}: the message of each
//        grammar schema CASES.json [TOKENIZER]           CASES: {"schema", "valid": [...], "invalid": [{"text"}]}
//        grammar list LIST.json                          a list of such CASES
//        grammar tools CASES.json [TOKENIZER]            CASES: {"template", "choice", "messages", "missed", "accepted", "rejected"}
//        grammar schemas BAD.json                        {"schemas": [{"schema"}]}: the message of each
//        grammar random FIRST COUNT TOKENIZER            random grammars, random texts that they allow
// A line for each failing text; status 1 if there is one.
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/template.h"
#include "frontend/tokenizer.h"
#include "runtime/grammar/constraint.h"
#include "runtime/grammar/tools.h"
#include "runtime/tokenizer/tokenizer.h"

static int wrong;

typedef struct Checked {
    const burin_grammar *grammar;
    burin_constraint *constraint;  // NULL: no tokenizer
    const Tokenizer *tokenizer;
} Checked;

static void complain(const char *text, const char *what, long long number) {
    printf("%s: %s %lld\n", text, what, number);
    wrong = 1;
}

// The byte of the character at which the text cannot continue; -1: it is complete, -2: incomplete.
static long long follow_bytes(const burin_grammar *g, const char *text, size_t bytes) {
    burin_recognizer *m = burin_recognizer_open(g);
    int32_t state = burin_recognizer_start(m);
    long long at = -1;
    for (size_t i = 0; i < bytes && state; i++)
        if (!(state = burin_recognizer_step(m, state, (uint8_t)text[i]))) at = (long long)i;
    while (at > 0 && ((uint8_t)text[at] & 0xc0) == 0x80) at--;
    if (state && !burin_recognizer_accepts(m, state)) at = -2;
    burin_recognizer_close(m);
    return at;
}

static void compare_mask(const Checked *c, int32_t vocabulary) {
    float *logits = calloc((size_t)vocabulary, sizeof *logits);
    int32_t n = burin_constraint_mask(c->constraint, logits);
    for (int32_t i = 0; i < vocabulary; i++) {
        bool allowed = burin_constraint_allows(c->constraint, i);
        if (allowed == isinf(logits[i]) && !burin_constraint_overflowed(c->constraint))
            complain("a mask", "differs at token", i);
        n -= allowed;
    }
    if (n && !burin_constraint_overflowed(c->constraint))
        complain("a mask", "counts so many too many", n);
    free(logits);
}

static bool force_tokens(const Checked *c, const char *text, size_t bytes) {
    int32_t *ids = calloc(bytes + 16, sizeof *ids);
    burin_encoding e = {
        .text = text, .bytes = bytes, .plain = true, .ids = ids, .capacity = bytes + 16};
    e.memory = malloc(burin_encode_memory(c->tokenizer->blob, bytes) + 16);
    size_t n = burin_encode(c->tokenizer->blob, &e), i = 0;
    burin_constraint_start(c->constraint, false);
    for (; i < n && burin_constraint_allows(c->constraint, ids[i]); i++) {
        if (i < 4 && n < 24) compare_mask(c, burin_tokenizer_size(c->tokenizer->blob));
        burin_constraint_take(c->constraint, ids[i]);
    }
    free(e.memory), free(ids);
    return i == n && burin_constraint_may_end(c->constraint);
}

static void check_text(const Checked *c, const json_t *text, long long expected) {
    const char *bytes = json_string_value(text);
    size_t n = json_string_length(text);
    long long at = follow_bytes(c->grammar, bytes, n);
    if (at != expected && (expected != -3 || at == -1)) complain(bytes, "ends at", at);
    if (c->constraint && force_tokens(c, bytes, n) != (expected == -1))
        complain(bytes, "as tokens", 0);
}

static void check_cases(const Checked *c, const json_t *cases) {
    const char *lists[] = {"accepted", "valid", "rejected", "invalid"};
    for (int l = 0; l < 4; l++)
        for (size_t i = 0; i < json_array_size(json_object_get(cases, lists[l])); i++) {
            const json_t *one = json_array_get(json_object_get(cases, lists[l]), i),
                         *at = json_object_get(one, "at");
            if (l < 2)
                check_text(c, one, -1);
            else
                check_text(c, json_object_get(one, "text"),
                           at ? json_integer_value(at)
                           : json_is_true(json_object_get(one, "incomplete")) ? -2
                                                                              : -3);
        }
}

static void read_grammar(burin_grammar *g, const char *name, const char *text, size_t bytes) {
    if (burin_grammar_parse(g, name, text, bytes)) return;
    printf("%s\n", g->error);
    exit(1);
}

static void check_bad(const json_t *bad) {
    for (size_t i = 0; i < json_array_size(bad); i++) {
        const json_t *text = json_object_get(json_array_get(bad, i), "grammar");
        burin_grammar g;
        bool good =
            burin_grammar_parse(&g, "grammar", json_string_value(text), json_string_length(text));
        printf("%s\n", good ? "accepted" : g.error);
        wrong |= good;
        burin_grammar_free(&g);
    }
}

static char *read_text(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 22);
    if (!f) exit(2);
    *bytes = fread(text, 1, (1 << 22) - 1, f);
    fclose(f);
    return text;
}

static char *grammar_of_schema(const char *name, const json_t *schema) {
    char error[512], *text = json_is_string(schema)
                                 ? strdup(json_string_value(schema))
                                 : json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
    char *grammar = burin_schema_grammar(name, text, strlen(text), error, sizeof error);
    if (!grammar) printf("%s\n", error);
    free(text);
    return grammar;
}

// "template": what its form is found by, or a file with a template; "choice": "required", or any
// other; "messages"
static char *grammar_of_tools(Arena *arena, const char *name, const json_t *cases,
                              burin_tool_format *format) {
    const char *template = json_string_value(json_object_get(cases, "template"));
    char error[512], *text = json_dumps(json_object_get(cases, "messages"), JSON_COMPACT);
    bool must = !strcmp(json_string_value(json_object_get(cases, "choice")), "required");
    TemplateText found;
    CompiledTemplate t = {0};
    if (strstr(template, ".jinja") && template_find(arena, template, &found))
        t = template_compile(arena, &found);
    burin_tool_format_open(format, t.blob ? t.blob : template, t.blob ? t.bytes : strlen(template));
    char *grammar =
        burin_tools_grammar(format, &(burin_tools_text){name, text, strlen(text)},
                            must ? BURIN_CALLS_REQUIRED : BURIN_CALLS_ALLOWED, error, sizeof error);
    if (!grammar) printf("%s\n", *error ? error : "no grammar");
    const char *missed = json_string_value(json_object_get(cases, "missed"));
    if (missed && strcmp(missed, format->missed)) printf("missed: %s\n", format->missed), wrong = 1;
    free(text);
    return grammar;
}

static void check_bad_schemas(const json_t *bad) {
    for (size_t i = 0; i < json_array_size(bad); i++) {
        char *grammar =
            grammar_of_schema("schema", json_object_get(json_array_get(bad, i), "schema"));
        burin_grammar g;
        if (grammar && !burin_grammar_parse(&g, "schema", grammar, strlen(grammar))) {
            printf("%s\n", g.error);
        } else if (grammar) {
            printf("accepted\n");
            burin_grammar_free(&g), wrong = 1;
        }
        free(grammar);
    }
}

// --------------------------------------------------------------------------------- random grammars
static uint32_t drawn;

static uint32_t draw(uint32_t below) {
    drawn = drawn * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)drawn * below >> 32);
}

static void add_item(FILE *f, int depth) {
    static const char *const classes[] = {"[a-z]",
                                          "[^\"\\\\\\x00-\\x1f]",
                                          "[^\\n]",
                                          ".",
                                          "[^@ \\t\\n]",
                                          "[a-zA-Z0-9_]",
                                          "[ -~]",
                                          "[à-ÿ中-鿿]",
                                          "[^<]",
                                          "[^a]",
                                          "[0-9a-f]",
                                          "[A-Z]",
                                          "[\\u0080-\\U0010ffff]",
                                          "[^é]",
                                          "[z0-9A-Za-y]",
                                          "[^w0]"};
    static const char *const counts[] = {"*",   "+",       "?",       "{2,5}", "{0,40}",
                                         "{3}", "{31,33}", "{1,300}", "{4,}"};
    static const char *const texts[] = {
        "\"a\"",  "\" \"",   "\"\\\"\"",       "\"\\n\"",
        "\"中\"", "\"], \"", "\"ab\" | \"a\"", "\"\\\\\" [a-z\\\\\\\"]"};
    uint32_t kind = draw(depth > 2 ? 2 : 5);
    if (kind < 2) {
        const char *text = kind ? classes[draw(sizeof classes / sizeof *classes)] : texts[draw(8)];
        fprintf(f, "(%s)%s ", text, draw(3) ? counts[draw(9)] : "");
        return;
    }
    fputs("(", f);
    for (uint32_t i = 0, n = 1 + draw(3); i < n; i++)
        add_item(f, depth + 1), fputs(kind == 2 && i + 1 < n ? "| " : "", f);
    fprintf(f, ")%s ", draw(2) ? counts[draw(5)] : "");
}

static void walk_random(const Checked *c, int32_t vocabulary) {
    for (int steps = 0; steps < 12; steps++) {
        int32_t allowed = -1;
        compare_mask(c, vocabulary);
        for (int32_t i = 0, seen = 0; i < vocabulary; i++)
            if (burin_constraint_allows(c->constraint, i) && !draw((uint32_t)++seen)) allowed = i;
        if (allowed < 0) return;
        burin_constraint_take(c->constraint, allowed);
    }
}

static int check_random(uint32_t first, uint32_t count, const Tokenizer *t) {
    for (uint32_t seed = first; seed < first + count && !wrong; seed++) {
        char *text = NULL;
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        drawn = seed * 2654435761u;
        fputs("root ::= ", f);
        for (uint32_t i = 0, n = 1 + draw(4); i < n; i++) add_item(f, 0);
        fputs("\n", f);
        fclose(f);
        burin_grammar g;
        read_grammar(&g, text, text, bytes);
        Checked c = {
            .tokenizer = t,
            .constraint = burin_constraint_open(&g, t->blob, burin_tokenizer_size(t->blob), NULL)};
        walk_random(&c, burin_tokenizer_size(t->blob));
        if (wrong) printf("grammar %u: %s", seed, text);
        burin_constraint_close(c.constraint);
        free(text);
    }
    return wrong;
}

// Schemas of small meaning, one after the other.
static int check_schemas(json_t *list) {
    size_t i;
    json_t *cases;
    json_array_foreach(list, i, cases) {
        const char *about = json_string_value(json_object_get(cases, "about"));
        char *text = grammar_of_schema(about, json_object_get(cases, "schema"));
        burin_grammar g;
        int before = wrong;
        if (!text) return 1;
        wrong = 0;
        read_grammar(&g, about, text, strlen(text));
        check_cases(&(Checked){.grammar = &g}, cases);
        if (wrong) printf("%s\n", about);
        wrong |= before;
        burin_grammar_free(&g), free(text);
    }
    json_decref(list);
    return wrong;
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "random"))
        return check_random((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]),
                            tokenizer_load(arena_new(), argv[4], 0));
    if (argc == 3 && !strcmp(argv[1], "schemas"))
        return check_bad_schemas(
                   json_object_get(json_load_file(argv[2], JSON_ALLOW_NUL, NULL), "schemas")),
               wrong;
    if (argc == 3 && !strcmp(argv[1], "bad"))
        return check_bad(json_load_file(argv[2], JSON_ALLOW_NUL, NULL)), wrong;
    if (argc > 2 && !strcmp(argv[1], "list"))
        return check_schemas(json_load_file(argv[2], JSON_ALLOW_NUL, NULL));
    bool tools = argc > 2 && !strcmp(argv[1], "tools"),
         schema = tools || (argc > 2 && !strcmp(argv[1], "schema"));
    if (argc < 4 - schema) return 2;
    Arena *arena = arena_new();
    json_t *cases = json_load_file(argv[3 - schema], JSON_ALLOW_NUL, NULL);
    size_t bytes;
    burin_tool_format format = {0};
    char *text = tools    ? grammar_of_tools(arena, argv[2], cases, &format)
                 : schema ? grammar_of_schema(argv[2], json_object_get(cases, "schema"))
                          : read_text(argv[2], &bytes);
    burin_grammar g, second;
    Checked c = {.grammar = &g};
    if (!text) return 1;
    if (schema) bytes = strlen(text);
    if (getenv("SHOW")) puts(text);
    read_grammar(&g, argv[2], text, bytes);
    if (argc > 4 - schema) {
        read_grammar(&second, argv[2], text, bytes);
        c.tokenizer = tokenizer_load(arena, argv[4 - schema], 0);
        c.constraint = burin_constraint_open(&second, c.tokenizer->blob,
                                             burin_tokenizer_size(c.tokenizer->blob),
                                             tools ? format.marks : NULL);
    }
    check_cases(&c, cases);
    json_decref(cases);
    burin_constraint_close(c.constraint);
    burin_tool_format_close(&format);
    burin_grammar_free(&g);
    free(text);
    arena_free(arena);
    return wrong;
}
