// The form of an answer: response_format, a grammar, and calls of tools. Each becomes a grammar's
// text; every choice of the request gets its own matcher.
#include <stdlib.h>
#include <string.h>

#include "grammar/constraint.h"
#include "server/server.h"

burin_value burin_body_json(burin_request *q, burin_value v) {
    const burin_json_style style = {
        .indent = burin_none(), .between = BURIN_LITERAL(", "), .behind_key = BURIN_LITERAL(": ")};
    return burin_json_text(&q->r, v, &style);
}

burin_constraint *burin_form_open(const burin_request *q) {
    burin_grammar grammar;
    if (!q->grammar || !burin_grammar_parse(&grammar, "grammar", q->grammar, strlen(q->grammar)))
        return NULL;
    return burin_constraint_open(&grammar, q->server->tokenizer, q->server->model->vocab_size,
                                 q->has_tools ? q->tools.marks : NULL);
}

// The grammar is parsed once before the request is queued, so that its mistakes are the client's.
static void check_grammar(burin_request *q, const char *field, bool required) {
    burin_grammar grammar;
    bool good =
        burin_grammar_parse(&grammar, "grammar", q->grammar, strlen(q->grammar)) &&
        burin_grammar_find_tokens(&grammar, q->server->tokenizer, q->server->model->vocab_size);
    if (!good && required) burin_request_fail(q, 400, field, "%s", grammar.error);
    burin_grammar_free(&grammar);
    if (good) return;
    free(q->grammar);
    q->grammar = NULL;
}

static void follow_schema(burin_request *q, const char *field, const burin_value *schema) {
    char error[512];
    burin_value json = schema ? burin_body_json(q, *schema) : burin_none();
    q->grammar = burin_schema_grammar(field, schema ? json.text : NULL, schema ? json.length : 0,
                                      error, sizeof error);
    if (!q->grammar) burin_request_fail(q, 400, field, "%s", error);
}

static void read_response_format(burin_request *q, burin_value format) {
    const burin_value *type =
                          format.kind == BURIN_DICT ? burin_body_field(q, format, "type") : NULL,
                      *inner, *schema;
    if (!type || type->kind != BURIN_STRING)
        burin_request_fail(q, 400, "response_format",
                           "\"response_format\" must be an object with a \"type\"");
    if (burin_is_text(*type, "text")) return;
    schema = burin_body_field(q, format, "schema");
    if (burin_is_text(*type, "json_object")) {
        follow_schema(q, "response_format", schema);
        return;
    }
    if (!burin_is_text(*type, "json_schema"))
        burin_request_fail(q, 400, "response_format.type",
                           "\"type\" must be text, json_object or json_schema");
    inner = burin_body_field(q, format, "json_schema");
    if (inner && inner->kind == BURIN_DICT) schema = burin_body_field(q, *inner, "schema");
    if (!schema)
        burin_request_fail(q, 400, "response_format.json_schema",
                           "\"response_format.json_schema.schema\" is missing");
    follow_schema(q, "response_format.json_schema.schema", schema);
}

void burin_form_read(burin_request *q) {
    const burin_value *format = burin_body_field(q, q->body, "response_format"),
                      *grammar = burin_body_string(q, "grammar"),
                      *schema = burin_body_field(q, q->body, "json_schema");
    if (q->has_tools) return;
    if (format) read_response_format(q, *format);
    if (!q->grammar && schema) follow_schema(q, "json_schema", schema);
    if (!q->grammar && grammar && grammar->length) q->grammar = burin_copy_text(*grammar);
    if (q->grammar) check_grammar(q, "grammar", true);
}

// ---- tools ----
typedef enum tool_choice { CHOICE_AUTO, CHOICE_NONE, CHOICE_REQUIRED } tool_choice;

static const burin_value *name_of_tool(burin_request *q, burin_value tool) {
    const burin_value *function =
        tool.kind == BURIN_DICT ? burin_body_field(q, tool, "function") : NULL;
    const burin_value *name =
        function && function->kind == BURIN_DICT ? burin_body_field(q, *function, "name") : NULL;
    if (!name || name->kind != BURIN_STRING || !name->length)
        burin_request_fail(q, 400, "tools",
                           "\"tools\": each must be a \"function\" with a \"name\"");
    const burin_value *parameters = burin_body_field(q, *function, "parameters");
    if (parameters && parameters->kind != BURIN_DICT)
        burin_request_fail(q, 400, "tools",
                           "\"tools\": \"parameters\" of a function must be an object");
    return name;
}

