// The wire format of ONNX files. protobuf-c copies every `bytes` field and recurses as deep as the
// file nests; so the file is first rewritten into a small message: each field is checked against
// the schema's own descriptors (generated from onnx.proto), nesting is limited, fields that the
// schema does not know are dropped, and raw_data becomes an offset in the file. Only the small
// message is unpacked.
#include "frontend/onnx/file/wire.h"

#include <string.h>

#include "util/text.h"

enum {
    MAX_DEPTH = 200,           // messages inside each other: a graph in a graph takes three
    MAX_REWRITTEN = 1u << 30,  // structure only: tensors stay in the file
    RAW_DATA_FIELD = 9,
    GROUP_START = 3,
    GROUP_END = 4,
};

typedef enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } WireType;

// The message being read, and the ones around it: for the path in errors.
typedef struct Frame {
    const struct Frame *outer;
    const ProtobufCMessageDescriptor *message;
    const ProtobufCFieldDescriptor *field;  // the one being read
    const unsigned char *end;
    Text *written;  // the rewritten message
    int depth;
} Frame;

typedef struct Walk {
    Arena *arena;
    const MappedFile *file;
    const unsigned char *at;
} Walk;

static void path_print(Text *t, const Frame *f) {
    if (!f) return;
    path_print(t, f->outer);
    if (f->field) text_add(t, "%s%s", t->length ? "." : "", f->field->name);
}

static void forget_written(const Frame *f) {
    for (; f; f = f->outer) text_free(f->written);
}

static _Noreturn void damaged(const Walk *w, const Frame *f, const char *what) {
    Text path = {0};
    text_append(&path, "", 0);
    path_print(&path, f);
    const char *where = arena_printf(w->arena, "%s%s", path.length ? ", in " : "", path.data);
    text_free(&path);
    forget_written(f);
    file_fatal(w->file,
               "damaged ONNX file: %s at byte %zu%s\nhint: an ONNX model is one protobuf message "
               "(ModelProto): fetch or export"
               " it again",
               what, (size_t)(w->at - w->file->data), where);
}

static uint64_t read_varint(Walk *w, const Frame *f) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at == f->end) damaged(w, f, "a number is cut off");
        unsigned char byte = *w->at++;
        if (shift == 63 && byte > 1) break;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    damaged(w, f, "a number has more than 64 bits");
}

static void write_varint(Text *out, uint64_t value) {
    char bytes[10];
    size_t n = 0;
    for (; value >= 128; value >>= 7) bytes[n++] = (char)(value | 128);
    bytes[n++] = (char)value;
    text_append(out, bytes, n);
}

static WireType wire_type_of(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
        case PROTOBUF_C_TYPE_FLOAT:
            return WIRE_32;
        case PROTOBUF_C_TYPE_DOUBLE:
            return WIRE_64;
        case PROTOBUF_C_TYPE_STRING:
        case PROTOBUF_C_TYPE_BYTES:
        case PROTOBUF_C_TYPE_MESSAGE:
            return WIRE_BYTES;
        default:
            return WIRE_VARINT;
    }
}

static const unsigned char *take(Walk *w, const Frame *f, uint64_t bytes) {
    if (bytes > (uint64_t)(f->end - w->at))
        damaged(w, f, "the file ends early, or a length is wrong");
    const unsigned char *start = w->at;
    w->at += bytes;
    return start;
}

// A field that the schema does not know: newer files may have them.
static void skip_field(Walk *w, const Frame *f, unsigned wire) {
    switch (wire) {
        case WIRE_VARINT:
            read_varint(w, f);
            return;
        case WIRE_64:
            take(w, f, 8);
            return;
        case WIRE_32:
            take(w, f, 4);
            return;
        case WIRE_BYTES:
            take(w, f, read_varint(w, f));
            return;
        case GROUP_START:
        case GROUP_END:
            damaged(w, f, "a group (not used by ONNX)");
        default:
            damaged(w, f, "an unknown kind of field");
    }
}

// Names are printed in messages, dumps and comments of the emitted code. Only documentation has
// lines.
static void check_text(const Walk *w, const Frame *f, const char *text, size_t length) {
    bool free_form = !strcmp(f->field->name, "doc_string") || !strcmp(f->field->name, "value");
    for (size_t i = 0; i < length; i++)
        if (!text[i] || (!free_form && ((unsigned char)text[i] < ' ' || text[i] == 127)))
            damaged(w, f, "a name with control characters");
}

