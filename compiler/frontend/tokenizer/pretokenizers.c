// tokenizer.json's pre-tokenizers, one row a type, to the steps of runtime/tokenizer/tokenizer.h.
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/unicode.h"

void read_step(TokenizerBuilder *b, const json_t *step, const StepReader *readers,
               const char *part) {
    const char *type = json_string_value(json_object_get(step, "type"));
    if (!type) tokenizer_fatal(b, "the %s has no type", part);
    for (; readers->type; readers++)
        if (!strcmp(readers->type, type)) {
            readers->read(b, step);
            return;
        }
    tokenizer_fatal(b, "%s \"%s\" is not supported", part, type);
}

// {"String": "x"} or {"Regex": "x"}
burin_section read_pattern(TokenizerBuilder *b, const json_t *pattern) {
    const char *literal = json_string_value(json_object_get(pattern, "String"));
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    if (!literal && !regex) tokenizer_fatal(b, "a pattern must be a String or a Regex");
    if (literal && !*literal)
        tokenizer_fatal(b, "an empty pattern matches everywhere, which is not supported");
    return literal ? pattern_literal(b, literal) : pattern_compile(b, regex);
}

burin_section read_replaced(TokenizerBuilder *b, const json_t *pattern) {
    const char *regex = json_string_value(json_object_get(pattern, "Regex"));
    if (regex && pattern_may_be_empty(b, regex))
        tokenizer_fatal(
            b, "Replace by the pattern \"%s\", which may match nothing, is not supported", regex);
    return read_pattern(b, pattern);
}

// ---------------------------------------------------------------------------------- pre-tokenizers
const char GPT2_PATTERN[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

const char LLAMA3_PATTERN[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const char QWEN2_PATTERN[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

static void add_step(TokenizerBuilder *b, burin_pretokenizer step) {
    if (b->pretokenizers.length / sizeof step >= MAX_PRETOKENIZERS)
        tokenizer_fatal(b, "it has more than %d pre-tokenizers", MAX_PRETOKENIZERS);
    bytes_append(&b->pretokenizers, &step, sizeof step);
}

void add_split(TokenizerBuilder *b, const char *regex) {
    add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_SPLIT,
                                     .behaviour = BURIN_ISOLATED,
                                     .pattern = pattern_compile(b, regex)});
}

void add_byte_level(TokenizerBuilder *b) {
    add_step(b, (burin_pretokenizer){.kind = b->writes_bytes ? BURIN_STEP_WRITE_BYTES
                                                             : BURIN_STEP_BYTES});
    if (!b->writes_bytes) b->head.flags |= BURIN_BYTE_LEVEL;
}

static void split_at_set(TokenizerBuilder *b, CharSet *s, burin_behaviour behaviour, uint16_t max) {
    add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_SPLIT,
                                     .behaviour = behaviour,
                                     .pattern = pattern_of_set(b, s, max)});
}

static burin_behaviour read_behaviour(const TokenizerBuilder *b, const json_t *step) {
    static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    const char *name = json_text(b, step, "behavior");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return (burin_behaviour)i;
    tokenizer_fatal(b, "behavior \"%s\" of a pre-tokenizer is not supported", name);
}

static void pretokenize_split(TokenizerBuilder *b, const json_t *step) {
    burin_pretokenizer s = {.kind = BURIN_STEP_SPLIT,
                            .behaviour = read_behaviour(b, step),
                            .invert = json_flag(b, step, "invert", false)};
    s.pattern = read_pattern(b, json_object_get(step, "pattern"));
    add_step(b, s);
}

static void pretokenize_byte_level(TokenizerBuilder *b, const json_t *step) {
    if (json_flag(b, step, "add_prefix_space", true))
        add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_PREFIX_SPACE});
    if (json_flag(b, step, "use_regex", true)) add_split(b, GPT2_PATTERN);
    add_byte_level(b);
}

