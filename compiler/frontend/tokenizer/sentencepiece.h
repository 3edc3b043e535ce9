// Pieces with scores, as SentencePiece's files and GGUFs have them, and the tokenizer that they
// make.
#ifndef BURIN_TOKENIZER_SENTENCEPIECE_H
#define BURIN_TOKENIZER_SENTENCEPIECE_H
#include "frontend/tokenizer/compile.h"

// Whole: found by all of a text, and never a part of one; none: no piece has this id.
typedef enum {
    PIECE_NORMAL = 1,
    PIECE_UNKNOWN,
    PIECE_CONTROL,
    PIECE_USER_DEFINED,
    PIECE_UNUSED,
    PIECE_BYTE,
    PIECE_WHOLE,
    PIECE_NONE
} PieceType;
enum { MODEL_UNIGRAM = 1, MODEL_BPE = 2 };

typedef struct Piece {
    const char *text;
    float score;
    uint64_t type;
    bool strips_left;    // takes preceding spaces
    const char *answer;  // decoded text in place of the token's, or NULL
} Piece;

typedef struct SentencePiece {
    TokenizerBuilder *b;
    Piece *pieces;
    size_t n, capacity;
    uint64_t model, byte_fallback, suffix, prefix, squeezes, escapes;
    int64_t unknown, bos, eos;  // -1: none
    const unsigned char *charsmap;
    size_t charsmap_bytes;
    size_t n_own;  // number of the file's pieces: later entries are tokens alone
    // As the fast classes of ALBERT and its kin do: spaces at the ends count, "``" is a quote, and
    // a piece that ends with a digit and a comma is made unlikely unless it joins them.
    bool as_fast, joins_numbers, lowers, keeps_accents;
    bool strips_answer;  // of all spaces at its ends
} SentencePiece;

void add_piece(SentencePiece *, Piece);
SentencePiece sentencepiece_message(TokenizerBuilder *, const MappedFile *);

// `config`: tokenizer_config.json, which may name tokens after the pieces, or NULL. The caller adds
// tokens around a text.
void build_of_pieces(SentencePiece *, const json_t *config);
// By the class that tokenizer_config.json names.
void build_of_class(SentencePiece *);

// Puts pieces in the order of vocab.json; `has_target`: target.spm is beside it, `separate`:
// target_vocab.json is, too.
void number_pieces(SentencePiece *, const char *unknown, bool has_target, bool separate);
void place_listed(SentencePiece *,
                  const json_t *config);  // tokens of tokenizer_config.json by their ids
// after all others: pieces that vocab.json lacks
void add_unnumbered(SentencePiece *, const SentencePiece *of_the_file);

// Separated by spaces.
extern const char mbart_languages[], mbart50_languages[], nllb_languages[], m2m_languages[],
    wmt21_languages[];
#endif
