// lower/: views, kernels, the loop over layers, weights.
#include "lower/lower.h"

#include <stdlib.h>

#include "../tools/ir_text.h"
#include "graphs.h"
#include "ir/encode.h"
#include "lower/pack_blocks.h"
#include "lower/scan.h"

static Program *lower_graph(Arena *arena, Graph *g) {
    Module *m = ARENA_NEW(arena, Module);
    *m = (Module){.arena = arena, .name = "test", .n_graphs = 1, .description = "test.burin"};
    m->graphs = ARENA_NEW(arena, Graph *);
    m->graphs[0] = g;
    return lower(arena, m, 0, &(LowerOptions){0});
}

static Program *lower_text(Arena *arena, const char *text) {
    Graph *g = parse_text(text);
    for (Node *n = g->first; n; n = n->next)
        if (n->op == OP_constant && !n->value) fill_constant(arena, n);
    return lower_graph(arena, g);
}

static Program *lower_file(Arena *arena, const char *path) {
    return lower_graph(arena, load_ir_text(arena, path));
}

static void finish(Arena *arena, Program *p) {
    graph_free(p->graph);
    arena_free(arena);
}

static const Kernel *kernel_of(const Program *p, const char *value) {
    for (int i = 0; i < p->n_kernels; i++)
        if (!strcmp(p->kernels[i]->node->name, value)) return p->kernels[i];
    return NULL;
}

static void layers_are_a_loop(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/llama.ir");
    CHECK(p->loop.iterations == 3 && p->loop.period == 11 && p->loop.first == 2 &&
          p->loop.missing == 1);
    CHECK(kernel_of(p, "qkv.0")->out[0].buffer == kernel_of(p, "qkv.2")->out[0].buffer);
    CHECK(kernel_of(p, "qkv.0")->signature == kernel_of(p, "qkv.2")->signature);
    CHECK(kernel_of(p, "kc1.0")->signature != kernel_of(p, "vc1.0")->signature);
    finish(arena, p);
}

static const Scan *scan_of(const Program *p, int which) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->family == FAMILY_SCAN && !which--) return p->kernels[i]->scan;
    return NULL;
}

static const ScanResult *state_of(const Scan *s, int which) {
    for (int i = 0; i < s->n_results; i++)
        if (s->results[i].is_state && !which--) return &s->results[i];
    return NULL;
}

// Readers of a view that have no second operand are not asked for one (found by fuzzing under
// AddressSanitizer).
static void asks_no_reader_for_operands_it_lacks(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(
        arena,
        "graph g(%x: f32[T, 60]) -> (%a, %b) where T <= 64 {\n"
        "  %w = constant {hash=0x1, name=\"w\"} : f32[16, 30]\n  %pack = pack(%w) "
        "{format=\"f32\"}\n"
        "  %even = slice(%x) {axis=1, extent=30, start=0, step=2}\n"
        "  %back = slice(%x) {axis=1, extent=60, start=59, step=-1}\n"
        "  %e = exp(%even)\n  %h = reshape(%back) {shape=[T, 4, 15]}\n"
        "  %a = matmul_packed(%even, %pack) {columns=16}\n  %t = transpose(%h) {perm=[0, 2, 1]}\n"
        "  %s = silu(%t)\n  %m = reshape(%s) {shape=[T, 60]}\n"
        "  %o = slice(%m) {axis=1, extent=30, start=0, step=2}\n  %b = add(%e, %o)\n}\n");
    CHECK(p->n_kernels >= 2);
    CHECK(kernel_of(p, "a") != NULL && kernel_of(p, "b") != NULL);
    finish(arena, p);
}

