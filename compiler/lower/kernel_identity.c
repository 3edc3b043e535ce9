// The identity of kernels, apart from their placement: kernels with equal keys have one signature.
// Also the names of buffers and of weight fields.
#include <ctype.h>
#include <string.h>

#include "ir/operands.h"
#include "lower/lowering.h"
#include "lower/scan.h"

// -------------------------------------------------------------------------------------------- keys
static void key_attr(Text *t, const Attr *a) {
    text_add(t, " %s=", a->name);
    switch (a->kind) {
        case ATTR_INT:
            text_add(t, "%lld", (long long)a->i);
            break;
        case ATTR_FLOAT:
            text_add(t, "%a", a->f);
            break;
        case ATTR_STRING:
            text_add(t, "%s", a->s);
            break;
        case ATTR_INTS:
            for (int i = 0; i < a->n; i++) text_add(t, "%lld,", (long long)a->ints[i]);
            break;
        case ATTR_FLOATS:
            for (int i = 0; i < a->n; i++) text_add(t, "%a,", a->floats[i]);
            break;
        case ATTR_DIMS:
            for (int i = 0; i < a->n; i++) dim_print(t, a->dims[i]), text_add(t, ",");
            break;
        case ATTR_EXPR:
            expr_print(t, a->expr);
            break;
        case ATTR_DTYPE:
            text_add(t, "%s", dtype_name(a->dtype));
            break;
        default:
            text_add(t, "%p", (const void *)a);
            break;
    }
}

static void key_view(Text *t, const View *v) {
    static const char *const bases[] = {"none",  "buffer", "weight", "state",
                                        "input", "output", "scalar"};
    text_add(t, "; %s ", bases[v->base]);
    if (v->base == BASE_SCALAR) text_add(t, "%a", v->scalar);
    if (v->base == BASE_STATE)
        text_add(t, "%s %lld", attr_string(v->state->node, "kind", ""),
                 (long long)attr_int(v->state->node, "ring", 0));
    if (v->base == BASE_INPUT) text_add(t, "%s", v->input->name);
    if (v->base == BASE_OUTPUT) text_add(t, "%d", v->output);
    if (v->base == BASE_WEIGHT && v->weight->format) text_add(t, "%s", v->weight->format->name);
    if (v->row_index) text_add(t, "[%s]", v->row_index->name);
    type_print(t, &v->type);
    for (int i = 0; i < v->type.rank; i++) text_add(t, ","), dim_print(t, v->stride[i]);
}

static const char *kernel_key(Arena *arena, const Kernel *k) {
    Text t = {0};
    text_add(&t, "%d %s", (int)k->family,
             k->copies  ? "copy"
             : k->cache ? k->cache
                        : op_info[k->op].name);
    if (k->scan) text_add(&t, " %s", k->scan->key);
    for (const Attr *a = k->copies || k->scan ? NULL : k->attrs; a; a = a->next)
        if (k->cache ? !strcmp(a->name, "batch")
                     : strcmp(a->name, "layer") && strcmp(a->name, "hash"))
            key_attr(&t, a);
    if (k->family == FAMILY_ORDER) text_add(&t, " of "), dim_print(&t, k->count);
    if (k->row_axes) text_add(&t, " rows %d", k->row_axes);
    for (const Attr *a = k->border ? k->border->attrs : NULL; a; a = a->next) key_attr(&t, a);
    for (const Attr *a = k->border ? k->border->in[0]->attrs : NULL; a; a = a->next)
        key_attr(&t, a);
    for (int i = 0; i < k->n_in; i++) key_view(&t, &k->in[i]);
    text_add(&t, " ->");
    for (int i = 0; i < k->n_out; i++) key_view(&t, &k->out[i]);
    const char *key = arena_strndup(arena, t.data, t.length);
    text_free(&t);
    return key;
}

void group_identical_kernels(Program *p) {
    Map keys;
    map_init(&keys, p->arena);
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        const char *key = kernel_key(p->arena, k);
        const Kernel *first = map_get(&keys, key);
        k->signature = first ? first->signature : p->n_signatures++;
        if (!first) map_put(&keys, key, k);
    }
}

// ----------------------------------------------------------------------------------------- buffers
// Reserved words: keywords, names in the emitted function, macros of headers (all names without a
// small letter, and a few more).
static bool is_reserved(const char *name) {
    static const char words[] =
        "asm typeof linux unix errno stdin stdout stderr many s w thread local rows logit_rows "
        "slices tiles layer if for do "
        "int float double "
        "char long short auto case goto else enum void break const union while return switch "
        "struct static extern signed "
        "sizeof inline default typedef continue register unsigned volatile restrict bool true "
        "false exp log sin cos y0 y1 j0 "
        "j1 encoder offset symbols sequence own matmul_units attention_units expert_units ";
    size_t n = strlen(name);
    for (const char *word = words; *word; word = strchr(word, ' ') + 1)
        if (strcspn(word, " ") == n && !memcmp(word, name, n)) return true;
    bool small = false;
    for (const char *c = name; *c; c++) small |= islower((unsigned char)*c) != 0;
    return !small || !strncmp(name, "__", 2) || !strncmp(name, "burin_", 6);
}

