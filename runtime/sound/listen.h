// The program of a listener: recordings in, texts or classes out.
#ifndef BURIN_LISTEN_H
#define BURIN_LISTEN_H
#include "engine/program.h"
#include "program/options.h"

int burin_listen(const burin_model *, const burin_command *);
#endif
