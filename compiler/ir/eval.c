// Reference semantics: to come.
#include "ir.h"
void eval_(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_attention(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_cache_append(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_cast(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_concat(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_constant(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_elementwise(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_expand(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_gather(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_given(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_iota(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_item(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_layer_normalization(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_matmul(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_matmul_packed(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_pack(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_quantize_rows(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_reduce(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_reshape(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_rms_normalization(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_rotary(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_select_rows(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_skip_layer_normalization(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_skip_rms_normalization(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_slice(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_softmax(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
void eval_transpose(EvalContext *c, Node *n) {
    (void)c;
    diag_fatal(n->loc, "%s has no evaluation yet", op_info[n->op].name);
}
