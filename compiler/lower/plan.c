// Places: buffers in the arena (and row-wise ones in a thread's local memory), states in a slot,
// weights in their file.
//
// Buffers are placed one after the other, each at the lowest place that no buffer living at the
// same time overlaps. Several orders are tried (large first, long-lived first) and the smallest
// plan is kept. The lower bound is the largest sum of what lives at one kernel, or lives pair by
// pair at the same time. Sizes and places are bytes for each row of the program: see lower.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lowering.h"

enum { ALIGNMENT = 64, MOST_SHUFFLED = 64, SHUFFLES = 300 };

// ------------------------------------------------------------------------------------- live ranges
static struct Live *current(Buffer *b) { return b->n_live ? &b->live[b->n_live - 1] : NULL; }

static bool reads_buffer(const Kernel *k, const Buffer *b) {
    for (int i = 0; i < k->n_in; i++)
        if (k->in[i].base == BASE_BUFFER && k->in[i].buffer == b) return true;
    return false;
}

static void begin_value(Arena *arena, Buffer *b, struct Live live) {
    if ((b->n_live & (b->n_live - 1)) == 0) {  // grows at powers of two
        struct Live *more = ARENA_ARRAY(arena, struct Live, b->n_live ? 2 * b->n_live : 1);
        if (b->n_live) memcpy(more, b->live, (size_t)b->n_live * sizeof *more);
        b->live = more;
    }
    b->live[b->n_live++] = live;
}

// Values that live before or after a region live throughout: another iteration may read them, or
// the other body write them.
static void outlive_region(Buffer *b, const Region *r) {
    int first = 0, last;
    while (first < b->n_live && b->live[first].last < r->first) first++;
    for (last = first; last < b->n_live && b->live[last].first < r->end;) last++;
    if (first == last || (b->live[first].first >= r->first && b->live[last - 1].last < r->end))
        return;
    struct Live *whole = &b->live[first];
    whole->last = b->live[last - 1].last < r->end ? r->end - 1 : b->live[last - 1].last;
    whole->first = whole->first < r->first ? whole->first : r->first;
    memmove(whole + 1, b->live + last, (size_t)(b->n_live - last) * sizeof *whole);
    b->n_live -= last - first - 1;
}

static void read_until(const View *v, int kernel) {
    struct Live *now = v->base == BASE_BUFFER ? current(v->buffer) : NULL;
    if (now && now->last < kernel) now->last = kernel;
}

static void open_regions(const Program *p, int kernel) {
    for (int i = 0; i < p->n_regions; i++)
        if (p->regions[i].first == kernel)
            read_until(&p->regions[i].most, kernel), read_until(&p->regions[i].condition, kernel);
}

// Fused consumers run at the same time as their producer.
static struct Live together(const Kernel *k, int at) {
    const Kernel *maker = k->fused_into ? k->fused_into : k;
    const int first = k->fused_into ? maker->position : at;
    return (struct Live){first, first + maker->n_fused};
}

// A write begins a new value unless the kernel also reads the buffer (it works in place); reads
// extend the value.
void find_live_ranges(Program *p) {
    for (int i = 0; i < p->n_buffers; i++) p->buffers[i]->n_live = 0;
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *k = p->kernels[i];
        const struct Live now = together(k, i);
        open_regions(p, i);
        for (int j = 0; j < k->n_in; j++)
            if (k->in[j].base == BASE_BUFFER && current(k->in[j].buffer))
                current(k->in[j].buffer)->last = now.last;
        for (int j = 0; j < k->n_out; j++)
            if (k->out[j].base == BASE_BUFFER &&
                !(reads_buffer(k, k->out[j].buffer) && current(k->out[j].buffer)))
                begin_value(p->arena, k->out[j].buffer, now);
    }
    for (int i = p->n_regions; i-- > 0;)  // the inner ones first
        for (int j = 0; j < p->n_buffers; j++) outlive_region(p->buffers[j], &p->regions[i]);
    for (int i = 0; i < p->n_buffers && p->guarded;
         i++)  // memory is never used again: its bands stay where they are
        if (p->buffers[i]->n_live)
            *p->buffers[i]->live = (struct Live){0, p->n_kernels}, p->buffers[i]->n_live = 1;
}

