// Causal weights of values that are no attention: products with kept keys, and sums of kept values.
//
//   before   %s = matmul(%q, transpose(%k)) : f32[H, T, T]
//            %p = sigmoid(where(%causal, %s, -inf))
//            %o = matmul(%p, %v) : f32[H, T, d]
//   after    %s = key_products(%q, %k) {context=C} : f32[T, H, C]
//            %p = sigmoid(where(%causal, transpose(%s), -inf)) : f32[H, T, C]
//            %o = key_sums(transpose(%p), %v) {heads=H} : f32[T, H d]
//
// Sigmoid, differential, forgetting and retention attention, talking heads: whatever a formula
// makes of the scores, it runs token by token if the weights of later keys are proved to be 0
// (future.h). The axis of the keys then is as long as a cache: a row computes with every key that
// there may be, so the form is slower than attention, which remains the first choice. Masks that
// attention has as a bias, and that hide all later keys, make it causal here as well.
#include <math.h>
#include <string.h>

#include "ir/operands.h"
#include "passes/axes.h"
#include "passes/fuse/count_down.h"
#include "passes/fuse/fuse.h"
#include "passes/fuse/future.h"
#include "passes/fuse/joined_axes.h"
#include "passes/fuse/scores.h"

enum { MOST_VALUES = 512, MOST_OPERANDS = 16 };

typedef struct Kept {
    Graph *g;
    const Dim *positions, *context;  // extents of the axis of the keys: before, and after
    Node *at;                        // new nodes go before it
    struct {
        const Node *node;
        KeyAxes axes;
        Node *by;
    } done[MOST_VALUES];
    int n_done;
    const Node *broke;  // the node without such a form, and why
    const char *why;
} Kept;

static Node *over_keys(Kept *k, Node *n, KeyAxes a);

static Node *has_none(Kept *k, const Node *n, const char *why) {
    if (!k->broke) k->broke = n, k->why = why;
    return NULL;
}

enum { BY_DISTANCE = -1000 };  // in the place of the axis of queries: keys are distances
static bool is_by_distance(KeyAxes a) { return a.query < BY_DISTANCE / 2; }

// ------------------------------------------------------------------------------------------- moves
static Node *moved(Node *x, int from, int to, Node *at) {
    int64_t perm[MAX_RANK];
    int rank = x->type.rank;
    for (int i = 0, next = 0; i < rank; i++) {
        if (next == from) next++;
        perm[i] = i == to ? from : next++;
    }
    return build_transpose(cursor(at), x, perm);
}

// The heads: all axes but those of the queries and the last one
static const Dim *count_heads(Kept *k, const Type *like, int query) {
    const Dim *heads = dim_const(k->g, 1);
    for (int i = 0; i < like->rank - 1; i++)
        if (i != query) heads = dim_binary(k->g, DIM_MUL, heads, like->dim[i]);
    return heads;
}

static Node *expanded(Kept *k, Node *x, int rank, const Dim *const *dims) {
    return build_cast(cursor(k->at), build_expand(cursor(k->at), x, rank, dims), DT_f32);
}

static Node *folded(Kept *k, Node *x, const Dim *heads, bool joined) {
    const Dim *rows = x->type.dim[0], *width = x->type.dim[x->type.rank - 1];
    const Dim *both[] = {rows, dim_binary(k->g, DIM_MUL, heads, width)};
    const Dim *apart[] = {rows, heads, width};
    return build_reshape(cursor(k->at), x, joined ? 2 : 3, joined ? both : apart);
}

// Queries or weights [axes.., n], which broadcasts to the axes of `like`, as
// [T, heads, n]
static Node *of_queries(Kept *k, Node *x, const Type *like, int query) {
    const Dim *dims[MAX_RANK];
    int rank = like->rank;
    for (int i = 0; i < rank - 1; i++) dims[i] = like->dim[i];
    dims[rank - 1] = x->type.dim[x->type.rank - 1];
    x = moved(expanded(k, x, rank, dims), query, 0, k->at);
    return folded(k, x, count_heads(k, like, query), false);
}

