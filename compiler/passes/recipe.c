// Recipes are those of llama.cpp: in names, and in which part of a model takes more bits. Parts are
// found by the names that checkpoints give to their tensors.
#include "passes/recipe.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "passes/pass.h"
#include "util/text.h"

// ------------------------------------------------------------------------------------------- parts
typedef enum {
    PART_OTHER,
    PART_Q,
    PART_K,
    PART_V,
    PART_QKV,
    PART_OUTPUT,
    PART_GATE,
    PART_UP,
    PART_DOWN,
    PART_HEAD,
    PART_EMBED,
    PART_ROUTER,
} Part;

static const struct {
    const char *name;
    Part part;
} part_names[] = {
    {"attn_q", PART_Q},     {"attn_k", PART_K},           {"attn_v", PART_V},
    {"attn_qkv", PART_QKV}, {"attn_output", PART_OUTPUT}, {"ffn_gate", PART_GATE},
    {"ffn_up", PART_UP},    {"ffn_down", PART_DOWN},      {"head", PART_HEAD},
    {"output", PART_HEAD},  {"embed", PART_EMBED},        {"token_embd", PART_EMBED},
};
enum { PART_NAMES = sizeof part_names / sizeof *part_names };

// Ends of tensors' names, whole words between dots; the first that fits counts.
static const struct {
    Part part;
    const char *ends;
} tensor_names[] = {
    {PART_ROUTER,
     "router mlp.gate moe.gate block_sparse_moe.gate gate.wg shared_expert_gate ffn_gate_inp "
     "router.layer router.classifier"},
    {PART_OUTPUT,
     "o_proj out_proj attention.output.dense attention.dense out_lin attn.c_proj attn_output "
     "self_attn.dense wo.attn "
     "self_attention.dense SelfAttention.o EncDecAttention.o attn.out attention.wo attn.Wo"},
    {PART_QKV, "qkv_proj query_key_value c_attn Wqkv W_pack attn_qkv qkv in_proj_weight"},
    {PART_Q, "q_proj query q_lin SelfAttention.q EncDecAttention.q attn_q Wq wq"},
    {PART_K, "k_proj key k_lin SelfAttention.k EncDecAttention.k attn_k Wk wk"},
    {PART_V, "v_proj value v_lin SelfAttention.v EncDecAttention.v attn_v Wv wv value_proj"},
    {PART_DOWN,
     "down_proj fc2 w2 dense_4h_to_h mlp.c_proj output.dense fc_out DenseReluDense.wo lin2 "
     "ffn_down mlp.Wo fc_2"},
    {PART_GATE, "gate_proj w1 wi_0 ffn_gate"},
    {PART_UP,
     "up_proj w3 fc1 c_fc dense_h_to_4h wi_1 wi intermediate.dense fc_in lin1 ffn_up mlp.Wi fc_1 "
     "gate_up_proj"},
    {PART_HEAD, "lm_head embed_out output head output_projection generator.proj score.head"},
    {PART_EMBED,
     "embed_tokens wte word_embeddings tok_embeddings embed_in token_embd shared tokens_embed "
     "embeddings"},
};

// Returns true if the name ends with this word after a dot. `length` excludes ".weight".
static bool ends_with(const char *name, size_t length, const char *word, size_t n) {
    return n <= length && !strncmp(name + length - n, word, n) &&
           (n == length || name[length - n - 1] == '.');
}

static Part part_by_name(const char *name) {
    static const char suffix[] = ".weight";
    size_t length = strlen(name), tail = sizeof suffix - 1;
    if (length > tail && !strcmp(name + length - tail, suffix)) length -= tail;
    for (size_t i = 0; i < sizeof tensor_names / sizeof *tensor_names; i++)
        for (const char *word = tensor_names[i].ends; *word; word += strspn(word, " ")) {
            size_t n = strcspn(word, " ");
            if (ends_with(name, length, word, n)) return tensor_names[i].part;
            word += n;
        }
    return PART_OTHER;
}

// A table that a product reads is the head.
static Part part_of(const char *name, bool looked_up) {
    Part part = part_by_name(name);
    if (looked_up) return PART_EMBED;
    return part == PART_EMBED ? PART_HEAD : part;
}

