// How a network uses texts, from config.json and config_sentence_transformers.json: compiled into
// the blob that the program reads (runtime/engine/card.h).
#ifndef BURIN_FRONTEND_CARD_H
#define BURIN_FRONTEND_CARD_H
#include "frontend/checkpoint.h"
#include "frontend/tokenizer.h"
#include "ir.h"

typedef struct Card {
    void *blob;  // NULL: tensors in and out, and nothing else
    uint32_t bytes;
    bool labels;           // texts in, labels or words out
    const char *pictures;  // the modes of a program that takes pictures (runtime/main/modes.c)
} Card;

// `embeds`: the graph gives embeddings of texts. Of other graphs the class in `architectures`, the
// labels and the output "logits" must fit together.
bool card_has_labels(const Checkpoint *, const Graph *);  // in that way
// Pictures in, and labels, embeddings, boxes, or texts that fit (with a tokenizer) out: a model
// with a preprocessor_config.json. No blob: it is none, or a warning has named the setting that is
// not supported.
Card picture_card_read(Arena *, const Checkpoint *, const Graph *, const Tokenizer *);
// Text in, speech out: PATH.json beside an ONNX file has the phonemes and their ids, as Piper's
// voices do. No blob: there is no such file, or a warning has named the field that is not
// supported.
Card voice_card_read(Arena *, const char *path, Graph *);
bool voice_is_beside(Arena *, const char *path);  // PATH.json has phonemes
// The settings of an image processor: of tiles that are cut out of a picture, the values alone.
// False: a warning has named the setting that is not supported.
struct burin_picture;
json_t *processor_of_folder(const char *folder);  // NULL: there are none
bool picture_settings_read(struct burin_picture *, const json_t *settings, bool cut, int64_t height,
                           int64_t width);
// The pixels that such settings leave of every picture; false: there are none, or sizes differ.
bool picture_size_of_folder(const char *folder, int64_t *height, int64_t *width);
// Recordings in, texts or labels out: the settings of a feature extractor in a folder, or beside an
// ONNX file. No blob: there are none, or a warning has named the setting that is not supported.
typedef struct SoundFolder {
    const char *folder;
    bool is_file;        // an ONNX file is there: the folder around onnx/ counts, too
    bool has_tokenizer;  // the program has one
} SoundFolder;
struct burin_listener;
Card listener_card_read(Arena *, const SoundFolder *, const Graph *);
bool listener_is_beside(Arena *, const char *path);
bool refuse_listener(const char *file, const char *why);  // warns; false
// The settings of a folder's feature extractor, of preprocessor_config.json or of transformers 5's
// processor_config.json. NULL: none; the caller decrefs it.
json_t *sound_settings_read(Arena *, const char *folder);
bool sound_features_known(const json_t *settings);
bool sound_features_read(struct burin_listener *, const json_t *settings);
// Names of id2label, each with a zero byte; returns how many: `n`.
uint32_t card_add_labels(Text *, const Checkpoint *, int64_t n);
Card card_read(Arena *, const Checkpoint *, const Graph *, const Tokenizer *, bool embeds);
#endif
