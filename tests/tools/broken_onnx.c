// Broken ONNX models: a small valid one, and a change that damages it. usage: broken_onnx --list |
// broken_onnx NAME | --valid NAME writes model.onnx into the current folder and imports it: one
// message on stderr, status 1, no memory to speak of.
// --each: case_process.h. `broken_onnx --flips FIRST COUNT` and `--cuts` try many damaged files, a
// process each: an answer, or a message and status 1.
#include <signal.h>
#include <sys/resource.h>

#include "frontend/onnx.h"
#include "tests/tools/case_process.h"
#include "tests/tools/onnx_text.h"

// The line of the valid model that begins with `line` becomes `by` (which may be several, or none);
// NULL: `by` is added.
typedef struct Change {
    const char *name, *line, *by;
} Change;

// These lines are added, and the operator set is this one.
typedef struct Operator {
    const char *name;
    int opset;
    const char *lines;
} Operator;

#include "tests/tools/broken_graphs.h"
#include "tests/tools/broken_operators.h"

#define COUNT(table) (sizeof table / sizeof *table)

static Text changed(const Change *c) {
    Text text = {0};
    for (const char *at = VALID; *at;) {
        size_t length = strcspn(at, "\n");
        if (!c->line || strncmp(at, c->line, strlen(c->line)))
            text_append(&text, at, length + 1);
        else
            text_add(&text, "%s\n", c->by);
        at += length + 1;
    }
    if (!c->line) text_add(&text, "%s\n", c->by);
    Text model = onnx_of_text(text.data);
    text_free(&text);
    return model;
}

static Text with_operator(const Operator *o) {
    Text lines = {0};
    text_add(&lines, "opset %d\n%s", o->opset, o->lines);
    Text model = changed(&(Change){.line = "opset", .by = lines.data});
    text_free(&lines);
    return model;
}

// ----------------------------------------------------------------------------------- damaged bytes
static Text valid(void) { return onnx_of_text(VALID); }

static Text message(int field, Text inner) {
    Text t = {0};
    wire_message(&t, field, &inner);
    return t;
}

static Text empty_file(void) { return (Text){0}; }

