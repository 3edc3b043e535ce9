// The program of a network: tensors in, tensors out.
#ifndef BURIN_NETWORK_PROGRAM_H
#define BURIN_NETWORK_PROGRAM_H
#include "engine/program.h"
#include "program/options.h"

int burin_run_network(const burin_model *, const burin_command *);  // returns the exit status
// warns if --seed has no effect
void burin_note_seed(const burin_network *, const burin_command *);
// Makes the folder of --output, unless it is an .npy for the one output; ends the program if it
// cannot.
void burin_make_output_folder(const char *output, int n_outputs);
void burin_output_path(char *path, size_t room, const char *folder,
                       const char *name);  // F.npy, or DIR/NAME.npy
#endif
