// Index maps of chains of views. See views.h.
#include "passes/views.h"

static const Dim *quotient(Graph *g, const Dim *d, const Dim *by) {
    return d == by                 ? dim_const(g, 1)
           : dim_divides(g, by, d) ? dim_binary(g, DIM_FLOORDIV, d, by)
                                   : NULL;
}

static bool list_add(AtomList *list, int atom) {
    if (list->n == MAX_ATOMS) return false;
    list->atom[list->n++] = atom;
    return true;
}

static int new_atom(ViewMap *v, const Dim *extent, bool broadcast) {
    if (v->n_atoms == MAX_ATOMS) return -1;
    v->extent[v->n_atoms] = extent;
    v->broadcast[v->n_atoms] = broadcast;
    return v->n_atoms++;
}

void view_start(ViewMap *v, Node *base) {
    *v = (ViewMap){.graph = base->graph, .base = base, .rank = base->type.rank};
    for (int i = 0; i < base->type.rank; i++) {
        if (dim_is(base->type.dim[i], 1)) continue;
        int a = new_atom(v, base->type.dim[i], false);
        v->source_axis[a] = i;
        list_add(&v->axis[i], a);
        list_add(&v->source, a);
    }
}

static void insert_after(AtomList *list, int atom, int added) {
    for (int i = 0; i < list->n; i++) {
        if (list->atom[i] != atom) continue;
        for (int j = list->n++; j > i + 1; j--) list->atom[j] = list->atom[j - 1];
        list->atom[i + 1] = added;
        return;
    }
}

// The atom becomes (outer, inner), everywhere.
static bool view_split(ViewMap *v, int atom, const Dim *inner) {
    const Dim *outer = quotient(v->graph, v->extent[atom], inner);
    if (!outer || v->n_atoms == MAX_ATOMS) return false;
    int added = new_atom(v, inner, v->broadcast[atom]);
    v->extent[atom] = outer;
    v->source_axis[added] = v->source_axis[atom];
    insert_after(&v->source, atom, added);
    for (int i = 0; i < v->rank; i++) insert_after(&v->axis[i], atom, added);
    return true;
}

bool view_take(ViewMap *v, AtomList *flat, int *at, const Dim *want, AtomList *axis) {
    const Dim *left = want;
    *axis = (AtomList){0};
    while (!dim_is(left, 1)) {
        if (*at == flat->n) return false;
        int a = flat->atom[*at];
        const Dim *rest = quotient(v->graph, left, v->extent[a]);
        if (!rest) {
            const Dim *inner = quotient(v->graph, v->extent[a], left);
            if (!inner || !view_split(v, a, inner)) return false;
            insert_after(flat, a, v->n_atoms - 1);
            rest = dim_const(v->graph, 1);
        }
        list_add(axis, a);
        (*at)++;
        left = rest;
    }
    return true;
}

static bool apply_reshape(ViewMap *v, const Node *n) {
    AtomList flat = {0}, axis[MAX_RANK] = {0};
    for (int i = 0; i < v->rank; i++) {
        for (int j = 0; j < v->axis[i].n; j++) {
            if (!list_add(&flat, v->axis[i].atom[j])) return false;
        }
    }
    int at = 0;
    for (int i = 0; i < n->type.rank; i++) {
        if (!view_take(v, &flat, &at, n->type.dim[i], &axis[i])) return false;
    }
    if (at != flat.n) return false;
    v->rank = n->type.rank;
    for (int i = 0; i < v->rank; i++) v->axis[i] = axis[i];
    return true;
}

static bool apply_transpose(ViewMap *v, const Node *n) {
    AtomList axis[MAX_RANK];
    int count;
    const int64_t *perm = attr_ints(n, "perm", &count);
    for (int i = 0; i < count; i++) axis[i] = v->axis[perm[i]];
    for (int i = 0; i < count; i++) v->axis[i] = axis[i];
    return true;
}

static bool apply_expand(ViewMap *v, const Node *n) {
    AtomList axis[MAX_RANK] = {0};
    int added = n->type.rank - v->rank;
    for (int i = 0; i < n->type.rank; i++) {
        const Dim *before = i < added ? NULL : n->in[0]->type.dim[i - added];
        if (before) axis[i] = v->axis[i - added];
        if (before == n->type.dim[i] || dim_is(n->type.dim[i], 1)) continue;
        int a = new_atom(v, n->type.dim[i], true);
        if (a < 0 || !list_add(&axis[i], a)) return false;
    }
    v->rank = n->type.rank;
    for (int i = 0; i < v->rank; i++) v->axis[i] = axis[i];
    return true;
}

