// A regular expression, parsed (pattern.c), before it becomes instructions (pattern_program.c).
#ifndef BURIN_TOKENIZER_PATTERN_H
#define BURIN_TOKENIZER_PATTERN_H
#include "frontend/tokenizer/compile.h"

typedef enum {
    PATTERN_SET,
    PATTERN_SEQUENCE,
    PATTERN_CHOICE,
    PATTERN_REPEAT,  // its child min to max times
    PATTERN_ATOMIC,  // its child, never given back
    PATTERN_LOOK,
    PATTERN_BEHIND,
    PATTERN_START,
    PATTERN_END,
    PATTERN_BOUNDARY,  // negative: none
} PatternKind;

typedef struct Pattern {
    PatternKind kind;
    uint16_t set, min, max, stride;  // a set: number of characters at a time
    bool possessive, lazy, negative;
    struct Pattern *first, *next;  // children; the next of the same parent
} Pattern;

Pattern *pattern_parse(TokenizerBuilder *, const char *regex);
burin_section pattern_program(TokenizerBuilder *, const char *regex, const Pattern *);
#endif
