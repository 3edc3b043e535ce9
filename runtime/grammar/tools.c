#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"
#include "tool_forms.h"

// Special tokens in calls that no template shows.
static const char *const tool_marks[] = {
    "[TOOL_CALLS]", "<|channel|>", "<|message|>", "<|constrain|>", "<|start|>", "<|end|>", NULL};

static const char mark_listed[] = "[TOOL_CALLS]";

static void mark_shape(burin_tool_format *f) {
    const burin_tool_syntax *s = &f->shape;
    const char *const texts[] = {
        s->begin,         s->call,      s->name_end, s->key,     s->key_end,
        s->other_key_end, s->value_end, s->call_end, s->between, s->end};
    int n = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) f->marks[n++] = texts[i];
}

void burin_tool_format_open(burin_tool_format *f, const void *blob, size_t bytes) {
    const burin_tool_syntax *known;
    *f = (burin_tool_format){.form = burin_tool_form_known(blob, bytes, &known)};
    bool shows = (known || !f->form) && burin_template_is_whole(blob, bytes) &&
                 burin_tool_syntax_find(&f->shape, blob);
    if (shows)
        f->form = BURIN_TOOLS_SHAPED;
    else if (known)
        f->shape = *known;
    if (f->form == BURIN_TOOLS_SHAPED)
        mark_shape(f);
    else
        memcpy(f->marks, tool_marks, sizeof tool_marks);
}

void burin_tool_format_close(burin_tool_format *f) {
    burin_tool_syntax_free(&f->shape);
    burin_growing_free(&f->texts);
}

typedef struct tools_wanted {
    burin_tool_form form;
    burin_tool_choice choice;
    const burin_tool_syntax *shape;
    burin_growing *texts;  // of the format
} tools_wanted;

// -------------------------------------------------------------------------------------------- text
// The bytes of the character at s.
static size_t character_bytes(const char *s) {
    const char *at = s;
    burin_character(&at, s + strlen(s));
    return (size_t)(at - s);
}

static void add_code(burin_growing *g, const char *s) {
    const char *at = s;
    burin_growing_code(g, burin_character(&at, s + strlen(s)));
}

// Any character but this one and the first one of the mark.
static void add_class(burin_growing *g, const char *mark, const char *next) {
    burin_growing_add(g, "[^");
    add_code(g, mark);
    if (next) add_code(g, next);
    burin_growing_add(g, "]");
}

// Rules for a text, by this name, that does not have the mark, whose first character is in it once:
// parts after each such character, which differ from the mark somewhere.
static void add_free_text(burin_growing *g, const char *name, const char *mark) {
    size_t first = character_bytes(mark), n;
    burin_growing_add(g, "plain-%s ::= ", name);
    add_class(g, mark, NULL);
    burin_growing_add(g, "*\n%s ::= plain-%s (", name, name);
    burin_growing_literal(g, mark, first);
    burin_growing_add(g, " %s-1)*\n", name);
    int i = 1;
    for (const char *at = mark + first; *at; at += n, i++) {
        n = character_bytes(at);
        burin_growing_add(g, "%s-%d ::= (", name, i);
        add_class(g, mark, at);
        burin_growing_add(g, " plain-%s", name);
        if (at[n]) {
            burin_growing_add(g, " | ");
            burin_growing_literal(g, at, n);
            burin_growing_add(g, " %s-%d", name, i + 1);
        }
        burin_growing_add(g, ")?\n");
    }
}

static void add_shape(burin_growing *g, const char *text) {
    size_t n;
    for (burin_shape_piece piece; (piece = burin_shape_next(&text, &n));) {
        if (piece == BURIN_PIECE_TEXT)
            burin_growing_literal(g, text - n, n), burin_growing_add(g, " ");
        if (piece == BURIN_PIECE_SPACE) burin_growing_add(g, "ws ");
        if (piece == BURIN_PIECE_WORD) burin_growing_add(g, "[0-9A-Za-z_-]+ ");
    }
}

// ------------------------------------------------------------------------------------------- calls
static void add_key(burin_growing *g, const char *key) {
    burin_growing_add(g, " ws \"\\\"%s\\\"\" ws \":\" ws ", key);
}

