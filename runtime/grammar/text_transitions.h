// Where a state goes by the characters of plain tokens, when it makes no difference between them.
#ifndef BURIN_PLAIN_STEPS_H
#define BURIN_PLAIN_STEPS_H
#include "grammar.h"
#include "vocabulary.h"

typedef enum burin_alphabet {
    BURIN_ASCII,       // plain characters
    BURIN_ANY,         // and those beyond ASCII
    BURIN_LETTERS,     // a to z
    BURIN_ANY_LETTER,  // and plain characters beyond ASCII
    BURIN_WORDS,       // letters and digits of ASCII
    BURIN_BEYOND,      // plain characters beyond ASCII
    BURIN_ALPHABETS,
} burin_alphabet;

typedef struct burin_text_transitions {
    int32_t *next[BURIN_ALPHABETS];  // [room]: by state; -1 where it is not known
    int32_t room;
} burin_text_transitions;

void burin_plain_forget(
    burin_text_transitions *);  // the states have other numbers now; also closes

// How many characters of an alphabet a state takes, whichever they are: at most
// BURIN_PLAIN_LONGEST, also when it takes more. -1: that depends on the characters.
int32_t burin_plain_reach(burin_text_transitions *, burin_recognizer *, int32_t state,
                          burin_alphabet);
#endif
