// A model with its memory: slots (one sequence each), their lengths, and the forward call over any
// mixture of rows.
//
// Everything lives in one block of memory given to burin_session_open; afterwards nothing
// allocates. A row continues its slot: its position is the slot's length. Rows come in any number
// (they are taken max_rows at a time) and from any slots.
#ifndef BURIN_FORWARD_H
#define BURIN_FORWARD_H
#include "profile.h"
#include "program.h"
#include "threads.h"

typedef struct burin_options {
    int32_t slots;     // sequences held at once; 0: 1
    int32_t max_rows;  // rows computed at once, at most burin_model.max_rows; 0: that many
    int32_t threads;   // 0: the physical cores that this process may use
    const char *cpu;   // one of the model's variants by name; NULL: the best that runs here
    const int64_t
        *symbols;  // of a network: the sizes of its largest run; NULL: those it was built for
    burin_pool
        *pool;  // another session's, of as many threads, when their calls take turns; NULL: its own
} burin_options;

// Status of a call. Existing numbers stay when others are added.
typedef enum burin_status {
    BURIN_OK = 0,
    BURIN_BAD_ABI = -1,      // the runtime and the emitted model differ in version
    BURIN_BAD_OPTION = -2,   // slots, max_rows or threads out of range
    BURIN_BAD_CPU = -3,      // the program carries no such CPU
    BURIN_CPU_TOO_OLD = -4,  // this machine lacks a feature of the code
    BURIN_BAD_ALIGNMENT = -5,
    BURIN_SMALL_MEMORY = -6,  // fewer bytes than burin_session_bytes
    BURIN_NO_THREADS = -7,    // the system refused a thread
    BURIN_BAD_TOKEN = -8,
    BURIN_BAD_SLOT = -9,
    BURIN_BAD_POSITION = -10,  // not the slot's length
    BURIN_CONTEXT_FULL = -11,
    BURIN_BAD_LENGTH = -12,     // truncating to more than there is
    BURIN_NO_LOGITS = -13,      // rows want logits and there is nowhere to put them
    BURIN_BAD_SHAPE = -14,      // a network's input has dimensions that it does not take
    BURIN_BAD_VALUE = -15,      // an integer of a network's input chooses nothing
    BURIN_NO_SOURCE = -16,      // an encoder-decoder's slot has read no source
    BURIN_TOO_MANY = -17,       // a network's loop gives more results than there is room for
    BURIN_BAD_ARGUMENT = -19,   // NULL where there must be something, or a number below 0
    BURIN_FORKED = -20,         // the session's threads are those of the process that forked
    BURIN_OTHER_MODEL = -21,    // a slot saved by another model
    BURIN_DAMAGED = -23,        // the weights or the tokenizer are not as they were built
    BURIN_BAD_SAVED = -22,      // not a saved slot, or a damaged one
    BURIN_LATE_PICTURE = -25,   // a picture beyond the positions that the model's windows allow
    BURIN_BEHIND_WINDOW = -24,  // truncating to where caches of a window no longer reach
} burin_status;

enum { BURIN_ALIGNMENT = 64 };

typedef struct burin_session {
    const burin_model *model;
    const burin_variant *variant;
    burin_step step;  // data shared by all calls
    int64_t process;  // that opened it
    int32_t slots;
    bool pool_is_shared;
    size_t scratch_bytes, memory_bytes;  // memory: all that burin_session_open was given
    int32_t *length,
        *next;          // [slots]: tokens in each; the same after the call that is being checked
    int32_t *reached;   // [slots]: the largest length since a slot was empty
    int32_t *recurred;  // [slots]: rows that the states of recurrences have read
    int32_t *token, *slot, *position, *logit_rows;  // [max_rows]
    int32_t *embedded;   // of a model with eyes: [max_rows] 1 where a row of a picture is
    float *embeddings;   // and [max_rows][width] these rows, or a vector of each row
    int32_t *last_seen;  // of a model with eyes: [max_rows]
    int32_t *axes;       // of a model with eyes->axes: [max_rows][3]
    int32_t *next_axis;  // [slots][context] the time of a token that follows this position
    int32_t *source_length,
        *source_last;  // of an encoder-decoder: [slots] rows its encoder left; [max_rows] the last
    burin_pool *pool;
} burin_session;

// The variant to run: by name, or the last that this machine supports. NULL with *status set when
// there is none.
BURIN_LINKAGE const burin_variant *burin_variant_find(const burin_model *, const char *cpu,
                                                      burin_status *status);

BURIN_LINKAGE size_t burin_session_bytes(const burin_model *,
                                         const burin_options *);  // 0: an option is out of range
BURIN_LINKAGE burin_status burin_session_open(burin_session **, const burin_model *,
                                              const burin_options *, void *memory, size_t bytes);
BURIN_LINKAGE burin_status
burin_session_check(const burin_session *);  // can it run in this process?
BURIN_LINKAGE void burin_session_run(
    burin_session *);  // the variant over session->step, on all threads
BURIN_LINKAGE void burin_session_close(
    burin_session *);  // ends its threads; the memory is the caller's

// Computes n rows. The logits of logit rows follow each other in `logits`:
// [logit_rows][vocab_size]. Nothing has changed if the status is not BURIN_OK.
BURIN_LINKAGE burin_status burin_forward(burin_session *, const burin_row *rows, int n,
                                         float *logits);

// The same of a model with eyes: where embeddings[i] has a vector, row i is a picture's. A head
// that guesses tokens (burin_model.row_vectors) needs a vector for each row. The states of the last
// max_rows rows are in step.row_states.
BURIN_LINKAGE burin_status burin_forward_embedded(burin_session *, const burin_row *rows,
                                                  const burin_embedding *embeddings, int n,
                                                  float *logits);

// How many of n rows, at most `most`, go into one step: a picture whose rows attend to each other
// is not divided. 0: it has more rows than that.
BURIN_LINKAGE int burin_rows_of_step(const burin_model *, const burin_embedding *, int n, int most);

BURIN_LINKAGE burin_status burin_slot_reset(burin_session *, int32_t slot);
BURIN_LINKAGE burin_status burin_slot_truncate(burin_session *, int32_t slot, int32_t length);
// Where a slot can be truncated to, for `length`, at most its own: that, or 0 where caches of a
// window no longer reach.
BURIN_LINKAGE int32_t burin_slot_holds(const burin_session *, int32_t slot, int32_t length);
// Recurrences have the state of a slot's newest row alone. These bytes of it (0: no recurrences)
// can be kept, and put back where the slot had this length: later rows are forgotten.
BURIN_LINKAGE size_t burin_recurrence_bytes(const burin_model *);
BURIN_LINKAGE void burin_recurrences_keep(const burin_session *, int32_t slot, void *kept);
BURIN_LINKAGE burin_status burin_recurrences_put_back(burin_session *, int32_t slot,
                                                      const void *kept, int32_t length);
BURIN_LINKAGE burin_status burin_slot_copy(burin_session *, int32_t to, int32_t from);
BURIN_LINKAGE size_t burin_state_blocks(const burin_state_part *, int32_t length,
                                        // bytes of this many rows
                                        int32_t source_length);
BURIN_LINKAGE int32_t burin_slot_length(const burin_session *, int32_t slot);  // -1: no such slot

BURIN_LINKAGE const char *burin_status_text(burin_status);
#endif