static void add_call(burin_schema_writer *w, const tools_wanted *wanted, burin_value name,
                     int arguments) {
    burin_growing *g = &w->rules;
    char rule[32] = "object";
    if (arguments >= 0) snprintf(rule, sizeof rule, "s%d", arguments);
    if (wanted->form == BURIN_TOOLS_SHAPED) {
        burin_growing_literal(g, name.text, name.length);
        burin_growing_add(g, " "), add_shape(g, wanted->shape->name_end),
            burin_growing_add(g, "%s ", rule);
        add_shape(g, wanted->shape->call_end);
        return;
    }
    if (wanted->form == BURIN_TOOLS_CHANNELS) {
        burin_growing_literal(g, name.text, name.length);
        burin_growing_add(g, " \" \"? (\"<|constrain|>\"? \"json\")? \"<|message|>\" ws %s", rule);
        return;
    }
    burin_growing_add(g, "\"{\"");
    add_key(g, "name");
    burin_growing_add(g, "\"\\\"\" ");
    burin_growing_literal(g, name.text, name.length);
    burin_growing_add(g, " \"\\\"\" ws \",\"");
    add_key(g, wanted->form == BURIN_TOOLS_BARE ? "parameters" : "arguments");
    burin_growing_add(g, "%s ws ", rule);
    if (wanted->form == BURIN_TOOLS_LISTED)
        burin_growing_add(g, "(\",\" ws \"\\\"id\\\"\" ws \":\" ws string ws)? ");
    burin_growing_add(g, "\"}\"");
}

// ---------------------------------------------------------------------------- arguments one by one
static bool is_string_of(const burin_value *value, const char *text) {
    return value && value->kind == BURIN_STRING && value->length == strlen(text) &&
           !memcmp(value->text, text, value->length);
}

static bool all_texts(const burin_value *list) {
    bool all = list && list->kind == BURIN_LIST && list->list->n;
    for (uint32_t i = 0; all && i < list->list->n; i++)
        all = list->list->items[i].kind == BURIN_STRING;
    return all;
}

// The form of an argument between tags.
typedef enum tagged_as { AS_TEXT = 't', AS_JSON = 'j', AS_EITHER = 'e' } tagged_as;

static bool may_be_text(burin_schema_writer *w, const burin_value *schemas) {
    if (!schemas || schemas->kind != BURIN_LIST) return false;
    for (uint32_t i = 0; i < schemas->list->n; i++) {
        const burin_value *s = &schemas->list->items[i];
        if (is_string_of(s, "string")) return true;
        if (s->kind == BURIN_DICT && is_string_of(burin_schema_key(w, *s, "type"), "string"))
            return true;
    }
    return false;
}

// Texts are literal, whatever else their schemas have besides an enum; arguments that may be texts
// or not are unrestricted.
static tagged_as tagged_kind(burin_schema_writer *w, burin_value schema) {
    if (schema.kind != BURIN_DICT || !schema.dict->n) return AS_EITHER;
    if (all_texts(burin_schema_key(w, schema, "enum")) ||
        is_string_of(burin_schema_key(w, schema, "type"), "string"))
        return AS_TEXT;
    return may_be_text(w, burin_schema_key(w, schema, "type")) ||
                   may_be_text(w, burin_schema_key(w, schema, "anyOf")) ||
                   may_be_text(w, burin_schema_key(w, schema, "oneOf"))
               ? AS_EITHER
               : AS_JSON;
}

static void add_tagged_text(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    const burin_value *some =
        schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "enum") : NULL;
    if (!all_texts(some)) {
        burin_growing_add(g, "tagged ");
        return;
    }
    burin_growing_add(g, "\"\\n\"? (");
    for (uint32_t i = 0; i < some->list->n; i++) {
        if (i) burin_growing_add(g, " | ");
        burin_growing_literal(g, some->list->items[i].text, some->list->items[i].length);
    }
    burin_growing_add(g, ") \"\\n\"? ");
}

// What ends the key, the value, what ends that.
static void add_tagged_value(burin_schema_writer *w, const burin_tool_syntax *shape,
                             burin_value schema, const char *step) {
    burin_growing *g = &w->one[w->depth - 1];
    tagged_as kind = tagged_kind(w, schema);
    burin_growing_add(g, "(");
    if (kind != AS_JSON) add_shape(g, shape->key_end), add_tagged_text(w, g, schema);
    if (kind == AS_EITHER)
        burin_growing_add(g, "| "), add_shape(g, shape->other_key_end),
            burin_growing_add(g, "ws value ws ");
    if (kind == AS_JSON)
        add_shape(g, shape->other_key_end),
            burin_growing_add(g, "ws s%d ws ", burin_schema_rule(w, schema, step));
    burin_growing_add(g, ") ");
    add_shape(g, shape->value_end), burin_growing_add(g, "ws");
}