// Keys or values [axes.., T, n] as [T, heads n]: they have no axis of the queries, and one for the
// rows of a product only where these are no queries.
static Node *of_keys(Kept *k, Node *x, const Type *like, int query) {
    const Dim *dims[MAX_RANK], *one = dim_const(k->g, 1);
    int rank = like->rank, at = 1;
    for (int i = 0; i < rank - 2; i++) dims[i] = i == query ? one : like->dim[i];
    for (int i = 1; i <= 2; i++) dims[rank - i] = x->type.dim[x->type.rank - i];
    const Dim *width = dims[rank - 1];
    x = moved(expanded(k, x, rank, dims), rank - 2, 0, k->at);
    if (query != rank - 2) {
        dims[0] = k->positions;
        for (int i = 0; i < rank - 2; i++)
            if (i != query) dims[at++] = like->dim[i];
        dims[rank - 2] = one, dims[rank - 1] = width;
        x = build_reshape(cursor(k->at), x, rank, dims);
        dims[rank - 2] = like->dim[rank - 2];
        x = build_expand(cursor(k->at), x, rank, dims);
    }
    return folded(k, x, count_heads(k, like, query), true);
}

// [T, heads.., n] with the axes of `like`
static Node *unfolded(Kept *k, Node *y, const Type *like, int query, const Dim *width) {
    const Dim *dims[MAX_RANK];
    int rank = like->rank, at = 1;
    dims[0] = k->positions;
    for (int i = 0; i < rank - 1; i++)
        if (i != query) dims[at++] = like->dim[i];
    dims[rank - 1] = width;
    y = build_reshape(cursor(k->at), y, rank, dims);
    return build_cast(cursor(k->at), moved(y, 0, query, k->at), like->dtype);
}

static bool has_constant_heads(const Type *t, int query) {
    for (int i = 0; i < t->rank - 1; i++)
        if (i != query && !dim_is_const(t->dim[i], NULL)) return false;
    return true;
}

// ------------------------------------------------------------------------------------------ leaves
static Node *key_products(Kept *k, Node *x, Node *keys, const Node *from) {
    Node *n = node_make(k->g, OP_key_products, from->loc, 2, (Node *[]){x, keys}, k->at);
    attr_set_dims(n, "context", &k->context, 1);
    return inferred(n);
}

// q [axes.., d] times keys [axes.., d, T]: n [axes.., T]
static Node *scores(Kept *k, Node *q, Node *keys, const Node *n, int query) {
    const Type *like = &n->type;
    int qr = q->type.rank, kr = keys->type.rank;
    if (like->rank < 2 || qr < 2 || kr < 2 || !has_constant_heads(like, query) ||
        !dim_is_const(q->type.dim[qr - 1], NULL) || keys->type.dim[kr - 1] != k->positions)
        return has_none(k, n, "is no product of queries and keys of constant heads");
    Node *x = of_queries(k, q, like, query),
         *rows = of_keys(k, moved(keys, kr - 1, kr - 2, k->at), like, query);
    return unfolded(k, key_products(k, x, rows, n), like, query, k->context);
}

// A value of each key, the same for all queries: kept like keys of width 1, and multiplied by 1.
static Node *values_of_keys(Kept *k, Node *n, KeyAxes a) {
    const Dim *dims[MAX_RANK], *others = dim_const(k->g, 1), *apart[MAX_RANK];
    int more = a.query < 0 ? -a.query : 0, rank = n->type.rank + more, at = 1;
    int64_t perm[MAX_RANK];
    if (rank > MAX_RANK) return has_none(k, n, "has too many axes");
    a.query += more, a.key += more;
    for (int i = 0; i < rank; i++) dims[i] = i < more ? dim_const(k->g, 1) : n->type.dim[i - more];
    Node *x = build_cast(cursor(k->at), build_reshape(cursor(k->at), n, rank, dims), DT_f32);
    x = moved(x, a.key, 0, k->at);
    for (int i = 0; i < rank; i++) {
        bool other = i != a.query && i != a.key;
        if (other && !dim_is_const(dims[i], NULL)) return has_none(k, n, "has no constant heads");
        perm[i] = i == a.query ? 0 : i == a.key ? rank - 1 : at;
        if (!other) continue;
        apart[at++] = dims[i];
        others = dim_binary(k->g, DIM_MUL, others, dims[i]);
    }
    apart[0] = k->positions, apart[rank - 1] = k->context;
    x = build_reshape(cursor(k->at), x, 2, (const Dim *[]){k->positions, others});
    Node *ones = build_filled(cursor(k->at), DT_f32, 1, 3,
                              (const Dim *[]){k->positions, others, dim_const(k->g, 1)});
    Node *y = build_reshape(cursor(k->at), key_products(k, ones, x, n), rank, apart);
    return build_cast(cursor(k->at), build_transpose(cursor(k->at), y, perm), n->type.dtype);
}

