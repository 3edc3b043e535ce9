// A network that takes a picture: its session, inputs and outputs.
#ifndef BURIN_PICTURE_NETWORK_H
#define BURIN_PICTURE_NETWORK_H
#include "engine/picture.h"
#include "engine/program.h"
#include "image/image.h"
#include "program/options.h"

typedef struct burin_picture_network {
    const burin_model *model;
    const burin_command *command;
    const burin_picture *picture;
    struct burin_session *session;
    int64_t *symbols;
    const void **inputs;  // by input; the caller sets those that are no picture
    float *pixels;        // [3][height][width]
    int32_t height, width;
    void **outputs;  // by output
} burin_picture_network;

void burin_picture_network_open(burin_picture_network *, const burin_model *,
                                const burin_command *);
void burin_picture_network_close(burin_picture_network *);
// Reads a file into pixels [3][height][width]; returns its size. Ends the program for a file that
// is no picture.
burin_image burin_picture_load(const burin_picture *, const char *path, int32_t height,
                               int32_t width, float *pixels);
// Reads a file into `pixels`; returns its size. Ends the program for a file that is no picture.
burin_image burin_picture_network_load(burin_picture_network *, const char *path);
void burin_picture_network_run(burin_picture_network *);
int burin_output_named(const burin_network *, const char *name);  // -1: none
#endif
