// The text form: print(parse(print(g))) == print(g), for every kind of attribute, and errors that
// point at their place.
#include "graphs.h"

static void check_round_trip(const char *text) {
    Graph *g = parse_text(text);
    CHECK(g != NULL);
    if (!g) return;
    Text once = {0};
    graph_print(&once, g);
    CHECK_TEXT(once.data, text);
    CHECK(graph_verify(g, "parsing"));
    Graph *clone = graph_clone(g);
    Text cloned = {0};
    graph_print(&cloned, clone);
    CHECK_TEXT(cloned.data, text);
    CHECK(graph_verify(clone, "cloning"));
    text_free(&once);
    text_free(&cloned);
    graph_free(clone);
    graph_free(g);
}

static void a_layer_reads_back(void) {
    check_round_trip(
        "graph decode(%token: i32[R] {role=\"tokens\"}, %slot: i32[R], %position: i32[R], "
        "%logit_rows: bool[R]) -> (%logits) "
        "where "
        "R <= 64, "
        "0 <= "
        "L <= 64 {\n"
        "  %embed = constant {hash=0x0123456789abcdef, name=\"model.embed_tokens.weight\"} : "
        "bf16[2048, 192]\n"
        "  %g = gather(%embed, %token) {axis=0} : bf16[R, 192] @llama.burin:30:7 \"model\"\n"
        "  %x = cast(%g) {to=f32} : f32[R, 192] @llama.burin:30:7 \"model\"\n"
        "  %qkv_w = constant {hash=0x00000000000000ff} : bf16[320, 192]\n"
        "  %w = pack(%qkv_w) {format=\"bf16\"} : bf16[320, 192]\n"
        "  %qkv = matmul_packed(%x, %w) {columns=320} : f32[R, 320] @llama.burin:12:3 "
        "\"model.layers.0.self_attn\"\n"
        "  %q = slice(%qkv) {axis=1, extent=192, start=0} : f32[R, 192]\n"
        "  %k = slice(%qkv) {axis=1, extent=64, start=192} : f32[R, 64]\n"
        "  %v = slice(%qkv) {axis=1, extent=64, start=256} : f32[R, 64]\n"
        "  %kc = state {kind=\"key\", layer=0} : f32[4, 2, 256, 32]\n"
        "  %vc = state {kind=\"value\", layer=0} : f32[4, 2, 256, 32]\n"
        "  %kc1 = cache_append(%kc, %k, %slot, %position) {heads=2} : f32[4, 2, 256, 32]\n"
        "  %vc1 = cache_append(%vc, %v, %slot, %position) {heads=2} : f32[4, 2, 256, 32]\n"
        "  %a = attention(%q, %kc1, %vc1, %slot, %position) {causal=1, num_heads=6, "
        "num_kv_heads=2, scale=0.17677669529663687} "
        ": "
        "f32[R, 192]\n"
        "  %weight = constant {hash=0x00000000000000aa, name=\"norm\"} : f32[192]\n"
        "  %t = skip_rms_normalization(%a, %x, %weight) {epsilon=1e-05} : (f32[R, 192], f32[R, "
        "192])\n"
        "  %n = item(%t) {index=1} : f32[R, 192]\n"
        "  %gu = constant {hash=0x00000000000000ab} : bf16[128, 192]\n"
        "  %wgu = pack(%gu) {format=\"bf16\", interleave=1} : bf16[128, 192]\n"
        "  %h = matmul_packed(%n, %wgu) {columns=64, epilogue=mul(silu($0), $1), glu=1} : f32[R, "
        "64]\n"
        "  %logits = gather_rows(%h, %logit_rows) : f32[L, 64]\n"
        "}\n");
}

