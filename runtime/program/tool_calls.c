#include "tool_calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct calls {
    const burin_tool_format *format;
    const char *begin, *at, *end;  // of the answer; what is left of it
    int n;
    burin_capture printed;
} calls;

typedef struct part {
    const char *text;
    size_t bytes;
} part;

static part answer_part(const char *from, const char *to) { return (part){from, (size_t)(to - from)}; }

// ---------------------------------------------------------------------------------------------- JSON that is whole, or cut
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

static bool take_of_shape(calls *c, const char *shape) {
    const char *behind = burin_shape_match(shape, c->at, c->end);
    if (behind) c->at = behind;
    return behind;
}

static void string_of_call(calls *c) {
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++) c->at += *c->at == '\\';
    c->at = c->at < c->end ? c->at + 1 : c->end;
}

// Of no bytes where the answer ends within it.
static part value_of_call(calls *c) {
    blanks_before(c);
    const char *begin = c->at;
    int depth = 0;
    while (c->at < c->end && (depth || !is_any_of(",]})<\n", *c->at))) {
        if (*c->at == '"') {
            string_of_call(c);
        } else {
            depth += is_any_of("[{", *c->at) - is_any_of("]}", *c->at);
            c->at++;
        }
        if (!depth && is_any_of("\"]}", c->at[-1])) return answer_part(begin, c->at);
    }
    return answer_part(begin, c->at < c->end ? c->at : begin);
}

static size_t digits_at(part value, size_t at) {
    size_t n = 0;
    while (at + n < value.bytes && is_any_of("0123456789", value.text[at + n])) n++;
    return n;
}

static bool is_json_number(part value) {
    size_t at = value.bytes && *value.text == '-', n = digits_at(value, at);
    if (!n || (n > 1 && value.text[at] == '0')) return false;
    at += n;
    if (at < value.bytes && value.text[at] == '.') {
        n = digits_at(value, at + 1), at += 1 + n;
        if (!n) return false;
    }
    if (at < value.bytes && is_any_of("eE", value.text[at])) {
        at += 1 + (at + 1 < value.bytes && is_any_of("+-", value.text[at + 1]));
        n = digits_at(value, at), at += n;
        if (!n) return false;
    }
    return at == value.bytes;
}

// A number, true, false or null.
static bool is_json_literal(part value) {
    char word[8] = "";
    if (value.bytes < sizeof word) memcpy(word, value.text, value.bytes);
    return !strcmp(word, "true") || !strcmp(word, "false") || !strcmp(word, "null") || is_json_number(value);
}

static part part_until(calls *c, const char *set) {
    blanks_before(c);
    const char *begin = c->at;
    while (c->at < c->end && !is_any_of(set, *c->at)) c->at++;
    return answer_part(begin, c->at);
}

