// Optimizers' steps, as formulas: each tensor with its gradient and state.
#include <string.h>

#include "frontend/onnx/compose.h"

// r, t, x.., g.., h.. -> x.., h..
void onnx_adagrad(OnnxCall *c, int argument) {
    (void)argument;
    int n = (onnx_count(c) - 2) / 3;
    Node *rate = onnx_node(c, 0), *step = onnx_cast(c, onnx_node(c, 1), rate->type.dtype);
    rate = onnx_formula(c, (Node *[]){rate, step}, 2, "div($0, add(1, mul($1, %a)))", onnx_float(c, "decay_factor", 0));
    for (int i = 0; i < n; i++) {
        Node *x = onnx_node(c, 2 + i), *g = onnx_node(c, 2 + n + i), *h = onnx_node(c, 2 + 2 * n + i);
        g = onnx_formula(c, (Node *[]){g, x}, 2, "add(mul(%a, $1), $0)", onnx_float(c, "norm_coefficient", 0));
        h = onnx_formula(c, (Node *[]){h, g}, 2, "add($0, mul($1, $1))");
        Node *in[] = {x, rate, g, h};
        onnx_result(c, i,
                    onnx_formula(c, in, 4, "sub($0, div(mul($1, $2), add(sqrt($3), %a)))", onnx_float(c, "epsilon", 1e-6f)));
        onnx_result(c, n + i, h);
    }
}

// r, t, x.., g.., v.., h.. -> x.., v.., h..
void onnx_adam(OnnxCall *c, int argument) {
    (void)argument;
    int n = (onnx_count(c) - 2) / 4;
    double alpha = onnx_float(c, "alpha", 0.9f), beta = onnx_float(c, "beta", 0.999f);
    Node *given = onnx_node(c, 0), *step = onnx_cast(c, onnx_node(c, 1), given->type.dtype);
    Node *corrected = onnx_formula(c, (Node *[]){given, step}, 2,
                                   "mul($0, div(sqrt(sub(1, pow(%a, $1))), sub(1, pow(%a, $1))))", beta, alpha);
    Node *rate = onnx_formula(c, (Node *[]){given, step, corrected}, 3, "where(greater($1, 0), $2, $0)");
    for (int i = 0; i < n; i++) {
        Node *x = onnx_node(c, 2 + i), *g = onnx_node(c, 2 + n + i), *v = onnx_node(c, 2 + 2 * n + i),
             *h = onnx_node(c, 2 + 3 * n + i);
        g = onnx_formula(c, (Node *[]){g, x}, 2, "add(mul(%a, $1), $0)", onnx_float(c, "norm_coefficient", 0));
        v = onnx_formula(c, (Node *[]){v, g}, 2, "add(mul(%a, $0), mul(%a, $1))", alpha, 1 - alpha);
        h = onnx_formula(c, (Node *[]){h, g}, 2, "add(mul(%a, $0), mul(%a, mul($1, $1)))", beta, 1 - beta);
        Node *in[] = {x, rate, v, h};
        x = onnx_formula(c, in, 4, "sub($0, div(mul($1, $2), add(sqrt($3), %a)))", onnx_float(c, "epsilon", 1e-6f));
        onnx_result(c, i, ONNX_FORMULA(c, x, "mul(%a, $0)", 1 - onnx_float(c, "norm_coefficient_post", 0)));
        onnx_result(c, n + i, v);
        onnx_result(c, 2 * n + i, h);
    }
}

// r, t, x.., g.., v.. -> x.., v..
void onnx_momentum(OnnxCall *c, int argument) {
    (void)argument;
    int n = (onnx_count(c) - 2) / 3;
    double alpha = onnx_float(c, "alpha", 0), beta = onnx_float(c, "beta", 0);
    bool nesterov = !strcmp(onnx_string(c, "mode", "standard"), "nesterov");
    Node *rate = onnx_node(c, 0), *step = onnx_cast(c, onnx_node(c, 1), rate->type.dtype);
    Node *weight = ONNX_FORMULA(c, step, "where(greater($0, 0), %a, 1)", beta);
    for (int i = 0; i < n; i++) {
        Node *x = onnx_node(c, 2 + i), *g = onnx_node(c, 2 + n + i), *v = onnx_node(c, 2 + 2 * n + i);
        g = onnx_formula(c, (Node *[]){g, x}, 2, "add(mul(%a, $1), $0)", onnx_float(c, "norm_coefficient", 0));
        v = onnx_formula(c, (Node *[]){v, g, weight}, 3, "add(mul(%a, $0), mul($2, $1))", alpha);
        Node *in[] = {x, rate, v, g};
        onnx_result(c, i,
                    nesterov ? onnx_formula(c, in, 4, "sub($0, mul($1, add($3, mul(%a, $2))))", alpha)
                             : onnx_formula(c, in, 4, "sub($0, mul($1, $2))"));
        onnx_result(c, n + i, v);
    }
}