static void every_kind_of_attribute_reads_back(void) {
    Graph *g = graph_new("kinds");
    const Dim *t = dim_symbol(g, "T", 0, 9), *dims[2] = {t, dim_const(g, 4)};
    Node *x = graph_add_input(g, "x", type_of(DT_f32, 2, dims), NO_LOC),
         *n = node_new(g, OP_neg, NO_LOC, 1, &x);
    static const float values[20] = {1, 2, 3};
    static const Tensor small = {
        .dtype = DT_f32, .rank = 1, .dim = {3}, .data = values, .bytes = 12};
    attr_set_int(n, "int", -5);
    attr_set_int(n, "shape", 3);
    attr_set_float(n, "float", 1);
    attr_set_float(n, "infinite", -1.0 / 0.0);
    attr_set_float(n, "tiny", 0x1p-1074);
    attr_set_string(n, "string", "a \"b\" \\ \n\x01");
    attr_set_ints(n, "ints", (int64_t[]){1, INT64_MIN, INT64_MAX}, 3);
    attr_set_ints(n, "no_ints", NULL, 0);
    attr_set_ints(n, "dims", (int64_t[]){1, 2}, 2);
    attr_set_floats(n, "floats", (double[]){0.1, 1e300}, 2);
    attr_set_strings(n, "strings", (const char *[]){"a", ""}, 2);
    attr_set_dims(n, "some_dims", dims, 2);
    attr_set_dims(n, "start", dims, 1);
    attr_set_dims(n, "extent", dims, 2);
    attr_set_dtype(n, "to", DT_bool);
    attr_set_expr(n, "expr", expr_parse(g->arena, "add($0, 0x1p-3)", NULL));
    attr_set_expr(n, "formula", expr_const(g->arena, 2));
    attr_set_tensor(n, "tensor", &small);
    Graph *body = graph_new_nested(g, "body");
    Node *inner = graph_add_input(body, "i", type_scalar(DT_i32), NO_LOC), *outer[2] = {x, x};
    graph_add_output(body, node_new(body, OP_add, NO_LOC, 2, outer), "sum");
    graph_add_output(body, inner, "i");
    attr_set_graph(n, "body", body);
    graph_add_output(g, n, "the output");
    Text once = {0}, twice = {0};
    graph_print(&once, g);
    Graph *again = parse_text(once.data);
    CHECK(again != NULL);
    if (again) {
        graph_print(&twice, again);
        CHECK_TEXT(twice.data, once.data);
        for (const Attr *a = n->attrs, *b = again->outputs[0]->attrs; a || b;
             a = a->next, b = b->next) {
            CHECK(a && b && a->kind == b->kind && a->n == b->n && !strcmp(a->name, b->name));
            if (!a || !b) break;
        }
        CHECK(!strcmp(attr_string(again->outputs[0], "string", ""), "a \"b\" \\ \n\x01"));
        CHECK(!strcmp(again->output_names[0], "the output"));
        Graph *clone = graph_clone(again);
        text_free(&once);
        graph_print(&once, clone);
        CHECK_TEXT(once.data, twice.data);
        graph_free(clone);
    }
    text_free(&once);
    text_free(&twice);
    graph_free(again);
    graph_free(g);
}

static void small_constants_stand_in_place(void) {
    check_round_trip(
        "graph g() -> (%a, \"b/c\"=%b) {\n"
        "  %a = constant {value=0.1} : f32\n"
        "  %b = constant {name=\"bias\", value=[1, -2, 3]} : i64[3]\n"
        "  %c = constant {value=[0.5, -0.0, inf]} : bf16[3, 1]\n"
        "  %u = constant {value=[18446744073709551615, 0]} : u64[2]\n"
        "  %d = constant {value=[1, 0]} : bool[2]\n"
        "  %e = constant {value=[-8, 7, 3]} : i4[3]\n"
        "  %f = constant {value=0.30000000000000004} : f64\n"
        "  %i = iota {axis=0, dims=[3]} : i32[3]\n"
        "  %n = constant {value=[]} : f32[0]\n"
        "}\n");
}

static void locations_read_back(void) {
    check_round_trip(
        "graph g(%x: f32[2] @a.burin:1:2) -> (%b) {\n"
        "  %a = neg(%x) : f32[2] @m.onnx#17 \"/layer/Neg \\\"1\\\"\"\n"
        "  %b = layer_normalization(%a, %x) {epsilon=1e-05} : f32[2] @\"my model.burin\":300:41\n"
        "}\n");
}

static void types_may_be_left_out(void) {
    Graph *g = parse_text(
        "graph g(%x: f32[T, 2]) -> (%y) where T <= 5 { // a comment\n %y = add(%x, %x) }");
    CHECK(g != NULL);
    if (!g) return;
    CHECK_TEXT(type_text(&g->outputs[0]->type), "f32[T, 2]");
    graph_free(g);
}

static void errors_point_at_their_place(void) {
    check_refused("graf g() -> () {}", "1:1: error: expected \"graph \"");
    check_refused("graph g(%x: f32[T]) -> (%x) {}", "1:17: error: expected a dimension");
    check_refused("graph g(%x: f33[2]) -> (%x) {}", "1:13: error: unknown element type \"f33\"");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = ad(%x, %x) }",
                  "2:7: error: unknown operation \"ad\"");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = ad(%x, %x) }", "did you mean \"add\"?");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = add(%x, %z) }",
                  "2:15: error: there is no value %z");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %x = neg(%x) }",
                  "2:2: error: there is already a value %x");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = neg(%x) : f32[3] }",
                  "the operands give f32[2], not f32[3]");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = add(%x) : f32[3] }",
                  "add takes 2 operands, not 1");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = cast(%x) }",
                  "cast lacks its attribute \"to\"");
    check_refused("graph g(%x: f32[2]) -> (%y) {}", "there is no value %y");
    check_refused("graph g(%x: f32[2]) -> (%x) {} x", "expected the end");
    check_refused("graph g() -> () { %c = constant {value=[1, 2]} : f32[3] }", "expected \",\"");
    check_refused("graph g() -> () { %c = constant {value=1} : f32[9223372036854775807, 4] }",
                  "too many elements");
    check_refused("graph g(%x: f32[2]) -> (%x) {\n %y = neg(%x) {a=\"b }", "no closing quote");
}