// Ranges are in ascending order.
bool live_overlap(const Buffer *a, const Buffer *b) {
    for (int i = 0, j = 0; i < a->n_live && j < b->n_live;) {
        if (a->live[i].last < b->live[j].first)
            i++;
        else if (b->live[j].last < a->live[i].first)
            j++;
        else
            return true;
    }
    return false;
}

static bool lives_at(const Buffer *b, int kernel) {
    for (int i = 0; i < b->n_live; i++)
        if (b->live[i].first <= kernel && kernel <= b->live[i].last) return true;
    return false;
}

// ----------------------------------------------------------------------------------------- placing
static int64_t lifetime(const Buffer *b) {
    int64_t sum = 0;
    for (int i = 0; i < b->n_live; i++) sum += b->live[i].last - b->live[i].first + 1;
    return sum;
}

static int descending(uint64_t a, uint64_t b) { return a < b ? 1 : a > b ? -1 : 0; }

static int by_size(const void *x, const void *y) {
    const Buffer *a = *(Buffer *const *)x, *b = *(Buffer *const *)y;
    int order = descending(a->row_bytes, b->row_bytes);
    return order ? order : a->index - b->index;
}

static int by_lifetime(const void *x, const void *y) {
    const Buffer *a = *(Buffer *const *)x, *b = *(Buffer *const *)y;
    int order = descending((uint64_t)lifetime(a), (uint64_t)lifetime(b));
    return order ? order : by_size(x, y);
}

static int by_area(const void *x, const void *y) {
    const Buffer *a = *(Buffer *const *)x, *b = *(Buffer *const *)y;
    int order =
        descending(a->row_bytes * (uint64_t)lifetime(a), b->row_bytes * (uint64_t)lifetime(b));
    return order ? order : a->index - b->index;
}

// The lowest offset for `b` among placed[0..n) that are live at the same time: tries 0 and the end
// of each.
static uint64_t lowest_place(Buffer *const *placed, int n, const Buffer *b) {
    uint64_t best = UINT64_MAX;
    for (int i = -1; i < n; i++) {
        if (i >= 0 && !live_overlap(placed[i], b)) continue;
        uint64_t at = i < 0 ? 0 : placed[i]->arena_offset + placed[i]->row_bytes;
        if (at >= best) continue;
        bool is_free = true;
        for (int j = 0; j < n && is_free; j++) {
            const Buffer *o = placed[j];
            is_free = at + b->row_bytes <= o->arena_offset ||
                      o->arena_offset + o->row_bytes <= at || !live_overlap(o, b);
        }
        if (is_free) best = at;
    }
    return best;
}

typedef int Order(const void *, const void *);

static uint64_t place_in_order(Buffer **buffers, int n) {
    uint64_t end = 0;
    for (int i = 0; i < n; i++) {
        Buffer *b = buffers[i];
        b->arena_offset = lowest_place(buffers, i, b);
        if (b->arena_offset + b->row_bytes > end) end = b->arena_offset + b->row_bytes;
    }
    return end;
}

// Steps of one row have places of their own for what threads share: a barrier less where a row-wise
// kernel reads a value and the next kernel would overwrite it. So values live on until the next
// kernel that threads share; the plan for more rows, where row-wise values take room in the arena,
// leaves that much space.
static void outlive_readers(Program *p) {
    for (int i = 0; i < p->n_buffers; i++)
        for (int j = 0; j < p->buffers[i]->n_live; j++) {
            int *last = &p->buffers[i]->live[j].last;
            while (*last + 1 < p->n_kernels && p->kernels[*last]->replicated_if_one_row) ++*last;
        }
}

static void place_at(Buffer **buffers, int n, const uint64_t *places) {
    for (int i = 0; i < n; i++) buffers[i]->arena_offset = places[buffers[i]->index];
}

static void remember_places(Buffer **buffers, int n, uint64_t *places) {
    for (int i = 0; i < n; i++) places[buffers[i]->index] = buffers[i]->arena_offset;
}