// tests/e2e/scans/scans.burin: heads, a reduced axis and lanes; passes as sums need earlier sums;
// a state is stored in the last pass that reads it.
static void loops_by_lanes_are_scans(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/scan.ir");
    const Scan *odd = scan_of(p, 0), *thrice = scan_of(p, 1), *keep = scan_of(p, 2);
    CHECK(odd && thrice && keep);
    if (!odd || !thrice || !keep) return;
    CHECK(odd->n_axes == 3 && odd->reduced == 1 && odd->lane == 2 && odd->extent[2] == 20);
    CHECK(odd->vectors == 1 && odd->units == 3 * 2 && odd->n_passes == 2);
    CHECK(state_of(odd, 0)->pass == 1 && scan_stores_along(odd, state_of(odd, 0)));
    CHECK(!scan_stores_along(odd, state_of(odd, 1)));
    CHECK(thrice->n_passes == 3 && state_of(thrice, 0)->pass == 2);
    CHECK(keep->reduced < 0 && keep->n_passes == 0 && keep->units == 2);
    CHECK(p->n_regions == 1);  // a sum along the innermost axis is one of sixteen lanes
    finish(arena, p);
}

// Bodies of loops over rows that are no scans, and one that is.
static void other_loops_stay(void) {
    static const char *const results[] = {
        "reduce_sum(%S.1) {axes=[1], keepdims=0} : f32[4]",    // innermost
        "reduce_sum(%S.1) {axes=[0, 1], keepdims=0} : f32[]",  // two axes
        "transpose(%S.1) {perm=[1, 0]} : f32[32, 4]",          // lanes that are not adjacent
        "mul(%S.1, %q) : f32[4, 32]",                          // strided lanes of an operand
        "cum_sum(%S.1) {axis=1} : f32[4, 32]",                 // no formula
    };
    static const char before[] =
        "graph g(%tokens: i32[R] {role=\"tokens\"}, %slot: i32[R] {role=\"slots\"}, "
        "%position: i32[R] {role=\"positions\"}) -> (%y) where R <= 8, S <= 4, 0 <= row <= 7 {\n"
        "%table = constant {hash=0x1} : f32[9, 128]\n"
        "%x = gather(%table, %tokens) {axis=0} : f32[R, 128]\n"
        "%s = state {kind=\"row\", layer=0, ring=1, window=1} : f32[S, 1, 8, 128]\n"
        "%loop = loop(_, _, %s, %x, %slot, %position) {body=graph step(%S: f32[S, 1, 8, 128], "
        "%v: f32[R, 128], %of: i32[R], %at: i32[R]) -> (%c, %r) {\n"
        "%slot1 = slice(%of) {axis=0, extent=1, start=row} : i32[1]\n"
        "%at1 = slice(%at) {axis=0, extent=1, start=row} : i32[1]\n"
        "%h = shift_rows(%S, %slot1, %at1) {back=1} : f32[1, 128]\n"
        "%h2 = reshape(%h) {shape=[4, 32]} : f32[4, 32]\n"
        "%v1 = slice(%v) {axis=0, extent=1, start=row} : f32[1, 128]\n"
        "%w = reshape(%v1) {shape=[4, 32]} : f32[4, 32]\n"
        "%wide = reshape(%v1) {shape=[32, 4]} : f32[32, 4]\n"
        "%q = transpose(%wide) {perm=[1, 0]} : f32[4, 32]\n"
        "%S.1 = add(%h2, %w) : f32[4, 32]\n"
        "%r = ";
    static const char after[] =
        "\n%flat = reshape(%S.1) {shape=[1, 128]} : f32[1, 128]\n"
        "%c = cache_append(%S, %flat, %slot1, %at1) {heads=1} : f32[S, 1, 8, 128]\n"
        "}, counter=row, extent=R, length=R, states=1}\n"
        "%y = item(%loop) {index=1}\n}\n";
    for (size_t i = 0; i <= sizeof results / sizeof *results; i++) {
        bool scan = i == sizeof results / sizeof *results;
        Arena *arena = arena_new();
        const char *result =
            scan ? "reduce_sum(%S.1) {axes=[0], keepdims=0} : f32[32]" : results[i];
        Program *p = lower_text(arena, arena_printf(arena, "%s%s%s", before, result, after));
        CHECK((scan_of(p, 0) != NULL) == scan && p->n_regions == !scan);
        finish(arena, p);
    }
}

