// The use of texts by a network: a blob in the weights, compiled from config.json and
// config_sentence_transformers.json (compiler/frontend/card.c).
#ifndef BURIN_CARD_H
#define BURIN_CARD_H
#include <stdint.h>

enum { BURIN_CARD_MAGIC = 0x43545542, BURIN_CARD_VERSION = 2 };  // "BUTC"

typedef enum burin_task {
    BURIN_EMBEDS,            // an embedding a text
    BURIN_LABELS_TEXTS,      // numbers for the labels of a text, or of a pair of texts
    BURIN_LABELS_TOKENS,     // of each token: spans
    BURIN_FILLS_MASKS,       // of each token: the words of the vocabulary
    BURIN_LABELS_PICTURES,   // numbers for the labels of a picture
    BURIN_SPEAKS,            // the sound of a text; labels are the speakers' names
    BURIN_HEARS,             // characters or numbers for the labels of a recording
    BURIN_EMBEDS_PICTURES,   // an embedding a picture
    BURIN_FINDS_OBJECTS,     // boxes in a picture, with labels
    BURIN_MAPS_PIXELS,       // depth of each pixel, or with labels a label
    BURIN_READS_PICTURES,    // the text of a picture: an encoder before a decoder
    BURIN_MATCHES_PICTURES,  // pictures and texts that fit
} burin_task;

typedef enum burin_scoring { BURIN_AS_IT_IS, BURIN_SIGMOID, BURIN_SOFTMAX } burin_scoring;

// Behind it, each with a zero byte: n_labels labels, a name and a text for each prompt, and the
// prompt of a pair. Of pictures the last bytes are a burin_picture (picture.h), at a multiple of 8;
// of pictures and texts a burin_pairing after it (picture.h); of a voice a burin_voice (voice.h),
// of a listener a burin_listener (listener.h).
typedef struct burin_card {
    uint32_t magic, version, bytes, task, scoring, n_labels;
    int32_t mask;  // the mask token, or -1
    uint32_t n_prompts;
    int32_t default_prompt;  // its number, or -1
    uint32_t prompts_pairs;  // two texts become one text, with {query} and {document} in it:
                             // rerankers that are decoders
} burin_card;
#endif