static void shuffle(Buffer **buffers, int n, uint64_t *state) {
    for (int i = n - 1; i > 0; i--) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        int j = (int)((*state >> 33) % (uint64_t)(i + 1));
        Buffer *b = buffers[i];
        buffers[i] = buffers[j], buffers[j] = b;
    }
}

static bool overlaps_all(const Buffer *b, Buffer *const *others, int n) {
    for (int i = 0; i < n; i++)
        if (b == others[i] || !live_overlap(b, others[i])) return false;
    return true;
}

// What lives at one kernel, and the largest of the rest that live at some time with each of these.
// `apart`: room for n.
static uint64_t sum_apart(Buffer *const *buffers, int n, int kernel, Buffer **apart) {
    uint64_t sum = 0;
    int chosen = 0;
    for (int i = 0; i < n; i++)
        if (lives_at(buffers[i], kernel))
            apart[chosen++] = buffers[i], sum += buffers[i]->row_bytes;
    for (Buffer *next; chosen; apart[chosen++] = next, sum += next->row_bytes) {
        next = NULL;
        for (int i = 0; i < n; i++) {
            bool larger = !next || by_size(&buffers[i], &next) < 0;
            if (larger && overlaps_all(buffers[i], apart, chosen)) next = buffers[i];
        }
        if (!next) break;
    }
    return sum;
}

// No plan is smaller: a sum of buffers any two of which live at the same time.
static uint64_t least_bytes(const Program *p, Buffer *const *buffers, int n) {
    Buffer **apart = ARENA_ARRAY(p->arena, Buffer *, n + 1);
    uint64_t largest = 0;
    for (int k = 0; k < p->n_kernels; k++) {
        uint64_t sum = sum_apart(buffers, n, k, apart);
        if (sum > largest) largest = sum;
    }
    return largest;
}

// Leaves the places in arena_offset. Where the good orders miss the lower bound, a fixed sequence
// of shuffles is tried too.
static uint64_t place_best(Program *p, Buffer **buffers, int n) {
    static Order *const orders[] = {by_size, by_lifetime, by_area};
    uint64_t *places = ARENA_ARRAY(p->arena, uint64_t, p->n_buffers + 1), smallest = UINT64_MAX,
             bound = least_bytes(p, buffers, n), state = 1;
    int tries = n <= MOST_SHUFFLED ? 3 + SHUFFLES : 3;
    for (int i = 0; i < tries && smallest > bound; i++) {
        if (i < 3)
            qsort(buffers, (size_t)n, sizeof *buffers, orders[i]);
        else
            shuffle(buffers, n, &state);
        uint64_t end = place_in_order(buffers, n);
        if (end < smallest) smallest = end, remember_places(buffers, n, places);
    }
    place_at(buffers, n, places);
    return n ? smallest : 0;
}

static uint64_t plan_single_rows(Program *p, Buffer **list) {
    int n = 0;
    outlive_readers(p);
    for (int i = 0; i < p->n_buffers; i++)
        if (!p->buffers[i]->per_thread && !p->buffers[i]->fixed_size) list[n++] = p->buffers[i];
    uint64_t bytes = place_best(p, list, n);
    for (int i = 0; i < n; i++) list[i]->single_offset = list[i]->arena_offset;
    return bytes;
}

static int choose(const Program *p, Buffer **list, bool whole) {
    int n = 0;
    for (int i = 0; i < p->n_buffers; i++)
        if (p->buffers[i]->fixed_size == whole) list[n++] = p->buffers[i];
    return n;
}

static int by_place(const void *x, const void *y) {
    const Buffer *a = *(Buffer *const *)x, *b = *(Buffer *const *)y;
    int order = descending(b->arena_offset, a->arena_offset);
    return order ? order : a->index - b->index;
}

int scratch_in_order(const Program *p, const Buffer **list) {
    int n = choose(p, (Buffer **)list, true);
    qsort(list, (size_t)n, sizeof *list, by_place);
    return n;
}

