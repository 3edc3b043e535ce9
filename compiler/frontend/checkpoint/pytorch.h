// Files of torch.save: a ZIP archive (zip.c) of numbers, and a pickle with the names, types and
// shapes of the tensors (pickle.c, pytorch.c).
#ifndef BURIN_CHECKPOINT_PYTORCH_H
#define BURIN_CHECKPOINT_PYTORCH_H
#include "frontend/checkpoint/reader.h"

typedef struct ZipEntry {
    const unsigned char *data;
    uint64_t size;
} ZipEntry;

typedef struct Zip {
    Arena *arena;
    const MappedFile *file;
    Map entries;  // ZipEntry by name, without the archive's folder
} Zip;

Zip *zip_open(Arena *, const MappedFile *);
const ZipEntry *zip_find(const Zip *, const char *name);  // NULL: there is none

// A value of a pickle: nothing else can come of one.
typedef enum {
    PICKLE_NONE,
    PICKLE_INT,  // also true and false
    PICKLE_FLOAT,
    PICKLE_TEXT,
    PICKLE_TUPLE,  // also a list
    PICKLE_DICT,
    PICKLE_NAME,  // of a class or a function of Python, which is never called
    PICKLE_STORAGE,
    PICKLE_TENSOR,
    PICKLE_MARK
} PickleKind;

typedef struct PickleValue PickleValue;
struct PickleValue {
    PickleKind kind;
    int64_t number;
    const char *text;  // PICKLE_NAME: "torch.FloatStorage"; PICKLE_STORAGE: its key
    PickleValue *
        *items;  // of a dict: keys and values in turn; of a tensor: storage, offset, size, stride
    int n_items, room;
    bool is_list;
};

// Reads the pickle by a small machine that knows numbers, texts, tuples, lists, dicts and tensors:
// every other instruction, class or call ends the run, naming it. Time and memory grow with `size`.
PickleValue *pickle_read(Arena *, const MappedFile *, const unsigned char *, uint64_t size);
#endif
