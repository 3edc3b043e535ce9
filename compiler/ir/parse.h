// Common declarations of the readers of graph text: a cursor with words, numbers and strings
// (parse_text.c), types, constants and attributes (parse_value.c), nodes and graphs (parse.c).
// Functions that return bool return false after a message; only the first mistake has one.
#ifndef BURIN_PARSE_H
#define BURIN_PARSE_H
#include "ir.h"
#include "ir/dump.h"
#include "ir/internal.h"

enum { MAX_LIST = 4096 };

typedef struct Parser {
    const Source *source;
    const char *at;
    Arena *scratch;
    Graph *graph;
    const ConstantFile *constants;
    Map sources;  // of locations, by file name
    bool failed;
    int depth;
} Parser;

// parse_text.c
Loc parse_here(const Parser *, size_t length);
size_t parse_token_length(const Parser *);  // of the token at the cursor, for the caret
bool parse_fail(Parser *, const char *format, ...) __attribute__((format(printf, 2, 3)));
void parse_skip(Parser *);  // blanks and comments
bool parse_peek(Parser *, const char *word);
bool parse_accept(Parser *, const char *word);
bool parse_expect(Parser *, const char *word);
const char *parse_word(Parser *, const char *what);  // letters, digits, "_" and ".", or NULL
const char *parse_string(Parser *);                  // or NULL
bool parse_int(Parser *, int64_t *);
bool parse_unsigned(Parser *, int base, uint64_t *);
bool parse_float(Parser *, double *);

// parse_value.c
const Dim *parse_dim(Parser *);  // or NULL
bool parse_type(Parser *, Type *);
bool parse_constant(Parser *, Node *);  // its attributes, its type and its value
bool parse_attrs(Parser *, Node *);

// parse.c
Graph *parse_graph(Parser *, Graph *outer);  // or NULL
#endif
