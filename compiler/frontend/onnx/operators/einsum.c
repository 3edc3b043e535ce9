// Einsum: operands are joined two by two into one product of matrices each, then remaining axes are
// summed and ordered.
#include <ctype.h>
#include <string.h>

#include "frontend/onnx/operators/compose.h"

// A value whose axes have names. "..." means the axes '0', '1', ...: aligned at the last.
typedef struct Named {
    Node *node;
    char axis[MAX_RANK + 1];
} Named;

static bool has(const char *names, char name) { return name && strchr(names, name); }

// One term of the equation, "..." spelled out for `ellipsis` axes.
static void read_term(OnnxCall *c, const char **at, int ellipsis, char *names) {
    int n = 0;
    for (; **at && **at != ',' && **at != '-'; (*at)++) {
        if (**at == ' ') continue;
        if (!strncmp(*at, "...", 3)) {
            for (int i = 0; i < ellipsis && n < MAX_RANK; i++) names[n++] = (char)('0' + i);
            *at += 2;
        } else if (isalpha((unsigned char)**at) && n < MAX_RANK) {
            names[n++] = **at;
        } else {
            onnx_fatal(c, "the equation is wrong at \"%s\"", *at);
        }
    }
    names[n] = 0;
}

// How many axes "..." has in a term.
static int ellipsis_of(const char *term, int rank) {
    int letters = 0;
    bool found = false;
    for (; *term && *term != ',' && *term != '-'; term++) {
        if (isalpha((unsigned char)*term)) letters++;
        if (*term == '.') found = true;
    }
    return found && rank > letters ? rank - letters : 0;
}

static Node *drop_axis(OnnxCall *c, Node *x, int axis) {
    const Dim *dims[MAX_RANK];
    for (int i = 0, n = 0; i < x->type.rank; i++)
        if (i != axis) dims[n++] = x->type.dim[i];
    return onnx_shape_to(c, x, x->type.rank - 1, dims);
}

// Axes of the same name become one: the diagonal, chosen by a gather.
static void take_diagonals(OnnxCall *c, Named *x) {
    for (int i = 0; x->axis[i]; i++) {
        char *again = strchr(x->axis + i + 1, x->axis[i]);
        if (!again) continue;
        int j = (int)(again - x->axis);
        Type shape = x->node->type;
        shape.dim[j] = dim_const(c->graph, 1);
        Node *index = onnx_cast(c, onnx_index_along(c, &shape, i), DT_i64);
        Node *n = onnx_emit_make(c, OP_gather_elements, 2, (Node *[]){x->node, index});
        attr_set_int(n, "axis", j);
        x->node = drop_axis(c, onnx_finish(c, n), j);
        memmove(again, again + 1, strlen(again));
        i--;
    }
}

// Sums over the axes that neither the result nor another operand has.
static void sum_unused(OnnxCall *c, Named *x, const char *result, const char *other) {
    int64_t axes[MAX_RANK];
    int n = 0, kept = 0;
    char names[MAX_RANK + 1];
    for (int i = 0; x->axis[i]; i++) {
        if (has(result, x->axis[i]) || has(other, x->axis[i]))
            names[kept++] = x->axis[i];
        else
            axes[n++] = i;
    }
    names[kept] = 0;
    if (n) x->node = onnx_reduce_over(c, OP_reduce_sum, x->node, axes, n, false);
    strcpy(x->axis, names);
}

static void reorder(OnnxCall *c, Named *x, const char *names) {
    int64_t perm[MAX_RANK];
    for (int i = 0; names[i]; i++) perm[i] = strchr(x->axis, names[i]) - x->axis;
    if (strcmp(x->axis, names)) x->node = onnx_permute(c, x->node, perm);
    strcpy(x->axis, names);
}

// Names of `x` of one kind: in the other operand or not, in the result or not.
static void names_of(const Named *x, const char *other, const char *result, int kind, char *names) {
    int n = 0;
    for (int i = 0; x->axis[i]; i++) {
        bool shared = has(other, x->axis[i]), kept = has(result, x->axis[i]);
        if ((kind == 'b' && shared && kept) || (kind == 'k' && shared && !kept) ||
            (kind == 'm' && !shared))
            names[n++] = x->axis[i];
    }
    names[n] = 0;
}

static const Dim *count_of(OnnxCall *c, const Named *x, const char *names) {
    const Dim *count = dim_const(c->graph, 1);
    for (; *names; names++)
        count = dim_binary(c->graph, DIM_MUL, count,
                           x->node->type.dim[strchr(x->axis, *names) - x->axis]);
    return count;
}

// The batch as one axis, where the product would have too many with one for each of its names.
static int dims_of_batch(OnnxCall *c, const Named *x, const char *names, const Dim **dims) {
    int n = (int)strlen(names);
    if (!n || n + 2 > MAX_RANK) return dims[0] = count_of(c, x, names), 1;
    for (int i = 0; i < n; i++) dims[i] = x->node->type.dim[strchr(x->axis, names[i]) - x->axis];
    return n;
}