static Text no_protobuf(void) {
    Text t = {0};
    text_add(&t, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n");
    return t;
}

static Text without_graph(void) {
    Text t = {0};
    wire_int(&t, 1, 10);
    return t;
}

static Text cut_at(size_t percent) {
    Text t = valid();
    t.length = t.length * percent / 100;
    return t;
}

static Text cut_in_half(void) { return cut_at(50); }
static Text cut_at_the_end(void) {
    Text t = valid();
    t.length--;
    return t;
}

static Text number_cut(void) {
    Text t = {0};
    text_append(&t, "\x08\xff\xff", 3);
    return t;
}

static Text number_too_long(void) {
    Text t = {0};
    text_append(&t, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
    return t;
}

static Text field_zero(void) {
    Text t = {0};
    text_append(&t, "\x00\x01", 2);
    return t;
}

static Text graph_is_a_number(void) {
    Text t = without_graph();
    wire_int(&t, 7, 3);
    return t;
}

static Text version_is_text(void) {
    Text t = {0};
    wire_text(&t, 1, "ten");
    return t;
}

static Text group(void) {
    Text t = valid();
    wire_tag(&t, 99, 3);
    return t;
}

static Text length_past_the_end(void) {
    Text t = without_graph();
    wire_tag(&t, 7, 2);
    wire_varint(&t, 1 << 20);
    return t;
}

static Text length_wraps(void) {
    Text t = without_graph();
    wire_tag(&t, 7, 2);
    wire_varint(&t, UINT64_MAX);
    return t;
}

static Text name_with_a_zero(void) {
    Text node = {0}, graph = {0};
    wire_bytes(&node, 2, "a\0b", 3);
    wire_message(&graph, 1, &node);
    return message(7, graph);
}

static Text field_of_no_kind(void) {
    Text t = without_graph();
    wire_tag(&t, 99, 6);
    return t;
}

// ModelProto.graph.initializer with a segment, which TensorProto had for tensors of many messages.
static Text tensor_in_segments(void) {
    Text t = valid(), segment = {0}, tensor = {0}, graph = {0};
    wire_int(&segment, 1, 0);
    wire_int(&tensor, 2, 1);
    wire_message(&tensor, 3, &segment);
    wire_text(&tensor, 8, "S");
    wire_message(&graph, 5, &tensor);
    wire_message(&t, 7, &graph);  // a message twice is merged
    return t;
}

static Text sparse_without_values(void) {
    Text t = valid(), sparse = {0}, graph = {0};
    wire_int(&sparse, 3, 4);
    wire_message(&graph, 15, &sparse);
    wire_message(&t, 7, &graph);
    return t;
}

// A graph in an attribute of a node of a graph: three messages a level.
static Text nested_deep(void) {
    Text t = {0};
    for (int level = 0; level < 30000; level++)
        t = message(level % 3 == 0 ? 6 : level % 3 == 1 ? 5 : 1, t);
    return message(7, t);
}

static Text type_nested_deep(void) {
    Text t = {0};
    for (int level = 0; level < 10000; level++) t = message(level % 2 ? 4 : 1, t);
    return message(7, message(11, message(2, t)));
}

// Forty functions, each calling the next one twice.
static Text functions_double(void) {
    Text text = {0};
    for (int i = 0; i < 40; i++)
        text_add(&text,
                 "function F%d f\ntakes a\ngives z\nnode F%d a -> t : @domain=f\nnode F%d t -> z : "
                 "@domain=f\nend\n",
                 i, i + 1, i + 1);
    text_add(&text,
             "function F40 f\nopset 20\ntakes a\ngives z\nnode Relu a -> z\nend\nopset 1 f\n%s",
             VALID);
    text_add(&text, "node F0 y -> z : @domain=f\noutput z f32\n");
    Text model = onnx_of_text(text.data);
    text_free(&text);
    return model;
}

static const struct {
    const char *name;
    Text (*make)(void);
} DAMAGES[] = {{"file-empty", empty_file},
               {"file-of-text", no_protobuf},
               {"file-without-graph", without_graph},
               {"file-cut-in-half", cut_in_half},
               {"file-cut-at-the-end", cut_at_the_end},
               {"wire-number-cut", number_cut},
               {"wire-number-too-long", number_too_long},
               {"wire-field-zero", field_zero},
               {"wire-graph-is-a-number", graph_is_a_number},
               {"wire-version-is-text", version_is_text},
               {"wire-group", group},
               {"wire-length-past-the-end", length_past_the_end},
               {"wire-length-wraps", length_wraps},
               {"wire-name-with-a-zero", name_with_a_zero},
               {"wire-field-of-no-kind", field_of_no_kind},
               {"tensor-in-segments", tensor_in_segments},
               {"sparse-without-values", sparse_without_values},
               {"functions-double", functions_double},
               {"nested-deep", nested_deep},
               {"type-nested-deep", type_nested_deep}};

// --------------------------------------------------------------------------------------- importing
static void import(const char *path) {
    Arena *arena = arena_new();
    onnx_load(arena, path, &(OnnxOptions){.library = getenv("LIBRARY")});
    arena_free(arena);
}

// Claims of a file must not become memory or time.
static void set_limits(void) {
    struct rlimit seconds = {10, 10}, memory = {1u << 30, 1u << 30};
    setrlimit(RLIMIT_CPU, &seconds);
#ifndef __SANITIZE_ADDRESS__
    setrlimit(RLIMIT_AS, &memory);
#else
    (void)memory;
#endif
}

static void write_model(Text t) {
    write_file("model.onnx", t.data ? t.data : "", t.length);
    text_free(&t);
}

static void write_neighbours(void) {
    char bytes[4096] = {0};
    write_file("four.bin", bytes, 4);
    write_file("many.bin", bytes, sizeof bytes);
    mkdir("folder", 0777);
    if (symlink("/etc/hostname", "link.bin")) perror("link.bin");
}

// One damaged file in a process of its own; true when it ends with status 0 or 1 in time.
static bool survives(Text t, const char *what) {
    write_model(t);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        if (!freopen("/dev/null", "w", stderr)) exit(3);
        set_limits();
        import("model.onnx");
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bool good = WIFEXITED(status) && WEXITSTATUS(status) <= 1;
    if (!good) printf("%s ends with status %d\n", what, status);
    return good;
}

static int try_cuts(void) {
    int bad = 0;
    char what[64];
    for (size_t percent = 0; percent < 100; percent++) {
        snprintf(what, sizeof what, "cut at %zu %%", percent);
        bad += !survives(cut_at(percent), what);
    }
    return bad;
}

// Flips of one to three bits, at places that a fixed generator draws.
static int try_flips(uint64_t first, uint64_t count) {
    int bad = 0;
    char what[64];
    for (uint64_t seed = first; seed < first + count; seed++) {
        Text t = valid();
        uint64_t state = seed * 0x9e3779b97f4a7c15u;
        for (uint64_t i = 0; i <= seed % 3; i++) {
            state = (state ^ state >> 29) * 0xbf58476d1ce4e5b9u;
            t.data[(state >> 16) % t.length] ^= (char)(1 << (state >> 8) % 8);
        }
        snprintf(what, sizeof what, "flip %llu", (unsigned long long)seed);
        bad += !survives(t, what);
    }
    return bad;
}

static bool make_case(const char *name, Text *model) {
    for (size_t i = 0; i < COUNT(GRAPHS); i++)
        if (!strcmp(GRAPHS[i].name, name)) return *model = changed(&GRAPHS[i]), true;
    for (size_t i = 0; i < COUNT(OPERATORS); i++)
        if (!strcmp(OPERATORS[i].name, name)) return *model = with_operator(&OPERATORS[i]), true;
    for (size_t i = 0; i < COUNT(DAMAGES); i++)
        if (!strcmp(DAMAGES[i].name, name)) return *model = DAMAGES[i].make(), true;
    return false;
}

static int run_case(const char *name) {
    Text model;
    if (!make_case(name, &model)) {
        fprintf(stderr, "no case %s\n", name);
        return 2;
    }
    write_neighbours();
    write_model(model);
    set_limits();
    import("model.onnx");
    return 0;
}

static void each_name(Visit visit) {
    for (size_t i = 0; i < COUNT(GRAPHS); i++) visit(GRAPHS[i].name);
    for (size_t i = 0; i < COUNT(OPERATORS); i++) visit(OPERATORS[i].name);
    for (size_t i = 0; i < COUNT(DAMAGES); i++) visit(DAMAGES[i].name);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "--valid")) {
        write_model(valid());
        import("model.onnx");
        return 0;
    }
    if (!strcmp(what, "--cuts")) return try_cuts() > 0;
    if (!strcmp(what, "--flips") && argc == 4)
        return try_flips(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)) > 0;
    return run_cases(argc, argv, each_name, run_case);
}
