// --grammar, --json-schema, --json-object: a text or a file becomes a constraint.
#include <stdlib.h>
#include <string.h>

#include "grammar/constraint.h"
#include "harmless.h"
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

static burin_constraint *follow_schema(const burin_run *run) {
    const char *schema = run->command->json_schema, *name = "--json-object";
    char error[512], *text = NULL;
    size_t bytes = 0;
    if (schema) name = text_or_file("--json-schema", schema, schema[strspn(schema, " \t\r\n")] == '{', &text, &bytes);
    char *grammar = burin_schema_grammar(name, text, bytes, error, sizeof error);
    if (!grammar) burin_stop(BURIN_USER_MISTAKE, "%s", error);
    char as_grammar[160];
    burin_format(as_grammar, sizeof as_grammar, "%.100s, as a grammar", name);
    burin_constraint *constraint = follow_grammar(run, as_grammar, grammar, strlen(grammar));
    free(text), free(grammar);
    return constraint;
}

burin_constraint *burin_run_constraint(const burin_run *run) {
    const char *grammar = run->command->grammar;
    char *text;
    size_t bytes;
    if (run->command->json_schema || run->command->json_object) return follow_schema(run);
    if (!grammar) return NULL;
    const char *name = text_or_file("--grammar", grammar, strstr(grammar, "::=") != NULL, &text, &bytes);
    burin_constraint *constraint = follow_grammar(run, name, text, bytes);
    free(text);
    return constraint;
}
