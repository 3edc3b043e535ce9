// libFuzzer target: the text form of a graph, as --start-from reads it: parsing, and verification of what was read. Every pass
// then takes it, as far as its constants are in the text.
#include "input.h"
#include "ir/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_and_pass(Arena *arena, const char *path) {
    Module *m = module_load(arena, path);
    PassContext passes = {.arena = arena, .start_from = PASS_infer, .stop_after = -1, .context = 64, .max_rows = 64};
    passes_run(m, &passes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, read_and_pass);
    return 0;
}
