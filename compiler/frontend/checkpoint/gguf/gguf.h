// GGUF as a container: metadata by key, tensors by name. gguf.c and the tokenizer interpret the
// keys.
//
//   "GGUF", version, number of tensors, number of metadata; key, type, value ...; name, dimensions, type, offset ...; data
#ifndef BURIN_GGUF_H
#define BURIN_GGUF_H
#include <jansson.h>

#include "frontend/checkpoint/mapped_file.h"
#include "util/map.h"

typedef enum {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPES
} GgufType;

typedef struct GgufValue {
    const char *key;
    GgufType type;  // of the value, or of an array's elements
    bool is_array;
    uint64_t n;                 // elements; 1 when it is no array
    const unsigned char *data;  // the first element, as stored
} GgufValue;

enum { GGUF_TENSOR_F32 = 0, GGUF_TENSOR_F16 = 1, GGUF_TENSOR_BF16 = 30, GGUF_TENSOR_NVFP4 = 40 };

typedef struct GgufTensor {
    const char *name;
    int rank;
    uint64_t dims[8];  // in the file's order: the fastest first
    uint32_t type;
    uint64_t offset;          // from the start of the data
    const struct Gguf *part;  // the file that holds it
} GgufTensor;

typedef struct Gguf {
    Arena *arena;
    const MappedFile *file;
    Map values;   // key -> GgufValue
    Map by_name;  // its tensors, those of the other parts included
    GgufTensor *tensors;
    uint64_t n_tensors, data;  // data: where the tensors start in the file
} Gguf;

typedef struct GgufString {
    const char *bytes;  // not terminated
    uint64_t length;
} GgufString;

Gguf *gguf_parse(Arena *, const MappedFile *);  // one file alone
// gguf/parts.c: with the tensors of its other parts, when it is the first of several. Ends the run
// when one is missing.
Gguf *gguf_open(Arena *, const MappedFile *);
void gguf_index(Gguf *,
                // adds it to the tensors of gguf_tensor; ends the run on a duplicate name
                const GgufTensor *);
bool gguf_is_later_part(const char *name);                      // NAME-00002-of-00003.gguf
const GgufValue *gguf_find(const Gguf *, const char *key);      // NULL when absent
const GgufTensor *gguf_tensor(const Gguf *, const char *name);  // the same for metadata
// False when the key is absent; a value of another type ends the run.
bool gguf_int(const Gguf *, const char *key, int64_t *);
bool gguf_float(const Gguf *, const char *key,
                double *);  // f32 values become the shortest decimal that gives the same f32
bool gguf_string(const Gguf *, const char *key, const char **);
bool gguf_bool(const Gguf *, const char *key, bool *);
// Copies of arrays; *n is 0 when the key is absent.
const GgufString *gguf_strings(const Gguf *, const char *key, uint64_t *n);
const float *gguf_floats(const Gguf *, const char *key, uint64_t *n);
const int32_t *gguf_ints(const Gguf *, const char *key, uint64_t *n);
const char *gguf_type_name(uint32_t tensor_type);  // "Q4_K"; NULL when unknown

// gguf/text.c, for listings.
uint64_t gguf_type_bytes(uint32_t tensor_type, uint64_t values);  // 0 of a type that is not known
const char *gguf_value_text(Arena *, const GgufValue *,
                            uint64_t most);  // of an array, the first `most` elements

// gguf/rotary.c: rope_scaling of config.json for heads with this many pairs; NULL without scaling.
// `changes` are those of the architecture's table.
json_t *gguf_rotary_scaling(const Gguf *, const char *architecture, int64_t pairs,
                            unsigned changes);
bool gguf_is_rotary_table(const GgufTensor *);

// gguf/layers.c: a number for each layer, 0 for layers that have none: the one of all others. False
// where these differ.
bool gguf_number_of_layers(const Gguf *, const char *key, int64_t *number);
// Which layers have a window, as config.json's layer_types: of truths, or where every n-th layer
// has none.
json_t *gguf_kinds_of_layers(const Gguf *, const char *architecture, const GgufValue *,
                             bool full_first);

// gguf/nvfp4.c: the factor of a tensor's values, one for each expert
const float *gguf_nvfp4_factors(const Gguf *, const GgufTensor *weight);
bool gguf_is_nvfp4_part(
    const Gguf *, const GgufTensor *);  // factors of weights or activations, beside such a tensor
uint64_t gguf_nvfp4_stored_bytes(uint64_t presented_bytes);  // of the same blocks in the file

json_t *gguf_labels(
    const Gguf *,
    const char *architecture);  // gguf/labels.c: id2label of config.json; NULL without a classifier
json_t *gguf_end_tokens(const Gguf *);  // gguf/eos.c: a list of at most 8 ids
bool gguf_token_id(const Gguf *, const char *key,
                   int64_t *);            // false: there is none, or it is beyond the vocabulary
void gguf_check_token_ids(const Gguf *);  // warns of unused ids beyond the vocabulary
bool gguf_is_control_text(const GgufString *);  // a control token, regardless of its type
// An encoder of images, as publishers name it: mmproj-NAME.gguf, NAME-mmproj-f16.gguf
bool gguf_is_beside_model(const char *name);
// Ends the run where the file is an adapter, an encoder of images, or a vocabulary alone.
void gguf_check_kind(const Gguf *);
#endif
