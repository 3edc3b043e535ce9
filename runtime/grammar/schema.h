// JSON schemas (draft 2020-12) as grammars: a rule for each schema, as text in GBNF (grammar.h).
#ifndef BURIN_SCHEMA_H
#define BURIN_SCHEMA_H
#include "template/template_value.h"

// A text that grows.
typedef struct burin_growing {
    char *bytes;
    size_t n, room;
} burin_growing;
void burin_growing_add(burin_growing *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void burin_growing_bytes(burin_growing *, const char *bytes, size_t n);
void burin_growing_free(burin_growing *);
void burin_growing_code(burin_growing *,
                        uint32_t code);  // as \u00e9: for a literal or a class of GBNF

enum { BURIN_SCHEMA_RULES = 4096, BURIN_SCHEMA_DEPTH = 128 };

typedef struct burin_schema_writer {
    burin_render_state r;
    burin_rendering out;
    const char *name;
    burin_value whole;                              // what #/... refers to
    burin_growing rules, one[BURIN_SCHEMA_DEPTH];   // finished rules; those that are being written
    const burin_dict *written[BURIN_SCHEMA_RULES];  // rule i
    int n_written, n_helpers, depth;
    bool lenient;      // unsupported restrictions are noted, not refused
    int n_missed;      // of these notes
    char missed[256];  // the first one
    char path[512];    // "#/properties/a"
} burin_schema_writer;

void burin_growing_literal(burin_growing *, const char *text,
                           size_t n);  // of GBNF, with its quotes

// A text in JSON, and what writes the rules of its grammar.
typedef struct burin_grammar_text {
    const char *name, *json;  // name: for messages
    size_t bytes;
    void (*write)(struct burin_schema_writer *, const char *json, size_t bytes,
                  const void *context);
    const void *context;
    bool lenient;  // as in burin_schema_writer
    char *missed;  // lenient: the note about dropped restrictions, or ""
    size_t missed_room;
} burin_grammar_text;
char *burin_write_grammar(const burin_grammar_text *, char *error,
                          size_t room);  // NULL: an error, or no rules

_Noreturn void burin_schema_fail(burin_schema_writer *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Refuses a restriction that no grammar can hold, or, if the writer is lenient, notes it and
// returns.
void burin_schema_miss(burin_schema_writer *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Expressions that are added to `g`; mistakes fail.
// A decimal, exact: -12.5 is "12" and "5", negative. Zero is not negative.
enum { BURIN_DIGITS = 64 };
typedef struct burin_decimal {
    char whole[BURIN_DIGITS],
        part[BURIN_DIGITS];  // digits, not terminated; part: without zeros at the end
    int n, n_part;
    bool negative;
    bool open;  // as a bound: without itself
} burin_decimal;
typedef struct burin_bounds {
    bool has_low, has_high;
    burin_decimal low, high;
} burin_bounds;
burin_decimal burin_decimal_of(burin_schema_writer *, burin_value number,
                               const char *keyword);  // fails if it is too long
int burin_decimal_order(const burin_decimal *, const burin_decimal *);
void burin_schema_number(burin_schema_writer *, burin_growing *g, bool whole, const burin_bounds *);
typedef struct burin_span_of_lengths {
    int64_t least, most;  // characters; most -1: any number
} burin_span_of_lengths;
void burin_schema_pattern(burin_schema_writer *, burin_growing *g, burin_value pattern,
                          burin_span_of_lengths);  // inside of quotes
void burin_schema_multiple(burin_schema_writer *, burin_growing *g, bool whole,
                           const burin_bounds *, burin_value of);
void burin_schema_other_strings(burin_schema_writer *, burin_growing *g,
                                burin_value texts);  // all but these
burin_value burin_schema_without_not(burin_schema_writer *,
                                     burin_value schema);  // the same in other keywords
bool burin_schema_says_something(burin_schema_writer *, burin_value schema);  // about documents
// An array of distinct items; false: nothing was written, since the schema has no such restriction,
// or it was missed.
bool burin_schema_unique(burin_schema_writer *, burin_growing *g, burin_value schema, int64_t least,
                         int64_t most);
bool burin_schema_is_any(burin_schema_writer *, burin_value schema);  // true, or {}
burin_value burin_schema_merge(burin_schema_writer *, burin_value a,
                               burin_value b);  // what satisfies both
void burin_schema_object(burin_schema_writer *, burin_growing *g, burin_value schema);
void burin_schema_array(burin_schema_writer *, burin_growing *g, burin_value schema);
bool burin_schema_lists(burin_value required,
                        burin_value key);  // is the key in this list of names?
int burin_schema_rule(burin_schema_writer *, burin_value schema,
                      const char *step);  // the number of its rule, "s12"

static inline const burin_value *burin_schema_key(burin_schema_writer *w, burin_value schema,
                                                  const char *key) {
    return burin_dict_find_text(&w->r, schema, key);
}

// A whole number from 0 on; `absent` when there is none.
int64_t burin_schema_count(burin_schema_writer *, burin_value schema, const char *key,
                           int64_t absent);
#endif
