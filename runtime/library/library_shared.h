// Common declarations of the C interfaces of decoders (library.h) and of networks
// (library_network.h), pasted into both.

// It links with libm, libpthread and the compiler's own library (names that begin with __). Of
// other libraries it needs functions of memory, strings and rounding alone,
//     bcmp mem* str* snprintf floor* fpclassify*
// and where there is an operating system these, of which NAME_init maps stacks and starts threads:
//     clock_gettime close getauxval getpid mmap mprotect munmap open pthread_* raise read sched_* sigfillset syscall sysconf
// and on Windows, of mingw-w64 (-lpthread -lsynchronization, where the library is a .a),
//     WaitOnAddress WakeByAddressAll

typedef struct NAME_state {
    void *session;  // in the memory given to NAME_init
} NAME_state;

// Return values of the functions: 0, or one of these. Existing numbers stay when others are added.
enum {
    NAME_BAD_ABI = -1,
    NAME_BAD_OPTION = -2,
    NAME_BAD_CPU = -3,
    NAME_CPU_TOO_OLD = -4,
    NAME_BAD_ALIGNMENT = -5,
    NAME_SMALL_MEMORY = -6,
    NAME_NO_THREADS = -7,
    NAME_BAD_TOKEN = -8,
    NAME_BAD_SLOT = -9,
    NAME_BAD_POSITION = -10,
    NAME_CONTEXT_FULL = -11,
    NAME_BAD_LENGTH = -12,
    NAME_NO_LOGITS = -13,
    NAME_BAD_SHAPE = -14,  // dimensions that a network does not take, or that contradict each other
    NAME_BAD_VALUE = -15,  // an integer outside of its input's least and most
    NAME_NO_SOURCE = -16,  // of an encoder-decoder: the slot has read none
    NAME_TOO_MANY = -17,   // of a network: a loop gives more results than there is room for
    NAME_BAD_SOURCE =
        -18,  // a source that the encoder does not take, or a model without an encoder
    NAME_BAD_ARGUMENT = -19,   // NULL where there must be something, or a number below 0
    NAME_FORKED = -20,         // the state's threads are those of the process that forked
    NAME_OTHER_MODEL = -21,    // a slot saved by another model
    NAME_BAD_SAVED = -22,      // not a saved slot, or a damaged one
    NAME_DAMAGED = -23,        // the weights or the tokenizer are not as they were built
    NAME_BEHIND_WINDOW = -24,  // truncating to where caches of layers with a window no longer
                               // reach: reset the slot instead
    NAME_NOT_OPEN = -100,      // the state was not opened by NAME_init
    NAME_BAD_TEXT = -101,      // messages, a grammar or a schema that cannot be used
    NAME_TEXT_ENDS = -102,     // no error: the answer is whole
};
const char *NAME_error_text(int status);

size_t NAME_state_bytes(const NAME_options *);  // 0: an option is out of range. NULL: the defaults
int NAME_init(NAME_state *, const NAME_options *, void *memory,
              size_t bytes);  // alignment and size are checked
void NAME_close(NAME_state *);

// The ids of a text if there is a tokenizer (for a sentence encoder its input_ids); otherwise -1.
// Writes at most `capacity` ids and returns their number; `memory` holds NAME_encode_memory(bytes)
// bytes, aligned to 16. NAME_encode adds the tokens around a text ([CLS] ... [SEP], a first token),
// and cuts a text beyond a sentence encoder's limit, as its program does; NAME_encode_part does
// neither: for text that continues.
size_t NAME_encode_memory(size_t text_bytes);
int64_t NAME_encode(const char *text, size_t bytes, int32_t *ids, size_t capacity, void *memory);
int64_t NAME_encode_part(const char *text, size_t bytes, int32_t *ids, size_t capacity,
                         void *memory);
// As NAME_encode_part, of a text in which special tokens are text where marks[byte] is 1; marks
// NULL: nowhere.
int64_t NAME_encode_marked(const char *text, const uint8_t *marks, size_t bytes, int32_t *ids,
                           size_t capacity, void *memory);
int32_t NAME_token(
    const char *text,
    size_t bytes);  // the id of exactly this token, as in "<|im_end|>"; -1: there is none

// A description of the library.
int NAME_abi_version(void);       // NAME_ABI_VERSION of the header it was built with
const char *NAME_identity(void);  // 16 hex digits over architecture, weights and options
const char *NAME_cpu(const NAME_state *);
int NAME_verify(void);  // reads all weights: NAME_DAMAGED when they are not as built. NAME_init
                        // does where it takes no time
