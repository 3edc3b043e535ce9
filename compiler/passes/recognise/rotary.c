// Rotary embedding, read element by element.
//
// Along the last axis a rotary embedding is a small linear map: element j of the result is
//
//   halves        y[j] = x[j] cos[i] -+ x[j +- r/2] sin[i]     i = j mod r/2
//   interleaved   y[j] = x[j] cos[i] -+ x[j ^ 1] sin[i]        i = j / 2
//   the tail      y[j] = x[j]                                  j >= r
//
//   before   %a = slice(%x) {axis=1, start=0, extent=8}          after   %y = rotary_embedding(%x, %c, %s) {num_heads=1}
//            %b = slice(%x) {axis=1, start=8, extent=8}
//            %r = concat(neg(%b), %a) {axis=1}
//            %y = add(mul(%x, concat(%c, %c)), mul(%r, concat(%s, %s)))
//
// So for each j the formula is followed down through slices, concatenations, negations and reshapes
// until elements of one x and of two tables remain; whether the exporter rotates by slice, concat
// and neg, by strided slices or by a stack does not matter. The tables are what depends on no input
// other than positions.
#include "passes/recognise/recognise.h"
#include "passes/views.h"

enum { MAX_TRAIL = 4, MAX_PIECES = 2, MAX_NEGS = 4, LARGEST_HEAD = 1024 };

// An element: a node and its index along the node's last `n` axes.
typedef struct Element {
    Node *node;
    int n;
    int64_t at[MAX_TRAIL];
} Element;

typedef struct Piece {
    int sign;
    Element x;
    Element table;  // node NULL: 1
} Piece;

typedef struct Form {
    int n;
    int n_sums, n_negs;  // passed on the way to the pieces
    Piece piece[MAX_PIECES];
    const Node *rounding;  // the end of a 16-bit op in the formula, or NULL
} Form;

static bool trailing_extent(const Node *n, int from_end, int64_t *extent) {
    return from_end < n->type.rank &&
           dim_is_const(n->type.dim[n->type.rank - 1 - from_end], extent);
}

// ---------------------------------------------------------------- one step down, for data movement
// The first n axes of one and m of the other, axes of extent 1 apart.
static bool same_leading(const Node *a, int n, const Node *b, int m) {
    int i = 0, j = 0;
    for (;;) {
        while (i < n && dim_is(a->type.dim[i], 1)) i++;
        while (j < m && dim_is(b->type.dim[j], 1)) j++;
        if (i >= n || j >= m) return i >= n && j >= m;
        if (a->type.dim[i++] != b->type.dim[j++]) return false;
    }
}

// Flat index over trailing axes of `from`, as few as needed to match whole trailing axes of `to`;
// the leading axes must agree.
static bool step_reshape(Element *e, Node *to) {
    const Node *from = e->node;
    int64_t flat = 0, count_from = 1, count_to = 1, extent;
    int n_from = 0, n_to = 0;
    for (int i = 0; i < e->n; i++, n_from++) {
        if (!trailing_extent(from, i, &extent)) return false;
        flat += e->at[e->n - 1 - i] * count_from;
        count_from *= extent;
    }
    while (count_to < count_from || n_to == 0) {
        if (n_to == MAX_TRAIL || !trailing_extent(to, n_to++, &extent)) return false;
        count_to *= extent;
    }
    if (count_to != count_from) return false;
    if (!same_leading(from, from->type.rank - n_from, to, to->type.rank - n_to)) return false;
    Element r = {to, n_to, {0}};
    for (int i = 0; i < n_to; i++) {
        trailing_extent(to, i, &extent);
        r.at[n_to - 1 - i] = flat % extent;
        flat /= extent;
    }
    *e = r;
    return true;
}

static int trailing_place(const Element *e) {
    return node_axis(e->node) - (e->node->type.rank - e->n);
}

static bool step_slice(Element *e) {
    int64_t start;
    int place = trailing_place(e);
    if (place < 0 || !dim_is_const(attr_dim(e->node, "start"), &start)) return false;
    e->at[place] = start + e->at[place] * attr_int(e->node, "step", 1);
    e->node = e->node->in[0];
    return true;
}

