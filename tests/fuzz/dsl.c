// libFuzzer target: the description language, from text to graphs, with the library of dsl/ and a config.json of common keys.
#include "frontend/dsl.h"

#include "input.h"

#include "generate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"file", {"model m {\n<lines>}\n", "import std\n\nmodel m {\n<lines>}\n", "block b(x) {\n<lines>}\nmodel m {\n<lines>}\n"}},
    {"lines", {"<line>\n", "<line>\n<lines>"}},
    {"line", {"x = <e>", "config a: int = <e>", "param w: f32[<e>, <e>]", "for i in 0..<e> {\n<lines>}", "if <e> {\n<lines>} else {\n<lines>}", "return <e>", "input x: i32[<e>]", "output y: f32[<e>]"}},
    {"e", {"x", "<n>", "<e> + <e>", "<e> * <e>", "<e> / <e>", "<e> // <e>", "(<e>)", "[<e>, <e>]", "<e>[<e>]", "<e>[<e>:<e>]", "b(<e>)", "softmax(<e>, axis = <n>)", "matmul(<e>, <e>)", "x @ w",
           "<e> if <e> else <e>", "reshape(<e>, [<e>, <e>])", "concat([<e>, <e>], axis = <n>)", "-<e>", "not <e>", "<e> == <e>", "hidden_size", "len(<e>)"}},
    {"n", {"0", "1", "-1", "64", "1.5", "9223372036854775807", "1000000"}},
    {0}};
FUZZ_GENERATOR(RULES)

static const char CONFIG[] =
    "{\"vocab_size\":320,\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":1,\"num_attention_heads\":4,"
    "\"max_position_embeddings\":128,\"n_embd\":64,\"n_head\":4,\"n_layer\":1,\"n_positions\":128,\"d_model\":64}";

static void import(Arena *arena, const char *path) {
    static json_t *config;
    static const Source source = {.name = "config.json", .text = CONFIG, .size = sizeof CONFIG - 1};
    if (!config) config = json_loads(CONFIG, 0, NULL);
    Checkpoint *c = ARENA_NEW(arena, Checkpoint);
    *c = (Checkpoint){.path = ".", .folder = ".", .config = config, .config_source = &source, .arena = arena};
    map_init(&c->by_name, arena);
    Module *m = dsl_load(arena, path, &(DslOptions){.library = "dsl", .checkpoint = c, .shapes_only = true});
    for (int i = 0; i < m->n_graphs; i++)
        if (!graph_verify(m->graphs[i], "dsl")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, import);
    return 0;
}
