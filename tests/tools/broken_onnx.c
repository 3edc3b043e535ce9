// Broken ONNX models: a small valid one, and a change that damages it. usage: broken_onnx --list | broken_onnx NAME | --valid
// NAME writes model.onnx into the current folder and imports it: one message on stderr, status 1, no memory to speak of.
// `broken_onnx --flips FIRST COUNT` and `--cuts` try many damaged files, a process each: an answer, or a message and status 1.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/onnx.h"
#include "tests/tools/onnx_text.h"

static const char VALID[] =
    "ir 10\n"
    "opset 20\n"
    "input x f32 [T,4]\n"
    "output y f32 [T,2,3]\n"
    "value q f32 [T,6]\n"
    "tensor W f32 [4,6] raw 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n"
    "tensor b f32 [6] typed 1 2 3 4 5 6\n"
    "tensor shape i64 [3] raw 0 2 3\n"
    "node MatMul x W -> p : @name=project\n"
    "node Add p b -> q : @name=shift\n"
    "node Reshape q shape -> r : @name=split\n"
    "node Softmax r -> y : axis=-1 @name=normalise\n";

// The line of the valid model that begins with `line` becomes `by` (which may be several, or none); NULL: `by` is added.
typedef struct Change {
    const char *name, *line, *by;
} Change;

