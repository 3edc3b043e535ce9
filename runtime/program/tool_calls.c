#include "tool_calls.h"

#include <string.h>

#include "output.h"

typedef struct calls {
    const char *at, *end;  // what is left of the answer
    int n;
} calls;

typedef struct part {
    const char *text;
    size_t bytes;
} part;

// ---- what a grammar has made: JSON that is whole, or cut at the end of the answer ----

static bool is_any_of(const char *set, char c) { return c && strchr(set, c); }

static void blanks_before(calls *c) {
    while (c->at < c->end && is_any_of(" \t\r\n", *c->at)) c->at++;
}

static bool take_mark(calls *c, const char *text) {
    size_t n = strlen(text);
    blanks_before(c);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, text, n)) return false;
    c->at += n;
    return true;
}

// Behind the next such text.
static bool go_behind(calls *c, const char *text) {
    const char *there = memmem(c->at, (size_t)(c->end - c->at), text, strlen(text));
    if (there) c->at = there + strlen(text);
    return there;
}

static void string_of_call(calls *c) {
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++) c->at += *c->at == '\\';
    c->at = c->at < c->end ? c->at + 1 : c->end;
}

static part value_of_call(calls *c) {
    blanks_before(c);
    const char *begin = c->at;
    int depth = 0;
    while (c->at < c->end && (depth || !is_any_of(",]})\n", *c->at))) {
        if (*c->at == '"') {
            string_of_call(c);
        } else {
            depth += is_any_of("[{", *c->at) - is_any_of("]}", *c->at);
            c->at++;
        }
        if (!depth && is_any_of("\"]}", c->at[-1])) break;
    }
    return (part){begin, (size_t)(c->at - begin)};
}

static part part_until(calls *c, const char *set) {
    blanks_before(c);
    const char *begin = c->at;
    while (c->at < c->end && !is_any_of(set, *c->at)) c->at++;
    return (part){begin, (size_t)(c->at - begin)};
}

// ---- calls ----

static void begin_tool_call(calls *c, part name) {
    burin_print(c->n ? ", " : ", \"tool_calls\": [");
    burin_print("{\"id\": \"call_%d\", \"type\": \"function\", \"function\": {\"name\": ", c->n++);
    burin_print_json_string(name.text, name.bytes);
    burin_print(", \"arguments\": ");
}

static bool print_tool_call(calls *c, part name, part arguments) {
    if (!name.bytes || !arguments.bytes) return false;
    begin_tool_call(c, name);
    burin_print_json_string(arguments.text, arguments.bytes);
    burin_print("}}");
    return true;
}

// {"name": "f", "arguments": {...}}
static bool object_call(calls *c) {
    if (!take_mark(c, "{") || !take_mark(c, "\"name\"") || !take_mark(c, ":")) return false;
    part name = value_of_call(c);
    if (name.bytes < 2 || !take_mark(c, ",") || !(take_mark(c, "\"arguments\"") || take_mark(c, "\"parameters\"")) ||
        !take_mark(c, ":"))
        return false;
    return print_tool_call(c, (part){name.text + 1, name.bytes - 2}, value_of_call(c)) && go_behind(c, "}");
}

static part json_of_python(part value) {
    static const struct {
        const char *python, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (value.bytes == strlen(words[i].python) && !memcmp(value.text, words[i].python, value.bytes))
            return (part){words[i].json, strlen(words[i].json)};
    return value;
}

// f(key=value, ...): the arguments become a string of JSON, piece by piece.
static bool python_call(calls *c) {
    part name = part_until(c, "(");
    if (!take_mark(c, "(")) return false;
    begin_tool_call(c, name);
    burin_print("\"{");
    for (int n = 0; !take_mark(c, ")") && c->at < c->end; n++) {
        part key = part_until(c, "="), value;
        if (!take_mark(c, "=")) break;
        value = json_of_python(value_of_call(c));
        burin_print(n ? ", \\\"" : "\\\"");
        burin_print_json_inside(key.text, key.bytes);
        burin_print("\\\": ");
        burin_print_json_inside(value.text, value.bytes);
        take_mark(c, ",");
    }
    burin_print("}\"}}");
    return true;
}

static void listed_calls(calls *c, bool (*call)(calls *)) {
    if (!take_mark(c, "[")) return;
    while (call(c) && take_mark(c, ",")) {}
}

static bool next_tool_call(calls *c, burin_tool_form form) {
    part name;
    switch (form) {
        case BURIN_TOOLS_TAGGED:
            return go_behind(c, "<tool_call>") && object_call(c);
        case BURIN_TOOLS_ARGUMENTS:
            if (!go_behind(c, "[TOOL_CALLS]")) return false;
            name = part_until(c, "[");
            return take_mark(c, "[ARGS]") && print_tool_call(c, name, value_of_call(c));
        case BURIN_TOOLS_CHANNELS:
            if (!go_behind(c, "to=functions.")) return false;
            name = part_until(c, " <");
            return go_behind(c, "<|message|>") && print_tool_call(c, name, value_of_call(c));
        default:
            return false;
    }
}

static size_t first_tool_mark(burin_tool_form form, const char *text, size_t bytes) {
    const char *mark = form == BURIN_TOOLS_TAGGED                                    ? "<tool_call>"
                       : form == BURIN_TOOLS_LISTED || form == BURIN_TOOLS_ARGUMENTS ? "[TOOL_CALLS]"
                       : form == BURIN_TOOLS_CHANNELS                                ? "<|channel|>commentary to="
                                                                                     : "";
    const char *there = memmem(text, bytes, mark, strlen(mark));
    return there ? (size_t)(there - text) : bytes;
}

int burin_print_tool_calls(burin_tool_form form, const char *text, size_t bytes, size_t *content) {
    calls c = {text, text + bytes, 0};
    if (form == BURIN_TOOLS_BARE) {
        object_call(&c);
    } else if (form == BURIN_TOOLS_LISTED || form == BURIN_TOOLS_PYTHON) {
        if (form == BURIN_TOOLS_PYTHON || go_behind(&c, "[TOOL_CALLS]"))
            listed_calls(&c, form == BURIN_TOOLS_PYTHON ? python_call : object_call);
    } else {
        while (next_tool_call(&c, form)) {}
    }
    *content = c.n ? first_tool_mark(form, text, bytes) : bytes;
    if (c.n) burin_print("]");
    return c.n;
}
