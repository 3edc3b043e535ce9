#include "frontend/sentence.h"

#include <string.h>
#include <unistd.h>

#include "frontend/dsl/formula.h"
#include "ir/builder.h"
#include "util/json.h"

// ----------------------------------------------------------------------------------------- reading
const char *const pooling_names[N_POOLINGS] = {"cls",           "mean",      "max",
                                               "mean_sqrt_len", "lasttoken", "weightedmean"};

// As 1_Pooling/config.json names them.
static const char *const pooling_keys[N_POOLINGS] = {
    "pooling_mode_cls_token",  "pooling_mode_mean_tokens",
    "pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens",
    "pooling_mode_lasttoken",  "pooling_mode_weightedmean_tokens"};
static const Pooling poolings[N_POOLINGS] = {POOLING_CLS,       POOLING_MEAN, POOLING_MAX,
                                             POOLING_MEAN_SQRT, POOLING_LAST, POOLING_WEIGHTED};

static Pooling find_pooling(const char *const *names, const char *name) {
    for (int i = 0; i < N_POOLINGS; i++)
        if (!strcmp(names[i], name)) return poolings[i];
    return POOLING_NONE;
}

Pooling pooling_parse(const char *name) { return find_pooling(pooling_names, name); }

static const json_t *read_json(Arena *arena, const char *folder, const char *file, Loc *loc) {
    const char *path = arena_printf(arena, "%s/%s", folder, file);
    if (access(path, F_OK)) return NULL;
    const Source *s = read_source(arena, path);
    *loc = loc_file(s);
    return json_read(arena, s, s->text, s->size);
}

// ----------------------------------------------------------------------------------------- pooling
static void add_pooling(Sentence *s, Pooling pooling, Loc loc) {
    if (!s->pooling)
        s->pooling = pooling;
    else if (s->n_others < N_POOLINGS - 1)
        s->others[s->n_others++] = pooling;
    else
        diag_fatal(loc, "more than %d poolings are not supported", N_POOLINGS);
}

// As sentence-transformers 5.4 and later write it: "pooling_mode": "mean", or ["cls", "max"].
static void add_named(Sentence *s, const json_t *name, Loc loc) {
    const char *word = json_string_value(name);
    Pooling pooling = word ? find_pooling(pooling_names, word) : POOLING_NONE;
    if (word && !strcmp(word, "mean_sqrt_len_tokens")) pooling = POOLING_MEAN_SQRT;
    if (!pooling)
        diag_fatal(loc,
                   "the pooling_mode \"%s\" is not supported\nhint: cls, mean, max, "
                   "mean_sqrt_len_tokens, lasttoken and "
                   "weightedmean are",
                   word ? word : "?");
    add_pooling(s, pooling, loc);
}

// As earlier versions do, whose order of the results is this one.
static void add_flagged(Sentence *s, const json_t *config, Loc loc) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        if (strncmp(key, "pooling_mode_", 13) || !json_is_true(value) ||
            find_pooling(pooling_keys, key))
            continue;
        diag_fatal(loc,
                   "\"%s\" is not supported\nhint: cls_token, mean_tokens, max_tokens, "
                   "mean_sqrt_len_tokens, lasttoken and weightedmean_tokens are",
                   key);
    }
    for (int i = 0; i < N_POOLINGS; i++)
        if (json_is_true(json_object_get(config, pooling_keys[i])))
            add_pooling(s, poolings[i], loc);
}

static bool has_prompts(Arena *arena, const char *folder) {
    Loc ignored;
    const json_t *config = read_json(arena, folder, "config_sentence_transformers.json", &ignored);
    const char *name;
    json_t *prompt;
    json_object_foreach((json_t *)(uintptr_t)json_object_get(config, "prompts"), name, prompt) {
        if (json_string_length(prompt)) return true;
    }
    return false;
}

