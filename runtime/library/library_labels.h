// The end of the interface of a shared library of a network that reads texts, pasted into
// library_network.h.

// Tokens of a text that the network takes; what is longer is cut by NAME_encode.
int32_t NAME_most_tokens(void);

// Two texts as one input: the tokens in order, each with its type (token_type_ids). Ids below 0 are
// the texts, whose special tokens are text: NAME_PAIR_FIRST, NAME_PAIR_SECOND. Returns the number
// of items, 0: two texts are not put together.
enum { NAME_PAIR_FIRST = -1, NAME_PAIR_SECOND = -2 };
typedef struct NAME_pair_item {
    int32_t id, type;
} NAME_pair_item;
int NAME_pair_layout(const NAME_pair_item **);

// Scores of n logits, as the model's configuration wants: probabilities by softmax, each by a
// sigmoid, or the logits.
int NAME_scores(const float *logits, int64_t n, float *scores);
