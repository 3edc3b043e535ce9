// --grammar: a text or a file becomes a constraint.
#include <stdlib.h>
#include <string.h>

#include "constraint.h"
#include "output.h"
#include "prompt.h"
#include "run.h"

// The value of an option that holds a text itself, or names a file with it. Returns what messages call it; the caller frees
// *text.
static const char *text_or_file(const char *option, const char *value, bool is_text, char **text, size_t *bytes) {
    if (!is_text) {
        *text = burin_read_file(value, bytes);
        return value;
    }
    *bytes = strlen(value);
    *text = burin_allocate(1, *bytes + 1);
    memcpy(*text, value, *bytes);
    return option;
}

static burin_constraint *follow_grammar(const burin_run *run, const char *name, const char *text, size_t bytes) {
    burin_grammar grammar;
    const void *tokenizer = burin_tokenizer_of(run->model);
    if (!burin_grammar_parse(&grammar, name, text, bytes)) burin_stop(BURIN_USER_MISTAKE, "%s", grammar.error);
    return burin_constraint_open(&grammar, tokenizer, run->model->vocab_size);
}

burin_constraint *burin_run_constraint(const burin_run *run) {
    const char *grammar = run->command->grammar;
    char *text;
    size_t bytes;
    if (!grammar) return NULL;
    const char *name = text_or_file("--grammar", grammar, strstr(grammar, "::=") != NULL, &text, &bytes);
    burin_constraint *constraint = follow_grammar(run, name, text, bytes);
    free(text);
    return constraint;
}
