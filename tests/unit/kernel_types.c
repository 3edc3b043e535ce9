// Every family of kernels with every element type at every operand: lowering accepts the types of
// kernels.def, and ends with a message for all others. No kernel is given another type.
#include <stdlib.h>

#include "../tools/ir_text.h"
#include "graphs.h"
#include "lower/lower.h"

enum { MOST_TYPES = 8 };

// @0, @1 ...: placeholders of operand types; -1 in `operand`: of no operand of the kernel itself.
typedef struct Sample {
    KernelFamily family;
    const char *text;
    int operand[MOST_TYPES];  // of the kernel, for @0, @1 ...
    const char *types[MOST_TYPES];
} Sample;

static const Sample samples[] = {
    {FAMILY_ROTARY,
     "graph g(%x: @0[4, 32], %c: @1[4, 8], %s: @2[4, 8]) -> (%y) {\n"
     "  %y = rotary_embedding(%x, %c, %s) {num_heads=2}\n}",
     {0, 1, 2},
     {"f32", "f32", "f32"}},
    {FAMILY_NORM,
     "graph g(%x: @0[4, 16], %w: @1[16]) -> (%y) {\n  %y = rms_normalization(%x, %w) "
     "{epsilon=0.001}\n}",
     {0, 1},
     {"f32", "f32"}},
    {FAMILY_NORM,
     "graph g(%x: @0[4, 16], %w: @1[16], %b: @2[16]) -> (%y) {\n  %y = layer_normalization(%x, %w, "
     "%b) {epsilon=0.001}\n}",
     {0, 1, 2},
     {"f32", "f32", "f32"}},
    {FAMILY_NORM,
     "graph g(%x: @0[4, 16], %r: @1[4, 16], %w: @2[16]) -> (%y) {\n"
     "  %t = skip_rms_normalization(%x, %r, %w) {epsilon=0.001}\n  %y = item(%t) {index=1}\n}",
     {0, 1, 2},
     {"f32", "f32", "f32"}},
    {FAMILY_NORM,
     "graph g(%x: @0[4, 16], %r: @1[4, 16], %w: @2[16], %b: @3[16]) -> (%y) {\n"
     "  %t = skip_layer_normalization(%x, %r, %w, %b) {epsilon=0.001}\n  %y = item(%t) "
     "{index=1}\n}",
     {0, 1, 2, 3},
     {"f32", "f32", "f32", "f32"}},
    {FAMILY_ATTENTION,
     "graph g(%q: @0[4, 16], %k: @1[4, 16], %v: @2[4, 16], %b: @3[2, 4, 4], %m: @4[1, 4], %s: "
     "@5[2]) -> (%y) {\n"
     "  %y = attention(%q, %k, %v, _, _, %b, %m, %s) {num_heads=2, num_kv_heads=2, scale=0.5}\n}",
     {0, -1, -1, 5, 6, 7},
     {"f32", "f32", "f32", "f32", "f32", "f32"}},
    {FAMILY_ATTENTION,
     "graph g(%q: @0[R, 16], %k: @1[R, 16], %s: i32[R] {role=\"slots\"}, %p: i32[R] "
     "{role=\"positions\"}) -> (%y) where R <= "
     "8, S "
     "<= 4 {\n"
     "  %c = state {kind=\"key\", layer=0} : @2[S, 2, 32, 8]\n  %d = state {kind=\"value\", "
     "layer=0} : @3[S, 2, 32, 8]\n"
     "  %a = cache_append(%c, %k, %s, %p) {heads=2}\n  %b = cache_append(%d, %k, %s, %p) "
     "{heads=2}\n"
     "  %y = attention(%q, %a, %b, %s, %p) {causal=1, num_heads=2, num_kv_heads=2, scale=0.5}\n}",
     {0, -1, 1, 2},
     {"f32", "f32", "f32", "f32"}},
    {FAMILY_MATMUL,
     "graph g(%x: @0[4, 16], %b: @2[16], %r: @3[4, 16]) -> (%y) {\n  %w = constant {hash=0x11, "
     "name=\"w\"} : @1[16, 16]\n"
     "  %p = pack(%w) {format=\"f32\"}\n  %y = matmul_packed(%x, %p, %b, %r) {columns=16, "
     "epilogue=add($0, add($1, $2))}\n}",
     {0, -1, 2, 3},
     {"f32", "f32", "f32", "f32"}},
    {FAMILY_DEPTHWISE,
     "graph g(%x: @0[1, 4, 6], %b: @1[4, 1]) -> (%y) {\n  %w = constant {hash=0x11, name=\"w\"} : "
     "f32[3, 4, 1]\n"
     "  %t = transpose(%w) {perm=[1, 0, 2]}\n  %v = windows(%x) {kernel=[3], strides=[1]}\n"
     "  %r = reshape(%v) {shape=[4, 4, 3]}\n  %m = matmul(%r, %t)\n"
     "  %n = reshape(%m) {shape=[4, 4]}\n  %a = add(%n, %b)\n  %y = neg(%a)\n}",
     {-1, 2},
     {"f32", "f32"}},
    {FAMILY_ORDER,
     "graph g(%x: @0[4, 16], %i: @2[4, 2]) -> (%y) {\n  %w = constant {hash=0x11, name=\"w\"} : "
     "@1[8, 16]\n"
     "  %v = constant {hash=0x12, name=\"v\"} : @1[8, 16]\n  %p = pack(%w, %v) {format=\"f32\", "
     "experts=2}\n"
     "  %y = expert_matmul(%x, %p, %i) {columns=8}\n}",
     {-1, -1, 0},
     {"f32", "f32", "i32"}},
    {FAMILY_EXPERTS,
     "graph g(%x: @0[4, 16], %i: @2[4, 2]) -> (%y) {\n  %w = constant {hash=0x11, name=\"w\"} : "
     "@1[8, 16]\n"
     "  %v = constant {hash=0x12, name=\"v\"} : @1[8, 16]\n  %p = pack(%w, %v) {format=\"f32\", "
     "experts=2}\n"
     "  %y = expert_matmul(%x, %p, %i) {columns=8}\n}",
     {0, -1, 2},
     {"f32", "f32", "i32"}},
    {FAMILY_QUANTIZE,
     "graph g(%x: @0[4, 64]) -> (%y) {\n  %w = constant {hash=0x11, name=\"w\"} : f32[16, 64]\n"
     "  %p = pack(%w) {format=\"q8_0\"}\n  %q = quantize_rows(%x) {format=\"q8_rows\"}\n"
     "  %y = matmul_packed(%q, %p) {columns=16}\n}",
     {0},
     {"f32"}},
    {FAMILY_GATHER,
     "graph g(%x: @0[R, 16], %t: bool[R] {role=\"logit_rows\"}) -> (%y) where R <= 8, 0 <= L <= 8 "
     "{\n"
     "  %y = gather_rows(%x, %t)\n}",
     {0},
     {"f32"}},
    {FAMILY_KEYS,
     "graph g(%x: @0[R, 2, 8], %s: i32[R] {role=\"slots\"}, %p: i32[R] {role=\"positions\"}) -> "
     "(%y) "
     "where R <= 8, S <= 4 {\n"
     "  %k = state {kind=\"kept_key\", layer=0} : f32[S, 2, 16, 8]\n"
     "  %y = key_products(%x, %k, %s, %p) {context=16}\n}",
     {0},
     {"f32"}},
    {FAMILY_SHIFT,
     "graph g(%x: @0[R, 16]) -> (%y) where R <= 8 {\n  %y = shift_rows(%x) {back=1}\n}",
     {0},
     {"f32"}},
    {FAMILY_SCAN,
     "graph g(%s: i32[R] {role=\"slots\"}, %p: i32[R] {role=\"positions\"}, %x: @0[R, 16]) -> (%y) "
     "where R <= 8, S <= 4, 0 <= row <= 7 {\n"
     "  %h = state {kind=\"row\", layer=0, ring=1, window=1} : f32[S, 1, 8, 16]\n"
     "  %t = loop(_, _, %h, %x, %s, %p) {body=graph step(%h: f32[S, 1, 8, 16], %x: @0[R, 16], "
     "%s: i32[R], %p: i32[R]) -> (%n, %z) {\n"
     "    %o = slice(%s) {axis=0, extent=1, start=row}\n"
     "    %a = slice(%p) {axis=0, extent=1, start=row}\n"
     "    %b = shift_rows(%h, %o, %a) {back=1}\n"
     "    %e = slice(%x) {axis=0, extent=1, start=row}\n"
     "    %z = add(%b, %e)\n"
     "    %n = cache_append(%h, %z, %o, %a) {heads=1}\n"
     "  }, counter=row, extent=R, length=R, states=1}\n"
     "  %y = item(%t) {index=1}\n}",
     {-1},
     {"f32"}},
    {FAMILY_EMBED,
     "graph g(%t: i32[R]) -> (%y) where R <= 8 {\n  %w = constant {hash=0x11, name=\"w\"} : @0[32, "
     "16]\n"
     "  %x = gather(%w, %t) {axis=0}\n  %y = cast(%x) {to=f32}\n}",
     {-1},
     {"f32"}},
};

