// The scores of attention, from the product of queries and keys to the softmax (scores.c).
#ifndef BURIN_PASSES_FUSE_SCORES_H
#define BURIN_PASSES_FUSE_SCORES_H
#include "passes/distance.h"
#include "passes/fuse/fuse.h"

// What an input that is a mask adds to the scores of a key: nothing where it is 1, `hidden` where it is 0.
typedef struct Padding {
    Node *mask;  // [keys] or [sequences, keys]; NULL: none
    double hidden;
    Node *added;  // the same as a term of the scores, and the factor around it
    double scale;
} Padding;

// What is added to the scores and is no mask.
enum { MAX_BIASES = 4 };
typedef struct Bias {
    Node *node;
    double scale;
    const Type *whole;  // of the scores that it is added to, whose axes may be other ones before a reshape
} Bias;

typedef struct Scores {
    Node *product;  // q k^T
    double scale, softcap;
    Interval allowed;
    bool windows_are_biases;  // those to both sides of a query
    Padding padding;
    Bias bias[MAX_BIASES];
    int n_biases;
} Scores;

// What the operand of a softmax is, read into what s says so far; false: not that, and the attempt says why.
bool scores_read(Node *, Scores *s, Attempt *);
bool is_text(const Graph *);  // reads tokens: what is quantized inside of its attention is computed in f32
bool check_scores(const Scores *, Attempt *, const Node *softmax);
bool scores_add_bias(Node *bias, double scale, Scores *, Node *at, Attempt *);

bool hides_nothing_more(const Node *, const Node *p, const Scores *);  // a mask of the probabilities p
bool leads_to_scores(const Node *, int depth);  // towards the product of two values that both depend on the inputs
bool sees_both_sides(Interval);                 // keys before and after the query
bool keeps_last_two(const Node *view);          // axes
Node *scaled_before(Node *x, double by, Node *before);
#endif