// Computed from counters and constants alone
static bool is_counted(const Node *n, int *steps) {
    if (n->op == OP_constant || n->op == OP_iota || n->op == OP_size) return true;
    if (!n->n_in || --*steps < 0 || op_info[n->op].rows == ROWS_STATE) return false;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && !is_counted(n->in[i], steps)) return false;
    return true;
}

static bool depends_on_counters_alone(const Node *n) {
    int steps = 400;
    return is_counted(n, &steps);
}

// ---------------------------------------------------------------------- the formula, node by node
static Node *again(Kept *k, Node *n, Node *const *in, const char *attr, KeyAxes a) {
    return with_extent(n, in, attr, (Along){a.key, k->context});
}

static Node *elementwise(Kept *k, Node *n, KeyAxes a) {
    Node *in[MOST_OPERANDS];
    if (n->n_in > MOST_OPERANDS) return has_none(k, n, "has too many operands");
    for (int i = 0; i < n->n_in; i++) {
        in[i] = over_keys(k, n->in[i], axes_of_operand(n, i, a));
        if (!in[i]) return NULL;
    }
    return again(k, n, in, NULL, a);
}

static Node *view(Kept *k, Node *n, KeyAxes a) {
    KeyAxes before = a;
    if (!axes_before_view(n, &before)) return has_none(k, n, "moves the axis of the keys");
    Node *x = over_keys(k, n->in[0], before);
    if (!x) return NULL;
    bool shaped = n->op == OP_reshape || n->op == OP_expand;
    return again(k, n, &x, shaped ? "shape" : NULL, a);
}

// Along the axis of the keys a softmax needs nothing of later ones.
static Node *softmax(Kept *k, Node *n, KeyAxes a) {
    double after;
    if (node_axis(n) == a.query) return has_none(k, n, "is over the queries");
    if (node_axis(n) == a.key && (!future_value(n->in[0], a, &after) || after != -INFINITY))
        return has_none(k, n, "weighs later positions");
    Node *x = over_keys(k, n->in[0], a);
    return x ? again(k, n, &x, NULL, a) : NULL;
}

static Node *joined(Kept *k, Node *n, KeyAxes a) {
    Node *in[MOST_OPERANDS];
    if (n->n_in > MOST_OPERANDS || node_axis(n) == a.key || node_axis(n) == a.query)
        return has_none(k, n, "joins keys");
    for (int i = 0; i < n->n_in; i++) {
        in[i] = over_keys(k, n->in[i], a);
        if (!in[i]) return NULL;
    }
    return again(k, n, in, NULL, a);
}

static Node *gathered(Kept *k, Node *n, KeyAxes a) {
    if (node_axis(n) || a.key >= n->in[1]->type.rank || !is_weight(n->in[0]))
        return has_none(k, n, "looks up other values than those of a table");
    Node *index = over_keys(k, n->in[1], a);
    return index ? again(k, n, (Node *[]){n->in[0], index}, NULL, a) : NULL;
}

// The first T of a table that has one for every position
static Node *sliced_table(Kept *k, Node *n, KeyAxes a) {
    int64_t extent;
    bool of_keys = node_axis(n) == a.key && is_weight(n->in[0]) &&
                   dim_is(attr_dim(n, "start"), 0) && attr_int(n, "step", 1) == 1 &&
                   dim_is_const(n->in[0]->type.dim[a.key], &extent) &&
                   extent >= dim_upper(k->context);
    if (!of_keys) return NULL;
    return build_slice(cursor(k->at), n->in[0], (Slice){a.key, dim_const(k->g, 0), k->context, 1});
}

