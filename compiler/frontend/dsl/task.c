// What a decoder gives whose class in config.json is no language model. Descriptions end with logits over the vocabulary:
//
//   LlamaModel                      the states that these are made of
//   LlamaForSequenceClassification  labels of the text: score.weight, from the last token that is no padding
//   LlamaForTokenClassification     labels of each token
//   LlamaForQuestionAnswering       where an answer begins, and where it ends
//
//   before  graph decode(%tokens: i32[T]) -> ("logits"=matmul(%x, %head))
//   after   graph encode(%input_ids: i32[T]) -> ("last_hidden_state"=%x)
//
// The encoder and decoder of a base model become one graph of tensors. The head of the language model need not be there.
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "util/text.h"

typedef enum { TASK_TEXT, TASK_STATES, TASK_SEQUENCE, TASK_TOKENS, TASK_ANSWER } Task;

static const char *class_of(const Elaborator *e) {
    const Checkpoint *c = e->options->checkpoint;
    return c ? json_string_value(json_array_get(json_object_get(c->config, "architectures"), 0)) : NULL;
}

static Task task_of(const Elaborator *e) {
    static const struct {
        const char *end;
        Task task;
    } tasks[] = {{"ForSequenceClassification", TASK_SEQUENCE},
                 {"ForTokenClassification", TASK_TOKENS},
                 {"ForQuestionAnswering", TASK_ANSWER},
                 {"Model", TASK_STATES}};
    static const char *const of_text[] = {"HeadModel", "HeadsModel", "MTModel"};
    const char *name = class_of(e);
    if (e->options->states) return TASK_STATES;
    for (size_t i = 0; i < sizeof of_text / sizeof *of_text; i++)
        if (!name || text_ends_with(name, of_text[i])) return TASK_TEXT;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (text_ends_with(name, tasks[i].end)) return tasks[i].task;
    return TASK_TEXT;
}

bool task_joins_graphs(const Elaborator *e) { return task_of(e) == TASK_STATES; }

static int logits_of(const Graph *g) {
    for (int i = 0; i < g->n_outputs; i++)
        if (!strcmp(g->output_names[i], "logits")) return i;
    return -1;
}

static bool is_scalar(const Node *n) { return n->op == OP_constant && n->type.rank == 0; }

// What the last product takes; T5's scale in front of it is the head's. NULL when there is none.
static Node *states_of(const Node *logits) {
    const Node *n = logits;
    while (n && n->op != OP_matmul) {
        const Node *next = NULL;
        for (int i = 0; i < n->n_in && !next; i++)
            if (n->in[i] && type_equal(&n->in[i]->type, &logits->type)) next = n->in[i];
        n = next;
    }
    if (!n) return NULL;
    Node *x = n->in[0];
    if (x->op == OP_mul && (is_scalar(x->in[0]) || is_scalar(x->in[1]))) x = x->in[is_scalar(x->in[0])];
    return x;
}

// ----------------------------------------------------------------------------------------------------------------------- heads
typedef struct {
    Elaborator *e;
    Node *states, *tokens;
    Loc loc;
} Site;

// The rows of a weight are those that the checkpoint has.
static Value weight_of(const Site *s, const char *name, bool has_columns) {
    const Tensor *t = checkpoint_find(s->e->options->checkpoint, name);
    int64_t width = 0, rows = t && t->rank ? t->dim[0] : 1;
    dim_is_const(s->states->type.dim[1], &width);
    Value items[] = {VALUE_INT(rows), VALUE_INT(width)};
    return weight_value(s->e, s->loc, name, (Value){.kind = V_LIST, .list = {items, has_columns ? 2 : 1}}, false);
}

static Value linear_head(const Site *s, const char *name, Value x) {
    const char *weight = arena_printf(s->e->arena, "%s.weight", name), *bias = arena_printf(s->e->arena, "%s.bias", name);
    Value y = tensor_matmul(s->e, s->loc, x, tensor_transpose_last(s->e, weight_of(s, weight, true), s->loc));
    if (!weight_exists(s->e, bias)) return y;
    Value operands[] = {y, weight_of(s, bias, false)};
    return tensor_op(s->e, OP_add, s->loc, operands, 2);
}

