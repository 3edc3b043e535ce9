// The smaller commands.
#ifndef BURIN_COMMANDS_H
#define BURIN_COMMANDS_H
#include "build/build.h"
#include "ir/eval/eval.h"

void list_passes(void);
void list_ops(void);
void list_targets(Arena *);
void list_formats(void);
void list_std(Arena *);                                // burin help std
void list_models(const char *home, const char *word);  // word: NULL: all

// Before anything is understood of the model: tensors as they are stored, bytes a type, a GGUF's
// metadata. Opens the checkpoint.
void inspect_weights(Build *);
void inspect(const Build *);                    // after the passes: the graph's contents
int tokenize_texts(Arena *, const Options *);   // burin tokenize
int render_template(Arena *, const Options *);  // burin template
int help(Arena *, const Options *);             // burin help
int interpret(Build *);                         // run --interpret
// The same for an existing build, with observers of each forward call's tokens and of attention
// weights; or NULL.
typedef struct InterpreterWatch {
    void *user;
    void (*tokens)(void *user, const Graph *, const int32_t *tokens, int n);
    AttentionWatch *attention;
} InterpreterWatch;
int interpret_built(Build *, const InterpreterWatch *);
#endif
