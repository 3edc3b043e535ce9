// The texts of a vocabulary's tokens, in groups, and trees of their bytes in the order of a walk: a
// whole subtree can be left out at once. Most tokens are plain texts: where a grammar has free text
// it does not distinguish their characters, or at least not lower-case letters (all but the first
// of most tokens), so that their length decides.
#ifndef BURIN_VOCABULARY_H
#define BURIN_VOCABULARY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum burin_token_group {
    BURIN_LOWER,  // a plain ASCII character, then a to z
    BURIN_WORD,   // a plain ASCII character, then letters and digits of ASCII
    BURIN_PLAIN,  // other plain ASCII
    BURIN_WIDE,   // a plain character, then plain characters beyond ASCII
    BURIN_MIXED,  // a plain character, then plain characters beyond ASCII and a to z
    BURIN_OTHER,  // quotes, backslashes, brackets, control characters, spaces beyond ASCII, parts
                  // of characters, very long texts
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
    int32_t *tokens, n_nodes,
        n_tokens;  // by their first bytes, of each those of few characters first
    // In `tokens`: those after tokens of a first byte with at most this many characters; 0: the
    // first. None in OTHER.
    int32_t (*ends)[BURIN_PLAIN_LONGEST + 1];
    uint64_t *all[2];  // bits of the tokens: those that do not begin with a space, those that do
} burin_token_tree;

typedef struct burin_vocabulary {
    int32_t size, n_copies, words;  // words: of 64 bits, one for each id and for `size`
    int64_t *begin;                 // [size + 1], in `texts`: the bytes of each id
    int32_t (*copies)[2];           // ids of one text: the first is the one in the tree
    char *texts;
    size_t longest;
    bool drops;  // does the first token of a text lose its space?
    burin_token_tree groups[BURIN_TOKEN_GROUPS];
} burin_vocabulary;

bool burin_plain_ascii(uint8_t byte);
bool burin_plain_word(uint8_t byte);   // 0-9, A-Z, a-z
bool burin_plain_lower(uint8_t byte);  // a-z

// Plain characters beyond ASCII: the first byte, the second, and how many follow that.
typedef struct burin_wide_row {
    uint8_t low, high, second_low, second_high, more;
} burin_wide_row;
enum { BURIN_WIDE_ROWS = 13 };
extern const burin_wide_row burin_wide_rows[BURIN_WIDE_ROWS];

// `marks`: as burin_constraint_open has them.
void burin_vocabulary_open(burin_vocabulary *, const void *tokenizer, int32_t size,
                           const char *const *marks);
void burin_vocabulary_close(burin_vocabulary *);
#endif
