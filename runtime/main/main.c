// The program of a model: reads the command line, opens the model, and runs the requested mode.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/standard_files.h"
#include "engine/integrity.h"
#include "engine/network.h"
#include "engine/ranks.h"
#include "main/run_text.h"
#include "network/model_card.h"
#include "program/output.h"
#include "program/private_file.h"
#include "program/progress.h"
#include "text/memory_total.h"
#include "text/modes.h"
#include "text/prompt_cache.h"
#include "text/run.h"
#include "tokenizer/prompt_ids.h"

static void verify(const burin_model *model) {
    if (model->draft) verify(model->draft);
    const char *what = !burin_weights_intact(model)     ? "weights"
                       : !burin_tokenizer_intact(model) ? "tokenizer"
                                                        : NULL;
    if (!what && !burin_prompt_cache_intact(model)) what = "prompt";
    if (what)
        burin_stop(BURIN_USER_MISTAKE,
                   "the %s in this program are damaged\nhint: copy it again, or build it again",
                   what);
    burin_print("%s %s: weights and tokenizer are as they were built\n", model->name,
                model->identity);
}

// Facts of the build, then those of this machine.
static void print_info(const burin_model *model, const burin_command *c) {
    burin_status status;
    const burin_variant *best = burin_variant_find(model, NULL, &status);
    burin_print("%-s%-s", model->info ? model->info : "", model->info && *model->info ? "\n" : "");
    if (c->context > 0 && c->context < model->context) {
        char total[BURIN_MEMORY_TEXT];
        burin_memory_text(model, &(burin_options){.slots = 1, .threads = 1}, (int32_t)c->context,
                          total);
        burin_print("memory    with --ctx %d at most %s\n", (int)c->context, total);
    }
    burin_print("%s %s: ", model->name, model->identity);
    if (!model->net) burin_print("vocabulary %d, context %d, ", model->vocab_size, model->context);
    burin_print("weights %zu bytes, arena %zu (lower bound %zu)", model->weight_bytes,
                model->row_bytes * (size_t)model->max_rows + model->scratch_bytes,
                model->arena_lower_bound);
    if (!model->net) burin_print(", state of a slot %zu", model->slot_bytes);
    burin_print("\ncpus %s; here: %s, %d threads\n", burin_cpu_names(model),
                best ? best->cpu : "none of them", burin_default_threads());
    if (model->net) model->modes->print_network(model->net);
    if (burin_network_embeds(model) || burin_labels(model))
        burin_print("texts: at most %d tokens, what is longer is cut\n", burin_most_tokens(model));
    if (model->encoder) model->modes->print_network(model->encoder->net);
    if (model->draft) burin_print("draft %s\n", model->draft->info);
    size_t bytes;
    int32_t tokens = burin_prompt_cache_size(model, &bytes);
    if (tokens)
        burin_print("prompt    %d tokens that are read already, %zu bytes\n", tokens, bytes);
    verify(model);
}

// The program's file, or one that it reads, is shorter than it was when it was mapped.
static void file_ended(int signal_number) {
    static const char text[] =
        ": a file ends too early: the program's own (copy it again, or build it again) or one that "
        "it reads\n";
    burin_write_all(STDERR_FILENO, burin_program_name, strlen(burin_program_name));
    burin_write_all(STDERR_FILENO, text, sizeof text - 1);
    (void)signal_number;
    _exit(BURIN_USER_MISTAKE);
}

// Ctrl-C, where nothing else is made of it (a chat stops its answer, a server ends).
static void interrupted(int signal_number) {
    static const char text[] = ": interrupted";
    char how_far[BURIN_PROGRESS_TEXT];
    burin_write_all(STDERR_FILENO, "\n", 1);
    burin_write_all(STDERR_FILENO, burin_program_name, strlen(burin_program_name));
    burin_write_all(STDERR_FILENO, text, sizeof text - 1);
    burin_write_all(STDERR_FILENO, how_far, burin_progress_interrupted(how_far));
    burin_write_all(STDERR_FILENO, "\n", 1);
    burin_flush_interrupted();
    burin_remove_lock();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

// A shell starts background jobs with the signal ignored.
static void watch_interrupt(void) {
    if (signal(SIGINT, interrupted) == SIG_IGN) signal(SIGINT, SIG_IGN);
}

static void print_all_help(const burin_model *model) {
    burin_print_all_help(model->modes->kind, model->name);
    burin_print("\n");
    if (!model->net)
        burin_print("context: %d tokens; rows at once: %d\n", model->context, model->max_rows);
    burin_print("exit status: 0 success, 1 the request failed (file, size ...), 2 wrong options\n");
}

static void print_help(const burin_model *model, const char *group) {
    burin_print_help(model->modes->kind, model->name, group);
    if (!model->net && !model->tokenizer_bytes)
        burin_print("this model has no tokenizer: %s --tokens 1,2,3 -n 10\n", burin_program_name);
}

int main(int argc, char **argv) {
    const burin_model *model = &burin_model_this;
    burin_open_standard_files();
    signal(SIGPIPE, SIG_DFL);  // a reader that goes away ends the program, quietly
    signal(SIGXFSZ,
           SIG_IGN);  // a file beyond `ulimit -f` is an error of its write, like a full disk
    signal(SIGBUS, file_ended);
    watch_interrupt();
    burin_ranks_start(model);
    burin_command command = burin_command_line(model->modes->kind, argc, argv);
    int status = 0;
    if (command.help_all)
        print_all_help(model);
    else if (command.help)
        print_help(model, command.help);
    else if (command.completion)
        burin_print_completion(model->modes->kind, command.completion);
    else if (command.version)
        burin_print("%s %s\n", model->name, model->identity);
    else if (command.info)
        print_info(model, &command);
    else if (command.verify)
        verify(model);
    else
        status = model->modes->run(model, &command);
    burin_flush();
    return status;
}
