// JSON schemas to grammars: the meaning of each keyword, and refused ones. Properties come in the
// schema's order; white space is free, up to 32 characters in one place.
#include "schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "grammar.h"

static const char basic_rules[] =
    "ws ::= [ \\t\\n\\r]{0,32}\n"
    "plain ::= [^\"\\\\\\x00-\\x1f]\n"
    "char ::= plain | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" ([0-9a-ce-fA-CE-F] [0-9a-fA-F]{3} | [dD] "
    "[0-7] [0-9a-fA-F]{2} |\n"
    "    [dD] [89abAB] [0-9a-fA-F]{2} \"\\\\u\" [dD] [c-fC-F] [0-9a-fA-F]{2}))\n"
    "string ::= \"\\\"\" char* \"\\\"\"\n"
    "integer ::= \"-\"? (\"0\" | [1-9] [0-9]*)\n"
    "number ::= integer (\".\" [0-9]+)? ([eE] [+-]? [0-9]+)?\n"
    "boolean ::= \"true\" | \"false\"\n"
    "null ::= \"null\"\n"
    "object ::= \"{\" ws (string ws \":\" ws value (ws \",\" ws string ws \":\" ws value)* ws)? "
    "\"}\"\n"
    "array ::= \"[\" ws (value (ws \",\" ws value)* ws)? \"]\"\n"
    "value ::= object | array | string | number | boolean | null\n";

// -------------------------------------------------------------------------------------------- text
void burin_growing_bytes(burin_growing *g, const char *bytes, size_t n) {
    if (g->n + n + 1 > g->room) {
        char *more = burin_allocate(1, g->room = 2 * g->room + n + 256);
        if (g->n) memcpy(more, g->bytes, g->n);
        free(g->bytes);
        g->bytes = more;
    }
    memcpy(g->bytes + g->n, bytes, n);
    g->bytes[g->n += n] = 0;
}

void burin_growing_add(burin_growing *g, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    burin_growing_bytes(g, text, n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void burin_growing_free(burin_growing *g) {
    free(g->bytes);
    *g = (burin_growing){0};
}

void burin_growing_code(burin_growing *g, uint32_t code) {
    burin_growing_add(g, code > 0xffff ? "\\U%08x" : "\\u%04x", code);
}

void burin_growing_literal(burin_growing *g, const char *text, size_t n) {
    burin_growing_add(g, "\"");
    for (const char *at = text, *end = text + n; at < end;)
        burin_growing_code(g, burin_character(&at, end));
    burin_growing_add(g, "\"");
}

void burin_schema_fail(burin_schema_writer *w, const char *format, ...) {
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    burin_vformat(what, sizeof what, format, arguments);
    va_end(arguments);
    burin_render_fail(&w->r, "%s: %s: %s", w->name, w->path, what);
}

void burin_schema_miss(burin_schema_writer *w, const char *format, ...) {
    char what[200];
    va_list arguments;
    va_start(arguments, format);
    burin_vformat(what, sizeof what, format, arguments);
    va_end(arguments);
    if (!w->lenient) burin_schema_fail(w, "%s", what);
    if (!w->n_missed++) burin_format(w->missed, sizeof w->missed, "%.60s: %s", w->path, what);
}

// ---------------------------------------------------------------------------------------- keywords
// Supported keywords, and those without effect on documents.
static const char *const known_keywords[] = {"type",
                                             "enum",
                                             "const",
                                             "properties",
                                             "required",
                                             "additionalProperties",
                                             "items",
                                             "prefixItems",
                                             "minItems",
                                             "maxItems",
                                             "minLength",
                                             "maxLength",
                                             "pattern",
                                             "format",
                                             "minimum",
                                             "maximum",
                                             "exclusiveMinimum",
                                             "exclusiveMaximum",
                                             "multipleOf",
                                             "minProperties",
                                             "maxProperties",
                                             "propertyNames",
                                             "patternProperties",
                                             "uniqueItems",
                                             "not",
                                             "$anchor",
                                             "$vocabulary",
                                             "contentEncoding",
                                             "contentMediaType",
                                             "contentSchema",
                                             "anyOf",
                                             "oneOf",
                                             "allOf",
                                             "$ref",
                                             "$defs",
                                             "definitions",
                                             "$schema",
                                             "$id",
                                             "$comment",
                                             "title",
                                             "description",
                                             "default",
                                             "examples",
                                             "deprecated",
                                             "readOnly",
                                             "writeOnly"};

static void check_keywords(burin_schema_writer *w, burin_value schema) {
    for (uint32_t i = 0; i < schema.dict->n; i++) {
        burin_value key = schema.dict->pairs[i].key;
        bool known = key.length > 2 && !memcmp(key.text, "x-", 2);
        for (size_t k = 0; k < sizeof known_keywords / sizeof *known_keywords && !known; k++)
            known = burin_is_text(key, known_keywords[k]);
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(key.length < 60 ? key.length : 60), key.text);
        if (!known) burin_schema_miss(w, "the keyword %s is not supported", name);
    }
}

int64_t burin_schema_count(burin_schema_writer *w, burin_value schema, const char *key,
                           int64_t absent) {
    const burin_value *v = burin_schema_key(w, schema, key);
    if (!v) return absent;
    double n = v->kind == BURIN_INTEGER || v->kind == BURIN_FLOAT ? burin_number(*v) : -1;
    if (!(n >= 0 && n <= BURIN_GRAMMAR_NODES) || n != floor(n))
        burin_schema_fail(w, "%s must be a whole number from 0 to %d", key, BURIN_GRAMMAR_NODES);
    return (int64_t)n;
}

// The bound that holds of an inclusive and an exclusive one; low: the larger, else the smaller.
static bool read_bound(burin_schema_writer *w, burin_value schema, bool low, burin_decimal *bound) {
    const char *keyword = low ? "minimum" : "maximum",
               *other = low ? "exclusiveMinimum" : "exclusiveMaximum";
    const burin_value *with = burin_schema_key(w, schema, keyword),
                      *without = burin_schema_key(w, schema, other);
    burin_decimal open;
    if (with) *bound = burin_decimal_of(w, *with, keyword);
    if (!without) return with;
    open = burin_decimal_of(w, *without, other);
    open.open = true;
    int order = with ? burin_decimal_order(&open, bound) : 0;
    if (!with || (low ? order >= 0 : order <= 0)) *bound = open;
    return true;
}

static burin_bounds read_bounds_of(burin_schema_writer *w, burin_value schema) {
    burin_bounds b = {0};
    b.has_low = read_bound(w, schema, true, &b.low);
    b.has_high = read_bound(w, schema, false, &b.high);
    return b;
}

// ----------------------------------------------------------------------------------------- strings
#define YEAR4 "[0-9]{4}"
#define LEAP                                                                                 \
    "([0-9]{2} (\"0\" [48] | [2468] [048] | [13579] [26]) | ([02468] [048] | [13579] [26]) " \
    "\"00\")"
#define DATE                                                                                     \
    "(" YEAR4                                                                                    \
    " \"-\" ((\"0\" [13578] | \"10\" | \"12\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01]) | " \
    "(\"0\" [469] | \"11\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"30\") | "                        \
    "\"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8])) | " LEAP " \"-02-29\")"
#define TIME                                                                               \
    "(([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9] \":\" [0-5] [0-9] (\".\" [0-9]{1,9})? " \
    "(\"Z\" | [+-] ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9]))"
#define BYTE_NUMBER "(\"25\" [0-5] | \"2\" [0-4] [0-9] | \"1\" [0-9]{2} | [1-9]? [0-9])"
#define LABEL       "[0-9A-Za-z] ([0-9A-Za-z-]{0,61} [0-9A-Za-z])?"
#define HOST        LABEL " (\".\" " LABEL "){0,8}"
static const struct string_format {
    const char *name, *grammar;
    int64_t least, most;  // characters; most -1: any number
} formats_of_strings[] = {
    {"date", DATE, 10, 10},
    {"time", TIME, 9, 24},
    {"date-time", DATE " \"T\" " TIME, 20, 35},
    {"uuid", "[0-9a-fA-F]{8} (\"-\" [0-9a-fA-F]{4}){3} \"-\" [0-9a-fA-F]{12}", 36, 36},
    {"ipv4", BYTE_NUMBER " (\".\" " BYTE_NUMBER "){3}", 7, 15},
    {"hostname", HOST, 1, 575},
    {"email", "[0-9A-Za-z_%+-]{1,32} (\".\" [0-9A-Za-z_%+-]{1,15}){0,2} \"@\" " HOST, 3, 640},
    {"uri",
     "[A-Za-z] [0-9A-Za-z+.-]{0,30} \":\" ([!$&-;=?-Z_a-z~] | \"#\" | \"%\" [0-9A-Fa-f]{2})+", 3,
     -1},
};

// NULL: the format is not known.
static const struct string_format *find_format(burin_schema_writer *w, burin_value schema) {
    const burin_value *format = burin_schema_key(w, schema, "format");
    for (size_t i = 0; format && i < sizeof formats_of_strings / sizeof *formats_of_strings; i++)
        if (burin_is_text(*format, formats_of_strings[i].name)) return &formats_of_strings[i];
    if (format)
        burin_schema_miss(w,
                          "this format is not supported; date, time, date-time, uuid, ipv4, email, "
                          "hostname and uri are");
    return NULL;
}

static void write_string(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    const burin_value *pattern = burin_schema_key(w, schema, "pattern");
    const struct string_format *format = find_format(w, schema);
    burin_span_of_lengths all = {burin_schema_count(w, schema, "minLength", 0),
                                 burin_schema_count(w, schema, "maxLength", -1)};
    if (all.most >= 0 && all.most < all.least)
        burin_schema_fail(w, "maxLength is less than minLength");
    if (pattern && pattern->kind != BURIN_STRING) burin_schema_fail(w, "pattern must be a string");
    if (format && pattern) burin_schema_miss(w, "pattern beside format is not supported");
    if (format && (all.least > format->least ||
                   (all.most >= 0 && (format->most < 0 || all.most < format->most))))
        burin_schema_miss(w, "lengths beside format are not supported");
    burin_growing_add(g, "\"\\\"\" ");
    if (format)
        burin_growing_bytes(g, format->grammar, strlen(format->grammar));
    else if (pattern)
        burin_schema_pattern(w, g, *pattern, all);
    else if (all.most >= 0)
        burin_growing_add(g, "char{%lld,%lld}", (long long)all.least, (long long)all.most);
    else
        burin_growing_add(g, "char{%lld,}", (long long)all.least);
    burin_growing_add(g, " \"\\\"\"");
}

// ------------------------------------------------------------------------------------------ values
static bool is_finite(burin_value v) {
    bool finite = v.kind != BURIN_FLOAT || isfinite(v.real);
    for (uint32_t i = 0; v.kind == BURIN_LIST && i < v.list->n; i++)
        finite &= is_finite(v.list->items[i]);
    for (uint32_t i = 0; v.kind == BURIN_DICT && i < v.dict->n; i++)
        finite &= is_finite(v.dict->pairs[i].value);
    return finite;
}

static void write_constant(burin_schema_writer *w, burin_growing *g, burin_value value) {
    if (!is_finite(value)) burin_schema_fail(w, "a constant has a number that JSON does not know");
    const burin_json_style style = {
        .indent = burin_none(), .between = BURIN_LITERAL(","), .behind_key = BURIN_LITERAL(":")};
    burin_value text = burin_json_text(&w->r, value, &style);
    burin_growing_literal(g, text.text, text.length);
}

static void write_type(burin_schema_writer *w, burin_growing *g, burin_value schema,
                       burin_value type) {
    burin_bounds bounds = read_bounds_of(w, schema);
    if (burin_is_text(type, "object")) return burin_schema_object(w, g, schema);
    if (burin_is_text(type, "array")) return burin_schema_array(w, g, schema);
    if (burin_is_text(type, "string")) return write_string(w, g, schema);
    const burin_value *multiple = burin_schema_key(w, schema, "multipleOf");
    bool whole = burin_is_text(type, "integer"), number = whole || burin_is_text(type, "number");
    if (number && multiple) return burin_schema_multiple(w, g, whole, &bounds, *multiple);
    if (number) return burin_schema_number(w, g, whole, &bounds);
    if (burin_is_text(type, "boolean") || burin_is_text(type, "null"))
        return burin_growing_bytes(g, type.text, type.length);
    burin_schema_fail(
        w,
        "type must be object, array, string, number, integer, boolean or null, or a list of them");
}

// A schema's types: its own, or those its keywords concern; none: any.
static burin_value types_of(burin_schema_writer *w, burin_value schema) {
    static const struct {
        const char *keyword, *type;
    } about[] = {{"properties", "object"},
                 {"required", "object"},
                 {"additionalProperties", "object"},
                 {"items", "array"},
                 {"prefixItems", "array"},
                 {"minItems", "array"},
                 {"maxItems", "array"},
                 {"minLength", "string"},
                 {"maxLength", "string"},
                 {"pattern", "string"},
                 {"format", "string"},
                 {"minimum", "number"},
                 {"maximum", "number"},
                 {"exclusiveMinimum", "number"},
                 {"exclusiveMaximum", "number"},
                 {"multipleOf", "number"},
                 {"minProperties", "object"},
                 {"maxProperties", "object"},
                 {"uniqueItems", "array"},
                 {"propertyNames", "object"},
                 {"patternProperties", "object"}};
    const burin_value *type = burin_schema_key(w, schema, "type");
    burin_value types = burin_list_new(&w->r, BURIN_LIST, 1);
    if (type && type->kind == BURIN_LIST) return *type;
    if (type) return burin_list_add(&w->r, types, *type), types;
    for (size_t i = 0; i < sizeof about / sizeof *about && !types.list->n; i++)
        if (burin_schema_key(w, schema, about[i].keyword))
            burin_list_add(&w->r, types, burin_string_of(about[i].type, strlen(about[i].type)));
    return types;
}

static void write_types(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    burin_value types = types_of(w, schema);
    const burin_value *texts =
        burin_schema_key(w, schema, "not");  // strings, where it is left here
    if (texts) return burin_schema_other_strings(w, g, *texts);
    if (!types.list->n) burin_growing_add(g, "value");
    for (uint32_t i = 0; i < types.list->n; i++) {
        if (i) burin_growing_add(g, " | ");
        write_type(w, g, schema, types.list->items[i]);
    }
}

static bool has_type(burin_schema_writer *w, burin_value types, burin_value value) {
    static const char *const names[] = {
        [BURIN_NONE] = "null",    [BURIN_BOOL] = "boolean", [BURIN_INTEGER] = "integer",
        [BURIN_FLOAT] = "number", [BURIN_BIG] = "integer",  [BURIN_STRING] = "string",
        [BURIN_LIST] = "array",   [BURIN_DICT] = "object"};
    (void)w;
    for (uint32_t i = 0; i < types.list->n; i++) {
        if (burin_is_text(types.list->items[i], names[value.kind])) return true;
        if ((value.kind == BURIN_INTEGER || value.kind == BURIN_BIG) &&
            burin_is_text(types.list->items[i], "number"))
            return true;
    }
    return !types.list->n;
}

static void write_enum(burin_schema_writer *w, burin_growing *g, burin_value schema,
                       burin_value values) {
    burin_value types = types_of(w, schema);
    bool first = true;
    if (values.kind != BURIN_LIST) burin_schema_fail(w, "enum must be a list");
    for (uint32_t i = 0; i < values.list->n; i++) {
        if (!has_type(w, types, values.list->items[i])) continue;
        if (!first) burin_growing_add(g, " | ");
        write_constant(w, g, values.list->items[i]);
        first = false;
    }
    if (first) burin_schema_fail(w, "no value of enum has the type");
}

// ------------------------------------------------------------------------------------ combinations
// "#", "#/$defs/point"
static burin_value resolve(burin_schema_writer *w, burin_value reference) {
    burin_value at = w->whole;
    if (reference.kind != BURIN_STRING || !reference.length || *reference.text != '#')
        burin_schema_fail(w, "$ref must begin with #: other documents are not read");
    for (const char *c = reference.text + 1, *end = reference.text + reference.length; c < end;) {
        char key[256];
        size_t n = 0;
        if (*c++ != '/') burin_schema_fail(w, "$ref must be a path as in #/$defs/point");
        for (; c < end && *c != '/' && n < sizeof key - 1; c++) {
            bool escaped = *c == '~' && end - c > 1 && (c[1] == '0' || c[1] == '1');
            key[n++] = !escaped ? *c : *++c == '0' ? '~' : '/';
        }
        key[n] = 0;
        const burin_value *next =
            at.kind == BURIN_DICT ? burin_dict_find_text(&w->r, at, key) : NULL;
        if (!next) burin_schema_fail(w, "$ref names %s, which is not there", key);
        at = *next;
    }
    return at;
}

static burin_value without(burin_schema_writer *w, burin_value schema, const char *key) {
    burin_value rest = burin_dict_new(&w->r);
    for (uint32_t i = 0; i < schema.dict->n; i++)
        if (!burin_is_text(schema.dict->pairs[i].key, key))
            burin_dict_set(&w->r, rest, schema.dict->pairs[i].key, schema.dict->pairs[i].value);
    return rest;
}

// Returns true if it restricts documents.
bool burin_schema_says_something(burin_schema_writer *w, burin_value schema) {
    static const char *const silent[] = {"$defs",    "definitions", "$schema",     "$id",
                                         "$comment", "title",       "description", "default",
                                         "examples", "deprecated",  "readOnly",    "writeOnly"};
    uint32_t n = schema.dict->n;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        n -= burin_schema_key(w, schema, silent[i]) != NULL;
    return n > 0;
}

static void write_choice(burin_schema_writer *w, burin_growing *g, burin_value schema,
                         const char *key) {
    const burin_value *choices = burin_schema_key(w, schema, key);
    burin_value rest = without(w, schema, key);
    if (choices->kind != BURIN_LIST || !choices->list->n)
        burin_schema_fail(w, "%s must be a list of schemas", key);
    bool more = burin_schema_says_something(w, rest);
    for (uint32_t i = 0; i < choices->list->n; i++) {
        char step[64];
        snprintf(step, sizeof step, "/%s/%u", key, i);
        burin_value choice = choices->list->items[i];
        burin_growing_add(
            g, "%ss%d", i ? " | " : "",
            burin_schema_rule(w, more ? burin_schema_merge(w, choice, rest) : choice, step));
    }
}

static void write_all_of(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    const burin_value *all = burin_schema_key(w, schema, "allOf");
    burin_value merged = without(w, schema, "allOf");
    if (all->kind != BURIN_LIST) burin_schema_fail(w, "allOf must be a list of schemas");
    for (uint32_t i = 0; i < all->list->n; i++)
        merged = burin_schema_merge(w, merged, all->list->items[i]);
    burin_growing_add(g, "s%d", burin_schema_rule(w, merged, "/allOf"));
}

static void write_reference(burin_schema_writer *w, burin_growing *g, burin_value schema,
                            burin_value reference) {
    burin_value there = resolve(w, reference), rest = without(w, schema, "$ref");
    if (burin_schema_says_something(w, rest)) there = burin_schema_merge(w, there, rest);
    burin_growing_add(g, "s%d", burin_schema_rule(w, there, "/$ref"));
}

// The replacement of a schema that no grammar can hold: any document of its types.
static void write_basic(burin_growing *g, burin_value type) {
    static const char *const names[] = {"object",  "array",   "string", "number",
                                        "integer", "boolean", "null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (burin_is_text(type, names[i])) return burin_growing_add(g, "%s", names[i]);
    burin_growing_add(g, "value");
}

static void write_schema(burin_schema_writer *w, burin_growing *g, burin_value schema) {
    const burin_value *reference = burin_schema_key(w, schema, "$ref"),
                      *values = burin_schema_key(w, schema, "enum"),
                      *constant = burin_schema_key(w, schema, "const");
    check_keywords(w, schema);
    if (burin_schema_key(w, schema, "not")) {
        schema = burin_schema_without_not(w, schema);
        values = burin_schema_key(w, schema, "enum");
    }
    if (reference)
        write_reference(w, g, schema, *reference);
    else if (burin_schema_key(w, schema, "allOf"))
        write_all_of(w, g, schema);
    else if (burin_schema_key(w, schema, "anyOf"))
        write_choice(w, g, schema, "anyOf");
    else if (burin_schema_key(w, schema, "oneOf"))
        write_choice(w, g, schema, "oneOf");
    else if (constant)
        write_constant(w, g, *constant);
    else if (values)
        write_enum(w, g, schema, *values);
    else
        write_types(w, g, schema);
}

static void begin_rule(burin_growing *g, int number) {
    g->n = 0;
    burin_growing_add(g, "s%d ::= ", number);
}

// Like write_schema; a failure undoes the output for the schema, and its documents may be anything
// of its type.
static void try_schema(burin_schema_writer *w, burin_growing *g, burin_value schema, int number) {
    jmp_buf outer;
    size_t rules = w->rules.n;
    int depth = w->depth;
    const burin_value *type = burin_schema_key(w, schema, "type");
    memcpy(&outer, &w->r.stop, sizeof outer);
    bool good = !setjmp(w->r.stop);
    if (good) write_schema(w, g, schema);
    memcpy(&w->r.stop, &outer, sizeof outer);
    if (good) return;
    if (!w->n_missed++) snprintf(w->missed, sizeof w->missed, "%.250s", w->out.error);
    w->depth = depth, w->n_written = number + 1;
    if (w->rules.bytes) w->rules.bytes[w->rules.n = rules] = 0;
    begin_rule(g, number);
    write_basic(g, type ? *type : burin_none());
}

static void write_rule(burin_schema_writer *w, burin_value schema, int number) {
    burin_growing *g = &w->one[w->depth++];
    begin_rule(g, number);
    if (w->lenient)
        try_schema(w, g, schema, number);
    else
        write_schema(w, g, schema);
    burin_growing_add(g, "\n");
    burin_growing_bytes(&w->rules, g->bytes, g->n);
    w->depth--;
}

int burin_schema_rule(burin_schema_writer *w, burin_value schema, const char *step) {
    size_t before = strlen(w->path);
    snprintf(w->path + before, sizeof w->path - before, "%s", step);
    if (schema.kind == BURIN_BOOL && schema.integer) schema = burin_dict_new(&w->r);
    if (schema.kind == BURIN_BOOL) burin_schema_fail(w, "false describes no document");
    if (schema.kind != BURIN_DICT)
        burin_schema_fail(w, "a schema must be an object, true or false");
    int number = 0;
    while (number < w->n_written && w->written[number] != schema.dict) number++;
    if (number == w->n_written) {
        if (number == BURIN_SCHEMA_RULES)
            burin_schema_fail(w, "more than %d schemas", BURIN_SCHEMA_RULES);
        if (w->depth == BURIN_SCHEMA_DEPTH)
            burin_schema_fail(w, "more than %d schemas in each other", BURIN_SCHEMA_DEPTH);
        w->written[w->n_written++] = schema.dict;
        write_rule(w, schema, number);
    }
    w->path[before] = 0;
    return number;
}

// ------------------------------------------------------------------------------------------- whole
static void write_whole(burin_schema_writer *w, const char *schema, size_t bytes,
                        const void *context) {
    (void)context;
    if (!schema) {
        burin_growing_add(&w->rules, "root ::= object\n");
        return;
    }
    w->whole = burin_json_read(&w->r, w->name, schema, bytes);
    strcpy(w->path, "#");
    bool any = w->whole.kind == BURIN_DICT && !burin_schema_says_something(w, w->whole);
    int first = burin_schema_rule(w, w->whole, "");
    burin_growing_add(&w->rules, any ? "root ::= ws s%d ws\n" : "root ::= s%d\n", first);
}

char *burin_write_grammar(const burin_grammar_text *text, char *error, size_t room) {
    burin_schema_writer *w = burin_allocate(1, sizeof *w);
    w->out =
        (burin_rendering){.json_name = text->name, .memory_bytes = BURIN_RENDER_BYTES(text->bytes)};
    w->out.memory = burin_allocate(1, w->out.memory_bytes);
    w->r.out = &w->out, w->name = text->name, w->lenient = text->lenient;
    burin_render_divide(&w->r);
    burin_growing_bytes(&w->rules, basic_rules, sizeof basic_rules - 1);
    bool good = !setjmp(w->r.stop);
    if (good) text->write(w, text->json, text->bytes, text->context);
    if (!good) snprintf(error, room, "%s", w->out.error);
    if (text->missed) snprintf(text->missed, text->missed_room, "%s", w->n_missed ? w->missed : "");
    char *grammar = good ? w->rules.bytes : NULL;
    if (!good) free(w->rules.bytes);
    for (int i = 0; i < BURIN_SCHEMA_DEPTH; i++) free(w->one[i].bytes);
    free(w->out.memory), free(w);
    return grammar;
}

char *burin_schema_grammar(const char *name, const char *schema, size_t bytes, char *error,
                           size_t room) {
    return burin_write_grammar(
        &(burin_grammar_text){.name = name, .json = schema, .bytes = bytes, .write = write_whole},
        error, room);
}
