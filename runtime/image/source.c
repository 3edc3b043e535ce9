#include "image/source.h"

#include "base/allocate.h"
#include "engine/card.h"
#include "engine/encoder.h"
#include "engine/network.h"
#include "image/picture_network.h"

float *burin_picture_source(const burin_run *run, const char *file) {
    const burin_model *m = run->model;
    const burin_tensor *t = &m->encoder->net->inputs[0];
    const burin_card *card = (const void *)(m->weights() + m->template_offset);
    const burin_picture *p = (const void *)((const char *)card + card->bytes - sizeof *p);
    const int32_t height = (int32_t)t->dim[1], width = (int32_t)t->dim[2];
    float *pixels = burin_allocate(3 * (size_t)height * (size_t)width, sizeof *pixels);
    burin_picture_load(p, file, height, width, pixels);
    return pixels;
}
