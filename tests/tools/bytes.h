// Writes files byte by byte, and the parts of a GGUF: for tests that need a checkpoint of their
// own.
#ifndef BURIN_TEST_BYTES_H
#define BURIN_TEST_BYTES_H
#include <string.h>

#include "util/text.h"

static Text out;

static inline void u32(uint32_t x) { text_append(&out, (char *)&x, sizeof x); }
static inline void u64(uint64_t x) { text_append(&out, (char *)&x, sizeof x); }
static inline void f32(float x) { text_append(&out, (char *)&x, sizeof x); }
static inline void zeros(size_t n) {
    while (n--) text_append(&out, "", 1);
}
static inline void raw(const char *text) { text_append(&out, text, strlen(text)); }

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 };

static inline void string(const char *text) {
    u64(strlen(text));
    raw(text);
}

static inline void begin(uint32_t version, uint64_t tensors, uint64_t values) {
    raw("GGUF");
    u32(version);
    u64(tensors);
    u64(values);
}

static inline void key(const char *name, uint32_t type) {
    string(name);
    u32(type);
}

static inline void put_u32(const char *name, uint32_t value) {
    key(name, U32);
    u32(value);
}

static inline void put_string(const char *name, const char *value) {
    key(name, STRING);
    string(value);
}

typedef struct {
    const char *name;
    uint64_t rows, columns;
    uint32_t type;
    uint64_t offset;
} Described;

static inline void describe(Described t) {
    string(t.name);
    u32(2);
    u64(t.columns);
    u64(t.rows);
    u32(t.type);
    u64(t.offset);
}
#endif