static char *text_of(const Sample *s, int place, const char *type) {
    Text t = {0};
    const char *from = s->text;
    for (const char *at; (at = strchr(from, '@')); from = at + 2) {
        int i = at[1] - '0';
        text_add(&t, "%.*s%s", (int)(at - from), from, i == place ? type : s->types[i]);
    }
    text_add(&t, "%s", from);
    return t.data;
}

// The result for a text: lowered, with only accepted types for every kernel.
typedef struct Lowered {
    const char *text;
    bool done, conforms;
    int of_family;
    KernelFamily family;
} Lowered;

static void read_kernels(const Program *p, Lowered *r) {
    r->conforms = true;
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        r->of_family += k->family == r->family;
        for (int j = 0; j < k->n_in; j++)
            r->conforms &=
                k->in[j].base == BASE_NONE || kernel_takes(k->family, j, k->in[j].type.dtype);
    }
}

static bool lowers(void *user) {
    Lowered *r = user;
    Graph *g = parse_text(r->text);
    Arena *arena = arena_new();
    if (g && setjmp(*diag_guard()) == 0) {
        for (Node *n = g->first; n; n = n->next)
            if (n->op == OP_constant && !n->value) fill_constant(arena, n);
        Module m = {.arena = arena,
                    .name = "test",
                    .n_graphs = 1,
                    .graphs = &g,
                    .description = "test.burin"};
        read_kernels(lower(arena, &m, 0, &(LowerOptions){0}), r);
        r->done = true;
    }
    diag_unguard();
    return r->done;
}

