// Tools of models whose template knows none: messages tell of the functions, calls and results as
// text. Calls have the most usual form:
//
//     <tool_call>
//     {"name": "light", "arguments": {"on": true}}
//     </tool_call>
#include <string.h>

#include "server/server.h"

static const burin_tool_syntax call_shape = {.kind = BURIN_SHAPE_JSON,
                                             .begin = "",
                                             .call = "<tool_call> { \"name\" : \"",
                                             .name_end = "\" , \"arguments\" : ",
                                             .call_end = " } </tool_call>",
                                             .between = " ",
                                             .alone = true,
                                             .end = ""};

bool burin_plain_tools_open(burin_request *q) {
    const burin_model *m = q->server->model;
    if (q->tools.form != BURIN_TOOLS_FREE ||
        memmem(m->weights() + m->template_offset, m->template_bytes, "tools", 5))
        return false;
    q->tools.form = BURIN_TOOLS_SHAPED, q->tools.shape = call_shape;
    return q->plain_tools = true;
}

static void add_words(burin_request *q, const char *words) {
    burin_text_add(&q->r, words, strlen(words));
}

static void add_value(burin_request *q, const burin_value *text) {
    if (text && text->kind == BURIN_STRING) burin_text_add(&q->r, text->text, text->length);
}

// The text that tells of the functions. Strings are made one after the other, so each function
// becomes JSON first.
static burin_value describe(burin_request *q) {
    const burin_list *tools = burin_body_list(q, "tools")->list;
    burin_value lines = burin_list_new(&q->r, BURIN_LIST, tools->n);
    for (uint32_t i = 0; i < tools->n; i++) {
        const burin_value *function = burin_body_field(q, tools->items[i], "function");
        burin_list_add(&q->r, lines, burin_body_json(q, *function));
    }
    size_t begin = burin_text_begin(&q->r);
    add_words(q, "You can call these functions, which are described in JSON:\n");
    for (uint32_t i = 0; i < lines.list->n; i++)
        add_value(q, &lines.list->items[i]), add_words(q, "\n");
    add_words(q,
              "To call a function, answer with its name and arguments:\n<tool_call>\n"
              "{\"name\": \"...\", \"arguments\": {...}}\n</tool_call>");
    return burin_text_end(&q->r, begin);
}

// The message's text with another one before or after it. Parts of pictures stay as they are.
static void join_text(burin_request *q, burin_value message, const char *before,
                      const burin_value *other, const char *after, bool first) {
    const burin_value *own = burin_body_field(q, message, "content");
    if (own && own->kind == BURIN_LIST) return;
    size_t begin = burin_text_begin(&q->r);
    if (!first) add_value(q, own);
    add_words(q, before);
    add_value(q, other);
    add_words(q, after);
    if (first) add_value(q, own);
    burin_body_set(q, message, "content", burin_text_end(&q->r, begin));
}

static void write_call(burin_request *q, burin_value message, burin_value call) {
    const burin_value *function = burin_body_field(q, call, "function"),
                      *arguments = burin_body_field(q, *function, "arguments"),
                      *name = burin_body_field(q, *function, "name");
    burin_value given = burin_dict_new(&q->r);
    burin_body_set(q, given, "name", *name);
    if (arguments->kind == BURIN_STRING && arguments->length)
        burin_body_set(
            q, given, "arguments",
            burin_json_read(&q->r, "the arguments of a call", arguments->text, arguments->length));
    else
        burin_body_set(q, given, "arguments",
                       arguments->kind == BURIN_DICT ? *arguments : burin_dict_new(&q->r));
    burin_value json = burin_body_json(q, given);
    join_text(q, message, "<tool_call>\n", &json, "\n</tool_call>", false);
}

void burin_plain_tools_write(burin_request *q, burin_value messages) {
    burin_value told = describe(q);
    for (uint32_t i = 0; i < messages.list->n; i++) {
        burin_value message = messages.list->items[i];
        const burin_value *calls = burin_body_field(q, message, "tool_calls");
        for (uint32_t j = 0; calls && j < calls->list->n; j++)
            write_call(q, message, calls->list->items[j]);
        if (calls) burin_body_set(q, message, "tool_calls", burin_none());
        if (!burin_is_text(*burin_body_field(q, message, "role"), "tool")) continue;
        const burin_value *content = burin_body_field(q, message, "content"),
                          result = content ? *content : burin_body_text("");
        burin_body_set(q, message, "role", burin_body_text("user"));
        burin_body_set(q, message, "content", burin_body_text(""));
        join_text(q, message, "<tool_response>\n", &result, "\n</tool_response>", false);
    }
    burin_value first = messages.list->items[0];
    bool system = burin_is_text(*burin_body_field(q, first, "role"), "system");
    join_text(q, first, system ? "\n\n" : "", &told, system ? "" : "\n\n", !system);
}
