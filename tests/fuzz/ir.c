// libFuzzer target: the text form of a graph, as --start-from reads it: parsing, and verification
// of the result. Then every pass from the one that the first byte selects, as far as its constants
// are in the text; the result is lowered and becomes C and packed weights.
#include <ctype.h>

#include "codegen/codegen.h"
#include "input.h"
#include "ir/dump.h"
#include "ir_text.h"
#include "lower/lower.h"
#include "passes/pass.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static int first_pass;

// Data that are not in the text are made, where they are small.
static bool complete(Arena *arena, Graph *g) {
    enum { MOST_ELEMENTS = 1 << 18 };
    for (Node *n = g->first; n; n = n->next) {
        int64_t count = n->op == OP_constant ? 1 : 0, extent;
        for (int i = 0; count && i < n->type.rank; i++)
            if (!dim_is_const(n->type.dim[i], &extent) || extent < 0 ||
                (count *= extent) > MOST_ELEMENTS)
                return false;
        for (const Attr *a = n->attrs; a; a = a->next)
            if (a->kind == ATTR_GRAPH && !complete(arena, a->graph)) return false;
    }
    fill_constants(arena, g);
    return true;
}

static void drop(void *unused, const void *bytes, size_t n) { (void)unused, (void)bytes, (void)n; }

static void load(Arena *arena, const char *path) { module_load(arena, path); }

static void emit(Arena *arena, Module *m) {
    Text source = {0}, header = {0};
    Program *program = lower_module(arena, m, &(LowerOptions){0});
    name_functions(program);
    emit_program(program, &source);
    emit_header(program, &header);
    weights_write(program, drop, NULL);
    text_free(&source);
    text_free(&header);
}

static void read_and_emit(Arena *arena, const char *path) {
    Graph *g = graph_parse(read_source(arena, path), NULL);
    if (!g || !complete(arena, g)) return;
    Module m = {.arena = arena,
                .name = "model",
                .graphs = &g,
                .n_graphs = 1,
                .description = "model.burin",
                .bos = -1,
                .context = 64};
    PassContext passes = {
        .arena = arena, .start_from = first_pass, .stop_after = -1, .context = 64, .max_rows = 64};
    if (passes_run(&m, &passes)) emit(arena, &m);
}

// ---- mutations: a word of a dump becomes another of its kind, so that most still parse ----

enum { MOST_WORDS = 4096 };

typedef struct Words {
    size_t at[MOST_WORDS], length[MOST_WORDS];
    int n;
} Words;

static bool in_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '.';
}

// Values (%x), numbers, and names: of operations, attributes, types.
static char kind_of(char c) { return c == '%' ? '%' : isdigit((unsigned char)c) ? '0' : 'a'; }

static void find_words(Words *w, const char *text, size_t size) {
    w->n = 0;
    for (size_t i = 0, n; i < size && w->n < MOST_WORDS; i += n ? n : 1) {
        for (n = 0; i + n < size && in_word(text[i + n]);) n++;
        if (n) w->at[w->n] = i, w->length[w->n++] = n;
    }
}

static size_t replace(char *text, size_t size, size_t most, const Words *w, int which,
                      const char *by) {
    size_t at = w->at[which], n = w->length[which], m = strlen(by);
    if (size - n + m > most) return size;
    memmove(text + at + m, text + at + n, size - at - n);
    memcpy(text + at, by, m);
    return size - n + m;
}

static const char *odd_number(unsigned choice) {
    static const char *const numbers[] = {
        "0",     "1",     "2",    "-1",      "3",          "7",           "16",
        "255",   "256",   "4097", "1000000", "2147483647", "-2147483648", "1e30",
        "nan",   "-0.5",  "inf",  "0.1",     "65536",      "4294967296",  "9223372036854775807",
        "-3e38", "1e-40", "15"};
    return numbers[choice % (sizeof numbers / sizeof *numbers)];
}

// Another word of the same kind, or for a number an odd one.
static size_t change_word(char *text, size_t size, size_t most) {
    static Words w;
    char by[64];
    find_words(&w, text, size);
    if (!w.n) return size;
    int which = rand() % w.n;
    char kind = kind_of(text[w.at[which]]);
    if (kind == '0' && rand() % 2)
        return replace(text, size, most, &w, which, odd_number((unsigned)rand()));
    for (int tries = 0; tries < 64; tries++) {
        int other = rand() % w.n;
        if (kind_of(text[w.at[other]]) != kind || w.length[other] >= sizeof by) continue;
        snprintf(by, sizeof by, "%.*s", (int)w.length[other], text + w.at[other]);
        return replace(text, size, most, &w, which, by);
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    srand(seed);
    if (rand() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
    for (int n = 1 + rand() % 3; n; n--) size = change_word((char *)data, size, most);
    return size;
}

// A dump begins with a letter or a comment: infer comes first. A digit before it is another pass.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bool chosen = size && *data >= '0' && *data <= '9';
    first_pass = chosen ? (*data - '0') % PASS_COUNT : PASS_infer;
    fuzz_import(data + chosen, size - chosen, load);
    fuzz_import(data + chosen, size - chosen, read_and_emit);
    return 0;
}