static bool step_concat(Element *e) {
    int64_t width;
    int place = trailing_place(e), axis = node_axis(e->node);
    if (place < 0) return false;
    for (int i = 0; i < e->node->n_in; i++) {
        if (!dim_is_const(e->node->in[i]->type.dim[axis], &width)) return false;
        if (e->at[place] < width) {
            e->node = e->node->in[i];
            return true;
        }
        e->at[place] -= width;
    }
    return false;
}

// An operand that broadcasts: axes that it lacks are dropped, axes of extent 1 are read at 0.
static bool step_broadcast(Element *e, Node *to) {
    int n = e->n < to->type.rank ? e->n : to->type.rank;
    Element r = {to, n, {0}};
    for (int i = 0; i < n; i++) {
        bool one = dim_is(to->type.dim[to->type.rank - 1 - i], 1);
        r.at[n - 1 - i] = one ? 0 : e->at[e->n - 1 - i];
    }
    *e = r;
    return true;
}

// To where the element comes from; false at a node that computes.
static bool step_movement(Element *e) {
    switch (e->node->op) {
        case OP_slice:
            return step_slice(e);
        case OP_concat:
            return step_concat(e);
        case OP_reshape:
            return step_reshape(e, e->node->in[0]);
        case OP_expand:
            return e->node->type.rank == e->node->in[0]->type.rank &&
                   step_broadcast(e, e->node->in[0]);
        default:
            return false;
    }
}

// --------------------------------------------------------------------------------- the linear form
static bool is_table(const Node *n) { return !n->mark; }

static bool add_form(Element e, int sign, Element table, Form *f);

static bool add_product_form(Element e, int sign, Element table, Form *f) {
    Node *a = e.node->in[0], *b = e.node->in[1];
    if (table.node || is_table(a) == is_table(b)) return false;
    Element x = e, t = e;
    step_broadcast(&x, is_table(a) ? b : a);
    step_broadcast(&t, is_table(a) ? a : b);
    return add_form(x, sign, t, f);
}

static bool add_operand_form(Element e, int operand, int sign, Element table, Form *f) {
    step_broadcast(&e, e.node->in[operand]);
    return add_form(e, sign, table, f);
}

// The end of a 16-bit op of the formula. (The rotated value and the tables have ends of their own.)
static bool step_rounding(Element *e, const Element *table, Form *f) {
    Op op =
        is_implied(e->node) && !table->node && !is_table(e->node) ? e->node->in[0]->op : OP_COUNT;
    if (op != OP_add && op != OP_sub && op != OP_mul) return false;
    f->rounding = e->node;
    e->node = e->node->in[0];
    return true;
}

static bool add_form(Element e, int sign, Element table, Form *f) {
    while (step_movement(&e) || step_rounding(&e, &table, f)) continue;
    switch (e.node->op) {
        case OP_neg:
            if (f->n_negs++ == MAX_NEGS) return false;
            return add_operand_form(e, 0, -sign, table, f);
        case OP_add:
        case OP_sub:
            // every sum is one more piece: a chain of thousands is left at once
            if (table.node || is_table(e.node) || ++f->n_sums == MAX_PIECES) return false;
            return add_operand_form(e, 0, sign, table, f) &&
                   add_operand_form(e, 1, e.node->op == OP_add ? sign : -sign, table, f);
        case OP_mul:
            if (add_product_form(e, sign, table, f)) return true;
            break;
        default:
            break;
    }
    if (f->n == MAX_PIECES || is_table(e.node)) return false;
    f->piece[f->n++] = (Piece){sign, e, table};
    return true;
}

static bool form_of(Node *root, int64_t j, Form *f) {
    *f = (Form){0};
    return add_form((Element){root, 1, {j}}, 1, (Element){0}, f);
}