// Rows of int8 after a norm are a result of its kernel; those of attention and of the MLP's
// products have a kernel of their own.
static void norms_quantize_their_rows(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/llama_q8_0.ir");
    int norms = 0, kernels = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        norms += quantized_result(p->kernels[i]) >= 0;
        kernels += p->kernels[i]->family == FAMILY_QUANTIZE;
    }
    CHECK(p->loop.iterations > 1 && norms >= 2 * p->loop.iterations);
    CHECK(kernels == 2 * p->loop.iterations);
    finish(arena, p);
}

static void barriers_are_counted(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/llama.ir");
    // One row: after each of the four products, attention, and the last product; more: norms too.
    // Rotary embeddings and caches are fused into their product by heads.
    CHECK(p->plan.barriers_decode == 3 * 5);
    CHECK(p->plan.barriers_prefill == 3 * 7 + 2);
    CHECK(!kernel_of(p, "kr.1")->barrier_prefill);
    CHECK(!kernel_of(p, "kc1.1")->barrier_prefill);
    CHECK(kernel_of(p, "a.1")->barrier_decode && kernel_of(p, "a.1")->barrier_prefill);
    CHECK(kernel_of(p, "kr.1")->fused_into &&
          kernel_of(p, "kr.1")->fused_into == kernel_of(p, "kc1.1")->fused_into);
    finish(arena, p);
}

// Rows to int8 are fused into the MLP's product, and into attention if its heads hold whole blocks.
static void int8_goes_on(const char *path, bool with_heads) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, path);
    const Kernel *of_heads = kernel_of(p, "o.1.q"), *of_product = kernel_of(p, "d.1.q"),
                 *product = kernel_of(p, "h.1");
    CHECK(of_heads->fused_into == (with_heads ? kernel_of(p, "a.1") : NULL) &&
          of_heads->replicated_if_one_row == !with_heads);
    CHECK(of_product->fused_into == product && of_product->first_tile == 0 &&
          of_product->n_tiles == 5);
    CHECK(product->tiles.columns == 32 && product->tiles.count == 5);
    CHECK(p->plan.barriers_decode == 3 * 5 && p->plan.barriers_prefill == 3 * 8 + 3 * !with_heads);
    // While tiles are quantized, other threads still read the product's operand.
    const Buffer *rows = product->in[0].buffer, *to = of_product->out[0].buffer;
    CHECK(rows != to && !to->per_thread);
    CHECK(rows->arena_offset + rows->row_bytes <= to->arena_offset ||
          to->arena_offset + to->row_bytes <= rows->arena_offset);
    finish(arena, p);
}

static void int8_goes_on_with_pieces(void) {
    int8_goes_on("tests/golden/emit/llama_q8_0.ir", false);
    int8_goes_on("tests/golden/emit/llama_q8_0_heads.ir", true);
}

static void works_in_place(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/llama.ir");
    const Kernel *rotary = kernel_of(p, "kr.0"), *skip = kernel_of(p, "t.0");
    CHECK(rotary->in[0].buffer == kernel_of(p, "qkv.0")->out[0].buffer &&
          rotary->out[0].buffer == rotary->in[0].buffer);
    CHECK(rotary->out[0].offset == rotary->in[0].offset);
    CHECK(skip->out[1].buffer == skip->in[1].buffer);
    CHECK(skip->out[0].buffer != skip->in[0].buffer);
    finish(arena, p);
}

static void check_tied(const char *path, const char *format) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, path);
    const Kernel *embed = p->kernels[0], *head = p->kernels[p->n_kernels - 1];
    CHECK(embed->family == FAMILY_EMBED && head->family == FAMILY_MATMUL);
    CHECK(embed->in[0].weight == head->in[1].weight);
    CHECK(!strcmp(embed->in[0].weight->format->name, format));
    finish(arena, p);
}

