// The form of an answer: a grammar, followed token by token. A token is allowed if the grammar
// accepts all of its bytes.
#ifndef BURIN_CONSTRAINT_H
#define BURIN_CONSTRAINT_H
#include "grammar.h"

typedef struct burin_constraint burin_constraint;

// NULL: the grammar, which is freed, refers to a token that the tokenizer does not have; its
// `error` names it. Of a parsed grammar, which it then owns, over the tokens of a tokenizer (ids
// below vocab_size). `marks`: the grammar sees special tokens that stand in one of these as their
// text, though nothing is printed of them; ends with NULL; or NULL.
burin_constraint *burin_constraint_open(burin_grammar *, const void *tokenizer, int32_t vocab_size,
                                        const char *const *marks);
// Copies the text of a special token among the marks into text, of BURIN_LONGEST_MARK bytes;
// returns its length, or 0.
enum { BURIN_LONGEST_MARK = 64 };
size_t burin_mark_text(const void *tokenizer, int32_t id, const char *const *marks, char *text);
void burin_constraint_close(burin_constraint *);  // also NULL

// of an answer; first: nothing precedes it
void burin_constraint_start(burin_constraint *, bool first);
bool burin_constraint_allows(burin_constraint *, int32_t token);
bool burin_constraint_may_end(const burin_constraint *);
bool burin_constraint_must_end(const burin_constraint *);
// Splits the bytes that the grammar forces next into the longest tokens. A guess: a text may have
// the same bytes in shorter tokens. Returns the number of tokens.
int32_t burin_constraint_forced(burin_constraint *, int32_t *tokens, int32_t most);
void burin_constraint_take(burin_constraint *, int32_t token);  // one that it allows
// Sets the logits [vocab_size] of forbidden tokens to minus infinity. Returns the number of allowed
// tokens.
int32_t burin_constraint_mask(burin_constraint *, float *logits);
bool burin_constraint_overflowed(const burin_constraint *);
const char *burin_constraint_overflow_text(
    burin_constraint *);  // which limit was passed; until it is closed
#endif
