// The scores of attention, from the product of queries and keys to the softmax (scores.c).
#ifndef BURIN_PASSES_FUSE_SCORES_H
#define BURIN_PASSES_FUSE_SCORES_H
#include "passes/distance.h"
#include "passes/fuse/fuse.h"

// The addend that an input mask means for the scores of a key: nothing where it is 1, `hidden`
// where it is 0.
typedef struct Padding {
    Node *mask;  // [keys] or [sequences, keys]; NULL: none
    double hidden;
    Node *added;  // the same as a term of the scores, and the factor around it
    double scale;
} Padding;

// Addends of the scores that are no mask.
enum { MAX_BIASES = 4 };
typedef struct Bias {
    Node *node;
    double scale;
    const Type
        *whole;  // of the scores that it is added to, whose axes may be other ones before a reshape
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

// Reads the operand of a softmax into s; false: not such a form, with the reason in the attempt.
bool scores_read(Node *, Scores *s, Attempt *);
// reads tokens: quantized steps inside of its attention are computed in f32
bool is_text(const Graph *);
bool check_scores(const Scores *, Attempt *, const Node *softmax);
bool scores_add_bias(Node *bias, double scale, Scores *, Node *at, Attempt *);

bool hides_nothing_more(const Node *, const Node *p,
                        const Scores *);  // a mask of the probabilities p
bool leads_to_scores(
    const Node *, int depth);    // towards the product of two values that both depend on the inputs
bool sees_both_sides(Interval);  // keys before and after the query
bool keeps_last_two(const Node *view);  // axes
Node *scaled_before(Node *x, double by, Node *before);
#endif