void plan_buffers(Program *p) {
    for (int i = 0; i < p->n_buffers && p->dynamic_sizes; i++) p->buffers[i]->fixed_size = true;
    for (int i = 0; i < p->n_buffers && p->guarded; i++) p->buffers[i]->row_bytes += GUARD_BYTES;
    find_live_ranges(p);
    Buffer **list = ARENA_ARRAY(p->arena, Buffer *, p->n_buffers + 1);
    int n = 0;
    for (int i = 0; i < p->n_buffers; i++)
        if (p->buffers[i]->per_thread) list[n++] = p->buffers[i];
    p->plan.local_bytes = place_best(p, list, n);
    for (int i = 0; i < n; i++) list[i]->local_offset = list[i]->arena_offset;
    uint64_t single = plan_single_rows(p, list);
    find_live_ranges(p);
    n = choose(p, list, true);
    p->plan.scratch_bytes = place_best(p, list, n);
    uint64_t scratch_bound = p->dynamic_sizes ? least_bytes(p, list, n) : 0;
    n = choose(p, list, false);
    p->plan.row_bytes = place_best(p, list, n);
    p->plan.lower_bound = p->dynamic_sizes ? scratch_bound : least_bytes(p, list, n);
    if (single > p->plan.row_bytes)
        for (int i = 0; i < p->n_buffers; i++)
            p->buffers[i]->single_offset = p->buffers[i]->arena_offset;
}

// ------------------------------------------------------------------------------------------ states
static uint64_t state_size(const Node *state, int axis) {
    return (uint64_t)dim_upper(state->type.dim[axis]);
}

CacheShape cache_shape(const Node *state) {
    const Type *t = &state->type;
    CacheShape s = {.heads = state_size(state, 1), .element = (uint64_t)dtype_bits(t->dtype) / 8};
    uint64_t d = state_size(state, 3);
    const char *kind = attr_string(state, "kind", "");
    s.keys = !strcmp(kind, "key") || !strcmp(kind, "kept_key");
    uint64_t rows = (uint64_t)attr_int(state, "ring", 0);
    s.ring = rows != 0, s.window = (uint64_t)attr_int(state, "window", 0);
    s.last = rows == 1;
    s.capacity = s.last ? 1 : ((rows ? rows : state_size(state, 2)) + 15) / 16 * 16,
    s.width = s.keys ? d : (d + 15) / 16 * 16;
    if (t->dtype == DT_q8_0) s.element = 1, s.scales = (d + 31) / 32;
    return s;
}

static uint64_t state_bytes(const Node *n) {
    uint64_t bytes = (uint64_t)dtype_bits(n->type.dtype) / 8;
    if (n->type.rank == 4) {
        CacheShape s = cache_shape(n);
        return s.heads * s.capacity * (s.width * s.element + s.scales * 2);
    }
    for (int i = 1; i < n->type.rank; i++) bytes *= state_size(n, i);
    return bytes;
}

static const StateSlice *state_like(const Program *p, const Node *state) {
    for (int i = 0; i < p->n_states; i++) {
        const Node *n = p->states[i]->node;
        bool same =
            attr_int(n, "memory", 0) == 1 && attr_int(n, "layer", 0) == attr_int(state, "layer", 0);
        if (same && !strcmp(attr_string(n, "kind", ""), attr_string(state, "kind", "")))
            return p->states[i];
    }
    diag_fatal(state->loc, "nothing reads the state %%%s", state->name);
}

void adopt_states(Program *encoder, const Program *decoder) {
    for (int i = 0; i < encoder->n_states; i++) {
        const StateSlice *same = state_like(decoder, encoder->states[i]->node);
        encoder->states[i]->offset = same->offset, encoder->states[i]->bytes = same->bytes;
    }
    encoder->plan.slot_bytes = decoder->plan.slot_bytes;
}

