// Common declarations of the template parser.
#ifndef BURIN_TEMPLATE_PARSER_H
#define BURIN_TEMPLATE_PARSER_H
#include <setjmp.h>
#include <stdint.h>

#include "frontend/template.h"
#include "runtime/template/template_value.h"
#include "util/text.h"

typedef enum {
    TOKEN_TEXT,
    TOKEN_PRINT,      // {{
    TOKEN_PRINT_END,  // }}
    TOKEN_TAG,        // {%
    TOKEN_TAG_END,    // %}
    TOKEN_NAME,
    TOKEN_STRING,
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_OPERATOR,
    TOKEN_END,
} TokenKind;

typedef struct {
    TokenKind kind;
    Loc loc;
    const char *text;  // of a name, a string (its escapes read) or an operator
    size_t length;
    int64_t integer;
    double real;
} Token;

typedef struct Words {
    uint32_t *data;
    uint32_t n, capacity;
} Words;

typedef struct TemplateParser {
    Arena *arena;
    const Source *source;
    Token *tokens;
    int n_tokens, capacity, at;
    Words words, nodes;  // nodes in order; the offset of each
    uint32_t n_placed;   // nodes that have lines and columns, not offsets
    Words strings;       // offset and bytes, in pairs
    uint32_t *index;     // string number + 1 by hash
    uint32_t n_index;
    Text bytes;        // of strings
    Text scratch;      // of the string that is read
    Words warned;      // names of filters and tests that are unknown, by their strings
    int depth, loops;  // of the parsed text
    int scopes;        // bodies around that have variables of their own
    Words blocks;      // their names
    uint32_t *macro;   // burin_macro_use of the macro around; NULL: none
    const char *problem;
    Loc place;
    jmp_buf stop;
} TemplateParser;

// Ends the parsing: the template is not compiled.
_Noreturn void template_fatal(TemplateParser *, Loc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void template_lex(TemplateParser *);  // source -> tokens

// ---- tokens ----
static inline const Token *token_now(const TemplateParser *p) { return &p->tokens[p->at]; }
bool token_is(const Token *, TokenKind, const char *text);
bool at_operator(const TemplateParser *, const char *text);
bool at_name(const TemplateParser *, const char *text);
bool take_operator(TemplateParser *, const char *text);
bool take_name(TemplateParser *, const char *text);
void expect_operator(TemplateParser *, const char *text);
Token expect_name(TemplateParser *);
_Noreturn void token_unexpected(TemplateParser *, const char *expected);

// ---- write.c ----
void words_add(TemplateParser *, Words *, uint32_t);
uint32_t string_number(TemplateParser *, const char *text, size_t length);
// A node of these operands, from operands kept in a Words of its own; returns its index.
uint32_t node_add(TemplateParser *, uint32_t op, Loc, const uint32_t *operands, uint32_t n);
#define NODE(p, op, loc, ...)                             \
    node_add(p, op, loc, (const uint32_t[]){__VA_ARGS__}, \
             sizeof(const uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))
void template_place_nodes(
    TemplateParser *);  // lines and columns in the source for all nodes that have none yet
void template_write(TemplateParser *, uint32_t root, const TemplateText *, CompiledTemplate *);

// ---- expressions.c ----
uint32_t parse_expression(TemplateParser *);
uint32_t parse_or(TemplateParser *);  // without `a if b else c`
uint32_t parse_list(TemplateParser *, uint32_t (*item)(TemplateParser *));  // a, b is a tuple
uint32_t parse_filters(TemplateParser *, uint32_t value);                   // | name(...) | ...
uint32_t parse_first_filter(TemplateParser *, uint32_t value);  // of a filter block: without its |
uint32_t parse_call(TemplateParser *, uint32_t callee,
                    uint32_t caller);  // (...); caller: of a call block, or 0
uint32_t parse_primary(TemplateParser *);
void parse_enter(TemplateParser *);  // `depth--` leaves
void template_check_builtin(TemplateParser *, const Token *name,
                            bool filter);  // warns of names that no renderer knows

// ---- statements.c ----
uint32_t parse_template(TemplateParser *);
#endif
