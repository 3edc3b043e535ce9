// A GGUF on its way to a checkpoint: gguf.c and gguf/heads.c fill its configuration.
#ifndef BURIN_GGUF_READING_H
#define BURIN_GGUF_READING_H
#include "frontend/checkpoint.h"
#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/gguf/table.h"

typedef struct GgufReading {
    Checkpoint *checkpoint;
    const Gguf *gguf;
    const char *name;  // general.architecture
    const GgufTable *table;
    json_t *config;
} GgufReading;

// gguf/gguf.c. "attn_config.clip_qkv" is a field of an object.
void gguf_set_field(const GgufReading *, const char *name, json_t *value);
void gguf_note_key(const GgufReading *, const char *field, const char *key);  // for messages
void gguf_set_fixed(const GgufReading *);  // the table's lines `set`
void gguf_set_class(const GgufReading *);  // model_type and architectures
void gguf_add_tensor(const GgufReading *, const GgufTensor *stored);  // by the table's names
const char *gguf_key_of(const GgufReading *, const char *end);  // the architecture's name in front
double gguf_config_number(const GgufReading *, const char *field);  // 0 where there is none
void gguf_set_default(json_t *config, const char *field,
                      json_t *value);  // takes the value; fields that are there stay
int64_t gguf_head_dim(const GgufReading *);
void gguf_set_heads(const GgufReading *);
#endif