// The first number between dots, or -1
static int64_t layer_of(const char *name) {
    for (const char *at = name; at; at = strchr(at, '.')) {
        at += *at == '.';
        char *end;
        int64_t layer = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : -1;
        if (layer >= 0 && (*end == '.' || !*end)) return layer;
    }
    return -1;
}

static const char *name_of(const Node *n) {
    return n->value && n->value->name ? n->value->name : "";
}

static int64_t count_layers(const Graph *g) {
    int64_t layers = 0;
    EACH_NODE(n, g) {
        int64_t layer = n->op == OP_constant ? layer_of(name_of(n)) : -1;
        if (layer >= layers) layers = layer + 1;
    }
    return layers;
}

// ----------------------------------------------------------------------------------------- recipes
typedef enum {
    ALWAYS,
    FIRST_2,
    FIRST_4,
    FIRST_EIGHTH,
    FIRST_SIXTEENTH,
    HALF,  // the first and the last eighth of the layers, and every third between
} When;

static bool takes(When when, int64_t layer, int64_t n) {
    switch (when) {
        case ALWAYS:
            return true;
        case FIRST_2:
            return layer >= 0 && layer < 2;
        case FIRST_4:
            return layer >= 0 && layer < 4;
        case FIRST_EIGHTH:
            return layer >= 0 && layer < n / 8;
        case FIRST_SIXTEENTH:
            return layer >= 0 && layer < n / 16;
        default:
            return layer >= 0 && (layer < n / 8 || layer >= 7 * n / 8 || (layer - n / 8) % 3 == 2);
    }
}

typedef struct {
    Part part;
    When when;
    DType format;
} PartRule;

enum { PART_RULES = 8 };
typedef struct {
    const char *name;
    DType base;
    PartRule rules[PART_RULES];  // the first that fits counts
} Recipe;

#define HEAD_Q6_K {PART_HEAD, ALWAYS, DT_q6_k}
static const Recipe recipes[] = {
    {"q2_k_m",
     DT_q2_k,
     {{PART_V, ALWAYS, DT_q4_k},
      {PART_DOWN, ALWAYS, DT_q3_k},
      {PART_OUTPUT, ALWAYS, DT_q3_k},
      HEAD_Q6_K}},
    {"q3_k_s", DT_q3_k, {HEAD_Q6_K}},
    {"q3_k_m",
     DT_q3_k,
     {{PART_V, FIRST_2, DT_q5_k},
      {PART_V, ALWAYS, DT_q4_k},
      {PART_DOWN, FIRST_SIXTEENTH, DT_q5_k},
      {PART_DOWN, HALF, DT_q4_k},
      {PART_OUTPUT, ALWAYS, DT_q4_k},
      {PART_QKV, ALWAYS, DT_q4_k},
      HEAD_Q6_K}},
    {"q3_k_l",
     DT_q3_k,
     {{PART_V, ALWAYS, DT_q5_k},
      {PART_DOWN, ALWAYS, DT_q5_k},
      {PART_OUTPUT, ALWAYS, DT_q5_k},
      {PART_QKV, ALWAYS, DT_q4_k},
      HEAD_Q6_K}},
    {"q4_k_s",
     DT_q4_k,
     {{PART_V, FIRST_4, DT_q5_k}, {PART_DOWN, FIRST_EIGHTH, DT_q5_k}, HEAD_Q6_K}},
    {"q4_k_m",
     DT_q4_k,
     {{PART_V, HALF, DT_q6_k}, {PART_DOWN, HALF, DT_q6_k}, {PART_QKV, ALWAYS, DT_q5_k}, HEAD_Q6_K}},
    {"q5_k_s", DT_q5_k, {HEAD_Q6_K}},
    {"q5_k_m",
     DT_q5_k,
     {{PART_V, HALF, DT_q6_k}, {PART_DOWN, HALF, DT_q6_k}, {PART_QKV, ALWAYS, DT_q6_k}, HEAD_Q6_K}},
};
enum { RECIPES = sizeof recipes / sizeof *recipes };

// What takes a format's place where rows are no whole number of its blocks
static DType narrower(DType t) {
    switch (t) {
        case DT_q4_k:
            return DT_q5_0;
        case DT_q5_k:
            return DT_q5_1;
        case DT_q6_k:
            return DT_q8_0;
        default:
            return DT_iq4_nl;
    }
}