static void read_pooling(Arena *arena, const char *folder, const char *module, Sentence *s) {
    Loc loc;
    const char *file = arena_printf(arena, "%s/config.json", module);
    const json_t *config = read_json(arena, folder, file, &loc), *mode, *one;
    size_t i;
    if (!json_is_object(config))
        diag_fatal(NO_LOC, "%s/%s: expected a JSON object of pooling modes", folder, file);
    mode = json_object_get(config, "pooling_mode");
    if (json_is_array(mode)) {
        json_array_foreach(mode, i, one) add_named(s, one, loc);
    } else if (mode && !json_is_null(mode)) {
        add_named(s, mode, loc);
    } else {
        add_flagged(s, config, loc);
    }
    if (json_is_false(json_object_get(config, "include_prompt")) && has_prompts(arena, folder))
        diag_fatal(loc,
                   "pooling without the prompt (\"include_prompt\": false) is not supported where "
                   "the model has prompts");
    if (!s->pooling)
        diag_fatal(loc,
                   "no pooling is chosen\nhint: set one to true, as \"pooling_mode_mean_tokens\"");
}

// --------------------------------------------------------------------------------- what follows it
static SentenceStep *add_step(Sentence *s, int kind, Loc loc) {
    if (s->n_steps == MAX_MODULES) diag_fatal(loc, "more than %d modules", MAX_MODULES);
    SentenceStep *step = &s->steps[s->n_steps++];
    step->kind = kind;
    return step;
}

// They may name what they read and write: only a text's own row is followed here.
static void check_names(const json_t *config, const char *module, Loc loc) {
    static const char *const keys[] = {"module_input_name", "module_output_name"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = json_string_value(json_object_get(config, keys[i]));
        if (name && strcmp(name, "sentence_embedding"))
            diag_fatal(loc, "%s: \"%s\": \"%s\" is not supported\nhint: \"sentence_embedding\" is",
                       module, keys[i], name);
    }
}

static const char *activation_of(const Checkpoint *c) {
    const char *name = json_string_value(json_object_get(c->config, "activation_function")),
               *dot = name ? strrchr(name, '.') : NULL;
    if (!name) return "Tanh";
    if (!dot || strncmp(name, "torch.nn.", 9))
        diag_fatal(checkpoint_config_loc(c, "activation_function"),
                   "the activation \"%s\" is not supported\nhint: classes of torch.nn are", name);
    return dot + 1;
}

static const Checkpoint *open_module(Arena *arena, const char *folder, const char *module) {
    const Checkpoint *c =
        checkpoint_open(arena, arena_printf(arena, "%s/%s", folder, module), NULL);
    check_names(c->config, c->path, checkpoint_config_loc(c, "module_input_name"));
    return c;
}

static void read_dense(const Checkpoint *c, SentenceStep *d) {
    d->weight = checkpoint_find(c, "linear.weight"), d->bias = checkpoint_find(c, "linear.bias");
    d->activation = activation_of(c);
    if (!d->weight || d->weight->rank != 2 ||
        (d->bias && (d->bias->rank != 1 || d->bias->dim[0] != d->weight->dim[0])))
        diag_fatal(
            NO_LOC,
            "%s needs \"linear.weight\" [outputs, inputs] and at most a \"linear.bias\" [outputs]",
            c->path);
    d->adds_input = json_is_true(json_object_get(c->config, "use_residual"));
    d->residual = d->adds_input ? checkpoint_find(c, "residual.weight") : NULL;
    if (d->residual && (d->residual->rank != 2 ||
                        memcmp(d->residual->dim, d->weight->dim, 2 * sizeof *d->weight->dim)))
        diag_fatal(NO_LOC, "%s: \"residual.weight\" must have the size of \"linear.weight\"",
                   c->path);
    if (d->adds_input && !d->residual && d->weight->dim[0] != d->weight->dim[1])
        diag_fatal(NO_LOC, "%s has no \"residual.weight\"\nhint: download every file of the model",
                   c->path);
}

static void read_norm(const Checkpoint *c, SentenceStep *n) {
    n->weight = checkpoint_find(c, "norm.weight"), n->bias = checkpoint_find(c, "norm.bias");
    if (!n->weight || !n->bias || n->weight->rank != 1 || n->bias->rank != 1 ||
        n->weight->dim[0] != n->bias->dim[0])
        diag_fatal(NO_LOC, "%s needs \"norm.weight\" and \"norm.bias\" of one size", c->path);
}

