// A slice of a product's columns is a product by a slice of the weights.
//
//   before   %y = matmul(%x, %w) : f32[T, 24]                     after   %wq = constant : f32[8, 8]   (rows of %w, gathered)
//            %r = reshape(%y) {shape=[T, 2, 3, 4]}                        %q = matmul(%x, transpose(%wq)) : f32[T, 8]
//            %q = slice(%r) {axis=2, start=0, extent=1}
//
// Checkpoints that interleave the queries, keys and values of each head (GPT-NeoX, BLOOM) become
// three products, which are then merged side by side; a gate and up projection in one matrix become
// two, which are then paired. Contiguous columns that are only read stay a slice of one product.
#include "ir/eval/eval.h"
#include "passes/fuse/fuse.h"

// matmul(x, w) + bias, all of whose columns are read through slices of views of it. Of 16-bit ops,
// both are rounded.
typedef struct Columns {
    Node *result, *product, *weights, *bias;
    const Node *rounding;
    bool swapped;  // weights are [N, K]
} Columns;

static bool is_link(const Node *n) { return n->op == OP_reshape || n->op == OP_transpose; }

static bool is_only_sliced(const Node *n) {
    if (node_uses(n) != n->n_users || !n->n_users) return false;
    for (int i = 0; i < n->n_users; i++) {
        Node *user = n->users[i];
        if (user->op != OP_slice && !(is_link(user) && is_only_sliced(user))) return false;
        if (user->op == OP_slice && attr_int(user, "step", 1) != 1) return false;
    }
    return true;
}

static bool read_columns(Node *result, Columns *c) {
    Node *sum = before_rounding(result);
    *c = (Columns){.result = result, .product = sum, .rounding = sum == result ? NULL : result};
    if (sum->op == OP_add) {
        int side = before_rounding(sum->in[0])->op == OP_matmul ? 0 : 1;
        c->product = before_rounding(sum->in[side]);
        c->bias = sum->in[!side];
        if (c->bias->op != OP_constant || c->bias->type.rank != 1) return false;
        if (node_only_user(behind_rounding(c->product)) != sum ||
            (c->product == sum->in[side]) != !c->rounding)
            return false;
    }
    if (c->rounding && node_only_user(sum) != result) return false;
    if (c->product->op != OP_matmul || result->type.rank != 2 || !is_only_sliced(result))
        return false;
    c->weights = weights_behind(c->product->in[1], &c->swapped);
    bool known = c->weights && c->weights->value && c->weights->value->data;
    return known && (!c->bias || (c->bias->value && c->bias->value->data));
}

// ------------------------------------------------------------------------- slices of the constants
static Node *evaluated(Node *n) {
    const Tensor *t = eval_constant_node(n);
    Node *c = node_constant(n->graph, t, n->loc, n);
    node_remove(n);
    return c;
}

static Node *reshaped(Node *before, Node *x, int rank, const Dim *const *dims) {
    Node *n = build_reshape(cursor(before), x, rank, dims);
    return n == x ? x : evaluated(n);
}

// x [N, ...] with its first axis split into atoms, one of them sliced, and joined again.
static Node *slice_of_constant(Node *before, Node *x, const ViewMap *v, Slice s) {
    const Dim *dims[MAX_RANK], *joined[2] = {dim_const(x->graph, 1), x->type.dim[x->type.rank - 1]};
    int rank = 0, axis = 0;
    for (int i = 0; i < v->source.n; i++) {
        int atom = v->source.atom[i];
        if (v->source_axis[atom] != 1) continue;
        if (atom == s.axis) axis = rank;
        joined[0] =
            dim_binary(x->graph, DIM_MUL, joined[0], atom == s.axis ? s.extent : v->extent[atom]);
        dims[rank++] = v->extent[atom];
    }
    if (x->type.rank == 2) dims[rank++] = x->type.dim[1];
    Node *split = reshaped(before, x, rank, dims);
    Node *part = build_slice(cursor(before), split, (Slice){axis, s.start, s.extent, 1});
    return reshaped(before, part == split ? split : evaluated(part), x->type.rank, joined);
}

