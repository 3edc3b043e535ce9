// The words of `burin run` and `burin serve` are read as the program will read them, with the
// options of every library that it may have: before it is built.
#define BURIN_SERVER        1
#define BURIN_EDITOR        1
#define burin_command_line  program_words_line
#define burin_check_options program_words_check
#define burin_command_sum   program_words_sum
#define burin_find_option   program_words_find
#include "program/option_find.c"
#include "program/option_rules.c"
#include "program/options.c"

// Ends the process if a word is wrong, as the program does.
void program_words_read(int kind, int n, char **words) {
    (void)burin_command_line((burin_kind)kind, n, words);
}
