// The program of an image classifier: pictures to labels.
#ifndef BURIN_CLASSIFY_H
#define BURIN_CLASSIFY_H
#include "engine/program.h"
#include "program/options.h"

int burin_classify(const burin_model *, const burin_command *);  // returns the exit status
#endif
