// CPU levels of a machine, and the tiles of AMX, which a system may refuse.
#include "target/target.h"

#include <string.h>

#include "target/TEMPLATE.c"
#include "unit.h"

static bool is_spelled(const Target *t) {
    size_t i = 0;
    while (t->name[i] && t->symbol[i] == (strchr("-.+", t->name[i]) ? '_' : t->name[i])) i++;
    return !t->name[i] && !t->symbol[i];
}

static void rows_are_whole(void) {
    CHECK(is_spelled(&target_template) && target_template.vector_bits >= 128);
    for (int i = 0; i < n_targets; i++) CHECK(is_spelled(&targets[i]));
}

static void levels_of_this_machine(void) {
    const Target *best = target_find("native", true);
    CHECK(best && target_runs_here(best));
    CHECK(target_find("native", false)->use != FOR_FAST_MATH);
    CHECK(!target_runs_here(target_find("cortex-m4", false)));
    for (const Target *t = best + 1; t < targets + n_targets; t++) CHECK(!target_runs_here(t));
    for (int i = 0; i < n_targets; i++)
        CHECK(target_find(targets[i].name, false) == &targets[i] && *targets[i].tested);
}

static void models_have_levels(void) {
    CHECK_TEXT(target_find("alderlake", false)->name, "x86-64-v3+vnni");
    CHECK_TEXT(target_find("sapphirerapids", false)->name, "x86-64-v4+amx");
    CHECK_TEXT(target_find("sapphirerapids", true)->name, "x86-64-v4+amx-bf16");
    CHECK_TEXT(target_find("znver4", true)->name, "x86-64-v4+bf16");
    CHECK_TEXT(target_find("alderlake", true)->name, "x86-64-v3+vnni");
    CHECK_TEXT(target_find("neoverse-v2", false)->name, "armv8.2-a+i8mm");
    CHECK(!target_find("pentium", false));
}

#if defined(__x86_64__)
#include "engine/cpu.h"

static int asked;
static bool granted(void) { return ++asked > 0; }
static bool refused(void) { return ++asked < 0; }

static void tiles_are_asked_for(void) {
    burin_cpuid c = {.leaf7_edx = 3u << 24, .saved = 0x600e6};
    asked = 0;
    CHECK(burin_has_tiles(&c, granted) && asked == 1);
    CHECK(!burin_has_tiles(&c, refused) && asked == 2);
    CHECK(!burin_has_tiles(&(burin_cpuid){.leaf7_edx = 3u << 24, .saved = 0xe6}, granted));
    CHECK(!burin_has_tiles(&(burin_cpuid){.leaf7_edx = 1u << 24, .saved = 0x600e6}, granted));
    CHECK(!burin_has_tiles(&(burin_cpuid){.leaf7_edx = 1u << 25, .saved = 0x600e6}, granted) &&
          asked == 2);
}
#else
static void tiles_are_asked_for(void) {}
#endif

SUITE(target) {
    TEST(rows_are_whole);
    TEST(levels_of_this_machine);
    TEST(models_have_levels);
    TEST(tiles_are_asked_for);
}