// ------------------------------------------------------------------------------------- comparisons
static bool same_element(Element a, Element b, int depth) {
    while (step_movement(&a)) continue;
    while (step_movement(&b)) continue;
    if (a.node == b.node) {
        bool same = a.n == b.n;
        for (int i = 0; same && i < a.n; i++) same = a.at[i] == b.at[i];
        if (same) return true;
    }
    if (!depth || a.node->op != b.node->op || !op_is_elementwise(a.node->op)) return false;
    for (int i = 0; i < a.node->n_in; i++) {
        Element x = a, y = b;
        step_broadcast(&x, a.node->in[i]);
        step_broadcast(&y, b.node->in[i]);
        if (!same_element(x, y, depth - 1)) return false;
    }
    return true;
}

typedef struct Rotary {
    Node *of;               // what turns is elements of this, of its last `trail` axes
    int trail;              // several: as where pairs were made halves by a transpose
    Node *x;                // the same with those axes as one
    int64_t width, turned;  // of a head: elements, and those that turn
    int64_t first;          // the head's first element in x
    bool interleaved;
    int direction;         // +1: y[j] = x[j] cos - x[pair] sin in the first half
    Element cosine, sine;  // of pair 0
    int64_t cosine_step, sine_step;
    const Node *rounding;  // of the formula's end, or NULL
} Rotary;

static int64_t pair_of(const Rotary *r, int64_t j) {
    if (r->interleaved) return j ^ 1;
    return j < r->turned / 2 ? j + r->turned / 2 : j - r->turned / 2;
}

static int64_t index_of(const Rotary *r, int64_t j) {
    return r->interleaved ? j / 2 : j % (r->turned / 2);
}

// Its place in its trailing axes as one.
static int64_t flat_place(const Element *e) {
    int64_t flat = 0, extent = 0;
    for (int i = 0; i < e->n; i++) {
        if (i) trailing_extent(e->node, e->n - 1 - i, &extent);
        flat = flat * extent + e->at[i];
    }
    return flat;
}

static bool is_x(const Rotary *r, const Element *e, int64_t j) {
    return e->node == r->of && e->n == r->trail && flat_place(e) == r->first + j;
}

static Element table_at(Element table, int64_t step, int64_t i) {
    table.at[table.n - 1] += i * step;
    return table;
}

// Returns true if element j has this kind. The halves may come in either order.
static bool fits(const Rotary *r, Form *f, int64_t j) {
    if (j >= r->turned)
        return f->n == 1 && f->piece[0].sign == 1 && !f->piece[0].table.node &&
               is_x(r, &f->piece[0].x, j);
    if (f->n != 2) return false;
    int own = is_x(r, &f->piece[0].x, j) ? 0 : 1;
    const Piece *c = &f->piece[own], *s = &f->piece[!own];
    if (!is_x(r, &c->x, j) || !is_x(r, &s->x, pair_of(r, j)) || !c->table.node || !s->table.node ||
        c->sign != 1)
        return false;
    bool first = pair_of(r, j) > j;
    if (s->sign != (first ? -r->direction : r->direction)) return false;
    int64_t i = index_of(r, j);
    return same_element(c->table, table_at(r->cosine, r->cosine_step, i), 6) &&
           same_element(s->table, table_at(r->sine, r->sine_step, i), 6);
}

// How far apart the table elements of pairs 0 and 1 are, in one node.
static bool table_step(const Element *a, const Element *b, int64_t *step) {
    if (a->node != b->node || a->n != b->n || a->n != 1) return false;
    *step = b->at[0] - a->at[0];
    return *step == 1 || *step == 2;
}

static int64_t count_turned(Node *root, int64_t width) {
    Form f;
    int64_t turned = 0;
    while (turned < width && form_of(root, turned, &f) && f.n == 2) turned++;
    return turned;
}

