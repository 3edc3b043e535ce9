// The runner, the fusion report, masks as distances, views as index maps, and the proof that rows
// do not mix.
#include "graphs.h"
#include "passes/distance.h"
#include "passes/pass.h"
#include "passes/simplify/simplify.h"
#include "passes/views.h"

static Module *module_of(Arena *a, Graph *g) {
    Module *m = ARENA_NEW(a, Module);
    Graph **graphs = ARENA_ARRAY(a, Graph *, 1);
    graphs[0] = g;
    *m = (Module){.arena = a, .name = "test", .graphs = graphs, .n_graphs = 1, .bos = -1};
    return m;
}

static PassContext context_of(Arena *a) {
    return (PassContext){.arena = a, .context = 32, .max_rows = 8, .stop_after = -1};
}

// ---------------------------------------------------------------------------------------- simplify
// A rule that builds nodes, and then does not apply, leaves them unused: no change. Without that
// each body is simplified in 200 rounds, one in another in 40,000.
static void simplify_comes_to_rest(void) {
    Graph *g = parse_text(
        "graph g(%y: i64[4]) -> (%e) {\n"
        "  %c = constant {value=3} : i64\n"
        "  %e = equal(%c, %y)\n"
        "}\n");
    CHECK(!simplify_graph(g));
    CHECK(!simplify_graph(g));
    graph_free(g);
}

// -------------------------------------------------------------------------- the runner, the report
static const char two_norms[] =
    "graph g(%x: f32[T, 8]) -> (%n, %o) where T <= 64 {\n"
    "  %eps = constant {value=1e-06} : f32\n"
    "  %s = mul(%x, %x)\n"
    "  %m = reduce_mean(%s) {axes=[1]}\n"
    "  %e = add(%m, %eps)\n"
    "  %r = sqrt(%e)\n"
    "  %n = div(%x, %r)\n"
    "  %q = sqrt(%m)\n"
    "  %f = add(%q, %eps)\n"
    "  %o = div(%x, %f) @block.onnx#12 \"late\"\n"
    "}\n";

static void report_counts_sites_and_names_misses(void) {
    Arena *a = arena_new();
    Graph *g = parse_text(two_norms);
    PassContext c = context_of(a);
    Text t = {0};
    c.stop_after = group_last(GROUP_recognise);
    CHECK(!passes_run(module_of(a, g), &c));
    fusion_report(&c, &t);
    CHECK_TEXT(t.data,
               "pattern                   matched   missed\n"
               "rms_normalization               1        0\n"
               "norm                            0        1\n"
               "missed norm: %f: adds epsilon outside of the root\n");
    text_free(&t);
    graph_free(g);
    arena_free(a);
}

static bool requires_fusion(void *graph) {
    Arena *a = arena_new();
    PassContext c = context_of(a);
    c.require_fusion = true;
    bool stopped = true;
    if (setjmp(*diag_guard()) == 0) {
        passes_run(module_of(a, graph), &c);
        stopped = false;
    }
    diag_unguard();
    arena_free(a);
    return stopped;
}

static void a_miss_is_an_error_when_fusion_is_required(void) {
    bool stopped;
    Graph *g = parse_text(two_norms);
    char *text = stderr_of(requires_fusion, g, &stopped);
    CHECK(stopped);
    CHECK(strstr(text, "norm is not fused") &&
          strstr(text, "%f: adds epsilon outside of the root"));
    free(text);
    graph_free(g);
}

// Every pass has its needs after all earlier ones, also if the first ones are left out
// (--start-from).
static void every_pass_has_what_it_needs(void) {
    unsigned have = 0;
    for (int i = 0; i < PASS_COUNT; i++) {
        CHECK(!(pass_info[i].needs & ~have));
        CHECK(pass_info[i].help && *pass_info[i].help);
        have = (have & ~pass_info[i].breaks) | pass_info[i].gives;
    }
    CHECK(have & HAS_LAYOUT);
    CHECK(!(have & HAS_FORMULAS));
}

static void starting_late_leaves_out_what_came_before(void) {
    Arena *a = arena_new();
    Graph *g = parse_text(two_norms);
    PassContext c = context_of(a);
    Text t = {0};
    pass_info[PASS_infer].run(g, &c);
    c.start_from = group_first(GROUP_fuse);
    CHECK(passes_run(module_of(a, g), &c));
    graph_print(&t, g);
    CHECK(!strstr(t.data, "rms_normalization") && strstr(t.data, "elementwise("));
    text_free(&t);
    graph_free(g);
    arena_free(a);
}