// True, False and None where JSON has true, false and null; inside of lists and objects it stays
// JSON.
static void add_python_value(burin_schema_writer *w, burin_growing *g, burin_value schema,
                             const char *step) {
    const burin_value *type =
        schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "type") : NULL;
    if (is_string_of(type, "boolean"))
        burin_growing_add(g, "(\"True\" | \"False\")");
    else if (is_string_of(type, "null"))
        burin_growing_add(g, "\"None\"");
    else
        burin_growing_add(g, "s%d", burin_schema_rule(w, schema, step));
}

// A text in quotes of its own, in which no other character has a meaning; in lists and objects any
// value.
static void add_braced_value(burin_schema_writer *w, const burin_tool_syntax *shape,
                             burin_value schema, const char *step) {
    static const char *const plain[] = {"integer", "number", "boolean", "null"};
    burin_growing *g = &w->one[w->depth - 1];
    const burin_value *some =
                          schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "enum") : NULL,
                      *type =
                          schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "type") : NULL;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (is_string_of(type, plain[i])) {
            burin_growing_add(g, "s%d", burin_schema_rule(w, schema, step));
            return;
        }
    if (!all_texts(some)) {
        burin_growing_add(g, is_string_of(type, "string") ? "braced-text" : "braced");
        return;
    }
    burin_growing_add(g, "(");
    for (uint32_t i = 0; i < some->list->n; i++) {
        const burin_value *text = &some->list->items[i];
        if (i) burin_growing_add(g, " | ");
        burin_growing_literal(g, shape->key_end, strlen(shape->key_end)), burin_growing_add(g, " ");
        burin_growing_literal(g, text->text, text->length), burin_growing_add(g, " ");
        burin_growing_literal(g, shape->key_end, strlen(shape->key_end));
    }
    burin_growing_add(g, ")");
}

static void add_braced_rules(burin_growing *g, const char *quote) {
    add_free_text(g, "braced-chars", quote);
    burin_growing_add(g, "braced-text ::= "), burin_growing_literal(g, quote, strlen(quote));
    burin_growing_add(g, " braced-chars "), burin_growing_literal(g, quote, strlen(quote));
    burin_growing_add(g,
                      "\nbraced ::= braced-text | number | boolean | null | \"{\" (braced-pair "
                      "(\",\" braced-pair)*)? \"}\" | "
                      "\"[\" (braced (\",\" braced)*)? \"]\"\n"
                      "braced-pair ::= [0-9A-Za-z_.-]+ \":\" braced\n");
}

typedef struct tool_arguments {
    unsigned tool;
    burin_value parameters;
    const burin_dict *properties;  // NULL: they are not known
    bool sorted;                   // by their names
} tool_arguments;

