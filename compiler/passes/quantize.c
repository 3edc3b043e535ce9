// quantize: weights to the format of --quant, activations of integer products to int8.
//
//   before   %p = pack(%w) {format="bf16"}                         after   %p = pack(%w) {format="q8_0"}
//            %y = matmul_packed(%x, %p)                                    %xq = quantize_rows(%x) {format="q8_rows"}
//                                                                          %y = matmul_packed(%xq, %p)
//
// Without --quant every product keeps the format that its weights have in the checkpoint; with --activations=f32 its rows stay
// floats. Weights whose rows are no whole
// number of blocks keep theirs, with a warning. Tables that are looked up (embeddings) stay as they are, unless a product reads
// them too (a tied embedding): such a table is kept once, in the product's format (lookup.c).
//
// Needs types, and products packed (fuse); gives nothing new; keeps everything.
#include <string.h>

#include "ir/format.h"
#include "passes/fuse/fuse.h"

PassFunction pass_quantize;

static bool suits_blocks(const Node *pack, const Format *f) {
    int64_t k;
    return dim_is_const(width_dim(pack), &k) && k % f->block == 0;
}

static bool can_quantize(DType t) {
    return t == DT_f32 || t == DT_f16 || t == DT_bf16 || (format_of(t) && format_of(t)->encode);
}

// The rows of x as integers, once for all products that read them
static Node *quantized_rows(Node *before, Node *x) {
    for (int i = 0; i < x->n_users; i++)
        if (x->users[i]->op == OP_quantize_rows) return x->users[i];
    Node *n = node_make(before->graph, OP_quantize_rows, before->loc, 1, &x, before);
    attr_set_string(n, "format", dtype_name(DT_q8_rows));
    return inferred(n);
}

static bool set_format(Node *product, DType format) {
    Node *pack = packed_of(product);
    const Format *f = format_of(format);
    if (!pack || pack->type.dtype == format) return false;
    if (f && !suits_blocks(pack, f)) {
        diag_warning(product->loc, "%%%s stays %s: rows of %lld weights are no whole number of blocks of %d", product->name,
                     dtype_name(pack->type.dtype), (long long)width_dim(pack)->value, f->block);
        return false;
    }
    attr_set_string(pack, "format", dtype_name(format));
    inferred(pack);
    return true;
}

// A product by weights in blocks multiplies integers, unless they stand for floats.
static bool use_integers(Node *product) {
    Node *pack = packed_of(product);
    const Format *f = pack ? format_of(pack->type.dtype) : NULL;
    if (!f || !format_takes_integers(f) || product->in[0]->type.dtype != DT_f32) return false;
    node_set_input(product, 0, quantized_rows(product, product->in[0]));
    return true;
}

bool pass_quantize(Graph *g, PassContext *c) {
    DType format = DT_f32;
    bool changed = false, other = c->quant != NULL;
    if (other && (!dtype_parse(c->quant, &format) || !can_quantize(format)))
        diag_fatal(NO_LOC, "unknown format \"%s\" of --quant\nnote: formats are f32, f16, bf16 and q8_0", c->quant);
    EACH_NODE(n, g) {
        if (n->op != OP_matmul_packed) continue;
        if (other) changed |= set_format(n, format);
        if (!c->float_rows) changed |= use_integers(n);
    }
    if (changed) graph_sort(g);
    c->quantized |= changed;
    return (other && look_up_in_packs(c->module, g, false)) || changed;
}
