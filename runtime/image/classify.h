// Programs of networks that take a picture.
#ifndef BURIN_CLASSIFY_H
#define BURIN_CLASSIFY_H
#include "engine/program.h"
#include "program/options.h"

// They return the exit status.
int burin_classify(const burin_model *, const burin_command *);        // labels
int burin_embed_pictures(const burin_model *, const burin_command *);  // embeddings
int burin_find_objects(const burin_model *, const burin_command *);    // boxes with labels
int burin_map_pixels(const burin_model *, const burin_command *);      // depths, labels of pixels
int burin_match_pictures(const burin_model *, const burin_command *);  // texts that fit

// An option asks for the tensors of a network in place of pictures.
bool burin_takes_tensors(const burin_command *);
// Ends the program without a picture, or with an option that is of other programs.
void burin_need_picture(const burin_command *, bool embeds);
#endif
