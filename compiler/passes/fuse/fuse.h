// Common declarations of fuse/.
#ifndef BURIN_PASSES_FUSE_H
#define BURIN_PASSES_FUSE_H
#include "passes/attempt.h"
#include "passes/pass.h"
#include "passes/simplify/simplify.h"
#include "passes/views.h"

bool fuse_attention(Node *softmax, Attempt *);  // attention.c: every softmax is a site
bool turn_scores(Graph *);                      // turned.c: before, transposes move to the operands
bool keep_keys(Graph *, PassContext *);         // kept_keys.c: causal weights that are no attention
bool split_products(Graph *);                   // split.c: slices of a product become products
bool fuse_skip_norms(Graph *);                  // norm.c
bool integer_products(Graph *);  // integers.c: products of bytes become packed ones of integers
bool keep_floats(Graph *);       // bytes.c: whole numbers that pass through bytes
bool pack_weights(Graph *);      // matmul.c: matmul by weights becomes matmul_packed
void label_packs(Graph *,
                 const QuantRules *);  // matmul.c: those of other formats by --quant stay apart
void mark_routers(Graph *);            // matmul.c: the mark of each pack is its MatrixUse
bool fuse_gates(Graph *);              // elementwise.c: gate + up
bool fuse_epilogues(Graph *);          // then epilogues, then chains
bool merge_projections(Graph *);       // matmul.c: products of one value become one
bool split_extremes(Graph *);          // extremes.c
bool fuse_elementwise(Graph *);
bool fuse_channels(Graph *);  // channels.c: epilogues of convolutions
// lookup.c: tables that are also packed, by any graph of the module, in their own format or in
// another
bool look_up_in_packs(const Module *, Graph *, bool same_format);
bool pack_tables(
    Graph *,
    const QuantRules *);  // those of tokens that no product reads, in the format of --quant

Node *weights_behind(Node *,
                     bool *swapped);  // the constant matrix that a product multiplies by, or NULL
DType pack_format(const Node *weights, bool transposed);  // what pack keeps them in without loss
Node *rows_in_blocks(Builder, Node *x,
                     DType);  // the rows of x as q8_rows or i8_rows, once for all that read them
Node *packed_of(Node *);      // the pack of a matmul_packed
bool may_share_pack(const Node *a,
                    const Node *b);  // two products of one value whose weights are of one kind
Node *gated_product(Node *root, Node *gate, Node *up,
                    const Expr *);  // not inferred: its other operands are still to come
#endif
