// Chat templates: burin parses one into a tree of words (compiler/frontend/template), which is
// rendered in place. The language is Jinja as Hugging Face's transformers configures it:
// trim_blocks, lstrip_blocks, immutable, loop controls, tojson without escapes, raise_exception,
// strftime_now.
//
//     burin_rendering r = {.template_blob = blob, .json = messages, .json_bytes = n, .memory = memory, .memory_bytes = bytes};
//     if (!burin_render(&r)) puts(r.error);     // else r.text, r.marks, r.bytes: they point into the memory
//
// A rendering allocates nothing, keeps nothing, and ends: memory, steps and depth are bounded for
// any template and messages. A byte of the text is marked if it comes from the messages: special
// tokens in it are text (burin_encoding.marks).
#ifndef BURIN_TEMPLATE_H
#define BURIN_TEMPLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_rendering {
    const void *template_blob;
    const char *json;  // messages: a list, or an object with messages, tools, documents,
                       // add_generation_prompt, kwargs
    size_t json_bytes;
    const char *json_name;      // for messages about mistakes in it
    const char *template_name;  // file of the template, for messages; NULL: "the template"
    const char *bos, *eos;      // the texts of these tokens; NULL: the blob's own
    const char *now;            // "2025-07-05 14:03:09"; NULL: the clock's
    void *memory;               // aligned to 16
    size_t memory_bytes;        // BURIN_RENDER_BYTES(json_bytes) are enough for what people write
    bool as_given;         // messages stay as they are: parts are lists, arguments in text are text
                           // (template_messages.c)
    const char *text;      // the result, terminated
    const uint8_t *marks;  // [bytes], 1: from the messages
    size_t bytes;
    bool raised;  // the error is the template's own, in its own words
    char error[1024];
} burin_rendering;

#define BURIN_RENDER_BYTES(json_bytes) (((size_t)32 << 20) + 256 * (size_t)(json_bytes))

bool burin_render(burin_rendering *);
bool burin_template_is_whole(const void *blob, size_t bytes);  // does it look like one?

// The roles and texts of messages in JSON, a list or an object with one; the texts of parts are
// joined.
typedef struct burin_message_reader {
    void (*add)(void *context, const char *role, const char *text, size_t bytes);
    // a list of parts that are not all texts, as JSON; NULL: it is refused
    void (*add_parts)(void *context, const char *role, const char *json, size_t bytes);
    void *context, *memory;  // memory as for a rendering
    size_t memory_bytes;
} burin_message_reader;

// False: `error`, of `room` bytes, has the reason, also if some messages were added.
bool burin_read_messages(const burin_message_reader *, const char *name, const char *json,
                         size_t bytes, char *error, size_t room);

// ------------------------------------------------------------------------------ layout of the blob
// Words of 32 bits. A node is its op, its place (line << 12 | column), then its operands: words, of
// which some are the indices of other nodes (0: none). Strings are numbers of the table.
enum { BURIN_TEMPLATE_MAGIC = 0x4a545542, BURIN_TEMPLATE_VERSION = 2 };  // "BUTJ"

typedef struct burin_template {
    uint32_t magic, version, bytes;
    uint32_t root;      // the node of the whole template
    uint32_t bos, eos;  // numbers of the strings that are these tokens, and 1; 0: not defined
    uint32_t tokens, n_tokens;    // other special tokens: offset of pairs of strings, a variable's
                                  // name and its text
    uint32_t words, n_words;      // offset of the nodes from the blob's start
    uint32_t strings, n_strings;  // offset of pairs of words: offset from the blob's start, bytes
} burin_template;

// Operands: s a string, e an expression, t a target, b a body; n and then n times the bracket's
// contents.
typedef enum burin_template_op {
    BURIN_T_NONE,
    BURIN_T_TRUE,
    BURIN_T_FALSE,
    BURIN_T_INTEGER,    // low, high
    BURIN_T_FLOAT,      // low, high
    BURIN_T_STRING,     // s
    BURIN_T_NAME,       // s
    BURIN_T_LIST,       // n [e]
    BURIN_T_TUPLE,      // n [e]
    BURIN_T_DICT,       // n [e e]
    BURIN_T_ATTRIBUTE,  // e s
    BURIN_T_ITEM,       // e e
    BURIN_T_SLICE,      // e, first, end, step
    BURIN_T_CALL,       // e, positional n, named n, [e], [s e]
    BURIN_T_FILTER,     // s, e, positional n, named n, [e], [s e]
    BURIN_T_TEST,       // the same
    BURIN_T_NOT,        // e
    BURIN_T_NEGATIVE,   // e
    BURIN_T_POSITIVE,   // e
    BURIN_T_ADD,        // e e, as all up to OR
    BURIN_T_SUBTRACT,
    BURIN_T_MULTIPLY,
    BURIN_T_DIVIDE,
    BURIN_T_FLOOR_DIVIDE,
    BURIN_T_MODULO,
    BURIN_T_POWER,
    BURIN_T_AND,
    BURIN_T_OR,
    BURIN_T_CONCATENATE,  // n [e]
    BURIN_T_COMPARE,      // e, n [comparison e]
    BURIN_T_CHOOSE,       // condition, then, else
    BURIN_T_MACRO,        // s, b, burin_macro_use, n [s, default]
    BURIN_T_CAPTURE,      // b: its output, as a string
    BURIN_T_UNPACK,       // e: as an argument, all its items
    BURIN_T_BLOCK,        // n [statement]
    BURIN_T_TEXT,         // s
    BURIN_T_PRINT,        // e
    BURIN_T_IF,           // e, b, else
    BURIN_T_FOR,          // t, e, condition, b, else, recursive
    BURIN_T_SET,          // t e
    BURIN_T_WITH,         // b, n [t e]
    BURIN_T_BREAK,
    BURIN_T_CONTINUE,
    BURIN_T_TARGET,            // s
    BURIN_T_TARGET_TUPLE,      // n [t]
    BURIN_T_TARGET_ATTRIBUTE,  // s s
    BURIN_T_OPS
} burin_template_op;

// In place of an argument's name: the value is a dictionary of arguments with names.
enum { BURIN_T_UNPACKED = -1 };

// Names that a macro's body reads, and so its arguments beyond its parameters.
enum burin_macro_use { BURIN_T_VARARGS = 1, BURIN_T_KWARGS = 2, BURIN_T_CALLER = 4 };

typedef enum burin_comparison {
    BURIN_T_EQUAL,
    BURIN_T_UNEQUAL,
    BURIN_T_LESS,
    BURIN_T_LESS_OR_EQUAL,
    BURIN_T_GREATER,
    BURIN_T_GREATER_OR_EQUAL,
    BURIN_T_IN,
    BURIN_T_NOT_IN,
} burin_comparison;
#endif
