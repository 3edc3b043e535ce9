#include "tools.h"

#include <stdio.h>
#include <string.h>

#include "schema.h"

const char *const burin_tool_marks[] = {"<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]", NULL};

static const char mark_tagged[] = "<tool_call>", mark_listed[] = "[TOOL_CALLS]";

burin_tool_form burin_tool_form_of(const void *blob, size_t bytes) {
#define HAS(text) (memmem(blob, bytes, (text), strlen(text)) != NULL)
    bool marked_up = HAS("<function=") || HAS("<arg_key>");
    if (HAS("[TOOL_CALLS]")) return HAS("[ARGS]") ? BURIN_TOOLS_ARGUMENTS : BURIN_TOOLS_LISTED;
    if (HAS("<tool_call>") && !marked_up) return BURIN_TOOLS_TAGGED;
    if (HAS("\"parameters\": ") && HAS("ipython") && !marked_up) return BURIN_TOOLS_BARE;
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

// Rules for a text that does not have the mark, whose first character is in it once: pieces behind each such character, which
// differ from the mark somewhere.
static void add_free_text(burin_growing *g, const char *mark) {
    int n = (int)strlen(mark);
    burin_growing_add(g, "plain-text ::= ");
    add_class(g, mark[0], 0);
    burin_growing_add(g, "*\ntext ::= plain-text (");
    burin_growing_literal(g, mark, 1);
    burin_growing_add(g, " behind-1)*\n");
    for (int i = 1; i < n; i++) {
        burin_growing_add(g, "behind-%d ::= (", i);
        add_class(g, mark[0], mark[i]);
        burin_growing_add(g, " plain-text");
        if (i < n - 1) {
            burin_growing_add(g, " | ");
            burin_growing_literal(g, mark + i, 1);
            burin_growing_add(g, " behind-%d", i + 1);
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
    if (parameters && parameters->kind == BURIN_DICT) {
        w->whole = *parameters;  // what its own $ref are within
        rule = burin_schema_rule(w, *parameters, "/parameters");
    }
    burin_growing_add(&w->rules, "call-%u ::= ", (unsigned)i);
    add_call(w, wanted, *name, rule);
    burin_growing_add(&w->rules, "\n");
}

static void add_root(burin_growing *g, const tools_wanted *wanted) {
    bool must = wanted->choice == BURIN_CALLS_REQUIRED;
    switch (wanted->form) {
        case BURIN_TOOLS_TAGGED:
            add_free_text(g, mark_tagged);
            burin_growing_add(g, "root ::= text (\"<tool_call>\" ws call ws \"</tool_call>\" text)%s\n", must ? "+" : "*");
            return;
        case BURIN_TOOLS_LISTED:
            add_free_text(g, mark_listed);
            burin_growing_add(g, "root ::= text (\"[TOOL_CALLS]\" ws \"[\" ws call (ws \",\" ws call)* ws \"]\")%s\n",
                              must ? "" : "?");
            return;
        case BURIN_TOOLS_ARGUMENTS:
            add_free_text(g, mark_listed);
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
