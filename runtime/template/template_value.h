// The values of a template while it is rendered, and their memory: one block, with values from the
// front and the bytes of strings at the back, with a mark for each. Nothing is released before the
// rendering ends.
#ifndef BURIN_TEMPLATE_VALUE_H
#define BURIN_TEMPLATE_VALUE_H
#include <setjmp.h>

#include "base/budget.h"
#include "template.h"

typedef enum burin_value_kind {
    BURIN_UNDEFINED,
    BURIN_NONE,
    BURIN_BOOL,
    BURIN_INTEGER,
    BURIN_FLOAT,
    BURIN_BIG,  // an integer beyond 64 bits: its decimal digits as text, terminated, without
                // leading zeros
    BURIN_STRING,
    BURIN_LIST,
    BURIN_TUPLE,
    BURIN_DICT,
    BURIN_NAMESPACE,
    BURIN_LOOP,
    BURIN_MACRO,
    BURIN_FUNCTION,  // a global one: integer is its number
    BURIN_METHOD,
    BURIN_OBJECT,  // a cycler or a joiner
} burin_value_kind;

typedef struct burin_value {
    uint8_t kind;  // burin_value_kind
    bool safe;     // a string whose HTML is escaped already (Markup)
    // of an undefined value: the kind of the value that lacks this name; BURIN_UNDEFINED: a
    // variable
    uint8_t of;
    uint32_t length;  // bytes of a string; of an undefined value those of its name
    union {
        int64_t integer;  // also of a boolean
        double real;
        const char *text;
        struct burin_list *list;  // also of a tuple
        struct burin_dict *dict;  // also of a namespace
        struct burin_loop *loop;
        struct burin_macro *macro;
        struct burin_method *method;
        struct burin_object *object;
    };
} burin_value;

typedef struct burin_list {
    uint32_t n, capacity;
    burin_value *items;
    burin_value text;  // a string: prints as it, and joins texts as it (template_messages.c);
                       // undefined: prints as a list
    bool is_group;     // a pair of groupby
} burin_list;

typedef struct burin_pair {
    burin_value key, value;
} burin_pair;

typedef struct burin_dict {
    uint32_t n, capacity;
    burin_pair *pairs;  // in the order in which the keys came
    burin_value text;   // as of a list
} burin_dict;

typedef struct burin_binding {
    uint32_t name;  // number of the string
    burin_value value;
    struct burin_binding *next;
} burin_binding;

typedef struct burin_scope {
    struct burin_scope *outer;
    burin_binding *bindings;
} burin_scope;

typedef struct burin_loop {
    const burin_list *items;
    uint32_t index, depth, node;
    burin_scope *scope;   // around the loop
    burin_list *changed;  // the arguments of the last call of changed(); NULL: none
} burin_loop;

typedef struct burin_macro {
    uint32_t node;
    burin_scope *scope;  // where it was defined
} burin_macro;

typedef struct burin_method {
    burin_value of;
    burin_value name;
} burin_method;

typedef struct burin_object {
    burin_value items;  // of a cycler: its values; of a joiner: its separator
    uint32_t at;
} burin_object;

typedef struct burin_piece {  // of the output
    burin_value string;
    struct burin_piece *next;
} burin_piece;

typedef struct burin_sink {
    burin_piece *first, **end;
} burin_sink;

// A step is an operation on one value, on about 16 characters, or on one character where each is
// looked up in tables.
enum {
    BURIN_RENDER_STEPS = 1 << 23,
    BURIN_RENDER_STEPS_PER_BYTE = 32,  // more steps for each byte of the messages
    BURIN_RENDER_DEPTH = 1500,
    BURIN_RENDER_ITEMS = 1 << 20
};

typedef struct burin_render_state {
    burin_rendering *out;
    const burin_template *program;
    const uint32_t *words;
    char *objects, *objects_end;  // free room
    // the bytes of strings; the mark of a byte is strings_end - strings after it
    char *strings, *free, *strings_end;
    burin_sink sink;
    burin_scope *scope;
    uint32_t place;  // of the node that is looked at
    burin_budget budget;
    jmp_buf stop;
} burin_render_state;

