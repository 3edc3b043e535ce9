// Programs to C text.
//
//   name_functions  gives kernels the functions that compute them
//   emit_program    NAME.c: one function for each distinct kernel, then forward(), a loop over layers. The same text is
//                   compiled once for each CPU, with -DBURIN_CPU=avx2 ...: its one external symbol is NAME_forward_<BURIN_CPU>
//   emit_header     NAME_plan.h: sizes of the plan, the layout of the weights
//   emit_dispatch   NAME_model.c: the descriptor burin_model (runtime/engine/program.h), with one variant for each CPU
//
// NAME is Program.name. Only the descriptor has the model's own name, so that models share compiled
// objects. The text needs only headers of runtime/ and builds with gcc 12 as well as with clang 19.
#ifndef BURIN_CODEGEN_H
#define BURIN_CODEGEN_H
#include "engine/program.h"
#include "lower/lower.h"
#include "target/target.h"

typedef struct DispatchOptions {
    const Target *const *cpus;  // best last
    int n_cpus;
    const char *identity;        // 16 hex digits
    const char *info;            // text of --info
    const char *weights_symbol;  // extern const unsigned char SYMBOL[] (64-bit addressed): start of
                                 // the packed weights
    bool weights_mapped;         // by the runtime: SYMBOL is a function that returns where they are
    const char *descriptor;      // "burin_model_this", or "NAME_model" for a library
    const char *draft;           // descriptor of a model that guesses for this one, or NULL
    const char *modes;           // row of runtime/text/modes.h, such as "chat"; NULL: not a program
    bool speech;                 // the descriptor has the settings for recordings
    bool modes_apart;            // the descriptor is also linked without the program's rooms
    uint64_t tokenizer_offset, tokenizer_bytes, template_offset, template_bytes,
        sums_offset;  // in the weights
} DispatchOptions;

// A network's values for its program, without `dimension`; dims: names of the numbered dimensions,
// symbols first.
typedef struct NetDescription {
    burin_network net;
    const Dim **dims;
    int n_dims;
    int64_t length;  // of an encoder: the dimension that its rows in the states are
} NetDescription;
const NetDescription *describe_net(const Program *);
bool is_decoder(const Program *);
int32_t input_vocabulary(
    const Program *);  // ids that a decoder may read, rows of its embedding; 0: not known

void name_functions(Program *);  // and of its encoder; before anything is emitted
void emit_program(const Program *, Text *source);
// one function, with its comment
void emit_function(const Program *, const KernelFunction *, Text *source);
void emit_header(const Program *, Text *header);
void emit_dispatch(const Program *, const DispatchOptions *, Text *source);
#endif
