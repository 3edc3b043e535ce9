// Grammars of answers in llama.cpp's notation (GBNF). A grammar is parsed to nodes over bytes, in
// which a rule calls others; a matcher follows all readings of a text at once, each a node and a
// stack of the places to return to. Equal sets of readings are one state, found once and
// remembered: most bytes cost one look into a table.
//
//     burin_grammar g;
//     if (!burin_grammar_parse(&g, "name", text, bytes)) puts(g.error);
//     burin_recognizer *m = burin_recognizer_open(&g);
//     int32_t state = burin_recognizer_start(m);
//     for (size_t i = 0; i < n && state; i++) state = burin_recognizer_step(m, state, bytes[i]);      // 0: not possible
//     bool whole = burin_recognizer_accepts(m, state);
//
// Both end for every grammar: nodes, nesting and readings are bounded.
#ifndef BURIN_GRAMMAR_H
#define BURIN_GRAMMAR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum burin_grammar_op {
    BURIN_G_BYTE,    // one of low to high, then `next`
    BURIN_G_SPLIT,   // `next` or `other`
    BURIN_G_CALL,    // the rule `other`, then `next`
    BURIN_G_RETURN,  // the end of a rule
} burin_grammar_op;

typedef struct burin_grammar_node {
    uint8_t op, low, high;
    int32_t next, other;  // other: of a BYTE that begins a character, the class it belongs to
} burin_grammar_node;

// Sets of characters: plain ones (vocabulary.h), in UTF-8.
typedef enum burin_plain_part {
    BURIN_PART_ASCII = 1,
    BURIN_PART_WORD = 2,     // letters and digits of ASCII
    BURIN_PART_LETTERS = 4,  // a to z
    BURIN_PART_WIDE = 8,     // beyond ASCII
} burin_plain_part;

// A class of characters at one position: the state after each, sets of which it takes all, or none.
typedef struct burin_grammar_class {
    int32_t next;
    uint8_t all, none;
} burin_grammar_class;

enum {
    BURIN_GRAMMAR_NODES = 1 << 20,  // at most: about 24 MB
    BURIN_GRAMMAR_RULES = 1 << 14,
    BURIN_GRAMMAR_NESTING = 200,       // parentheses
    BURIN_GRAMMAR_HEIGHT = 1000,       // items in each other: parentheses and repetitions
    BURIN_GRAMMAR_STEPS = 1 << 25,     // of reading a grammar; of one token of a text
    BURIN_GRAMMAR_READINGS = 1 << 13,  // of one text, at once
};

// <[123]>, <think>: a token by its id or its text. In nodes it is three bytes that no text has:
// BURIN_REFERENCE for the token, BURIN_NO_REFERENCE for any other one, then the number of the
// reference.
enum {
    BURIN_NO_REFERENCE = 0xfe,
    BURIN_REFERENCE = 0xff,
    BURIN_MOST_REFERENCES = 1 << 10,
    BURIN_LONGEST_REFERENCE = 100
};
typedef struct burin_token_reference {
    char text[BURIN_LONGEST_REFERENCE];  // with its brackets; "": by the id
    int32_t id;                          // -1: not found yet
} burin_token_reference;

static inline uint8_t burin_reference_byte(int32_t reference, int place) {
    return (uint8_t)(0x80 + (place ? reference % 64 : reference / 64));
}

typedef struct burin_grammar {
    burin_grammar_node *nodes;
    int32_t n_nodes;
    burin_grammar_class *classes;  // number 1 and on; 0 is none
    int32_t n_classes;
    int32_t *entries;  // the first node of each rule
    int32_t n_rules, root;
    burin_token_reference *references;
    int32_t n_references;
    char error[512];
} burin_grammar;

// False: `error` has the location and the expected text, after `name`.
bool burin_grammar_parse(burin_grammar *, const char *name, const char *text, size_t bytes);
void burin_grammar_free(burin_grammar *);
// Finds the ids of the tokens that the grammar refers to; false: `error` names one that the
// tokenizer does not have.
bool burin_grammar_find_tokens(burin_grammar *, const void *tokenizer, int32_t vocab_size);

typedef struct burin_recognizer burin_recognizer;
burin_recognizer *burin_recognizer_open(const burin_grammar *);
void burin_recognizer_close(burin_recognizer *);
int32_t burin_recognizer_start(burin_recognizer *);  // a state; 0 is none
// 0: no text continues this way
int32_t burin_recognizer_step(burin_recognizer *, int32_t state, uint8_t byte);
// The state after any character of some sets, if it is the same for all. -1: it depends on the
// characters.
int32_t burin_recognizer_step_parts(burin_recognizer *, int32_t state, uint8_t parts);
int32_t burin_recognizer_join(burin_recognizer *, int32_t a,
                              int32_t b);  // the state of all readings of both
bool burin_recognizer_accepts(const burin_recognizer *, int32_t state);  // is the text whole?
bool burin_recognizer_goes_on(const burin_recognizer *, int32_t state);  // may there be more?
// Returns the only possible next byte; -1: there are several, or the text may end here.
int burin_recognizer_only_byte(const burin_recognizer *, int32_t state);
bool burin_recognizer_overflowed(
    const burin_recognizer *);                         // a step had too many readings, and gave 0
void burin_recognizer_new_budget(burin_recognizer *);  // steps are counted from here on
void burin_recognizer_overflow_text(const burin_recognizer *, char *out,
                                    size_t room);  // which limit was passed
// The steps that are known, until the next one that is not: [state][class of a byte], -1 where it
// is not.
const int32_t *burin_recognizer_steps(const burin_recognizer *, const uint8_t **class_of,
                                      int32_t *n_classes);
int32_t burin_recognizer_tidy(
    burin_recognizer *,
    int32_t state);  // forgets other states, when there are many; the state's new number
// The grammar of the JSON documents that a schema describes, as text, which the caller frees;
// `schema` NULL: of any object. NULL: `error`, of `room` bytes, names the place.
char *burin_schema_grammar(const char *name, const char *schema, size_t bytes, char *error,
                           size_t room);
#endif
