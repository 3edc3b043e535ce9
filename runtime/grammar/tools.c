#include "tools.h"

#include <stdio.h>
#include <string.h>

#include "schema.h"

const char *const burin_tool_marks[] = {"<tool_call>",      "</tool_call>",      "[TOOL_CALLS]", "[ARGS]",
                                        "<seed:tool_call>", "</seed:tool_call>", "<arg_key>",    "</arg_key>",
                                        "<arg_value>",      "</arg_value>",      "<|channel|>",  "<|message|>",
                                        "<|constrain|>",    "<|start|>",         "<|end|>",      NULL};

static const char mark_tagged[] = "<tool_call>", mark_listed[] = "[TOOL_CALLS]";

// Calls whose arguments stand between tags.
typedef struct tool_tags {
    const char *begin, *end, *name, *name_end, *key, *key_end, *value_end, *last;
} tool_tags;

static const tool_tags *tags_of(burin_tool_form form) {
    static const tool_tags
        markup = {"<tool_call>", "</tool_call>", "<function=", ">", "<parameter=", ">", "</parameter>", "</function>"},
        seed = {"<seed:tool_call>", "</seed:tool_call>", "<function=", ">", "<parameter=", ">", "</parameter>", "</function>"},
        keys = {"<tool_call>", "</tool_call>", "", "\n", "<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>", ""};
    return form == BURIN_TOOLS_MARKUP ? &markup : form == BURIN_TOOLS_SEED ? &seed : form == BURIN_TOOLS_KEYS ? &keys : NULL;
}

burin_tool_form burin_tool_form_of(const void *blob, size_t bytes) {
#define HAS(text) (memmem(blob, bytes, (text), strlen(text)) != NULL)
    if (HAS("<function=") && HAS("<parameter=")) return HAS("<seed:tool_call>") ? BURIN_TOOLS_SEED : BURIN_TOOLS_MARKUP;
    if (HAS("<arg_key>")) return BURIN_TOOLS_KEYS;
    if (HAS("<|channel|>commentary")) return BURIN_TOOLS_CHANNELS;
    if (HAS("[func_name1(")) return BURIN_TOOLS_PYTHON;
    if (HAS("[TOOL_CALLS]")) return HAS("[ARGS]") ? BURIN_TOOLS_ARGUMENTS : BURIN_TOOLS_LISTED;
    if (HAS("<tool_call>") && !HAS("<function=")) return BURIN_TOOLS_TAGGED;
    if (HAS("\"parameters\": ") && HAS("ipython") && !HAS("<function=")) return BURIN_TOOLS_BARE;
#undef HAS
    return BURIN_TOOLS_FREE;
}

typedef struct tools_wanted {
    burin_tool_form form;
    burin_tool_choice choice;
} tools_wanted;

// ---------------------------------------------------------------------------------------------------------------------- text
static void add_class(burin_growing *g, char first, char next) {
    burin_growing_add(g, "[^");
    burin_growing_code(g, (uint8_t)first);
    if (next) burin_growing_code(g, (uint8_t)next);
    burin_growing_add(g, "]");
}

// Rules for a text, by this name, that does not have the mark, whose first character is in it once: pieces behind each such
// character, which differ from the mark somewhere.
static void add_free_text(burin_growing *g, const char *name, const char *mark) {
    int n = (int)strlen(mark);
    burin_growing_add(g, "plain-%s ::= ", name);
    add_class(g, mark[0], 0);
    burin_growing_add(g, "*\n%s ::= plain-%s (", name, name);
    burin_growing_literal(g, mark, 1);
    burin_growing_add(g, " %s-1)*\n", name);
    for (int i = 1; i < n; i++) {
        burin_growing_add(g, "%s-%d ::= (", name, i);
        add_class(g, mark[0], mark[i]);
        burin_growing_add(g, " plain-%s", name);
        if (i < n - 1) {
            burin_growing_add(g, " | ");
            burin_growing_literal(g, mark + i, 1);
            burin_growing_add(g, " %s-%d", name, i + 1);
        }
        burin_growing_add(g, ")?\n");
    }
}

