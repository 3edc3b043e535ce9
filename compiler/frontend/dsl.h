// The description language: text to AST (dsl/scan.l, dsl/parse.y), AST and checkpoint to graphs
// (elaborate.c).
#ifndef BURIN_DSL_H
#define BURIN_DSL_H
#include "frontend/checkpoint.h"

typedef struct DslOptions {
    const char *library;     // the dsl/ folder with std/ and models/
    Checkpoint *checkpoint;  // weights and config.json
    bool verbose;            // lists ignored fields of config.json
    bool states;             // of a decoder: hidden states instead of logits
    bool
        row_states;  // of a decoder: hidden states beside the logits, which the graph `guess` reads
    bool guess;      // that graph alone, in the place of the decoder
    bool shapes_only;  // the weights' data is not looked for: constants have a shape and a name
                       // alone
} DslOptions;

// One Graph for each `graph` of the file, cache-less, over the bounded symbol T. Reports every
// error it can, then ends the run.
Module *dsl_load(Arena *, const char *path, const DslOptions *);
// A file of dsl/models, as its first lines say.
typedef struct Description {
    const char *path, *name;  // "llama" of `model llama for "LlamaForCausalLM"`
    const char **classes;     // of transformers
    int n_classes;
    const char *summary, *paper;  // its first two lines of comment
} Description;
typedef struct Descriptions {
    Description *items;
    int n;
} Descriptions;
Descriptions dsl_descriptions(Arena *, const char *library);  // of models, by name
Descriptions dsl_descriptions_in(Arena *, const char *folder);
// The path of the description for a checkpoint: by `architectures` of config.json, else by
// model_type. Ends the run with near names when there is none.
const char *dsl_find_description(Arena *, const char *library, const Checkpoint *);

// Parses text alone, for tests and fuzzing: false after diag_error. NULL-terminated list of imports
// is not followed.
bool dsl_check_syntax(Arena *, const Source *);
#endif
