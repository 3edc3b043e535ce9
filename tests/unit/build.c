// Building, rewiring and sweeping graphs.
#include "cli/options.h"
#include "ir.h"
#include "unit.h"

typedef struct {
    Graph *g;
    Node *x, *a, *b, *c;
} Sample;

// a = x + x; b = -a; c = a * b
static Sample sample(void) {
    Sample s = {.g = graph_new("test")};
    const Dim *dims[2] = {dim_symbol(s.g, "T", 1, 16), dim_const(s.g, 4)};
    s.x = graph_add_input(s.g, "x", type_of(DT_f32, 2, dims), NO_LOC);
    s.a = node_new(s.g, OP_add, NO_LOC, 2, (Node *[]){s.x, s.x});
    s.b = node_new(s.g, OP_neg, NO_LOC, 1, (Node *[]){s.a});
    s.c = node_new(s.g, OP_mul, NO_LOC, 2, (Node *[]){s.a, s.b});
    graph_add_output(s.g, s.c, "y");
    return s;
}

static void users_are_counted(void) {
    Sample s = sample();
    CHECK(node_uses(s.x) == 2 && node_uses(s.a) == 2 && node_uses(s.b) == 1 && node_uses(s.c) == 1);
    CHECK(node_only_user(s.b) == s.c && !node_only_user(s.a) && !node_only_user(s.c) &&
          !node_only_user(s.x));
    graph_free(s.g);
}

static void replacing_moves_every_use(void) {
    Sample s = sample();
    node_replace(s.a, s.x);
    CHECK(!node_uses(s.a) && s.b->in[0] == s.x && s.c->in[0] == s.x);
    node_replace(s.c, s.b);
    CHECK(s.g->outputs[0] == s.b);
    CHECK(graph_sweep(s.g) && !graph_sweep(s.g));
    CHECK(s.g->first == s.x && s.x->next == s.b && s.g->last == s.b && node_uses(s.x) == 1);
    graph_free(s.g);
}

static void names_are_unique(void) {
    Sample s = sample();
    node_set_name(s.a, "h");
    node_set_name(s.b, "h");
    node_set_name(s.c, "h.1");
    CHECK_TEXT(s.a->name, "h");
    CHECK_TEXT(s.b->name, "h.1");
    CHECK_TEXT(s.c->name, "h.2");
    node_set_name(s.a, "model.layers[0]/weight");
    CHECK_TEXT(s.a->name, "model.layers_0__weight");
    node_set_name(s.c, "h");
    CHECK_TEXT(s.c->name, "h");
    graph_free(s.g);
}

static void order_is_restored(void) {
    Sample s = sample();
    node_move_before(s.c, s.x);
    node_move_before(s.b, s.a);
    graph_sort(s.g);
    int at = 0;
    EACH_NODE(n, s.g) n->mark = at++;
    CHECK(at == 4 && s.x->mark < s.a->mark && s.a->mark < s.b->mark && s.b->mark < s.c->mark);
    graph_free(s.g);
}

static void attributes_are_kept_in_order(void) {
    Sample s = sample();
    attr_set_int(s.a, "z", 1);
    attr_set_float(s.a, "epsilon", 0.5);
    attr_set_string(s.a, "kind", "key");
    attr_set_int(s.a, "z", 2);
    CHECK(attr_int(s.a, "z", 0) == 2 && attr_float(s.a, "epsilon", 0) == 0.5 &&
          attr_int(s.a, "none", 7) == 7);
    CHECK(!strcmp(s.a->attrs->name, "epsilon") && !strcmp(s.a->attrs->next->name, "kind") &&
          !s.a->attrs->next->next->next);
    attr_copy(s.b, s.a);
    CHECK(attr_int(s.b, "z", 0) == 2);
    graph_free(s.g);
}

static void clones_are_equal(void) {
    Sample s = sample();
    Graph *c = graph_clone(s.g);
    CHECK(c->n_inputs == 1 && c->n_outputs == 1 && !strcmp(c->outputs[0]->name, s.c->name));
    CHECK(c->outputs[0]->in[0]->users == c->outputs[0]->in[0]->users &&
          c->outputs[0]->in[0]->n_users == 2);
    CHECK_TEXT(type_text(&c->outputs[0]->type), "f32[T, 4]");
    graph_free(s.g);
    CHECK_TEXT(type_text(&c->outputs[0]->type), "f32[T, 4]");
    graph_free(c);
}

static void formulas_are_parsed(void) {
    Arena *a = arena_new();
    const char *end, *text = "mul(silu($0), add($1, 0x1.8p-3))";
    const Expr *e = expr_parse(a, text, &end);
    CHECK(e && !*end && expr_max_arg(e) == 1);
    Text t = {0};
    expr_print(&t, e);
    CHECK_TEXT(t.data, text);
    const Expr *args[2] = {expr_parse(a, "neg($3)", NULL), expr_arg(a, 0)};
    const Expr *swapped = expr_substitute(a, e, args);
    text_free(&t);
    expr_print(&t, swapped);
    CHECK_TEXT(t.data, "mul(silu(neg($3)), add($0, 0x1.8p-3))");
    CHECK(!expr_equal(e, swapped) && expr_equal(e, expr_parse(a, text, NULL)));
    static const char *const bad[] = {
        "", "$", "mul($0)", "silu($0, $1)", "matmul($0, $1)", "frob($0)", "add($0, $1", "add($0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CHECK(!expr_parse(a, bad[i], NULL));
    text_free(&t);
    arena_free(a);
}

// A forgotten option would run a program from the cache that was built without it.
static void every_option_is_in_the_key(void) {
    const Options none = {0};
    const uint64_t key = options_key(&none, 1);
    CHECK(key == options_key(&(Options){.verbose = true}, 1));
    CHECK(key != options_key(&(Options){.require_fusion = true}, 1));
    CHECK(key != options_key(&(Options){.quant = ""}, 1));
    CHECK(key != options_key(&(Options){.context = 8}, 1));
    CHECK(key != options_key(&(Options){.inputs = {{"x"}, 1}}, 1));
}

SUITE(build) {
    TEST(every_option_is_in_the_key);
    TEST(users_are_counted);
    TEST(replacing_moves_every_use);
    TEST(names_are_unique);
    TEST(order_is_restored);
    TEST(attributes_are_kept_in_order);
    TEST(clones_are_equal);
    TEST(formulas_are_parsed);
}
