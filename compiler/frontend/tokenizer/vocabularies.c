// llama2.c's tokenizer.bin, which is SentencePiece's BPE: merges by the score of each token,
// unknown characters become bytes, a space is prepended to the text.
#include <string.h>

#include "frontend/checkpoint/mapped_file.h"
#include "frontend/tokenizer/compile.h"

// --------------------------------------------------------------------------------- llama2.c's .bin
// u32 longest token; then for each token: f32 score, u32 length, bytes. Ids 0 to 2 are unknown, BOS
// and EOS, 3 to 258 bytes.
enum { BOS = 1, EOS = 2, FIRST_BYTE = 3, MAX_LENGTH = 1 << 16 };

static void read_llama2c_token(TokenizerBuilder *b, Cursor *c, int32_t id) {
    c->what = arena_printf(b->arena, "token %d", id);
    uint32_t score_bits = cursor_u32(c), length = cursor_u32(c);
    float score;
    memcpy(&score, &score_bits, sizeof score);
    if (score != score) file_fatal(c->file, "token %d has no score (NaN)", id);
    const char *text = (const char *)cursor_bytes(c, length);
    struct BuilderToken *t = builder_token(b, id, text, length);
    t->score = score;
    t->in_model = id >= FIRST_BYTE;
    if (id < FIRST_BYTE) t->kind = BURIN_TOKEN_SPECIAL;
}

void read_llama2c_vocabulary(TokenizerBuilder *b, const char *path, int vocab_size) {
    Cursor c = {map_file(b->arena, path), 0, "the longest token's length"};
    if (cursor_u32(&c) > MAX_LENGTH)
        file_fatal(c.file,
                   "this is no tokenizer that burin knows: no tokenizer.json, no GGUF, no "
                   "tokenizer.bin of llama2.c"
                   "\nhint: tokenizer.json, SentencePiece's tokenizer.model, vocab.txt, vocab.json "
                   "with merges.txt, "
                   "tokenizer.bin and .gguf are");
    for (int32_t id = 0; vocab_size ? id < vocab_size : cursor_left(&c) > 0; id++)
        read_llama2c_token(b, &c, id);
    if (cursor_left(&c))
        file_fatal(c.file,
                   "the vocabulary ends before the file does: the model has %d tokens\nhint: is "
                   "this the model's tokenizer?",
                   vocab_size);
    builder_bytes_from_texts(b);
    builder_merges_from_scores(b);
    builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_PREPEND}, " ");
    b->head.flags |= BURIN_BYTE_FALLBACK;
    decoder_falls_back(b);
    decoder_strips(b, " ", 1, 0);
    b->head.bos = BOS, b->head.eos = EOS;
    bytes_append(&b->before, &(int32_t){BOS}, sizeof(int32_t));
}
