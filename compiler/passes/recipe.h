// --quant: the format of each matrix. A word is a format for all matrices, or a recipe with a
// format for each part; rules for parts follow: "q4_k_m,head=q8_0,layers.0.=q6_k".
#ifndef BURIN_PASSES_RECIPE_H
#define BURIN_PASSES_RECIPE_H
#include "ir/format.h"
#include "passes/pass.h"

// Returns NULL, with an error owned by the arena, if the text cannot be parsed.
const QuantRules *quant_rules(Arena *, const char *text, const char **problem);
const char *quant_rules_text(const QuantRules *);  // as it was given
const char *quant_names(Arena *);                  // formats and recipes that the first word can be
const char *part_names_text(Arena *);
const char *quant_nearest_part(const char *word);  // or NULL

// LOOKED_UP: a table of which rows are read, and no product is made; ROUTES: its products choose
// experts
typedef enum { MATRIX_MULTIPLIES, MATRIX_LOOKED_UP, MATRIX_ROUTES } MatrixUse;

// The format of weights (a constant [N, K], or [K, N] with `depth` K). DT_COUNT: unchanged. *wanted
// is the rules' format if rows are no whole number of its blocks, otherwise the same.
DType quant_format(const QuantRules *, const Node *weights, int64_t depth, MatrixUse,
                   DType *wanted);
// Returns the first rule without effect on any constant of the module, or NULL; overruled: later
// rules cover all its constants
const char *quant_idle_rule(const QuantRules *, const Module *, bool *overruled);
#endif
