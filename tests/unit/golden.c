// Golden tests of passes, found by their files: tests/golden/GROUP/NAME.ir is the graph before,
// NAME.GROUP.ir after the passes up to the last of GROUP, followed by the fusion sites as comments.
// Each is verified after every pass, and a second run of the group must change nothing.
//
// A first line `// quant=q8_0` sets --quant; `// the last row` compares only the last of the
// numbers after; `// in f32, within 0.001` evaluates in f32, where ops of 16 bits round, with this
// tolerance relative to the largest number. GOLDEN_UPDATE=1 writes the expected files: review them
// like code.
#include <ctype.h>
#include <dirent.h>
#include <math.h>

#include "graphs.h"
#include "ir/convert.h"
#include "ir/eval/eval.h"
#include "ir/internal.h"
#include "passes/pass.h"
#include "passes/recipe.h"
#include "util/hash.h"

#define LAST_ROW "// the last row"
#define IN_F32   "// in f32, within %lf"

typedef struct Case {
    const char *group, *name;
    char before[1024], after[1024];
} Case;

static PassContext context_of(Arena *a, const char *text) {
    PassContext c = {.arena = a, .context = 64, .max_rows = 16, .stop_after = -1};
    char format[64] = "";
    const char *message;
    if (sscanf(text, "// quant=%63[a-z0-9_,=]", format) == 1)
        c.quant = quant_rules(a, format, &message);
    return c;
}

static void print_sites(Text *t, const PassContext *c) {
    for (const FusionSite *s = c->sites; s; s = s->next)
        text_add(t, "// %s: %s%s%s%s%s\n", s->pattern, s->missed ? "missed" : "matched",
                 s->node ? ", %" : "", s->node ? s->node : "", s->node ? " " : "",
                 s->node ? s->why : "");
}

// The graphs of a text: most have one.
static Module *read_module(Arena *a, const Source *source) {
    Module *m = ARENA_NEW(a, Module);
    size_t offset = 0;
    *m = (Module){.arena = a, .name = "golden", .graphs = ARENA_ARRAY(a, Graph *, 4)};
    do {
        Graph *g = graph_parse_at(source, &offset, NULL);
        if (!g) return NULL;
        m->graphs[m->n_graphs++] = g;
    } while (source->text[offset] && m->n_graphs < 3);
    return m;
}

static void free_graphs(Module *m) {
    for (int i = 0; m && i < m->n_graphs; i++) graph_free(m->graphs[i]);
}

// Over all graphs, those that it makes included: whether it did anything.
static bool run_pass(const PassInfo *pass, Module *m, PassContext *c) {
    bool changed = false;
    c->module = m;
    for (int i = 0; i < m->n_graphs; i++) changed |= pass_run(pass, m->graphs[i], c);
    return changed;
}

static bool verify(const Module *m, const char *pass) {
    for (int i = 0; i < m->n_graphs; i++)
        if (!graph_verify(m->graphs[i], pass)) return false;
    return true;
}

static bool ends(const Case *test, int pass) {
    const GroupInfo *group = &group_info[pass_info[pass].group];
    return !strcmp(group->name, test->group) && pass == (int)group_last(pass_info[pass].group);
}

// Runs each pass of the group again: true if one of them still changes anything.
static bool runs_again(PassGroup group, Module *m, PassContext *c) {
    bool changed = false;
    for (int i = group_first(group); i <= (int)group_last(group); i++)
        changed |= run_pass(&pass_info[i], m, c);
    return changed;
}

// A pass keeps its own result.
static bool settles(int pass, Module *m, PassContext again) {
    bool changed = run_pass(&pass_info[pass], m, &again);
    if (changed) printf("# a second run of %s changes the graph\n", pass_info[pass].name);
    return !changed;
}

