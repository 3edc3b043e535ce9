// Puts a text into every text field of a model's file that holds a word: keys and strings of JSON,
// names of tensors, metadata of GGUF, every string of ONNX, quoted text of an IR dump. usage:
// hostile IN OUT WORD TEXT     TEXT with the escapes of printf(1):
//  \033
//        hostile --list IN            the existing texts
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.pb-c.h"
#include "util/text.h"

static const char *word, *by;

static void list_text(const char *text, size_t n) {
    if (n && n < 200 && !memchr(text, '\n', n)) printf("%.*s\n", (int)n, text);
}

// The text with its words replaced; to be freed.
static Text replaced(const char *text, size_t n) {
    Text out = {0};
    text_add(&out, "%s", "");
    if (!word) list_text(text, n);
    for (size_t i = 0, m = word ? strlen(word) : 0; i < n;) {
        bool here = word && n - i >= m && !memcmp(text + i, word, m);
        text_append(&out, here ? by : text + i, here ? strlen(by) : 1);
        i += here ? m : 1;
    }
    return out;
}

// ----------------------------------------------------------------------------------------- formats
static json_t *json_replaced(const json_t *v) {
    const char *key;
    json_t *item, *out;
    if (json_is_string(v)) {
        Text t = replaced(json_string_value(v), json_string_length(v));
        out = json_string(t.data);
        text_free(&t);
        return out ? out : json_copy((json_t *)v);
    }
    if (json_is_array(v)) {
        out = json_array();
        for (size_t i = 0; i < json_array_size(v); i++)
            json_array_append_new(out, json_replaced(json_array_get(v, i)));
        return out;
    }
    if (!json_is_object(v)) return json_deep_copy(v);
    out = json_object();
    json_object_foreach((json_t *)v, key, item) {
        Text t = replaced(key, strlen(key));
        json_object_set_new(out, t.data, json_replaced(item));
        text_free(&t);
    }
    return out;
}

static void add_json(Text *out, const char *text, size_t n) {
    json_t *v = json_loadb(text, n, JSON_DECODE_ANY, NULL), *other = json_replaced(v);
    char *written = json_dumps(other, JSON_COMPACT | JSON_ENCODE_ANY);
    text_add(out, "%s", written);
    free(written);
    json_decref(v);
    json_decref(other);
}

static void add_safetensors(Text *out, const char *data, size_t n) {
    uint64_t length, old;
    Text header = {0};
    memcpy(&old, data, sizeof old);
    add_json(&header, data + 8, old);
    while (header.length % 8) text_append(&header, " ", 1);
    length = header.length;
    text_append(out, (char *)&length, sizeof length);
    text_append(out, header.data, header.length);
    text_append(out, data + 8 + old, n - 8 - old);
    text_free(&header);
}

typedef struct GgufReader {
    const char *at;
    Text *out;
} GgufReader;

static uint64_t copy_number(GgufReader *r, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, r->at, bytes);
    text_append(r->out, r->at, bytes);
    r->at += bytes;
    return v;
}

static void copy_string(GgufReader *r) {
    uint64_t n;
    memcpy(&n, r->at, sizeof n);
    Text t = replaced(r->at + 8, n);
    r->at += 8 + n;
    n = t.length;
    text_append(r->out, (char *)&n, sizeof n);
    text_append(r->out, t.data, t.length);
    text_free(&t);
}

static void copy_value(GgufReader *r, uint64_t type) {
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    enum { STRING = 8, ARRAY = 9 };
    if (type == STRING) {
        copy_string(r);
    } else if (type == ARRAY) {
        uint64_t of = copy_number(r, 4), n = copy_number(r, 8);
        for (uint64_t i = 0; i < n; i++) copy_value(r, of);
    } else {
        copy_number(r, bytes[type]);
    }
}

