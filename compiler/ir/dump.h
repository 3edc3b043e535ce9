// Dumps of modules that are valid inputs: DIR/NN-pass.ir in the text form, and DIR/constants, the
// data of every constant that is too large for the text, found by the hash of its bytes.
//
// The file of constants is shared by all dumps of a folder and only ever grows: each constant is
// written once, straight from where it is mapped, however many dumps name it. A model's dumps
// therefore cost its size once. The format: "burinCST", then for each constant its hash, its length
// (both 64 bits, little-endian), and the bytes, padded to 16.
#ifndef BURIN_IR_DUMP_H
#define BURIN_IR_DUMP_H
#include "ir.h"

typedef struct ConstantFile ConstantFile;

ConstantFile *constants_open(Arena *,
                             const char *path);  // to read: mapped as long as the process lives
const void *constants_find(const ConstantFile *, uint64_t hash,
                           uint64_t bytes);  // NULL when absent; ends the run when altered
void constants_close(ConstantFile *);

// Writes DIR/<number>-<name>.ir and new constants to DIR/constants. The first dump of a run
// (*constants NULL) creates the folder.
void module_dump(const Module *, const char *dir, int number, const char *name,
                 ConstantFile **constants);
// Writes one file, and the constants too large for it to `constants` in the same folder, which is
// created or replaced.
void module_save(const Module *, const char *path);
// Reads a dump back: graphs, tokenizer and configuration. Ends the run with a message when
// something is wrong.
Module *module_load(Arena *, const char *path);
#endif
