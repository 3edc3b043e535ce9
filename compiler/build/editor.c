#include "build/editor.h"

#include <string.h>

#include "build/optional_library.h"
#include "toolchain/cache.h"
#include "util/text.h"

// Distributions build it over different libraries.
static const OptionalLibrary libedit = {
    .option = "--line-editor=libedit",
    .header = "histedit.h",
    .archive = "libedit.a",
    .probe =
        "#include <histedit.h>\n#include <stdio.h>\n"
        "int main(void) { return !el_init(\"\", stdin, stdout, stderr); }\n",
    .lists = {"-ledit -ltinfo -lbsd -lmd", "-ledit -ltinfo", "-ledit -lncursesw",
              "-ledit -lncurses"},
    .package = "libedit-dev",
    .name = "libedit",
    .without =
        "leave it out: lines are read as the terminal gives them; rlwrap ./program --chat edits "
        "them",
};

static bool is_kind(const Build *b, const char *kind) {
    return b->options->line_editor && !strcmp(b->options->line_editor, kind);
}

void editor_check(const Build *b, const char *output) {
    if (is_kind(b, "libedit")) optional_library_check(b, &libedit, output);
}

void editor_choose(Build *b) {
    if (b->has_chat && !is_kind(b, "none")) b->tools.editor = optional_library_words(b, &libedit);
}

uint64_t editor_key(const Build *b, uint64_t hash) {
    return hash_text(is_kind(b, "none") ? NULL : optional_library_path(b, &libedit), hash);
}
