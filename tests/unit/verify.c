// Malformed graphs are found, with the message under the node.
#include "graphs.h"

static const char SAMPLE[] =
    "graph g(%x: f32[T, 4]) -> (%c) where T <= 9 {\n"
    "  %k = constant {value=[1, 2, 3, 4]} : f32[4]\n"
    "  %a = add(%x, %k)\n"
    "  %b = neg(%a)\n"
    "  %c = mul(%a, %b)\n"
    "}\n";

static Node *named(Graph *g, const char *name) { return map_get(&g->names, name); }

static bool verifies(void *g) { return graph_verify(g, "testing"); }

// The graph is refused with `expected` in the message, and its line follows that of the node.
static void check_found(Graph *g, const char *node, const char *expected) {
    bool ok;
    char *message = stderr_of(verifies, g, &ok), under[600];
    snprintf(under, sizeof under, "\n    ^ error: %s", expected);
    const char *line = node ? strstr(message, node) : message,
               *end = line ? strchr(line, '\n') : NULL;
    bool there =
        node ? end && !strncmp(end, under, strlen(under)) : strstr(message, expected) != NULL;
    if (ok || !there)
        printf("# expected \"%s\" under %s, got\n# %s\n", expected, node ? node : "the graph",
               message);
    CHECK(!ok && there);
    free(message);
    graph_free(g);
}

static void good_graphs_pass(void) {
    Graph *g = parse_text(SAMPLE);
    CHECK(graph_verify(g, "parsing"));
    graph_free(g);
}

static void order_is_checked(void) {
    Graph *g = parse_text(SAMPLE);
    node_move_before(named(g, "a"), NULL);
    check_found(g, "  %b = ", "operand %a comes later");
}

static void types_are_checked(void) {
    Graph *g = parse_text(SAMPLE);
    named(g, "b")->type.dtype = DT_f64;
    check_found(g, "  %b = ", "the operands give f32[T, 4]");
}

static void operands_are_checked(void) {
    Graph *g = parse_text(SAMPLE);
    named(g, "c")->in[1] = named(g, "a");
    check_found(g, "  %c = ", "operand 0 was changed without node_set_input");
    g = parse_text(SAMPLE);
    node_remove(named(g, "b"));
    check_found(g, "  %c = ", "operand %b is not in the graph any more");
    g = parse_text(SAMPLE);
    named(g, "c")->n_in = 1;
    check_found(g, "  %c = ", "has 1 operands, mul takes 2");
}

static void attributes_are_checked(void) {
    Graph *g = parse_text(SAMPLE);
    attr_set_int(named(g, "b"), "speed", 3);
    check_found(g, "  %b = ", "neg has no attribute \"speed\"");
    g = parse_text("graph g(%x: f32[4]) -> (%y) {\n  %y = softmax(%x) {axis=0}\n}\n");
    attr_set_float(g->outputs[0], "axis", 0);
    check_found(g, "  %y = ", "attribute \"axis\" of softmax is not of kind int");
}

static void constants_are_checked(void) {
    Graph *g = parse_text(SAMPLE);
    ((Tensor *)(uintptr_t)named(g, "k")->value)->bytes = 12;
    check_found(g, "  %k = ", "the data has 12 bytes");
}

static void ends_are_checked(void) {
    Graph *g = parse_text(SAMPLE);
    Node *c = named(g, "c");
    node_remove(c);
    check_found(g, NULL, "output %c is not in the graph");
}

// Only the surroundings of a mistake in a long graph are shown.
static void far_nodes_are_left_out(void) {
    bool ok;
    Text text = {0};
    text_add(&text, "graph g(%%n0: f32[4]) -> (%%n40) {\n");
    for (int i = 1; i <= 40; i++) text_add(&text, "  %%n%d = neg(%%n%d)\n", i, i - 1);
    text_add(&text, "}\n");
    Graph *g = parse_text(text.data);
    attr_set_int(named(g, "n20"), "speed", 3);
    char *message = stderr_of(verifies, g, &ok), *first = strstr(message, "  ...\n"),
         *at = strstr(message, "%n20 = ");
    char *last = at ? strstr(at, "  ...\n") : NULL;
    CHECK(!ok && first && first < at && last && !strstr(last + 1, "  ...\n"));
    CHECK(!strstr(message, "%n2 = ") && !strstr(message, "%n38 = ") && strstr(message, "%n19 = ") &&
          strstr(message, "%n21 = "));
    free(message);
    text_free(&text);
    graph_free(g);
}

SUITE(verify) {
    TEST(good_graphs_pass);
    TEST(order_is_checked);
    TEST(types_are_checked);
    TEST(operands_are_checked);
    TEST(attributes_are_checked);
    TEST(constants_are_checked);
    TEST(ends_are_checked);
    TEST(far_nodes_are_left_out);
}
