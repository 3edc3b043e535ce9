// --attention: the weights of every query, recorded from the first step on and written at the end.
#ifndef BURIN_ATTENTION_DUMP_H
#define BURIN_ATTENTION_DUMP_H
#include "engine/forward.h"
#include "program/options.h"

const burin_trace *burin_attention_open(const burin_session *, const burin_command *);
void burin_attention_close(const burin_session *);
#endif