static void rewrite_message(Walk *, Frame *);

static void rewrite_bytes(Walk *w, Frame *f) {
    Text *out = f->written;
    uint64_t length = read_varint(w, f);
    const unsigned char *bytes = w->at;
    if (length > (uint64_t)(f->end - w->at))
        damaged(w, f, "the file ends early, or a length is wrong");
    if (f->field->type == PROTOBUF_C_TYPE_MESSAGE) {
        Text inner = {0};
        Frame next = {.outer = f,
                      .message = f->field->descriptor,
                      .end = bytes + length,
                      .written = &inner,
                      .depth = f->depth + 1};
        rewrite_message(w, &next);
        write_varint(out, inner.length);
        text_append(out, inner.length ? inner.data : "", inner.length);
        text_free(&inner);
    } else if (f->message == &burin_onnx__tensor_data__descriptor &&
               f->field->id == RAW_DATA_FIELD) {
        WirePlace place = {(uint64_t)(bytes - w->file->data), length};
        write_varint(out, sizeof place);
        text_append(out, (const char *)&place, sizeof place);
        w->at += length;
    } else {
        write_varint(out, length);
        const char *text = (const char *)take(w, f, length);
        if (f->field->type == PROTOBUF_C_TYPE_STRING) check_text(w, f, text, length);
        text_append(out, text, length);
    }
    if (out->length > MAX_REWRITTEN)
        damaged(w, f, "more than 1 GB of structure (tensors belong in raw_data or external data)");
}

static void rewrite_field(Walk *w, Frame *f, unsigned wire) {
    Text *out = f->written;
    const ProtobufCFieldDescriptor *field = f->field;
    WireType expected = wire_type_of(field);
    bool packed =
        wire == WIRE_BYTES && expected != WIRE_BYTES && field->label == PROTOBUF_C_LABEL_REPEATED;
    if (wire != expected && !packed)
        damaged(w, f,
                arena_printf(w->arena, "wire type %u where the schema has %u", wire,
                             (unsigned)expected));
    write_varint(out, (uint64_t)field->id << 3 | wire);
    if (wire == WIRE_VARINT)
        write_varint(out, read_varint(w, f));
    else if (wire == WIRE_BYTES)
        rewrite_bytes(w, f);
    else
        text_append(out, (const char *)take(w, f, wire == WIRE_64 ? 8 : 4),
                    wire == WIRE_64 ? 8 : 4);
}

static void rewrite_message(Walk *w, Frame *f) {
    if (f->depth > MAX_DEPTH) {
        forget_written(f);
        file_fatal(w->file,
                   "messages are nested more than %d deep (byte %zu)\nhint: no exporter nests "
                   "loops and branches this deep:"
                   " the file is damaged",
                   MAX_DEPTH, (size_t)(w->at - w->file->data));
    }
    while (w->at < f->end) {
        f->field = NULL;
        uint64_t tag = read_varint(w, f);
        if (tag >> 3 == 0 || tag >> 32) damaged(w, f, "an impossible field number");
        f->field = protobuf_c_message_descriptor_get_field(f->message, (unsigned)(tag >> 3));
        if (f->field)
            rewrite_field(w, f, tag & 7);
        else
            skip_field(w, f, tag & 7);
    }
}

static void *arena_allocate(void *arena, size_t bytes) { return arena_alloc(arena, bytes); }
static void arena_keep(void *arena, void *pointer) { (void)arena, (void)pointer; }

ProtobufCAllocator wire_allocator(Arena *arena) {
    return (ProtobufCAllocator){arena_allocate, arena_keep, arena};
}

BurinOnnx__ModelFile *wire_unpack(Arena *arena, const MappedFile *file) {
    Walk w = {.arena = arena, .file = file, .at = file->data};
    Text message = {0};
    Frame top = {.message = &burin_onnx__model_file__descriptor,
                 .end = file->data + file->size,
                 .written = &message};
    rewrite_message(&w, &top);
    ProtobufCAllocator allocator = wire_allocator(arena);
    BurinOnnx__ModelFile *model =
        burin_onnx__model_file__unpack(&allocator, message.length, (const uint8_t *)message.data);
    text_free(&message);
    if (!model)
        file_fatal(file,
                   "damaged ONNX file: its fields do not unpack\nhint: fetch or export it again");
    return model;
}
