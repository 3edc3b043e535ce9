// Sentence embeddings: what sentence-transformers does behind an encoder, as written in modules.json, 1_Pooling/config.json and
// 2_Dense, or asked for by --pooling.
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

// What follows the pooling: W x + b, and perhaps tanh of that.
enum { MAX_DENSE = 4 };
typedef struct Dense {
    const Tensor *weight, *bias;  // [outputs, inputs]; NULL: none
    bool tanh;
} Dense;

typedef struct Sentence {
    Pooling pooling;  // POOLING_NONE: this is no sentence encoder
    Dense dense[MAX_DENSE];
    int n_dense;
    bool normalize;      // to length 1
    int64_t max_tokens;  // longer texts are cut; 0: as many as the encoder takes
} Sentence;

// Reads the folder's files; the default when there is no modules.json. Ends the run when a module is none that is known.
Sentence sentence_read(Arena *, const char *folder);
// What a GGUF has behind the pooling: dense_2 and dense_3, matrices alone.
void sentence_read_dense(Sentence *, const Checkpoint *);
Pooling pooling_parse(const char *name);
// Adds the output. Ends the run when the graph has no output that is a row for each token.
void sentence_add(Graph *, const Sentence *);
#endif
