// The program of a network with a head: texts to labels, words or ranks.
#ifndef BURIN_LABELS_H
#define BURIN_LABELS_H
#include "engine/program.h"
#include "program/options.h"

int burin_label(const burin_model *, const burin_command *);  // returns the exit status
#endif
