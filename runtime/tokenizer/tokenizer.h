// The tokenizer in a program: text to ids and back, read in place from a blob that burin compiled
// (compiler/frontend/tokenizer). It allocates nothing and keeps no state beyond what the caller
// passes; it needs only memcpy and friends.
//
//     void *memory = malloc(burin_encode_memory(blob, bytes));  // SIZE_MAX: too much for any machine
//     burin_encoding e = {.text = text, .bytes = bytes, .special = true, .ids = ids, .capacity = n, .memory = memory};
//     size_t n_ids = burin_encode(blob, &e);          // may exceed the capacity: then only `capacity` are written,
//                                                     // and a text to be cut may be whole
//
//     burin_decoder d = {0};                          // one a text: feed it the prompt's tokens too
//     size_t n = burin_decode(blob, &d, id, buffer);  // at most burin_decode_max(blob) bytes, perhaps part of a character
//     size_t whole = burin_utf8_whole(pending, n_pending);
//
// A text is bytes. Invalid UTF-8 is never an error: byte-level vocabularies encode it literally,
// others as unknown.
#ifndef BURIN_TOKENIZER_H
#define BURIN_TOKENIZER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Libraries include tokenizer.c into their one file and define this as `static`.
#ifndef BURIN_LINKAGE
#define BURIN_LINKAGE
#endif

typedef struct burin_encoding {
    const char *text;
    size_t bytes;
    bool special;  // add the tokens around a text (BOS, [CLS] ... [SEP])
    bool plain;    // special tokens written in the text are text
    // with the padding of a tokenizer.json, which no model should read as text
    bool pad;
    bool whole;  // not cut, even if a tokenizer.json has truncation
    const uint8_t
        *marks;  // [bytes] or NULL; 1: a special token that has this byte is text (template.h)
    int32_t *ids;
    size_t capacity;
    void *memory;  // burin_encode_memory bytes, aligned to 16
} burin_encoding;

BURIN_LINKAGE size_t burin_encode_memory(const void *blob, size_t text_bytes);
BURIN_LINKAGE size_t burin_encode(const void *blob, const burin_encoding *);

typedef struct burin_decoder {
    bool started;         // a token was decoded
    bool space;           // a word has ended: a space precedes the next one
    bool byte;            // the last token was a byte
    uint8_t taken, held;  // how often the character to strip was taken at the start; how often it
                          // waits at the end
} burin_decoder;

BURIN_LINKAGE size_t burin_decode_max(const void *blob);  // bytes that one token can become
BURIN_LINKAGE size_t burin_decode(const void *blob, burin_decoder *, int32_t id,
                                  char *bytes);  // special tokens become nothing
BURIN_LINKAGE const char *burin_token_text(
    const void *blob, int32_t id,
    size_t *bytes);  // as in the vocabulary; NULL: no such id
BURIN_LINKAGE bool burin_token_is_special(const void *blob, int32_t id);
BURIN_LINKAGE int32_t burin_token_find(const void *blob, const char *text,
                                       size_t bytes);          // -1 when absent
BURIN_LINKAGE int32_t burin_tokenizer_size(const void *blob);  // ids are below this
BURIN_LINKAGE int32_t burin_tokenizer_bos(const void *blob);   // what `special` puts first, or -1
// bytes of them in whole characters
BURIN_LINKAGE size_t burin_utf8_whole(const char *bytes, size_t n);

// ------------------------------------------------------------------------------ layout of the blob
// Little-endian. A section is an offset from the blob's start, 8-aligned, and a count of elements.
enum { BURIN_TOKENIZER_MAGIC = 0x4b545542, BURIN_TOKENIZER_VERSION = 5 };  // "BUTK"

typedef struct burin_section {
    uint32_t offset, count;
} burin_section;

typedef enum {
    BURIN_MODEL_BPE,
    BURIN_MODEL_WORDPIECE,
    BURIN_MODEL_UNIGRAM,
    BURIN_MODEL_WORDLEVEL,
    BURIN_MODEL_LONGEST
} burin_model_kind;

