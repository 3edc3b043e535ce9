// A program's largest memory need: one total for a build's last line, --info and --max-ram.
#ifndef BURIN_MEMORY_NEEDS_H
#define BURIN_MEMORY_NEEDS_H
#include "build/build.h"

// Bytes, for one slot and one thread, rows and runs as large as they can be; a draft's included.
typedef struct MemoryNeeds {
    uint64_t weights;  // the image: weights, tokenizer, template
    uint64_t cache;    // KV caches
    uint64_t state;    // other state of a slot
    uint64_t work;     // arena and session
    uint64_t ram;      // what of these is in memory: without an operating system, weights are not
    uint64_t flash;    // 0: there is none
} MemoryNeeds;

MemoryNeeds memory_needs(const Build *);
// "185 MB: weights 93, KV cache 90 for 4096 positions, work 2"
const char *memory_needs_text(const Build *);
const char *megabytes_text(char out[32],
                           uint64_t bytes);  // two digits at least, without the unit: 0.42, 5.4, 93
#endif
