// Values that are known while importing although they are no constants of the file: what constants,
// or inputs that are fixed for this program (OnnxOptions.fixed), lead to. Only asked for where a
// shape cannot be had without.
#include <string.h>

#include "frontend/onnx/import.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"

enum { MAX_DEPTH = 512, MOST_KNOWN = 1 << 22 };

static const Tensor *known(const OnnxCall *c, Node *n, int depth);

static const Tensor *fixed_input(const OnnxCall *c, const Node *n) {
    const OnnxOptions *o = c->import->options;
    for (int i = 0; i < o->n_fixed; i++)
        if (!strcmp(o->fixed[i].name, n->name)) return o->fixed[i].value;
    return NULL;
}

static bool has_constant_shape(const Type *t) {
    for (int i = 0; i < t->rank; i++)
        if (!dim_is_const(t->dim[i], NULL)) return false;
    return true;
}

// One node by the interpreter, its operands known.
static const Tensor *evaluate(const OnnxCall *c, Node *n, int depth) {
    Node *from = n->op == OP_item ? n->in[0] : n;
    const Tensor **operands = ARENA_ARRAY(c->graph->arena, const Tensor *, from->n_in + 1);
    for (int i = 0; i < from->n_in; i++)
        if (from->in[i] && !(operands[i] = known(c, from->in[i], depth + 1))) return NULL;
    EvalContext *e = eval_new(EVAL_F32);
    const Tensor *result =
        eval_node(e, from, operands, n->op == OP_item ? (int)attr_int(n, "index", 0) : 0);
    Tensor *t = ARENA_NEW(c->graph->arena, Tensor);
    *t = *result;
    void *data = arena_alloc(c->graph->arena, t->bytes + 1);
    if (t->bytes) memcpy(data, result->data, t->bytes);
    t->data = data;
    eval_free(e);
    return t;
}

// Each node once: loops that are written out make long chains.
static const Tensor *known(const OnnxCall *c, Node *n, int depth) {
    if (n->op == OP_constant) return n->value;
    if (n->op == OP_input) return n->graph->outer ? NULL : fixed_input(c, n);
    if (n->op == OP_loop || n->op == OP_if || n->op == OP_random) return NULL;
    if (n->op == OP_state || depth == MAX_DEPTH || !has_constant_shape(&n->type) ||
        !attr_dims_are_constant(n))
        return NULL;
    if (n->type.dtype != DT_tuple && dim_upper(type_count(n->graph, &n->type)) > MOST_KNOWN)
        return NULL;
    const char *key = arena_printf(c->graph->arena, "%p", (void *)n);
    const Tensor *value = map_get(c->import->known, key);
    if (value) return value;
    value = evaluate(c, n, depth);
    if (value) map_put(c->import->known, key, (void *)value);
    return value;
}

const Tensor *onnx_value_known(OnnxCall *c, const OnnxValue *v) {
    return v->node ? known(c, v->node, 0) : NULL;
}

// Elements that are dimensions are known if all of them are constants.
const Tensor *onnx_known(OnnxCall *c, int i) {
    OnnxValue *v = onnx_operand(c, i);
    if (v && !v->node && v->elements) return known(c, onnx_value_node(c, v), 0);
    return v ? onnx_value_known(c, v) : NULL;
}

double onnx_need_float(OnnxCall *c, int i, const char *what) {
    const Tensor *t = onnx_known(c, i);
    if (!t || tensor_count(t) != 1) onnx_fatal(c, "%s must be one constant", what);
    return dtype_load(t->dtype, t->data, 0);
}
