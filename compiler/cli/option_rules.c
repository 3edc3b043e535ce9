// Checks what options need (option_rules.def): nothing on a command line is ignored silently.
#include "cli/option_tables.h"
#include "util/diag.h"

typedef enum { RULE_NEEDS, RULE_REQUIRES, RULE_COMPILES } RuleKind;

typedef struct {
    RuleKind kind;
    size_t option, other, another;  // fields of Options; another: as `other` where there is one
    const char *hint;               // of RULE_REQUIRES
} Rule;

#define FIELD(name) offsetof(Options, name)
static const Rule rules[] = {
#define NEEDS(option, other)       {RULE_NEEDS, FIELD(option), FIELD(other), FIELD(other), NULL},
#define NEEDS_EITHER(option, a, b) {RULE_NEEDS, FIELD(option), FIELD(a), FIELD(b), NULL},
#define REQUIRES(option, other, hint) \
    {RULE_REQUIRES, FIELD(option), FIELD(other), FIELD(other), hint},
#define COMPILES(option) {RULE_COMPILES, FIELD(option), 0, 0, NULL},
#include "cli/option_rules.def"
#undef NEEDS
#undef NEEDS_EITHER
#undef REQUIRES
#undef COMPILES
};

static const OptionRow *row_of(Command c, size_t field) {
    for (int i = 0; i < n_options; i++)
        if (options[i].field == field && option_is_of(&options[i], c)) return &options[i];
    return NULL;
}

static bool is_given(const Options *o, const OptionRow *row) {
    const void *field = (const char *)o + row->field;
    switch (row->kind) {
        case FLAG:
            return *(const bool *)field;
        case TEXT:
            return *(const char *const *)field;
        case COUNT:
        case SIZE:
            return *(const int64_t *)field;
        case WORDS:
            return ((const OptionWords *)field)->n;
    }
    return false;
}

// "--window=10", as it was given
static void add_given(Text *t, const Options *o, const OptionRow *row) {
    const void *field = (const char *)o + row->field;
    text_add(t, "--%s", row->name);
    if (row->kind == TEXT) text_spell(t, "=%s", *(const char *const *)field);
    if (row->kind == COUNT || row->kind == SIZE)
        text_add(t, "=%lld", (long long)*(const int64_t *)field);
}

static void check_other(const Options *o, const Rule *rule, const char *given) {
    const OptionRow *other = row_of(o->command, rule->other);
    const OptionRow *another = row_of(o->command, rule->another);
    if (!other || is_given(o, other) || is_given(o, another)) return;
    if (rule->kind == RULE_REQUIRES)
        usage_error("%s is for --%s\n  hint: %s", given, other->name, rule->hint);
    if (other == another)
        diag_warning(NO_LOC, "%s has no effect: it is for --%s", given, other->name);
    else
        diag_warning(NO_LOC, "%s has no effect: it is for --%s and --%s", given, other->name,
                     another->name);
}

static void check_rule(const Options *o, const Rule *rule) {
    const OptionRow *row = row_of(o->command, rule->option);
    if (!row || !is_given(o, row)) return;
    Text given = {0};
    add_given(&given, o, row);
    if (rule->kind != RULE_COMPILES)
        check_other(o, rule, given.data);
    else if (o->emit || o->stop_after)
        diag_warning(NO_LOC, "%s has no effect: --%s prints, and stops", given.data,
                     o->emit ? "emit" : "stop-after");
    text_free(&given);
}

void options_check_rules(const Options *o) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) check_rule(o, &rules[i]);
}