static const char *identifier(Arena *arena, const char *name) {
    char *text = arena_strdup(arena, name);
    for (char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    return isdigit((unsigned char)*text) || is_reserved(text) ? arena_printf(arena, "v_%s", text)
                                                              : text;
}

// A tuple's results are its items: of a skip norm the norm (1) first, then the sum (0); of a scan
// the results after the states.
const char *kernel_value(const Kernel *k, int result) {
    const Node *n = k->node;
    if (n->type.dtype != DT_tuple) return n->name;
    int item = k->scan ? result + (int)attr_int(n, "states", 0) : !result;
    for (int i = 0; i < n->n_users; i++)
        if (n->users[i] && n->users[i]->op == OP_item && attr_int(n->users[i], "index", 0) == item)
            return n->users[i]->name;
    return n->name;
}

static const char *weight_name(const Node *constant) {
    if (constant->value->name) return constant->value->name;
    return !strncmp(constant->name, "constant", 8) && constant->loc.scope ? constant->loc.scope
                                                                          : constant->name;
}

// The last word of a weight's name: q_proj
static const char *last_word(Arena *arena, const Node *constant) {
    const char *name = weight_name(constant), *from = name;
    size_t length = strlen(name);
    if (length > 7 && !strcmp(name + length - 7, ".weight")) length -= 7;
    for (const char *c = name; c < name + length; c++)
        if (*c == '.') from = c + 1;
    return arena_strndup(arena, from, length - (size_t)(from - name));
}

// The suffix that all words share, from an underscore on: "_proj"; "" when they share none.
static const char *shared_suffix(const char *const *words, int n) {
    const char *last = n > 1 ? strrchr(words[0], '_') : NULL;
    for (int i = 1; last && i < n; i++) {
        size_t length = strlen(words[i]), tail = strlen(last);
        if (length <= tail || strcmp(words[i] + length - tail, last)) last = NULL;
    }
    return last ? last : "";
}

// q_proj, k_proj, v_proj: q_k_v_proj
static const char *join_words(Arena *arena, const char *const *words, int n) {
    const char *suffix = shared_suffix(words, n), *joined = "";
    for (int i = 0; i < n; i++)
        joined = arena_printf(arena, "%s%s%.*s", joined, i ? "_" : "",
                              (int)(strlen(words[i]) - strlen(suffix)), words[i]);
    return arena_printf(arena, "%s%s", joined, suffix);
}

// Of the first expert, where there are several
static const char *pack_words(Arena *arena, const Node *pack) {
    const char **words = ARENA_ARRAY(arena, const char *, pack->n_in);
    int n = pack->n_in / (int)attr_int(pack, "experts", 1);
    for (int i = 0; i < n; i++) words[i] = last_word(arena, pack->in[i]);
    return join_words(arena, words, n);
}

// Products and norms are called after their weights (o_proj, input_layernorm), everything else
// after its value.
static const char *variable_name(Arena *arena, const Kernel *k, int result) {
    const Node *n = k->node, *source = n;
    if (k->cache) return arena_printf(arena, "%s_%ss", n->name, k->cache);
    if (k->family == FAMILY_ORDER) return "order";
    if (result == quantized_result(k)) return "quantized";
    if (k->family == FAMILY_MATMUL || k->family == FAMILY_EXPERTS)
        source = n->in[PRODUCT_WEIGHTS];
    else if (k->family == FAMILY_NORM && result == 0 &&
             k->in[k->node->type.dtype == DT_tuple ? 2 : 1].base == BASE_WEIGHT)
        source = k->in[k->node->type.dtype == DT_tuple ? 2 : 1].weight->node;
    if (source->op == OP_constant) return last_word(arena, source);
    if (source->op != OP_pack) return kernel_value(k, result);
    return pack_words(arena, source);
}

void name_buffers(Program *p) {
    Map names;
    map_init(&names, p->arena);
    for (int i = 0; i < p->n_kernels; i++)
        for (int j = 0; j < p->kernels[i]->n_out; j++) {
            Buffer *b = p->kernels[i]->out[j].buffer;
            if (p->kernels[i]->out[j].base != BASE_BUFFER || b->name) continue;
            const char *name = identifier(p->arena, variable_name(p->arena, p->kernels[i], j)),
                       *candidate = name;
            for (int n = 2; map_get(&names, candidate); n++)
                candidate = arena_printf(p->arena, "%s_%d", name, n);
            map_put(&names, candidate, b);
            b->name = candidate;
            b->value = kernel_value(p->kernels[i], j);
        }
}

// ----------------------------------------------------------------------------------- weight fields
// "model.layers.3.self_attn.o_proj.weight" -> "self_attn_o_proj" (the part after the last number,
// without .weight)
static const char *short_name(Arena *arena, const Node *n) {
    const char *name = n->op == OP_constant ? weight_name(n) : n->name;
    size_t length = strlen(name);
    if (length > 7 && !strcmp(name + length - 7, ".weight")) length -= 7;
    char *text = arena_strndup(arena, name, length), *from = text;
    for (char *c = text; *c; c++)
        if (*c == '.' && isdigit((unsigned char)c[1])) {
            char *end = c + 1;
            while (isdigit((unsigned char)*end)) end++;
            if (*end == '.' && end[1]) from = end + 1;
        }
    if (from == text && !strncmp(text, "model.", 6)) from += 6;
    for (char *c = from; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '_';
    return isdigit((unsigned char)*from) ? arena_printf(arena, "w%s", from) : from;
}

// q_proj, k_proj, v_proj under one prefix: self_attn_q_k_v_proj
const char *field_name(Arena *arena, const PackedWeight *w) {
    const Node *n = w->node;
    if (n->op != OP_pack) return identifier(arena, short_name(arena, n));
    const char *first = short_name(arena, n->in[0]), *word = last_word(arena, n->in[0]);
    size_t prefix = strlen(first) > strlen(word) ? strlen(first) - strlen(word) : 0;
    return arena_printf(arena, "%.*s%s", (int)prefix, first,
                        identifier(arena, pack_words(arena, n)));
}