// Products of queries and keys; or weights of heads that a product mixes.
static Node *product(Kept *k, Node *n, KeyAxes a) {
    int rank = n->type.rank;
    KeyAxes of[2];
    Node *in[2];
    for (int i = 0; i < 2; i++) {
        bool summed = i ? a.key == rank - 2 : a.key == rank - 1;
        of[i] = axes_of_operand(n, i, a);
        if (summed) of[i].key = -1;
    }
    bool has_query = varies_along(n->in[1], axes_of_operand(n, 1, a).query) && a.query != rank - 2;
    if (a.key == rank - 1 && !has_query && !depends_on_counters_alone(n->in[1]))
        return scores(k, n->in[0], n->in[1], n, a.query);
    if (a.query == rank - 1 && a.key == rank - 2) {
        Node *q = moved(n->in[1], n->in[1]->type.rank - 1, n->in[1]->type.rank - 2, k->at),
             *keys = moved(n->in[0], n->in[0]->type.rank - 1, n->in[0]->type.rank - 2, k->at),
             *y = scores(k, q, keys, n, rank - 2);
        return y ? moved(y, rank - 1, rank - 2, k->at) : NULL;
    }
    for (int i = 0; i < 2; i++) {
        in[i] = over_keys(k, n->in[i], of[i]);
        if (!in[i]) return NULL;
    }
    return again(k, n, in, NULL, a);
}

// ------------------------------------------------------------------------- Transformer-XL's shift

// Returns the value that got one more column as its first: [.., T, T + 1]; or NULL.
static Node *behind_column(const Kept *k, const Node *n, KeyAxes a) {
    const Dim *one = dim_const(k->g, 1), *wide = dim_binary(k->g, DIM_ADD, k->positions, one);
    int count;
    if (n->type.rank <= a.key || n->type.dim[a.key] != wide || n->type.dim[a.query] != k->positions)
        return NULL;
    if (n->op == OP_concat && n->n_in == 2 && node_axis(n) == a.key &&
        n->in[0]->type.dim[a.key] == one)
        return n->in[1];
    if (n->op != OP_pad || attr_find(n, "interior") == NULL) return NULL;
    const int64_t *interior = attr_ints(n, "interior", &count);
    const Dim *const *low = attr_dims(n, "low", &count), *const *high =
                                                             attr_dims(n, "high", &count);
    for (int i = 0; i < count; i++)
        if (!dim_is(high[i], 0) || interior[i] || !dim_is(low[i], i == a.key)) return NULL;
    return n->in[0];
}

// slice(reshape(a column before x)): of query q and key k the element q, T - 1 - q + k of x
static Node *behind_shift(const Kept *k, const Node *n, KeyAxes a) {
    const Node *turned = n->in[0];
    const Dim *one = dim_const(k->g, 1), *high = dim_binary(k->g, DIM_ADD, k->positions, one);
    bool shifts = n->op == OP_slice && node_axis(n) == a.query && dim_is(attr_dim(n, "start"), 1) &&
                  attr_int(n, "step", 1) == 1 && turned->op == OP_reshape &&
                  turned->type.dim[a.query] == high && turned->type.dim[a.key] == k->positions &&
                  turned->in[0]->type.rank == turned->type.rank;
    return shifts ? behind_column(k, turned->in[0], a) : NULL;
}

// Distances from each query back to each key; 0 for later keys
static Node *distances(Kept *k, const Type *t, KeyAxes a) {
    Node *q = build_iota(cursor(k->at), t->rank, t->dim, a.query),
         *key = build_iota(cursor(k->at), t->rank, t->dim, a.key),
         *d = build_binary(cursor(k->at), OP_sub, q, key);
    return build_binary(cursor(k->at), OP_max, d,
                        build_scalar(cursor_at(k->at, k->at->loc), DT_i32, 0));
}

