// libFuzzer target: tokenizers by their content (tokenizer.json, tokenizer.bin, a GGUF's vocabulary), compiled, then used by
// the runtime on a text of several scripts, and back.
#include "frontend/tokenizer.h"

#include "input.h"
#include "runtime/tokenizer/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char TEXT[] = " A caf\u00e9, 12 na\u00efve <s>\n\t \u4e2d\u6587 \u1e9b\u0323 \u0130 don't \xff\xc0 [MASK]  ";

static void use(Arena *arena, const char *path) {
    const void *blob = tokenizer_load(arena, path, 0)->blob;
    int32_t ids[64];
    burin_encoding e = {.text = TEXT, .bytes = sizeof TEXT - 1, .special = true, .ids = ids, .capacity = 64};
    e.memory = arena_alloc(arena, burin_encode_memory(blob, e.bytes));
    size_t n = burin_encode(blob, &e);
    burin_decoder d = {0};
    char *bytes = arena_alloc(arena, burin_decode_max(blob));
    for (size_t i = 0; i < n && i < 64; i++)
        if (burin_decode(blob, &d, ids[i], bytes) > burin_decode_max(blob)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, use);
    return 0;
}
