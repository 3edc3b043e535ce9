// --grammar, --json-schema, --json-object: a text or a file becomes a constraint.
#include "text/answer_form.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "grammar/constraint.h"
#include "grammar/tools.h"
#include "program/output.h"
#include "text/prompt.h"
#include "text/run.h"

// The value of an option that holds a text itself, or names a file with it. Returns what messages
// call it; the caller frees *text.
static const char *text_or_file(const char *option, const char *value, bool is_text, char **text,
                                size_t *bytes) {
    if (!is_text) {
        *text = burin_read_file(value, bytes);
        return value;
    }
    *bytes = strlen(value);
    *text = burin_allocate(1, *bytes + 1);
    memcpy(*text, value, *bytes);
    return option;
}

static burin_constraint *follow_grammar(const burin_run *run, const char *name, const char *text,
                                        size_t bytes, const char *const *marks) {
    burin_grammar grammar;
    const void *tokenizer = burin_tokenizer_of(run->model);
    if (!burin_grammar_parse(&grammar, name, text, bytes))
        burin_stop(BURIN_USER_MISTAKE, "%s", grammar.error);
    burin_constraint *constraint =
        burin_constraint_open(&grammar, tokenizer, run->model->vocab_size, marks);
    if (!constraint) burin_stop(BURIN_USER_MISTAKE, "%s: %s", name, grammar.error);
    return constraint;
}

static burin_constraint *follow_schema(const burin_run *run) {
    const char *schema = run->command->json_schema, *name = "--json-object";
    char error[512], *text = NULL;
    size_t bytes = 0;
    if (schema)
        name = text_or_file("--json-schema", schema, schema[strspn(schema, " \t\r\n")] == '{',
                            &text, &bytes);
    char *grammar = burin_schema_grammar(name, text, bytes, error, sizeof error);
    if (!grammar) burin_stop(BURIN_USER_MISTAKE, "%s", error);
    char as_grammar[160];
    burin_format(as_grammar, sizeof as_grammar, "%.100s, as a grammar", name);
    burin_constraint *constraint = follow_grammar(run, as_grammar, grammar, strlen(grammar), NULL);
    free(text), free(grammar);
    return constraint;
}

burin_constraint *burin_run_constraint(const burin_run *run) {
    const char *grammar = run->command->grammar;
    char *text;
    size_t bytes;
    if (run->command->json_schema || run->command->json_object) return follow_schema(run);
    if (!grammar) return NULL;
    bool rules = strstr(grammar, "::=") != NULL;
    if (!rules && strpbrk(grammar, "=\"|") && access(grammar, F_OK))
        burin_stop(BURIN_USER_MISTAKE,
                   "--grammar %.60s: this is no file and no grammar\nhint: rules are NAME ::= "
                   "\"text\" | NAME ...",
                   grammar);
    const char *name = text_or_file("--grammar", grammar, rules, &text, &bytes);
    burin_constraint *constraint = follow_grammar(run, name, text, bytes, NULL);
    free(text);
    return constraint;
}

burin_constraint *burin_tools_constraint(const burin_run *run, const burin_tools_text *text,
                                         burin_tool_format *format) {
    const burin_model *m = run->model;
    const char *choice = run->command->tool_choice;
    char error[512];
    bool must = choice && !strcmp(choice, "required");
    if (choice && !must && strcmp(choice, "auto") && strcmp(choice, "none"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--tool-choice %.60s: expected auto, none or required",
                   choice);
    if (choice && !strcmp(choice, "none")) return NULL;
    burin_tool_format_open(format, m->weights() + m->template_offset, m->template_bytes);
    char *grammar = burin_tools_grammar(
        format, text, must ? BURIN_CALLS_REQUIRED : BURIN_CALLS_ALLOWED, error, sizeof error);
    if (!grammar && *error)
        burin_stop(BURIN_USER_MISTAKE, "%s\nhint: --tool-choice none holds answers to nothing",
                   error);
    if (!grammar && must)
        burin_stop(BURIN_USER_MISTAKE, "--tool-choice required: %s",
                   format->form ? "the messages have no tools"
                                : "burin does not know the calls of this model's template");
    if (!grammar) return NULL;
    if (*format->missed)
        burin_note("answers are not held to all of the tools' schemas: %s", format->missed);
    burin_grammar parsed;
    bool good = burin_grammar_parse(&parsed, "tools, as a grammar", grammar, strlen(grammar));
    free(grammar);
    if (!good && must) burin_stop(BURIN_USER_MISTAKE, "%s", parsed.error);
    if (!good) burin_note("answers are not held to the tools' schemas: %s", parsed.error);
    return good
               ? burin_constraint_open(&parsed, burin_tokenizer_of(m), m->vocab_size, format->marks)
               : NULL;
}
