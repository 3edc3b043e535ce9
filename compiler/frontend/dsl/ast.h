// The syntax tree of a description, as dsl/parse.y builds it and elaborate.c reads it.
//
// One struct serves every kind; the comments say which fields a kind uses. `list` heads a chain
// linked by `next`.
#ifndef BURIN_DSL_AST_H
#define BURIN_DSL_AST_H
#include "util/arena.h"
#include "util/diag.h"

typedef enum {
    // Declarations
    AST_MODEL,       // name; list: AST_TEXT, the architectures that config.json may name
    AST_IMPORT,      // name: of a file of std, or text with quotes: a path
    AST_CONFIG,      // name, perhaps dotted; a: default or NULL
    AST_ALIAS,       // name, which config.json may say for the parameter a (AST_NAME)
    AST_DEFINITION,  // name = a
    AST_BLOCK,       // name; list: AST_PARAMETER; results: AST_RESULT; body: statements
    AST_GRAPH,       // the same for blocks
    AST_PARAMETER,   // name; a: AST_TYPE or NULL; b: default or NULL
    AST_RESULT,      // name or NULL; a: AST_TYPE
    AST_TYPE,        // name of an element type or NULL; list: dimensions; number is 1 when it has
                     // brackets
    // Statements
    AST_ASSIGN,  // list: AST_PARAMETER without defaults; a: value
    AST_FOR,     // name in a; b: scope or NULL; body
    AST_IF,      // a: condition; body; other: statements of the else branch
    AST_AT,      // b: scope; body
    AST_RETURN,  // list: values
    AST_FAIL,    // a: message
    AST_IGNORE,  // list: AST_FIELD
    // Expressions
    AST_NAME,    // name
    AST_INT,     // integer
    AST_FLOAT,   // number
    AST_TEXT,    // name: the bytes
    AST_STRING,  // list: AST_TEXT and expressions, to be joined
    AST_TRUE,
    AST_FALSE,
    AST_NULL,
    AST_REST,      // .. in a shape or an index
    AST_LIST,      // list: elements
    AST_RECORD,    // list: AST_ARGUMENT, all with names
    AST_EACH,      // [a for name in b]
    AST_CALL,      // name; list: AST_ARGUMENT; b: scope or NULL
    AST_ARGUMENT,  // name or NULL; a: value
    AST_FIELD,     // a.name
    AST_INDEX,     // a; list: expressions, AST_RANGE, AST_REST
    AST_RANGE,     // a:b, each may be NULL
    AST_CHOOSE,    // a ? b : c
    AST_NEG,
    AST_NOT,
    AST_TRANSPOSE,  // a
    AST_ADD,
    AST_SUB,
    AST_MUL,
    AST_DIV,
    AST_FLOORDIV,
    AST_MOD,
    AST_MATMUL,
    AST_POWER,  // a, b
    AST_EQ,
    AST_NE,
    AST_LT,
    AST_LE,
    AST_GT,
    AST_GE,
    AST_IN,
    AST_AND,
    AST_OR,
    AST_COALESCE,
} AstKind;

typedef struct Ast {
    AstKind kind;
    Loc loc;
    int depth;  // of the deepest expression below: bounds the recursion of whoever walks the tree
    const char *name;
    int64_t integer;
    double number;
    struct Ast *a, *b, *c, *list, *results, *body, *other, *next;
} Ast;

enum { MAX_AST_DEPTH = 400 };

// A chain under construction: bison's left recursion appends.
typedef struct AstList {
    Ast *first, *last;
} AstList;

typedef struct OpenBracket {
    char kind;
    uint32_t offset;
} OpenBracket;

enum { MAX_OPEN = 64 };  // brackets whose places are known

typedef struct Parser {
    Arena *arena;
    const Source *source;
    AstList declarations;
    int errors;
    bool too_deep;  // reported once
    bool lost;  // after a syntax error: declarations may be statements of a body that the parser
                // left
    // Of the scanner
    uint32_t offset;
    bool line_may_end;  // the last token can end a statement
    int parentheses;    // open ones: newlines inside are blanks
    int strings, interpolations;
    OpenBracket open[MAX_OPEN];
    int n_open;
    uint32_t unmatched;   // offset + 1 of the last ) ] or } that closes nothing
    OpenBracket suspect;  // closed by a } further left: its own may be missing
    uint32_t unfinished;  // offset + 1 where a string without end was reported
} Parser;

// Parses a whole file. The declarations are in p->declarations; false after p->errors errors were
// reported.
bool dsl_parse_file(Parser *p, Arena *, const Source *);

Ast *ast_new(Parser *, AstKind, uint32_t begin, uint32_t end);
Ast *ast_children(Parser *, Ast *, Ast *a, Ast *b, Ast *c);  // sets them, and the depth
Ast *ast_with_list(Parser *, Ast *, AstList);
AstList ast_append(AstList, Ast *);
int ast_count(const Ast *list);
void dsl_syntax_error(Parser *, uint32_t begin, uint32_t end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#endif
