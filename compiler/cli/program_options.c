// The options of programs, by the table that programs read.
#include "cli/program_options.h"

#include <string.h>

#include "program/option_rows.h"

bool is_program_option(const char *word) {
    size_t length = strcspn(word, "=");
    for (int i = 0; i < N_OPTIONS; i++) {
        const char *names[] = {options[i].name, options[i].alias};
        for (int j = 0; j < 2; j++)
            if (names[j] && strlen(names[j]) == length && !strncmp(names[j], word, length))
                return true;
    }
    return false;
}