void plan_states(Lowering *l) {
    Program *p = l->program;
    for (int i = 0; i < p->n_states; i++) {
        StateSlice *s = p->states[i];
        s->bytes = (state_bytes(s->node) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        s->offset = p->plan.slot_bytes;
        p->plan.slot_bytes += s->bytes;
        if (s->node->type.rank == 4) p->plan.cache_bytes += s->bytes;
    }
}

// ----------------------------------------------------------------------------------------- weights
static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static bool is_used_by(const Program *p, const PackedWeight *w, int first, int end) {
    for (int i = first; i < end; i++)
        for (int j = 0; j < p->kernels[i]->n_in; j++)
            if (p->kernels[i]->in[j].base == BASE_WEIGHT && p->kernels[i]->in[j].weight == w)
                return true;
    return false;
}

static uint64_t place_layers(Program *p, WeightGroup group, uint64_t at, uint64_t *layer_bytes) {
    for (int i = 0; i < p->n_weights; i++) {
        PackedWeight *w = p->weights[i];
        if (w->group != group || w->layer != 0) continue;
        w->offset = *layer_bytes;
        *layer_bytes += aligned(w->bytes);
    }
    uint64_t end = at;
    for (int i = 0; i < p->n_weights; i++) {
        PackedWeight *w = p->weights[i];
        if (w->group != group) continue;
        w->offset =
            at + (uint64_t)w->layer * *layer_bytes + (w->layer ? w->like->offset - at : w->offset);
        if (w->offset + aligned(w->bytes) > end) end = w->offset + aligned(w->bytes);
    }
    return end;
}

static int by_offset(const void *x, const void *y) {
    const PackedWeight *a = *(PackedWeight *const *)x, *b = *(PackedWeight *const *)y;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static uint64_t place_rest(Program *p, bool before_loop, uint64_t at) {
    int end = p->loop.first + p->loop.period * p->loop.iterations - p->loop.missing;
    for (int i = 0; i < p->n_weights; i++) {
        PackedWeight *w = p->weights[i];
        if (w->group != GROUP_PROGRAM || is_used_by(p, w, 0, end) != before_loop) continue;
        w->offset = at;
        at += aligned(w->bytes);
    }
    return at;
}

static void name_fields(Program *p) {
    Map names[3];
    for (int i = 0; i < 3; i++) map_init(&names[i], p->arena);
    for (int i = 0; i < p->n_weights; i++) {
        PackedWeight *w = p->weights[i];
        if (w->layer > 0) continue;
        const char *name = field_name(p->arena, w), *candidate = name;
        for (int n = 2; map_get(&names[w->group], candidate); n++)
            candidate = arena_printf(p->arena, "%s_%d", name, n);
        map_put(&names[w->group], candidate, w);
        w->field = candidate;
    }
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->like) p->weights[i]->field = p->weights[i]->like->field;
}

// In the order of use: values before the loop (and those that all layers share), the layers, later
// values.
void place_weights(Program *p) {
    Plan *plan = &p->plan;
    plan->layers_offset = place_rest(p, true, 0);
    plan->layer_ends_offset = place_layers(p, GROUP_LAYER, plan->layers_offset, &plan->layer_bytes);
    uint64_t at = place_layers(p, GROUP_LAYER_END, plan->layer_ends_offset, &plan->layer_end_bytes);
    plan->weight_bytes = place_rest(p, false, at);
    name_fields(p);
    qsort(p->weights, (size_t)p->n_weights, sizeof *p->weights, by_offset);
}

// ----------------------------------------------------------------------------------------- figures
const char *bytes_text(char out[32], uint64_t bytes) {
    if (bytes < 10240)
        snprintf(out, 32, "%llu bytes", (unsigned long long)bytes);
    else if (bytes < 10u << 20)
        snprintf(out, 32, "%.1f KB", (double)bytes / 1024);
    else if (bytes < (uint64_t)10 << 30)
        snprintf(out, 32, "%.1f MB", (double)bytes / 1048576);
    else
        snprintf(out, 32, "%.1f GB", (double)bytes / 1073741824);
    return out;
}

// In the same memory as the decoder's.
static void print_encoder(Text *t, const Program *p) {
    char a[32], b[32], c[32];
    uint64_t rows = (uint64_t)p->max_rows;
    text_add(t, "encoder %s for %llu rows (lower bound %s), scratch %s, in the same memory\n",
             bytes_text(a, p->plan.row_bytes * rows), (unsigned long long)rows,
             bytes_text(b, p->plan.lower_bound * rows), bytes_text(c, p->plan.scratch_bytes));
}

// Several in a step
static void print_texts(Text *t, const Program *p) {
    int per_sequence = 0;
    for (int i = 0; i < p->n_kernels; i++) per_sequence += p->kernels[i]->per_sequence;
    text_add(t, "texts   several in a step: %d of its %d kernels go text by text\n", per_sequence,
             p->n_kernels);
}

enum { WORTH_A_WORD = 1 << 30 };  // bytes

// " --max=batch=N,past=N": what bounds the sizes of a run; "" where none is free
const char *plan_sizes_option(Arena *arena, const Program *p) {
    Text t = {0};
    for (int i = 0; i < p->n_symbols; i++)
        text_spell(&t, "%s%s=N", i ? "," : " --max=", p->symbols[i]->name);
    const char *option = arena_strdup(arena, t.length ? t.data : "");
    text_free(&t);
    return option;
}

// The largest size; a run needs less for smaller sizes.
static void print_largest_run(Text *t, const Program *p) {
    char a[32], b[32];
    text_add(t, "memory  %s (lower bound %s) of the largest run:",
             bytes_text(a, p->plan.scratch_bytes), bytes_text(b, p->plan.lower_bound));
    for (int i = 0; i < p->n_symbols; i++)
        text_spell(t, "%s %s=%lld", i ? "," : "", p->symbols[i]->name,
                   (long long)dim_upper(p->symbols[i]));
    text_add(t, "\n");
    if (!p->n_symbols || p->plan.scratch_bytes < WORTH_A_WORD) return;
    Arena *arena = arena_new();
    text_add(t, "        a run takes what its own sizes need;%s sets the largest\n",
             plan_sizes_option(arena, p));
    arena_free(arena);
}

// Rings are caches of layers with a window: the rows that they hold.
static void print_state(Text *t, const Program *p) {
    char a[32], b[32];
    int rings = 0;
    uint64_t rows = 0;
    for (int i = 0; i < p->n_states; i++) {
        CacheShape c =
            p->states[i]->node->type.rank == 4 ? cache_shape(p->states[i]->node) : (CacheShape){0};
        if (c.ring) rings++, rows = c.capacity > rows ? c.capacity : rows;
    }
    text_add(t, "state   %s a slot, of which KV cache %s", bytes_text(a, p->plan.slot_bytes),
             bytes_text(b, p->plan.cache_bytes));
    if (rings)
        text_add(t, " (%d of %d caches keep their last %llu rows)", rings, p->n_states,
                 (unsigned long long)rows);
    text_add(t, "\n");
}

void plan_print(Text *t, const Program *p) {
    char a[32], b[32], c[32];
    uint64_t rows = (uint64_t)p->max_rows;
    if (p->dynamic_sizes) {
        print_largest_run(t, p);
    } else {
        text_add(t, "arena   %s for %llu rows (lower bound %s), local %s a thread\n",
                 bytes_text(a, p->plan.row_bytes * rows), (unsigned long long)rows,
                 bytes_text(b, p->plan.lower_bound * rows), bytes_text(c, p->plan.local_bytes));
    }
    if (p->rows)
        text_add(t, "waits   %d barriers in a step of one row, %d in a step of more\n",
                 p->plan.barriers_decode, p->plan.barriers_prefill);
    if (p->batches_sequences) print_texts(t, p);
    if (p->encoder) print_encoder(t, p->encoder);
    if (p->plan.scratch_bytes && !p->dynamic_sizes)
        text_add(t, "scratch %s\n", bytes_text(a, p->plan.scratch_bytes));
    if (p->plan.slot_bytes) print_state(t, p);
    text_add(t, "weights %s, packed\n", bytes_text(a, program_weight_bytes(p)));
}

uint64_t program_arena_bytes(const Program *p) {
    uint64_t own = p->plan.row_bytes * (uint64_t)p->max_rows,
             encoder = p->encoder ? program_arena_bytes(p->encoder) : 0;
    return own > encoder ? own : encoder;
}