// sentence-transformers 5.4 and later may write a module's whole path, earlier ones the end of it.
static void read_module(Arena *arena, const char *folder, const json_t *module, Loc loc,
                        Sentence *s) {
    const char *type = json_string_value(json_object_get(module, "type")),
               *path = json_string_value(json_object_get(module, "path")),
               *dot = type ? strrchr(type, '.') : NULL;
    if (!dot || !path) diag_fatal(loc, "a module without \"type\" or \"path\"");
    if (strstr(path, "..") || *path == '/')
        diag_fatal(loc,
                   "the path \"%s\" of a module leaves the folder\nhint: write a path inside of it",
                   path);
    if (!strcmp(dot, ".Transformer") || !strcmp(dot, ".Dropout")) return;
    bool follows =
        !strcmp(dot, ".Dense") || !strcmp(dot, ".LayerNorm") || !strcmp(dot, ".Normalize");
    if (!follows && strcmp(dot, ".Pooling"))
        diag_fatal(loc,
                   "a module of type \"%s\" is not supported"
                   "\nhint: Transformer, Pooling, Dense, LayerNorm, Normalize and Dropout are",
                   type);
    if (follows && !s->pooling) diag_fatal(loc, "\"%s\" before a Pooling is not supported", type);
    if (!follows && s->pooling) diag_fatal(loc, "a second Pooling module is not supported");
    if (!follows)
        read_pooling(arena, folder, path, s);
    else if (!strcmp(dot, ".Dense"))
        read_dense(open_module(arena, folder, path), add_step(s, STEP_DENSE, loc));
    else if (!strcmp(dot, ".LayerNorm"))
        read_norm(open_module(arena, folder, path), add_step(s, STEP_LAYER_NORM, loc));
    else {
        Loc at = loc;
        check_names(read_json(arena, folder, arena_printf(arena, "%s/config.json", path), &at),
                    path, at);
        add_step(s, STEP_NORMALIZE, loc);
    }
}

// Returns true if the tokenizer, or a part of its normalizer, lowers letters.
static bool lowers(const json_t *normalizer) {
    const char *type = json_string_value(json_object_get(normalizer, "type"));
    const json_t *list = json_object_get(normalizer, "normalizers");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (lowers(json_array_get(list, i))) return true;
    return type &&
           (!strcmp(type, "Lowercase") || json_is_true(json_object_get(normalizer, "lowercase")));
}

// What sentence-transformers does to a text before the tokenizer sees it, and we do not.
static void check_texts(Arena *arena, const char *folder, const json_t *config, Loc at) {
    Loc ignored;
    const json_t *tokenizer = read_json(arena, folder, "tokenizer.json", &ignored);
    if (json_is_true(json_object_get(config, "do_lower_case")) &&
        !lowers(json_object_get(tokenizer, "normalizer")))
        diag_fatal(at,
                   "\"do_lower_case\" is not supported where the tokenizer does not write small "
                   "letters itself");
}

static int64_t positive(const json_t *number) {
    return json_is_integer(number) && json_integer_value(number) > 0 ? json_integer_value(number)
                                                                     : 0;
}

// The tokenizer cuts texts at its own bound where none of the encoder is said.
static int64_t most_tokens(Arena *arena, const char *folder, const json_t *config) {
    int64_t most = positive(json_object_get(config, "max_seq_length"));
    json_t *tokenizer = most ? NULL : json_beside(folder, "tokenizer_config.json");
    if (tokenizer) most = positive(json_object_get(json_own(arena, tokenizer), "model_max_length"));
    return most < INT32_MAX ? most : 0;
}

Sentence sentence_read(Arena *arena, const char *folder) {
    Sentence s = {0};
    Loc loc, at = NO_LOC;
    const json_t *modules = read_json(arena, folder, "modules.json", &loc), *config, *own;
    if (!modules) return s;
    if (!json_is_array(modules)) diag_fatal(loc, "modules.json: expected a list of modules");
    for (size_t i = 0; i < json_array_size(modules); i++)
        read_module(arena, folder, json_array_get(modules, i), loc, &s);
    config = read_json(arena, folder, "sentence_bert_config.json", &loc);
    check_texts(arena, folder, config, loc);
    s.max_tokens = most_tokens(arena, folder, config);
    own = read_json(arena, folder, "config_sentence_transformers.json", &at);
    s.truncate_dim = positive(json_object_get(own, "truncate_dim"));
    return s;
}