static DType fitting(DType t, int64_t depth) {
    const Format *f = format_of(t);
    if (f && f->block > 32 && depth % f->block) f = format_of(t = narrower(t));
    return !f || depth % f->block == 0 ? t : DT_COUNT;
}

// ------------------------------------------------------------------------------------------- rules
enum { MOST_RULES = 32 };
typedef struct {
    const char *what;  // a part's name, or a piece of tensors' names
    Part part;         // PART_OTHER: a piece of names
    DType format;
} UserRule;

struct QuantRules {
    const char *text;
    const Recipe *recipe;  // NULL: one format for all
    DType base;
    UserRule rules[MOST_RULES];
    int n;
};

const char *quant_rules_text(const QuantRules *r) { return r->text; }

static bool makes_format(DType t) {
    const Format *f = format_of(t);
    return t == DT_f32 || t == DT_f16 || t == DT_bf16 || (f && format_is_made(f));
}

static const char *format_names(Arena *a) {
    const char *names = "f32, f16, bf16";
    for (int i = 0; i < n_formats; i++)
        if (format_is_made(&formats[i])) names = arena_printf(a, "%s, %s", names, formats[i].name);
    return names;
}

const char *quant_names(Arena *a) {
    const char *names = format_names(a);
    for (int i = 0; i < RECIPES; i++) names = arena_printf(a, "%s, %s", names, recipes[i].name);
    return names;
}

const char *quant_nearest_part(const char *word) {
    const char *names[PART_NAMES];
    for (int i = 0; i < PART_NAMES; i++) names[i] = part_names[i].name;
    return nearest_name(word, names, PART_NAMES);
}

const char *part_names_text(Arena *a) {
    const char *names = "";
    for (int i = 0; i < PART_NAMES; i++)
        names = arena_printf(a, "%s%s%s", names, i ? ", " : "", part_names[i].name);
    return names;
}

static const char *nearest_format(const char *word) {
    const char *names[RECIPES + 64] = {"f32", "f16", "bf16"};
    size_t n = 3;
    for (int i = 0; i < RECIPES; i++) names[n++] = recipes[i].name;
    for (int i = 0; i < n_formats && n < sizeof names / sizeof *names; i++)
        if (format_is_made(&formats[i])) names[n++] = formats[i].name;
    return nearest_name(word, names, n);
}

static const Recipe *find_recipe(const char *word) {
    for (int i = 0; i < RECIPES; i++)
        if (!strcasecmp(recipes[i].name, word)) return &recipes[i];
    return NULL;
}

// Names that have bits alone, or of other programs: q4, int4, 4bit, nf4. NULL: it is none.
static const char *formats_of_bits(const char *word) {
    static const struct {
        const char *bits, *formats;
    } known[] = {{"2", "2 bits: q2_k"},
                 {"3", "3 bits: q3_k_m"},
                 {"4", "4 bits: q4_k_m (best), q4_0 (smallest, fastest)"},
                 {"5", "5 bits: q5_k_m (best), q5_0"},
                 {"6", "6 bits: q6_k"},
                 {"8", "8 bits: q8_0"}};
    static const char *const forms[] = {"q%s", "int%s", "i%s",  "%sbit",   "%s-bit",    "%s",
                                        "w%s", "nf%s",  "fp%s", "float%s", "bnb-%sbit", "w%sa16"};
    char text[16];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++) {
            snprintf(text, sizeof text, forms[j], known[i].bits);
            if (!strcasecmp(word, text)) return known[i].formats;
        }
    if (!strcasecmp(word, "gptq") || !strcasecmp(word, "awq"))
        return "folders of GPTQ and AWQ are read as they are; to quantize: q4_k_m";
    return NULL;
}

// Formats also as names of files have them: Q4_0
static bool read_format(Arena *a, const char *word, DType *t, const char **problem) {
    if (dtype_parse(text_lower(arena_strdup(a, word)), t) && makes_format(*t)) return true;
    if (find_recipe(word)) {
        *problem = arena_printf(
            a, "%s is a recipe, which says more than one format: a rule takes one", word);
        return false;
    }
    const char *near = nearest_format(word), *of_bits = formats_of_bits(word);
    *problem = of_bits ? arena_printf(a, "there is no format %s; %s", word, of_bits)
               : near  ? arena_printf(a, "there is no format %s; did you mean %s?", word, near)
                       : arena_printf(a, "there is no format %s", word);
    return false;
}

