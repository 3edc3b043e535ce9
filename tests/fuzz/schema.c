// libFuzzer target: a JSON schema; its grammar is read, too, and no mistake in it may be one of its
// notation.
#include <stdlib.h>
#include <string.h>

#include "generate.h"
#include "runtime/grammar/grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"schema",
     {"true", "{}", "{\"type\": \"<type>\"}", "{\"type\": \"<type>\", <words>}", "{<words>}",
      "{\"type\": [\"<type>\", \"<type>\"], <words>}", "false"}},
    {"type", {"object", "array", "string", "number", "integer", "boolean", "null"}},
    {"words", {"<word>", "<word>, <words>"}},
    {"word",
     {"\"minimum\": <number>",
      "\"maximum\": <number>",
      "\"exclusiveMinimum\": <number>",
      "\"exclusiveMaximum\": <number>",
      "\"multipleOf\": <number>",
      "\"minLength\": <count>",
      "\"maxLength\": <count>",
      "\"pattern\": \"<pattern>\"",
      "\"format\": \"<format>\"",
      "\"enum\": [<value>, <value>]",
      "\"const\": <value>",
      "\"properties\": {<properties>}",
      "\"required\": [\"a\", \"b\"]",
      "\"additionalProperties\": <schema>",
      "\"patternProperties\": {\"<pattern>\": <schema>}",
      "\"propertyNames\": <schema>",
      "\"minProperties\": <count>",
      "\"maxProperties\": <count>",
      "\"items\": <schema>",
      "\"prefixItems\": [<schema>, <schema>]",
      "\"minItems\": <count>",
      "\"maxItems\": <count>",
      "\"uniqueItems\": true",
      "\"contains\": <schema>",
      "\"anyOf\": [<schema>, <schema>]",
      "\"oneOf\": [<schema>]",
      "\"allOf\": [<schema>, <schema>]",
      "\"not\": <schema>",
      "\"$ref\": \"#\"",
      "\"$ref\": \"#/$defs/a\"",
      "\"$defs\": {\"a\": <schema>}"}},
    {"properties",
     {"\"a\": <schema>", "\"a\": <schema>, \"b\": <schema>", "\"aa\": <schema>, <properties>"}},
    {"number",
     {"0", "-1", "1.5", "9007199254740991", "9223372036854775807", "-9223372036854775808",
      "12345678901234567890", "1e300", "NaN", "Infinity", "0.001", "3"}},
    {"count", {"0", "1", "2", "17", "1000", "-1"}},
    {"value",
     {"null", "1", "12345678901234567890", "\"a\\u00e9\\n\"", "[1, {}]", "{\"a\": <value>}",
      "-0.5e-7"}},
    {"pattern",
     {"a", "^<pattern>$", "(<pattern>)", "<pattern><pattern>", "<pattern>|<pattern>", "[^a-z]",
      "\\\\d", "(?:<pattern>){2}", "<pattern>*", "<pattern>?", "()", "."}},
    {"format",
     {"date", "time", "date-time", "uuid", "ipv4", "ipv6", "email", "uri", "hostname", "x"}},
    {0}};
FUZZ_GENERATOR(RULES)

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
