// Blocks of the description language inside graphs that another frontend makes: a formula is
// written once, in dsl/.
#ifndef BURIN_DSL_FORMULA_H
#define BURIN_DSL_FORMULA_H
#include "frontend/dsl/elaborate.h"

// A file of blocks; its imports are found in the library. Ends the run on an error. Lives as long
// as the arena.
Elaborator *formulas_open(Arena *, const char *library, const char *path);

// NULL: the file has no such block, nor do its imports. The order of its parameters is that of the
// values.
const Ast *formulas_block(const Elaborator *, const char *name);

typedef struct FormulaArgument {
    const char *name;
    Value value;
} FormulaArgument;
// The result of a block whose nodes the builder makes. A parameter that no argument names has its
// default, a float of which is rounded to f32. Ends the run after an error, which is reported at
// the builder's location.
Value formula_call(Elaborator *, const Builder *, const char *block, const FormulaArgument *,
                   int n);
#endif