void sentence_read_dense(Sentence *s, const Checkpoint *c) {
    static const char *const names[] = {"dense_2.weight", "dense_3.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Tensor *weight = checkpoint_find(c, names[i]);
        if (weight && weight->rank == 2) add_step(s, STEP_DENSE, NO_LOC)->weight = weight;
    }
}

// --------------------------------------------------------------------------------------- the graph
typedef struct Site {
    Graph *graph;
    Builder b;  // at its end
    Node *states,
        *weights;  // [T, N] and [1, T]: 1 for a token that counts, else 0. Without a mask: NULL
    const Dim *tokens, *width;
    Elaborator *formulas;  // of activations
} Site;

static Node *emit(const Site *s, Op op, Node *a, Node *b) {
    return build_op(s->b, op, b ? 2 : 1, (Node *[]){a, b});
}

static Node *reduced(const Site *s, Op op, Node *x, int64_t axis) {
    return build_reduce(s->b, op, x, &axis, 1, true);
}

static Node *scalar(const Site *s, double value) { return build_scalar(s->b, DT_f32, value); }

static Node *first_row(const Site *s) {
    return build_slice(s->b, s->states,
                       (Slice){0, dim_const(s->graph, 0), dim_const(s->graph, 1), 1});
}

// 0, 1, 2 ... as [1, T].
static Node *places(const Site *s) {
    return build_cast(
        s->b, build_iota(s->b, 2, (const Dim *[]){dim_const(s->graph, 1), s->tokens}, 1), DT_f32);
}

static Node *last_row(const Site *s) {
    Node *place = places(s),
         *counted = build_where(s->b, build_cast(s->b, s->weights, DT_bool), place, scalar(s, -1));
    Node *is_last = emit(s, OP_equal, place, reduced(s, OP_reduce_max, counted, 1));
    return emit(s, OP_matmul, build_cast(s->b, is_last, DT_f32), s->states);
}

// Weights that grow with the place.
static Node *weighted(const Site *s) {
    return emit(s, OP_mul, s->weights, emit(s, OP_add, places(s), scalar(s, 1)));
}

static Node *mean(const Site *s, Pooling pooling) {
    Node *sum = emit(s, OP_matmul, s->weights, s->states);
    Node *count = emit(s, OP_max, reduced(s, OP_reduce_sum, s->weights, 1), scalar(s, 1e-9));
    return emit(s, OP_div, sum, pooling == POOLING_MEAN ? count : emit(s, OP_sqrt, count, NULL));
}

static Node *maximum(const Site *s) {
    Node *column =
        build_reshape(s->b, s->weights, 2, (const Dim *[]){s->tokens, dim_const(s->graph, 1)});
    return reduced(s, OP_reduce_max,
                   build_where(s->b, build_cast(s->b, column, DT_bool), s->states, scalar(s, -1e9)),
                   0);
}

static Node *pooled(const Site *s, Pooling pooling) {
    if (pooling == POOLING_CLS) return first_row(s);
    if (pooling == POOLING_LAST) return last_row(s);
    if (pooling == POOLING_WEIGHTED) {
        Site grown = *s;
        grown.weights = weighted(s);
        return mean(&grown, POOLING_MEAN);
    }
    return pooling == POOLING_MAX ? maximum(s) : mean(s, pooling);
}

static Node *constant(const Site *s, const Tensor *t) {
    return build_cast(s->b, build_constant(s->b, t), DT_f32);
}

static void check_width(Node *x, int64_t wanted, const char *what) {
    int64_t inputs = 0;
    if (!dim_is_const(x->type.dim[1], &inputs) || inputs != wanted)
        diag_fatal(NO_LOC, "%s takes %lld numbers, the module before it gives %lld", what,
                   (long long)wanted, (long long)inputs);
}

static Node *activated(const Site *s, Node *x, const char *name) {
    const FormulaArgument arguments[] = {{"x", {.kind = V_TENSOR, .node = x}},
                                         {"name", VALUE_STRING(name)}};
    return formula_call(s->formulas, &s->b, "module_activation", arguments, 2).node;
}

static Node *product(const Site *s, Node *x, const Tensor *weight) {
    return emit(s, OP_matmul, x, build_transpose(s->b, constant(s, weight), (int64_t[]){1, 0}));
}

