// The source of each element of a view.
//
// A chain of reshape, transpose and expand is one index map. It is written with atoms: parts of the
// base's axes, small enough that every axis of the base and of the view is a list of whole atoms.
// For the keys of grouped-query attention,
//
//   base [T, G * d]  --reshape, transpose, expand, reshape-->  view [G * r, T, d]
//   base: (T) (G d)        view: (G r*) (T) (d)                r* is broadcast: the same element for every index
//
// Reading the map replaces matching the chain: whatever the order of its nodes, the map is the
// same.
#ifndef BURIN_PASSES_VIEWS_H
#define BURIN_PASSES_VIEWS_H
#include "passes/match.h"

enum { MAX_ATOMS = 24 };

typedef struct AtomList {
    int n;
    int atom[MAX_ATOMS];
} AtomList;

typedef struct ViewMap {
    Graph *graph;
    Node *base;  // the value that the chain starts from
    int n_atoms;
    const Dim *extent[MAX_ATOMS];
    bool broadcast[MAX_ATOMS];   // not in the base
    int source_axis[MAX_ATOMS];  // axis of the base that the atom is a piece of
    AtomList source;             // atoms of the base, outermost first
    int rank;
    AtomList axis[MAX_RANK];  // atoms of each axis of the view; none for an axis of extent 1
    int length;               // nodes in the chain
} ViewMap;

bool view_map(Node *view, ViewMap *);  // false when an axis does not split into atoms
bool view_map_scaled(
    Node *view, ViewMap *,
    double *scale);  // also through multiplication by constants, whose product is *scale
Node *view_emit(
    const ViewMap *,
    Node *before);  // the shortest chain from the base; NULL when it needs too many axes
int view_shortest(const ViewMap *);            // how many nodes that would be, or -1
bool view_apply(ViewMap *, const Node *view);  // one more reshape, transpose or expand
// The atoms of `flat` from *at on whose product is `want`, the last one split when it is larger.
bool view_take(ViewMap *, AtomList *flat, int *at, const Dim *want, AtomList *taken);
int view_place(const AtomList *, int atom);  // -1: not in the list
void view_start(ViewMap *, Node *base);
#endif