// --------------------------------------------------------------------------------------------------------------------- calls
static void add_key(burin_growing *g, const char *key) { burin_growing_add(g, " ws \"\\\"%s\\\"\" ws \":\" ws ", key); }

static void add_call(burin_schema_writer *w, const tools_wanted *wanted, burin_value name, int arguments) {
    burin_growing *g = &w->rules;
    char rule[32] = "object";
    if (arguments >= 0) snprintf(rule, sizeof rule, "s%d", arguments);
    if (wanted->form == BURIN_TOOLS_ARGUMENTS) {
        burin_growing_literal(g, name.text, name.length);
        burin_growing_add(g, " \"[ARGS]\" ws %s", rule);
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
    if (wanted->form == BURIN_TOOLS_LISTED) burin_growing_add(g, "(\",\" ws \"\\\"id\\\"\" ws \":\" ws string ws)? ");
    burin_growing_add(g, "\"}\"");
}

// ------------------------------------------------------------------------------------------------- arguments one by one
static bool is_string_of(const burin_value *value, const char *text) {
    return value && value->kind == BURIN_STRING && value->length == strlen(text) && !memcmp(value->text, text, value->length);
}

static bool all_texts(const burin_value *list) {
    bool all = list && list->kind == BURIN_LIST && list->list->n;
    for (uint32_t i = 0; all && i < list->list->n; i++) all = list->list->items[i].kind == BURIN_STRING;
    return all;
}

// A value between tags: texts stand as they are, whatever else their schemas say of them but an enum; everything else is JSON.
static void add_tagged_value(burin_schema_writer *w, burin_growing *g, burin_value schema, const char *step) {
    const burin_value *some = schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "enum") : NULL;
    if (all_texts(some)) {
        burin_growing_add(g, "\"\\n\"? (");
        for (uint32_t i = 0; i < some->list->n; i++) {
            if (i) burin_growing_add(g, " | ");
            burin_growing_literal(g, some->list->items[i].text, some->list->items[i].length);
        }
        burin_growing_add(g, ") \"\\n\"?");
    } else if (schema.kind == BURIN_DICT && is_string_of(burin_schema_key(w, schema, "type"), "string")) {
        burin_growing_add(g, "tagged");
    } else {
        burin_growing_add(g, "ws s%d ws", burin_schema_rule(w, schema, step));
    }
}

// True, False and None where JSON has true, false and null; inside of lists and objects it stays JSON.
static void add_python_value(burin_schema_writer *w, burin_growing *g, burin_value schema, const char *step) {
    const burin_value *type = schema.kind == BURIN_DICT ? burin_schema_key(w, schema, "type") : NULL;
    if (is_string_of(type, "boolean"))
        burin_growing_add(g, "(\"True\" | \"False\")");
    else if (is_string_of(type, "null"))
        burin_growing_add(g, "\"None\"");
    else
        burin_growing_add(g, "s%d", burin_schema_rule(w, schema, step));
}

typedef struct tool_arguments {
    unsigned tool;
    burin_value parameters;
    const burin_dict *properties;  // NULL: they are not known
} tool_arguments;

static bool takes_always(burin_schema_writer *w, const tool_arguments *a, uint32_t k) {
    const burin_value *required = burin_schema_key(w, a->parameters, "required");
    return required && burin_schema_lists(*required, a->properties->pairs[k].key);
}

static void add_tag_text(burin_growing *g, const char *text) {
    if (*text) burin_growing_literal(g, text, strlen(text)), burin_growing_add(g, " ");
}

// The rule of an argument, "call-2-0", behind those of its schema.
static void add_tool_argument(burin_schema_writer *w, const tools_wanted *wanted, const char *rule,
                              const burin_pair *argument) {
    const tool_tags *tags = tags_of(wanted->form);
    burin_value key = argument->key;
    burin_growing *g = &w->one[w->depth++];
    char step[64];
    snprintf(step, sizeof step, "/parameters/properties/%.*s", key.length < 32 ? (int)key.length : 32, key.text);
    g->n = 0;
    burin_growing_add(g, "%s ::= ", rule);
    if (tags) add_tag_text(g, tags->key);
    burin_growing_literal(g, key.text, key.length);
    burin_growing_add(g, " ");
    if (tags) {
        add_tag_text(g, tags->key_end), add_tagged_value(w, g, argument->value, step), burin_growing_add(g, " ");
        add_tag_text(g, tags->value_end), burin_growing_add(g, "ws");
    } else {
        burin_growing_add(g, "\"=\" "), add_python_value(w, g, argument->value, step);
    }
    burin_growing_add(g, "\n");
    burin_growing_bytes(&w->rules, g->bytes, g->n);
    w->depth--;
}

