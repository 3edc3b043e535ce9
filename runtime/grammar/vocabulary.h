// The texts of a vocabulary's tokens, in groups, and trees of their bytes in the order of a walk: all that is below a node can
// be left out at once. Most tokens are plain texts: where a grammar has free text it makes no difference between their
// characters, or at least between the lower letters that all but the first of them are, so that their number decides.
#ifndef BURIN_VOCABULARY_H
#define BURIN_VOCABULARY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum burin_token_group {
    BURIN_LOWER,  // a plain ASCII character, then a to z
    BURIN_WIDE,   // a plain character, then plain characters beyond ASCII or a to z
    BURIN_PLAIN,  // other plain ASCII
    BURIN_OTHER,  // quotes, backslashes, brackets, control characters, spaces beyond ASCII, parts of characters, very long
                  // texts
    BURIN_TOKEN_GROUPS,
} burin_token_group;

enum { BURIN_PLAIN_LONGEST = 32 };  // characters

typedef struct burin_token_node {
    int32_t skip;   // the next node that is not below this one
    int32_t token;  // that ends here, or the vocabulary's size
    uint32_t depth : 24, byte : 8;
} burin_token_node;

typedef struct burin_token_tree {
    burin_token_node *nodes;
    int32_t *tokens, n_nodes, n_tokens;         // tokens: by their bytes
    int32_t begins[257];                        // in `tokens`: those that begin with each byte
    int32_t *by_characters;                     // plain tokens by their number of characters
    int32_t at_least[BURIN_PLAIN_LONGEST + 2];  // the first one of so many
    uint8_t *all;                               // [size]: 1 for each of its tokens
} burin_token_tree;

typedef struct burin_vocabulary {
    int32_t size, n_copies;
    int64_t *begin;        // [size + 1], in `texts`: the bytes of each id
    int32_t (*copies)[2];  // ids of one text: the first is the one in the tree
    uint8_t *characters;   // [size]: of plain tokens
    char *texts;
    size_t longest;
    bool drops;  // does the first token of a text lose its space?
    burin_token_tree groups[BURIN_TOKEN_GROUPS];
} burin_vocabulary;

bool burin_plain_ascii(uint8_t byte);

// Plain characters beyond ASCII: the first byte, the second, and how many follow that.
typedef struct burin_wide_row {
    uint8_t low, high, second_low, second_high, more;
} burin_wide_row;
enum { BURIN_WIDE_ROWS = 13 };
extern const burin_wide_row burin_wide_rows[BURIN_WIDE_ROWS];

// `marks`: as burin_constraint_open has them.
void burin_vocabulary_open(burin_vocabulary *, const void *tokenizer, int32_t size, const char *const *marks);
void burin_vocabulary_close(burin_vocabulary *);
#endif
