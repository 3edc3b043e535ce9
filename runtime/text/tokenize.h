// Texts to ids and ids to texts, printed: `burin tokenize`, and --tokenize of a program.
#ifndef BURIN_TOKENIZE_H
#define BURIN_TOKENIZE_H
#include <stdbool.h>
#include <stddef.h>

#include "engine/program.h"

typedef struct burin_tokenizing {
    const void *tokenizer;
    const burin_model *model;  // NULL, or whose prompts these are: they may begin with its BOS
    bool pieces, json;
    const char *text, *file;  // a text; NULL: the lines of a file ("-" is standard input), each as
                              // soon as it is there
    const char *decode;       // "1,2,3": ids instead
} burin_tokenizing;

void burin_print_tokens(const burin_tokenizing *);
#endif
