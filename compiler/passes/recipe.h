// --quant: which format each matrix takes. A word is a format for all of them or a recipe that says it for each part; rules for
// parts follow: "q4_k_m,head=q8_0,layers.0.=q6_k".
#ifndef BURIN_PASSES_RECIPE_H
#define BURIN_PASSES_RECIPE_H
#include "ir/format.h"
#include "passes/pass.h"

// NULL and what is wrong, owned by the arena, when the text cannot be understood.
const QuantRules *quant_rules(Arena *, const char *text, const char **problem);
const char *quant_rules_text(const QuantRules *);  // as it was given
const char *quant_names(Arena *);                  // formats and recipes that the first word can be
const char *part_names_text(Arena *);

// LOOKED_UP: a table of which rows are read, and no product is made; ROUTES: its products choose experts
typedef enum { MATRIX_MULTIPLIES, MATRIX_LOOKED_UP, MATRIX_ROUTES } MatrixUse;

// What weights (a constant [N, K], or [K, N] with `depth` K) become. DT_COUNT: they stay as they are. *wanted is what the rules
// say where rows are no whole number of its blocks, else the same.
DType quant_format(const QuantRules *, const Node *weights, int64_t depth, MatrixUse, DType *wanted);
// The first rule that says the format of no constant of the module, or NULL; overruled: later ones say it of all that it names
const char *quant_idle_rule(const QuantRules *, const Module *, bool *overruled);
#endif