// Reads the kind off elements 0 and that of pair 1.
static bool read_kind(Node *root, Rotary *r) {
    Form f, g;
    if (!form_of(root, 0, &f) || f.n != 2 || f.piece[0].x.node != f.piece[1].x.node) return false;
    if (f.piece[0].x.n != f.piece[1].x.n || !f.piece[0].table.node || !f.piece[1].table.node)
        return false;
    r->turned = count_turned(root, r->width);
    if (r->turned < 4 || r->turned % 2) return false;
    int own = flat_place(&f.piece[0].x) < flat_place(&f.piece[1].x) ? 0 : 1;
    const Piece *c = &f.piece[own], *s = &f.piece[!own];
    int64_t apart = flat_place(&s->x) - flat_place(&c->x);
    r->rounding = f.rounding;
    r->of = c->x.node;
    r->trail = c->x.n;
    r->first = flat_place(&c->x);
    r->interleaved = apart == 1;
    if (!r->interleaved && apart != r->turned / 2) return false;
    r->direction = -s->sign;
    r->cosine = c->table, r->sine = s->table;
    if (!form_of(root, r->interleaved ? 2 : 1, &g) || g.n != 2) return false;
    own = flat_place(&g.piece[0].x) < flat_place(&g.piece[1].x) ? 0 : 1;
    if (!is_x(r, &g.piece[own].x, r->interleaved ? 2 : 1)) return false;
    return table_step(&r->cosine, &g.piece[own].table, &r->cosine_step) &&
           table_step(&r->sine, &g.piece[!own].table, &r->sine_step);
}

// ---------------------------------------------------------------------------------------- emission
static Node *slice_last(Node *before, Node *x, int64_t start, int64_t extent, int64_t step) {
    return build_slice(
        cursor(before), x,
        (Slice){x->type.rank - 1, dim_const(x->graph, start), dim_const(x->graph, extent), step});
}

static Node *merge_trail(Node *before, const Rotary *r) {
    const Dim *dims[MAX_RANK], *merged = dim_const(before->graph, 1);
    int kept = r->of->type.rank - r->trail;
    for (int i = 0; i < r->of->type.rank; i++) {
        dims[i] = r->of->type.dim[i];
        if (i >= kept) merged = dim_binary(before->graph, DIM_MUL, merged, dims[i]);
    }
    dims[kept] = merged;
    return build_reshape(cursor(before), r->of, kept + 1, dims);
}

// Elements start, start + step ... of a table. Sliced before the cosine is taken rather than after,
// so that halves that were computed twice are computed once.
static Node *part_of_table(Node *before, Node *x, int64_t start, int64_t extent, int64_t step) {
    double v;
    int64_t width, at = 0;
    int axis = x->type.rank - 1;
    if (dim_is(width_dim(x), extent) && start == 0 && step == 1) return x;
    if (op_is_elementwise(x->op) && x->n_in == 1)
        return build_unary(cursor(before), x->op,
                           part_of_table(before, x->in[0], start, extent, step));
    if (op_is_elementwise(x->op) && x->n_in == 2 && match_scalar(x->in[1], &v))
        return build_binary(cursor(before), x->op,
                            part_of_table(before, x->in[0], start, extent, step), x->in[1]);
    if (x->op == OP_reshape && width_dim(x) == width_dim(x->in[0])) {
        const Dim *dims[MAX_RANK];
        for (int i = 0; i < axis; i++) dims[i] = x->type.dim[i];
        dims[axis] = dim_const(x->graph, extent);
        return build_reshape(cursor(before), part_of_table(before, x->in[0], start, extent, step),
                             axis + 1, dims);
    }
    if (x->op == OP_concat && node_axis(x) == axis) {
        for (int i = 0; i < x->n_in && dim_is_const(width_dim(x->in[i]), &width);
             i++, at += width) {
            if (start >= at && start + (extent - 1) * step < at + width)
                return part_of_table(before, x->in[i], start - at, extent, step);
        }
    }
    return slice_last(before, x, start, extent, step);
}

// Axes of x, its last apart.
typedef bool Axes[MAX_RANK];

