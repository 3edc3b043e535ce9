// libFuzzer target: the text form of a graph, as --start-from reads it: parsing, and verification of what was read. Every pass
// from the one that the first byte chooses then takes it, as far as its constants are in the text; what is left is lowered and
// becomes C.
#include "codegen/codegen.h"
#include "input.h"
#include "ir/dump.h"
#include "lower/lower.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int first_pass;

static void read_and_emit(Arena *arena, const char *path) {
    Module *m = module_load(arena, path);
    PassContext passes = {.arena = arena, .start_from = first_pass, .stop_after = -1, .context = 64, .max_rows = 64};
    if (!passes_run(m, &passes)) return;
    Text source = {0}, header = {0};
    const Program *program = lower_module(arena, m, &(LowerOptions){0});
    emit_program(program, &source);
    emit_header(program, &header);
    text_free(&source);
    text_free(&header);
}

// A dump begins with a letter or a comment: infer comes first. A digit before it is another pass.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool chosen = size && *data >= '0' && *data <= '9';
    first_pass = chosen ? (*data - '0') % PASS_COUNT : PASS_infer;
    fuzz_import(data + chosen, size - chosen, read_and_emit);
    return 0;
}
