// The C interface of a library, made of runtime/library/library.h and runtime/library/library.c, or
// of library_network.h and library_network.c for a network: all are C with NAME as the model's
// name.
#ifndef BURIN_OUTPUT_LIBRARY_H
#define BURIN_OUTPUT_LIBRARY_H
#include <stdbool.h>
#include <stdint.h>

#include "engine/card.h"
#include "engine/program.h"
#include "util/text.h"

// The model's constants in the header: NAME_VOCAB_SIZE and so on.
typedef struct LibraryFacts {
    const char *identity;  // 16 hex digits
    bool network;
    bool texts;                // a shared library's chat templates, forms of answers, labels
    const burin_card *card;    // of a network of texts; NULL: none
    const burin_network *net;  // of a network: for the header's example; NULL: without one
    int32_t vocab_size, context, max_rows;
    const char *numbers;  // Build.numbers
    const char *shared;   // the file name of a shared library, for the Python package
    uint64_t weight_bytes, slot_bytes, row_bytes, arena_bytes, arena_lower_bound;
} LibraryFacts;

// `name` is a C identifier. Append to NAME.h, and to NAME_api.c, which includes it; `home` has the
// folder runtime/.
void library_header(const char *home, const char *name, const LibraryFacts *, Text *out);
void library_source(const char *home, const char *name, const LibraryFacts *, Text *out);
// NAME/__init__.py, beside NAME.so.
void library_python(const char *home, const char *name, const LibraryFacts *, Text *out);
#endif
