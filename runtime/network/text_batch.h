// Texts that an encoder reads together: they wait until a step is full, or until nothing more is
// near, and are answered in their order. The rows of a step are those of all its texts, one after
// the other; each has the bits that it has alone.
#ifndef BURIN_TEXT_BATCH_H
#define BURIN_TEXT_BATCH_H
#include "engine/forward.h"
#include "program/options.h"
#include "program/work_items.h"
#include "text/prompt.h"

typedef struct burin_batched {
    burin_work_item item;  // the line's bytes are the batch's own
    burin_tokens tokens;
    int32_t *types;  // of each token: of which text of a pair it is; NULL: of one text
    size_t second;   // where the second text begins in the line; 0: there is none
    int64_t number;  // as its caller counts
} burin_batched;

// A text's result: `n` f32 elements of the batch's output.
typedef struct burin_batch_result {
    const float *data;
    size_t n;
    int64_t columns;  // the last axis
} burin_batch_result;

typedef struct burin_text_batch {
    burin_session *session;
    int output;  // of the network
    void *context;
    void (*take)(void *context, const burin_batched *, const burin_batch_result *);
    burin_batched *list;  // n texts, at most `most`
    int n, most;
    int64_t rows, most_rows;
    int64_t texts, steps;     // so far
    int64_t keys, most_keys;  // rows, those of each text rounded up to whole blocks of its caches
} burin_text_batch;

// The number of texts by --batch-size, as far as they fit: 1 if the program takes no more.
void burin_text_batch_open(burin_text_batch *, const burin_command *);
// Takes the tokens and the types, copies the line. Runs those before it where it does not fit
// beside them.
void burin_text_batch_add(burin_text_batch *, const burin_batched *);
void burin_text_batch_run(burin_text_batch *);  // those that wait
void burin_text_batch_close(burin_text_batch *,
                            const burin_command *);  // -v: how many texts, in how many steps
#endif