// In the order of the schema; those that are not required may be missing.
static void add_tagged_arguments(burin_schema_writer *w, const tool_tags *tags, const tool_arguments *a) {
    burin_growing *g = &w->rules;
    if (!a->properties) {
        burin_growing_add(g, "("), add_tag_text(g, tags->key), burin_growing_add(g, "[^<>\\n]+ ");
        add_tag_text(g, tags->key_end), burin_growing_add(g, "tagged "), add_tag_text(g, tags->value_end),
            burin_growing_add(g, "ws)* ");
        return;
    }
    for (uint32_t k = 0; k < a->properties->n; k++)
        burin_growing_add(g, "call-%u-%u%s ", a->tool, k, takes_always(w, a, k) ? "" : "?");
}

// A comma stands between any two: first comes any argument up to the first that is required, then each of the others or not.
static void add_python_arguments(burin_schema_writer *w, const tool_arguments *a) {
    burin_growing *g = &w->rules;
    uint32_t n = a->properties ? a->properties->n : 0, first = 0;
    bool must = false;
    if (!n) return;
    burin_growing_add(g, "(");
    for (; first < n && !must; first++) {
        must = takes_always(w, a, first);
        burin_growing_add(g, "%scall-%u-%u", first ? " | " : "", a->tool, first);
        for (uint32_t k = first + 1; k < n; k++)
            burin_growing_add(g, " (\",\" ws call-%u-%u)%s", a->tool, k, takes_always(w, a, k) ? "" : "?");
    }
    burin_growing_add(g, must ? ") " : ")? ");
}

static void add_arguments_call(burin_schema_writer *w, const tools_wanted *wanted, burin_value name, const tool_arguments *a) {
    const tool_tags *tags = tags_of(wanted->form);
    char rule[32];
    for (uint32_t k = 0; a->properties && k < a->properties->n; k++) {
        snprintf(rule, sizeof rule, "call-%u-%u", a->tool, (unsigned)k);
        add_tool_argument(w, wanted, rule, &a->properties->pairs[k]);
    }
    burin_growing_add(&w->rules, "call-%u ::= ", a->tool);
    if (tags) add_tag_text(&w->rules, tags->name);
    burin_growing_literal(&w->rules, name.text, name.length);
    burin_growing_add(&w->rules, " ");
    if (tags) {
        add_tag_text(&w->rules, tags->name_end), burin_growing_add(&w->rules, "ws ");
        add_tagged_arguments(w, tags, a);
        add_tag_text(&w->rules, tags->last), burin_growing_add(&w->rules, "\n");
    } else {
        burin_growing_add(&w->rules, "\"(\" "), add_python_arguments(w, a), burin_growing_add(&w->rules, "\")\"\n");
    }
}

// A name that needs no escapes in JSON.
static bool is_plain_name(burin_value name) {
    for (uint32_t i = 0; i < name.length; i++)
        if ((unsigned char)name.text[i] < 32 || name.text[i] == '"' || name.text[i] == '\\') return false;
    return name.length > 0;
}

static void add_tool(burin_schema_writer *w, const tools_wanted *wanted, burin_value tool, uint32_t i) {
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
    if (tags_of(wanted->form) || wanted->form == BURIN_TOOLS_PYTHON) {
        const burin_value *properties = known ? burin_schema_key(w, *parameters, "properties") : NULL;
        bool listed = properties && properties->kind == BURIN_DICT;
        add_arguments_call(w, wanted, *name,
                           &(tool_arguments){i, known ? *parameters : *name, listed ? properties->dict : NULL});
        return;
    }
    if (known) rule = burin_schema_rule(w, *parameters, "/parameters");
    burin_growing_add(&w->rules, "call-%u ::= ", (unsigned)i);
    add_call(w, wanted, *name, rule);
    burin_growing_add(&w->rules, "\n");
}

