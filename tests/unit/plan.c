// lower/plan.c: places in the arena, on programs made at random.
#include "lower/lowering.h"
#include "unit.h"

static uint64_t state;

static int random_below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}

static View view_of_buffer(Buffer *b) { return (View){.base = BASE_BUFFER, .buffer = b}; }

// Every kernel writes one buffer and reads up to three earlier ones; now and then it works in
// place.
static Program *random_program(Arena *arena, int n_kernels) {
    Program *p = ARENA_NEW(arena, Program);
    *p = (Program){.arena = arena, .max_rows = 1};
    p->kernels = ARENA_ARRAY(arena, Kernel *, n_kernels);
    p->buffers = ARENA_ARRAY(arena, Buffer *, n_kernels);
    for (int i = 0; i < n_kernels; i++) {
        Kernel *k = p->kernels[p->n_kernels++] = ARENA_NEW(arena, Kernel);
        k->position = i;
        k->n_out = 1;
        k->replicated_if_one_row = random_below(2);
        k->in = ARENA_ARRAY(arena, View, 4);
        for (int j = random_below(4); j > 0 && p->n_buffers; j--)
            k->in[k->n_in++] = view_of_buffer(p->buffers[random_below(p->n_buffers)]);
        if (k->n_in && random_below(4) == 0) {
            k->out[0] = k->in[0];
            continue;
        }
        Buffer *b = p->buffers[p->n_buffers] = ARENA_NEW(arena, Buffer);
        *b = (Buffer){.index = p->n_buffers++,
                      .per_thread = k->replicated_if_one_row,
                      .row_bytes = 64 * (uint64_t)(1 + random_below(40))};
        k->out[0] = view_of_buffer(b);
    }
    return p;
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

static void live_values_never_overlap(void) {
    for (state = 1; state < 400;) {
        uint64_t seed = state;
        Arena *arena = arena_new();
        Program *p = random_program(arena, 2 + random_below(60));
        plan_buffers(p);
        for (int i = 0; i < p->n_buffers; i++)
            for (int j = 0; j < i; j++) {
                const Buffer *a = p->buffers[i], *b = p->buffers[j];
                if (!live_overlap(a, b)) continue;
                CHECK(!overlap(a->arena_offset, a->row_bytes, b->arena_offset, b->row_bytes));
                if (a->per_thread && b->per_thread)
                    CHECK(!overlap(a->local_offset, a->row_bytes, b->local_offset, b->row_bytes));
                if (!a->per_thread && !b->per_thread)
                    CHECK(!overlap(a->single_offset, a->row_bytes, b->single_offset, b->row_bytes));
            }
        arena_free(arena);
        state = seed + 1;
    }
}

static void every_value_fits(void) {
    uint64_t planned = 0, bound = 0;
    for (state = 1000; state < 1200;) {
        uint64_t seed = state;
        Arena *arena = arena_new();
        Program *p = random_program(arena, 2 + random_below(60));
        plan_buffers(p);
        CHECK(p->plan.row_bytes >= p->plan.lower_bound);
        for (int i = 0; i < p->n_buffers; i++) {
            CHECK(p->buffers[i]->arena_offset + p->buffers[i]->row_bytes <= p->plan.row_bytes);
            bool own = p->buffers[i]->per_thread;
            uint64_t end = (own ? p->buffers[i]->local_offset : p->buffers[i]->single_offset) +
                           p->buffers[i]->row_bytes;
            CHECK(end <= (own ? p->plan.local_bytes : p->plan.row_bytes));
        }
        planned += p->plan.row_bytes;
        bound += p->plan.lower_bound;
        arena_free(arena);
        state = seed + 1;
    }
    CHECK(planned * 100 <= bound * 110);  // within a tenth on average, whatever the graph
}

// A value lives from the kernel that writes it to the last that reads it; the lower bound is the
// largest sum.
static void lower_bound_is_exact(void) {
    Arena *arena = arena_new();
    Program p = {.arena = arena, .n_kernels = 3, .n_buffers = 3, .max_rows = 1};
    Buffer b[3] = {{.index = 0, .row_bytes = 128},
                   {.index = 1, .row_bytes = 640},
                   {.index = 2, .row_bytes = 64}};
    Buffer *buffers[3] = {&b[0], &b[1], &b[2]};
    View first = view_of_buffer(&b[0]), second = view_of_buffer(&b[1]);
    Kernel k[3] = {{.n_out = 1, .out = {first}},
                   {.n_in = 1, .in = &first, .n_out = 1, .out = {second}},
                   {.n_in = 1, .in = &second, .n_out = 1, .out = {view_of_buffer(&b[2])}}};
    Kernel *kernels[3] = {&k[0], &k[1], &k[2]};
    p.kernels = kernels;
    p.buffers = buffers;
    plan_buffers(&p);
    CHECK(p.plan.lower_bound == 768);
    CHECK(p.plan.row_bytes == 768);
    CHECK(!live_overlap(&b[0], &b[2]));
    arena_free(arena);
}

// Three values: any two are live together at some kernel, never all three.
static void pairs_lie_apart(void) {
    Arena *arena = arena_new();
    Program p = {.arena = arena, .n_kernels = 5, .n_buffers = 3, .max_rows = 1};
    Buffer b[3] = {{.index = 0, .row_bytes = 128},
                   {.index = 1, .row_bytes = 128},
                   {.index = 2, .row_bytes = 128}};
    Buffer *buffers[3] = {&b[0], &b[1], &b[2]};
    View first = view_of_buffer(&b[0]), second = view_of_buffer(&b[1]),
         third = view_of_buffer(&b[2]);
    Kernel k[5] = {{.n_out = 1, .out = {first}},
                   {.n_in = 1, .in = &first, .n_out = 1, .out = {second}},
                   {.n_in = 1, .in = &second, .n_out = 1, .out = {third}},
                   {.n_in = 1, .in = &third, .n_out = 1, .out = {first}},
                   {.n_in = 1, .in = &first}};
    Kernel *kernels[5] = {&k[0], &k[1], &k[2], &k[3], &k[4]};
    p.kernels = kernels;
    p.buffers = buffers;
    plan_buffers(&p);
    CHECK(p.plan.lower_bound == 384);
    CHECK(p.plan.row_bytes == 384);
    arena_free(arena);
}

SUITE(plan) {
    TEST(pairs_lie_apart);
    TEST(live_values_never_overlap);
    TEST(every_value_fits);
    TEST(lower_bound_is_exact);
}