// Products with embeddings of distances that are counted down: with the embedding of every distance
// in the context, then the element of each key.
static Node *shifted(Kept *k, Node *n, Node *x, KeyAxes a) {
    const Dim *dims[MAX_RANK];
    bool last = a.key == n->type.rank - 1 && a.query == n->type.rank - 2;
    while (last && x->op == OP_reshape && x->in[0]->type.rank >= 2 && keeps_last_two(x))
        x = x->in[0];
    int rank = x->type.rank;
    if (!last || x->op != OP_matmul || !depends_on_counters_alone(x->in[1]))
        return has_none(k, n, "shifts what is no product with embeddings of distances");
    KeyAxes by = {BY_DISTANCE, x->in[1]->type.rank - 1}, of = {rank - 2, rank - 1};
    Node *embeddings = over_keys(k, x->in[1], by);
    if (!embeddings) return NULL;
    Node *all = build_op(cursor(k->at), OP_matmul, 2, (Node *[]){x->in[0], embeddings});
    Node *chosen = build_begin(cursor(k->at), OP_gather_elements, 2,
                               (Node *[]){all, distances(k, &all->type, of)});
    attr_set_int(chosen, "axis", of.key);
    for (int i = 0; i < n->type.rank; i++) dims[i] = i == a.key ? k->context : n->type.dim[i];
    return build_reshape(cursor(k->at), build_end(cursor(k->at), chosen), n->type.rank, dims);
}

// The distance that a counter of keys means; or NULL.
static Node *counted_distance(Kept *k, Node *n, KeyAxes a) {
    const Dim *dims[MAX_RANK];
    if (!counts_down(n, a.key, k->positions))
        return n->op == OP_iota ? has_none(k, n, "is no distance from the query") : NULL;
    for (int i = 0; i < n->type.rank; i++) dims[i] = i == a.key ? k->context : n->type.dim[i];
    return build_cast(cursor(k->at), build_iota(cursor(k->at), n->type.rank, dims, a.key),
                      n->type.dtype);
}

static Node *over_keys_now(Kept *k, Node *n, KeyAxes a) {
    if (is_by_distance(a)) {
        Node *distance = counted_distance(k, n, a);
        if (distance || n->op == OP_iota) return distance;
    }
    Node *x = a.query >= 0 && is_view(n->op) ? behind_shift(k, n, a) : NULL;
    if (x) return shifted(k, n, x, a);
    if (n->type.dim[a.key] != k->positions) return has_none(k, n, "is not of one key each");
    if (n->op == OP_iota) return again(k, n, NULL, "dims", a);
    if (n->op == OP_slice && node_axis(n) == a.key) {
        Node *table = sliced_table(k, n, a);
        if (table) return table;
    }
    if (!varies_along(n, a.query) && !depends_on_counters_alone(n)) return values_of_keys(k, n, a);
    if (is_view(n->op)) return view(k, n, a);
    switch (n->op) {
        case OP_softmax:
            return softmax(k, n, a);
        case OP_matmul:
            return product(k, n, a);
        case OP_concat:
            return joined(k, n, a);
        case OP_gather:
            return gathered(k, n, a);
        default:
            return op_info[n->op].rows == ROWS_EACH && n->op != OP_item
                       ? elementwise(k, n, a)
                       : has_none(k, n, "has no form over kept keys");
    }
}

// The value with as many keys as a cache holds; itself if it is the same for all keys; or NULL.
static Node *over_keys(Kept *k, Node *n, KeyAxes a) {
    if (!varies_along(n, a.key)) {
        bool other = is_by_distance(a) && depends_on_sizes(n);
        return other ? has_none(k, n, "depends on the number of positions") : n;
    }
    for (int i = 0; i < k->n_done; i++)
        if (k->done[i].node == n && k->done[i].axes.query == a.query &&
            k->done[i].axes.key == a.key)
            return k->done[i].by;
    Node *by = over_keys_now(k, n, a);
    if (!by) return NULL;
    if (k->n_done == MOST_VALUES) return has_none(k, n, "is a formula of too many values");
    k->done[k->n_done].node = n, k->done[k->n_done].axes = a, k->done[k->n_done++].by = by;
    return by;
}

