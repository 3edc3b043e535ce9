// quantize: weights to the format of --quant, activations of integer products to int8.
//
//   before   %p = pack(%w) {format="bf16"}                         after   %p = pack(%w) {format="q8_0"}
//            %y = matmul_packed(%x, %p)                                    %xq = quantize_rows(%x) {format="q8_0"}
//                                                                          %y = matmul_packed(%xq, %p)
//
// Without --quant every product keeps the format that its weights have in the checkpoint. Weights whose rows are no whole
// number of blocks keep theirs, with a warning. Tables that are looked up (embeddings) stay as they are, unless a product reads
// them too (a tied embedding): such a table is kept once, in the product's format (lookup.c).
//
// Needs types, and products packed (fuse); gives nothing new; keeps everything.
#include <string.h>

#include "passes/fuse.h"

PassFunction pass_quantize;

enum { BLOCK = 32 };

static bool suits_blocks(const Node *pack) {
    int64_t k;
    return dim_is_const(width_dim(pack), &k) && k % BLOCK == 0;
}

static Node *quantized_rows(Node *before, Node *x, const char *format) {
    for (int i = 0; i < x->n_users; i++) {
        if (x->users[i]->op == OP_quantize_rows && !strcmp(attr_string(x->users[i], "format", ""), format)) return x->users[i];
    }
    Node *n = node_make(before->graph, OP_quantize_rows, before->loc, 1, &x, before);
    attr_set_string(n, "format", format);
    return inferred(n);
}

static bool set_format(Node *product, DType format) {
    Node *pack = packed_of(product);
    if (!pack || pack->type.dtype == format) return false;
    if (format == DT_q8_0 && !suits_blocks(pack)) {
        diag_warning(product->loc, "%%%s stays %s: rows of %lld weights are no whole number of blocks of %d", product->name,
                     dtype_name(pack->type.dtype), (long long)width_dim(pack)->value, BLOCK);
        return false;
    }
    attr_set_string(pack, "format", dtype_name(format));
    inferred(pack);
    return true;
}

bool pass_quantize(Graph *g, PassContext *c) {
    DType format;
    bool changed = false;
    if (!c->quant) return false;
    if (!dtype_parse(c->quant, &format) || (format != DT_f32 && format != DT_f16 && format != DT_bf16 && format != DT_q8_0))
        diag_fatal(NO_LOC, "unknown format \"%s\" of --quant\nnote: formats are f32, f16, bf16 and q8_0", c->quant);
    EACH_NODE(n, g) {
        if (n->op != OP_matmul_packed) continue;
        changed |= set_format(n, format);
        bool blocks = packed_of(n) && packed_of(n)->type.dtype == DT_q8_0;
        if (!blocks || n->in[0]->type.dtype == DT_q8_0) continue;
        node_set_input(n, 0, quantized_rows(n, n->in[0], "q8_0"));
        changed = true;
    }
    if (changed) graph_sort(g);
    c->quantized |= changed;
    return look_up_in_packs(c->module, g, false) || changed;
}