// Those along which a table varies; false when it has one that x has not.
static bool add_axes(const Rotary *r, const Node *table, Axes axes) {
    int rank = r->x->type.rank, at = rank - 1;
    for (int i = table->type.rank - 2; i >= 0; i--) {
        if (dim_is(table->type.dim[i], 1)) continue;
        for (at--; at >= 0 && (dim_is(r->x->type.dim[at], 1) || at - rank > i - table->type.rank);)
            at--;
        if (at < 0 || r->x->type.dim[at] != table->type.dim[i]) return false;
        axes[at] = true;
    }
    return true;
}

// The axes of a row: its position, and its sequence, whose number only the run knows.
static bool find_row_axes(const Rotary *r, Axes rows) {
    bool any = false;
    if (!add_axes(r, r->cosine.node, rows) || !add_axes(r, r->sine.node, rows)) return false;
    for (int i = 0; i + 1 < r->x->type.rank; i++) any |= rows[i];
    for (int i = 0; any && i + 1 < r->x->type.rank; i++)
        rows[i] |= !dim_is_const(r->x->type.dim[i], NULL);
    return any;
}

// The table as [rows, turned / 2].
static Node *emit_table(Node *before, const Rotary *r, Element first, int64_t step,
                        const bool *rows) {
    Node *t = part_of_table(before, first.node, first.at[0], r->turned / 2, step);
    const Dim *own[MAX_RANK], *all[MAX_RANK], *count = dim_const(before->graph, 1),
                                              *half = width_dim(t);
    Axes varies = {0};
    int n = 0;
    add_axes(r, first.node, varies);
    for (int i = 0; i + 1 < r->x->type.rank; i++) {
        if (!rows[i]) continue;
        all[n] = r->x->type.dim[i], count = dim_binary(before->graph, DIM_MUL, count, all[n]);
        own[n] = varies[i] ? all[n] : dim_const(before->graph, 1);
        n++;
    }
    own[n] = all[n] = half;
    t = build_expand(cursor(before), build_reshape(cursor(before), t, n + 1, own), n + 1, all);
    return build_reshape(cursor(before), t, 2, (const Dim *[]){count, half});
}

// The row axes first, then all other axes.
static void order_axes(int rank, const bool *rows, int64_t *perm, int64_t *inverse) {
    int n = 0;
    for (int others = 0; others < 2; others++)
        for (int i = 0; i < rank; i++)
            if (rows[i] != others) inverse[i] = n, perm[n++] = i;
}

// Repeated heads rotate once, and are repeated after the rotation: the atoms of x's axes, with the
// repeats as 1 and as they are.
typedef struct Repeats {
    int rank;
    const Dim *once[MAX_RANK], *all[MAX_RANK];
} Repeats;

static bool read_repeats(const ViewMap *v, Repeats *r) {
    bool any = false;
    *r = (Repeats){0};
    for (int i = 0; i < v->rank; i++) {
        for (int j = 0; j < v->axis[i].n || (j == 0 && !v->axis[i].n); j++) {
            int atom = v->axis[i].n ? v->axis[i].atom[j] : -1;
            if (r->rank == MAX_RANK) return false;
            const Dim *one = dim_const(v->graph, 1);
            r->all[r->rank] = atom < 0 ? one : v->extent[atom];
            r->once[r->rank] = atom < 0 || v->broadcast[atom] ? one : v->extent[atom];
            any = any || r->once[r->rank] != r->all[r->rank];
            r->rank++;
        }
    }
    return any;
}

static Node *without_repeats(Node *before, Node *x, Repeats *r) {
    ViewMap v;
    Node *own = NULL;
    if (view_map(x, &v) && read_repeats(&v, r)) {
        for (int i = 0; i < v.rank; i++) {
            int kept = 0;
            for (int j = 0; j < v.axis[i].n; j++)
                if (!v.broadcast[v.axis[i].atom[j]]) v.axis[i].atom[kept++] = v.axis[i].atom[j];
            v.axis[i].n = kept;
        }
        own = view_emit(&v, before);
    }
    if (!own) r->rank = 0;
    return own ? own : x;
}

static Node *repeat(Node *before, Node *x, const Repeats *r) {
    return r->rank
               ? build_expand(cursor(before), build_reshape(cursor(before), x, r->rank, r->once),
                              r->rank, r->all)
               : x;
}

