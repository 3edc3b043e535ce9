// --math=fast: its changes in this program, in words for --info, a library's header and `burin
// build`.
#include "build/build.h"

static int fast_cpus(const Build *b, Text *names) {
    int n = 0;
    for (int i = 0; i < b->tools.n_cpus; i++)
        if (b->tools.cpus[i]->use == FOR_FAST_MATH)
            text_add(names, "%s%s", n++ ? " and " : "", b->tools.cpus[i]->name);
    return n;
}

static const char *no_effect(const char *why, const char *hint) {
    diag_warning(NO_LOC, "--math=fast has no effect: %s\nhint: %s", why, hint);
    return "exact: --math=fast changes nothing in this program";
}

bool rounds_rows(const Build *b) {
    Text names = {0};
    bool any = program_has_bf16(b->program) && fast_cpus(b, &names);
    text_free(&names);
    return any;
}

const char *numbers_of(const Build *b) {
    Text names = {0};
    if (!b->tools.fast) return NULL;
    if (!program_has_bf16(b->program))
        return no_effect("no product of this model has weights of bf16",
                         "--quant bf16 makes them so");
    int n = fast_cpus(b, &names);
    const char *text = arena_printf(b->arena,
                                    "--math=fast: products of more than 12 rows by weights of bf16 "
                                    "round their rows to bf16 on %s: other bits there",
                                    n ? names.data : "");
    text_free(&names);
    return n ? text
             : no_effect("the program carries code for no CPU with fast products of bf16",
                         "`burin targets` names them: x86-64-v4+bf16, x86-64-v4+amx-bf16");
}