bool view_apply(ViewMap *v, const Node *n) {
    v->length++;
    switch (n->op) {
        case OP_reshape:
            return apply_reshape(v, n);
        case OP_transpose:
            return apply_transpose(v, n);
        case OP_expand:
            return apply_expand(v, n);
        default:
            return false;
    }
}

static bool is_link(const Node *n) {
    return n->op == OP_reshape || n->op == OP_transpose || n->op == OP_expand;
}

// The operand that a constant multiplies or divides, in the same type; NULL otherwise.
static Node *scaled_operand(const Node *n, double *factor) {
    n = is_implied(n) ? n->in[0] : n;
    int side = n->op == OP_mul && match_scalar(n->in[0], factor) ? 1 : 0;
    if ((n->op != OP_mul && n->op != OP_div) || !match_scalar(n->in[!side], factor)) return NULL;
    if (n->op == OP_div) *factor = 1 / *factor;
    return type_equal(&n->in[side]->type, &n->type) ? n->in[side] : NULL;
}

bool view_map_scaled(Node *view, ViewMap *v, double *scale) {
    enum { LONGEST = 32 };
    Node *chain[LONGEST];
    int n = 0;
    double factor;
    for (;;) {
        Node *inner = scale ? scaled_operand(view, &factor) : NULL;
        if (inner) {
            *scale *= factor;
            view = inner;
        } else if (is_link(view) && n < LONGEST) {
            chain[n++] = view;
            view = view->in[0];
        } else {
            break;
        }
    }
    view_start(v, view);
    while (n) {
        if (!view_apply(v, chain[--n])) return false;
    }
    return true;
}

bool view_map(Node *view, ViewMap *v) { return view_map_scaled(view, v, NULL); }

// ---------------------------------------------------------------------------------------- emission
// Atoms that stay together: neighbours in the base and in the view, in one axis of the view.
typedef struct Group {
    const Dim *extent;
    int first, last;  // atoms
    int axis;         // of the view
    bool broadcast;
} Group;

typedef struct Groups {
    int n;
    Group group[MAX_ATOMS];
} Groups;

int view_place(const AtomList *list, int atom) {
    for (int i = 0; i < list->n; i++) {
        if (list->atom[i] == atom) return i;
    }
    return -1;
}

// Rows, of which only the run knows how many there are, stay an axis of their own.
static bool continues(const ViewMap *v, const Group *g, int atom, int axis, bool across_axes) {
    if (g->broadcast || v->broadcast[atom]) return false;
    bool alike = dim_is_const(g->extent, NULL) == dim_is_const(v->extent[atom], NULL);
    if (g->axis != axis && (!across_axes || !alike)) return false;
    return view_place(&v->source, atom) == view_place(&v->source, g->last) + 1;
}

static Groups group_atoms(const ViewMap *v, bool across_axes, bool with_broadcast) {
    Groups r = {0};
    for (int i = 0; i < v->rank; i++) {
        for (int j = 0; j < v->axis[i].n; j++) {
            int a = v->axis[i].atom[j];
            if (v->broadcast[a] && !with_broadcast) continue;
            Group *last = r.n ? &r.group[r.n - 1] : NULL;
            if (last && continues(v, last, a, i, across_axes)) {
                last->extent = dim_binary(v->graph, DIM_MUL, last->extent, v->extent[a]);
                last->last = a;
            } else {
                r.group[r.n++] = (Group){v->extent[a], a, a, i, v->broadcast[a]};
            }
        }
    }
    return r;
}

// The chain as it grows: its shape so far, how many nodes, and the nodes themselves unless `before`
// is NULL (only counting).
typedef struct Emission {
    Node *x, *before;
    int length, rank;
    const Dim *dim[MAX_RANK];
} Emission;

static void take_shape(Emission *e, int rank, const Dim *const *dims) {
    e->length++;
    e->rank = rank;
    for (int i = 0; i < rank; i++) e->dim[i] = dims[i];
}

static bool has_shape(const Emission *e, int rank, const Dim *const *dims) {
    bool same = e->rank == rank;
    for (int i = 0; same && i < rank; i++) same = e->dim[i] == dims[i];
    return same;
}

