// Options by the names of other programs (llama.cpp, transformers, ollama): aliases where they mean
// the same, hints where they do not. Only options.c reads it.
#ifndef BURIN_OPTION_NAMES_H
#define BURIN_OPTION_NAMES_H
#include "program/option_rows.h"

typedef struct other_name {
    unsigned programs;
    const char *name;
    const char *ours;  // an option; or, of a hint, a text with what to do instead
} other_name;

static const other_name option_aliases[] = {
    {G, "--n-predict", "-n"},
    {G, "--predict", "-n"},
    {G, "--max-new-tokens", "-n"},
    {G, "--max_new_tokens", "-n"},
    {G, "--num-predict", "-n"},
#ifndef BURIN_SERVER
    {G, "--max-tokens", "-n"},
#endif
    {G, "-c", "--ctx"},
    {D, "--conversation", "--chat"},
    {D, "--interactive", "--chat"},
    {D, "-i", "--chat"},
    {D, "--no-conversation", "--raw"},
    {D, "--system-prompt", "--system"},
    {G, "-r", "--stop"},
    {G, "--reverse-prompt", "--stop"},
    {G, "--repetition-penalty", "--repeat-penalty"},
    {G, "--num_beams", "--beams"},
    {G, "--top_k", "--top-k"},
    {G, "--top_p", "--top-p"},
    {G, "--min_p", "--min-p"},
    {D, "--context-shift", "--shift"},
    {A, "--n-threads", "-t"},
};

static const other_name option_hints[] = {
    {A, "-m", "the program has its model inside: leave it out"},
    {A, "--model", "the program has its model inside: leave it out"},
    {A, "-hf", "the program has its model inside: leave it out"},
    {A, "-ngl", "the program computes on the CPU alone: leave it out"},
    {A, "--n-gpu-layers", "the program computes on the CPU alone: leave it out"},
    {A, "--gpu-layers", "the program computes on the CPU alone: leave it out"},
    {A, "--device", "the program computes on the CPU alone: leave it out"},
    {A, "-fa", "attention is always fused: leave it out"},
    {A, "--flash-attn", "attention is always fused: leave it out"},
    {A, "--mlock", "weights are mapped from the program's file: leave it out"},
    {A, "--no-mmap", "weights are mapped from the program's file: leave it out"},
    {A, "-tb", "-t sets the threads of prompts, too"},
    {A, "--threads-batch", "-t sets the threads of prompts, too"},
    {G, "-b", "--chunk N sets the prompt's tokens of one step"},
    {G, "-ub", "--chunk N sets the prompt's tokens of one step"},
    {G, "--batch-size", "--chunk N sets the prompt's tokens of one step"},
    {G, "--ubatch-size", "--chunk N sets the prompt's tokens of one step"},
    {D, "-ctk", "the format of the KV cache is chosen by burin build --kv q8_0"},
    {D, "-ctv", "the format of the KV cache is chosen by burin build --kv q8_0"},
    {D, "--cache-type-k", "the format of the KV cache is chosen by burin build --kv q8_0"},
    {D, "--cache-type-v", "the format of the KV cache is chosen by burin build --kv q8_0"},
    {D, "--jinja", "the model's chat template is always used: leave it out"},
    {D, "--chat-template",
     "the template is the model's; burin build takes chat_template.jinja from its folder"},
    {D, "-st", "a question without --chat has one answer"},
    {D, "--single-turn", "a question without --chat has one answer"},
    {D, "-mli", "a message between \"\"\" and \"\"\" has several lines"},
    {D, "--multiline-input", "a message between \"\"\" and \"\"\" has several lines"},
    {D, "--no-display-prompt", "a pipe gets the generated text alone: leave it out"},
    {D, "--keep", "--chat keeps the system prompt; --shift drops the older half of a text"},
    {D, "-md", "a draft model is built in: burin build MODEL --draft SMALL"},
    {D, "--model-draft", "a draft model is built in: burin build MODEL --draft SMALL"},
    {D, "--lora", "merge the adapter into its model (peft: merge_and_unload), then build that"},
    {G, "-e", "escapes are those of the shell: $'one\\ntwo'"},
    {G, "--escape", "escapes are those of the shell: $'one\\ntwo'"},
    {G, "--samplers", "the order of samplers is fixed; -v prints it"},
    {G, "--do-sample", "--temp 0 takes the likeliest token, any other temperature samples"},
    {A, "--quant", "weights are quantized by burin build --quant q4_k_m"},
    {A, "--quantize", "weights are quantized by burin build --quant q4_k_m"},
#ifndef BURIN_SERVER
    {D, "--serve",
     "burin build MODEL --with=server makes a program that serves; --chat --json answers lines of "
     "a pipe"},
    {D, "--server",
     "burin build MODEL --with=server makes a program that serves; --chat --json answers lines of "
     "a pipe"},
    {D, "--port",
     "burin build MODEL --with=server makes a program that serves; --chat --json answers lines of "
     "a pipe"},
    {D, "--host",
     "burin build MODEL --with=server makes a program that serves; --chat --json answers lines of "
     "a pipe"},
#endif
};
#endif
