// The modes of a decoder's program.
#ifndef BURIN_RUN_TEXT_H
#define BURIN_RUN_TEXT_H
#include "engine/program.h"
#include "program/options.h"

int burin_run_text(const burin_model *,
                   const burin_command *);  // one of burin_generate ...; returns the exit status
#endif
