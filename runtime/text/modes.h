// The modes of a kind of model as a program. Its descriptor names one of these, and the linker
// leaves out code that only others need.
#ifndef BURIN_MODES_H
#define BURIN_MODES_H
#include "text/generation.h"

struct burin_modes {
    burin_kind kind;  // the program's command line takes the options of this kind
    // the requested mode; returns the exit status
    int (*run)(const burin_model *, const burin_command *);
    // NULL: the model has no chat template
    int (*chat)(burin_run *), (*messages)(burin_run *);
    int (*question)(burin_run *), (*lines)(burin_run *);  // lines: of --lines
    // NULL: the model takes no pictures. image/eyes.h
    int32_t (*see)(burin_run *, const uint8_t *file, size_t bytes, const char **why);
    int32_t (*look)(burin_run *, const uint8_t *file, size_t bytes, const char **why);
    int32_t (*recall)(burin_run *, uint64_t hash, int32_t lines, int32_t columns);
    int (*serve)(burin_run *);       // --serve; NULL: without a server, or a network
    int (*transcribe)(burin_run *);  // NULL: the model takes no recordings
    // A network, and the encoder before a decoder:
    void (*print_network)(const burin_network *);
    void (*from_sources)(burin_generation *);
    void (*bench_encoder)(burin_run *);
    // The encoder's input of a picture's file, malloc'd; NULL: its sources are no pictures
    float *(*picture)(const burin_run *, const char *file);
};

// A decoder; with a chat template; after an encoder; of recordings
extern const struct burin_modes burin_modes_text, burin_modes_chat, burin_modes_sources,
    burin_modes_speech;
// A decoder with eyes, the same with a chat template
extern const struct burin_modes burin_modes_text_eyes, burin_modes_chat_eyes;
// A graph of tensors; with embeddings of texts; with labels of texts; with speech; with texts or
// labels of recordings
extern const struct burin_modes burin_modes_network, burin_modes_embed, burin_modes_label,
    burin_modes_voice, burin_modes_listen;
// Of pictures: labels, embeddings, objects, maps, or their match with texts
extern const struct burin_modes burin_modes_picture, burin_modes_picture_embed,
    burin_modes_picture_objects, burin_modes_picture_map, burin_modes_picture_match;
// A decoder after an encoder of pictures
extern const struct burin_modes burin_modes_picture_text;
#endif