static void emit_reshape(Emission *e, int rank, const Dim *const *dims) {
    if (has_shape(e, rank, dims)) return;
    if (e->before) e->x = build_reshape(cursor(e->before), e->x, rank, dims);
    take_shape(e, rank, dims);
}

static void emit_transpose(Emission *e, const int64_t *perm) {
    const Dim *dims[MAX_RANK];
    for (int i = 0; i < e->rank; i++) dims[i] = e->dim[perm[i]];
    if (e->before) e->x = build_transpose(cursor(e->before), e->x, perm);
    take_shape(e, e->rank, dims);
}

static void emit_expand(Emission *e, int rank, const Dim *const *dims) {
    if (has_shape(e, rank, dims)) return;
    if (e->before) e->x = build_expand(cursor(e->before), e->x, rank, dims);
    take_shape(e, rank, dims);
}

// The base with its groups in the order of the view: reshape and transpose, or the base itself.
static bool emit_order(const ViewMap *v, const Groups *groups, Emission *e) {
    const Dim *dims[MAX_ATOMS];
    int64_t perm[MAX_ATOMS];
    int n = 0;
    bool sorted = true;
    for (int s = 0; s < v->source.n; s++) {
        for (int i = 0; i < groups->n; i++) {
            if (groups->group[i].first != v->source.atom[s]) continue;
            sorted &= i == n;
            dims[n] = groups->group[i].extent;
            perm[i] = n++;
        }
    }
    if (n != groups->n || (!sorted && n > MAX_RANK)) return false;
    if (sorted) return true;
    emit_reshape(e, n, dims);
    emit_transpose(e, perm);
    return true;
}

static void final_dims(const ViewMap *v, bool broadcast_as_one, const Dim **dims) {
    for (int i = 0; i < v->rank; i++) {
        dims[i] = dim_const(v->graph, 1);
        for (int j = 0; j < v->axis[i].n; j++) {
            int a = v->axis[i].atom[j];
            if (!v->broadcast[a] || !broadcast_as_one)
                dims[i] = dim_binary(v->graph, DIM_MUL, dims[i], v->extent[a]);
        }
    }
}

static bool expands_whole_axes(const ViewMap *v) {
    for (int i = 0; i < v->rank; i++) {
        for (int j = 0; j < v->axis[i].n; j++) {
            if (v->broadcast[v->axis[i].atom[j]] && v->axis[i].n > 1) return false;
        }
    }
    return true;
}

// An axis that is part broadcast, part not: expanded group by group, then joined.
static bool emit_mixed_expand(const ViewMap *v, Emission *e) {
    Groups all = group_atoms(v, false, true);
    const Dim *ones[MAX_RANK], *full[MAX_RANK], *dims[MAX_RANK];
    if (all.n > MAX_RANK) return false;
    for (int i = 0; i < all.n; i++) {
        full[i] = all.group[i].extent;
        ones[i] = all.group[i].broadcast ? dim_const(v->graph, 1) : full[i];
    }
    final_dims(v, false, dims);
    emit_reshape(e, all.n, ones);
    emit_expand(e, all.n, full);
    emit_reshape(e, v->rank, dims);
    return true;
}

static bool emit_chain(const ViewMap *v, Emission *e) {
    const Dim *dims[MAX_RANK];
    Groups groups = group_atoms(v, true, false);
    if (!emit_order(v, &groups, e)) return false;
    if (!expands_whole_axes(v)) return emit_mixed_expand(v, e);
    final_dims(v, true, dims);
    emit_reshape(e, v->rank, dims);
    final_dims(v, false, dims);
    emit_expand(e, v->rank, dims);
    return true;
}

static Emission start_at_base(const ViewMap *v, Node *before) {
    Emission e = {.x = v->base, .before = before, .rank = v->base->type.rank};
    for (int i = 0; i < e.rank; i++) e.dim[i] = v->base->type.dim[i];
    return e;
}

int view_shortest(const ViewMap *v) {
    Emission e = start_at_base(v, NULL);
    return emit_chain(v, &e) ? e.length : -1;
}

Node *view_emit(const ViewMap *v, Node *before) {
    Emission e = start_at_base(v, before);
    return view_shortest(v) >= 0 && emit_chain(v, &e) ? e.x : NULL;
}
