// libFuzzer target: chat templates, compiled and rendered over messages; the messages follow a zero
// byte.
#include "frontend/template.h"

#include "generate.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"body",
     {"text", "{{ <e> }}", "<body><body>", "{% if <e> %}<body>{% else %}<body>{% endif %}",
      "{% for <t> in <e> %}<body>{% endfor %}",
      "{% for <t> in <e> if <e> recursive %}<body>{{ loop(<e>) }}{% endfor %}",
      "{% set <t> = <e> %}", "{% set ns = namespace(a=<e>) %}{% set ns.a = <e> %}{{ ns.a }}",
      "{% set x %}<body>{% endset %}", "{% macro f(x, y=<e>) %}<body>{% endmacro %}{{ f(<e>) }}",
      "{% call(x) f(1) %}<body>{% endcall %}", "{% filter <f> %}<body>{% endfilter %}",
      "{%- with x = <e> -%}<body>{% endwith %}", "{% break %}", "{% continue %}",
      "{% generation %}<body>{% endgeneration %}"}},
    {"t", {"x", "y", "x, y", "messages"}},
    {"e",
     {"x",
      "1",
      "'a\\u00e9 b'",
      "messages",
      "messages[0]",
      "<e>.content",
      "<e>[<e>]",
      "<e>[<e>:<e>]",
      "<e>[::-1]",
      "<e> <op> <e>",
      "(<e>)",
      "[<e>, <e>]",
      "(<e>, <e>)",
      "{'a': <e>, <e>: 2}",
      "<e>|<f>",
      "<e> is <test>",
      "not <e>",
      "-<e>",
      "<e> if <e> else <e>",
      "<e>.<m>",
      "range(<n>)",
      "dict(a=<e>)",
      "strftime_now(<e>)",
      "cycler(<e>, 2).next()",
      "joiner(<e>)()",
      "<n>",
      "1.5e300",
      "tools",
      "none",
      "true",
      "x ~ <e>"}},
    {"n",
     {"0", "3", "-1", "9223372036854775807", "99999", "123456789012345678901234567890", "2 ** 62"}},
    {"op",
     {"+", "-", "*", "/", "//", "%", "**", "~", "==", "<", ">=", "and", "or", "in", "not in"}},
    {"f",
     {"upper",
      "title",
      "trim",
      "trim(<e>)",
      "replace(<e>, <e>)",
      "indent(<n>, true)",
      "truncate(<n>)",
      "center(<n>)",
      "wordcount",
      "urlencode",
      "format(<e>)",
      "tojson",
      "tojson(indent=<n>)",
      "int(<n>, <n>)",
      "float",
      "abs",
      "round(<n>)",
      "default(<e>, true)",
      "attr(<e>)",
      "length",
      "sort(attribute=<e>)",
      "dictsort",
      "items",
      "max",
      "min",
      "unique",
      "groupby(<e>)",
      "map(attribute=<e>)",
      "map('upper')",
      "select('none')",
      "selectattr('a', 'equalto', <e>)",
      "list",
      "first",
      "last",
      "reverse",
      "join(<e>)",
      "sum",
      "batch(<n>, <e>)",
      "slice(<n>)",
      "string"}},
    {"test",
     {"defined", "none", "string", "number", "mapping", "iterable", "odd", "divisibleby(<n>)",
      "sameas(<e>)", "in(<e>)", "lower", "eq(<e>)"}},
    {"m", {"upper()",           "strip(<e>)",      "split(<e>)",        "rsplit(<e>, <n>)",
           "splitlines()",      "join(<e>)",       "replace(<e>, <e>)", "find(<e>)",
           "rfind(<e>, <n>)",   "count(<e>)",      "ljust(<n>, <e>)",   "rjust(<n>)",
           "zfill(<n>)",        "startswith(<e>)", "partition(<e>)",    "format(<e>, a=<e>)",
           "isalpha()",         "items()",         "get(<e>)",          "index(<e>)",
           "removeprefix(<e>)", "title()"}},
    {0}};
FUZZ_GENERATOR(RULES)

static const char MESSAGES[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"<b>\"}, {\"role\": \"user\", "
    "\"content\": \"caf\\u00e9 1\"}, "
    "{\"role\": \"assistant\", "
    "\"content\": [{\"type\": \"text\", \"text\": \"x\"}], \"n\": 1.5}], \"tools\": "
    "[{\"function\": {\"name\": \"f\"}}], "
    "\"kwargs\": {\"x\": [1, 2]}}";

static void use(Arena *arena, const char *path) {
    TemplateText text;
    if (!template_find(arena, path, &text)) return;
    const char *zero = memchr(text.source->text, 0, text.source->size);
    size_t template_bytes = zero ? (size_t)(zero - text.source->text) : text.source->size;
    TemplateText first = {.source =
                              template_source(arena, "fuzz", text.source->text, template_bytes)};
    CompiledTemplate t = template_compile(arena, &first);
    if (!t.blob || !burin_template_is_whole(t.blob, t.bytes)) return;
    burin_rendering r = {.template_blob = t.blob,
                         .json = MESSAGES,
                         .json_bytes = sizeof MESSAGES - 1,
                         .json_name = "messages"};
    if (zero) r.json = zero + 1, r.json_bytes = text.source->size - template_bytes - 1;
    r.now = "2025-07-05 14:03:09", r.bos = "<s>", r.eos = "</s>";
    r.memory_bytes = 1 << 20, r.memory = arena_alloc(arena, r.memory_bytes);
    if (burin_render(&r) && (strlen(r.text) > r.bytes || r.text[r.bytes])) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, use);
    return 0;
}
