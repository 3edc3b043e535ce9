// The program that a model becomes: reads the command line, opens the model, and does what was asked.
#include <signal.h>

#include "output.h"
#include "run.h"

// What the build knows, then what this machine makes of it.
static void print_info(const burin_model *model) {
    burin_status status;
    const burin_variant *best = burin_variant_find(model, NULL, &status);
    burin_print("%s%s", model->info ? model->info : "", model->info && *model->info ? "\n" : "");
    burin_print("%s %s: vocabulary %d, context %d, weights %zu bytes, arena %zu (lower bound %zu), state of a slot %zu\n",
                model->name, model->identity, model->vocab_size, model->context, model->weight_bytes,
                model->row_bytes * (size_t)model->max_rows, model->arena_lower_bound, model->slot_bytes);
    burin_print("cpus %s; here: %s, %d threads\n", burin_cpu_names(model), best ? best->cpu : "none of them",
                burin_default_threads());
}

static int run_model(const burin_model *model, const burin_command *command) {
    burin_run run;
    burin_run_open(&run, model, command);
    int status = command->perplexity_file ? burin_perplexity(&run) : command->bench ? burin_bench(&run) : burin_generate(&run);
    burin_run_close(&run);
    return status;
}

int main(int argc, char **argv) {
    const burin_model *model = &burin_model_this;
    signal(SIGPIPE, SIG_DFL);  // a reader that goes away ends the program, quietly
    burin_command command = burin_command_line(argc, argv);
    if (command.help) {
        burin_print_help(model->name, model->context, model->max_rows);
        return 0;
    }
    if (command.version) {
        burin_print("%s %s\n", model->name, model->identity);
        return 0;
    }
    if (command.info) {
        print_info(model);
        return 0;
    }
    return run_model(model, &command);
}