static void add_gguf(Text *out, const char *data, size_t n) {
    GgufReader r = {data, out};
    copy_number(&r, 8);
    uint64_t tensors = copy_number(&r, 8), values = copy_number(&r, 8);
    for (uint64_t i = 0; i < values; i++) {
        copy_string(&r);
        copy_value(&r, copy_number(&r, 4));
    }
    for (uint64_t i = 0; i < tensors; i++) {
        copy_string(&r);
        for (uint64_t rank = copy_number(&r, 4); rank; rank--) copy_number(&r, 8);
        copy_number(&r, 4);
        copy_number(&r, 8);
    }
    size_t from = ((size_t)(r.at - data) + 31) / 32 * 32;
    while (out->length % 32) text_append(out, "", 1);
    text_append(out, data + from, n - from);
}

static void replace_field(char **field) {
    Text t = replaced(*field, strlen(*field));
    *field = t.data;
}

// Every string of a message and its submessages, by protobuf-c's description of its fields.
static void replace_strings(ProtobufCMessage *m) {
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        char *at = (char *)m + f->offset;
        bool many = f->label == PROTOBUF_C_LABEL_REPEATED, text = f->type == PROTOBUF_C_TYPE_STRING;
        if (!text && f->type != PROTOBUF_C_TYPE_MESSAGE) continue;
        size_t n = many ? *(size_t *)((char *)m + f->quantifier_offset) : *(void **)at != NULL;
        void **items = many ? *(void ***)at : (void **)at;
        for (size_t j = 0; j < n; j++)
            if (text)
                replace_field((char **)&items[j]);
            else
                replace_strings(items[j]);
    }
}

static void add_onnx(Text *out, const char *data, size_t n) {
    BurinOnnx__ModelFile *m = burin_onnx__model_file__unpack(NULL, n, (const uint8_t *)data);
    if (!m) exit(2);
    replace_strings(&m->base);
    size_t bytes = burin_onnx__model_file__get_packed_size(m);
    uint8_t *packed = malloc(bytes + 1);
    burin_onnx__model_file__pack(m, packed);
    text_append(out, (char *)packed, bytes);
    free(packed);
}

// The head is JSON in a comment; quoted text may have \xNN.
static void add_ir(Text *out, const char *data, size_t n) {
    const char *end = data + n;
    if (!strncmp(data, "// {", 4)) {
        size_t line = strcspn(data, "\n");
        text_add(out, "// ");
        add_json(out, data + 3, line - 3);
        data += line;
    }
    while (data < end) {
        const char *close = *data == '"' ? memchr(data + 1, '"', (size_t)(end - data - 1)) : NULL;
        if (!close) {
            text_append(out, data++, 1);
            continue;
        }
        Text t = replaced(data + 1, (size_t)(close - data - 1));
        text_add(out, "\"");
        for (size_t i = 0; i < t.length; i++) {
            bool plain =
                t.data[i] > ' ' && t.data[i] < 0x7f && t.data[i] != '"' && t.data[i] != '\\';
            text_add(out, plain ? "%c" : "\\x%02x", plain ? t.data[i] : (unsigned char)t.data[i]);
        }
        text_add(out, "\"");
        text_free(&t);
        data = close + 1;
    }
}

// -------------------------------------------------------------------------------------------- main
static const struct {
    const char *end;
    void (*add)(Text *, const char *, size_t);
} formats[] = {{".json", add_json},
               {".safetensors", add_safetensors},
               {".gguf", add_gguf},
               {".onnx", add_onnx},
               {".ir", add_ir}};

static const char *unescaped(const char *text) {
    Text t = {0};
    for (; *text; text++) {
        char c = *text;
        if (c == '\\' && text[1] == 'n') {
            c = '\n';
            text++;
        } else if (c == '\\' && text[1] == '0') {
            c = (char)strtol((char[]){text[1], text[2], text[3], 0}, NULL, 8);
            text += 3;
        }
        text_append(&t, &c, 1);
    }
    return t.data;
}

int main(int argc, char **argv) {
    bool list = argc == 3 && !strcmp(argv[1], "--list");
    if (argc != 5 && !list) return 2;
    const char *in = list ? argv[2] : argv[1];
    if (!list) {
        word = argv[3];
        by = unescaped(argv[4]);
    }
    Text out = {0};
    size_t n;
    char *data = read_text_file(in, &n);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (text_ends_with(in, formats[i].end)) formats[i].add(&out, data, n);
    if (!list) write_file(argv[2], out.data, out.length);
    free(data);
    text_free(&out);
    return 0;
}
