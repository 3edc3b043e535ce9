// Golden tests of passes, found by their files: tests/golden/PASS/NAME.ir is the graph before, NAME.PASS.ir after the passes up
// to PASS, followed by the fusion sites as comments. Each is also verified, and a second run of PASS must change nothing.
//
// A first line `// quant=q8_0` sets --quant. GOLDEN_UPDATE=1 writes what is expected: review it like code.
#include <dirent.h>

#include "graphs.h"

typedef struct Case {
    const char *pass, *name;
    char before[1024], after[1024];
} Case;

static PassContext context_of(Arena *a, const char *text) {
    PassContext c = {.arena = a, .context = 64, .max_rows = 16, .stop_after = -1};
    char format[16] = "";
    if (sscanf(text, "// quant=%15[a-z0-9_]", format) == 1) c.quant = arena_strdup(a, format);
    return c;
}

static void print_sites(Text *t, const PassContext *c) {
    for (const FusionSite *s = c->sites; s; s = s->next)
        text_add(t, "// %s: %s%s%s%s\n", s->pattern, s->broke ? "missed, %" : "matched", s->broke ? s->broke : "",
                 s->broke ? " " : "", s->broke ? s->why : "");
}

// The text after the passes up to `pass`, or NULL when one of them fails.
static char *run_passes(const Case *test, const char *text, bool *stable) {
    Arena *a = arena_new();
    Source source = {.name = test->before, .text = text, .size = strlen(text)};
    PassContext c = context_of(a, text), again = c;
    Text out = {0};
    Graph *g = graph_parse(&source, NULL);
    bool ok = g != NULL;
    for (int i = 0; ok && i < PASS_COUNT; i++) {
        bool last = !strcmp(pass_info[i].name, test->pass);
        pass_info[i].run(g, &c);
        ok = graph_verify(g, pass_info[i].name);
        if (!last) continue;
        graph_print(&out, g);
        print_sites(&out, &c);
        *stable = ok && !pass_info[i].run(g, &again);
        break;
    }
    char *result = ok && out.data ? strdup(out.data) : NULL;
    text_free(&out);
    graph_free(g);
    arena_free(a);
    return result;
}

static void run_case(const Case *test) {
    size_t size;
    bool stable = false, exists = !access(test->after, R_OK);
    char *text = read_text_file(test->before, &size), *got = run_passes(test, text, &stable);
    if (got && getenv("GOLDEN_UPDATE")) write_file(test->after, got, strlen(got)), exists = true;
    char *expected = exists ? read_text_file(test->after, &size) : strdup("");
    bool same = got && !strcmp(got, expected);
    CHECK(same);
    CHECK(stable);
    if (!same) printf("# expected\n%s# got\n%s", expected, got ? got : "nothing\n");
    if (!stable) printf("# a second run changes the graph\n");
    printf("%s - golden: %s/%s\n", same && stable ? "ok" : "not ok", test->pass, test->name);
    free(text), free(got), free(expected);
}

static int is_before(const struct dirent *d) {
    const char *dot = strchr(d->d_name, '.');
    return dot && !strcmp(dot, ".ir");
}

static void run_folder(const char *pass) {
    struct dirent **files;
    char folder[64];
    snprintf(folder, sizeof folder, "tests/golden/%s", pass);
    int n = scandir(folder, &files, is_before, alphasort);
    for (int i = 0; i < n; i++) {
        Case test = {.pass = pass, .name = files[i]->d_name};
        snprintf(test.before, sizeof test.before, "%s/%s", folder, files[i]->d_name);
        *strchr(files[i]->d_name, '.') = 0;
        snprintf(test.after, sizeof test.after, "%s/%.300s.%s.ir", folder, files[i]->d_name, pass);
        run_case(&test);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

static void passes(void) {
    for (int i = 0; i < PASS_COUNT; i++) run_folder(pass_info[i].name);
}

SUITE(golden) { TEST(passes); }
