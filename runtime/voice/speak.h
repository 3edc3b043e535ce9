// The program of a voice: texts in, speech out.
#ifndef BURIN_SPEAK_H
#define BURIN_SPEAK_H
#include "engine/program.h"
#include "program/options.h"

int burin_speak(const burin_model *, const burin_command *);
#endif
