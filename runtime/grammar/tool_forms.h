// Forms of calls that templates tell the model of without rendering any, known by words of the
// template.
#ifndef BURIN_TOOL_FORMS_H
#define BURIN_TOOL_FORMS_H
#include "tools.h"

// `shape`: of BURIN_TOOLS_SHAPED, else NULL.
burin_tool_form burin_tool_form_known(const void *blob, size_t bytes,
                                      const burin_tool_syntax **shape);
#endif
