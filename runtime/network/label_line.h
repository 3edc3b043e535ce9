// A line of labels with their scores, for files that a program classifies.
#ifndef BURIN_LABEL_LINE_H
#define BURIN_LABEL_LINE_H
#include "engine/card.h"
#include "program/options.h"

// The largest scores: --top-k, --format; several files begin their lines with their names.
void burin_print_labels(const burin_command *, const burin_card *, const char *file,
                        const float *score);
#endif