enum {                             // burin_tokenizer.flags
    BURIN_BYTE_LEVEL = 1 << 0,     // words are bytes, not characters
    BURIN_BYTE_FALLBACK = 1 << 1,  // an unknown character becomes the tokens of its bytes
    BURIN_IGNORE_MERGES = 1 << 2,  // a word that is a token needs no merges
    BURIN_FUSE_UNKNOWN = 1 << 3,
    BURIN_DECODE_GROUPS = 1 << 4,  // a row of bytes is one token: it is stripped as one
    BURIN_TRUNCATES = 1 << 6,
    BURIN_TRUNCATES_LEFT = 1 << 7,  // the start goes
    BURIN_PADS = 1 << 8,
    BURIN_PADS_LEFT = 1 << 9,
    BURIN_FLOAT_SCORES = 1 << 10,
    BURIN_LEADING_CODE = 1 << 11,    // ">>fra<<" at the start of a text is one token, or unknown
    BURIN_SPLITS_SPECIAL = 1 << 12,  // special tokens in a text are text
    BURIN_AFFIX_BEHIND =
        1
        << 5,  // BPE over characters: the affix is of a word's last one; else of all but its first
};

typedef enum {
    BURIN_TOKEN_ABSENT,
    BURIN_TOKEN_NORMAL,
    BURIN_TOKEN_SPECIAL,
    BURIN_TOKEN_BYTE
} burin_token_kind;
enum {
    BURIN_TOKEN_KIND = 3,
    BURIN_TOKEN_LSTRIP = 4,
    BURIN_TOKEN_RSTRIP = 8,      // with the kind: takes the white space beside it
    BURIN_TOKEN_SINGLE = 16,     // only where no character of a word is beside it
    BURIN_TOKEN_ENDS_WORD = 32,  // decoded: a space precedes the next token
};

typedef struct burin_decoded {  // text of a token, and its text as the first of a text
    uint32_t offset, length, first_offset, first_length;
} burin_decoded;

typedef struct burin_merge {
    uint32_t left, right, result, rank;  // the lowest rank first; of equal ranks the leftmost
} burin_merge;

typedef struct burin_set {  // of code points
    uint32_t ascii[4];      // a bit each
    burin_section ranges;   // uint32_t pairs, first and last, ascending, from 128 up
} burin_set;

typedef enum {
    BURIN_MATCH_SET,    // min to max times b characters of a set; a: burin_manner
    BURIN_MATCH_SPLIT,  // continues at a, or else at b
    BURIN_MATCH_JUMP,   // continues at a
    // the part up to DONE must match, and is never given back; then continues at a
    BURIN_MATCH_ATOMIC,
    // the part up to DONE must match (b: must not) without being consumed; then continues at a
    BURIN_MATCH_LOOK,
    BURIN_MATCH_BEHIND,    // the same before this position: min characters
    BURIN_MATCH_START,     // the piece's start
    BURIN_MATCH_END,       // the piece's end
    BURIN_MATCH_BOUNDARY,  // a character of a set on one side, none on the other (b: not so)
    BURIN_MATCH_DONE,
} burin_match_op;
typedef enum { BURIN_GREEDY, BURIN_POSSESSIVE, BURIN_LAZY } burin_manner;

enum { BURIN_NO_LIMIT = 0xffff, BURIN_MAX_AFFIX = 32, BURIN_MANNER_BITS = 2 };

typedef struct burin_match {  // one instruction of a pattern
    uint16_t op, set, min, max, a, b;
} burin_match;

typedef enum {                // pre-tokenization: each step cuts every piece of the step before it
    BURIN_STEP_SPLIT,         // by a pattern
    BURIN_STEP_PREFIX_SPACE,  // a space in front unless there is one
    BURIN_STEP_METASPACE,  // spaces become `code`; a: one is put in front (0 never, 1 first piece
                           // of a text, 2 always); b: cut
    BURIN_STEP_BYTES,  // from here on each byte is one character: the one that GPT-2 writes for it
    BURIN_STEP_WRITE_BYTES,  // the same, and the model sees that character
} burin_step_kind;

typedef enum {
    BURIN_ISOLATED,
    BURIN_REMOVED,
    BURIN_WITH_PREVIOUS,
    BURIN_WITH_NEXT,
    BURIN_CONTIGUOUS
} burin_behaviour;

typedef struct burin_pretokenizer {
    uint16_t kind, a, b, behaviour, invert, unused;
    uint32_t code;
    burin_section pattern;  // burin_match
} burin_pretokenizer;