static void try_type(const Sample *s, int place, DType type) {
    bool done, expected = s->operand[place] < 0 || kernel_takes(s->family, s->operand[place], type);
    char *text = text_of(s, place, dtype_name(type));
    Lowered r = {.text = text, .family = s->family};
    char *message = stderr_of(lowers, &r, &done);
    bool right = done ? r.conforms && (expected || !r.of_family)
                      : strstr(message, "error:") && (!expected || s->operand[place] < 0);
    if (!right)
        printf("# @%d as %s: %s\n%s\n# %s\n", place, dtype_name(type), done ? "lowered" : "refused",
               text, message);
    CHECK(right);
    if (done && type == DT_f32) CHECK(r.of_family > 0);
    free(message);
    free(text);
}

static void no_kernel_is_given_another_type(void) {
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        for (int place = 0; place < MOST_TYPES && samples[i].types[place]; place++)
            for (DType t = 0; t < DT_string; t++) try_type(&samples[i], place, t);
}

// Each family but the nests has its sample, or is part of one: appending, of attention's.
static void every_family_has_a_sample(void) {
    bool there[FAMILY_NEST + 1] = {[FAMILY_APPEND] = true, [FAMILY_NEST] = true};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) there[samples[i].family] = true;
    for (int f = 0; f <= FAMILY_NEST; f++) CHECK(there[f]);
}

static bool lowers_f16(void *user) {
    Lowered r = {.text = user};
    return lowers(&r);
}

static void says_which_type(void) {
    bool done;
    char *message = stderr_of(lowers_f16,
                              (void *)"graph g(%x: f16[4, 32], %c: f16[4, 8], %s: f16[4, 8]) -> (%y) {\n"
                              "  %y = rotary_embedding(%x, %c, %s) {num_heads=2}\n}",
                              &done);
    CHECK(!done &&
          strstr(message, "rotary_embedding: its kernel has no code for operand 0 of type f16"));
    free(message);
}

SUITE(kernel_types) {
    TEST(no_kernel_is_given_another_type);
    TEST(every_family_has_a_sample);
    TEST(says_which_type);
}
