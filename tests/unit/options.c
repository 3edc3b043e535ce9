// Each option of a program is in a group of its --help.
#include "program/option_groups.h"
#include "program/option_names.h"
#include "unit.h"

static bool is_in_a_group(const char *name) {
    for (int i = 0; i < N_OPTION_GROUPS; i++) {
        for (const char *const *n = option_groups[i].usual; *n; n++)
            if (!strcmp(*n, name)) return true;
        for (const char *const *n = option_groups[i].others; *n; n++)
            if (!strcmp(*n, name)) return true;
    }
    return false;
}

static bool is_an_option(const char *name) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (!strcmp(options[i].name, name) || (options[i].alias && !strcmp(options[i].alias, name)))
            return true;
    return false;
}

static void have_a_group(void) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (!is_in_a_group(options[i].name)) CHECK_TEXT(options[i].name, "in a group");
}

static void aliases_lead_to_options(void) {
    for (size_t i = 0; i < sizeof option_aliases / sizeof *option_aliases; i++)
        if (!is_an_option(option_aliases[i].ours)) CHECK_TEXT(option_aliases[i].ours, "an option");
    for (size_t i = 0; i < sizeof option_hints / sizeof *option_hints; i++)
        CHECK(*option_hints[i].ours != 0);
}

SUITE(options) {
    TEST(have_a_group);
    TEST(aliases_lead_to_options);
}
