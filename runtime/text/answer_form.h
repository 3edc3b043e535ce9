// What form answers must have: --grammar, --json-schema, tools.
#ifndef BURIN_ANSWER_FORM_H
#define BURIN_ANSWER_FORM_H
#include "grammar/constraint.h"
#include "grammar/tools.h"
#include "text/run.h"

// What --grammar asks for; NULL: nothing.
burin_constraint *burin_run_constraint(const burin_run *);
// The grammar of tools in messages (JSON): calls in the template's syntax, which it begins. NULL:
// none.
burin_constraint *burin_tools_constraint(const burin_run *, const burin_tools_text *,
                                         burin_tool_format *);
#endif
