// Needs and exclusions between options, a row each. Only option_rules.c reads it.
#ifndef BURIN_OPTION_RULES_H
#define BURIN_OPTION_RULES_H

// Names of options with blanks between. PROMPT is a prompt, with -p or without; TEXTS are words
// that belong to no option; --beams counts above 1.
typedef struct option_rule {
    enum { EXCLUDES, NEEDS } kind;
    const char *options;  // rule for each of these
    const char *others;   // EXCLUDES: refused beside it; NEEDS: at least one is required
    const char *message;
    const char *hint;  // after a blank at its end: of EXCLUDES the given one of `others`, of NEEDS
                       // that of `options` with its value
} option_rule;

#define LEAVE_OUT  "leave out "
#define TRUNCATING "--top-k --top-p --min-p --typical --xtc-probability --xtc-threshold "
#define DRAWING \
    TRUNCATING  \
    "--dynatemp-range --dynatemp-exp --mirostat --mirostat-ent --mirostat-lr --seed "
#define OF_DRY "--dry-base --dry-allowed-length --dry-penalty-last-n --dry-sequence-breaker "
#define OF_TEXTS                                                                         \
    "-n --temp --repeat-penalty --presence-penalty --frequency-penalty --repeat-last-n " \
    "--dry-multiplier --logit-bias --ignore-eos --shift --stop --grammar --json-schema " \
    "--json-object --json --logprobs --session --draft --draft-max --beams "
#define RECORDINGS                                                                \
    "--language --translate --prompt --srt --vtt --json --csv --vad --condition " \
    "--word-timestamps"

// In this order: the first rule that a command line breaks ends the program.
static const option_rule option_rules[] = {
    {EXCLUDES, "--prompt-name", "--prompt", "two prompts",
     "give one of --prompt-name and --prompt"},
    {EXCLUDES, "--rank", "--tokens --similarity --output --hash", "--rank prints texts",
     "--rank QUERY -f FILE"},
    {NEEDS, "--embeddings", "--rank", "--embeddings is for --rank over a saved file",
     "--rank QUERY --embeddings F.npy -f FILE"},
    {EXCLUDES, "--embeddings", "--over TEXTS", "--embeddings is for --rank over a saved file",
     "--rank QUERY --embeddings F.npy -f FILE"},
    {EXCLUDES, "--phonemes", "TEXTS --input -f", "more than one input",
     "give a text or --phonemes"},
    {EXCLUDES, "--raw", "--chat --messages", "--raw continues a text", LEAVE_OUT},
    {NEEDS, "--pieces", "--tokenize", "--pieces without --tokenize", "--tokenize TEXT"},
    {EXCLUDES, "--json", "--tokens", "--json is for a text", LEAVE_OUT},
    {NEEDS, "--logprobs", "--json", "--logprobs without --json", "--json "},
    {EXCLUDES, "--perplexity", "PROMPT -f --tokens --chat --messages",
     "--perplexity reads its own file", LEAVE_OUT},
    {EXCLUDES, "--logits --logits-hash", "--bench --perplexity",
     "logits are recorded while a prompt is read and continued", LEAVE_OUT},
    {EXCLUDES, "--grammar", "--json-schema --json-object", "more than one form of the text",
     "give one of --grammar, --json-schema and --json-object"},
    {EXCLUDES, "--json-schema", "--json-object", "more than one form of the text",
     "give one of --grammar, --json-schema and --json-object"},
    {EXCLUDES, "--beams",
     "--grammar --json-schema --json-object --logprobs --session --draft --shift",
     "--beams reads several texts at once", LEAVE_OUT},
    {EXCLUDES, "--serve", "--replay", "--replay needs no server", "leave out --serve"},
    {EXCLUDES, "--serve --replay",
     "-n --stop --grammar --json-schema --json-object --json --logprobs --session --beams --shift "
     "--chat --raw --messages --tokens -f PROMPT --system --tool-choice --bench --logits "
     "--logits-hash --perplexity --attention --srt --vtt --csv --word-timestamps "
     "--translate --output --phonemes",
     "each request says what its answer is like", LEAVE_OUT},
    {EXCLUDES, "--serve --replay", "TEXTS", "requests bring texts and recordings", LEAVE_OUT},
    {NEEDS, "--session-read-only", "--session", "--session-read-only without --session",
     "--session F "},
    {NEEDS, "--resume", "--over", "--resume without --over", "--over=mpi --resume F"},
    {EXCLUDES, "--over",
     "--shares --session --attention --perplexity --bench --similarity --logits --logits-hash",
     "--over gives lines of a file to ranks, each alone", LEAVE_OUT},
    {EXCLUDES, "--over", "PROMPT --tokens TEXTS --chat --messages",
     "--over gives lines of a file to ranks", "--over=mpi -f FILE"},
    {EXCLUDES, "--lines",
     "--session --shift --beams --draft --tokens --logits --logits-hash --attention --messages "
     "--image --chat --perplexity --bench --tokenize PROMPT --over",
     "--lines writes a text for each line", LEAVE_OUT},
    {NEEDS, "--parallel", "--lines --serve", "--parallel is for --lines and --serve",
     "--lines -f FILE "},
    {NEEDS, "--prefill", "--bench", "--prefill without --bench", "--bench "},
    {NEEDS, "--roofline", "--bench", "--roofline without --bench", "--bench "},
    {NEEDS, "--positions", "--bench", "--positions without --bench", "--bench "},
    {NEEDS, "--layers", "--attention", "--layers without --attention", "--attention F.npy "},
    {EXCLUDES, "--attention", "--bench --perplexity", "--attention looks at one text", LEAVE_OUT},
    {NEEDS, "--window", "--perplexity", "--window without --perplexity", "--perplexity F.txt "},
};

// Rules of transcribers: options for runs on tensors alone, and for recordings alone.
static const option_rule rules_of_recordings[] = {
    {NEEDS,
     "--tokens --decoder-tokens --top-k --top-p --min-p --typical --logit-bias --stop "
     "--grammar --ignore-eos --json-schema --json-object --mirostat --xtc-probability "
     "--dynatemp-range",
     "--input --bench", "that is not for recordings", LEAVE_OUT},
    {EXCLUDES, "--input", RECORDINGS, "that is for recordings, not for --input", LEAVE_OUT},
    {EXCLUDES, "--input", "TEXTS", "more than one input", "give recordings or --input"},
    {NEEDS, "--word-timestamps", "--json --csv --srt --vtt", "--word-timestamps needs a form",
     "--json --word-timestamps"},
};

// Options that change no line's result: --resume accepts other values of these.
static const char options_without_result[] =
    "-f --input -t --cpu --over --resume --rank-timeout --rank-messages --numa --output --profile "
    "-v --chunk --draft --draft-max --serve --replay --host --port --api-key --parallel --queue "
    "--max-body --max-messages --max-connections --timeout --alias --cors-origins --cache-ram "
    "--cache-dir --cache-disk --slot-save-path --slots --metrics --log-format";
#endif