// -------------------------------------------------------------------------------------------- rows
typedef struct Mix {
    const char *node, *message;
} Mix;

static char row_text[2048];

static bool becomes_incremental(void *graph) {
    Arena *a = arena_new();
    PassContext c = context_of(a);
    bool changed = group_run(GROUP_incremental, graph, &c);
    arena_free(a);
    return changed;
}

static void nodes_that_mix_rows_are_named(void) {
    static const Mix mixes[] = {
        {"%z = reduce_max(%a) {axes=[0]}", "%z reduces over the rows"},
        {"%z = softmax(%a) {axis=0}", "%z joins, picks or normalises along the rows"},
        {"%z = concat(%a, %a) {axis=0}", "%z joins, picks or normalises along the rows"},
        {"%z = slice(%a) {axis=0, start=0, extent=1}", "%z takes a part of the rows"},
        {"%u = transpose(%a) {perm=[1, 0]} %z = matmul(%a, %u)", "%z multiplies rows by rows"},
        {"%z = gather(%a, %c2) {axis=0}", "%z picks rows by their number"},
        {"%z = reshape(%a) {shape=[T * 2, 4]}", "%z reshapes the rows into other axes"},
        {"%i = iota {axis=1, dims=[1, T]} %j = cast(%i) {to=f32} %u = reduce_max(%a) {axes=[1]} %z "
         "= mul(%u, %j)",
         "%z pairs every row with every other row"},
        {"%z = attention(%a, %a, %a, _, _, %bias) {causal=1, num_heads=1, num_kv_heads=1, "
         "scale=1.0}",
         "%z adds a bias that is no function of the row and the key"},
        {"%m = reshape(%bias) {shape=[1, T]}\n"
         "  %z = attention(%a, %a, %a, mask=%m) {causal=1, num_heads=1, num_kv_heads=1, scale=1.0}",
         "%z masks keys by an input"},
    };
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
        snprintf(
            row_text, sizeof row_text,
            "graph g(%%t: i32[T] {role=\"tokens\"}, %%bias: f32[T]) -> (%%y) where T <= 64 {\n"
            "  %%e = constant {hash=0x1} : f32[32, 8]\n"
            "  %%c2 = constant {value=[0, 1]} : i32[2]\n"
            "  %%x = gather(%%e, %%t) {axis=0}\n"
            "  %%a = attention(%%x, %%x, %%x) {causal=1, num_heads=2, num_kv_heads=2, scale=1.0}\n"
            "  %s\n  %%r = reduce_max(%%z) {axes=[0, 1]} %%y = mul(%%a, %%r)\n}\n",
            mixes[i].node);
        bool changed;
        Graph *g = parse_text(row_text);
        CHECK(g != NULL);
        if (!g) continue;
        char *text = stderr_of(becomes_incremental, g, &changed);
        CHECK(!changed);
        if (!strstr(text, mixes[i].message)) CHECK_TEXT(text, mixes[i].message);
        free(text);
        graph_free(g);
    }
}

// ------------------------------------------------------------------------------------------- masks
typedef struct Mask {
    const char *body;  // %m is the mask
    bool added;
    int64_t from, to;  // the distances allowed; from > to: no one interval
} Mask;

#define ANY_LATER INT64_MAX
#define NEGATIVE                                                                              \
    "%z = constant {value=0.0} : f32 %big = constant {value=-3.4e+38} : f32 %one = constant " \
    "{value=1.0} : f32 "