// ----------------------------------------------------------------------------------------------------------------- one call
static bool print_tool_call(calls *c, part name, part arguments) {
    if (!name.bytes || !arguments.bytes) return false;
    burin_print(c->n ? ", " : "");
    burin_print("{\"id\": \"call_%d\", \"type\": \"function\", \"function\": {\"name\": ", c->n++);
    burin_print_json_string(name.text, name.bytes);
    burin_print(", \"arguments\": ");
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
    part arguments = value_of_call(c);
    return go_behind(c, "}") && print_tool_call(c, (part){name.text + 1, name.bytes - 2}, arguments);
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

// Prints the arguments as an object, one after the other. False: the answer ends within them.
typedef bool print_arguments(calls *, part name);

static bool print_listed_call(calls *c, part name, print_arguments *print) {
    burin_capture arguments = {0}, *before = burin_capture_into(&arguments);
    burin_print("{");
    bool whole = print(c, name);
    burin_print("}");
    burin_capture_into(before);
    whole = whole && print_tool_call(c, name, (part){arguments.data, arguments.n});
    free(arguments.data);
    return whole;
}

// key=value, ...)
static bool python_arguments(calls *c, part name) {
    (void)name;
    for (int n = 0; !take_mark(c, ")"); n++) {
        part key = part_until(c, "=");
        if (!take_mark(c, "=")) return false;
        part value = json_of_python(value_of_call(c));
        if (!value.bytes) return false;
        burin_print(n ? ", " : "");
        burin_print_json_string(key.text, key.bytes);
        burin_print(": ");
        burin_print_bytes(value.text, value.bytes);
        take_mark(c, ",");
    }
    return true;
}

static part literal(calls *c) {
    const char *begin = c->at;
    while (c->at < c->end && (isalnum((unsigned char)*c->at) || is_any_of("+-.", *c->at))) c->at++;
    return json_of_python(answer_part(begin, c->at));
}

enum { DEEPEST_VALUE = 64 };
static bool print_braced(calls *c, int depth);

// key:value, ... and the brace behind them.
static bool print_braced_pairs(calls *c, int depth) {
    for (int n = 0; !take_mark(c, "}"); n++) {
        if (n && !take_mark(c, ",")) return false;
        part key = part_until(c, ":");
        if (!key.bytes || !take_mark(c, ":")) return false;
        burin_print(n ? ", " : "");
        burin_print_json_string(key.text, key.bytes);
        burin_print(": ");
        if (!print_braced(c, depth)) return false;
    }
    return true;
}

static bool print_braced_list(calls *c, int depth) {
    for (int n = 0; !take_mark(c, "]"); n++) {
        if (n && !take_mark(c, ",")) return false;
        burin_print(n ? ", " : "");
        if (!print_braced(c, depth)) return false;
    }
    return true;
}

static bool print_braced_text(calls *c, const char *quote) {
    const char *begin = c->at;
    if (!go_behind(c, quote)) return false;
    burin_print_json_string(begin, (size_t)(c->at - begin) - strlen(quote));
    return true;
}

// Prints a value as JSON. False: it is none, or the answer ends within it.
static bool print_braced(calls *c, int depth) {
    const char *quote = c->format->shape.key_end;
    bool whole;
    if (depth == DEEPEST_VALUE) return false;
    if (take_mark(c, quote)) return print_braced_text(c, quote);
    bool list = take_mark(c, "[");
    if (list || take_mark(c, "{")) {
        burin_print(list ? "[" : "{");
        whole = list ? print_braced_list(c, depth + 1) : print_braced_pairs(c, depth + 1);
        burin_print(list ? "]" : "}");
        return whole;
    }
    part value = literal(c);
    whole = is_json_literal(value);
    burin_print_bytes(value.text, value.bytes);
    return whole;
}

static bool braced_arguments(calls *c, part name) {
    (void)name;
    return print_braced_pairs(c, 0);
}

static bool python_call(calls *c) {
    part name = part_until(c, "(");
    return take_mark(c, "(") && print_listed_call(c, name, python_arguments);
}

// --------------------------------------------------------------------------------------------------------- as the template has it
// Up to where this text of the shape stands, and behind it; `other`: or this one.
static bool take_until(calls *c, const char *shape, const char *other, part *before) {
    const char *begin = c->at;
    for (; c->at < c->end; c->at++) {
        *before = answer_part(begin, c->at);
        if (take_of_shape(c, shape) || take_of_shape(c, other)) return true;
    }
    return false;
}

static part without_line_ends(part value) {
    if (value.bytes && *value.text == '\n') value.text++, value.bytes--;
    if (value.bytes && value.text[value.bytes - 1] == '\n') value.bytes--;
    return value;
}

static bool is_whole_json(part value) {
    calls c = {.at = value.text, .end = value.text + value.bytes};
    part found = value_of_call(&c);
    blanks_before(&c);
    if (found.bytes && is_any_of("[{", *found.text)) return c.at == c.end;
    return is_json_literal(value);
}

static void print_tagged_value(char kind, part value) {
    part line = without_line_ends(value);
    if (kind == 'e') line = json_of_python(line);
    if (kind == 'j' || (kind == 'e' && line.bytes && is_whole_json(line)))
        burin_print_bytes(line.text, line.bytes);
    else
        burin_print_json_string(line.text, line.bytes);
}

static bool tagged_arguments(calls *c, part name) {
    const burin_tool_syntax *s = &c->format->shape;
    for (int n = 0; blanks_before(c), take_of_shape(c, s->key); n++) {
        part key, value;
        if (!take_until(c, s->key_end, s->other_key_end, &key) || !take_until(c, s->value_end, s->value_end, &value))
            return false;
        burin_print(n ? ", " : "");
        burin_print_json_string(key.text, key.bytes);
        burin_print(": ");
        print_tagged_value(burin_tool_argument_kind(c->format, name.text, name.bytes, key.text, key.bytes), value);
    }
    return true;
}

// Up to the text behind names, or, where that is white space alone, to what follows it.
static bool take_name(calls *c, part *name) {
    const burin_tool_syntax *s = &c->format->shape;
    if (s->name_end[strspn(s->name_end, " \n")]) return take_until(c, s->name_end, s->name_end, name);
    const char *key = s->key ? s->key : "{";
    if (!take_until(c, key, *s->call_end ? s->call_end : key, name)) return false;
    c->at = name->text + name->bytes;
    while (name->bytes && is_any_of(" \t\r\n", name->text[name->bytes - 1])) name->bytes--;
    return true;
}

static bool shaped_call(calls *c) {
    const burin_tool_syntax *s = &c->format->shape;
    part name;
    int before = c->n;
    size_t printed = c->printed.n;
    if (!take_name(c, &name)) return false;
    bool whole = s->kind == BURIN_SHAPE_JSON     ? print_tool_call(c, name, value_of_call(c))
                 : s->kind == BURIN_SHAPE_PYTHON ? print_listed_call(c, name, python_arguments)
                 : s->kind == BURIN_SHAPE_BRACED ? print_listed_call(c, name, braced_arguments)
                                                 : print_listed_call(c, name, tagged_arguments);
    if (whole && take_of_shape(c, s->call_end)) return true;
    c->n = before, c->printed.n = printed;
    return false;
}

static bool shaped_calls(calls *c) {
    const burin_tool_syntax *s = &c->format->shape;
    bool begun = take_of_shape(c, s->begin) && take_of_shape(c, s->call);
    if (!(begun || (s->prompted && c->at == c->begin)) || !shaped_call(c)) return false;
    const char *behind = c->at;
    while (s->between && take_of_shape(c, s->between) && take_of_shape(c, s->call) && shaped_call(c)) behind = c->at;
    c->at = behind;
    take_of_shape(c, s->end);
    return true;
}

// -------------------------------------------------------------------------------------------------------------- other forms
static bool listed_calls(calls *c, bool (*call)(calls *)) {
    if (!take_mark(c, "[") || !call(c)) return false;
    while (take_mark(c, ",") && call(c)) {}
    take_mark(c, "]");
    return true;
}

static bool channel_call(calls *c) {
    if (!take_mark(c, "<|channel|>commentary to=functions.")) return false;
    part name = part_until(c, " <");
    return go_behind(c, "<|message|>") && print_tool_call(c, name, value_of_call(c));
}

// Calls that begin here; whether they are all that an answer may have.
static bool take_calls(calls *c, bool *alone) {
    burin_tool_form form = c->format->form;
    *alone = form == BURIN_TOOLS_BARE || form == BURIN_TOOLS_PYTHON;
    return form == BURIN_TOOLS_SHAPED     ? shaped_calls(c)
           : form == BURIN_TOOLS_BARE     ? object_call(c)
           : form == BURIN_TOOLS_PYTHON   ? listed_calls(c, python_call)
           : form == BURIN_TOOLS_LISTED   ? take_mark(c, "[TOOL_CALLS]") && listed_calls(c, object_call)
           : form == BURIN_TOOLS_CHANNELS ? channel_call(c)
                                          : false;
}

int burin_print_tool_calls(const burin_tool_format *format, const char *text, size_t bytes, burin_capture *content) {
    calls c = {.format = format, .begin = text, .at = text, .end = text + bytes};
    bool alone = false;
    burin_capture *before = burin_capture_into(&c.printed);
    const char *from = text;  // of text that is no call
    while (c.at < c.end && !alone) {
        const char *here = c.at;
        if (take_calls(&c, &alone)) {
            burin_capture_add(content, from, (size_t)(here - from));
            from = c.at;
        } else {
            c.at = here + 1;
        }
    }
    burin_capture_add(content, from, (size_t)(c.end - from));
    burin_capture_into(before);
    if (c.n) {
        burin_print(", \"tool_calls\": [");
        burin_print_bytes(c.printed.data, c.printed.n);
        burin_print("]");
    }
    free(c.printed.data);
    return c.n;
}