// At most MAX_RANK in all: the caller has seen to it.
static void join_names(char *names, const char *a, const char *b, const char *last) {
    const char *parts[] = {a, b, last};
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (const char *p = parts[i]; *p && n < MAX_RANK; p++) names[n++] = *p;
    names[n] = 0;
}

// [batch.., m.., k..] by [batch.., k.., n..]
static Named join(OnnxCall *c, Named a, Named b, const char *result) {
    char batch[MAX_RANK + 1], inner[MAX_RANK + 1], left[MAX_RANK + 1], right[MAX_RANK + 1],
        order[MAX_RANK + 1];
    sum_unused(c, &a, result, b.axis), sum_unused(c, &b, result, a.axis);
    names_of(&a, b.axis, result, 'b', batch), names_of(&a, b.axis, result, 'k', inner);
    names_of(&a, b.axis, result, 'm', left), names_of(&b, a.axis, result, 'm', right);
    if (strlen(batch) + strlen(left) + strlen(right) > MAX_RANK)
        onnx_fatal(c, "a product has more than %d axes", MAX_RANK);
    Named y;
    const Dim *dims[MAX_RANK];
    int n = 0;
    join_names(y.axis, batch, left, right);
    for (int i = 0; y.axis[i]; i++) {
        const Named *from = has(a.axis, y.axis[i]) ? &a : &b;
        dims[n++] = from->node->type.dim[strchr(from->axis, y.axis[i]) - from->axis];
    }
    const Dim *k = count_of(c, &a, inner), *shape_a[MAX_RANK], *shape_b[MAX_RANK];
    int outer = dims_of_batch(c, &a, batch, shape_a);
    for (int i = 0; i < outer; i++) shape_b[i] = shape_a[i];
    bool apart = *batch && left[0] &&
                 outer + (int)strlen(left) + 1 <= MAX_RANK;  // axes of `a` alone broadcast
    const char *last = apart ? left + strlen(left) - 1 : left;
    for (const char *name = left; name < last; name++, outer++) {
        shape_a[outer] = count_of(c, &a, (char[]){*name, 0});
        shape_b[outer] = dim_const(c->graph, 1);
    }
    shape_a[outer] = count_of(c, &a, last), shape_a[outer + 1] = k;
    shape_b[outer] = k, shape_b[outer + 1] = count_of(c, &b, right);
    join_names(order, batch, left, inner), reorder(c, &a, order);
    join_names(order, batch, inner, right), reorder(c, &b, order);
    y.node = ONNX_BINARY(c, OP_matmul, onnx_shape_to(c, a.node, outer + 2, shape_a),
                         onnx_shape_to(c, b.node, outer + 2, shape_b));
    y.node = onnx_shape_to(c, y.node, n, dims);
    return y;
}

// Without "->": names that occur once, in alphabetical order.
static void implied_result(const char *equation, int ellipsis, char *names) {
    int n = 0;
    for (int i = 0; i < ellipsis && n < MAX_RANK; i++) names[n++] = (char)('0' + i);
    for (char name = 'A'; name <= 'z'; name++) {
        const char *first = isalpha((unsigned char)name) ? strchr(equation, name) : NULL;
        if (first && !strchr(first + 1, name) && n < MAX_RANK) names[n++] = name;
    }
    names[n] = 0;
}

void onnx_einsum(OnnxCall *c, int argument) {
    (void)argument;
    const char *equation = onnx_string(c, "equation", ""), *at = equation,
               *arrow = strstr(equation, "->");
    int n = onnx_count(c), most = 0;
    Named *in = ARENA_ARRAY(c->graph->arena, Named, n);
    DType narrow = onnx_node(c, 0)->type.dtype;
    char result[MAX_RANK + 1], later[64 * MAX_RANK] = "";
    for (int i = 0; i < n; i++) {
        in[i].node = onnx_cast(c, onnx_node(c, i), onnx_wide(narrow));
        int ellipsis = ellipsis_of(at, in[i].node->type.rank);
        if (ellipsis > most) most = ellipsis;
        read_term(c, &at, ellipsis, in[i].axis);
        if ((int)strlen(in[i].axis) != in[i].node->type.rank || (*at == ',') != (i + 1 < n))
            onnx_fatal(c, "the equation \"%s\" does not fit operand %d", equation, i);
        if (*at == ',') at++;
        take_diagonals(c, &in[i]);
    }
    if (arrow)
        at = arrow + 2, read_term(c, &at, most, result);
    else
        implied_result(equation, most, result);
    Named y = in[0];
    for (int i = 1; i < n; i++) {
        strcpy(later, result);
        for (int j = i + 1; j < n && j < 64; j++) strcat(later, in[j].axis);
        y = join(c, y, in[i], later);
    }
    sum_unused(c, &y, result, "");
    for (int i = 0; result[i]; i++)
        if (!has(y.axis, result[i]))
            onnx_fatal(c, "no operand has the axis %c of the result", result[i]);
    reorder(c, &y, result);
    onnx_result(c, 0, onnx_cast(c, y.node, narrow));
}