static void truncated_text_is_refused(void) {
    static const char text[] =
        "graph g(%x: f32[T, 4] {role=\"tokens\"}) -> (\"y\"=%d) where 0 <= T <= 9 {\n"
        "  %h = constant {hash=0x1, name=\"w\"} : f32[40, 4]\n"
        "  %a = gather(%h, %i) {axis=0}\n"
        "  %c = elementwise(%x) {expr=mul(silu($0), 0x1p-3)} : f32[T, 4] @\"a b\":1:2 \"s\"\n"
        "  %d = reshape(%c) {shape=[4 * T]} : f32[4 * T]\n"
        "}";
    char cut[sizeof text];
    for (size_t n = 0; n + 1 < sizeof text; n++) {
        memcpy(cut, text, n);
        cut[n] = 0;
        bool ok;
        free(stderr_of(parses, cut, &ok));
        CHECK(!ok);
    }
}

static void mutated_text_never_crashes(void) {
    static const char text[] =
        "graph g(%x: f32[T, 4]) -> (%d) where T <= 9 {\n %c = elementwise(%x) {expr=mul($0, "
        "0x1p-3)}\n"
        " %d = slice(%c) {axis=1, start=T - 1, extent=2}\n %e = constant {value=[1, 2]} : f32[2] }";
    static const char bytes[] = "(){}[]%,:=\"$0-9Tx\\\xff\n@#_*/";
    uint32_t random = 1;
    int refused = 0;
    for (int i = 0; i < 400; i++) {
        char changed[sizeof text];
        memcpy(changed, text, sizeof text);
        for (int j = 0; j < 3; j++) {
            random = random * 1664525 + 1013904223;
            changed[(random >> 8) % (sizeof text - 1)] = bytes[(random >> 20) % (sizeof bytes - 1)];
        }
        bool ok;
        free(stderr_of(parses, changed, &ok));
        refused += !ok;
    }
    CHECK(refused > 200 && parses((void *)text));
}

static Graph *graph_with_large_constant(float *values, Tensor *t) {
    Graph *g = graph_new("g");
    for (int i = 0; i < 100; i++) values[i] = (float)i / 3;
    *t = (Tensor){
        .dtype = DT_f32, .rank = 1, .dim = {100}, .data = values, .bytes = 400, .name = "w"};
    graph_add_output(g, node_constant(g, t, NO_LOC, NULL), "w");
    return g;
}

static void dumps_are_valid_inputs(void) {
    char dir[] = "/tmp/burin-unit-XXXXXX", path[100];
    CHECK(mkdtemp(dir) != NULL);
    float values[100];
    Tensor t;
    Graph *g = graph_with_large_constant(values, &t),
          *graphs[2] = {g, graph_with_large_constant(values, &t)};
    Arena *a = arena_new();
    Module m = {.arena = a,
                .name = "m",
                .graphs = graphs,
                .n_graphs = 2,
                .context = 77,
                .bos = 1,
                .eos = {2, 3},
                .n_eos = 2};
    ConstantFile *constants = NULL;
    module_dump(&m, dir, 3, "fold", &constants);
    module_dump(&m, dir, 4, "fuse", &constants);
    constants_close(constants);
    snprintf(path, sizeof path, "%s/04-fuse.ir", dir);
    Module *back = module_load(a, path);
    CHECK(back->n_graphs == 2 && back->context == 77 && back->bos == 1 && back->n_eos == 2 &&
          back->eos[1] == 3);
    const Tensor *w = back->graphs[1]->outputs[0]->value;
    CHECK(w && w->bytes == 400 && !memcmp(w->data, values, 400) && !strcmp(w->name, "w"));
    unlink(path);
    snprintf(path, sizeof path, "%s/03-fold.ir", dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/constants", dir);
    CHECK(truncate(path, 200) == 0);
    if (setjmp(*diag_guard()) == 0) {
        constants_open(a, path);
        CHECK(false);
    }
    diag_unguard();
    unlink(path);
    rmdir(dir);
    for (int i = 0; i < 2; i++) graph_free(graphs[i]);
    arena_free(a);
}

SUITE(print) {
    TEST(a_layer_reads_back);
    TEST(every_kind_of_attribute_reads_back);
    TEST(small_constants_stand_in_place);
    TEST(locations_read_back);
    TEST(types_may_be_left_out);
    TEST(errors_point_at_their_place);
    TEST(truncated_text_is_refused);
    TEST(mutated_text_never_crashes);
    TEST(dumps_are_valid_inputs);
}
