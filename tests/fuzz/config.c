// libFuzzer target: config.json, as the descriptions that come with burin read it: the family it
// names, and its graphs.
#include "frontend/dsl.h"
#include "input.h"
#include "util/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void describe(Arena *arena, const char *path) {
    const Source *source = read_source(arena, path);
    Checkpoint *c = ARENA_NEW(arena, Checkpoint);
    *c = (Checkpoint){.path = ".", .folder = ".", .config_source = source, .arena = arena};
    map_init(&c->by_name, arena);
    c->config = json_read(arena, source, source->text, source->size);
    if (!json_is_object(c->config)) return;
    c->architecture = json_string_value(json_object_get(c->config, "model_type"));
    checkpoint_special_tokens(c);
    const char *description = dsl_find_description(arena, "dsl", c);
    Module *m = dsl_load(arena, description,
                         &(DslOptions){.library = "dsl", .checkpoint = c, .shapes_only = true});
    for (int i = 0; i < m->n_graphs; i++)
        if (!graph_verify(m->graphs[i], "dsl")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, describe);
    return 0;
}