static int by_key(const void *a, const void *b) {
    const burin_value *x = &(*(const burin_pair *const *)a)->key,
                      *y = &(*(const burin_pair *const *)b)->key;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

enum { MOST_IN_ANY_ORDER = 512 };  // grows with the square of their number

// Numbers of the properties, in the order of their values in a call.
static void order_arguments(burin_schema_writer *w, const tool_arguments *a,
                            uint32_t order[MOST_IN_ANY_ORDER]) {
    const burin_pair *pairs[MOST_IN_ANY_ORDER];
    if (a->properties->n > MOST_IN_ANY_ORDER)
        burin_schema_fail(w, "a tool has %u parameters, at most %d", a->properties->n,
                          MOST_IN_ANY_ORDER);
    for (uint32_t k = 0; k < a->properties->n; k++) pairs[k] = &a->properties->pairs[k];
    if (a->sorted) qsort(pairs, a->properties->n, sizeof *pairs, by_key);
    for (uint32_t k = 0; k < a->properties->n; k++)
        order[k] = (uint32_t)(pairs[k] - a->properties->pairs);
}

static bool takes_always(burin_schema_writer *w, const tool_arguments *a, uint32_t k) {
    const burin_value *required = burin_schema_key(w, a->parameters, "required");
    return required && burin_schema_lists(*required, a->properties->pairs[k].key);
}

// tool\0key\0kind\0: how the calls of an answer are read.
static void note_argument(burin_growing *texts, burin_value tool, burin_value key, tagged_as kind) {
    char end[2] = {(char)kind, 0};
    burin_growing_bytes(texts, tool.text, tool.length), burin_growing_bytes(texts, "", 1);
    burin_growing_bytes(texts, key.text, key.length), burin_growing_bytes(texts, "", 1);
    burin_growing_bytes(texts, end, 2);
}

// The rule of an argument, "call-2-0", after those of its schema.
static void add_tool_argument(burin_schema_writer *w, const tools_wanted *wanted, const char *rule,
                              const burin_pair *argument) {
    burin_tool_kind kind =
        wanted->form == BURIN_TOOLS_SHAPED ? wanted->shape->kind : BURIN_SHAPE_PYTHON;
    bool tagged = kind == BURIN_SHAPE_TAGGED;
    burin_value key = argument->key;
    burin_growing *g = &w->one[w->depth++];
    char step[64];
    snprintf(step, sizeof step, "/parameters/properties/%.*s",
             key.length < 32 ? (int)key.length : 32, key.text);
    g->n = 0;
    burin_growing_add(g, "%s ::= ", rule);
    if (tagged) add_shape(g, wanted->shape->key);
    burin_growing_literal(g, key.text, key.length);
    burin_growing_add(g, " ");
    if (tagged)
        add_tagged_value(w, wanted->shape, argument->value, step);
    else if (kind == BURIN_SHAPE_BRACED)
        burin_growing_add(g, "\":\" "), add_braced_value(w, wanted->shape, argument->value, step);
    else
        burin_growing_add(g, "\"=\" "), add_python_value(w, g, argument->value, step);
    burin_growing_add(g, "\n");
    burin_growing_bytes(&w->rules, g->bytes, g->n);
    w->depth--;
}

// In the order of the schema; those that are not required may be missing.
static void add_tagged_arguments(burin_schema_writer *w, const burin_tool_syntax *shape,
                                 const tool_arguments *a) {
    burin_growing *g = &w->rules;
    if (!a->properties) {
        burin_growing_add(g, "("), add_shape(g, shape->key), burin_growing_add(g, "[^<>\"\\n]+ ");
        add_shape(g, shape->key_end), burin_growing_add(g, "tagged "),
            add_shape(g, shape->value_end);
        burin_growing_add(g, "ws)* ");
        return;
    }
    for (uint32_t k = 0; k < a->properties->n; k++)
        burin_growing_add(g, "call-%u-%u%s ", a->tool, k, takes_always(w, a, k) ? "" : "?");
}

// Commas separate arguments: first comes any argument up to the first required one, then each of
// the rest or not.
static void add_python_arguments(burin_schema_writer *w, const tool_arguments *a) {
    burin_growing *g = &w->rules;
    uint32_t n = a->properties ? a->properties->n : 0, first = 0, order[MOST_IN_ANY_ORDER];
    bool must = false;
    if (!n) return;
    order_arguments(w, a, order);
    burin_growing_add(g, "(");
    for (; first < n && !must; first++) {
        must = takes_always(w, a, order[first]);
        burin_growing_add(g, "%scall-%u-%u", first ? " | " : "", a->tool, order[first]);
        for (uint32_t i = first + 1; i < n; i++)
            burin_growing_add(g, " (\",\" ws call-%u-%u)%s", a->tool, order[i],
                              takes_always(w, a, order[i]) ? "" : "?");
    }
    burin_growing_add(g, must ? ") " : ")? ");
}

static void add_arguments_call(burin_schema_writer *w, const tools_wanted *wanted, burin_value name,
                               const tool_arguments *a) {
    const burin_tool_syntax *shape = wanted->form == BURIN_TOOLS_SHAPED ? wanted->shape : NULL;
    bool tagged = shape && shape->kind == BURIN_SHAPE_TAGGED,
         braced = shape && shape->kind == BURIN_SHAPE_BRACED;
    char rule[32];
    for (uint32_t k = 0; a->properties && k < a->properties->n; k++) {
        snprintf(rule, sizeof rule, "call-%u-%u", a->tool, (unsigned)k);
        add_tool_argument(w, wanted, rule, &a->properties->pairs[k]);
        note_argument(wanted->texts, name, a->properties->pairs[k].key,
                      tagged_kind(w, a->properties->pairs[k].value));
    }
    burin_growing_add(&w->rules, "call-%u ::= ", a->tool);
    burin_growing_literal(&w->rules, name.text, name.length);
    burin_growing_add(&w->rules, " ");
    if (tagged)
        add_shape(&w->rules, shape->name_end), burin_growing_add(&w->rules, "ws "),
            add_tagged_arguments(w, shape, a);
    else
        burin_growing_add(&w->rules, braced ? "\"{\" " : "\"(\" "), add_python_arguments(w, a),
            burin_growing_add(&w->rules, braced ? "\"}\" " : "\")\" ");
    if (shape) add_shape(&w->rules, shape->call_end);
    burin_growing_add(&w->rules, "\n");
}

// A name that needs no escapes in JSON.
static bool is_plain_name(burin_value name) {
    for (uint32_t i = 0; i < name.length; i++)
        if ((unsigned char)name.text[i] < 32 || name.text[i] == '"' || name.text[i] == '\\')
            return false;
    return name.length > 0;
}

static bool takes_arguments_one_by_one(const tools_wanted *wanted) {
    return wanted->form == BURIN_TOOLS_PYTHON ||
           (wanted->form == BURIN_TOOLS_SHAPED && wanted->shape->kind != BURIN_SHAPE_JSON);
}

static void add_tool(burin_schema_writer *w, const tools_wanted *wanted, burin_value tool,
                     uint32_t i) {
    snprintf(w->path, sizeof w->path, "#/tools/%u", (unsigned)i);
    if (tool.kind != BURIN_DICT) burin_schema_fail(w, "a tool must be an object");
    const burin_value *function = burin_schema_key(w, tool, "function");
    if (function) tool = *function, strcat(w->path, "/function");
    const burin_value *name = tool.kind == BURIN_DICT ? burin_schema_key(w, tool, "name") : NULL,
                      *parameters = name ? burin_schema_key(w, tool, "parameters") : NULL;
    if (!name || name->kind != BURIN_STRING || !is_plain_name(*name))
        burin_schema_fail(w, "a tool must have a name, without quotes and backslashes");
    int rule = -1;
    bool known = parameters && parameters->kind == BURIN_DICT;
    if (known) w->whole = *parameters;  // what its own $ref are within
    if (takes_arguments_one_by_one(wanted)) {
        const burin_value *properties =
            known ? burin_schema_key(w, *parameters, "properties") : NULL;
        bool listed = properties && properties->kind == BURIN_DICT;
        add_arguments_call(
            w, wanted, *name,
            &(tool_arguments){i, known ? *parameters : *name, listed ? properties->dict : NULL,
                              wanted->shape->kind == BURIN_SHAPE_BRACED});
        return;
    }
    if (known) rule = burin_schema_rule(w, *parameters, "/parameters");
    burin_growing_add(&w->rules, "call-%u ::= ", (unsigned)i);
    add_call(w, wanted, *name, rule);
    burin_growing_add(&w->rules, "\n");
}

// Forbidden in a text: the first tag of calls, up to a character that begins another.
static void first_tag(const char *a, const char *b, char *tag, size_t room) {
    size_t n = (size_t)snprintf(tag, room, "%s%s", a, b), end = 1;
    while (end < n && end < room - 1 && tag[end] != *tag && !strchr(" \n\t\r\001", tag[end])) end++;
    tag[end] = 0;
}

static void add_shaped_calls(burin_growing *g, const burin_tool_syntax *shape) {
    burin_growing_add(g, "calls ::= ("), add_shape(g, shape->begin), add_shape(g, shape->call);
    burin_growing_add(g, shape->prompted ? ")? call " : ") call ");
    if (shape->between) {
        burin_growing_add(g, "("), add_shape(g, shape->between), add_shape(g, shape->call);
        burin_growing_add(g, "call)* ");
    }
    add_shape(g, shape->end), burin_growing_add(g, "\n");
}

// Calls may be anywhere in a text if their syntax has a first tag, else they are all of it.
static void add_shaped_root(burin_growing *g, const burin_tool_syntax *shape, bool must) {
    char tag[64], value_end[64];
    first_tag(shape->begin, shape->call, tag, sizeof tag);
    add_shaped_calls(g, shape);
    if (shape->kind == BURIN_SHAPE_TAGGED) {
        first_tag(shape->value_end, "", value_end, sizeof value_end);
        add_free_text(g, "tagged", value_end);
    }
    if (shape->kind == BURIN_SHAPE_BRACED) add_braced_rules(g, shape->key_end);
    if (must && shape->alone) {
        burin_growing_add(g, "root ::= (ws calls)+ ws\n");
        return;
    }
    if (strlen(tag) > 2) {
        add_free_text(g, "text", tag);
        burin_growing_add(g, "root ::= text (calls text)%s\n", must ? "+" : "*");
        return;
    }
    burin_growing_add(g, must ? "root ::= ws calls\n" : "root ::= ws (calls | [^ \\t\\n\\r");
    if (!must) add_code(g, tag), burin_growing_add(g, "] [^\\x00]*)?\n");
}

static void add_root(burin_growing *g, const tools_wanted *wanted) {
    bool must = wanted->choice == BURIN_CALLS_REQUIRED;
    if (wanted->form == BURIN_TOOLS_SHAPED) {
        add_shaped_root(g, wanted->shape, must);
        return;
    }
    switch (wanted->form) {
        case BURIN_TOOLS_PYTHON:
            burin_growing_add(g, "calls ::= \"[\" ws call (ws \",\" ws call)* ws \"]\"\n");
            burin_growing_add(g, must ? "root ::= ws calls\n"
                                      : "root ::= ws (calls | [^[ \\t\\n\\r] [^\\x00]*)?\n");
            return;
        case BURIN_TOOLS_CHANNELS:
            add_free_text(g, "text", "<|");
            burin_growing_add(
                g,
                "aside ::= \"<|channel|>\" (\"analysis\" | \"commentary\") \"<|message|>\" text "
                "\"<|end|><|start|>assistant\"\n"
                "root ::= aside* (\"<|channel|>commentary to=functions.\" call%s)\n",
                must ? "" : " | \"<|channel|>final<|message|>\" text");
            return;
        case BURIN_TOOLS_LISTED:
            add_free_text(g, "text", mark_listed);
            burin_growing_add(g,
                              "root ::= text (\"[TOOL_CALLS]\" ws \"[\" ws call (ws \",\" ws "
                              "call)* ws \"]\")%s\n",
                              must ? "" : "?");
            return;
        default:
            burin_growing_add(g, must ? "root ::= ws call\n"
                                      : "root ::= ws (call | [^{ \\t\\n\\r] [^\\x00]*)?\n");
    }
}

static void write_tools(burin_schema_writer *w, const char *json, size_t bytes,
                        const void *context) {
    const tools_wanted *wanted = context;
    burin_value messages = burin_json_read(&w->r, w->name, json, bytes);
    const burin_value *tools =
        messages.kind == BURIN_DICT ? burin_schema_key(w, messages, "tools") : NULL;
    if (!tools || tools->kind != BURIN_LIST || !tools->list->n) {
        burin_growing_free(&w->rules);
        return;
    }
    for (uint32_t i = 0; i < tools->list->n; i++) add_tool(w, wanted, tools->list->items[i], i);
    burin_growing_add(&w->rules, "call ::= ");
    for (uint32_t i = 0; i < tools->list->n; i++)
        burin_growing_add(&w->rules, "%scall-%u", i ? " | " : "", (unsigned)i);
    burin_growing_add(&w->rules, "\n");
    add_root(&w->rules, wanted);
}

char burin_tool_argument_kind(const burin_tool_format *f, const char *tool, size_t tool_bytes,
                              const char *key, size_t key_bytes) {
    for (const char *at = f->texts.bytes, *end = at + f->texts.n; at < end;) {
        const char *name = at, *its_key = name + strlen(name) + 1,
                   *kind = its_key + strlen(its_key) + 1;
        if (strlen(name) == tool_bytes && !memcmp(name, tool, tool_bytes) &&
            strlen(its_key) == key_bytes && !memcmp(its_key, key, key_bytes))
            return *kind;
        at = kind + 2;
    }
    return AS_EITHER;
}

char *burin_tools_grammar(burin_tool_format *f, const burin_tools_text *t, burin_tool_choice choice,
                          char *error, size_t room) {
    const tools_wanted wanted = {f->form, choice, &f->shape, &f->texts};
    *error = 0;
    if (f->form == BURIN_TOOLS_FREE) return NULL;
    f->texts.n = 0;
    const burin_grammar_text text = {.name = t->name,
                                     .json = t->json,
                                     .bytes = t->bytes,
                                     .write = write_tools,
                                     .context = &wanted,
                                     .lenient = choice == BURIN_CALLS_ALLOWED,
                                     .missed = f->missed,
                                     .missed_room = sizeof f->missed};
    return burin_write_grammar(&text, error, room);
}