static void a_tied_table_is_stored_once(void) {
    check_tied("tests/golden/emit/llama.ir", "bf16");
    check_tied("tests/golden/emit/llama_q8_0.ir", "q8_0");
}

static void weights_are_aligned_and_apart(void) {
    Arena *arena = arena_new();
    Program *p = lower_file(arena, "tests/golden/emit/llama_q8_0.ir");
    uint64_t end = 0;
    for (int i = 0; i < p->n_weights; i++) {
        CHECK(p->weights[i]->offset % 64 == 0 && p->weights[i]->offset >= end);
        end = p->weights[i]->offset + p->weights[i]->bytes;
    }
    CHECK(end <= p->plan.weight_bytes && p->plan.weight_bytes - end < 64);
    finish(arena, p);
}

typedef struct Bytes {
    unsigned char *data;
    size_t n;
} Bytes;

static void collect(void *user, const void *bytes, size_t n) {
    Bytes *b = user;
    memcpy(b->data + b->n, bytes, n);
    b->n += n;
}

static void weights_stream_in_panels(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(arena,
                            "graph g(%x: f32[R, 3]) -> (%y) where 1 <= R <= 4 {\n"
                            "  %a = constant {value=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]} : f32[2, 3]\n"
                            "  %b = constant {value=[7.0, 8.0, 9.0]} : f32[1, 3]\n"
                            "  %w = pack(%a, %b) {format=\"f32\"}\n"
                            "  %y = matmul_packed(%x, %w) {columns=3}\n}\n");
    Bytes b = {.data = malloc(p->plan.weight_bytes)};
    weights_write(p, collect, &b);
    CHECK(b.n == 192 && p->plan.weight_bytes == 192);
    const float *panel = (const float *)b.data;  // [k][16]
    CHECK(panel[0] == 1 && panel[1] == 4 && panel[2] == 7 && panel[3] == 0);
    CHECK(panel[32] == 3 && panel[33] == 6 && panel[34] == 9 && panel[47] == 0);
    free(b.data);
    finish(arena, p);
}

static void q8_0_rounds_to_even(void) {
    const Format *f = format_of(DT_q8_0);
    float values[32];
    unsigned char block[544];
    CodedBlock coded;
    const CodedBlock *columns[PANEL_COLUMNS] = {&coded};
    // only 1 fits the rest
    for (int i = 0; i < 32; i++) values[i] = i < 3 ? (float)i * 0.5f - 3.5f : (float)(4 * i + 1);
    values[31] = 127;
    CHECK(format_panel_bytes(f) == sizeof block);
    f->encode(f, &(EncodeInput){values, NULL, 32}, &coded);
    pack_blocks(f, columns, block);
    CHECK(block[0] == 128 - 4);  // -3.5 to -4
    CHECK(block[1] == 128 - 3);  // -3
    CHECK(block[2] == 128 - 2);  // -2.5 to -2
    CHECK(block[7 * 64 + 3] == 128 + 127);
    CHECK(block[4] == 128);  // column 1: zeros
    CHECK(block[512] == 0 && block[513] == 0x3c && block[514] == 0 &&
          block[515] == 0);  // scales 1, 0
}

static void views_are_free(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(arena,
                            "graph g(%x: f32[R, 24]) -> (%y) where 1 <= R <= 4 {\n"
                            "  %a = relu(%x)\n"
                            "  %h = reshape(%a) {shape=dims[R, 4, 6]}\n"
                            "  %t = transpose(%h) {perm=[0, 2, 1]}\n"
                            "  %s = slice(%t) {axis=1, extent=2, start=3}\n"
                            "  %y = exp(%s)\n}\n");
    CHECK(p->n_kernels == 2 && p->n_buffers == 1);
    const View *v = &p->kernels[1]->in[0];
    int64_t offset, stride;
    CHECK(dim_is_const(v->offset, &offset) && offset == 3);
    CHECK(dim_is_const(v->stride[0], &stride) && stride == 24);
    CHECK(dim_is_const(v->stride[1], &stride) && stride == 1);
    CHECK(dim_is_const(v->stride[2], &stride) && stride == 6);
    finish(arena, p);
}