// The text after the passes up to the end of the group, or NULL if one of them fails.
static char *run_passes(const Case *test, const char *text, bool *stable) {
    Arena *a = arena_new();
    Source source = {.name = test->before, .text = text, .size = strlen(text)};
    PassContext c = context_of(a, text), again = c;
    Text out = {0};
    Module *m = read_module(a, &source);
    bool ok = m != NULL, settled = true;
    for (int i = 0; ok && i < PASS_COUNT; i++) {
        run_pass(&pass_info[i], m, &c);
        ok = verify(m, pass_info[i].name);
        settled &= ok && settles(i, m, again);
        if (!ends(test, i)) continue;
        for (int j = 0; j < m->n_graphs; j++) graph_print(&out, m->graphs[j]);
        print_sites(&out, &c);
        *stable = settled && !runs_again(pass_info[i].group, m, &again);
        break;
    }
    char *result = ok && out.data ? strdup(out.data) : NULL;
    text_free(&out);
    free_graphs(m);
    arena_free(a);
    return result;
}

// ------------------------------------------------------------------------------------------ values
enum { ROWS = 7 };

static int64_t symbol_value(const Dim *symbol, void *user) {
    (void)symbol;
    (void)user;
    return ROWS;
}

static double number_for(const Node *n, int64_t i, uint64_t seed) {
    InputRole role = n->op == OP_input ? input_role(n) : INPUT_TENSOR;
    if (role == INPUT_SLOTS) return 0;
    if (role == INPUT_LOGIT_ROWS) return 1;
    if (role == INPUT_SOURCE_LAST) return ROWS - 1;
    if (role == INPUT_TOKENS) return (double)(i * 5 % 32);
    if (!dtype_is_float(n->type.dtype))
        return n->type.dtype == DT_bool ? (double)(i % 3 != 0) : (double)i;
    uint64_t h = hash_bytes(&i, sizeof i, seed);
    double v = (double)(h % 2001) / 1000 - 1;
    return n->op == OP_constant && n->type.rank == 1 ? 1 + v / 4 : v;
}

// Numbers for an input or for a constant that the text names by hash alone.
static Tensor *numbers_for(Arena *a, const Node *n, uint64_t seed) {
    Tensor *t = ARENA_NEW(a, Tensor);
    *t = (Tensor){.dtype = n->type.dtype, .rank = n->type.rank};
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= t->dim[i] = dim_eval(n->type.dim[i], symbol_value, NULL);
    t->bytes = dtype_bytes(t->dtype, count);
    void *data = arena_alloc(a, t->bytes);
    for (int64_t i = 0; i < count; i++) dtype_store(t->dtype, data, i, number_for(n, i, seed));
    t->data = data;
    if (n->op == OP_constant) t->name = n->name;
    return t;
}

static void fill_constants(Arena *a, Graph *g) {
    EACH_NODE(n, g)
        if (n->op == OP_constant && !n->value) n->value = numbers_for(a, n, n->hash);
}

typedef struct Numbers {
    int64_t n;
    double v[4096];
} Numbers;

static void add_numbers(Numbers *r, const Tensor *t) {
    for (int64_t i = 0; i < tensor_count(t) && r->n < 4096; i++)
        r->v[r->n++] = dtype_load(t->dtype, t->data, i);
}

static const Tensor *output_named(const Graph *g, const Tensor *const *values, const char *name) {
    for (int i = 0; g && i < g->n_outputs; i++)
        if (!strcmp(g->output_names[i] ? g->output_names[i] : g->outputs[i]->name, name))
            return values[i];
    return NULL;
}

static Tensor *kept(Arena *a, const Tensor *t) {
    Tensor *copy = ARENA_NEW(a, Tensor);
    void *data = arena_alloc(a, t->bytes);
    *copy = *t;
    copy->data = memcpy(data, t->data, t->bytes);
    return copy;
}

// Outputs of a graph whose inputs are those of `before` by name, or numbers.
static const Tensor **evaluate_graph(EvalContext *c, Arena *a, const Graph *g, const Graph *before,
                                     const Tensor *const *values) {
    const Tensor **in = ARENA_ARRAY(a, const Tensor *, g->n_inputs),
                 **out = ARENA_ARRAY(a, const Tensor *, g->n_outputs);
    for (int i = 0; i < g->n_inputs; i++) {
        in[i] = output_named(before, values, g->inputs[i]->name);
        if (!in[i]) in[i] = numbers_for(a, g->inputs[i], hash_bytes(g->inputs[i]->name, 1, 7));
    }
    eval_graph(c, g, in, out);
    for (int i = 0; i < g->n_outputs; i++) out[i] = kept(a, out[i]);
    return out;
}

