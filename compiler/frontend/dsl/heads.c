// Results of a decoder whose class in config.json is no language model. Descriptions end with
// logits over the vocabulary:
//
//   LlamaModel                      the hidden states before the logits
//   LlamaForSequenceClassification  labels of the text: score.weight, from the last token that is no padding
//   LlamaForTokenClassification     labels of each token
//   LlamaForQuestionAnswering       start and end of an answer
//
//   before  graph decode(%tokens: i32[T]) -> ("logits"=matmul(%x, %head))
//   after   graph encode(%input_ids: i32[T]) -> ("last_hidden_state"=%x)
//
// The encoder and decoder of a base model become one graph of tensors. The head of the language
// model may be missing. A classifier of that kind (BartForSequenceClassification) gives its decoder
// the text as well, shifted right by one token, and reads the state at the last end-of-text token:
//
//   after   graph encode(%input_ids: i32[S]) -> ("logits"=classification_head(%state of the last eos))
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "util/text.h"

typedef enum { TASK_TEXT, TASK_STATES, TASK_SEQUENCE, TASK_TOKENS, TASK_ANSWER } Task;

static const char *class_of(const Elaborator *e) {
    const Checkpoint *c = e->options->checkpoint;
    return c ? checkpoint_class(c) : NULL;
}

static Task task_of(const Elaborator *e) {
    static const struct {
        const char *end;
        Task task;
    } tasks[] = {{"ForSequenceClassification", TASK_SEQUENCE},
                 {"ForTokenClassification", TASK_TOKENS},
                 {"ForQuestionAnswering", TASK_ANSWER},
                 {"Model", TASK_STATES}};
    static const char *const of_text[] = {"HeadModel", "HeadsModel", "MTModel",
                                          "EncoderDecoderModel"};
    const char *name = class_of(e);
    if (e->options->states) return TASK_STATES;
    for (size_t i = 0; i < sizeof of_text / sizeof *of_text; i++)
        if (!name || text_ends_with(name, of_text[i])) return TASK_TEXT;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (text_ends_with(name, tasks[i].end)) return tasks[i].task;
    return TASK_TEXT;
}

bool task_has_base(const Elaborator *e) { return task_of(e) != TASK_TEXT; }

static bool reads_text_twice(const Elaborator *e) {
    return task_of(e) == TASK_SEQUENCE || task_of(e) == TASK_ANSWER;
}

bool task_joins_graphs(const Elaborator *e) {
    return task_of(e) == TASK_STATES || reads_text_twice(e);
}

static bool is_scalar(const Node *n) { return n->op == OP_constant && n->type.rank == 0; }

// The input of the last product; T5's scale before it belongs to the head. NULL without a product.
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
    if (x->op == OP_mul && (is_scalar(x->in[0]) || is_scalar(x->in[1])))
        x = x->in[is_scalar(x->in[0])];
    return x;
}

static Node *input_named(const Graph *g, const char *name) {
    for (int i = 0; i < g->n_inputs; i++)
        if (!strcmp(g->inputs[i]->name, name)) return g->inputs[i];
    return NULL;
}

// These decoders begin with the end of the text, its language.
static bool begins_with_the_end(const Elaborator *e) {
    const char *type =
        json_string_value(json_object_get(e->options->checkpoint->config, "model_type"));
    return type && (!strcmp(type, "mbart") || !strcmp(type, "plbart"));
}

Node *task_moved_right(Elaborator *e, Loc at) {
    Node *tokens =
        e->module->n_graphs == 1 && reads_text_twice(e) ? input_named(e->graph, "input_ids") : NULL;
    if (!tokens) return NULL;
    Graph *g = e->graph;
    Value text = tensor_value(tokens);
    const Dim *one = dim_const(g, 1),
              *but_one = dim_binary(g, DIM_ADD, tokens->type.dim[0], dim_const(g, -1));
    const json_t *start = json_object_get(e->options->checkpoint->config, "decoder_start_token_id");
    int64_t first = json_is_integer(start) ? json_integer_value(start)
                    : e->module->n_eos     ? e->module->eos[0]
                                           : 0;
    Node *begin = begins_with_the_end(e)
                      ? tensor_slice(e, text, at, 0, but_one, one).node
                      : build_filled(cursor_at_end(g, at), DT_i32, (double)first, 1, &one);
    Node *rest = tensor_slice(e, text, at, 0, dim_const(g, 0), but_one).node;
    return build_concat(cursor_at_end(g, at), 2, (Node *[]){begin, rest}, 0);
}

// ------------------------------------------------------------------------------------------- heads
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
    return weight_value(s->e, s->loc, name,
                        (Value){.kind = V_LIST, .list = {items, has_columns ? 2 : 1}}, false);
}

static Value linear_head(const Site *s, const char *name, Value x) {
    const char *weight = arena_printf(s->e->arena, "%s.weight", name),
               *bias = arena_printf(s->e->arena, "%s.bias", name);
    Value y = tensor_matmul(s->e, s->loc, x,
                            tensor_transpose_last(s->e, weight_of(s, weight, true), s->loc));
    if (!weight_exists(s->e, bias)) return y;
    Value operands[] = {y, weight_of(s, bias, false)};
    return tensor_op(s->e, OP_add, s->loc, operands, 2);
}