// [1]: the place of the last token that is no padding, 0 when all are.
static Node *last_place(const Site *s, int64_t padding) {
    Builder b = cursor_at_end(s->e->graph, s->loc);
    Node *pad = build_scalar(b, DT_i32, (double)padding), *none = build_scalar(b, DT_i32, 0);
    Node *is_pad = build_binary(b, OP_equal, s->tokens, pad);
    Node *places = build_where(b, is_pad, none, build_iota(b, 1, s->tokens->type.dim, 0));
    return build_reduce(b, OP_reduce_max, places, (const int64_t[]){0}, 1, true);
}

static Value last_state(const Site *s) {
    const json_t *pad = json_object_get(s->e->options->checkpoint->config, "pad_token_id");
    const Dim *rows = s->states->type.dim[0];
    Graph *g = s->e->graph;
    if (!json_is_integer(pad))
        return tensor_slice(s->e, tensor_value(s->states), s->loc, 0, dim_binary(g, DIM_ADD, rows, dim_const(g, -1)),
                            dim_const(g, 1));
    Node *place = last_place(s, json_integer_value(pad));
    return tensor_value(build_gather(cursor_at_end(g, s->loc), s->states, place, 0));
}

// [1, N] or [N, 1] as [N]
static Node *flat(const Site *s, Node *x, const Dim *n) { return build_reshape(cursor_at_end(s->e->graph, s->loc), x, 1, &n); }

static void add_answer(const Site *s) {
    static const char *const names[] = {"start_logits", "end_logits"};
    Graph *g = s->e->graph;
    Value both = linear_head(s, "qa_outputs", tensor_value(s->states));
    for (int i = 0; i < 2 && both.kind == V_TENSOR; i++) {
        Value one = tensor_slice(s->e, both, s->loc, 1, dim_const(g, i), dim_const(g, 1));
        if (one.kind == V_TENSOR) graph_add_output(g, flat(s, one.node, s->states->type.dim[0]), names[i]);
    }
}

static void add_head(const Site *s, Task task) {
    const char *name = weight_exists(s->e, "classifier.weight") ? "classifier" : "score";
    Value x = task == TASK_SEQUENCE ? last_state(s) : tensor_value(s->states);
    Value y = x.kind == V_TENSOR ? linear_head(s, name, x) : x;
    if (y.kind != V_TENSOR) return;
    graph_add_output(s->e->graph, task == TASK_SEQUENCE ? flat(s, y.node, y.node->type.dim[1]) : y.node, "logits");
}

// What only the head of the language model asked for may be missing.
static void forgive_unreached(Elaborator *e) {
    Map reached;
    map_init(&reached, e->arena);
    graph_sweep(e->graph);
    EACH_NODE(n, e->graph) {
        if (n->op == OP_constant && n->value && n->value->name) map_put(&reached, n->value->name, n);
    }
    for (WeightUse *u = e->weights; u; u = u->next) {
        if (u->fits || u->found || map_get(&reached, u->name)) continue;
        u->fits = true;
        e->errors--;
    }
}

void task_apply(Elaborator *e) {
    Graph *g = e->graph;
    Task task = task_of(e);
    int at = logits_of(g);
    Node *tokens = NULL;
    bool is_decoder = !strcmp(g->name, "decode") || (task == TASK_STATES && e->module->n_graphs);
    if (task == TASK_TEXT || at < 0 || !is_decoder) return;
    for (int i = 0; i < g->n_inputs; i++)
        if (!strcmp(g->inputs[i]->name, "tokens")) tokens = g->inputs[i];
    Node *states = states_of(g->outputs[at]);
    Site s = {e, states, tokens, g->outputs[at]->loc};
    if (!states || states->type.rank != 2 || (!tokens && task != TASK_STATES)) {
        report(e, s.loc, "a %s of this architecture is not described", class_of(e));
        return;
    }
    graph_drop_output(g, at);
    if (task == TASK_STATES)
        graph_add_output(g, states, "last_hidden_state");
    else if (task == TASK_ANSWER)
        add_answer(&s);
    else
        add_head(&s, task);
    if (tokens) node_set_name(tokens, "input_ids");
    g->name = "encode";
    forgive_unreached(e);
}