typedef enum {                  // normalization of the text between added tokens, step by step
    BURIN_NORMALIZE_PREPEND,    // text: put in front unless empty
    BURIN_NORMALIZE_REPLACE,    // pattern by text
    BURIN_NORMALIZE_MAP,        // code points by table: lower case, removal of accents or control
                                // characters
    BURIN_NORMALIZE_DECOMPOSE,  // NFD or NFKD, by table, and canonical order
    BURIN_NORMALIZE_COMPOSE,    // after it: NFC or NFKC
    BURIN_NORMALIZE_STRIP,      // a: at the start, b: at the end; white space
    BURIN_NORMALIZE_CHARSMAP,   // SentencePiece's precompiled table; set: marks, b: the set that
                                // carries none
    BURIN_NORMALIZE_REMOVE,     // the characters of a set
    BURIN_NORMALIZE_APART,      // a space on both sides of every character of a set (BERT's CJK)
    // the same in SentencePiece's own way: the longest key at each position
    BURIN_NORMALIZE_LONGEST,
    BURIN_NORMALIZE_BYTES,  // bytes become the characters that GPT-2 writes for them
} burin_normalize_kind;

typedef struct burin_mapping {  // one code point becomes `count` code points at `offset` of
                                // burin_tokenizer.expansions
    uint32_t code, offset, count;
} burin_mapping;

typedef struct burin_normalizer {
    uint16_t kind, a, b, set;
    burin_section pattern, text;  // burin_match, or the charsmap's uint32_t units; bytes
    burin_section mappings;       // burin_mapping, ascending
    burin_section classes;        // uint32_t pairs: code point, canonical combining class
    burin_section pairs;          // uint32_t triples: first, second, composed; ascending
} burin_normalizer;

enum { BURIN_PAIR_FIRST = -1, BURIN_PAIR_SECOND = -2 };
typedef struct burin_pair_item {
    int32_t id, type;  // id: of a special token, or one of the two texts; type: what token_type_ids
                       // has for it
} burin_pair_item;

typedef struct burin_tokenizer {
    uint32_t magic, version, bytes, flags;
    uint32_t model;
    int32_t size, bos, eos, unknown;
    uint32_t max_token_bytes, max_decoded_bytes, max_word_characters, growth_bytes;
    uint32_t growth;                   // normalized bytes <= growth * bytes + growth_bytes
    burin_section text_offsets, text;  // uint32_t [size + 1], bytes
    burin_section kinds;               // uint8_t [size + aliases]: a kind and flags
    burin_section decoded;             // burin_decoded [size]; without it a token becomes its text
    burin_section decoded_text;        // bytes
    burin_section strip;  // bytes of the character that is stripped from a decoded text
    uint32_t strip_start, strip_stop;  // so often at most
    // uint32_t id + 1 by hash of the text; a power of two entries
    burin_section slots;
    burin_section merges, merge_slots;
    burin_section byte_ids;          // int32_t [256], and [256] more for a word's last byte
    burin_section scores;            // double: of tokens, the last for unknown characters
    burin_section sorted;            // uint32_t ids in order of their bytes
    burin_section added;             // uint32_t ids of the tokens cut out of the text first
    burin_section added_normalized;  // after normalization
    // uint32_t: meaning of entries from `size` up: pieces without an id, other texts
    burin_section aliases;
    burin_section sets, expansions;  // burin_set, uint32_t
    burin_section normalizers, pretokenizers;
    burin_section before, after;  // int32_t: what `special` adds
    burin_section pair;  // burin_pair_item: two texts as one; none: they are not put together
    uint32_t most_ids;   // maximum tokens of a text, `before` and `after` included
    uint32_t pad_to, pad_multiple;  // padded to at least this many, and to a multiple (0: any)
    int32_t pad_id;
    burin_section affix;  // bytes of the prefix inside a word, or of a word's suffix
    uint32_t words;       // the set of characters of words
    // Memory of matching: ways back, at most; in patterns with loops ways back at each place;
    // bytes of marks at each place; sets that keep a run
    uint32_t match_ways, match_loop_ways, match_mark_bytes, match_runs;
} burin_tokenizer;
#endif
