// The mapping of a GGUF's names to Hugging Face's: the files of dsl/gguf, one for each architecture
// (dsl/README.md explains them).
#ifndef BURIN_GGUF_TABLE_H
#define BURIN_GGUF_TABLE_H
#include "util/arena.h"
#include "util/diag.h"

typedef struct GgufPair {
    const char *gguf, *name;
    const char *needs;  // a tensor that must be there; or NULL
} GgufPair;

typedef struct GgufPairs {
    GgufPair *items;
    int n;
} GgufPairs;

typedef enum {
    GGUF_ROTARY = 1,    // rows of queries and keys are stored in interleaved rotary order
    GGUF_NORMS = 2,     // 1 was added to norms that Hugging Face's formula adds it to
    GGUF_MATRICES = 4,  // GPT-2's matrices are stored transposed
    // rows of queries, keys and values are separate, not interleaved by head
    GGUF_GROUPS = 8,
    GGUF_QUERY_SCALE = 16,  // what Gemma divides scores by is left out
    GGUF_SCORE_SCALE = 32,  // what Granite multiplies scores by is left out where it is the usual
    GGUF_STRETCH = 64,      // the file's YaRN factor is mscale_all_dim, with mscale 1
    GGUF_STRETCH_TENTH = 128,    // a tenth of it
    GGUF_STRETCHES_TENTH = 256,  // a tenth of both
    GGUF_FULL_FIRST = 512,       // the first layer of each period sees all tokens, not the last
    GGUF_EMBEDDING_NORM = 1024   // 1 was added to the norm of a picture's rows
} GgufChanges;

typedef struct GgufTable {
    GgufPairs models;  // model_type and class of transformers; `needs` is a field of the
                       // configuration that must be there
    // names without ".weight" and ".bias"; N is a layer's number, E an expert's, Q is q, k, v
    GgufPairs tensors;
    // metadata keys after the architecture's name, and fields of config.json
    GgufPairs needed, further;
    GgufPairs each;      // the same, as lists with a number for each layer
    GgufPairs flags;     // tensors, and the fields that say whether they are there
    GgufPairs rows;      // tensors, and the fields that say how many rows these have
    GgufPairs fixed;     // fields, and their values as JSON
    GgufPairs defaults;  // the same of fields that no key gave
    GgufPairs
        choices;     // keys of a number from 1 on, fields, and in `needs` the words that it counts
    GgufPairs only;  // keys of a number, and the one that is computed
    // whole keys with a number for each layer, and the tensors that hold it; suffix "[1]": of rank
    // 1
    GgufPairs lists;
    unsigned changes;  // GgufChanges
} GgufTable;

// The table of general.architecture, or of clip.projector_type, from `folder`. NULL when there is
// none, with the names that are known in *known. Ends the run at a line that is no part of a table.
const GgufTable *gguf_table(Arena *, const char *folder, const char *architecture,
                            const char **known);

struct Gguf;
// gguf/unsupported.c: ends the run where metadata or tensors say a formula that the table knows
// nothing of
void gguf_check_unread(const struct Gguf *, const GgufTable *, const char *architecture);
// gguf/unsupported.c: the word selected by a metadata number; NULL without one. Ends the run at a
// number beyond the words.
const char *gguf_choice(const struct Gguf *, const char *key, const char *words);
// gguf/names.c: a tensor's name in Hugging Face's words; itself where the table has no pair for it
const char *gguf_name_of(const struct Gguf *, const GgufTable *, const char *name);
// "blk.3.attn_q" of `length` bytes with "blk.N.attn_q": true, and 3.
bool gguf_matches(const char *pattern, const char *name, size_t length, unsigned *layer);
// "model.layers.N.self_attn.q_proj" of layer 3 followed by `end`; a name that ends in "=" is
// complete.
const char *gguf_with_layer(Arena *, const char *pattern, unsigned layer, const char *end);
// ".ffn_up.weight" of "blk.0.ffn_up.weight"; NULL of a tensor that is no layer's
const char *gguf_layer_of(const char *name, unsigned *layer);
#endif
