// Sentence embeddings: what sentence-transformers does after an encoder, as written in modules.json
// and the folders that it names (1_Pooling, 2_Dense, 3_Normalize ...), or asked for by --pooling.
//
//   before  graph encode(%input_ids: i32[T], ..., %attention_mask: i32[T]) -> ("last_hidden_state"=%x, "pooler_output"=...)
//   after   graph encode(...) -> ("sentence_embedding"=%reshape.1, "last_hidden_state"=%x)
#ifndef BURIN_FRONTEND_SENTENCE_H
#define BURIN_FRONTEND_SENTENCE_H
#include "frontend/checkpoint.h"
#include "ir.h"

typedef enum {
    POOLING_NONE,
    POOLING_CLS,
    POOLING_MEAN,
    POOLING_MAX,
    POOLING_MEAN_SQRT,
    POOLING_LAST,      // the last token's state
    POOLING_WEIGHTED,  // a mean in which token i counts i + 1 times
} Pooling;

enum { N_POOLINGS = 6 };
extern const char *const pooling_names[N_POOLINGS];  // of --pooling

// What follows the pooling, in the order of modules.json
enum { MAX_MODULES = 32 };
typedef struct SentenceStep {
    enum { STEP_DENSE, STEP_LAYER_NORM, STEP_NORMALIZE } kind;
    const Tensor *weight,
        *bias;               // of a dense layer [outputs, inputs], of a norm [width]; NULL: none
    const Tensor *residual;  // [outputs, inputs], or NULL
    bool adds_input;         // to the result
    const char *activation;  // the class of torch.nn, or NULL
} SentenceStep;

typedef struct Sentence {
    Pooling pooling;                 // POOLING_NONE: this is no sentence encoder
    Pooling others[N_POOLINGS - 1];  // whose results stand behind the first one's
    int n_others;
    SentenceStep steps[MAX_MODULES];
    int n_steps;
    int64_t truncate_dim;  // of the result the first so many numbers count; 0: all
    int64_t max_tokens;    // tokens: longer texts are cut; 0: the encoder's limit
} Sentence;

// Reads the folder's files; the default when there is no modules.json. Ends the run when a module
// is none that is known.
Sentence sentence_read(Arena *, const char *folder);
// A GGUF's layers after the pooling: dense_2 and dense_3, matrices alone.
void sentence_read_dense(Sentence *, const Checkpoint *);
Pooling pooling_parse(const char *name);
// Adds the output. Ends the run when the graph has no output that is a row for each token.
// `library`: the dsl/ folder.
void sentence_add(Graph *, const Sentence *, const char *library);
#endif
