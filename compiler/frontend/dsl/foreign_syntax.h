// Hints for who comes from another language, and notes of brackets that are still open.
#ifndef BURIN_FOREIGN_SYNTAX_H
#define BURIN_FOREIGN_SYNTAX_H
#include "frontend/dsl/ast.h"

// The equivalent of a word or character of another language; NULL: no such word.
const char *habit_of(const char *word, size_t length);
const char *habit_of_character(uint32_t code_point);

bool is_name_character(char);
uint32_t habit_code_point(const char *utf8);  // of the first character, which is whole

bool is_behind_slashes(const Source *,
                       uint32_t at);  // two slashes between the beginning of the line and the place

void bracket_open(Parser *, char kind);   // ( [ or {, the byte before p->offset
void bracket_close(Parser *, char kind);  // closes the innermost one, when that is its partner
void brackets_forget(Parser *);           // after an error: those inside of the innermost brace

// The constructs that could begin at a token.
enum {
    WANTS_DECLARATION = 1,
    WANTS_STATEMENT = 2,
    WANTS_EXPRESSION = 4,
    WANTS_EQUALS = 8,
    WANTS_ARROW = 16,
    WANTS_NAME = 32
};

typedef struct SyntaxError {
    Parser *p;
    uint32_t begin, end;  // of the token; equal at the end of the file
    unsigned wants;
} SyntaxError;

// "\nnote: ..." or "\nhint: ...", or "".
const char *syntax_advice(const SyntaxError *);
#endif
