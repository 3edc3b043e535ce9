// Tensors of the checkpoint. `weight("q_proj.weight", [N, K])` in the scope
// "model.layers.3.self_attn" asks for "model.layers.3.self_attn.q_proj.weight": an OP_constant that
// points into the mapped file, then a cast to f32.
//
// Missing tensors and other shapes are reported at the end, when every use is known: the hint names
// the parameter of config.json that appears in the dimension, and the value with which the most
// tensors would fit.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "frontend/dsl/elaborate.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

// The file of this tensor; the checkpoint if unknown.
static const char *file_of(const Checkpoint *c, const Tensor *t) {
    return t->source ? path_name(t->source->name) : c->path;
}

static bool has_data(const Elaborator *e) {
    return e->options->checkpoint && !e->options->shapes_only;
}

// ----------------------------------------------------------------------------------------- reading
// The placeholder of a missing tensor: a shape without data.
static const Tensor *empty_tensor(Elaborator *e, const WeightUse *use) {
    Tensor *t = ARENA_NEW(e->arena, Tensor);
    *t = (Tensor){.dtype = DT_f32, .rank = use->rank, .name = use->name};
    for (int i = 0; i < use->rank; i++) t->dim[i] = use->dims[i].i;
    t->bytes = (uint64_t)tensor_count(t) * 4;
    return t;
}

static bool tensor_fits(const WeightUse *use, const Tensor *t) {
    bool fits = t->rank == use->rank;
    for (int i = 0; fits && i < t->rank; i++) {
        bool swapped = t->swapped && i >= t->rank - 2;
        fits = t->dim[swapped ? 2 * t->rank - 3 - i : i] == use->dims[i].i;
    }
    return fits;
}

static bool read_weight_shape(Elaborator *e, Loc at, Value shape, WeightUse *use) {
    const Dim *dims[MAX_RANK];
    int64_t count = 1;
    if (!want_dims(e, shape, at, "the shape of a weight", dims, &use->rank)) return false;
    for (int i = 0; i < use->rank; i++) {
        use->dims[i] = shape.list.items[i];
        if (use->dims[i].kind != V_INT)
            return report(e, at, "the shape of a weight must be known, %s is not",
                          value_text(e, use->dims[i])),
                   false;
        if (__builtin_mul_overflow(count, use->dims[i].i, &count) || count > INT64_MAX / 8)
            return report(e, at, "a weight of shape %s is too large for any file",
                          value_text(e, shape)),
                   false;
    }
    return true;
}

