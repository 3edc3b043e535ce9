// Options by what they are for: --help prints the usual ones of each group, --help GROUP and
// --help-all print the rest.
#ifndef BURIN_OPTION_GROUPS_H
#define BURIN_OPTION_GROUPS_H
#include <stddef.h>

typedef struct option_group {
    const char *name;
    const char *usual[8], *others[40];  // names of options; end with NULL
} option_group;

static const option_group option_groups[] = {
    {"Input",
     {"-f", "--image", "--input", "--rank", "--pair", "--language"},
     {"--lines", "-p", "--media-path", "--tokens", "--decoder-tokens", "--tokenize", "--pieces",
      "--embeddings", "--decode", "--translate", "--prompt-name", "--vad", "--condition",
      "--word-timestamps", "--phonemes", "--prompt", "--random", "--dim", "--similarity"}},
    {"Output",
     {"-n", "--json", "--output", "--srt", "--vtt", "--voice", "--speed"},
     {"--noise", "--csv", "--threshold", "--format", "--logprobs", "--stop", "--grammar",
      "--json-schema", "--json-object", "--ignore-eos", "--top-k", "--hash"}},
    {"Chat",
     {"--chat", "--system", "--raw", "--session"},
     {"--messages", "--tool-choice", "--history", "--session-read-only"}},
    {"Sampling",
     {"--temp", "--seed"},
     {"--top-k",
      "--top-p",
      "--min-p",
      "--typical",
      "--repeat-penalty",
      "--presence-penalty",
      "--frequency-penalty",
      "--repeat-last-n",
      "--dry-multiplier",
      "--dry-base",
      "--dry-allowed-length",
      "--dry-penalty-last-n",
      "--dry-sequence-breaker",
      "--xtc-probability",
      "--xtc-threshold",
      "--dynatemp-range",
      "--dynatemp-exp",
      "--mirostat",
      "--mirostat-ent",
      "--mirostat-lr",
      "--logit-bias",
      "--beams",
      "--length-penalty",
      "--early-stopping"}},
    {"Speed",
     {"-t", "--ctx", "--bench"},
     {"--batch-size", "--chunk", "--shift", "--draft", "--draft-max", "--cpu", "--shares",
      "--rank-timeout", "--rank-messages", "--numa", "--over", "--resume"}},
    {"Server",
     {"--serve"},
     {"--replay",     "--host",           "--port",         "--api-key",      "--parallel",
      "--queue",      "--max-tokens",     "--max-body",     "--max-messages", "--max-connections",
      "--timeout",    "--alias",          "--cors-origins", "--cache-ram",    "--cache-dir",
      "--cache-disk", "--slot-save-path", "--slots",        "--metrics",      "--log-format"}},
    {"Inside",
     {"--info", "-v"},
     {"--profile", "--prefill", "--roofline", "--positions", "--perplexity", "--window", "--logits",
      "--logits-hash", "--attention", "--layers", "--verify", "--version", "--completion", "-h",
      "--help-all"}},
};

enum { N_OPTION_GROUPS = sizeof option_groups / sizeof *option_groups };
#endif