static void what_no_view_can_say_is_copied(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(arena,
                            "graph g(%x: f32[R, 24]) -> (%y) where 1 <= R <= 4 {\n"
                            "  %a = relu(%x)\n"
                            "  %h = reshape(%a) {shape=dims[R, 4, 6]}\n"
                            "  %t = transpose(%h) {perm=[0, 2, 1]}\n"
                            "  %f = reshape(%t) {shape=dims[R, 24]}\n"
                            "  %y = exp(%f)\n}\n");
    CHECK(p->n_kernels == 3 && p->kernels[1]->copies);
    finish(arena, p);
}

// A reader of rows that the same thread wrote needs no barrier; rows further down are another
// thread's. Nor does it for adjacent columns, at any offset in a row of memory.
static void moved_rows_wait(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(arena,
                            "graph g(%x: f32[8, 16], %w: f32[16]) -> (%same, %next, %apart) {\n"
                            "  %a = rms_normalization(%x, %w) {epsilon=0x1p-10}\n"
                            "  %same = rms_normalization(%a, %w) {epsilon=0x1p-9}\n"
                            "  %b = rms_normalization(%x, %w) {epsilon=0x1p-8}\n"
                            "  %below = slice(%b) {axis=0, start=1, extent=7}\n"
                            "  %apart = exp(%below)\n"
                            "  %c = rms_normalization(%x, %w) {epsilon=0x1p-6}\n"
                            "  %both = concat(%a, %c) {axis=0}\n"
                            "  %moved = slice(%both) {axis=0, start=4, extent=8}\n"
                            "  %next = rms_normalization(%moved, %w) {epsilon=0x1p-7}\n}\n");
    CHECK(!kernel_of(p, "same")->barrier_prefill);
    CHECK(kernel_of(p, "apart")->barrier_prefill);
    CHECK(kernel_of(p, "next")->barrier_prefill);
    finish(arena, p);
}

static void overwrites_only_the_dead(void) {
    Arena *arena = arena_new();
    Program *p = lower_text(arena,
                            "graph g(%x: f32[R, 16]) -> (%y) where 1 <= R <= 4 {\n"
                            "  %a = relu(%x)\n"
                            "  %b = exp(%a)\n"
                            "  %c = tanh(%b)\n"
                            "  %y = add(%a, %c)\n}\n");
    CHECK(kernel_of(p, "b")->out[0].buffer != kernel_of(p, "a")->out[0].buffer);
    CHECK(kernel_of(p, "c")->out[0].buffer == kernel_of(p, "b")->out[0].buffer);
    finish(arena, p);
}

// An encoder and a decoder over one table: after hoist and layout.
static const char encoder_text[] =
    "graph encode(%ids: i32[M] {role=\"tokens\"}) -> (%k1, %v1) where M <= 40, S <= 8 {\n"
    "  %e = constant {hash=0x1, name=\"shared\"} : f32[32, 16]\n"
    "  %pe = pack(%e) {format=\"f32\"}\n"
    "  %x = gather(%pe, %ids) {axis=0}\n"
    "  %w = constant {hash=0x2, name=\"kv\"} : f32[32, 16]\n"
    "  %p = pack(%w) {format=\"f32\"}\n"
    "  %kv = matmul_packed(%x, %p) {columns=32}\n"
    "  %k = slice(%kv) {axis=1, start=0, extent=16}\n"
    "  %ks = state {kind=\"key\", layer=0, memory=1} : f32[S, 2, 40, 8]\n"
    "  %k1 = cache_append(%ks, %k) {heads=2}\n"
    "  %v = slice(%kv) {axis=1, start=16, extent=16}\n"
    "  %vs = state {kind=\"value\", layer=0, memory=1} : f32[S, 2, 40, 8]\n"
    "  %v1 = cache_append(%vs, %v) {heads=2}\n"
    "}\n";
