// How a GGUF's names become Hugging Face's: the table `gguf` of a description (dsl/std/gguf.burin says what stands in it).
#ifndef BURIN_GGUF_TABLE_H
#define BURIN_GGUF_TABLE_H
#include "util/arena.h"

typedef struct GgufPair {
    const char *gguf, *name;
    const char *needs;  // a tensor that must be there; or NULL
} GgufPair;

typedef struct GgufPairs {
    GgufPair *items;
    int n;
} GgufPairs;

typedef enum {
    GGUF_ROTARY = 1,       // rows of queries and keys are stored in interleaved rotary order
    GGUF_NORMS = 2,        // 1 was added to norms that Hugging Face's formula adds it to
    GGUF_MATRICES = 4,     // GPT-2's matrices are stored transposed
    GGUF_GROUPS = 8,       // rows of queries, keys and values stand apart, and not head by head
    GGUF_QUERY_SCALE = 16  // what Gemma divides scores by is left out
} GgufChanges;

typedef struct GgufTable {
    const char *model_type, *class_name;
    GgufPairs tensors, needed, further, flags;
    unsigned changes;
} GgufTable;

// The table of general.architecture, from the descriptions in `library`/models; NULL when none has it, with the names that are
// known in *known.
const GgufTable *gguf_table(Arena *, const char *library, const char *architecture, const char **known);
#endif
