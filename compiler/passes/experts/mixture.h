// Mixtures of experts: the experts that a row selects.
#ifndef BURIN_PASSES_MIXTURE_H
#define BURIN_PASSES_MIXTURE_H
#include "passes/attempt.h"
#include "passes/simplify/simplify.h"

// The k of each row's E experts that count.
typedef struct Choice {
    Node *before;  // where new nodes go
    Node *mask;    // bool[T, E]: at most k of each row are true
    Node *index;   // or i64[T, k]: of a top_k
    int64_t k;
    bool fewer;  // of some rows fewer than k count
} Choice;

// top_k_mask.c: gate weights [T, E] are zero for unselected experts.
bool find_choice(Node *shares, Choice *, int depth);

// trace_element.c: an element of each row of a value; for all slots, or for all experts if an axis
// has them.
enum { AT_ROW = -1, AT_SLOT = -2, AT_EXPERT = -3 };

typedef struct Place {
    Node *node;
    int64_t at[MAX_RANK];
} Place;

Place place_of_operand(const Place *,
                       int operand);  // the same element of an operand of an elementwise op
Place behind_views(Place);
bool is_at(const Place *, int64_t second);  // of [T, n]: the row's element there

// stacked.c: a sum over experts whose values are one tensor, as a sum of one term each; NULL when
// it is none.
Node *sum_of_stacked(Node *);
Node **stacked_parts(Node *before, Node *table,
                     int64_t experts);  // of a tensor [E, ..]: one of each

// mixture.c: matrices [K, N], or weights that are their transposes, one after the other; NULL if
// they are none.
Node *packed_experts(Node *before, Node *const *each, int n);

// gathered.c
Node *slots_unmerged(Node *);  // values [T k, ..] that weights are looked up for, as [T, k, ..];
                               // NULL when they are none
bool recognise_lookup(Node *, Attempt *);

bool is_chosen_index(const Node *);  // gate_weights.c: i64[T, k], all different in a row
#endif