static void name_part(Node *part, const Node *whole, const Dim *start) {
    Tensor *t = ARENA_NEW(part->graph->arena, Tensor);
    *t = *part->value;
    t->source = whole->value->source;
    t->name = arena_printf(part->graph->arena, "%s.%lld",
                           whole->value->name ? whole->value->name : whole->name,
                           (long long)start->value);
    part->value = t;
    node_set_name(
        part, arena_printf(part->graph->arena, "%s.%lld", whole->name, (long long)start->value));
}

static Node *part_of(Node *before, Node *whole, const ViewMap *v, Slice s) {
    Node *part = slice_of_constant(before, whole, v, s);
    if (part != whole) name_part(part, whole, s.start);
    return part;
}

static Node *as_rows(const Columns *c, Node *before) {
    if (c->swapped) return c->weights;
    Node *t = build_transpose(cursor(before), c->weights, (int64_t[]){1, 0});
    Node *rows = evaluated(t);
    node_set_name(rows, c->weights->name);
    return rows;
}

static Node *part_product(const Columns *c, const ViewMap *v, Slice s, Node *before) {
    Node *w = build_cast(cursor(before), part_of(before, as_rows(c, before), v, s),
                         c->product->type.dtype);
    Node *y = build_binary(cursor(before), OP_matmul, c->product->in[0],
                           build_transpose(cursor(before), w, (int64_t[]){1, 0}));
    if (c->rounding) y = rounded_before(before, y, c->rounding);
    if (!c->bias) return y;
    y = build_binary(cursor(before), OP_add, y, part_of(before, c->bias, v, s));
    return c->rounding ? rounded_before(before, y, c->rounding) : y;
}

// ------------------------------------------------------------------------------------------ slices
// The slice as a slice of one atom of the columns; s->axis is the atom.
static bool read_slice(Node *slice, Node *result, ViewMap *v, Slice *s) {
    int64_t start;
    int axis = node_axis(slice);
    if (!view_map(slice->in[0], v) || v->base != result || v->axis[axis].n != 1) return false;
    *s = (Slice){v->axis[axis].atom[0], attr_dim(slice, "start"), attr_dim(slice, "extent"), 1};
    return v->source_axis[s->axis] == 1 && dim_is_const(s->start, &start) &&
           dim_is_const(s->extent, &start);
}

enum { MOST_SLICES = 8 };

typedef struct Slices {
    int n;
    Node *node[MOST_SLICES];
    bool strided;  // some slice is no range of columns
} Slices;

static bool collect_slices(Node *n, const Columns *c, Slices *all) {
    for (int i = 0; i < n->n_users; i++) {
        Node *user = n->users[i];
        ViewMap v;
        Slice s;
        if (is_link(user)) {
            if (!collect_slices(user, c, all)) return false;
            continue;
        }
        if (all->n == MOST_SLICES || !read_slice(user, c->result, &v, &s)) return false;
        all->strided |= n != c->result;
        all->node[all->n++] = user;
    }
    return true;
}

static bool feeds_elementwise(const Node *n) {
    for (int i = 0; i < n->n_users; i++) {
        if (!op_is_elementwise(n->users[i]->op)) return false;
    }
    return n->n_users > 0;
}

// Gate and up in one matrix, stored row by row: two equal slices that meet in a formula.
static bool is_gate_and_up(const Columns *c, const Slices *all) {
    return c->swapped && all->n == 2 && type_equal(&all->node[0]->type, &all->node[1]->type) &&
           feeds_elementwise(all->node[0]) && feeds_elementwise(all->node[1]);
}

static void split(const Columns *c, const Slices *all) {
    for (int i = 0; i < all->n; i++) {
        ViewMap v;
        Slice s;
        Node *slice = all->node[i];
        read_slice(slice, c->result, &v, &s);
        Node *y = part_product(c, &v, s, slice);
        v.base = y;
        v.extent[s.axis] = s.extent;
        node_become(slice, view_emit(&v, slice));
    }
}

bool split_products(Graph *g) {
    bool changed = false;
    EACH_NODE(n, g) {
        Columns c;
        Slices all = {0};
        if (!node_uses(n) || !read_columns(n, &c) || !collect_slices(n, &c, &all)) continue;
        if (!all.strided && !is_gate_and_up(&c, &all)) continue;
        split(&c, &all);
        changed = true;
    }
    return changed;
}
