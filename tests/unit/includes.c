// The hash of a source depends on its includes, and on nothing else.
#include "toolchain/includes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "unit.h"
#include "util/files.h"

static Arena *arena;
static const char *home;

static const char *at(const char *name) { return arena_printf(arena, "%s/%s", home, name); }

static void put(const char *name, const char *text) {
    FILE *f = fopen(at(name), "wb");
    fputs(text, f);
    fclose(f);
}

// of source.c, whose names are in its folder and in runtime/
static uint64_t hash(void) {
    const char *folders[] = {at("runtime"), NULL};
    return hash_source(arena, at("source.c"), folders, 1);
}

static void begin(void) {
    char folder[] = "/tmp/burin-unit-XXXXXX";
    arena = arena_new();
    home = arena_strdup(arena, mkdtemp(folder));
    CHECK(!mkdir(at("runtime"), 0700) && !mkdir(at("runtime/room"), 0700));
    put("source.c",
        "#include <stdio.h>\n  #  include \"plan.h\"\n#include \"room/a.h\"\n#include "
        "\"absent.h\"");
    put("plan.h", "int x;\n");
    put("runtime/room/a.h", "#include \"b.h\"\n");
    put("runtime/room/b.h", "#include \"a.h\"\n");
    put("runtime/room/other.h", "int y;\n");
    put("runtime/b.h", "int z;\n");
}

static void end(void) {
    CHECK(remove_tree(home));
    arena_free(arena);
}

static void what_is_included_counts(void) {
    begin();
    uint64_t before = hash();
    CHECK(hash() == before);
    put("runtime/room/b.h", "#include \"a.h\"\nint more;\n");
    uint64_t deep = hash();
    CHECK(deep != before);
    put("plan.h", "int changed;\n");
    CHECK(hash() != before && hash() != deep);
    end();
}

static void what_is_not_included_does_not(void) {
    begin();
    uint64_t before = hash();
    put("runtime/room/other.h", "int changed;\n");
    put("runtime/b.h", "int changed;\n");
    put("stdio.h", "int own;\n");
    CHECK(hash() == before);
    end();
}

static void a_file_that_comes_to_be_found_counts(void) {
    begin();
    uint64_t before = hash();
    put("runtime/absent.h", "");
    CHECK(hash() != before);
    end();
}

SUITE(includes) {
    TEST(what_is_included_counts);
    TEST(what_is_not_included_does_not);
    TEST(a_file_that_comes_to_be_found_counts);
}