static const char decoder_text[] =
    "graph decode(%tokens: i32[R] {role=\"tokens\"}, %slot: i32[R] {role=\"slots\"}, %position: "
    "i32[R] {role=\"positions\"},"
    " %memory: i32[R] {role=\"memory\"}) -> (%y) where R <= 8, S <= 8 {\n"
    "  %e = constant {hash=0x1, name=\"shared\"} : f32[32, 16]\n"
    "  %pe = pack(%e) {format=\"f32\"}\n"
    "  %x = gather(%pe, %tokens) {axis=0}\n"
    "  %own = state {kind=\"key\", layer=0} : f32[S, 2, 20, 8]\n"
    "  %own1 = cache_append(%own, %x, %slot, %position) {heads=2}\n"
    "  %a = attention(%x, %own1, %own1, %slot, %position) {num_heads=2, num_kv_heads=2, scale=0.5, "
    "causal=1}\n"
    "  %ks = state {kind=\"key\", layer=0, memory=1} : f32[S, 2, 40, 8]\n"
    "  %vs = state {kind=\"value\", layer=0, memory=1} : f32[S, 2, 40, 8]\n"
    "  %c = attention(%a, %ks, %vs, %slot, %memory) {num_heads=2, num_kv_heads=2, scale=0.5, "
    "causal=1}\n"
    "  %y = matmul_packed(%c, %pe) {columns=32}\n"
    "}\n";

static Graph *with_constants(Arena *arena, const char *text) {
    Graph *g = parse_text(text);
    for (Node *n = g->first; n; n = n->next)
        if (n->op == OP_constant && !n->value) fill_constant(arena, n);
    return g;
}

static void count_bytes(void *bytes, const void *data, size_t n) {
    (void)data;
    *(uint64_t *)bytes += n;
}

static void encoder_and_decoder_share(void) {
    Arena *arena = arena_new();
    Module m = {.arena = arena, .name = "pair", .n_graphs = 2, .description = "pair.burin"};
    Graph *graphs[] = {with_constants(arena, encoder_text), with_constants(arena, decoder_text)};
    m.graphs = graphs;
    Program *d = lower_module(arena, &m, &(LowerOptions){0}), *e = d->encoder;
    CHECK(e && e->graph == graphs[0] && d->graph == graphs[1]);
    CHECK_TEXT(e->name, "pair_encode");
    CHECK(e->n_weights == 2 &&
          d->n_weights == 0);  // the table is the encoder's, the decoder reads it there
    const Kernel *head = kernel_of(d, "y"), *embed = kernel_of(e, "x");
    CHECK(head->in[1].weight == embed->in[0].weight && head->in[1].weight->owner == e);
    CHECK(d->weights_offset == e->plan.weight_bytes &&
          program_weight_bytes(d) == 4 * (32 * 16 + 32 * 16));
    uint64_t written = 0;
    weights_write(d, count_bytes, &written);
    CHECK(written == program_weight_bytes(d));
    CHECK(e->states[0]->offset == d->states[1]->offset &&
          e->states[1]->offset == d->states[2]->offset);
    CHECK(e->plan.slot_bytes == d->plan.slot_bytes);
    graph_free(graphs[0]);
    graph_free(graphs[1]);
    arena_free(arena);
}

SUITE(lower) {
    TEST(layers_are_a_loop);
    TEST(asks_no_reader_for_operands_it_lacks);
    TEST(loops_by_lanes_are_scans);
    TEST(other_loops_stay);
    TEST(encoder_and_decoder_share);
    TEST(norms_quantize_their_rows);
    TEST(barriers_are_counted);
    TEST(int8_goes_on_with_pieces);
    TEST(works_in_place);
    TEST(a_tied_table_is_stored_once);
    TEST(weights_are_aligned_and_apart);
    TEST(weights_stream_in_panels);
    TEST(q8_0_rounds_to_even);
    TEST(views_are_free);
    TEST(what_no_view_can_say_is_copied);
    TEST(moved_rows_wait);
    TEST(overwrites_only_the_dead);
}