// Ends the rendering with a message that begins with the location in the template.
_Noreturn void burin_render_fail(burin_render_state *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void burin_render_divide(burin_render_state *);  // the memory of a new rendering
void burin_render_step(burin_render_state *, size_t steps);
void burin_render_enter(
    burin_render_state *);  // goes one level deeper; fails below BURIN_RENDER_DEPTH
void burin_render_leave(burin_render_state *);
void *burin_render_allocate(burin_render_state *, size_t bytes);

// ---- template_value.c: values ----
extern const char *const burin_kind_names[];
#define BURIN_LITERAL(text) burin_string_of((text), sizeof(text) - 1)
burin_value burin_none(void);
burin_value burin_undefined(const char *name, size_t bytes);
burin_value burin_boolean(bool);
burin_value burin_integer(int64_t);
burin_value burin_real(double);
burin_value burin_big(burin_render_state *, const char *digits,
                      size_t n);                              // "-123": an integer of any size
burin_value burin_string_of(const char *text, size_t bytes);  // not copied
burin_value burin_slice(burin_value string, size_t from, size_t bytes);  // keeps the string's kind
burin_value burin_list_new(burin_render_state *, burin_value_kind, uint32_t capacity);
void burin_list_add(burin_render_state *, burin_value list, burin_value);
burin_value burin_dict_new(burin_render_state *);
burin_value *burin_dict_find(burin_render_state *, burin_value dict,
                             burin_value key);  // NULL when absent
burin_value *burin_dict_find_text(burin_render_state *, burin_value dict, const char *key);
void burin_dict_set(burin_render_state *, burin_value dict, burin_value key, burin_value);
bool burin_truth(burin_value);
bool burin_is_number(burin_value);  // booleans, too
double burin_number(burin_value);
bool burin_is_text(burin_value, const char *text);
burin_value burin_printed_as(
    burin_value);  // the string that a list or dictionary prints as, or the value itself
bool burin_equal(burin_render_state *, burin_value, burin_value);
int burin_order(burin_render_state *, burin_value,
                burin_value);  // < 0, 0, > 0; fails where there is no order
bool burin_contains(burin_render_state *, burin_value all, burin_value item);
int64_t burin_length(burin_render_state *, burin_value);  // fails where there is none
// the values of a loop, as a list; fails in the same way
burin_value burin_items(burin_render_state *, burin_value);
bool burin_is_iterable(burin_value);

// ---- building one string: nothing else makes strings meanwhile ----
size_t burin_text_begin(burin_render_state *);
void burin_text_add(burin_render_state *, const char *bytes, size_t n);  // with their marks
void burin_text_char(burin_render_state *, char);
void burin_text_code(burin_render_state *, uint32_t code, bool marked);
burin_value burin_text_end(burin_render_state *, size_t begin);
bool burin_marked(const burin_render_state *, const char *byte);
void burin_mark_string(burin_render_state *, burin_value string, bool marked);
burin_value burin_join_two(burin_render_state *, burin_value, burin_value);  // of two strings
burin_value burin_join_all(burin_render_state *, burin_value strings);       // of a list of strings
burin_value *burin_find_variable(burin_render_state *,
                                 uint32_t name);  // by the number of its name; NULL when absent

// ---- template_text.c: values as Python writes them ----
void burin_text_value(burin_render_state *,
                      burin_value);  // str(): adds to the string that is being built
void burin_text_repr(burin_render_state *, burin_value);
void burin_text_escaped(burin_render_state *, burin_value string);  // & < > ' "
burin_value burin_string(burin_render_state *, burin_value);        // str(); a string is unchanged
burin_value burin_escape_html(burin_render_state *, burin_value);   // a safe string
const char *burin_number_text(burin_value, char out[64]);

// ---- template_json.c ----
typedef struct burin_json_style {
    burin_value indent;  // none, a number or a string
    burin_value between, behind_key;
    bool sorted, ascii;
} burin_json_style;
burin_value burin_json_read(burin_render_state *, const char *name, const char *text, size_t bytes);
burin_value burin_json_text(burin_render_state *, burin_value, const burin_json_style *);

bool burin_json_try(burin_render_state *, burin_value text,
                    burin_value *);  // false: the text is no JSON

// ---- template_messages.c ----
burin_value burin_join_parts(burin_render_state *,
                             burin_value content);  // undefined if a part is no text
void burin_prepare_messages(burin_render_state *,
                            burin_value messages);  // changes the messages of the list

// ---- template_characters.c ----
uint32_t burin_character(
    const char **at,
    const char *end);  // the code point at *at, which it passes; bytes that are none alone
bool burin_is_blank(uint32_t code);
bool burin_is_letter(uint32_t code);
bool burin_is_printed(uint32_t code);  // as it is in repr()
uint32_t burin_upper(uint32_t code);
uint32_t burin_lower(uint32_t code);
int64_t burin_count_characters(burin_value string);
size_t burin_character_offset(burin_value string, int64_t index);
burin_value burin_strip(burin_render_state *, burin_value string, burin_value characters, bool left,
                        bool right);
int64_t burin_width(burin_value v,
                    int64_t absent);  // a number of characters that a filter takes, cut at 2^30
burin_value burin_change_case(burin_render_state *, burin_value string,
                              const char *how);  // upper, lower, title, words, capitalize

// ---- calls: template_eval.c, and the tables of filters, tests, methods and functions ----
typedef struct burin_arguments {
    const char *callee;  // for messages
    uint32_t n;          // positional
    const burin_value *values;
    uint32_t n_named;
    const burin_pair *named;
} burin_arguments;

enum { BURIN_MOST_PARAMETERS = 8 };
typedef burin_value burin_builtin(burin_render_state *, burin_value of,
                                  const burin_value *arguments);
typedef struct burin_builtin_row {
    const char *name;
    burin_builtin *call;
    const char *parameters;  // "width first=": a word each; those that end with = may be absent,
                             // and are undefined then
} burin_builtin_row;

// A row's function, once its arguments are in the order of its parameters. "*" takes any: then
// `arguments` is one list.
burin_value burin_call_builtin(burin_render_state *, const burin_builtin_row *, burin_value of,
                               const burin_arguments *);
const burin_builtin_row *burin_find_builtin(const burin_builtin_row *,
                                            burin_value name);  // the last row has no name
extern const burin_builtin_row burin_filter_rows[], burin_list_filter_rows[], burin_test_rows[];
burin_value burin_filter(burin_render_state *, burin_value name, burin_value of,
                         const burin_arguments *);
bool burin_test(burin_render_state *, burin_value name, burin_value of, const burin_arguments *);
burin_value burin_call(burin_render_state *, burin_value callee, const burin_arguments *);
burin_value burin_call_method(burin_render_state *, const burin_method *, const burin_arguments *);
burin_value burin_call_function(burin_render_state *, int64_t number, const burin_arguments *);
bool burin_has_method(burin_value of, burin_value name);
burin_value burin_global(burin_value name);  // a function, or undefined
burin_value burin_attribute(burin_render_state *, burin_value of, burin_value name);  // of.name
burin_value burin_item(burin_render_state *, burin_value of, burin_value index);      // of[index]
burin_value burin_path(burin_render_state *, burin_value of,
                       burin_value path);  // of a filter's attribute="a.b"
burin_value burin_add(burin_render_state *, burin_value, burin_value);
burin_value burin_arithmetic(burin_render_state *, uint32_t op, burin_value, burin_value);
burin_value burin_range_of(burin_render_state *, burin_value of,
                           const burin_value bounds[3]);  // of[first:end:step]
burin_value burin_format_values(burin_render_state *, burin_value format,
                                burin_value values);  // format % values
burin_builtin burin_format_braces;
burin_value burin_call_macro(burin_render_state *, const burin_macro *, const burin_arguments *);
burin_value burin_call_loop(burin_render_state *, const burin_loop *, burin_value items);
burin_value burin_evaluate(burin_render_state *, uint32_t node);
burin_value burin_run_captured(burin_render_state *, uint32_t body);
void burin_print_value(burin_render_state *, burin_value);
void burin_assign(burin_render_state *, uint32_t target, burin_value);
burin_value burin_string_number(const burin_render_state *,
                                uint32_t number);  // of the program's table
#endif
