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

const char *gguf_key_of(const GgufReading *, const char *end);  // the architecture's name in front
double gguf_config_number(const GgufReading *, const char *field);  // 0 where there is none
void gguf_set_default(json_t *config, const char *field,
                      json_t *value);  // takes the value; fields that are there stay
int64_t gguf_head_dim(const GgufReading *);
void gguf_set_heads(const GgufReading *);
#endif
