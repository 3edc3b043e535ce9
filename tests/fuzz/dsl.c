// libFuzzer target: the description language, from text to graphs, with the library of dsl/ and a
// config.json of common keys.
#include "frontend/dsl.h"

#include "generate.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"file",
     {"model m\n<config><graph>",
      "model m\nimport linear, norm, heads, mask, mlp\n<config><block><graph>",
      "model m\n<config><block><graph><graph>"}},
    {"config",
     {"config hidden_size\n", "config hidden_size, n_layer = <e>, act = \"silu\"\n",
      "config hidden_size = <e>\nfactor = <e>\n"}},
    {"block",
     {"block b(x: [.., N], y = <e>) {\n<lines>  return <e>\n}\n",
      "block b(x: [T, hidden_size]) -> [T, hidden_size] {\n<lines>  return b(<e>)\n}\n"}},
    {"graph",
     {"graph decode(x: [T, 64]) -> [T, 64] {\n<lines>  return <e>\n}\n",
      "graph decode(tokens: int[T <= 128]) -> logits: [T, 320] {\n<lines>  return <e>\n}\n"}},
    {"lines", {"  x = <e>\n", "<line><lines>"}},
    {"line",
     {"  y = <e>\n", "  y: [T, <n>] = <e>\n", "  for i in <n> at \"layers.{i}\" {\n<lines>  }\n",
      "  if <e> {\n<lines>  }\n", "  if <e> {\n<lines>  } else {\n<lines>  }\n",
      "  w = weight(\"w\", [<n>, <n>])\n", "  ignore hidden_size\n", "  a, c = split(<e>, <n>)\n"}},
    {"e",
     {"x",
      "<n>",
      "<e> + <e>",
      "<e> * <e>",
      "<e> / <e>",
      "<e> // <e>",
      "<e> % <e>",
      "<e> ^ <e>",
      "(<e>)",
      "[<e>, <e>]",
      "[<e> for j in <n>]",
      "<e>[<e>]",
      "<e>[<e>:<e>]",
      "b(<e>)",
      "b(<e>, y = <e>)",
      "softmax(<e>)",
      "x @ w^T",
      "<e> @ <e>",
      "<e> ? <e> : <e>",
      "<e> ?? <e>",
      "{a = <e>, c = <e>}.a",
      "-<e>",
      "not <e>",
      "<e> == <e>",
      "<e> in <e>",
      "hidden_size",
      "length(<e>)",
      "\"a{<e>}\"",
      "reshape(<e>, [<e>, <e>])",
      "gather(w, tokens)",
      "linear(x, \"up\", <n>)",
      "causal(<e>)",
      "null",
      "1.5e300"}},
    {"n", {"2", "0", "1", "64", "-1", "T", "9223372036854775807", "1000000"}},
    {0}};
FUZZ_GENERATOR(RULES)

static const char CONFIG[] =
    "{\"vocab_size\":320,\"hidden_size\":64,\"intermediate_size\":128,\"num_hidden_layers\":1,"
    "\"num_attention_heads\":4,"
    "\"max_position_embeddings\":128,\"n_embd\":64,\"n_head\":4,\"n_layer\":1,\"n_positions\":128,"
    "\"d_model\":64}";

static void import(Arena *arena, const char *path) {
    static json_t *config;
    static const Source source = {.name = "config.json", .text = CONFIG, .size = sizeof CONFIG - 1};
    if (!config) config = json_loads(CONFIG, 0, NULL);
    Checkpoint *c = ARENA_NEW(arena, Checkpoint);
    *c = (Checkpoint){
        .path = ".", .folder = ".", .config = config, .config_source = &source, .arena = arena};
    map_init(&c->by_name, arena);
    Module *m = dsl_load(arena, path,
                         &(DslOptions){.library = "dsl", .checkpoint = c, .shapes_only = true});
    for (int i = 0; i < m->n_graphs; i++)
        if (!graph_verify(m->graphs[i], "dsl")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, import);
    return 0;
}