// [1]: the place of the last token that is this one, or (`other`) another; 0 when there is none.
static Node *last_place(const Site *s, int64_t token, bool other) {
    Builder b = cursor_at_end(s->e->graph, s->loc);
    Node *it = build_scalar(b, DT_i32, (double)token), *none = build_scalar(b, DT_i32, 0);
    Node *is_it = build_binary(b, OP_equal, s->tokens, it),
         *place = build_iota(b, 1, s->tokens->type.dim, 0);
    Node *places = build_where(b, is_it, other ? none : place, other ? place : none);
    return build_reduce(b, OP_reduce_max, places, (const int64_t[]){0}, 1, true);
}

static Value last_state(const Site *s) {
    const json_t *pad = json_object_get(s->e->options->checkpoint->config, "pad_token_id");
    const Dim *rows = s->states->type.dim[0];
    Graph *g = s->e->graph;
    if (!json_is_integer(pad))
        return tensor_slice(s->e, tensor_value(s->states), s->loc, 0,
                            dim_binary(g, DIM_ADD, rows, dim_const(g, -1)), dim_const(g, 1));
    Node *place = last_place(s, json_integer_value(pad), true);
    return tensor_value(build_gather(cursor_at_end(g, s->loc), s->states, place, 0));
}

// [1, N] or [N, 1] as [N]
static Node *flat(const Site *s, Node *x, const Dim *n) {
    return build_reshape(cursor_at_end(s->e->graph, s->loc), x, 1, &n);
}

static void add_answer(const Site *s) {
    static const char *const names[] = {"start_logits", "end_logits"};
    Graph *g = s->e->graph;
    Value both = linear_head(s, "qa_outputs", tensor_value(s->states));
    for (int i = 0; i < 2 && both.kind == V_TENSOR; i++) {
        Value one = tensor_slice(s->e, both, s->loc, 1, dim_const(g, i), dim_const(g, 1));
        if (one.kind == V_TENSOR)
            graph_add_output(g, flat(s, one.node, s->states->type.dim[0]), names[i]);
    }
}

// BART's kind: from the state of the token that ends the text.
static void add_head_of_end(const Site *s) {
    Module *m = s->e->module;
    Node *place = last_place(s, m->n_eos ? m->eos[0] : 0, false);
    Value x = tensor_value(build_gather(cursor_at_end(s->e->graph, s->loc), s->states, place, 0));
    Value y = linear_head(s, "classification_head.dense", x);
    if (y.kind == V_TENSOR) y = tensor_op(s->e, OP_tanh, s->loc, &y, 1);
    if (y.kind == V_TENSOR) y = linear_head(s, "classification_head.out_proj", y);
    if (y.kind == V_TENSOR)
        graph_add_output(s->e->graph, flat(s, y.node, y.node->type.dim[1]), "logits");
}

static void add_head(const Site *s, Task task) {
    const char *name = weight_exists(s->e, "classifier.weight") ? "classifier" : "score";
    Value x = task == TASK_SEQUENCE ? last_state(s) : tensor_value(s->states);
    Value y = x.kind == V_TENSOR ? linear_head(s, name, x) : x;
    if (y.kind != V_TENSOR) return;
    graph_add_output(s->e->graph,
                     task == TASK_SEQUENCE ? flat(s, y.node, y.node->type.dim[1]) : y.node,
                     "logits");
}

// Tensors that only the language model's head uses may be missing.
static void forgive_unreached(Elaborator *e) {
    Map reached;
    map_init(&reached, e->arena);
    graph_sweep(e->graph);
    EACH_NODE(n, e->graph) {
        if (n->op == OP_constant && n->value && n->value->name)
            map_put(&reached, n->value->name, n);
    }
    for (WeightUse *u = e->weights; u; u = u->next) {
        if (u->fits || u->found || map_get(&reached, u->name)) continue;
        u->fits = true;
        e->errors--;
    }
}

// Files that set for themselves whether a token sees later ones: a decoder's description then
// supports embeddings alone.
static void check_direction(const Elaborator *e, Task task) {
    const Checkpoint *c = e->options->checkpoint;
    const json_t *later = c ? json_object_get(c->config, "sees_later_tokens") : NULL;
    bool is_decoder = !strcmp(e->graph->name, "decode");
    Loc at = c ? checkpoint_config_loc(c, "attention.causal") : NO_LOC;
    if (json_is_true(later) && is_decoder && task != TASK_STATES)
        diag_fatal(at,
                   "each token of this model sees those after it: it writes no text, burin makes "
                   "embeddings of it"
                   "\nhint: --pooling=mean, or what the model's publisher says");
    if (json_is_false(later) && !is_decoder && !e->module->n_graphs)
        diag_fatal(at,
                   "the file says that tokens do not see those after them, which burin does not "
                   "compute for this model");
}

void task_apply(Elaborator *e) {
    Graph *g = e->graph;
    Task task = task_of(e);
    check_direction(e, task);
    int at = graph_output_index(g, "logits");
    bool is_joined = e->module->n_graphs && task_joins_graphs(e),
         twice = is_joined && task != TASK_STATES;
    bool is_decoder = !strcmp(g->name, "decode") || is_joined;
    Node *beside = e->options->row_states && at >= 0 ? states_of(g->outputs[at]) : NULL;
    if (beside && task == TASK_TEXT && beside->type.rank == 2)
        graph_add_output(g, beside, OUTPUT_ROW_STATES);
    if (task == TASK_TEXT || at < 0 || !is_decoder) return;
    Node *tokens = input_named(g, twice ? "input_ids" : "tokens");
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
    else if (twice)
        add_head_of_end(&s);
    else
        add_head(&s, task);
    if (tokens) node_set_name(tokens, "input_ids");
    g->name = "encode";
    forgive_unreached(e);
}
