// Options by the names of other programs (llama.cpp, whisper.cpp, transformers, ollama): aliases
// for options of equal meaning, hints for others. Only options.c reads it.
#ifndef BURIN_OPTION_NAMES_H
#define BURIN_OPTION_NAMES_H
#include "program/option_rows.h"

typedef struct other_name {
    unsigned programs;
    const char *names;  // with blanks between them; - where a name has _
    const char *ours;   // an option; or, of a hint, a text with what to do instead
} other_name;

static const other_name option_aliases[] = {
    {G, "--n-predict --predict --max-new-tokens --num-predict --n", "-n"},
#ifndef BURIN_SERVER
    {G, "--max-tokens", "-n"},
#endif
    {G, "-c", "--ctx"},
    {D, "--conversation --interactive -i", "--chat"},
    {D, "--no-conversation", "--raw"},
    {D, "--system-prompt", "--system"},
    {G, "-r --reverse-prompt", "--stop"},
    {G, "--repetition-penalty", "--repeat-penalty"},
    {D, "--context-shift", "--shift"},
    {A, "--n-threads", "-t"},
    {A, "-V", "--version"},
    {T, "-l --lang", "--language"},
    {T, "-tr", "--translate"},
    {V, "--output-file", "--output"},
};

static const other_name option_hints[] = {
    {A, "-m --model -hf --hf-repo", "the program has its model inside: leave it out"},
    {A, "-ngl --n-gpu-layers --gpu-layers --device -dev -sm -ts -mg --gpu --no-gpu",
     "the program computes on the CPU alone: leave it out"},
    {A, "-fa --flash-attn", "attention is always fused: leave it out"},
    {A, "--mlock --no-mmap --mmap", "weights are mapped from the program's file: leave it out"},
    {A, "-tb --threads-batch", "-t sets the threads of prompts, too"},
    {G, "-b -ub --batch --batch-size --ubatch-size",
     "--chunk N sets the prompt's tokens of one step"},
    {D, "-ctk -ctv --cache-type-k --cache-type-v",
     "the format of the KV cache is chosen by burin build --kv q8_0"},
    {D, "--jinja", "the model's chat template is always used: leave it out"},
    {D, "--chat-template --chat-template-file",
     "the template is the model's; burin build takes chat_template.jinja from its folder"},
    {D, "-st --single-turn", "a question without --chat has one answer"},
    {D, "-ins --instruct", "--chat talks; a question without --chat has one answer"},
    {D, "-mli --multiline-input", "a message between \"\"\" and \"\"\" has several lines"},
    {D, "--no-display-prompt --simple-io --color -co",
     "a pipe gets the generated text alone: leave it out"},
    {D, "--keep", "--chat keeps the system prompt; --shift drops the older half of a text"},
    {D, "-md --model-draft", "a draft model is built in: burin build MODEL --draft SMALL"},
    {A, "--lora --lora-scaled", "an adapter is built in: burin build MODEL --lora DIR"},
    {G, "--rope-freq-base --rope-freq-scale --rope-scaling --rope-scale",
     "positions are as the model's config.json has them: leave it out"},
    {G, "-e --escape", "escapes are those of the shell: $'one\\ntwo'"},
    {G, "--samplers --sampling-seq", "the order of samplers is fixed; -v prints it"},
    {G, "--do-sample", "--temp 0 takes the likeliest token, any other temperature samples"},
    {G, "--length --max-length", "-n N generates N tokens"},
    {G, "-o --output -of", "the text goes to standard output: > FILE"},
    {D, "--embedding --embeddings --embed",
     "burin build MODEL --pooling=mean makes a program that prints embeddings"},
    {A, "--quant --quantize", "weights are quantized by burin build --quant q4_k_m"},
    {T, "-f --file", "recordings need no option before them"},
    {T, "--task", "--translate translates to English"},
    {T,
     "-osrt -ovtt -ocsv -oj --output-srt --output-vtt --output-csv --output-json --output-format",
     "--srt, --vtt, --csv or --json prints them: > FILE"},
    {V, "--rate --length-scale", "--speed 1.2 speaks faster"},
    {N, "-i --in", "--input NAME=F.npy"},
#ifndef BURIN_SERVER
    {D | E | L, "--serve --server --port --host",
     "burin build MODEL --with=server makes a program that serves; --chat --json answers lines of "
     "a pipe"},
#endif
};
#endif
