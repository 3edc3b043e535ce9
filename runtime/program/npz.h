// .npz files: zip files of .npy members, as numpy.savez writes them.
#ifndef BURIN_NPZ_H
#define BURIN_NPZ_H
#include "program/npy.h"

// Calls `member` for each array of the file: its name without .npy, and the offset of the .npy in
// the file. Returns NULL, or why the file cannot be read.
// CRC-32 as zip and PNG have it: begins with ~0, its complement is the sum.
uint32_t burin_add_to_crc(uint32_t crc, const unsigned char *data, size_t n);

typedef void burin_npz_member(void *context, const char *name, int64_t offset);
const char *burin_npz_list(const char *path, burin_npz_member *member, void *context);

// Writes the arrays, uncompressed. Returns NULL, or why the file cannot be written; nothing of it
// is left then.
typedef struct burin_named_array {
    const char *name;
    const burin_array *array;
} burin_named_array;
const char *burin_npz_write(const burin_named_array *arrays, int n, const char *path);
#endif
