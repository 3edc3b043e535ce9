// Tables that are also weights: their rows are read from the panels, so that an embedding tied to
// the output is stored once.
//
//   before   %p = pack(%w) {format="q8_0"}                         after   %p = pack(%w) {format="q8_0"}
//            %g = gather(%w, %tokens) : bf16[R, 192]                       %g = gather(%p, %tokens) : q8_0[R, 192]
//            %x = cast(%g) {to=f32}                                        %x = cast(%g) {to=f32}
//
// The values are those of the pack's format: if the table has another format, this changes
// arithmetic (quantize), otherwise only the memory (layout). Only lookups by an input whose rows
// end up in f32 are moved: these have a kernel. A pack of another graph counts as well: an encoder
// that looks up its decoder's weights gets a pack of its own, which lowering finds to be equal.
#include "ir/format.h"
#include "passes/fuse/fuse.h"
#include "passes/pass.h"
#include "passes/recipe.h"

static bool is_cast_to_f32(const Node *n) { return n->op == OP_cast && n->type.dtype == DT_f32; }

static bool is_token_list(const Node *n) {
    return n->op == OP_input && n->type.rank == 1 && n->type.dtype == DT_i32;
}

static bool is_table_lookup(Node *n) {
    return n->op == OP_gather && n->in[0]->op == OP_constant && n->in[0]->type.rank == 2 &&
           attr_int(n, "axis", 0) == 0 && is_token_list(n->in[1]) &&
           (n->type.dtype == DT_f32 || (node_only_user(n) && is_cast_to_f32(node_only_user(n))));
}

static Node *pack_of_table(const Node *table) {
    for (int i = 0; i < table->n_users; i++) {
        Node *n = table->users[i];
        if (n->op == OP_pack && n->n_in == 1 && !attr_int(n, "transposed", 0)) return n;
    }
    return NULL;
}

static bool same_data(const Node *a, const Node *b) {
    const Tensor *x = a->value, *y = b->value;
    return x && y && x->data == y->data && x->dtype == y->dtype && x->bytes == y->bytes;
}

// A pack like the one that another graph of the module makes of the same data.
static Node *pack_like_elsewhere(const Module *m, Node *table) {
    for (int i = 0; m && i < m->n_graphs; i++) {
        if (m->graphs[i] == table->graph) continue;
        EACH_NODE(n, m->graphs[i]) {
            if (n->op != OP_constant || !same_data(n, table) || !pack_of_table(n)) continue;
            Node *pack = node_make(table->graph, OP_pack, table->loc, 1, &table, table->next);
            attr_copy(pack, pack_of_table(n));
            return inferred(pack);
        }
    }
    return NULL;
}

// Rows in blocks are read from panels, whether a product reads them too or not.
static Node *pack_alone(Node *table, DType format) {
    Node *pack = node_make(table->graph, OP_pack, table->loc, 1, &table, table->next);
    attr_set_string(pack, "format", dtype_name(format));
    return inferred(pack);
}

// A lookup in f32 stays one for its users; the cast of a lookup that has become f32 is none.
static void keep_f32(Node *lookup, bool was_f32) {
    Node *user = node_only_user(lookup);
    if (lookup->type.dtype == DT_f32 && !was_f32) node_replace(user, lookup);
    if (lookup->type.dtype == DT_f32 || !was_f32) return;
    Node *cast = build_cast(cursor_behind(lookup), lookup, DT_f32);
    node_replace(lookup, cast);
    node_set_input(cast, 0, lookup);
}

static void look_up(Node *lookup, Node *pack) {
    bool was_f32 = lookup->type.dtype == DT_f32;
    node_set_input(lookup, 0, pack);
    inferred(lookup);
    keep_f32(lookup, was_f32);
}

bool pack_tables(Graph *g, const QuantRules *rules) {
    bool changed = false;
    EACH_NODE(n, g) {
        DType wanted;
        if (!is_table_lookup(n) || input_role(n->in[1]) != INPUT_TOKENS ||
            dtype_is_block(n->in[0]->type.dtype))
            continue;
        DType format =
            quant_format(rules, n->in[0], width_dim(n->in[0])->value, MATRIX_LOOKED_UP, &wanted);
        if (!dtype_is_block(format)) continue;
        Node *pack = pack_of_table(n->in[0]);
        look_up(n, pack ? pack : pack_alone(n->in[0], format));
        changed = true;
    }
    if (!changed) return false;
    graph_sort(g);
    graph_sweep(g);
    return true;
}

// Rows of a table in blocks that was made floats are rows in blocks that are made floats.
static bool cast_behind_lookup(Node *n) {
    Node *cast = n->op == OP_gather && attr_int(n, "axis", 0) == 0 ? n->in[0] : NULL;
    Node *table = cast && is_cast_to_f32(cast) ? cast->in[0] : NULL;
    if (!table || table->op != OP_constant || table->type.rank != 2 ||
        !dtype_is_block(table->type.dtype) || !is_token_list(n->in[1]))
        return false;
    Node *rows = build_gather(cursor_behind(n), table, n->in[1], 0);
    node_replace(n, build_cast(cursor_behind(rows), rows, DT_f32));
    return true;
}

bool look_up_in_packs(const Module *m, Graph *g, bool same_format) {
    bool changed = false;
    EACH_NODE(n, g) changed |= cast_behind_lookup(n);
    EACH_NODE(n, g) {
        if (!is_table_lookup(n)) continue;
        Node *pack = pack_of_table(n->in[0]);
        if (!pack) pack = pack_like_elsewhere(m, n->in[0]);
        if (!pack && same_format && dtype_is_block(n->in[0]->type.dtype))
            pack = pack_alone(n->in[0], n->in[0]->type.dtype);
        if (!pack || (pack->type.dtype == n->type.dtype) != same_format) continue;
        look_up(n, pack);
        changed = true;
    }
    if (!changed) return false;
    graph_sort(g);
    graph_sweep(g);
    return true;
}