static void masks_are_sets_of_distances(void) {
    static const Mask masks[] = {
        {"%m = less_or_equal(%k, %q)", false, 0, ANY_LATER},
        {"%m = less(%k, %q)", false, 1, ANY_LATER},
        {"%n = greater(%k, %q) %m = not(%n)", false, 0, ANY_LATER},
        {"%c = constant {value=1} : i32 %n = add(%q, %c) %m = less(%k, %n)", false, 0, ANY_LATER},
        {"%d = sub(%k, %q) %c = constant {value=0} : i32 %m = less_or_equal(%d, %c)", false, 0,
         ANY_LATER},
        {"%d = sub(%q, %k) %a = abs(%d) %c = constant {value=3} : i32 %m = less(%a, %c)", false, -2,
         2},
        {"%a = less_or_equal(%k, %q) %c = constant {value=5} : i32 %d = sub(%q, %k) %b = less(%d, "
         "%c) %m = and(%a, %b)",
         false, 0, 4},
        {"%a = less_or_equal(%k, %q) %b = greater(%k, %q) %m = or(%a, %b)", false, INT64_MIN,
         ANY_LATER},
        {"%m = equal(%k, %q)", false, 0, 0},
        {"%a = equal(%k, %q) %m = not(%a)", false, 1, 0},
        {NEGATIVE "%a = greater(%k, %q) %m = where(%a, %big, %z)", true, 0, ANY_LATER},
        {NEGATIVE
         "%a = less_or_equal(%k, %q) %f = cast(%a) {to=f32} %g = sub(%one, %f) %m = mul(%g, %big)",
         true, 0, ANY_LATER},
        {NEGATIVE
         "%a = greater(%k, %q) %t = where(%a, %big, %z) %f = cast(%a) {to=f32} %m = mul(%t, %f)",
         true, 0, ANY_LATER},
        {NEGATIVE "%a = less_or_equal(%k, %q) %f = cast(%a) {to=f32} %e = equal(%f, %z) %m = "
                  "where(%e, %big, %z)",
         true, 0, ANY_LATER},
        {NEGATIVE "%a = greater(%k, %q) %t = where(%a, %big, %z) %m = max(%t, %big)", true, 0,
         ANY_LATER},
        {NEGATIVE "%a = greater(%k, %q) %m = where(%a, %one, %z)", true, 1, 0},
    };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "graph g() -> (%%m) where T <= 64 {\n %%q = iota {axis=0, dims=[T, 1]} %%r = iota "
                 "{axis=0, dims=[T]} "
                 "%%k = reshape(%%r) {shape=[1, T]} %s\n}\n",
                 masks[i].body);
        Graph *g = parse_text(text);
        Distance d;
        Interval allowed = {0};
        CHECK(g && distance_of(g->outputs[0], &d));
        if (!g) continue;
        bool one = distance_allows(&d, masks[i].added, &allowed),
             expected = masks[i].from <= masks[i].to;
        if (one != expected ||
            (one && (allowed.from != masks[i].from || allowed.to != masks[i].to)))
            CHECK_TEXT("other distances", text);
        graph_free(g);
    }
}

static void a_mask_of_data_is_no_function_of_the_distance(void) {
    Graph *g = parse_text(
        "graph g(%x: i32[1, T]) -> (%m) where T <= 64 { %q = iota {axis=0, dims=[T, 1]} %a = "
        "add(%q, %x) %m = less(%a, %q) }");
    Distance d;
    CHECK(!distance_of(g->outputs[0], &d));
    CHECK_TEXT(d.broke->name, "x");
    graph_free(g);
}

// ------------------------------------------------------------------------------------------- views
static void heads_are_read_through_any_chain(void) {
    Graph *g = parse_text(
        "graph g(%x: f32[T, 24]) -> (%y) where T <= 64 {\n"
        "  %a = reshape(%x) {shape=[T, 3, 8]} %b = transpose(%a) {perm=[1, 0, 2]} %c = reshape(%b) "
        "{shape=[3, 1, T, 8]}\n"
        "  %d = expand(%c) {shape=[3, 2, T, 8]} %e = reshape(%d) {shape=[6, T, 8]} %y = "
        "transpose(%e) {perm=[0, 2, 1]}\n}\n");
    ViewMap v;
    CHECK(g && view_map(g->outputs[0], &v));
    CHECK_TEXT(v.base->name, "x");
    CHECK(v.rank == 3 && v.length == 6);
    CHECK(v.axis[0].n == 2 && !v.broadcast[v.axis[0].atom[0]] && v.broadcast[v.axis[0].atom[1]]);
    CHECK(dim_is(v.extent[v.axis[0].atom[0]], 3) && dim_is(v.extent[v.axis[0].atom[1]], 2));
    CHECK(v.axis[1].n == 1 && dim_is(v.extent[v.axis[1].atom[0]], 8));
    CHECK(v.source_axis[v.axis[1].atom[0]] == 1 && v.source_axis[v.axis[2].atom[0]] == 0);
    graph_free(g);
}

static void axes_that_cut_across_each_other_have_no_map(void) {
    Graph *g = parse_text(
        "graph g(%x: f32[4, 6]) -> (%y) { %a = transpose(%x) {perm=[1, 0]} %y = reshape(%a) "
        "{shape=[8, 3]} }");
    ViewMap v;
    CHECK(g && !view_map(g->outputs[0], &v));
    graph_free(g);
}

