// Dimensions: canonical form, bounds, printing and parsing.
#include "ir.h"
#include "unit.h"

static Graph *new_graph(void) {
    Graph *g = graph_new("test");
    dim_symbol(g, "T", 1, 512);
    dim_symbol(g, "S", 1, 8);
    return g;
}

static const Dim *parsed(Graph *g, const char *text) {
    const char *end;
    const Dim *d = dim_parse(g, text, &end);
    CHECK(d && !*end);
    return d ? d : dim_const(g, -999);
}

static void check_canonical(const char *text, const char *expected) {
    Graph *g = new_graph();
    Text t = {0};
    const Dim *d = parsed(g, text);
    dim_print(&t, d);
    CHECK_TEXT(t.data, expected);
    CHECK(parsed(g, t.data) == d);
    text_free(&t);
    graph_free(g);
}

static void sums_are_canonical(void) {
    check_canonical("T - T", "0");
    check_canonical("1 + T + 2", "T + 3");
    check_canonical("T + S", "S + T");
    check_canonical("2 * (T + 1) - T", "T + 2");
    check_canonical("T * 2 * S", "2 * S * T");
    check_canonical("(T + S) * (T - S)", "-1 * S * S + T * T");
    check_canonical("5 - T", "-1 * T + 5");
    check_canonical("-T - 3", "-1 * T - 3");
    check_canonical("T - 3 * S", "-3 * S + T");
}

static void quotients_cancel(void) {
    check_canonical("(2 * T) // 2", "T");
    check_canonical("(2 * T + 1) // 2", "T");
    check_canonical("(T * S) // T", "S");
    check_canonical("(4 * T) // 6", "(2 * T) // 3");
    check_canonical("(T // 2) // 3", "T // 6");
    check_canonical("((T + 3) // 8 + 1) // 2", "(T + 11) // 16");
    check_canonical("(T - 1) // 2 + 1", "(T + 1) // 2");
    check_canonical("(64 * T + 256) // (T + 4)", "64");
    check_canonical("(T * S - S) // (T - 1)", "S");
    check_canonical("(T * S - T) // (T - 1)", "(S * T - T) // (T - 1)");
    check_canonical("T // 512", "T // 512");
    check_canonical("T // 513", "0");
    check_canonical("-7 // 2", "-4");
    check_canonical("7 // 0", "7 // 0");
}

static void remainders_cancel(void) {
    check_canonical("(2 * T + 3) % 2", "1");
    check_canonical("S % 9", "S");
    check_canonical("T % 4", "T % 4");
    check_canonical("(T + 5) % 4", "(T + 1) % 4");
    check_canonical("-7 % 4", "1");
}

static void extremes_use_bounds(void) {
    check_canonical("min(T, 512)", "T");
    check_canonical("min(T, 8)", "min(8, T)");
    check_canonical("max(T, 0)", "T");
    check_canonical("min(T, T + 1)", "T");
    check_canonical("max(S, 8)", "8");
    check_canonical("min(T, min(S, T))", "min(S, T)");
    check_canonical("2 * min(T, 8) + 1", "2 * min(8, T) + 1");
    check_canonical("(T // 2) * S", "S * (T // 2)");
}

static void bounds_are_known(void) {
    Graph *g = new_graph();
    CHECK(dim_upper(parsed(g, "2 * T + S")) == 1032);
    CHECK(dim_lower(parsed(g, "T - S")) == -7);
    CHECK(dim_upper(parsed(g, "T // 4")) == 128);
    CHECK(dim_upper(parsed(g, "T % 4")) == 3);
    CHECK(dim_upper(parsed(g, "min(T, 8)")) == 8);
    CHECK(dim_upper(parsed(g, "9223372036854775807 * T")) == INT64_MAX);
    CHECK(dim_divides(g, dim_const(g, 4), parsed(g, "8 * T + 4")));
    CHECK(!dim_divides(g, dim_const(g, 4), parsed(g, "8 * T + 2")));
    CHECK(dim_divides(g, parsed(g, "T"), parsed(g, "S * T")));
    CHECK(parsed(g, "T + (4 - T % 4) % 4") == parsed(g, "(T + 3) // 4 * 4"));
    CHECK(parsed(g, "T + -T % 4") == parsed(g, "(T + 3) // 4 * 4"));
    CHECK(parsed(g, "(2 * T + (3 - 2 * T) % 5) % 5") == dim_const(g, 3));
    CHECK(dim_divides(g, parsed(g, "T // 8 - 1"), parsed(g, "S * (T // 8) - S")));
    CHECK(!dim_divides(g, parsed(g, "T // 8 - 1"), parsed(g, "S * (T // 8) + S")));
    graph_free(g);
}

static void symbols_are_replaced(void) {
    Graph *g = new_graph();
    const Dim *t = dim_find_symbol(g, "T");
    CHECK(dim_substitute(g, parsed(g, "2 * T + S"), t, dim_const(g, 3)) == parsed(g, "S + 6"));
    CHECK(dim_has_symbol(parsed(g, "T // 2"), t) && !dim_has_symbol(parsed(g, "S + 1"), t));
    Graph *other = graph_new("other");
    const Dim *d = dim_import(other, parsed(g, "T // 2 + 1"));
    CHECK(dim_upper(d) == 257 && dim_find_symbol(other, "T") && d == dim_import(other, d));
    graph_free(other);
    graph_free(g);
}

static int64_t seven(const Dim *symbol, void *user) {
    (void)symbol;
    (void)user;
    return 7;
}

static void values_are_computed(void) {
    Graph *g = new_graph();
    CHECK(dim_eval(parsed(g, "(T - 10) // 2 + min(T, 3) * 2"), seven, NULL) == 4);
    CHECK(dim_eval(parsed(g, "max(T % 4, S)"), seven, NULL) == 7);
    graph_free(g);
}

// A convolution needs three of every other position: shorter inputs have no result.
static void bounds_are_raised_through_windows(void) {
    Graph *g = new_graph();
    dim_raise(parsed(g, "(T // 10 + 1) // 2 - 1"), 1);
    CHECK(dim_lower(parsed(g, "T")) == 30);
    CHECK(parsed(g, "max(0, (T // 10 + 1) // 2 - 1)") == parsed(g, "(T // 10 + 1) // 2 - 1"));
    dim_raise(parsed(g, "3 * S"), 7);
    CHECK(dim_lower(parsed(g, "S")) == 3);
    dim_symbol(g, "V", 0, 64);
    dim_raise(parsed(g, "min(9, V)"), 2);
    CHECK(dim_lower(parsed(g, "V")) == 2);
    dim_raise(parsed(g, "S"), 9);  // more than the most: not its bound to raise
    CHECK(dim_lower(parsed(g, "S")) == 3);
    graph_free(g);
}

static void bad_text_is_refused(void) {
    static const char *const bad[] = {"", "T +", "(T", "min(T)", "U", "T * * 2", "//", "min(T, 2"};
    Graph *g = new_graph();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *end;
        CHECK(!dim_parse(g, bad[i], &end));
    }
    char deep[1000];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    CHECK(!dim_parse(g, deep, NULL));
    graph_free(g);
}

SUITE(dim) {
    TEST(sums_are_canonical);
    TEST(quotients_cancel);
    TEST(remainders_cancel);
    TEST(extremes_use_bounds);
    TEST(bounds_are_known);
    TEST(symbols_are_replaced);
    TEST(values_are_computed);
    TEST(bounds_are_raised_through_windows);
    TEST(bad_text_is_refused);
}
