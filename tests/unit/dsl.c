// The description language: syntax, elaboration, messages.
//
//   tests/golden/X.burin with X.ir     the graphs of a description, weights absent; X.json beside it is config.json
//   dsl/models/X.burin                 the same, if there is tests/golden/models/X.json; families.c checks their numbers
//   dsl/GRAMMAR.md                     every ```burin example, with the ```json above it, compiles
//   every message in the sources       has a case tests/errors/dsl-X.burin, or is in this file
//
// UPDATE=1 in the environment writes .ir anew: read the difference before committing it.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/description_case.h"
#include "unit.h"

// ----------------------------------------------------------------------------------------- one run
static char folder[64];  // of the checkpoint that a case gets

static void remove_folder_name(char *text) {
    size_t n = strlen(folder);
    for (char *at; (at = strstr(text, folder));) memmove(at, at + n + 1, strlen(at + n + 1) + 1);
}

// Runs a case; its output goes to `messages`, the graphs to `graphs`.
static bool run_case(const Case *c, Text *graphs, char **messages) {
    strcpy(folder, "/tmp/burin-dsl.XXXXXX");
    if (!mkdtemp(folder)) return false;
    write_checkpoint(c, folder);
    fflush(stderr);
    int saved = dup(STDERR_FILENO),
        to = open(in_folder(folder, "stderr"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    dup2(to, STDERR_FILENO);
    bool loaded = load(c, folder, "dsl", graphs);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(to);
    close(saved);
    *messages = read_text_file(in_folder(folder, "stderr"), NULL);
    remove_folder_name(*messages);
    const char *const names[] = {"stderr", "config.json", "model.safetensors"};
    for (int i = 0; i < 3; i++) unlink(in_folder(folder, names[i]));
    rmdir(folder);
    return loaded;
}

// ---------------------------------------------------------------------------- cases that are files
static void check_file(const char *path, const char *got) {
    if (getenv("UPDATE")) write_file(path, got, strlen(got));
    char *expected = read_if_there(path);
    if (!expected) printf("# %s is missing\n", path);
    CHECK_TEXT(got, expected ? expected : "");
    free(expected);
}

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int each_file(const char *where, const char *prefix, const char *suffix,
                     void (*visit)(const char *path)) {
    struct dirent **entries;
    int n = scandir(where, &entries, NULL, by_name), visited = 0;
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", where, entries[i]->d_name);
        if (!strncmp(entries[i]->d_name, prefix, strlen(prefix)) && text_ends_with(path, suffix)) {
            visit(path);
            visited++;
        }
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    return visited;
}

static void check_golden(const char *path) {
    char *messages = NULL;
    Text graphs = {0};
    if (access(sibling(path, ".ir"), R_OK) && !getenv("UPDATE")) return;
    Case c = case_of_file(path);
    CHECK(run_case(&c, &graphs, &messages));
    CHECK_TEXT(messages, "");
    check_file(sibling(path, ".ir"), graphs.data ? graphs.data : "");
    free(messages);
    free_case(&c);
    text_free(&graphs);
}

static void elaborates_golden_files(void) {
    CHECK(each_file("tests/golden", "", ".burin", check_golden) >= 5);
}
// dsl/models/X.burin with the configuration tests/golden/models/X.json against
// tests/golden/models/X.ir.
static void check_model(const char *path) {
    char config[512], expected[512], *messages = NULL;
    const char *name = strrchr(path, '/') + 1;
    int length = (int)(strlen(name) - strlen(".burin"));
    snprintf(config, sizeof config, "tests/golden/models/%.*s.json", length, name);
    snprintf(expected, sizeof expected, "tests/golden/models/%.*s.ir", length, name);
    Case c = {.path = path, .config = read_if_there(config)};
    Text graphs = {0};
    if (!c.config) return;
    CHECK(run_case(&c, &graphs, &messages));
    CHECK_TEXT(messages, "");
    check_file(expected, graphs.data ? graphs.data : "");
    free(messages);
    free_case(&c);
    text_free(&graphs);
}

static void elaborates_every_model(void) {
    CHECK(each_file("dsl/models", "", ".burin", check_model) >= 1);
}

// -------------------------------------------------------------------------------------- GRAMMAR.md
static char *copy_until_fence(const char *from) {
    const char *end = strstr(from, "\n```");
    return strndup(from, end ? (size_t)(end - from) + 1 : strlen(from));
}

static void check_example(const char *text, const char *config) {
    char path[] = "/tmp/burin-grammar.XXXXXX", *messages = NULL;
    Text graphs = {0};
    int file = mkstemp(path);
    CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    Case c = {.path = path, .config = config};
    CHECK(run_case(&c, &graphs, &messages));
    if (*messages) printf("# an example of GRAMMAR.md:\n%s\n%s\n", text, messages);
    CHECK_TEXT(messages, "");
    unlink(path);
    free(messages);
    text_free(&graphs);
}

static void compiles_the_examples_of_the_grammar(void) {
    char *grammar = read_text_file("dsl/GRAMMAR.md", NULL), *config = NULL;
    int examples = 0;
    for (const char *at = grammar; (at = strstr(at, "```")); at += 3) {
        bool is_config = !strncmp(at, "```json\n", 8), is_example = !strncmp(at, "```burin\n", 9);
        if (is_config) {
            free(config);
            config = copy_until_fence(at + 8);
        }
        if (is_example) {
            char *text = copy_until_fence(at + 9);
            check_example(text, config);
            examples++;
            free(text);
            free(config);
            config = NULL;
        }
        at = strstr(at + 3, "```");
        if (!at) break;
    }
    CHECK(examples >= 8);
    free(config);
    free(grammar);
}

// ------------------------------------------------------------------------ every message has a case
static Text corpus;  // of all .err files and of this one

static void add_to_corpus(const char *path) {
    char *text = read_text_file(path, NULL);
    text_add(&corpus, "%s\n", text);
    free(text);
}

// Returns true if the parts of a format between its % follow each other within one line.
static bool line_has(const char *line, size_t length, const char *format) {
    char piece[256];
    const char *at = line, *end = line + length;
    while (*format) {
        size_t n = 0;
        for (; *format && *format != '%' && n + 1 < sizeof piece; format++) {
            if (*format == '\\') format++;
            piece[n++] = *format;
        }
        piece[n] = 0;
        const char *found = memmem(at, (size_t)(end - at), piece, n);
        if (!found) return false;
        at = found + n;
        if (*format != '%') break;
        format += 1 + strspn(format + 1, "-0123456789.*lz");
        if (*format == '"') format += 1 + strcspn(format + 1, "\"");  // %" PRId64 "
        if (*format) format++;
    }
    return true;
}

static bool has_case(const char *format) {
    for (const char *line = corpus.data; *line; line += strcspn(line, "\n") + 1)
        if (line_has(line, strcspn(line, "\n"), format)) return true;
    return false;
}

// The first line of the first string literal after `at`: a message's format.
static bool read_format(const char *at, char *format, size_t size) {
    size_t n = 0;
    const char *end = strchr(at, ';');
    at = strchr(at, '"');
    if (!at || (end && at > end)) return false;
    for (at++; *at && *at != '"' && n + 2 < size; at++) {
        if (at[0] == '\\' && at[1] == 'n') break;
        if (at[0] == '\\') format[n++] = *at++;
        format[n++] = *at;
    }
    format[n] = 0;
    return n > 0 && strcmp(format, "%s");
}

static int missing;

static void check_messages_of(const char *path) {
    static const char *const calls[] = {
        "report(e, ",    "report(m->e, ",     "diag_error(", "message = arena_message(e->arena",
        "diag_warning(", "dsl_syntax_error(", "ERROR("};
    char *source = read_text_file(path, NULL), format[512];
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (const char *at = source; (at = strstr(at, calls[i])); at++) {
            if (!read_format(at, format, sizeof format) || has_case(format)) continue;
            printf("# %s: no case prints \"%s\"\n", path, format);
            missing++;
        }
    free(source);
}

static void every_message_has_a_case(void) {
    add_to_corpus("tests/unit/dsl.c");
    char cases[256];
    snprintf(cases, sizeof cases, "%s/fixtures/errors",
             getenv("BUILD") ? getenv("BUILD") : "build");
    CHECK(each_file(cases, "dsl-", ".err", add_to_corpus) > 0);
    missing = 0;
    each_file("compiler/frontend/dsl", "", ".c", check_messages_of);
    check_messages_of("dsl/parse.y");
    check_messages_of("dsl/scan.l");
    CHECK(missing == 0);
    text_free(&corpus);
}

// ---------------------------------------------------------------------- texts too large for a file
static void check_generated(const char *text, size_t size, const char *expected) {
    char path[] = "/tmp/burin-dsl-text.XXXXXX", *messages = NULL;
    Text graphs = {0};
    int file = mkstemp(path);
    CHECK(write(file, text, size) == (ssize_t)size);
    close(file);
    Case c = {.path = path};
    CHECK(!run_case(&c, &graphs, &messages));
    if (!strstr(messages, expected))
        printf("# expected \"%s\", got\n%.2000s\n", expected, messages);
    CHECK(strstr(messages, expected) != NULL);
    unlink(path);
    free(messages);
    text_free(&graphs);
}

// Fields of config.json that a model of burin's does not know are unread by its reference.
static void ignores_unknown_fields(void) {
    char *messages = NULL, *known = read_text_file("tests/golden/models/llama.json", NULL);
    Text graphs = {0}, config = {0};
    text_add(&config, "%.*s, \"xi\": 5}", (int)(strrchr(known, '}') - known), known);
    Case c = {.path = "dsl/models/llama.burin", .config = config.data};
    CHECK(run_case(&c, &graphs, &messages));
    CHECK(!*messages);
    free(messages);
    free(known);
    text_free(&config);
    text_free(&graphs);
}

static void refuses_large_descriptions(void) {
    size_t size = 5 << 20;
    char *text = malloc(size);
    memset(text, ' ', size);
    check_generated(text, size, "a description of 5242880 bytes is too large");
    free(text);
}

static void repeat(Text *t, const char *what, int n) {
    for (int i = 0; i < n; i++) text_append(t, what, strlen(what));
}

static void refuses_deep_nesting(void) {
    Text t = {0};
    text_add(&t, "x = ");
    repeat(&t, "(", 100000);
    check_generated(t.data, t.length, "this is nested too deeply");
    t.length = 0;
    text_add(&t, "x = 1");
    repeat(&t, " + 1", 100000);
    check_generated(t.data, t.length, "this is nested more than 400 deep");
    t.length = 0;
    repeat(&t, "graph g(x: [1]) -> [1] { ", 1);
    repeat(&t, "if true { ", 100000);
    check_generated(t.data, t.length, "this is nested too deeply");
    text_free(&t);
}

static void bounds_its_work(void) {
    Text t = {0};
    text_add(&t,
             "graph g(x: [4]) -> [4] {\n for i in 2048 {\n for j in 2048 {\n x = x + 1\n }\n }\n "
             "return x\n}\n");
    check_generated(t.data, t.length, "the graph has more than 262144 nodes");
    t.length = 0;
    text_add(&t,
             "graph g(x: [4]) -> [4] {\n for i in 2048 {\n for j in 2048 {\n y = i * j\n }\n }\n "
             "return x\n}\n");
    check_generated(t.data, t.length, "this description takes more than 4000000 steps");
    t.length = 0;
    text_add(&t,
             "graph g(x: [4]) -> [4] {\n s = \"0123456789abcdef\"\n for i in 20 { s = \"{s}{s}\" "
             "}\n return x\n}\n");
    check_generated(t.data, t.length, "this string is too long");
    t.length = 0;
    for (int i = 0; i < 70; i++) text_add(&t, "block b%d(x) { return b%d(x) }\n", i, i + 1);
    text_add(&t, "graph g(x: [4]) -> [4] { return b0(x) }\n");
    check_generated(t.data, t.length, "blocks call each other more than 64 deep");
    text_free(&t);
}

static void parse(const char *text, size_t size) {
    Arena *arena = arena_new();
    Source source = {.name = "damaged", .text = text, .size = size};
    if (!setjmp(*diag_guard())) {
        dsl_check_syntax(arena, &source);
        diag_stop();
    }
    diag_unguard();
    arena_free(arena);
}

// Every prefix of a real description, and every description with one byte changed: errors, never
// more. Some are elaborated too.
static void survives_damage(void) {
    char *text = read_text_file("dsl/models/llama.burin", NULL),
         *config = read_text_file("tests/golden/models/llama.json", NULL);
    size_t size = strlen(text);
    int saved = dup(STDERR_FILENO), nothing = open("/dev/null", O_WRONLY);
    dup2(nothing, STDERR_FILENO);
    for (size_t i = 0; i < 2 * size; i++) {
        char *copy = strdup(text), *messages = NULL;
        copy[i / 2] = i % 2 ? 0 : "{}()[]\"=?:^@\n"[i / 2 % 13];
        parse(copy, i % 2 ? i / 2 : size);
        if (i % 16 == 0) {
            Case c = {.path = "/tmp/burin-damaged.burin", .config = config};
            Text graphs = {0};
            write_file(c.path, copy, size);
            run_case(&c, &graphs, &messages);
            text_free(&graphs);
            unlink(c.path);
        }
        free(messages);
        free(copy);
    }
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(nothing);
    free(text);
    free(config);
    CHECK(size > 1000);
}

SUITE(dsl) {
    TEST(elaborates_golden_files);
    TEST(elaborates_every_model);
    TEST(compiles_the_examples_of_the_grammar);
    TEST(every_message_has_a_case);
    TEST(ignores_unknown_fields);
    TEST(refuses_large_descriptions);
    TEST(refuses_deep_nesting);
    TEST(bounds_its_work);
    TEST(survives_damage);
}
