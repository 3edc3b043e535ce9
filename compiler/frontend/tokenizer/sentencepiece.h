// Pieces with scores, as SentencePiece's files and GGUFs have them, and the tokenizer that they make.
#ifndef BURIN_TOKENIZER_SENTENCEPIECE_H
#define BURIN_TOKENIZER_SENTENCEPIECE_H
#include "frontend/tokenizer/compile.h"

typedef enum { PIECE_NORMAL = 1, PIECE_UNKNOWN, PIECE_CONTROL, PIECE_USER_DEFINED, PIECE_UNUSED, PIECE_BYTE } PieceType;
enum { MODEL_UNIGRAM = 1, MODEL_BPE = 2 };

typedef struct Piece {
    const char *text;
    float score;
    uint64_t type;
    bool strips_left;  // takes the spaces in front of it
} Piece;

typedef struct SentencePiece {
    TokenizerBuilder *b;
    Piece *pieces;
    size_t n, capacity;
    uint64_t model, byte_fallback, suffix, prefix, squeezes, escapes;
    int64_t unknown, bos, eos;  // -1: none
    const unsigned char *charsmap;
    size_t charsmap_bytes;
    size_t n_own;  // pieces of the file: those behind are tokens alone
    // As the fast classes of ALBERT and its kin do: spaces at the ends count, "``" is a quote, and a piece that ends with a
    // digit and a comma is made unlikely unless it joins them.
    bool as_fast, joins_numbers, lowers, keeps_accents;
} SentencePiece;

void add_piece(SentencePiece *, Piece);

// `config`: tokenizer_config.json, which may name tokens behind the pieces, or NULL. What stands around a text is the caller's.
void build_of_pieces(SentencePiece *, const json_t *config);
// By the class that tokenizer_config.json names.
void build_of_class(SentencePiece *);

// Separated by spaces.
extern const char mbart_languages[], mbart50_languages[], nllb_languages[];
#endif
