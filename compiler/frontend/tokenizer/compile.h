// Compiling a tokenizer: readers fill a TokenizerBuilder, tokenizer_build makes the blob of it.
//
//   tokenizer.c    recognises the file; tokenizer_json.c, normalizers.c, pretokenizers.c and
//                  slow_class.c, sentencepiece.c, tiktoken.c, vocabularies.c read it
//   class_rules.c, class_rules.def, class_types.def
//                  a tokenizer.json as the classes of transformers 5 read it, with the files beside it
//   piece_classes.c, piece_ids.c
//                  SentencePiece's pieces by the classes of transformers
//   builder.c      vocabulary, merges, tables
//   decoders.c     the text of each token
//   pattern.c, pattern_program.c
//                  regular expressions to the instructions of runtime/tokenizer/tokenizer_characters.h
//   unicode.c      sets of code points, and the tables that unicode.awk makes
#ifndef BURIN_TOKENIZER_COMPILE_H
#define BURIN_TOKENIZER_COMPILE_H
#include <jansson.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer.h"
#include "runtime/tokenizer/tokenizer_characters.h"
#include "util/diag.h"

enum { MAX_TOKENS = 1 << 22, MAX_TOKEN_BYTES = 1 << 12 };

// Limits of a file, far above those of all real files.
enum {
    MAX_GROWTH = 1000,            // times that steps make a text longer
    MAX_GROWTH_BYTES = 100000,    // prepended bytes
    MAX_NORMALIZERS = 1024,       // each goes over the text
    MAX_PRETOKENIZERS = 64,       // each is a call inside the one before
    MAX_DECODERS = 64,            // each goes over all tokens
    MAX_SETS = 1 << 13,           // of characters, in patterns and normalizers
    MAX_MADE_BYTES = 64 << 20,    // of tokens' texts as normalizers and decoders write them
    MAX_DECODED_BYTES = 1 << 20,  // of one of these
};

// A growing array in an arena.
typedef struct Bytes {
    Arena *arena;
    char *data;
    size_t length, capacity;
} Bytes;
void bytes_append(Bytes *, const void *data, size_t n);

typedef struct TokenizerBuilder {
    Arena *arena;
    const Source *source;  // for messages: the file, without its text
    burin_tokenizer head;
    struct BuilderToken {
        const char *text;
        uint32_t length;
        uint8_t kind;   // burin_token_kind and flags
        bool in_model;  // found by its text
        bool whole;     // ... which is no part of a longer one
        bool in_bytes;  // the text is bytes for which the vocabulary writes characters
        bool added, added_normalized;
        int32_t
            order;  // of added tokens: of two that are one text once normalized the first counts
        const char *answer;  // decoded text in place of its own, or NULL
        double score;
    } *tokens;
    int32_t n_tokens, capacity, n_added;
    // entries at the end that take part in cutting a text, and become the unknown token
    int32_t n_unnumbered;
    Bytes merges;              // burin_merge
    Bytes sets;                // burin_set whose ranges count from the start of `ranges`
    Bytes set_hashes;          // uint32_t, one for each set
    Bytes ranges, expansions;  // uint32_t
    Bytes normalizers, pretokenizers;
    Bytes before, after;    // int32_t
    Bytes pair;             // burin_pair_item
    Bytes blob;             // sections that are ready
    int32_t byte_ids[512];  // of a byte; then of a word's last byte
    const char *affix;
    Bytes decoders;        // decoders.c
    const char *stripped;  // characters stripped from the whole text, or NULL
    bool joined, joined_bytes,
        falls_back;   // decoders from here on see the whole text; of bytes; ByteFallback was there
    bool ends_words;  // BPEDecoder was there
    bool writes_tokens;  // decoders see tokens as the vocabulary writes them
    bool writes_bytes;   // ByteLevel makes characters of bytes, which the model sees
    bool is_json;        // numbers are read from tokenizer.json
    bool has_nul;        // texts of the file have U+0000 (vocabulary_text)
    size_t spent;        // bytes, see builder_spend
    const char *note;    // for -v, or NULL
    int vocab_size;      // rows of the model's embedding; 0: unknown
    bool has_no_types;   // both texts of a pair have type 0
} TokenizerBuilder;

