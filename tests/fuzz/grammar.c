// libFuzzer target: a grammar; the bytes after a zero byte are a text that is read with it.
#include "runtime/grammar/grammar.h"

#include <stdlib.h>
#include <string.h>

#include "generate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"grammar", {"root ::= <choice>\n", "root ::= <choice>\nr1 ::= <choice>\nr2 ::= <choice>\n"}},
    {"choice", {"<sequence>", "<sequence> | <choice>"}},
    {"sequence", {"<item>", "<item> <sequence>", ""}},
    {"item", {"<atom>", "<atom><repeat>", "<atom><repeat><repeat>"}},
    {"atom",
     {"\"a\"", "\"\"", "[a-z]", "[^\\x00-\\x1f\"]", ".", "(<choice>)", "r1", "r2", "root",
      "[\\U0001f600-\\U0010ffff\u00e9]"}},
    {"repeat", {"?", "*", "+", "{<number>}", "{<number>,}", "{0,<number>}"}},
    {"number", {"0", "1", "2", "3", "17", "1000", "1048576"}},
    {0}};
FUZZ_GENERATOR(RULES)

static void follow(const burin_grammar *g, const uint8_t *text, size_t bytes) {
    burin_recognizer *m = burin_recognizer_open(g);
    int32_t state = burin_recognizer_start(m);
    for (size_t i = 0; i < bytes && i < 500 && state; i++) {
        state = burin_recognizer_tidy(m, burin_recognizer_step(m, state, text[i]));
        if (state && !burin_recognizer_goes_on(m, state) && !burin_recognizer_accepts(m, state))
            abort();
    }
    burin_recognizer_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t bytes = zero ? (size_t)(zero - data) : size;
    burin_grammar g;
    if (burin_grammar_parse(&g, "fuzz", (const char *)data, bytes)) {
        follow(&g, zero ? zero + 1 : data, zero ? size - bytes - 1 : size);
        burin_grammar_free(&g);
    } else if (!*g.error) {
        abort();
    }
    return 0;
}
