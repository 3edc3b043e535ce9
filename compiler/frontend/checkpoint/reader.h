// Shared by the readers of this folder, one file a format; checkpoint.c opens, recognises and
// finds.
#ifndef BURIN_CHECKPOINT_READER_H
#define BURIN_CHECKPOINT_READER_H
#include "frontend/checkpoint.h"
#include "frontend/checkpoint/mapped_file.h"
#include "util/json.h"

typedef struct LoraMerge LoraMerge;

// A tensor as the checkpoint presents it. The tensor comes first: Checkpoint.by_name and .tensors
// point at it.
typedef struct StoredTensor {
    Tensor tensor;
    const MappedFile *file;
    // above 0: rows are stored in interleaved rotary order (pairs 2i, 2i + 1), in this many heads
    int rotary_heads;
    int query_heads,
        groups;  // above 0: rows of all queries, all keys, all values, instead of group by group
    bool minus_one;            // 1 is added to every element
    const char *name_in_file;  // where it is another; NULL: its own
    bool transposed;           // stored as [dim 1, dim 0]
    const float
        *factor;  // not NULL: blocks of GGUF's NVFP4, and what their values are multiplied with
    const struct QuantizedMatrix *quantized;  // not NULL: what its values are made of
    LoraMerge *merges;  // what adapters add, in their order; NULL: nothing, or it is there already
    bool hidden;        // a part of a quantized matrix
    bool presented;     // tensor.data is what checkpoint_find promises
} StoredTensor;

// The same configuration in the words of transformers 4: without rope_parameters (5) and
// text_config_dict (of before 4.26).
const json_t *config_as_now(Arena *, const json_t *config);

void safetensors_read(Checkpoint *, const MappedFile *);
void safetensors_read_shards(Checkpoint *, const char *first, int count);
void safetensors_read_index(Checkpoint *, const char *index_path);
// Of the weight, as elements or blocks of the dtype that the checkpoint presents
void quantized_values(const struct QuantizedMatrix *, DType, unsigned char *out);
void pytorch_read(Checkpoint *, const MappedFile *);
void gguf_read(Checkpoint *, const MappedFile *);
void gguf_nvfp4_present(Arena *, StoredTensor *);  // its data as blocks of format nvfp4
void llama2c_read(Checkpoint *, const MappedFile *);
bool llama2c_recognise(const MappedFile *);

// Adds a copy of the tensor; refuses a name that is there already. tensor.data points into the
// file.
StoredTensor *checkpoint_add(Checkpoint *, const MappedFile *, const Tensor *);
void checkpoint_rename(Checkpoint *, StoredTensor *, const char *name);
void checkpoint_list_again(Checkpoint *);     // without those that are hidden
void checkpoint_take_text(Checkpoint *);      // of a model of texts and images the text model alone
void checkpoint_take_rest(Checkpoint *);      // of the same all but the text model
void checkpoint_split_experts(Checkpoint *);  // tensors of all experts of a layer as one for each
const char *checkpoint_older_name(const Checkpoint *,
                                  const char *name);  // itself, where nothing changed it
void checkpoint_take_newer_names(
    Checkpoint *);  // of transformers 5, as those of the published files
// Refuses tensors of one file that share bytes, naming both; those before `first` were checked.
void checkpoint_check_overlaps(const Checkpoint *, int first);
// Of a folder: the file of its weights (NULL: none that is read), the one file with a suffix, the
// first of shards without index.
const char *folder_weights(Arena *, const char *folder);
const char *folder_only_file(Arena *, const char *folder, const char *suffix);
const char *folder_first_shard(Arena *, const char *folder, int *count);
_Noreturn void folder_refuse(Arena *, const char *folder);  // which has no weights: says what it is
// A file of the checkpoint's folder; NULL when it is not there. Ends the run when it holds no
// object.
const json_t *checkpoint_object(const Checkpoint *, const char *file, const Source **);
// Ends the run where a block's scale is no finite number.
void tensor_check_blocks(const MappedFile *, const Tensor *, const char *name_in_file);
// Sets dimensions and bytes; refuses zero dimensions and counts that no file can hold.
void tensor_set_shape(const MappedFile *, Tensor *, int rank, const uint64_t *dims);
#endif