static bool has_tokens(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (!strcmp(g->inputs[i]->name, "tokens")) return true;
    return false;
}

// With several graphs: the results of the one that reads %tokens, from the other's outputs or
// states.
static Numbers *evaluate(Arena *a, const Module *m, EvalMode mode) {
    const Graph *last = m->graphs[0], *before = NULL;
    for (int i = 1; i < m->n_graphs; i++) {
        bool reads = has_tokens(m->graphs[i]);
        before = reads ? last : m->graphs[i];
        if (reads) last = m->graphs[i];
    }
    Numbers *r = ARENA_NEW(a, Numbers);
    EvalContext *c = eval_new(mode);
    eval_set_symbol(c, "T", ROWS);
    const Tensor **values = before ? evaluate_graph(c, a, before, NULL, NULL) : NULL,
                 **out = evaluate_graph(c, a, last, before, values);
    for (int i = 0; i < last->n_outputs; i++) add_numbers(r, out[i]);
    eval_free(c);
    return r;
}

static bool same_numbers(const Numbers *x, const Numbers *y, double within) {
    double largest = 1;
    for (int64_t i = 0; i < x->n; i++) largest = fabs(x->v[i]) > largest ? fabs(x->v[i]) : largest;
    for (int64_t i = 0; i < x->n && i < y->n; i++) {
        bool same =
            (isnan(x->v[i]) && isnan(y->v[i])) || fabs(x->v[i] - y->v[i]) <= within * largest;
        if (!same) return printf("# value %d is %g, was %g\n", (int)i, y->v[i], x->v[i]), false;
    }
    return x->n == y->n && x->n > 0;
}

static void keep_last(Numbers *r, int64_t n) {
    if (r->n > n) {
        memmove(r->v, r->v + r->n - n, (size_t)n * sizeof *r->v);
        r->n = n;
    }
}

// q8_0 computes other numbers by intention.
static bool keeps_values(const Case *test, const char *text) {
    Arena *a = arena_new();
    Source source = {.name = test->before, .text = text, .size = strlen(text)};
    PassContext c = context_of(a, text);
    Module *m = read_module(a, &source);
    bool done = !m || (c.quant && strcmp(quant_rules_text(c.quant), "f32")), same = done;
    double within = 1e-6;
    EvalMode mode = sscanf(text, IN_F32, &within) == 1 ? EVAL_F32 : EVAL_F64;
    if (!done) {
        for (int i = 0; i < m->n_graphs; i++) fill_constants(a, m->graphs[i]);
        for (int i = 0; i <= PASS_infer; i++) run_pass(&pass_info[i], m, &c);
        Numbers *before = evaluate(a, m, mode);
        for (int i = 0; i < PASS_COUNT; i++) {
            run_pass(&pass_info[i], m, &c);
            if (ends(test, i)) break;
        }
        Numbers *after = evaluate(a, m, mode);
        if (!strncmp(text, LAST_ROW, strlen(LAST_ROW))) keep_last(after, before->n);
        same = same_numbers(before, after, within);
    }
    free_graphs(m);
    arena_free(a);
    return same;
}

// ------------------------------------------------------------------------------------------- cases
static void run_case(const Case *test) {
    size_t size;
    bool stable = false, exists = !access(test->after, R_OK);
    char *text = read_text_file(test->before, &size), *got = run_passes(test, text, &stable);
    if (got && getenv("GOLDEN_UPDATE")) {
        write_file(test->after, got, strlen(got));
        exists = true;
    }
    char *expected = exists ? read_text_file(test->after, &size) : strdup("");
    bool same = got && !strcmp(got, expected);
    CHECK(same);
    CHECK(stable);
    bool kept = got && keeps_values(test, text);
    CHECK(kept);
    if (!same) printf("# expected\n%s# got\n%s", expected, got ? got : "nothing\n");
    if (!kept) printf("# computes other numbers\n");
    if (!stable) printf("# a second run changes the graph\n");
    printf("%s - golden: %s/%s\n", same && stable && kept ? "ok" : "not ok", test->group,
           test->name);
    free(text);
    free(got);
    free(expected);
}

static int is_before(const struct dirent *d) {
    const char *dot = strchr(d->d_name, '.');
    return dot && !strcmp(dot, ".ir");
}