static bool hoists(void *graph) {
    Arena *a = arena_new();
    PassContext c = context_of(a);
    c.module = module_of(a, graph);
    group_run(GROUP_incremental, graph, &c);
    bool changed = pass_info[PASS_hoist].run(graph, &c);
    for (int i = 1; i < c.module->n_graphs; i++) graph_free(c.module->graphs[i]);
    arena_free(a);
    return changed;
}

// An encoder's result can only be attended to as a whole.
static void what_steps_read_otherwise_is_named(void) {
    static const Mix reads[] = {
        {"%z = attention(%x, %h, %h) {num_heads=2, num_kv_heads=2, scale=1.0}", NULL},
        {"%r = reduce_max(%h) {axes=[0]} %z = add(%x, %r)",
         "%z reads %r, which is the same in every step"},
        {"%z = attention(%x, %h, %h) {num_heads=2, num_kv_heads=2, scale=1.0, window=3}",
         "%z masks the keys"},
        {"%b = constant {value=[0.5, 0.25]} : f32[2, 1, 1]\n"
         "  %z = attention(%x, %h, %h, bias=%b) {num_heads=2, num_kv_heads=2, scale=1.0}",
         "%z masks the keys"},
        {"%m = reduce_max(%h) {axes=[1], keepdims=0}\n  %r = reshape(%m) {shape=[1, S]}\n"
         "  %z = attention(%x, %h, %h, mask=%r) {num_heads=2, num_kv_heads=2, scale=1.0}",
         "%z reads %r"},
        {"%s = constant {value=[0.5, 0.25]} : f32[2]\n"
         "  %z = attention(%x, %h, %h, sinks=%s) {num_heads=2, num_kv_heads=2, scale=1.0}",
         NULL},
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        snprintf(
            row_text, sizeof row_text,
            "graph g(%%t: i32[T] {role=\"tokens\"}, %%h: f32[S, 8]) -> (%%a, %%z) where T <= 64, S "
            "<= 64 {\n"
            "  %%e = constant {hash=0x1} : f32[32, 8]\n"
            "  %%x = gather(%%e, %%t) {axis=0}\n"
            "  %%a = attention(%%x, %%x, %%x) {causal=1, num_heads=2, num_kv_heads=2, scale=1.0}\n"
            "  %s\n}\n",
            reads[i].node);
        bool changed;
        Graph *g = parse_text(row_text);
        char *text = stderr_of(hoists, g, &changed);
        CHECK(changed == !reads[i].message);
        if (reads[i].message && !strstr(text, reads[i].message)) CHECK_TEXT(text, reads[i].message);
        free(text);
        graph_free(g);
    }
}

// ------------------------------------------------------------------------------------ the last row
static const char last_row[] =
    "graph g(%t: i32[T] {role=\"tokens\"}) -> (%y) where T <= 64 {\n"
    "  %e = constant {hash=0x1, name=\"e\"} : f32[32, 16]\n"
    "  %x = gather(%e, %t) {axis=0}\n"
    "  %a = attention(%x, %x, %x) {causal=1, num_heads=2, num_kv_heads=2, scale=0.35}\n"
    "  %last = slice(%a) {axis=0, start=T - 1, extent=1}\n"
    "  %n = mul(%last, %last)\n"
    "  %w = constant {hash=0x2, name=\"w\"} : f32[16, 32]\n"
    "  %y = matmul(%n, %w)\n"
    "}\n";

// Which rows are wanted is for the caller to say.
static void last_row_becomes_every_row(void) {
    Arena *a = arena_new();
    Graph *g = parse_text(last_row);
    PassContext c = context_of(a);
    c.stop_after = group_last(GROUP_incremental);
    CHECK(!passes_run(module_of(a, g), &c));
    const Type *y = &g->outputs[0]->type;
    CHECK_TEXT(type_text(y), "f32[L, 32]");
    EACH_NODE(n, g) CHECK(n->op != OP_slice);
    graph_free(g);
    arena_free(a);
}

SUITE(passes) {
    TEST(simplify_comes_to_rest);
    TEST(last_row_becomes_every_row);
    TEST(report_counts_sites_and_names_misses);
    TEST(a_miss_is_an_error_when_fusion_is_required);
    TEST(every_pass_has_what_it_needs);
    TEST(starting_late_leaves_out_what_came_before);
    TEST(nodes_that_mix_rows_are_named);
    TEST(what_steps_read_otherwise_is_named);
    TEST(masks_are_sets_of_distances);
    TEST(a_mask_of_data_is_no_function_of_the_distance);
    TEST(heads_are_read_through_any_chain);
    TEST(axes_that_cut_across_each_other_have_no_map);
}