// The one tool that a choice names, as a list.
static burin_value tool_named(burin_request *q, const burin_value *tools, burin_value choice) {
    const burin_value *wanted = name_of_tool(q, choice);
    burin_value one = burin_list_new(&q->r, BURIN_LIST, 1);
    for (uint32_t i = 0; i < tools->list->n; i++)
        if (burin_equal(&q->r, *name_of_tool(q, tools->list->items[i]), *wanted))
            burin_list_add(&q->r, one, tools->list->items[i]);
    if (!one.list->n)
        burin_request_fail(q, 400, "tool_choice",
                           "\"tool_choice\" names the tool \"%.*s\", which \"tools\" has not",
                           (int)wanted->length, wanted->text);
    return one;
}

static _Noreturn void fail_choice(burin_request *q) {
    burin_request_fail(q, 400, "tool_choice",
                       "\"tool_choice\" must be auto, none, required, or name a function");
}

static tool_choice read_choice(burin_request *q, const burin_value *tools, burin_value *allowed) {
    const burin_value *choice = burin_body_field(q, q->body, "tool_choice");
    *allowed = *tools;
    if (!choice || burin_is_text(*choice, "auto")) return CHOICE_AUTO;
    if (burin_is_text(*choice, "none")) return CHOICE_NONE;
    if (burin_is_text(*choice, "required")) return CHOICE_REQUIRED;
    if (choice->kind != BURIN_DICT) fail_choice(q);
    *allowed = tool_named(q, tools, *choice);
    return CHOICE_REQUIRED;
}

void burin_form_tools(burin_request *q) {
    const burin_value *tools = burin_body_list(q, "tools");
    const burin_value *choice_given = burin_body_field(q, q->body, "tool_choice");
    const burin_model *m = q->server->model;
    char error[512];
    burin_value allowed, input = burin_dict_new(&q->r);
    q->one_call = !burin_body_bool(q, "parallel_tool_calls", true);
    if (choice_given && choice_given->kind != BURIN_STRING && choice_given->kind != BURIN_DICT)
        fail_choice(q);
    if (!tools || !tools->list->n) return;
    for (uint32_t i = 0; i < tools->list->n; i++) name_of_tool(q, tools->list->items[i]);
    tool_choice choice = read_choice(q, tools, &allowed);
    q->shows_tools = true;
    if (choice == CHOICE_NONE || !m->template_bytes) return;
    burin_dict_set(&q->r, input, BURIN_LITERAL("messages"), burin_list_new(&q->r, BURIN_LIST, 0));
    burin_dict_set(&q->r, input, BURIN_LITERAL("tools"), allowed);
    burin_value json = burin_body_json(q, input);
    burin_tool_format_open(&q->tools, m->weights() + m->template_offset, m->template_bytes);
    if (burin_plain_tools_open(q)) q->shows_tools = false;
    q->grammar =
        burin_tools_grammar(&q->tools, &(burin_tools_text){"tools", json.text, json.length},
                            choice == CHOICE_REQUIRED ? BURIN_CALLS_REQUIRED : BURIN_CALLS_ALLOWED,
                            error, sizeof error);
    if (!q->grammar && *error) burin_request_fail(q, 400, "tools", "%s", error);
    if (!q->grammar && choice == CHOICE_REQUIRED)
        burin_request_fail(q, 400, "tool_choice",
                           "burin does not know how this model's template writes calls");
    if (q->grammar && burin_body_field(q, q->body, "response_format"))
        burin_request_fail(
            q, 400, "response_format",
            "\"response_format\" and \"tools\" do not go together: \"tool_choice\": \"none\"");
    if (q->grammar) check_grammar(q, "tools", choice == CHOICE_REQUIRED);
    q->has_tools =
        q->grammar !=
        NULL;  // tools whose grammar is too large are not held, unless they must be called
}