_Noreturn void tokenizer_fatal(const TokenizerBuilder *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// --------------------------------------------------------------------------------------- builder.c
void builder_init(TokenizerBuilder *, Arena *, const char *path);
// The token of this id, made if it is new. Text is not copied. Refuses ids that are negative or
// beyond any vocabulary.
struct BuilderToken *builder_token(TokenizerBuilder *, int64_t id, const char *text, size_t length);
// Merges that a vocabulary with scores implies: every way to cut a token in two tokens, ranked by
// the token's score.
void builder_merges_from_scores(TokenizerBuilder *);

// Finds tokens that were added with in_model set.
typedef struct TokenIndex TokenIndex;
TokenIndex *builder_index(TokenizerBuilder *);
int32_t index_find(const TokenIndex *, const char *text, size_t length);  // -1 when absent
void builder_bytes_from_texts(
    TokenizerBuilder *);  // byte_ids of tokens "<0x00>" ... "<0xFF>"; they become byte tokens
burin_section builder_section(TokenizerBuilder *, const void *data, size_t count, size_t element);
void builder_add_normalizer(TokenizerBuilder *, burin_normalizer,
                            const char *text);  // text: of its `text` section, or NULL
// factor by which a text may grow
void builder_add_growing(TokenizerBuilder *, burin_normalizer, uint64_t growth);
// counts bytes made from tokens, refuses more than MAX_MADE_BYTES
void builder_spend(TokenizerBuilder *, size_t bytes);
// bytes of the texts to match in
burin_match_memory builder_match_memory(TokenizerBuilder *, size_t bytes);
Tokenizer *tokenizer_build(TokenizerBuilder *);

// --------------------------------------------------------------------------------------- unicode.c
typedef struct CharSet {
    Bytes pairs;  // uint32_t first, last
} CharSet;
void set_add(CharSet *, uint32_t first, uint32_t last);
void set_add_set(CharSet *, const CharSet *);
bool set_add_category(CharSet *, const char *name);  // "L", "Lu" ...; false when there is none
bool set_add_property(CharSet *, const char *name);  // a category, a script, or "Age=9.0"
void set_remove_newer(CharSet *,
                      unsigned version);  // what Unicode did not have in this version: 91 is 9.1
void set_add_spaces(CharSet *);
void set_add_word(CharSet *);            // \w without the joiners
void set_add_oniguruma_word(CharSet *);  // Latin-1's superscripts and fractions, too
void set_add_punctuation(CharSet *);     // as Hugging Face's BERT: Unicode 8, and all of ASCII's
void set_invert(CharSet *);
void set_fold_case(CharSet *);
uint16_t builder_set(TokenizerBuilder *, CharSet *);  // index of the set; equal sets are one

// --------------------------------------------------------------------------------------- pattern.c
burin_section pattern_compile(TokenizerBuilder *, const char *regex);
bool pattern_may_be_empty(TokenizerBuilder *, const char *regex);  // may it match nothing?
burin_section pattern_literal(TokenizerBuilder *, const char *text);
burin_section pattern_of_set(TokenizerBuilder *, CharSet *, uint16_t max);

// -------------------------------------------------------------------------------------- decoders.c
void read_decoder(TokenizerBuilder *, const json_t *);
void decoder_replaces(TokenizerBuilder *, const char *from, const char *to);
void decoder_falls_back(TokenizerBuilder *);
void decoder_strips(TokenizerBuilder *, const char *character, uint32_t start,
                    uint32_t stop);     // of the whole text
void pack_decoded(TokenizerBuilder *);  // after sets: the text of each token

// ----------------------------------------------------------------------------------------- readers
void read_tokenizer_json(TokenizerBuilder *, const json_t *);
const json_t *read_as_class(
    TokenizerBuilder *, const json_t *tokenizer_json);  // as AutoTokenizer reads it in its folder
typedef struct StepReader {
    const char *type;  // NULL ends the table
    void (*read)(TokenizerBuilder *, const json_t *);
} StepReader;
void read_step(TokenizerBuilder *, const json_t *step, const StepReader *, const char *part);
burin_section read_pattern(TokenizerBuilder *,
                           const json_t *pattern);  // {"String": "x"} or {"Regex": "x"}
// the same; refuses patterns that may match nothing
burin_section read_replaced(TokenizerBuilder *, const json_t *pattern);
void read_normalizer(TokenizerBuilder *, const json_t *);
void read_pretokenizer(TokenizerBuilder *, const json_t *);
bool is_sentencepiece(const MappedFile *);
void read_sentencepiece(TokenizerBuilder *, const MappedFile *);
void read_llama2c_vocabulary(TokenizerBuilder *, const char *path, int vocab_size);
void read_gguf_vocabulary(TokenizerBuilder *, const char *path);
struct Gguf;
void read_gguf_pair(TokenizerBuilder *, const struct Gguf *, uint64_t tokens);
void read_slow_bpe(TokenizerBuilder *, const json_t *vocabulary, const char *merges_path);
bool is_word_list(const MappedFile *, const char *path);
void read_word_list(TokenizerBuilder *, const MappedFile *);
bool is_tiktoken(const MappedFile *);
void read_tiktoken(TokenizerBuilder *, const MappedFile *);
bool is_tekken(const json_t *root);
void read_tekken(TokenizerBuilder *, const json_t *root);
// A GPT-2 vocabulary writes bytes as characters: converts back to bytes. False if a character is no
// byte.
bool bytes_of_characters(Arena *, const char *text, size_t length, const char **bytes, size_t *n);
void set_byte_level(
    TokenizerBuilder *,
    const char *suffix);  // byte_ids of the vocabulary; suffix: of a word's last token

void read_vocabulary(TokenizerBuilder *, const json_t *texts_and_ids);
typedef struct Merging {
    TokenizerBuilder *b;
    const TokenIndex *index;
    uint32_t rank;
    size_t prefix;  // bytes of the prefix of a part inside a word
} Merging;
void add_written_merge(Merging *, const char *two_tokens_with_a_space);

extern const char GPT2_PATTERN[], LLAMA3_PATTERN[], QWEN2_PATTERN[];
void add_split(TokenizerBuilder *, const char *regex);  // a pre-tokenizer whose matches are pieces
void add_byte_level(TokenizerBuilder *);                // from here on bytes are characters

// A token's text as the file means it: not terminated where it has U+0000.
const char *vocabulary_text(const TokenizerBuilder *, const char *text, size_t *length);
const char *json_text(const TokenizerBuilder *, const json_t *object,
                      const char *key);  // refuses absent ones
bool json_flag(const TokenizerBuilder *, const json_t *object, const char *key, bool absent);
const json_t *json_of_folder(
    const TokenizerBuilder *,
    const char *name);  // a file beside the tokenizer's; NULL: there is none
#endif