static Node *dense(const Site *s, Node *x, const SentenceStep *d) {
    check_width(x, d->weight->dim[1], "a Dense");
    Node *y = product(s, x, d->weight);
    if (d->bias) y = emit(s, OP_add, y, constant(s, d->bias));
    if (d->activation) y = activated(s, y, d->activation);
    return d->adds_input ? emit(s, OP_add, y, d->residual ? product(s, x, d->residual) : x) : y;
}

static Node *layer_norm(const Site *s, Node *x, const SentenceStep *n) {
    check_width(x, n->weight->dim[0], "a LayerNorm");
    Node *centred = emit(s, OP_sub, x, reduced(s, OP_reduce_mean, x, 1));
    Node *variance = reduced(s, OP_reduce_mean, emit(s, OP_mul, centred, centred), 1);
    Node *y = emit(s, OP_div, centred,
                   emit(s, OP_sqrt, emit(s, OP_add, variance, scalar(s, 1e-5)), NULL));
    return emit(s, OP_add, emit(s, OP_mul, y, constant(s, n->weight)), constant(s, n->bias));
}

static Node *unit_length(const Site *s, Node *x) {
    Node *length = emit(s, OP_sqrt, reduced(s, OP_reduce_sum, emit(s, OP_mul, x, x), 1), NULL);
    return emit(s, OP_div, x, emit(s, OP_max, length, scalar(s, 1e-12)));
}

static Node *step(const Site *s, Node *x, const SentenceStep *what) {
    if (what->kind == STEP_NORMALIZE) return unit_length(s, x);
    return what->kind == STEP_DENSE ? dense(s, x, what) : layer_norm(s, x, what);
}

static Node *all_pooled(const Site *s, const Sentence *sentence) {
    Node *parts[N_POOLINGS] = {pooled(s, sentence->pooling)};
    for (int i = 0; i < sentence->n_others; i++) parts[i + 1] = pooled(s, sentence->others[i]);
    return sentence->n_others ? build_concat(s->b, 1 + sentence->n_others, parts, 1) : parts[0];
}

static Node *truncated(const Site *s, Node *x, int64_t size) {
    int64_t width = 0;
    if (!size || !dim_is_const(x->type.dim[1], &width) || width <= size) return x;
    return build_slice(s->b, x, (Slice){1, dim_const(s->graph, 0), dim_const(s->graph, size), 1});
}

static Node *token_weights(const Site *s) {
    const Dim *row[] = {dim_const(s->graph, 1), s->tokens};
    for (int i = 0; i < s->graph->n_inputs; i++) {
        Node *n = s->graph->inputs[i];
        if (input_role(n) == INPUT_MASK && n->type.rank == 1 && n->type.dim[0] == s->tokens)
            return build_reshape(s->b, build_cast(s->b, build_cast(s->b, n, DT_bool), DT_f32), 2,
                                 row);
    }
    return build_filled(s->b, DT_f32, 1, 2, row);
}

void sentence_add(Graph *g, const Sentence *sentence, const char *library) {
    Site s = {.graph = g};
    s.formulas = formulas_open(g->arena, library,
                               arena_printf(g->arena, "%s/std/activation.burin", library));
    for (int i = 0; i < g->n_outputs && !s.states; i++) {
        Type *t = &g->outputs[i]->type;
        if (t->rank == 2 && t->dim[0]->kind == DIM_SYMBOL && dim_is_const(t->dim[1], NULL))
            s.states = g->outputs[i];
    }
    if (!s.states)
        diag_fatal(NO_LOC,
                   "graph %s has no output [tokens, width] to make a sentence's embedding of",
                   g->name);
    s.tokens = s.states->type.dim[0], s.width = s.states->type.dim[1];
    s.b = cursor_at_end(g, s.states->loc);
    s.weights = token_weights(&s);
    Node *embedding = all_pooled(&s, sentence);
    for (int i = 0; i < sentence->n_steps; i++)
        embedding = step(&s, embedding, &sentence->steps[i]);
    embedding = truncated(&s, embedding, sentence->truncate_dim);
    embedding = build_reshape(s.b, embedding, 1, &embedding->type.dim[1]);
    g->n_outputs = 0;
    graph_add_output(g, embedding, "sentence_embedding");
    graph_add_output(g, s.states, "last_hidden_state");
    graph_sweep(g);
}
