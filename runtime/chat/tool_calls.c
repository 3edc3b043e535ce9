#include "chat/tool_calls.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef burin_call_part part;

typedef struct calls {
    const burin_tool_format *format;
    const char *begin, *at, *end;  // of the answer; the rest of it
    const burin_call_reader *reader;
    int n;
    part open_name, open_arguments;  // of a call that the answer ends within; no name: none
} calls;

static part answer_part(const char *from, const char *to) {
    return (part){from, (size_t)(to - from)};
}

// ---------------------------------------------------------------------- JSON that is whole, or cut
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
        n = digits_at(value, at + 1);
        at += 1 + n;
        if (!n) return false;
    }
    if (at < value.bytes && is_any_of("eE", value.text[at])) {
        at += 1 + (at + 1 < value.bytes && is_any_of("+-", value.text[at + 1]));
        n = digits_at(value, at);
        at += n;
        if (!n) return false;
    }
    return at == value.bytes;
}

// A number, true, false or null.
static bool is_json_literal(part value) {
    char word[8] = "";
    if (value.bytes < sizeof word) memcpy(word, value.text, value.bytes);
    return !strcmp(word, "true") || !strcmp(word, "false") || !strcmp(word, "null") ||
           is_json_number(value);
}

static part part_until(calls *c, const char *set) {
    blanks_before(c);
    const char *begin = c->at;
    while (c->at < c->end && !is_any_of(set, *c->at)) c->at++;
    return answer_part(begin, c->at);
}

// ---------------------------------------------------------------------------------------- one call
static bool print_tool_call(calls *c, part name, part arguments) {
    if (!name.bytes || !arguments.bytes) return false;
    c->reader->call(c->reader->context, c->n++, name, arguments, true);
    return true;
}

// Notes a call whose arguments, an object, have begun, for answers that are still being written.
static bool leave_open(calls *c, part name, const char *arguments) {
    calls inside = {.at = arguments, .end = c->end};
    blanks_before(&inside);
    arguments = inside.at;
    if (arguments == c->end || *arguments != '{') return false;
    part whole = value_of_call(&inside);  // whole before the call is
    c->open_name = name;
    c->open_arguments = whole.bytes ? whole : answer_part(arguments, c->end);
    return false;
}

// A call whose arguments are an object here.
static bool call_with_object(calls *c, part name) {
    const char *begin = c->at;
    part arguments = value_of_call(c);
    return arguments.bytes ? print_tool_call(c, name, arguments) : leave_open(c, name, begin);
}

// {"name": "f", "arguments": {...}}
static bool object_call(calls *c) {
    if (!take_mark(c, "{") || !take_mark(c, "\"name\"") || !take_mark(c, ":")) return false;
    part name = value_of_call(c);
    if (name.bytes < 2 || !take_mark(c, ",") ||
        !(take_mark(c, "\"arguments\"") || take_mark(c, "\"parameters\"")) || !take_mark(c, ":"))
        return false;
    const char *begin = c->at;
    part arguments = value_of_call(c), inside = {name.text + 1, name.bytes - 2};
    return go_behind(c, "}") ? print_tool_call(c, inside, arguments) : leave_open(c, inside, begin);
}