// ----------------------------------------------------------------------------- sums over the keys
// The axis other than `key` that has a value for each position, or -1.
static int query_beside(const Kept *k, const Node *n, int key) {
    for (int i = n->type.rank - 1; i >= 0; i--)
        if (i != key && n->type.dim[i] == k->positions) return i;
    return -1;
}

static bool is_zero_after(Kept *k, const Node *n, KeyAxes a) {
    double after;
    if (future_value(n, a, &after) && after == 0) return true;
    has_none(k, n, "weighs later positions");
    return false;
}

static Node *weighted_values(Kept *k, Node *weights, Node *values, const Type *like,
                             const Node *from) {
    int query = like->rank - 2;
    Node *x = of_queries(k, weights, like, query), *rows = of_keys(k, values, like, query);
    Node *n = node_make(k->g, OP_key_sums, from->loc, 2, (Node *[]){x, rows}, k->at);
    attr_set_int(n, "heads", dim_upper(x->type.dim[1]));
    return unfolded(k, inferred(n), like, query, like->dim[like->rank - 1]);
}

// weights [.., T, T] times values [.., T, d]
static Node *sum_of_values(Kept *k, Node *weights, Node *values, const Type *like,
                           const Node *from) {
    int wr = weights->type.rank, vr = values->type.rank;
    KeyAxes a = {query_beside(k, weights, wr - 1), wr - 1}, of_values = {-1, vr - 2};
    if (!is_zero_after(k, weights, a)) return NULL;
    if (a.query != wr - 2 || !has_constant_heads(like, like->rank - 2) ||
        !dim_is_const(values->type.dim[vr - 1], NULL))
        return has_none(k, from, "is no sum of values of constant heads");
    Node *by = over_keys(k, weights, a);
    if (!by) return NULL;
    if (!depends_on_counters_alone(values)) return weighted_values(k, by, values, like, from);
    Node *table = over_keys(k, values, of_values);
    return table ? build_op(cursor(k->at), OP_matmul, 2, (Node *[]){by, table}) : NULL;
}

static Node *sum_by_product(Kept *k, Node *n) {
    Node *a = n->in[0], *b = n->in[1];
    int ar = a->type.rank, br = b->type.rank, rank = n->type.rank;
    if (ar < 2 || br < 2 || rank < 2 || a->type.dim[ar - 1] != k->positions) return NULL;
    if (query_beside(k, a, ar - 1) >= 0) return sum_of_values(k, a, b, &n->type, n);
    if (query_beside(k, b, br - 2) < 0) return NULL;
    Type turned = n->type;  // values^T times weights^T
    turned.dim[rank - 1] = n->type.dim[rank - 2], turned.dim[rank - 2] = n->type.dim[rank - 1];
    Node *y = sum_of_values(k, moved(b, br - 1, br - 2, k->at), moved(a, ar - 1, ar - 2, k->at),
                            &turned, n);
    return y ? moved(y, rank - 1, rank - 2, k->at) : NULL;
}

// The sum of weights, or their maximum, over the keys.
static Node *reduction(Kept *k, Node *n) {
    int count;
    const int64_t *axes = attr_ints(n, "axes", &count);
    if (count != 1 || n->in[0]->type.dim[axes[0]] != k->positions) return NULL;
    KeyAxes a = {query_beside(k, n->in[0], (int)axes[0]), (int)axes[0]};
    double after, wanted = n->op == OP_reduce_max ? -INFINITY : 0;
    if (a.query < 0) return NULL;
    if (!future_value(n->in[0], a, &after) || after != wanted)
        return has_none(k, n, "is of later positions as well");
    Node *x = over_keys(k, n->in[0], a);
    return x ? inferred(node_again(n, n->op, 1, &x, n)) : NULL;
}

// The highest of the weights, as many in every row
static Node *highest(Kept *k, Node *n) {
    int axis = node_axis(n);
    KeyAxes a = {query_beside(k, n->in[0], axis), axis};
    double after;
    if (n->in[0]->type.dim[axis] != k->positions || a.query < 0) return NULL;
    bool few = dim_is_const(attr_dim(n, "extent"), NULL) && attr_int(n, "largest", 1);
    if (!few || !future_value(n->in[0], a, &after) || after != -INFINITY)
        return has_none(k, n, "sorts later positions as well");
    Node *x = over_keys(k, n->in[0], a);
    return x ? inferred(node_again(n, n->op, 1, &x, n)) : NULL;
}