static uint16_t read_scheme(const TokenizerBuilder *b, const json_t *step) {
    static const char *const names[] = {"never", "first", "always"};
    if (!json_object_get(step, "prepend_scheme"))
        return json_flag(b, step, "add_prefix_space", true) ? 2 : 0;
    const char *name = json_text(b, step, "prepend_scheme");
    for (uint16_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return i;
    tokenizer_fatal(b, "prepend_scheme \"%s\" is not supported", name);
}

static void pretokenize_metaspace(TokenizerBuilder *b, const json_t *step) {
    const uint8_t *sign = (const uint8_t *)json_text(b, step, "replacement"),
                  *end = sign + strlen((const char *)sign);
    uint32_t code;
    if (sign == end || sign + burin_utf8_read(sign, end, &code) != end)
        tokenizer_fatal(b, "the \"replacement\" of Metaspace must be one character");
    burin_pretokenizer s = {.kind = BURIN_STEP_METASPACE, .a = read_scheme(b, step), .code = code};
    s.b = json_flag(b, step, "split", true);
    add_step(b, s);
}

static void pretokenize_punctuation(TokenizerBuilder *b, const json_t *step) {
    CharSet s = {{.arena = b->arena}};
    set_add_punctuation(&s);
    split_at_set(b, &s,
                 json_object_get(step, "behavior") ? read_behaviour(b, step) : BURIN_ISOLATED, 1);
}

static void pretokenize_digits(TokenizerBuilder *b, const json_t *step) {
    CharSet s = {{.arena = b->arena}};
    set_add_category(&s, "N");
    set_add(&s, 0x11de0, 0x11de9);  // Rust knows Unicode 17's, Oniguruma does not
    set_add(&s, 0x16ff4, 0x16ff6);
    split_at_set(b, &s,
                 json_flag(b, step, "individual_digits", false) ? BURIN_ISOLATED : BURIN_CONTIGUOUS,
                 1);
}

static void pretokenize_spaces(TokenizerBuilder *b, const json_t *step) {
    (void)step;
    CharSet s = {{.arena = b->arena}};
    set_add_spaces(&s);
    split_at_set(b, &s, BURIN_REMOVED, 1);
}

static void pretokenize_bert(TokenizerBuilder *b, const json_t *step) {
    CharSet s = {{.arena = b->arena}};
    pretokenize_spaces(b, step);
    set_add_punctuation(&s);
    split_at_set(b, &s, BURIN_ISOLATED, 1);
}

static void pretokenize_delimiter(TokenizerBuilder *b, const json_t *step) {
    const char *delimiter = json_text(b, step, "delimiter");
    if (!*delimiter) tokenizer_fatal(b, "pre-tokenizer CharDelimiterSplit has no delimiter");
    add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_SPLIT,
                                     .behaviour = BURIN_REMOVED,
                                     .pattern = pattern_literal(b, delimiter)});
}

static void pretokenize_length(TokenizerBuilder *b, const json_t *step) {
    const json_t *length = json_object_get(step, "length");
    json_int_t n = length ? json_integer_value(length) : 5;
    CharSet any = {{.arena = b->arena}};
    if (n < 1 || n >= BURIN_NO_LIMIT)
        tokenizer_fatal(b, "the length of pre-tokenizer FixedLength must be from 1 to 65534");
    set_invert(&any);
    split_at_set(b, &any, BURIN_ISOLATED, (uint16_t)n);
}

// A piece begins where the script changes. Spaces and characters without a script belong to the
// preceding piece, and are dropped at the start; Japanese scripts are one.
static void pretokenize_scripts(TokenizerBuilder *b, const json_t *step) {
    (void)step;
    const UnicodeTables *u = unicode_tables();
    const char *regex = "";
    for (size_t i = 0; i < u->n_scripts; i++) {
        const char *name = u->scripts[i].name,
                   *set = arena_printf(b->arena, "[\\p{%s}&&\\p{Age=9.0}&&[^ \\u30FC]]", name);
        bool first = true;
        for (size_t k = 0; k < i && first; k++) first = strcmp(u->scripts[k].name, name) != 0;
        if (!first || !strcmp(name, "Hiragana") || !strcmp(name, "Katakana")) continue;
        if (!strcmp(name, "Han"))
            set = "[[\\p{Han}\\p{Hiragana}\\p{Katakana}\\u30FC]&&\\p{Age=9.0}]";
        regex = arena_printf(b->arena, "%s%s%s[%s\\p{Unknown}\\P{Age=9.0} ]*", regex,
                             *regex ? "|" : "", set, set);
    }
    add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_SPLIT,
                                     .behaviour = BURIN_REMOVED,
                                     .invert = 1,
                                     .pattern = pattern_compile(b, regex)});
}

// Rust's \\w has the joiners U+200C and U+200D and no superscripts and fractions, Oniguruma's the
// other way round.
#define WORD "\\w\\u200C\\u200D&&[^\\u00B2\\u00B3\\u00B9\\u00BC-\\u00BE]"
static const char WORDS[] = "[" WORD "]+|[^\\s[" WORD "]]+";

static void pretokenize_whitespace(TokenizerBuilder *b, const json_t *step) {
    (void)step;
    add_step(b, (burin_pretokenizer){.kind = BURIN_STEP_SPLIT,
                                     .behaviour = BURIN_REMOVED,
                                     .invert = 1,
                                     .pattern = pattern_compile(b, WORDS)});
}

static void pretokenize_sequence(TokenizerBuilder *b, const json_t *step) {
    const json_t *list = json_object_get(step, "pretokenizers");
    for (size_t i = 0; i < json_array_size(list); i++)
        read_pretokenizer(b, json_array_get(list, i));
}

static const StepReader pretokenizers[] = {{"ByteLevel", pretokenize_byte_level},
                                           {"Split", pretokenize_split},
                                           {"Digits", pretokenize_digits},
                                           {"Punctuation", pretokenize_punctuation},
                                           {"Metaspace", pretokenize_metaspace},
                                           {"BertPreTokenizer", pretokenize_bert},
                                           {"WhitespaceSplit", pretokenize_spaces},
                                           {"Whitespace", pretokenize_whitespace},
                                           {"Sequence", pretokenize_sequence},
                                           {"CharDelimiterSplit", pretokenize_delimiter},
                                           {"FixedLength", pretokenize_length},
                                           {"UnicodeScripts", pretokenize_scripts},
                                           {NULL, NULL}};

void read_pretokenizer(TokenizerBuilder *b, const json_t *step) {
    if (step && !json_is_null(step)) read_step(b, step, pretokenizers, "pre-tokenizer");
}
