// libFuzzer target: tokenizers by their content (tokenizer.json, tokenizer.bin, a GGUF's
// vocabulary), compiled, then used by the runtime on a text of several scripts, and back.
#include "generate.h"
#include "input.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const FuzzRule RULES[] = {
    {"file",
     {"{\"normalizer\":<n>,\"pre_tokenizer\":<p>,\"decoder\":<d>,\"model\":<m>}",
      "{\"pre_tokenizer\":<p>,\"model\":<m>}"}},
    {"n",
     {"null", "{\"type\":\"Sequence\",\"normalizers\":[<n>,<n>]}", "{\"type\":\"NFKC\"}",
      "{\"type\":\"NFD\"}", "{\"type\":\"Lowercase\"}", "{\"type\":\"StripAccents\"}",
      "{\"type\":\"Replace\",\"pattern\":<x>,\"content\":\"<t>\"}",
      "{\"type\":\"Prepend\",\"prepend\":\"<t>\"}", "{\"type\":\"Strip\"}",
      "{\"type\":\"BertNormalizer\"}", "{\"type\":\"ByteLevel\"}", "{\"type\":\"Nmt\"}"}},
    {"p",
     {"null", "{\"type\":\"Sequence\",\"pretokenizers\":[<p>,<p>]}",
      "{\"type\":\"Split\",\"pattern\":<x>,\"behavior\":\"<b>\",\"invert\":false}",
      "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"split\":true}",
      "{\"type\":\"ByteLevel\"}", "{\"type\":\"Digits\"}", "{\"type\":\"Punctuation\"}",
      "{\"type\":\"Whitespace\"}", "{\"type\":\"WhitespaceSplit\"}",
      "{\"type\":\"FixedLength\",\"length\":2}", "{\"type\":\"UnicodeScripts\"}"}},
    {"b", {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}},
    {"d",
     {"null", "{\"type\":\"Sequence\",\"decoders\":[<d>,<d>]}",
      "{\"type\":\"Replace\",\"pattern\":<x>,\"content\":\"<t>\"}", "{\"type\":\"ByteFallback\"}",
      "{\"type\":\"Fuse\"}", "{\"type\":\"WordPiece\"}",
      "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":1}", "{\"type\":\"ByteLevel\"}",
      "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\"}", "{\"type\":\"BPEDecoder\"}"}},
    {"x", {"{\"String\":\"<t>\"}", "{\"Regex\":\"<r>\"}"}},
    {"r", {"<t>",       "<r><r>",  "<r>|<r>", "(?:<r>)*",   "(?:<r>)+", "(?:<r>){3}", "(?>:<r>)",
           "(?=<r>)",   "(?!<r>)", "(?<=a)",  "[<t>\\\\s]", "[^<t>]?",  "<t>*?",      "<t>++",
           "\\\\p{L}+", "\\\\b",   "^",       "$",          ".",        "(?i:<r>)"}},
    {"t", {"a", "b", "aa", " ", "\\u00e9", "\\u2581", "x"}},
    {"m",
     {"{\"type\":\"BPE\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a "
      "b\"]}",
      "{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"##a\":1,\"b\":2}}",
      "{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\",0],[\"aa\",-1],[\"b\",-2]]}",
      "{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":1}}"}},
    {0}};
FUZZ_GENERATOR(RULES)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, round_trip);
    return 0;
}
