// libFuzzer target: chat templates, compiled and rendered over messages; what stands behind a zero byte are the messages.
#include "frontend/template.h"

#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char MESSAGES[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"<b>\"}, {\"role\": \"user\", \"content\": \"caf\\u00e9 1\"}, "
    "{\"role\": \"assistant\", "
    "\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"n\": 1.5}], \"tools\": [{\"function\": {\"name\": \"f\"}}], "
    "\"kwargs\": {\"x\": [1, 2]}}";

static void use(Arena *arena, const char *path) {
    TemplateText text;
    if (!template_find(arena, path, &text)) return;
    const char *zero = memchr(text.source->text, 0, text.source->size);
    size_t template_bytes = zero ? (size_t)(zero - text.source->text) : text.source->size;
    TemplateText first = {.source = template_source(arena, "fuzz", text.source->text, template_bytes)};
    CompiledTemplate t = template_compile(arena, &first);
    if (!t.blob || !burin_template_is_whole(t.blob, t.bytes)) return;
    burin_rendering r = {.template_blob = t.blob, .json = MESSAGES, .json_bytes = sizeof MESSAGES - 1, .json_name = "messages"};
    if (zero) r.json = zero + 1, r.json_bytes = text.source->size - template_bytes - 1;
    r.now = "2025-07-05 14:03:09", r.bos = "<s>", r.eos = "</s>";
    r.memory_bytes = 1 << 20, r.memory = arena_alloc(arena, r.memory_bytes);
    if (burin_render(&r) && (strlen(r.text) > r.bytes || r.text[r.bytes])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, use);
    return 0;
}
