// libFuzzer target: the ONNX reader and importer. Mutations keep the tree of messages: a field deep
// inside changes, lengths follow.
#include "frontend/onnx.h"

#include "input.h"
#include "tests/tools/onnx_text.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import(Arena *arena, const char *path) {
    const OnnxDim dims[] = {{"N", 1, 1, NULL}, {"T", 1, 64, NULL}};
    Module *m = onnx_load(arena, path, &(OnnxOptions){.dims = dims, .n_dims = 2});
    if (!graph_verify(m->graphs[0], "import")) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, import);
    return 0;
}

// --------------------------------------------------------------------------------------- mutations
typedef struct Mutation {
    int leaf;  // the field that changes, counted over the whole tree; below 0: done
    int what;  // 0 to 4: its bytes change; 5: it goes; 6: it comes twice
} Mutation;

typedef struct Field {
    const uint8_t *start, *value, *end;
    uint64_t tag;
} Field;

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value) {
    *value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return true;
    }
    return false;
}

static bool take_field(const uint8_t **at, const uint8_t *end, Field *f) {
    uint64_t length;
    f->start = *at;
    if (!take_varint(at, end, &f->tag)) return false;
    f->value = *at;
    switch (f->tag & 7) {
        case 0:
            if (!take_varint(at, end, &length)) return false;
            break;
        case 2:
            if (!take_varint(at, end, &length) || length > (uint64_t)(end - *at)) return false;
            f->value = *at, *at += length;
            break;
        default:
            length = (f->tag & 7) == 1 ? 8 : 4;
            if (length > (uint64_t)(end - *at)) return false;
            *at += length;
    }
    f->end = *at;
    return true;
}

static void write_mutated(Text *out, const Field *f) {
    uint8_t bytes[4096];
    size_t n = (size_t)(f->end - f->value), kept = n < sizeof bytes / 2 ? n : sizeof bytes / 2;
    memcpy(bytes, f->value, kept);
    n = LLVMFuzzerMutate(bytes, kept, sizeof bytes);
    if ((f->tag & 7) == 2) {
        wire_bytes(out, (int)(f->tag >> 3), bytes, n);
    } else if ((f->tag & 7) == 0) {
        uint64_t value = 0;
        memcpy(&value, bytes, n < 8 ? n : 8);
        wire_int(out, (int)(f->tag >> 3), (int64_t)value);
    } else {
        wire_varint(out, f->tag);
        text_append(out, (const char *)bytes, (size_t)(f->end - f->value));
    }
}

static void mutate_message(Text *out, const uint8_t *at, const uint8_t *end,
                           const ProtobufCMessageDescriptor *d, Mutation *m) {
    Field f;
    while (at < end && take_field(&at, end, &f)) {
        const ProtobufCFieldDescriptor *field =
            d ? protobuf_c_message_descriptor_get_field(d, (unsigned)(f.tag >> 3)) : NULL;
        bool message = field && field->type == PROTOBUF_C_TYPE_MESSAGE && (f.tag & 7) == 2,
             chosen = m->leaf-- == 0;
        if (chosen && m->what == 5) continue;
        if (chosen && m->what == 6)
            text_append(out, (const char *)f.start, (size_t)(f.end - f.start));
        if (message && !(chosen && m->what < 5)) {
            Text inner = {0};
            mutate_message(&inner, f.value, f.end, field->descriptor, m);
            wire_message(out, (int)(f.tag >> 3), &inner);
        } else if (chosen && m->what < 5) {
            write_mutated(out, &f);
        } else {
            text_append(out, (const char *)f.start, (size_t)(f.end - f.start));
        }
    }
}

static int count_fields(const uint8_t *data, size_t size) {
    Text copy = {0};
    Mutation none = {.leaf = 1 << 30};
    mutate_message(&copy, data, data + size, &burin_onnx__model_file__descriptor, &none);
    text_free(&copy);
    return (1 << 30) - none.leaf;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    int fields = count_fields(data, size);
    if (!fields || seed % 16 == 0) return LLVMFuzzerMutate(data, size, most);
    Text out = {0};
    Mutation m = {.leaf = (int)(seed / 16 % (unsigned)fields), .what = (int)(seed / 7 % 7)};
    mutate_message(&out, data, data + size, &burin_onnx__model_file__descriptor, &m);
    size_t n = out.length < most ? out.length : most;
    if (n) memcpy(data, out.data, n);
    text_free(&out);
    return n;
}
