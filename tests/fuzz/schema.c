// libFuzzer target: a JSON schema; its grammar is read, too, and no mistake in it may be one of its notation.
#include <stdlib.h>
#include <string.h>

#include "runtime/grammar/grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[512] = "";
    char *text = burin_schema_grammar("fuzz", (const char *)data, size, error, sizeof error);
    burin_grammar g;
    if (!text && !*error) abort();
    if (text && burin_grammar_parse(&g, "fuzz", text, strlen(text)))
        burin_grammar_free(&g);
    else if (text && strstr(g.error, "expected "))
        abort();
    free(text);
    return 0;
}