static void run_folder(const char *group) {
    struct dirent **files;
    char folder[64];
    snprintf(folder, sizeof folder, "tests/golden/%s", group);
    int n = scandir(folder, &files, is_before, alphasort);
    for (int i = 0; i < n; i++) {
        Case test = {.group = group, .name = files[i]->d_name};
        snprintf(test.before, sizeof test.before, "%s/%s", folder, files[i]->d_name);
        *strchr(files[i]->d_name, '.') = 0;
        snprintf(test.after, sizeof test.after, "%s/%.300s.%s.ir", folder, files[i]->d_name, group);
        run_case(&test);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

// Whole models: tests/golden/pipeline/NAME.ir, and its form after each group.
static void run_models(void) {
    static const char *const models[] = {"llama"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        for (int p = 0; p < GROUP_COUNT; p++) {
            Case test = {.group = group_info[p].name, .name = models[i]};
            snprintf(test.before, sizeof test.before, "tests/golden/pipeline/%s.ir", models[i]);
            snprintf(test.after, sizeof test.after, "tests/golden/pipeline/%s.%s.ir", models[i],
                     test.group);
            run_case(&test);
        }
    }
}

static void passes(void) {
    for (int i = 0; i < GROUP_COUNT; i++) run_folder(group_info[i].name);
    run_models();
}

// ----------------------------------------------------------------------------------- 16-bit floats
static const char *const far_numbers[][2] = {{"-3.4028235e+38", "-65504.0000000"},
                                             {"1e10", "6e04"}};

// Every f32 of a text another type, and numbers that f16 does not hold some that it does: they only
// need to be far from scores.
static char *in_type(char *text, const char *type) {
    Text t = {0};
    for (size_t i = 0; i < sizeof far_numbers / sizeof *far_numbers; i++)
        for (char *at; (at = strstr(text, far_numbers[i][0]));)
            memcpy(at, far_numbers[i][1], strlen(far_numbers[i][1]));
    for (const char *at; (at = strstr(text, "f32")); text = (char *)at + 3) {
        bool within = at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_');
        text_add(&t, "%.*s%s", (int)(at - text), text, within ? "f32" : type);
    }
    text_add(&t, "%s", text);
    return t.data;
}

static char *sites_of(const Case *test, const char *text) {
    bool stable;
    char *all = run_passes(test, text, &stable), *sites = all ? strstr(all, "\n//") : NULL;
    Text t = {0};
    text_add(&t, all ? "" : "fails");
    for (char *line = sites ? strtok(sites, "\n") : NULL; line; line = strtok(NULL, "\n"))
        text_add(&t, "%.*s\n", (int)strcspn(line, ","), line);
    free(all);
    return t.data;
}

static void fuses_alike(const Case *test, char *text, const char *type) {
    char *narrow = in_type(text, type), *expected = sites_of(test, text),
         *got = sites_of(test, narrow);
    bool same = !strcmp(expected, got);
    CHECK(same);
    if (!same) printf("# expected\n%s# got\n%s", expected, got);
    printf("%s - golden: %s/%s, sites in %s\n", same ? "ok" : "not ok", test->group, test->name,
           type);
    free(narrow);
    free(expected);
    free(got);
}

static void narrow_floats_fuse_alike(void) {
    static const char *const groups_with_sites[] = {"recognise", "fuse", "incremental"};
    for (size_t i = 0; i < sizeof groups_with_sites / sizeof *groups_with_sites; i++) {
        Case test = {.group = groups_with_sites[i]};
        struct dirent **files;
        char folder[64];
        size_t size;
        snprintf(folder, sizeof folder, "tests/golden/%s", test.group);
        int n = scandir(folder, &files, is_before, alphasort);
        for (int j = 0; j < n; j++) {
            snprintf(test.before, sizeof test.before, "%s/%s", folder, files[j]->d_name);
            test.name = files[j]->d_name;
            char *text = read_text_file(test.before, &size);
            fuses_alike(&test, text, "f16");
            fuses_alike(&test, text, "bf16");
            free(text);
            free(files[j]);
        }
        free(files);
    }
}

SUITE(golden) {
    TEST(passes);
    TEST(narrow_floats_fuse_alike);
}