static void add_tagged_root(burin_growing *g, const tool_tags *tags, bool must) {
    add_free_text(g, "text", tags->begin);
    add_free_text(g, "tagged", tags->value_end);
    burin_growing_add(g, "root ::= text ("), add_tag_text(g, tags->begin), burin_growing_add(g, "ws call ws ");
    add_tag_text(g, tags->end), burin_growing_add(g, "text)%s\n", must ? "+" : "*");
}

static void add_root(burin_growing *g, const tools_wanted *wanted) {
    bool must = wanted->choice == BURIN_CALLS_REQUIRED;
    if (tags_of(wanted->form)) {
        add_tagged_root(g, tags_of(wanted->form), must);
        return;
    }
    switch (wanted->form) {
        case BURIN_TOOLS_PYTHON:
            burin_growing_add(g, "calls ::= \"[\" ws call (ws \",\" ws call)* ws \"]\"\n");
            burin_growing_add(g, must ? "root ::= ws calls\n" : "root ::= ws (calls | [^[ \\t\\n\\r] [^\\x00]*)?\n");
            return;
        case BURIN_TOOLS_CHANNELS:
            add_free_text(g, "text", "<|");
            burin_growing_add(g,
                              "aside ::= \"<|channel|>\" (\"analysis\" | \"commentary\") \"<|message|>\" text "
                              "\"<|end|><|start|>assistant\"\n"
                              "root ::= aside* (\"<|channel|>commentary to=functions.\" call%s)\n",
                              must ? "" : " | \"<|channel|>final<|message|>\" text");
            return;
        case BURIN_TOOLS_TAGGED:
            add_free_text(g, "text", mark_tagged);
            burin_growing_add(g, "root ::= text (\"<tool_call>\" ws call ws \"</tool_call>\" text)%s\n", must ? "+" : "*");
            return;
        case BURIN_TOOLS_LISTED:
            add_free_text(g, "text", mark_listed);
            burin_growing_add(g, "root ::= text (\"[TOOL_CALLS]\" ws \"[\" ws call (ws \",\" ws call)* ws \"]\")%s\n",
                              must ? "" : "?");
            return;
        case BURIN_TOOLS_ARGUMENTS:
            add_free_text(g, "text", mark_listed);
            burin_growing_add(g, "root ::= text (\"[TOOL_CALLS]\" call)%s\n", must ? "+" : "*");
            return;
        default:
            burin_growing_add(g, must ? "root ::= ws call\n" : "root ::= ws (call | [^{ \\t\\n\\r] [^\\x00]*)?\n");
    }
}

static void write_tools(burin_schema_writer *w, const char *json, size_t bytes, const void *context) {
    const tools_wanted *wanted = context;
    burin_value messages = burin_json_read(&w->r, w->name, json, bytes);
    const burin_value *tools = messages.kind == BURIN_DICT ? burin_schema_key(w, messages, "tools") : NULL;
    if (!tools || tools->kind != BURIN_LIST || !tools->list->n) {
        burin_growing_free(&w->rules);
        return;
    }
    for (uint32_t i = 0; i < tools->list->n; i++) add_tool(w, wanted, tools->list->items[i], i);
    burin_growing_add(&w->rules, "call ::= ");
    for (uint32_t i = 0; i < tools->list->n; i++) burin_growing_add(&w->rules, "%scall-%u", i ? " | " : "", (unsigned)i);
    burin_growing_add(&w->rules, "\n");
    add_root(&w->rules, wanted);
}

char *burin_tools_grammar(const char *name, const char *json, size_t bytes, burin_tool_form form, burin_tool_choice choice,
                          char *error, size_t room) {
    const tools_wanted wanted = {form, choice};
    *error = 0;
    if (form == BURIN_TOOLS_FREE) return NULL;
    return burin_write_grammar(&(burin_grammar_text){name, json, bytes, write_tools, &wanted}, error, room);
}