static bool read_base(Arena *a, QuantRules *r, const char *word, const char **problem) {
    r->recipe = find_recipe(word);
    if (r->recipe) r->base = r->recipe->base;
    return r->recipe || read_format(a, word, &r->base, problem);
}

static bool read_rule(Arena *a, QuantRules *r, char *word, const char **problem) {
    char *format = strchr(word, '=');
    UserRule *rule = &r->rules[r->n];
    if (!format || format == word || r->n == MOST_RULES) {
        *problem = arena_printf(
            a,
            r->n == MOST_RULES ? "more than %d rules" : "expected PART=FORMAT after the first word",
            MOST_RULES);
        return false;
    }
    *format++ = 0;
    rule->what = word, rule->part = PART_OTHER;
    for (int i = 0; i < PART_NAMES; i++)
        if (!strcmp(part_names[i].name, word)) rule->part = part_names[i].part;
    r->n++;
    return read_format(a, format, &rule->format, problem);
}

const QuantRules *quant_rules(Arena *a, const char *text, const char **problem) {
    QuantRules *r = ARENA_NEW(a, QuantRules);
    char *rest = arena_strdup(a, text), *next;
    r->text = arena_strdup(a, text);
    for (bool first = true; rest; first = false, rest = next) {
        next = strchr(rest, ',');
        if (next) *next++ = 0;
        if (first ? !read_base(a, r, rest, problem) : !read_rule(a, r, rest, problem)) return NULL;
    }
    return r;
}

static bool rule_fits(const UserRule *rule, const char *name, Part part) {
    return rule->part != PART_OTHER ? rule->part == part : strstr(name, rule->what) != NULL;
}

static DType by_recipe(const Recipe *recipe, const Node *weights, Part part) {
    int64_t layer = layer_of(name_of(weights)), n = count_layers(weights->graph);
    for (int i = 0; i < PART_RULES && recipe->rules[i].part; i++)
        if (recipe->rules[i].part == part && takes(recipe->rules[i].when, layer, n))
            return recipe->rules[i].format;
    return recipe->base;
}

DType quant_format(const QuantRules *r, const Node *weights, int64_t depth, MatrixUse use,
                   DType *wanted) {
    const char *name = name_of(weights);
    Part part = use == MATRIX_ROUTES ? PART_ROUTER : part_of(name, use == MATRIX_LOOKED_UP);
    *wanted = DT_COUNT;
    for (int i = r->n - 1; i >= 0 && *wanted == DT_COUNT; i--)  // the last one that fits counts
        if (rule_fits(&r->rules[i], name, part)) *wanted = r->rules[i].format;
    if (*wanted == DT_COUNT && part == PART_ROUTER && dtype_is_block(r->base)) return DT_COUNT;
    if (*wanted == DT_COUNT) *wanted = r->recipe ? by_recipe(r->recipe, weights, part) : r->base;
    return fitting(*wanted, depth);
}

typedef enum { USE_NONE, USE_OVERRULED, USE_COUNTS } Use;

// The relation of a rule to this matrix: no match, overruled by a later rule, or in force
static Use rule_fit(const QuantRules *r, int rule, const char *name, bool looked_up) {
    Part part = part_of(name, looked_up && part_by_name(name) == PART_EMBED);
    if (!rule_fits(&r->rules[rule], name, part)) return USE_NONE;
    for (int i = rule + 1; i < r->n; i++)
        if (rule_fits(&r->rules[i], name, part)) return USE_OVERRULED;
    return USE_COUNTS;
}

static Use rule_use(const QuantRules *r, int rule, const Module *m) {
    Use best = USE_NONE;
    for (int j = 0; j < m->n_graphs; j++)
        EACH_NODE(n, m->graphs[j]) {
            if (n->op != OP_constant || n->type.rank != 2) continue;
            for (int looked_up = 0; looked_up < 2; looked_up++) {
                Use use = rule_fit(r, rule, name_of(n), looked_up);
                if (use > best) best = use;
            }
        }
    return best;
}

const char *quant_idle_rule(const QuantRules *r, const Module *m, bool *overruled) {
    for (int i = 0; i < r->n; i++) {
        Use use = rule_use(r, i, m);
        *overruled = use == USE_OVERRULED;
        if (use != USE_COUNTS) return r->rules[i].what;
    }
    return NULL;
}