static part json_of_python(part value) {
    static const struct {
        const char *python, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (value.bytes == strlen(words[i].python) &&
            !memcmp(value.text, words[i].python, value.bytes))
            return (part){words[i].json, strlen(words[i].json)};
    return value;
}

// Prints the arguments as an object, one after the other. False: the answer ends within them.
typedef bool print_arguments(calls *, part name);

static bool capture_arguments(calls *c, part name, print_arguments *print,
                              burin_capture *arguments) {
    burin_capture *before = burin_capture_into(arguments);
    burin_print("{");
    bool whole = print(c, name);
    burin_print("}");
    burin_capture_into(before);
    return whole;
}

static bool print_listed_call(calls *c, part name, print_arguments *print) {
    burin_capture arguments = {0};
    bool whole = capture_arguments(c, name, print, &arguments) &&
                 print_tool_call(c, name, (part){arguments.data, arguments.n});
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

// key:value, ... and the brace after them.
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

// --------------------------------------------------------------------------- the template's syntax
// Up to this text of the syntax, and after it; `other`: or this one.
static bool take_until(calls *c, const char *shape, const char *other, part *before) {
    const char *begin = c->at;
    for (; c->at < c->end; c->at++) {
        *before = answer_part(begin, c->at);
        if (take_of_shape(c, shape) || take_of_shape(c, other)) return true;
    }
    return false;
}

static part without_line_ends(part value) {
    if (value.bytes && *value.text == '\n') {
        value.text++;
        value.bytes--;
    }
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
        if (!take_until(c, s->key_end, s->other_key_end, &key) ||
            !take_until(c, s->value_end, s->value_end, &value))
            return false;
        burin_print(n ? ", " : "");
        burin_print_json_string(key.text, key.bytes);
        burin_print(": ");
        print_tagged_value(
            burin_tool_argument_kind(c->format, name.text, name.bytes, key.text, key.bytes), value);
    }
    return true;
}

// Up to the text after names, or, if that is white space alone, to the character after it.
static bool take_name(calls *c, part *name) {
    const burin_tool_syntax *s = &c->format->shape;
    if (s->name_end[strspn(s->name_end, " \n")])
        return take_until(c, s->name_end, s->name_end, name);
    const char *key = s->key ? s->key : "{";
    if (!take_until(c, key, *s->call_end ? s->call_end : key, name)) return false;
    c->at = name->text + name->bytes;
    while (name->bytes && is_any_of(" \t\r\n", name->text[name->bytes - 1])) name->bytes--;
    return true;
}

static bool shaped_object_call(calls *c, part name) {
    const char *begin = c->at;
    part arguments = value_of_call(c);
    bool whole = arguments.bytes && take_of_shape(c, c->format->shape.call_end);
    return whole ? print_tool_call(c, name, arguments) : leave_open(c, name, begin);
}

static bool shaped_call(calls *c) {
    const burin_tool_syntax *s = &c->format->shape;
    part name;
    burin_capture arguments = {0};
    if (!take_name(c, &name)) return false;
    if (s->kind == BURIN_SHAPE_JSON) return shaped_object_call(c, name);
    print_arguments *print = s->kind == BURIN_SHAPE_PYTHON   ? python_arguments
                             : s->kind == BURIN_SHAPE_BRACED ? braced_arguments
                                                             : tagged_arguments;
    bool whole = capture_arguments(c, name, print, &arguments) && take_of_shape(c, s->call_end) &&
                 print_tool_call(c, name, (part){arguments.data, arguments.n});
    free(arguments.data);
    return whole;
}

static bool shaped_calls(calls *c) {
    const burin_tool_syntax *s = &c->format->shape;
    bool begun = take_of_shape(c, s->begin) && take_of_shape(c, s->call);
    if (!(begun || (s->prompted && c->at == c->begin)) || !shaped_call(c)) return false;
    const char *behind = c->at;
    while (s->between && take_of_shape(c, s->between) && take_of_shape(c, s->call) &&
           shaped_call(c))
        behind = c->at;
    c->at = behind;
    take_of_shape(c, s->end);
    return true;
}

// ------------------------------------------------------------------------------------- other forms
static bool listed_calls(calls *c, bool (*call)(calls *)) {
    if (!take_mark(c, "[") || !call(c)) return false;
    while (take_mark(c, ",") && call(c)) {}
    take_mark(c, "]");
    return true;
}

static bool channel_call(calls *c) {
    if (!take_mark(c, "<|channel|>commentary to=functions.")) return false;
    part name = part_until(c, " <");
    return go_behind(c, "<|message|>") && call_with_object(c, name);
}

// Calls that begin here; whether they are all that an answer may have.
static bool take_calls(calls *c, bool *alone) {
    burin_tool_form form = c->format->form;
    *alone = form == BURIN_TOOLS_BARE || form == BURIN_TOOLS_PYTHON;
    return form == BURIN_TOOLS_SHAPED   ? shaped_calls(c)
           : form == BURIN_TOOLS_BARE   ? object_call(c)
           : form == BURIN_TOOLS_PYTHON ? listed_calls(c, python_call)
           : form == BURIN_TOOLS_LISTED
               ? take_mark(c, "[TOOL_CALLS]") && listed_calls(c, object_call)
           : form == BURIN_TOOLS_CHANNELS ? channel_call(c)
                                          : false;
}

int burin_read_tool_calls(const burin_tool_format *format, const char *text, size_t bytes,
                          burin_capture *content, const burin_call_reader *reader) {
    calls c = {.format = format, .begin = text, .at = text, .end = text + bytes, .reader = reader};
    bool alone = false;
    const char *from = text;  // of text that is no call
    while (c.at < c.end && !alone) {
        const char *here = c.at;
        c.open_name.bytes = 0;
        if (take_calls(&c, &alone)) {
            burin_capture_add(content, from, (size_t)(here - from));
            from = c.at;
        } else if (c.open_name.bytes && reader->open) {
            reader->call(reader->context, c.n, c.open_name, c.open_arguments, false);
            break;
        } else {
            c.at = here + 1;
        }
    }
    burin_capture_add(content, from, (size_t)(c.end - from));
    return c.n;
}

// Nine letters and digits, since templates of Mistral take no other ids.
void burin_print_call_id(const burin_tool_format *format, int number) {
    uint64_t id = (format->turn + (uint64_t)number) * 0x9e3779b97f4a7c15u;
    if (format->turn)
        burin_print("c%08llx", (unsigned long long)(id >> 32));
    else
        burin_print("call_%d", number);
}

static void print_call(void *context, int number, part name, part arguments, bool whole) {
    (void)whole;
    burin_print(number ? ", " : ", \"tool_calls\": [");
    burin_print("{\"id\": \"");
    burin_print_call_id(context, number);
    burin_print("\", \"type\": \"function\", \"function\": {\"name\": ");
    burin_print_json_string(name.text, name.bytes);
    burin_print(", \"arguments\": ");
    burin_print_json_string(arguments.text, arguments.bytes);
    burin_print("}}");
}

int burin_print_tool_calls(const burin_tool_format *format, const char *text, size_t bytes,
                           burin_capture *content) {
    int n = burin_read_tool_calls(
        format, text, bytes, content,
        &(burin_call_reader){.context = (void *)(uintptr_t)format, .call = print_call});
    if (n) burin_print("]");
    return n;
}

// --------------------------------------------------------------------- answers still being written
// Does the text from here on begin with this one of a shape, or end within it?
static bool may_begin(const char *shape, const char **from, const char *end) {
    size_t n;
    for (burin_shape_piece piece; (piece = burin_shape_next(&shape, &n)) && *from < end;) {
        size_t left = (size_t)(end - *from), same = n < left ? n : left;
        if (piece == BURIN_PIECE_TEXT && memcmp(*from, shape - n, same)) return false;
        if (piece == BURIN_PIECE_TEXT) *from += same;
        while (piece == BURIN_PIECE_SPACE && *from < end && is_any_of(" \t\r\n", **from)) ++*from;
        while (piece == BURIN_PIECE_WORD && *from < end &&
               (isalnum((unsigned char)**from) || is_any_of("_-", **from)))
            ++*from;
    }
    return true;
}

size_t burin_text_before_calls(const burin_tool_format *format, const char *text, size_t bytes) {
    static const char *const marks[] = {[BURIN_TOOLS_LISTED] = "[TOOL_CALLS]",
                                        [BURIN_TOOLS_BARE] = "{",
                                        [BURIN_TOOLS_PYTHON] = "["};
    burin_tool_form form = format->form;
    const char *end = text + bytes;
    if (form == BURIN_TOOLS_FREE) return bytes;
    if (form == BURIN_TOOLS_CHANNELS || (form == BURIN_TOOLS_SHAPED && format->shape.prompted))
        return 0;
    const char *first = form == BURIN_TOOLS_SHAPED ? format->shape.begin : marks[form];
    for (size_t i = 0; i < bytes; i++) {
        const char *from = text + i;
        if (is_any_of(" \t\r\n", *from)) continue;
        if (may_begin(first, &from, end) &&
            (form != BURIN_TOOLS_SHAPED || may_begin(format->shape.call, &from, end))) {
            while (i && is_any_of(" \t\r\n", text[i - 1])) i--;
            return i;
        }
    }
    while (bytes && is_any_of(" \t\r\n", text[bytes - 1])) bytes--;
    return bytes;
}