static const Change CHANGES[] = {
    // versions
    {"ir-missing", "ir", ""},
    {"ir-zero", "ir", "ir 0"},
    {"ir-huge", "ir", "ir 9223372036854775807"},
    {"ir-negative", "ir", "ir -1"},
    {"opset-missing", "opset", ""},
    {"opset-zero", "opset", "opset 0"},
    {"opset-negative", "opset", "opset -7"},
    {"opset-too-new", "opset", "opset 99"},
    {"opset-of-other-domain", "opset", "opset 20 com.example"},
    {"opset-twice", NULL, "opset 19"},
    {"operator-newer-than-opset", "node Softmax", "node Swish r -> y"},
    // operators
    {"operator-unknown", "node Add", "node Frobnicate p b -> q : @name=shift"},
    {"operator-unknown-thrice", "node Add", "node Twist p -> q1\nnode Twist q1 -> q2\nnode Twist q2 -> q"},
    {"operators-unknown", "node Add", "node Twist p -> q1\nnode Shout q1 -> q"},
    {"operator-unknown-domain", NULL, "opset 3 com.example\nnode Add y y -> z : @domain=com.example"},
    {"operator-in-body-unknown", NULL,
     "graph G\nnode Twist x -> t\noutput t f32 [T,4]\nend\nnode If x -> z : then_branch=graph:G"},
    {"operator-missing", "node Add", "node - p b -> q : @name=shift"},
    {"operands-too-few", "node Add", "node Add p -> q : @name=shift"},
    {"operands-too-many", "node Add", "node Add p b b -> q : @name=shift"},
    {"operand-left-out", "node Add", "node Add p _ -> q : @name=shift"},
    {"results-too-many", "node Add", "node Add p b -> q q2 : @name=shift"},
    // attributes
    {"attribute-unknown", "node Softmax", "node Softmax r -> y : axes=-1"},
    {"attribute-wrong-type", "node Softmax", "node Softmax r -> y : axis=0.5"},
    {"attribute-text-for-integer", "node Softmax", "node Softmax r -> y : axis='last'"},
    {"attribute-list-for-integer", "node Softmax", "node Softmax r -> y : axis=[1,2]"},
    {"attribute-twice", "node Softmax", "node Softmax r -> y : axis=1 axis=2"},
    {"attribute-missing", "node Add", "node Concat p p -> q"},
    {"attribute-cast-missing", "node Add", "node Cast p -> q"},
    {"attribute-cast-unknown", "node Add", "node Cast p -> q : to=77"},
    {"attribute-reference-outside", "node Softmax", "node Concat r r -> y : axis=ref:a/2"},
    {"axis-too-large", "node Softmax", "node Softmax r -> y : axis=3"},
    {"axis-too-small", "node Softmax", "node Softmax r -> y : axis=-9223372036854775808"},
    {"constant-empty", "node Add", "node Constant -> c\nnode Add p c -> q"},
    {"constant-two-values", "node Add", "node Constant -> c : value='x' value_int=3\nnode Add p c -> q"},
    {"perm-too-short", "node Softmax", "node Transpose r -> y : perm=[0,1]"},
    {"perm-twice", "node Softmax", "node Transpose r -> y : perm=[0,1,1]"},
    {"perm-outside", "node Softmax", "node Transpose r -> y : perm=[0,1,7]"},
    // names and edges
    {"value-from-nowhere", "node Add", "node Add p nowhere -> q : @name=shift"},
    {"value-twice", "node Add", "node Add p b -> q : @name=shift\nnode Add p p -> q"},
    {"value-is-an-input", "node Add", "node Add p b -> x\nnode Add x b -> q"},
    {"value-is-an-initializer", "node Add", "node Add p b -> W\nnode Add p W -> q"},
    {"cycle-of-one", "node Add", "node Add p q -> q : @name=shift"},
    {"cycle-of-two", "node MatMul", "node Add q x -> p : @name=project"},
    {"output-from-nowhere", "output", "output z f32 [T,2,3]"},
    {"output-without-a-name", "output", "output - f32 [T,2,3]"},
    {"output-twice", NULL, "output y f32 [T,2,3]"},
    {"outputs-missing", "output", ""},
    {"input-missing", "input", ""},
    {"input-twice", NULL, "input x f32 [T,4]"},
    {"input-without-a-name", NULL, "input - f32 [T,4]"},
    {"input-without-a-type", "input", "input x"},
    {"input-without-a-shape", "input", "input x f32"},
    {"input-of-sequences", "input", "input x seq(f32) [T,4]"},
    {"input-of-no-type", "input", "input x t0 [T,4]"},
    {"input-complex", "input", "input x t14 [T,4]"},
    {"input-rank", "input", "input x f32 [1,1,1,1,1,1,1,1,4]"},
    {"input-huge", "input", "input x f32 [9223372036854775807,4]"},
    {"initializer-twice", NULL, "tensor W f32 [1] raw 1"},
    {"initializer-without-a-name", NULL, "tensor - f32 [1] raw 1"},
    // types and shapes
    {"types-differ", "tensor b", "tensor b f64 [6] typed 1 2 3 4 5 6"},
    {"shapes-do-not-broadcast", "tensor b", "tensor b f32 [5] typed 1 2 3 4 5"},
    {"depths-differ", "input", "input x f32 [T,5]"},
    {"declared-type-differs", "value q", "value q i64 [T,6]"},
    {"declared-rank-differs", "value q", "value q f32 [T,2,3]"},
    {"declared-output-differs", "output", "output y f32 [T,6]"},
    {"shape-indivisible", "tensor shape", "tensor shape i64 [3] raw 0 4 -1"},
    {"shape-two-open", "tensor shape", "tensor shape i64 [3] raw 0 -1 -1"},
    {"shape-zero", "tensor shape", "tensor shape i64 [3] raw -1 0 0"},
    {"shape-negative", "tensor shape", "tensor shape i64 [3] raw 0 -2 -3"},
    {"shape-overflows", "tensor shape", "tensor shape i64 [3] raw 4611686018427387904 4 9223372036854775807"},
    {"shape-too-long", "tensor shape", "tensor shape i64 [9] raw 0 2 3 1 1 1 1 1 1"},
    {"shape-of-floats", "tensor shape", "tensor shape f32 [3] raw 0 2 3"},
    {"shape-is-a-matrix", "tensor shape", "tensor shape i64 [3,1] raw 0 2 3"},
    {"condition-is-a-float", "node Softmax", "node Where r r r -> y"},
    {"not-of-floats", "node Softmax", "node Not r -> y"},
    {"concat-of-types", "node Softmax", "node Concat r shape -> y : axis=0"},
    {"concat-of-ranks", "node Softmax", "node Concat r b -> y : axis=0"},
    {"gather-by-floats", "node Softmax", "node Gather r r -> y"},
    {"expand-to-nothing", "node Softmax", "node Expand r shape -> y"},
    {"slice-without-ends", "node Softmax", "node Slice r -> y : starts=[0]"},
    {"slice-step-zero", "node Softmax", "tensor z i64 [1] raw 0\ntensor one i64 [1] raw 1\nnode Slice r z one z z -> y"},
    {"split-sizes-wrong", "node Softmax", "tensor s i64 [2] raw 1 5\nnode Split r s -> y z : axis=1"},
    {"split-sizes-negative", "node Softmax", "tensor s i64 [2] raw -1 3\nnode Split r s -> y z : axis=1"},
    {"squeeze-not-one", "node Softmax", "tensor a i64 [1] raw 1\nnode Squeeze r a -> y"},
    {"unsqueeze-twice", "node Softmax", "tensor a i64 [2] raw 1 1\nnode Unsqueeze r a -> y"},
    {"range-endless", "node Softmax", "tensor z i64 [] raw 0\nnode Range z z z -> y"},
    {"gemm-of-rank-3", "node Softmax", "node Gemm r r -> y"},
    // tensors
    {"tensor-type-missing", "tensor W", "tensor W t0 [4,6] raw 1"},
    {"tensor-type-unknown", "tensor W", "tensor W t99 [4,6] raw 1"},
    {"tensor-complex", "tensor W", "tensor W t15 [4,6] raw 1"},
    {"tensor-short", "tensor b", "tensor b f32 [6] raw 1 2 3"},
    {"tensor-long", "tensor b", "tensor b f32 [6] raw 1 2 3 4 5 6 7"},
    {"tensor-typed-short", "tensor b", "tensor b f32 [6] typed 1 2 3"},
    {"tensor-without-data", "tensor b", "tensor b f32 [6]"},
    {"tensor-strings-short", NULL, "tensor s string [2] text a"},
    {"tensor-dim-negative", "tensor W", "tensor W f32 [-4,6] raw 1"},
    {"tensor-dims-overflow", "tensor W", "tensor W f32 [4611686018427387904,4611686018427387904] raw 1"},
    {"tensor-huge", "tensor W", "tensor W f32 [4000000000,4000000000] raw 1"},
    {"tensor-rank", "tensor W", "tensor W f32 [1,1,1,1,1,1,1,4,6] raw 1"},
    {"sparse-index-outside", NULL, "sparse S f32 [4] values 1 2 at 0 4"},
    {"sparse-index-negative", NULL, "sparse S f32 [4] values 1 2 at 0 -1"},
    {"sparse-counts-differ", NULL, "sparse S f32 [4] values 1 2 at 0"},
    {"sparse-huge", NULL, "sparse S f32 [1000000000000] values 1 2 at 0 1"},
    // external data
    {"external-above", "tensor b", "tensor b f32 [6] external location=../b.bin"},
    {"external-above-within", "tensor b", "tensor b f32 [6] external location=a/../../b.bin"},
    {"external-absolute", "tensor b", "tensor b f32 [6] external location=/etc/passwd"},
    {"external-link", "tensor b", "tensor b f32 [6] external location=link.bin"},
    {"external-nowhere", "tensor b", "tensor b f32 [6] external offset=0"},
    {"external-missing", "tensor b", "tensor b f32 [6] external location=missing.bin"},
    {"external-folder", "tensor b", "tensor b f32 [6] external location=folder"},
    {"external-empty-name", "tensor b", "tensor b f32 [6] external location="},
    {"external-short", "tensor b", "tensor b f32 [6] external location=four.bin"},
    {"external-offset-outside", "tensor b", "tensor b f32 [6] external location=many.bin offset=5000 length=24"},
    {"external-offset-wraps", "tensor b", "tensor b f32 [6] external location=many.bin offset=18446744073709551612 length=24"},
    {"external-offset-no-number", "tensor b", "tensor b f32 [6] external location=many.bin offset=0x10"},
    {"external-offset-negative", "tensor b", "tensor b f32 [6] external location=many.bin offset=-8"},
    {"external-length-wrong", "tensor b", "tensor b f32 [6] external location=many.bin offset=0 length=20"},
    {"external-strings", NULL, "tensor s string [3] external location=many.bin"},
    // functions and bodies
    {"function-recursive", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nopset 20\nnode F a -> z : @domain=f\nend\nnode F r -> y : @domain=f"},
    {"function-bomb", "node Softmax",
     "opset 1 f\n"
     "function A f\ntakes a\ngives z\nnode B a -> t : @domain=f\nnode B t -> z : @domain=f\nend\n"
     "function B f\ntakes a\ngives z\nnode C a -> t : @domain=f\nnode C t -> z : @domain=f\nend\n"
     "function C f\ntakes a\ngives z\nnode A a -> t : @domain=f\nnode A t -> z : @domain=f\nend\nnode A r -> y : @domain=f"},
    {"function-operands", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r r -> y : @domain=f"},
    {"function-result-missing", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> t\nend\nnode F r -> y : @domain=f"},
    {"function-sees-no-outside", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Add a b -> z\nend\nnode F r -> y : @domain=f"},
    {"function-attribute-unknown", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r -> y : axis=1 @domain=f"},
    {"function-attribute-missing", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nattribute axis\nnode Softmax a -> z : axis=ref:axis/2\nend\n"
     "node F r -> y : @domain=f"},
    {"function-overload-unknown", "node Softmax",
     "opset 1 f\nfunction F f one\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r -> y : @domain=f @overload=two"},
};
enum { N_CHANGES = sizeof CHANGES / sizeof *CHANGES };

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

// --------------------------------------------------------------------------------------------------------------- damaged bytes
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

// A graph in an attribute of a node of a graph: three messages a level.
static Text nested_deep(void) {
    Text t = {0};
    for (int level = 0; level < 30000; level++) t = message(level % 3 == 0 ? 6 : level % 3 == 1 ? 5 : 1, t);
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
        text_add(&text, "function F%d f\ntakes a\ngives z\nnode F%d a -> t : @domain=f\nnode F%d t -> z : @domain=f\nend\n", i,
                 i + 1, i + 1);
    text_add(&text, "function F40 f\nopset 20\ntakes a\ngives z\nnode Relu a -> z\nend\nopset 1 f\n%s", VALID);
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
               {"functions-double", functions_double},
               {"nested-deep", nested_deep},
               {"type-nested-deep", type_nested_deep}};
enum { N_DAMAGES = sizeof DAMAGES / sizeof *DAMAGES };

// --------------------------------------------------------------------------------------------------------------------
// importing
static void import(const char *path) {
    Arena *arena = arena_new();
    onnx_load(arena, path, &(OnnxOptions){0});
    arena_free(arena);
}

// What a file claims must not become memory or time.
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

static int run_case(const char *name) {
    write_neighbours();
    for (size_t i = 0; i < N_CHANGES; i++)
        if (!strcmp(CHANGES[i].name, name)) return write_model(changed(&CHANGES[i])), set_limits(), import("model.onnx"), 0;
    for (size_t i = 0; i < N_DAMAGES; i++)
        if (!strcmp(DAMAGES[i].name, name)) return write_model(DAMAGES[i].make()), set_limits(), import("model.onnx"), 0;
    fprintf(stderr, "no case %s\n", name);
    return 2;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "--list")) {
        for (size_t i = 0; i < N_CHANGES; i++) printf("%s\n", CHANGES[i].name);
        for (size_t i = 0; i < N_DAMAGES; i++) printf("%s\n", DAMAGES[i].name);
        return 0;
    }
    if (!strcmp(what, "--valid")) return write_model(valid()), import("model.onnx"), 0;
    if (!strcmp(what, "--cuts")) return try_cuts() > 0;
    if (!strcmp(what, "--flips") && argc == 4) return try_flips(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10)) > 0;
    return run_case(what);
}
