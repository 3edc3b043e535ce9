// Rules of a program's options name options, those of every kind of program.
#define BURIN_MPI
#define BURIN_SERVER
#include "program/option_rules.h"

#include "program/option_rows.h"
#include "unit.h"

static bool is_a_name(const char *name, size_t n) {
    if ((n == 6 && !memcmp(name, "PROMPT", n)) || (n == 5 && !memcmp(name, "TEXTS", n)))
        return true;
    for (int i = 0; i < N_OPTIONS; i++)
        if (strlen(options[i].name) == n && !strncmp(options[i].name, name, n)) return true;
    return false;
}

static void check_names(const char *names) {
    for (size_t n; *(names += strspn(names, " ")); names += n) {
        n = strcspn(names, " ");
        if (!is_a_name(names, n)) CHECK_TEXT(names, "names of options");
    }
}

static void check_rules(size_t n, const option_rule rules[]) {
    for (size_t i = 0; i < n; i++) {
        check_names(rules[i].options);
        check_names(rules[i].others);
    }
}

static void name_options(void) {
    check_rules(sizeof option_rules / sizeof *option_rules, option_rules);
    check_rules(sizeof rules_of_recordings / sizeof *rules_of_recordings, rules_of_recordings);
    check_names(options_without_result);
    check_names(OF_TEXTS DRAWING OF_DRY);
}

SUITE(option_rules) { TEST(name_options); }
