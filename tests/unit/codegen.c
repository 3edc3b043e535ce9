// The emitted text: which kernels share a function, and where long lines are broken.
#include <string.h>

#include "../tools/ir_text.h"
#include "codegen/parameters.h"
#include "unit.h"

static void check_wrapped(const char *line, const char *wrapped) {
    Text t = {0};
    text_add(&t, "%s", line);
    wrap_lines(&t, 0);
    CHECK_TEXT(t.data, wrapped);
    text_free(&t);
}

#define TEN   "aaaaaaa, "
#define FIFTY TEN TEN TEN TEN TEN
#define SIXTY FIFTY TEN

static void long_lines_break_where_least_is_open(void) {
    check_wrapped("    short(a, b);\n", "    short(a, b);\n");
    check_wrapped("    f(" SIXTY "g(" SIXTY TEN "a), b);\n",
                  "    f(" FIFTY "aaaaaaa,\n      g(" SIXTY TEN "a), b);\n");
}

static void comments_stay_comments(void) {
    Text t = {0};
    text_add(&t, "    // ");
    for (int i = 0; i < 40; i++) text_add(&t, "word%d ", i);
    text_add(&t, "\n");
    wrap_lines(&t, 0);
    for (char *line = strtok(t.data, "\n"); line; line = strtok(NULL, "\n"))
        CHECK(strlen(line) <= 120 && !strncmp(line, "    // ", 7));
    text_free(&t);
}

static void check_stays_whole(const char *before_quote) {
    Text t = {0};
    text_add(&t, "%s", before_quote);
    for (int i = 0; i < 40; i++) text_add(&t, "word, ");
    text_add(&t, "\", 1);\n");
    size_t length = t.length;
    wrap_lines(&t, 0);
    const char *word = strstr(t.data, "word"), *end = strrchr(t.data, '"');
    CHECK(word && !memchr(word, '\n', (size_t)(end - word)) && t.length >= length);
    text_free(&t);
}

static void words_between_quotes_stay_whole(void) {
    check_stays_whole("    f(\"");
    check_stays_whole("    f(\"a \\\"");       // a quote inside
    check_stays_whole("    f(\"a\\\\\", \"");  // a string that ends with a backslash
}

static void a_word_is_neither_comment_nor_field(void) {
    CHECK(has_word("f(w->o, x);", "w") && has_word("w", "w"));
    CHECK(!has_word("s->w = x.w + new_w;  // w and %w", "w"));
    CHECK(!has_word("RECORD(\"a\\\" w\", x);", "w") && has_word("RECORD(\"x\", w);", "w"));
    CHECK(has_word("// many\nif (many) f();", "many") &&
          !has_word("// encoder.layer\nf();", "encoder"));
}

static const KernelFunction *function_of(const Program *p, const char *value) {
    for (int i = 0; i < p->n_kernels; i++)
        if (!strcmp(p->kernels[i]->node->name, value))
            return &p->functions[p->kernels[i]->function];
    return NULL;
}

static void equal_lines_are_one_function(void) {
    Arena *arena = arena_new();
    Graph *g = load_ir_text(arena, "tests/golden/emit/llama.ir");
    Module m = {
        .arena = arena, .name = "llama", .graphs = &g, .n_graphs = 1, .description = "llama.burin"};
    Program *p = lower(arena, &m, 0, &(LowerOptions){0});
    name_functions(p);
    // rotated queries and keys: the call's number of heads
    CHECK(function_of(p, "qr.0") == function_of(p, "kr.0"));
    CHECK(function_of(p, "qkv.0") == function_of(p, "qkv.2") &&
          function_of(p, "qkv.0") != function_of(p, "o.0"));
    CHECK(function_of(p, "kc1.0") != function_of(p, "vc1.0"));
    CHECK_TEXT(function_of(p, "qr.0")->name, "rotary_16");
    graph_free(g);
    arena_free(arena);
}

SUITE(codegen) {
    TEST(long_lines_break_where_least_is_open);
    TEST(comments_stay_comments);
    TEST(words_between_quotes_stay_whole);
    TEST(a_word_is_neither_comment_nor_field);
    TEST(equal_lines_are_one_function);
}