// x as [rows, heads * d], rotated, and back in its shape.
static Node *emit_rotary(Node *root, const Rotary *r, const bool *rows) {
    Graph *g = root->graph;
    Repeats repeats;
    Node *x = without_repeats(root, slice_last(root, r->x, r->first, r->width, 1), &repeats);
    int rank = x->type.rank;
    int64_t perm[MAX_RANK], inverse[MAX_RANK], heads = 1, extent;
    const Dim *moved[MAX_RANK], *count = dim_const(g, 1);
    order_axes(rank, rows, perm, inverse);
    for (int i = 0; i < rank; i++) {
        moved[i] = x->type.dim[perm[i]];
        if (rows[perm[i]]) count = dim_binary(g, DIM_MUL, count, moved[i]);
        if (!rows[perm[i]] && i + 1 < rank) heads *= dim_is_const(moved[i], &extent) ? extent : 0;
    }
    if (heads < 1) return NULL;
    const Dim *flat[] = {count, dim_const(g, heads * r->width)};
    Node *in[3] = {build_reshape(cursor(root), build_transpose(cursor(root), x, perm), 2, flat)};
    in[1] = emit_table(root, r, r->cosine, r->cosine_step, rows);
    in[2] = emit_table(root, r, r->sine, r->sine_step, rows);
    if (in[1]->type.dim[0] != count)
        return NULL;  // one for all sequences, turned by each one's own table
    if (r->direction < 0) in[2] = build_unary(cursor(root), OP_neg, in[2]);
    Node *n = node_make(g, OP_rotary_embedding, root->loc, 3, in, root);
    attr_set_int(n, "num_heads", heads);
    if (r->interleaved) attr_set_int(n, "interleaved", 1);
    inferred(n);
    n->mark = 1;
    Node *by = repeat(
        root, build_transpose(cursor(root), build_reshape(cursor(root), n, rank, moved), inverse),
        &repeats);
    by = build_reshape(cursor(root), by, root->type.rank, root->type.dim);
    if (r->rounding) by = rounded_before(root, by, r->rounding);
    by->mark = 1;
    return by;
}

// Without a site: most sums and concatenations are something else.
static bool is_candidate(Node *root, Rotary *r) {
    bool joins = root->op == OP_concat || (root->op == OP_reshape && root->in[0]->op == OP_concat);
    if ((root->op != OP_add && root->op != OP_sub && !joins) || root->type.rank < 2) return false;
    if (root->op == OP_concat && node_axis(root) != root->type.rank - 1) return false;
    return dim_is_const(width_dim(root), &r->width) && r->width >= 4 && r->width <= LARGEST_HEAD &&
           read_kind(root, r);
}

// A rotation whose only use is to be joined with the tail that does not turn: the concatenation is
// the candidate then.
static bool is_part_of_larger(Node *root, const Rotary *r) {
    Rotary larger = {0};
    Node *user = node_only_user(behind_rounding(root));
    if (user && user->op == OP_reshape) user = node_only_user(user);
    return user && is_candidate(user, &larger) && larger.of == r->of && larger.width > r->width;
}

bool recognise_rotary(Node *root, Attempt *a) {
    Rotary r = {0};
    Form f;
    if (!root->mark || root->type.dtype != DT_f32 || !is_candidate(root, &r) ||
        is_part_of_larger(root, &r))
        return false;
    a->pattern = "rotary_embedding";
    for (int64_t j = 0; j < r.width; j++) {
        if (!form_of(root, j, &f) || !fits(&r, &f, j))
            return attempt_broke(a, root, "does not turn every pair by its own cosine and sine");
    }
    r.x = merge_trail(root, &r);
    Axes rows = {0};
    if (!find_row_axes(&r, rows))
        return attempt_broke(a, r.cosine.node, "does not vary along the axes of what is turned");
    a->root = root;
    a->by = emit_rotary(root, &r, rows);
    return a->by ? true : attempt_broke(a, r.x, "has no constant number of heads");
}
