// quantize: weights to the format of --quant, caches to that of --kv, activations of integer
// products to int8.
//
//   before   %p = pack(%w) {format="bf16"}                         after   %p = pack(%w) {format="q8_0"}
//            %y = matmul_packed(%x, %p)                                    %xq = quantize_rows(%x) {format="q8_rows"}
//                                                                          %y = matmul_packed(%xq, %p)
//            %k = state {kind="key"} : f32[S, 3, 512, 64]                   %k = state {kind="key"} : q8_0[S, 3, 512, 64]
//
// Without --quant every product keeps the format that its weights have in the checkpoint; with
// --activations=f32 its rows stay floats. recipe.c decides the format of each matrix; rows that are
// no whole number of its blocks take a format of blocks of 32, or keep theirs. A router keeps its
// format unless a rule names it: its tensor is named like one, or its product selects experts.
// Tables of tokens take the format of --quant too; one that a product reads (a tied embedding) is
// stored once, in the product's format (lookup.c).
//
// Needs types, and products packed (fuse); gives nothing new; keeps everything.
#include <string.h>

#include "ir/format.h"
#include "ir/operands.h"
#include "passes/fuse/fuse.h"
#include "passes/pass.h"
#include "passes/recipe.h"

PassFunction pass_quantize;

// What became of the matrices, for one message each
typedef struct {
    int kept, remade, fell_back;
    DType wanted, format;  // of the first that fell back
    int64_t depth;
} Outcome;

// Blocks that a file has are not quantized again unless asked for: it loses twice.
static bool stays_in_blocks(const Node *pack, DType format, const PassContext *c, Outcome *o) {
    bool blocks = false;
    for (int i = 0; i < pack->n_in; i++) blocks |= dtype_is_block(pack->in[i]->type.dtype);
    if (!blocks || format == DT_f32) return false;
    if (c->requantize) return o->remade++, false;
    return o->kept++, true;
}

static bool set_format(Node *product, const PassContext *c, Outcome *o) {
    Node *pack = packed_of(product);
    if (!pack || product->in[0]->type.dtype == DT_i8_rows) return false;
    int64_t depth = width_dim(pack)->value;
    DType wanted,
        format = quant_format(c->quant, pack->in[0], depth, (MatrixUse)pack->mark, &wanted);
    if (pack->type.dtype == format || wanted == DT_COUNT) return false;
    if (format == DT_COUNT) {
        diag_warning(product->loc,
                     "%%%s stays %s: rows of %lld weights are no whole number of blocks of %d",
                     product->name, dtype_name(pack->type.dtype), (long long)depth,
                     format_of(wanted)->block < 32 ? format_of(wanted)->block : 32);
        return false;
    }
    if (stays_in_blocks(pack, format, c, o)) return false;
    if (format != wanted && !o->fell_back++)
        o->wanted = wanted, o->format = format, o->depth = depth;
    attr_set_string(pack, "format", dtype_name(format));
    inferred(pack);
    return true;
}

static void tell(const Outcome *o) {
    if (o->fell_back)
        diag_warning(NO_LOC,
                     "%d matri%s cannot be as --quant says: rows of %lld weights are no whole "
                     "number of blocks of %d, so %s becomes %s",
                     o->fell_back, o->fell_back > 1 ? "ces" : "x", (long long)o->depth,
                     format_of(o->wanted)->block, dtype_name(o->wanted), dtype_name(o->format));
    if (o->remade)
        diag_warning(NO_LOC,
                     "%d matrices that the file has in blocks are quantized again: what the file "
                     "lost stays lost",
                     o->remade);
    if (o->kept)
        diag_warning(NO_LOC,
                     "%d matrices stay in the file's blocks\nhint: --requantize quantizes them "
                     "again, which loses twice",
                     o->kept);
}

// Blocks along the columns of a product take more room than in the file (pack_format).
static void tell_of_floats(const Graph *g) {
    uint64_t before = 0, after = 0;
    int matrices = 0;
    EACH_NODE(n, g) {
        if (n->op != OP_pack || n->type.dtype != DT_f32 || !attr_int(n, "transposed", 0)) continue;
        for (int i = 0; i < n->n_in; i++) {
            const Tensor *t = n->in[i]->op == OP_constant ? n->in[i]->value : NULL;
            if (!t || !dtype_is_block(t->dtype)) continue;
            matrices++, before += t->bytes, after += dtype_bytes(DT_f32, tensor_count(t));
        }
    }
    if (matrices)
        diag_warning(NO_LOC,
                     "%d matri%s become%s floats, %.1f times as large: a product sums across the "
                     "file's blocks, which no format "
                     "of blocks holds without loss",
                     matrices, matrices > 1 ? "ces" : "x", matrices > 1 ? "" : "s",
                     (double)after / (double)before);
}

// A product by weights in blocks multiplies integers, unless its format has float values.
static bool use_integers(Node *product, const PassContext *c) {
    Node *pack = packed_of(product);
    const Format *f = pack ? format_of(pack->type.dtype) : NULL;
    if (!f || !format_takes_integers(f) || product->in[0]->type.dtype != DT_f32) return false;
    if (c->file_rows && pack->in[0]->type.dtype == f->dtype) return false;
    node_set_input(product, 0, rows_in_blocks(cursor(product), product->in[0], DT_q8_rows));
    return true;
}

// Cached keys and values are rounded when they are appended, and every reader sees the rounded
// values.
static bool set_cache_format(Node *state, const char *format) {
    DType t;
    bool keys = !strcmp(attr_string(state, "kind", ""), "key"),
         values = !strcmp(attr_string(state, "kind", ""), "value");
    if (!format || !dtype_parse(format, &t) || state->type.dtype != DT_f32 || t == DT_f32 ||
        !(keys || values))
        return false;
    state->type.dtype = t;
    for (int i = 0; i < state->n_users; i++)
        if (state->users[i]->op == OP_cache_append) inferred(state->users[i]);
    return true;
}

// Without --kv: half floats where products round their rows to int8 anyway, which costs a hundred
// times as much. What two graphs share has the format that both know without the other: f32.
static const char *usual_cache_format(const Graph *g) {
    bool integers = false;
    EACH_NODE(n, g) {
        if (n->op == OP_state && attr_int(n, "memory", 0)) return NULL;
        integers |= is_packed_product(n) && n->in[0]->type.dtype == DT_q8_rows;
    }
    return integers ? "f16" : NULL;
}

static bool set_cache_formats(Graph *g, const char *format) {
    bool changed = false;
    EACH_NODE(n, g)
        if (n->op == OP_state) changed |= set_cache_format(n, format);
    return changed;
}

bool pass_quantize(Graph *g, PassContext *c) {
    bool changed = false, cached;
    Outcome outcome = {0};
    if (c->quant) mark_routers(g);
    EACH_NODE(n, g) {
        if (n->op == OP_pack) attr_remove(n, "quant");
        if (!is_packed_product(n)) continue;
        if (c->quant) changed |= set_format(n, c, &outcome);
        if (!c->float_rows) changed |= use_integers(n, c);
    }
    tell(&outcome);
    tell_of_floats(g);
    cached = set_cache_formats(g, c->cache ? c->cache : usual_cache_format(g));
    if (changed) graph_sort(g);
    if (c->quant) {
        changed |= look_up_in_packs(c->module, g, false);
        changed |= pack_tables(g, c->quant);
    }
    c->quantized |= changed;
    return changed || cached;
}
