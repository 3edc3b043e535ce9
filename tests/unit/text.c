// util/: texts, maps, names.
#include "util/text.h"

#include "unit.h"
#include "util/diag.h"
#include "util/map.h"

static void text_grows(void) {
    Text t = {0};
    for (int i = 0; i < 1000; i++) text_add(&t, "%d,", i);
    CHECK(t.length == 3890);
    CHECK(!strncmp(t.data, "0,1,2,", 6));
    CHECK_TEXT(t.data + t.length - 4, "999,");
    text_free(&t);
}

static void map_keeps_order(void) {
    Arena *arena = arena_new();
    Map m;
    map_init(&m, arena);
    for (int i = 0; i < 100; i++)
        map_put(&m, arena_printf(arena, "k%d", i), arena_printf(arena, "v%d", i));
    map_put(&m, "k7", "other");
    CHECK(m.n == 100);
    CHECK_TEXT(m.entries[42].key, "k42");
    CHECK_TEXT(map_get(&m, "k7"), "other");
    CHECK(!map_get(&m, "k100"));
    arena_free(arena);
}

static void nearest_name_is_near(void) {
    const char *const names[] = {"weights", "tokenizer", "quant"};
    CHECK_TEXT(nearest_name("wieghts", names, 3), "weights");
    CHECK(!nearest_name("zzzzz", names, 3));
}

SUITE(text) {
    TEST(text_grows);
    TEST(map_keeps_order);
    TEST(nearest_name_is_near);
}
