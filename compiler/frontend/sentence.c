#include "frontend/sentence.h"

#include <string.h>
#include <unistd.h>

#include "ir/builder.h"
#include "util/json.h"

// --------------------------------------------------------------------------------------------------------------------- reading
const char *const pooling_names[N_POOLINGS] = {"cls", "mean", "max", "mean_sqrt_len", "lasttoken", "weightedmean"};

// As 1_Pooling/config.json names them.
static const char *const pooling_keys[N_POOLINGS] = {"pooling_mode_cls_token",  "pooling_mode_mean_tokens",
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

static Pooling read_pooling(Arena *arena, const char *folder, const char *module) {
    Loc loc;
    const char *file = arena_printf(arena, "%s/config.json", module), *key;
    const json_t *config = read_json(arena, folder, file, &loc), *value;
    Pooling pooling = POOLING_NONE;
    if (!json_is_object(config)) diag_fatal(NO_LOC, "%s/%s: expected a JSON object of pooling modes", folder, file);
    json_object_foreach((json_t *)(uintptr_t)config, key, value) {
        if (strncmp(key, "pooling_mode_", 13) || !json_is_true(value)) continue;
        if (pooling) diag_fatal(loc, "several poolings at once are not supported: \"%s\" is one of them", key);
        pooling = find_pooling(pooling_keys, key);
        if (!pooling) diag_fatal(loc, "\"%s\" is not supported\nhint: --pooling=mean|cls|max chooses another", key);
    }
    if (json_is_false(json_object_get(config, "include_prompt")))
        diag_fatal(loc, "pooling without the prompt (\"include_prompt\": false) is not supported");
    if (!pooling) diag_fatal(loc, "no pooling is chosen\nhint: --pooling=mean|cls|max chooses one");
    return pooling;
}

static bool is_tanh(const Checkpoint *c) {
    const char *name = json_string_value(json_object_get(c->config, "activation_function")),
               *dot = name ? strrchr(name, '.') : NULL;
    if (!name || (dot && !strcmp(dot, ".Tanh"))) return true;
    if (!dot || strcmp(dot, ".Identity"))
        diag_fatal(checkpoint_config_loc(c, "activation_function"),
                   "the activation \"%s\" is not supported\nhint: Tanh and Identity are", name);
    return false;
}

static void read_dense(Arena *arena, const char *folder, const char *module, Loc loc, Sentence *s) {
    if (s->normalize || s->n_dense == MAX_DENSE)
        diag_fatal(loc, "a Dense %s is not supported", s->normalize ? "behind a Normalize" : "behind four others");
    const Checkpoint *c = checkpoint_open(arena, arena_printf(arena, "%s/%s", folder, module), NULL);
    Dense d = {checkpoint_find(c, "linear.weight"), checkpoint_find(c, "linear.bias"), is_tanh(c)};
    if (!d.weight || d.weight->rank != 2 || (d.bias && (d.bias->rank != 1 || d.bias->dim[0] != d.weight->dim[0])))
        diag_fatal(NO_LOC, "%s needs \"linear.weight\" [outputs, inputs] and at most a \"linear.bias\" [outputs]", c->path);
    s->dense[s->n_dense++] = d;
}

static void read_module(Arena *arena, const char *folder, const json_t *module, Loc loc, Sentence *s) {
    const char *type = json_string_value(json_object_get(module, "type")),
               *path = json_string_value(json_object_get(module, "path")), *dot = type ? strrchr(type, '.') : NULL;
    if (!dot || !path) diag_fatal(loc, "a module without \"type\" or \"path\"");
    if (!strcmp(dot, ".Pooling"))
        s->pooling = read_pooling(arena, folder, path);
    else if (!strcmp(dot, ".Normalize"))
        s->normalize = true;
    else if (!strcmp(dot, ".Dense"))
        read_dense(arena, folder, path, loc, s);
    else if (strcmp(dot, ".Transformer"))
        diag_fatal(loc, "a module of type \"%s\" is not supported\nhint: Transformer, Pooling, Dense and Normalize are", type);
}

// Does the tokenizer, or a part of its normalizer, write small letters?
static bool lowers(const json_t *normalizer) {
    const char *type = json_string_value(json_object_get(normalizer, "type"));
    const json_t *list = json_object_get(normalizer, "normalizers");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (lowers(json_array_get(list, i))) return true;
    return type && (!strcmp(type, "Lowercase") || json_is_true(json_object_get(normalizer, "lowercase")));
}

// What sentence-transformers does to a text before the tokenizer sees it, and we do not.
static void check_texts(Arena *arena, const char *folder, const json_t *config, Loc at) {
    Loc ignored;
    const json_t *tokenizer = read_json(arena, folder, "tokenizer.json", &ignored);
    if (json_is_true(json_object_get(config, "do_lower_case")) && !lowers(json_object_get(tokenizer, "normalizer")))
        diag_fatal(at, "\"do_lower_case\" is not supported where the tokenizer does not write small letters itself");
}

Sentence sentence_read(Arena *arena, const char *folder) {
    Sentence s = {0};
    Loc loc;
    const json_t *modules = read_json(arena, folder, "modules.json", &loc), *config;
    if (!modules) return s;
    if (!json_is_array(modules)) diag_fatal(loc, "modules.json: expected a list of modules");
    for (size_t i = 0; i < json_array_size(modules); i++) read_module(arena, folder, json_array_get(modules, i), loc, &s);
    config = read_json(arena, folder, "sentence_bert_config.json", &loc);
    check_texts(arena, folder, config, loc);
    const json_t *most = json_object_get(config, "max_seq_length");
    if (json_is_integer(most) && json_integer_value(most) > 0) s.max_tokens = json_integer_value(most);
    return s;
}

void sentence_read_dense(Sentence *s, const Checkpoint *c) {
    static const char *const names[] = {"dense_2.weight", "dense_3.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const Tensor *weight = checkpoint_find(c, names[i]);
        if (weight && weight->rank == 2) s->dense[s->n_dense++] = (Dense){.weight = weight};
    }
}

// ------------------------------------------------------------------------------------------------------------------- the graph
typedef struct Site {
    Graph *graph;
    Builder b;               // at its end
    Node *states, *weights;  // [T, N] and [1, T]: 1 for a token that counts, else 0. Without a mask: NULL
    const Dim *tokens, *width;
} Site;

static Node *emit(const Site *s, Op op, Node *a, Node *b) { return build_op(s->b, op, b ? 2 : 1, (Node *[]){a, b}); }

static Node *reduced(const Site *s, Op op, Node *x, int64_t axis) { return build_reduce(s->b, op, x, &axis, 1, true); }

static Node *scalar(const Site *s, double value) { return build_scalar(s->b, DT_f32, value); }

static Node *first_row(const Site *s) {
    return build_slice(s->b, s->states, (Slice){0, dim_const(s->graph, 0), dim_const(s->graph, 1), 1});
}

// 0, 1, 2 ... as [1, T].
static Node *places(const Site *s) {
    return build_cast(s->b, build_iota(s->b, 2, (const Dim *[]){dim_const(s->graph, 1), s->tokens}, 1), DT_f32);
}

static Node *last_row(const Site *s) {
    Node *place = places(s), *counted = build_where(s->b, build_cast(s->b, s->weights, DT_bool), place, scalar(s, -1));
    Node *is_last = emit(s, OP_equal, place, reduced(s, OP_reduce_max, counted, 1));
    return emit(s, OP_matmul, build_cast(s->b, is_last, DT_f32), s->states);
}

// Weights that grow with the place.
static Node *weighted(const Site *s) { return emit(s, OP_mul, s->weights, emit(s, OP_add, places(s), scalar(s, 1))); }

static Node *mean(const Site *s, Pooling pooling) {
    Node *sum = emit(s, OP_matmul, s->weights, s->states);
    Node *count = emit(s, OP_max, reduced(s, OP_reduce_sum, s->weights, 1), scalar(s, 1e-9));
    return emit(s, OP_div, sum, pooling == POOLING_MEAN ? count : emit(s, OP_sqrt, count, NULL));
}

static Node *maximum(const Site *s) {
    Node *column = build_reshape(s->b, s->weights, 2, (const Dim *[]){s->tokens, dim_const(s->graph, 1)});
    return reduced(s, OP_reduce_max, build_where(s->b, build_cast(s->b, column, DT_bool), s->states, scalar(s, -1e9)), 0);
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

static Node *constant(const Site *s, const Tensor *t) { return build_cast(s->b, build_constant(s->b, t), DT_f32); }

static Node *dense(const Site *s, Node *x, const Dense *d) {
    int64_t inputs = 0;
    if (!dim_is_const(x->type.dim[1], &inputs) || inputs != d->weight->dim[1])
        diag_fatal(NO_LOC, "a Dense takes %lld numbers, what is before it gives %lld", (long long)d->weight->dim[1],
                   (long long)inputs);
    Node *y = emit(s, OP_matmul, x, build_transpose(s->b, constant(s, d->weight), (int64_t[]){1, 0}));
    if (d->bias) y = emit(s, OP_add, y, constant(s, d->bias));
    return d->tanh ? emit(s, OP_tanh, y, NULL) : y;
}

static Node *unit_length(const Site *s, Node *x) {
    Node *length = emit(s, OP_sqrt, reduced(s, OP_reduce_sum, emit(s, OP_mul, x, x), 1), NULL);
    return emit(s, OP_div, x, emit(s, OP_max, length, scalar(s, 1e-12)));
}

static Node *token_weights(const Site *s) {
    const Dim *row[] = {dim_const(s->graph, 1), s->tokens};
    for (int i = 0; i < s->graph->n_inputs; i++) {
        Node *n = s->graph->inputs[i];
        if (input_role(n) == INPUT_MASK && n->type.rank == 1 && n->type.dim[0] == s->tokens)
            return build_reshape(s->b, build_cast(s->b, build_cast(s->b, n, DT_bool), DT_f32), 2, row);
    }
    return build_filled(s->b, DT_f32, 1, 2, row);
}

void sentence_add(Graph *g, const Sentence *sentence) {
    Site s = {.graph = g};
    for (int i = 0; i < g->n_outputs && !s.states; i++) {
        Type *t = &g->outputs[i]->type;
        if (t->rank == 2 && t->dim[0]->kind == DIM_SYMBOL && dim_is_const(t->dim[1], NULL)) s.states = g->outputs[i];
    }
    if (!s.states) diag_fatal(NO_LOC, "graph %s has no output [tokens, width] to make a sentence's embedding of", g->name);
    s.tokens = s.states->type.dim[0], s.width = s.states->type.dim[1];
    s.b = cursor_at_end(g, s.states->loc);
    s.weights = token_weights(&s);
    Node *embedding = pooled(&s, sentence->pooling);
    for (int i = 0; i < sentence->n_dense; i++) embedding = dense(&s, embedding, &sentence->dense[i]);
    if (sentence->normalize) embedding = unit_length(&s, embedding);
    embedding = build_reshape(s.b, embedding, 1, &embedding->type.dim[1]);
    g->n_outputs = 0;
    graph_add_output(g, embedding, "sentence_embedding");
    graph_add_output(g, s.states, "last_hidden_state");
    graph_sweep(g);
}