// Old files say gamma and beta for a norm's weight and bias.
static const char *old_name(Elaborator *e, const char *name) {
    static const char *const names[][2] = {{"LayerNorm.weight", "gamma"},
                                           {"LayerNorm.bias", "beta"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_ends_with(name, names[i][0]))
            return arena_printf(e->arena, "%.*s.%s", (int)(strrchr(name, '.') - name), name,
                                names[i][1]);
    return name;
}

static const char *first_part(const Elaborator *e, const char *name) {
    return arena_strndup(e->arena, name, strcspn(name, "."));
}

static void read_first_parts(Elaborator *e) {
    const Checkpoint *c = e->options->checkpoint;
    for (int i = 0; i < c->n_tensors; i++)
        if (strchr(c->tensors[i]->name, '.'))
            map_put(&e->first_parts, first_part(e, c->tensors[i]->name), e);
}

// "layers.0.norm.weight" for "model.layers.0.norm.weight" if no tensor's name begins with "model.":
// a checkpoint of the base model lacks the prefix of a model with a head. NULL if the prefix
// exists.
static const char *base_model_name(Elaborator *e, const char *name) {
    const char *dot = strchr(name, '.');
    if (!dot || !strchr(dot + 1, '.')) return NULL;
    if (!e->first_parts.n) read_first_parts(e);
    return map_get(&e->first_parts, first_part(e, name)) ? NULL : dot + 1;
}

static const Tensor *find_tensor_named(Elaborator *e, const char *name) {
    const Tensor *t = checkpoint_find(e->options->checkpoint, name);
    return t ? t : checkpoint_find(e->options->checkpoint, old_name(e, name));
}

// Classes of tasks say "transformer." where others say "model.", or nothing (T5).
static const Tensor *find_tensor(Elaborator *e, const char *name) {
    const Tensor *t = find_tensor_named(e, name);
    const char *base = t ? NULL : base_model_name(e, name);
    if (base) t = find_tensor_named(e, base);
    if (!t && base) t = find_tensor_named(e, arena_printf(e->arena, "transformer.%s", base));
    return t || !task_has_base(e)
               ? t
               : find_tensor_named(e, arena_printf(e->arena, "transformer.%s", name));
}

// Returns true if all additional axes of the description have one element.
static bool may_lack_axes(const WeightUse *use) {
    for (int i = 0; use->found && i < use->rank - use->found->rank; i++)
        if (use->dims[i].i != 1) return false;
    return use->found != NULL;
}

static WeightUse *add_use(Elaborator *e, Loc at, const char *name, Value shape) {
    WeightUse *use = ARENA_NEW(e->arena, WeightUse);
    *use = (WeightUse){.loc = place(e, at),
                       .name = scope_join(e, e->scope, name),
                       .in_linear = text_ends_with(at.source->name, "std/linear.burin")};
    use->called = called_from(e, use->loc);
    if (!read_weight_shape(e, at, shape, use)) return NULL;
    if (has_data(e)) {
        use->found = find_tensor(e, use->name);
        if (may_lack_axes(use))
            use->found = checkpoint_with_axes(e->options->checkpoint, use->found, use->rank);
        use->fits = use->found && tensor_fits(use, use->found);
        if (use->found) map_put(&e->used_tensors, use->found->name, use);
    } else {
        use->fits = true;
    }
    *e->weights_end = use;
    e->weights_end = &use->next;
    if (!use->fits) e->errors++;
    return use;
}

// "q_proj.weight" of "model.layers.3.self_attn.q_proj.weight"; a name does not begin with a number.
static const char *short_name(const char *name) {
    const char *dot = strrchr(name, '.'), *at = dot ? dot : name;
    while (at > name && (at[-1] != '.' || isdigit((unsigned char)*at))) at--;
    return at;
}

static Node *constant_node(Elaborator *e, Loc at, const WeightUse *use) {
    const bool turned =
        use->fits && use->found && (use->found->order || use->found->factors) && !use->in_linear;
    const char *key = turned ? arena_printf(e->arena, "%s:as floats", use->name) : use->name;
    Node *n = use->fits ? map_get(&e->constants, key) : NULL;
    if (n) return n;
    const Tensor *t = use->fits && use->found ? use->found : empty_tensor(e, use);
    if (turned) t = checkpoint_as_floats(e->options->checkpoint, t);
    n = node_constant(e->graph, t, place(e, at), NULL);
    if (!t->data) n->hash = hash_bytes(use->name, strlen(use->name), 0);
    node_set_name(n, short_name(use->name));
    map_put(&e->constants, key, n);
    return n;
}

static Node *vector_constant(Elaborator *e, Loc at, DType type, int64_t n, const void *data) {
    Tensor *t = ARENA_NEW(e->arena, Tensor);
    *t =
        (Tensor){.dtype = type, .rank = 1, .dim = {n}, .data = data, .bytes = dtype_bytes(type, n)};
    return node_constant(e->graph, t, place(e, at), NULL);
}

Value rows_for_weight(Elaborator *e, Loc at, Value x, const char *name) {
    const Tensor *w = has_data(e) ? find_tensor(e, scope_join(e, e->scope, name)) : NULL;
    if (!w) return x;
    int64_t n = w->dim[w->rank - 1];
    Node *rows = x.node;
    Builder b = tensor_builder(e, at);
    if (w->factors)
        rows = build_binary(b, OP_mul, rows, vector_constant(e, at, DT_f32, n, w->factors));
    if (w->order)
        rows =
            build_gather(b, rows, vector_constant(e, at, DT_i32, n, w->order), rows->type.rank - 1);
    return rows == x.node ? x : tensor_value(rows);
}

Value weight_value(Elaborator *e, Loc at, const char *name, Value shape, bool stored) {
    const WeightUse *use = add_use(e, at, name, shape);
    if (!use) return VALUE(V_ERROR);
    Node *constant = constant_node(e, at, use);
    Value v = {.kind = V_TENSOR, .node = constant};
    if (stored || constant->type.dtype == DT_f32) return v;
    const char *key = arena_printf(e->arena, "%s:f32", use->name);
    Node *cast = map_get(&e->constants, key);
    if (cast) return (Value){.kind = V_TENSOR, .node = cast};
    v = tensor_cast(e, v, DT_f32, at);
    if (v.kind == V_TENSOR && use->found && use->found->swapped)
        v = tensor_transpose_last(e, v, at);
    if (v.kind == V_TENSOR) map_put(&e->constants, key, v.node);
    return v;
}

bool weight_exists(Elaborator *e, const char *name) {
    return has_data(e) && find_tensor(e, scope_join(e, e->scope, name));
}

// ------------------------------------------------------------------------------------------- hints
enum { MAX_SUSPECTS = 8, MAX_TRIED = 4096 };

typedef struct Suspects {
    const Declaration *config[MAX_SUSPECTS];
    int64_t value[MAX_SUSPECTS];
    int n;
} Suspects;

static void collect(const Origin *o, Suspects *s, int depth) {
    if (!o || depth > MAX_CALL_DEPTH) return;
    collect(o->a, s, depth + 1);
    collect(o->b, s, depth + 1);
    if (o->op != AST_CONFIG || s->n == MAX_SUSPECTS) return;
    for (int i = 0; i < s->n; i++)
        if (s->config[i] == o->config) return;
    s->config[s->n] = o->config;
    s->value[s->n++] = o->value;
}

// The value of the expression if `config` were `instead`; false if it has no value then.
static bool recompute(const Origin *o, const Declaration *config, int64_t instead,
                      int64_t *result) {
    int64_t a, b;
    if (o->op == AST_INT || o->op == AST_CONFIG)
        return *result = o->config && o->config == config ? instead : o->value, true;
    return recompute(o->a, config, instead, &a) && recompute(o->b, config, instead, &b) &&
           int_operation(o->op, a, b, result);
}

static bool solve(const Origin *o, const Declaration *config, int64_t now, const int64_t sizes[2],
                  int64_t *value) {
    int64_t described = sizes[0], found = sizes[1], result, scaled;
    bool proportional =
        described && !__builtin_mul_overflow(now, found, &scaled) && scaled % described == 0;
    if (proportional && recompute(o, config, *value = scaled / described, &result) &&
        result == found)
        return true;
    for (*value = 1; *value < MAX_TRIED; ++*value)
        if (recompute(o, config, *value, &result) && result == found) return true;
    return false;
}

static int misfits(const Elaborator *e, const Declaration *config, int64_t instead) {
    int n = 0;
    for (const WeightUse *u = e->weights; u; u = u->next)
        for (int i = 0; u->found && i < u->rank && i < u->found->rank; i++) {
            int64_t size = u->dims[i].i;
            bool known = !u->dims[i].origin || recompute(u->dims[i].origin, config, instead, &size);
            n += !known || size != u->found->dim[i];
        }
    return n;
}

static const char *parameter_hint(Elaborator *e, const WeightUse *u) {
    const Declaration *best = NULL;
    int64_t best_value = 0, now = 0, value;
    int best_misfits = 0;
    for (int i = 0; i < u->rank && u->rank == u->found->rank; i++) {
        Suspects s = {.n = 0};
        if (u->dims[i].i == u->found->dim[i]) continue;
        collect(u->dims[i].origin, &s, 0);
        for (int j = 0; j < s.n; j++) {
            if (!solve(u->dims[i].origin, s.config[j], s.value[j],
                       (int64_t[]){u->dims[i].i, u->found->dim[i]}, &value))
                continue;
            int n = misfits(e, s.config[j], value);
            if (!best || n < best_misfits)
                best = s.config[j], best_value = value, best_misfits = n, now = s.value[j];
        }
    }
    if (!best) return "";
    return arena_message(e->arena, "\nhint: %s is %" PRId64 " in %s, did you mean %" PRId64 "?",
                         config_called(e, best->ast->name), now, config_file(e), best_value);
}

// ------------------------------------------------------------------------------------------ report
static const char *dims_text(Elaborator *e, const Tensor *t) {
    const char *text = "";
    for (int i = 0; i < t->rank; i++)
        text = arena_printf(e->arena, "%s%s%" PRId64, text, i ? ", " : "", t->dim[i]);
    return arena_printf(e->arena, "[%s]", text);
}

// The file has the last two axes the other way round: PyTorch keeps [outputs, inputs], GPT-2
// [inputs, outputs].
static const char *transposed_hint(Elaborator *e, const WeightUse *u) {
    const Tensor *t = u->found;
    int last = t->rank - 1;
    if (t->rank != u->rank || t->rank < 2 || t->dim[last] != u->dims[last - 1].i ||
        t->dim[last - 1] != u->dims[last].i)
        return NULL;
    for (int i = 0; i < last - 1; i++)
        if (t->dim[i] != u->dims[i].i) return NULL;
    if (u->in_linear)
        return "\nhint: the file has it transposed: linear_transposed(x, name, N) takes it as it "
               "is";
    return arena_message(e->arena, "\nhint: the file has it transposed: weight(\"%s\", %s)^T",
                         short_name(u->name), dims_text(e, t));
}

static bool ends_with_name(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && name[n - m - 1] == '.' && !strcmp(name + n - m, end);
}

// The nearest name of a tensor that no one uses; one that has more or less in front is near.
static const char *nearest_tensor(Elaborator *e, const char *name) {
    const Checkpoint *c = e->options->checkpoint;
    const char **names = ARENA_ARRAY(e->arena, const char *, c->n_tensors);
    size_t n = 0;
    for (int i = 0; i < c->n_tensors; i++)
        if (!map_get(&e->used_tensors, c->tensors[i]->name)) names[n++] = c->tensors[i]->name;
    const char *near = nearest_name(name, names, n);
    for (size_t i = 0; i < n && !near; i++)
        if (ends_with_name(names[i], name) || ends_with_name(name, names[i])) near = names[i];
    return near;
}

const char *weights_file_name(const Checkpoint *c) {
    return c->n_tensors ? file_of(c, c->tensors[0]) : c->path;
}

// Layers ask for a tensor at one place: some may have it.
static const char *missing_hint(Elaborator *e, const WeightUse *u) {
    const char *near = nearest_tensor(e, u->name);
    int asked = 0, there = 0;
    for (const WeightUse *o = e->weights; o; o = o->next) {
        if (o->loc.source != u->loc.source || o->loc.offset != u->loc.offset ||
            strcmp(short_name(o->name), short_name(u->name)))
            continue;
        asked++, there += o->found != NULL;
    }
    if (there)
        return arena_printf(e->arena,
                            "\nhint: %d of %d layers have it: is their number in %s right?", there,
                            asked, config_file(e));
    return near ? arena_message(e->arena, "\nhint: did you mean \"%s\"?", near) : "";
}

static void report_use(Elaborator *e, const WeightUse *u) {
    const Checkpoint *c = e->options->checkpoint;
    const char *key = arena_printf(e->arena, "%s:%u:%s", u->loc.source->name, u->loc.offset,
                                   short_name(u->name)),
               *message;
    if (map_get(&e->reported, key)) return;
    map_put(&e->reported, key, e);
    if (u->found) {
        const char *transposed = transposed_hint(e, u);
        message = arena_message(e->arena, "%s has shape %s in %s, the description says %s%-s",
                                u->name, dims_text(e, u->found), file_of(c, u->found),
                                dims_text(e, empty_tensor(e, u)),
                                transposed ? transposed : parameter_hint(e, u));
    } else {
        message = arena_message(e->arena, "%s has no tensor \"%s\"%-s", weights_file_name(c),
                                u->name, missing_hint(e, u));
    }
    report_at(e, u->loc, u->loc, u->called, message);
}

void weights_report(Elaborator *e) {
    if (!has_data(e)) return;
    int errors = e->errors;
    for (const WeightUse *u = e->weights; u; u = u->next)
        if (!u->fits) report_use(e, u);
    if (!errors && !e->options->guess) weights_report_unused(e);
}