// A mask of attention's scores that hides all later keys
static bool make_causal(Node *n, const Dim *positions) {
    Node *bias = operand_or_null(n, ATTENTION_BIAS);
    double after;
    if (attr_int(n, "causal", 0) || !bias || bias->type.rank < 2 || attr_dim(n, "batch") ||
        n->in[ATTENTION_KEY]->type.dim[0] != positions || n->type.dim[0] != positions)
        return false;
    KeyAxes a = {bias->type.rank - 2, bias->type.rank - 1};
    if (!future_value(bias, a, &after) || after != -INFINITY) return false;
    attr_set_int(n, "causal", 1);
    return true;
}

// A bias of causal attention that depends on the rows of keys, or on queries and keys: over kept
// keys as well. Those of counters alone are for bias_over_keys of incremental/.
static Node *kept_bias(Kept *k, Node *n) {
    Node *bias = operand_or_null(n, ATTENTION_BIAS);
    if (!attr_int(n, "causal", 0) || !bias || bias->type.rank < 2 || attr_dim(n, "batch") ||
        n->type.dim[0] != k->positions || n->in[ATTENTION_KEY]->type.dim[0] != k->positions)
        return NULL;
    KeyAxes a = {bias->type.rank - 2, bias->type.rank - 1};
    bool by_key = varies_along(bias, a.key) && bias->type.dim[a.key] == k->positions;
    return by_key && !depends_on_counters_alone(bias) ? over_keys(k, bias, a) : NULL;
}

// --------------------------------------------------------------------------------------- the whole
static const Dim *positions_of(const Graph *g) {
    const Node *tokens = NULL;
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) == INPUT_SLOTS) return NULL;
        if (input_role(g->inputs[i]) == INPUT_TOKENS) tokens = g->inputs[i];
    }
    bool text = tokens && tokens->type.rank == 1 && tokens->type.dim[0]->kind == DIM_SYMBOL;
    return text ? tokens->type.dim[0] : NULL;
}

// Marks attention whose mask hides all later keys as causal. Returns true if all attention of the
// graph is causal: other graphs encode, run as a whole, and have no code for kept keys.
static bool is_causal(Graph *g, const Dim *positions, bool *changed) {
    bool causal = strcmp(g->name, "encode") != 0;
    EACH_NODE(n, g) {
        if (n->op != OP_attention) continue;
        *changed |= make_causal(n, positions);
        causal &= n->in[ATTENTION_KEY]->type.dim[0] != positions || attr_int(n, "causal", 0);
    }
    return causal;
}

static Node *kept_form(Kept *k, Node *n) {
    k->at = n, k->n_done = 0, k->broke = NULL;
    switch (n->op) {
        case OP_matmul:
            return sum_by_product(k, n);
        case OP_attention:
            return kept_bias(k, n);
        case OP_reduce_sum:
        case OP_reduce_max:
            return reduction(k, n);
        case OP_top_k:
            return highest(k, n);
        case OP_reshape:
            return part_joined_axes(n, k->positions);
        default:
            return NULL;
    }
}

bool keep_keys(Graph *g, PassContext *c) {
    const Dim *positions = positions_of(g);
    bool changed = false;
    if (!positions || !is_causal(g, positions, &changed)) return changed;
    int64_t context = c->context > 0 ? c->context : dim_upper(positions);
    Kept *k = arena_alloc(g->arena, sizeof *k);
    *k = (Kept){.g = g, .positions = positions, .context = dim_const(g, context)};
    EACH_NODE(n, g) {
        if (!node_uses(n)) continue;
        bool attention = n->op == OP_attention;
        Node *by = kept_form(k, n);
        if (by || k->broke) fusion_site(c, "kept keys", n->loc, by ? NULL : k->broke, k->why);
        if (!by) continue;
        if (attention)
            node_set_input(n, ATTENTION_BIAS, by);
        else
            node_become(n, by);
        changed = true;
    }
    return changed;
}
