// The program of a network with a head: texts to embeddings.
#ifndef BURIN_EMBED_H
#define BURIN_EMBED_H
#include "engine/program.h"
#include "program/options.h"

int burin_embed(const burin_model *, const burin_command *);  // returns the exit status
#endif
