// The ranges of ranks in a program over several machines (--with=mpi), and the gathers of their
// results. No sum is ever split: a rank computes whole columns or heads, so the bits are those of
// one rank.
//
//   attention          by its queries' heads, each rank with the KV heads that those read
//   caches, rotary     the same heads; a norm of each head is computed for all heads, absent ones included
//   a product whose columns only such kernels read (queries, keys, values): the panels that hold the rank's heads; its result
//                      stays on the rank
//   other products     by panels, then a gather: every rank has all columns before anything else reads them
//   rows of int8       if a result is only read as int8, each rank quantizes its columns, and the int8 rows are gathered
//   small products, and everything else: computed whole by every rank
//
// A LLaMA layer so has four gathers: of attention, o_proj, gate and up, down_proj.
//
// Needs: group_identical_kernels, roll_layers (the layers of a loop share alike). Gives:
// Kernel.ranks.
#include <string.h>

#include "ir/operands.h"
#include "lower/lowering.h"
#include "lower/rank_cost.h"

enum { PANEL = 16, BLOCK = 32 };  // columns

// --------------------------------------------------------------------------------------- attention
static bool same_cache(const View *a, const View *b) {
    if (a->base != b->base) return false;
    return a->base == BASE_STATE ? a->state == b->state
                                 : a->base == BASE_BUFFER && a->buffer == b->buffer;
}

static bool reads_cache(const Kernel *k, const View *cache) {
    return k->family == FAMILY_ATTENTION &&
           (same_cache(&k->in[ATTENTION_KEY], cache) || same_cache(&k->in[ATTENTION_VALUE], cache));
}

static bool is_appended_here(const Program *p, const View *cache) {
    for (int i = 0; i < p->n_kernels; i++)
        if (p->kernels[i]->family == FAMILY_APPEND && same_cache(&p->kernels[i]->out[0], cache))
            return true;
    return false;
}

// By the heads of its queries; of caches that an encoder fills, which does not know these, by KV
// heads if there are several.
static int units_of_attention(const Program *p, const Kernel *k) {
    int64_t kv, heads = kernel_int(k, "num_heads", 1);
    if (!dim_is_const(k->in[ATTENTION_KEY].type.dim[1], &kv)) return 0;
    bool here =
        is_appended_here(p, &k->in[ATTENTION_KEY]) && is_appended_here(p, &k->in[ATTENTION_VALUE]);
    if (!here && kv > 1) heads = kv;
    return heads > 1 ? (int)heads : 0;
}

// A cache that kernels other than attention read is kept whole.
static bool is_read_elsewhere(const Program *p, const View *cache) {
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        for (int j = 0; j < k->n_in && k->family != FAMILY_ATTENTION; j++)
            if (same_cache(&k->in[j], cache)) return true;
    }
    return false;
}

static bool holds_heads(const View *cache) {
    const char *kind =
        cache->base == BASE_STATE ? attr_string(cache->state->node, "kind", "") : "key";
    return !strcmp(kind, "key") || !strcmp(kind, "value");
}

static int units_of_append(const Program *p, const Kernel *k) {
    int64_t heads;
    int units = -1;
    const View *cache = &k->out[0];
    if (!dim_is_const(cache->type.dim[1], &heads) || !holds_heads(cache) ||
        is_read_elsewhere(p, cache))
        return 0;
    for (int i = 0; i < p->n_kernels; i++) {
        if (!reads_cache(p->kernels[i], cache)) continue;
        int of_reader = units_of_attention(p, p->kernels[i]);
        if (units >= 0 && units != of_reader) return 0;
        units = of_reader;
    }
    return units >= 0 ? units : heads > 1 ? (int)heads : 0;
}

// --------------------------------------------------------------- products that stay with the heads
typedef struct Followers {
    const Program *program;
    RankShare share;  // of the product
    RankPart whole;   // heads of the result whose rows follow; width 0: the product's own
    Kernel **rotary;  // that turn its heads in place
    int n_rotary;
} Followers;

// Contiguous columns of a row; also as heads: [R, heads, width]
static bool columns_of(const View *v, int64_t *first, int64_t *columns) {
    const int rank = v->type.rank;
    int64_t beside, heads = 1, stride;
    if (rank < 2 || rank > 3 || v->row_index || !dim_is_const(v->offset, first)) return false;
    if (!dim_is_const(v->type.dim[rank - 1], columns) ||
        !dim_is_const(v->stride[rank - 1], &beside) || beside != 1)
        return false;
    if (rank == 3 && (!dim_is_const(v->type.dim[1], &heads) ||
                      !dim_is_const(v->stride[1], &stride) || stride != *columns))
        return false;
    *columns *= heads;
    return true;
}

// Columns of the product in this many heads
static bool add_part(RankShare *s, const View *v, int64_t heads) {
    int64_t first, columns;
    if (!columns_of(v, &first, &columns) || first % PANEL || heads < 1 || columns % heads)
        return false;
    RankPart part = {(int)first, (int)(columns / heads), (int)heads};
    for (int i = 0; i < s->n_parts; i++) {
        const RankPart *other = &s->part[i];
        if (!memcmp(other, &part, sizeof part)) return true;
        if (part.first < other->first + other->heads * other->width &&
            other->first < first + columns)
            return false;
    }
    if (s->n_parts == RANK_PARTS) return false;
    s->part[s->n_parts++] = part;
    return true;
}

static bool agree(RankShare *s, int units) {
    if (!s->units) s->units = units;
    return units && s->units == units;
}

static bool find_followers(Followers *, const View *, int position);

// Rows of one head each: [R, heads, width], or [R * heads, width] of a result whose heads are known
static bool add_heads(Followers *f, const View *v, int64_t *heads) {
    const RankPart *whole = &f->whole;
    *heads = v->type.rank == 3 ? dim_upper(v->type.dim[1]) : whole->heads;
    if (v->type.rank == 3) return add_part(&f->share, v, *heads);
    if (!whole->width || v->type.rank != 2 || v->row_index || !dim_is(v->type.dim[1], whole->width))
        return false;
    if (!dim_is(v->offset, 0) || !dim_is(v->stride[1], 1) || !dim_is(v->stride[0], whole->width))
        return false;
    f->share.n_parts = 1, f->share.part[0] = *whole;
    return true;
}

// Returns the reader of a head-wise kernel's result, in place or not.
static bool goes_on(Followers *f, const Kernel *k, const View *v, int64_t heads) {
    int64_t first, columns;
    if (view_same_place(v, &k->out[0])) return true;
    columns_of(v, &first, &columns);
    RankPart whole = {
        0, (int)(v->type.rank == 2 && f->whole.width == columns ? columns : columns / heads),
        (int)heads};
    Followers behind = {
        f->program, {.units = f->share.units, .each = 1}, whole, f->rotary, f->n_rotary};
    if (!find_followers(&behind, &k->out[0], k->position) || behind.share.n_parts != 1)
        return false;
    f->n_rotary = behind.n_rotary;
    return !memcmp(&behind.share.part[0], &whole, sizeof whole) &&
           agree(&f->share, behind.share.units);
}

// Returns true if kernel k reads operand j by heads, only those of its rank.
static bool follows(Followers *f, Kernel *k, int j) {
    const View *v = &k->in[j];
    int64_t heads;
    if (k->family == FAMILY_ATTENTION)
        return j == ATTENTION_QUERY && agree(&f->share, k->ranks.units) &&
               add_part(&f->share, v, kernel_int(k, "num_heads", 1));
    if (k->family == FAMILY_APPEND)
        return j == 0 && agree(&f->share, k->ranks.units) &&
               add_part(&f->share, v, dim_upper(k->out[0].type.dim[1]));
    if ((k->family == FAMILY_NORM && k->n_out == 1) || k->copies)
        return j == 0 && add_heads(f, v, &heads) && goes_on(f, k, v, heads);
    if (k->family != FAMILY_ROTARY || j) return false;
    heads = kernel_int(k, "num_heads", 1);
    f->rotary[f->n_rotary++] = k;
    return add_part(&f->share, v, heads) && goes_on(f, k, v, heads);
}

static int reads_buffer(const Kernel *k, const Buffer *b) {
    int n = 0;
    for (int j = 0; j < k->n_in; j++) n += k->in[j].base == BASE_BUFFER && k->in[j].buffer == b;
    return n;
}

static bool is_written_anew(const Kernel *k, const View *v) {
    for (int i = 0; i < k->n_out; i++)
        if (view_same_place(&k->out[i], v)) return true;
    return false;
}

// Every reader of a result, until the memory holds another value
static bool find_followers(Followers *f, const View *v, int position) {
    if (v->base != BASE_BUFFER || f->program->n_regions) return false;
    for (int i = position + 1; i < f->program->n_kernels; i++) {
        Kernel *k = f->program->kernels[i];
        if (!reads_buffer(k, v->buffer)) {
            if (is_written_anew(k, v)) break;
            continue;
        }
        for (int j = 0; j < k->n_in; j++)
            if (k->in[j].base == BASE_BUFFER && k->in[j].buffer == v->buffer && !follows(f, k, j))
                return false;
    }
    return f->share.units > 0;
}

// ------------------------------------------------------------------------------------------- costs
// The panels that hold the heads of units [first, last), as burin_panels_of_heads
// (runtime/engine/step.h) has them
static int panels_of_part(const RankPart *part, int units, int first, int last) {
    if (first >= last) return 0;
    int64_t from = part->first + (int64_t)first * part->heads / units * part->width;
    int64_t to = part->first + ((int64_t)last * part->heads + units - 1) / units * part->width;
    return (int)((to + PANEL - 1) / PANEL - from / PANEL);
}

double rank_share_largest(const RankShare *s, int ranks) {
    int largest = 0, all = 0;
    if (!s->units) return 1;
    if (!s->n_parts) return (double)((s->units + ranks - 1) / ranks) / s->units;
    for (int rank = 0; rank < ranks; rank++) {
        int own = 0, first = (int)((int64_t)s->units * rank / ranks),
            last = (int)((int64_t)s->units * (rank + 1) / ranks);
        for (int i = 0; i < s->n_parts; i++)
            own += panels_of_part(&s->part[i], s->units, first, last);
        if (own > largest) largest = own;
    }
    for (int i = 0; i < s->n_parts; i++) all += panels_of_part(&s->part[i], 1, 0, 1);
    return (double)largest / all;
}

// Weight bytes that the fuller of two ranks reads beyond one half, against the bytes it could read
// during a gather
static bool is_worth_it(const Kernel *product, const RankShare *s) {
    double more = rank_share_largest(s, 2) - 0.5;
    return more * (double)product->in[PRODUCT_WEIGHTS].weight->bytes <= gather_in_bytes();
}

// ---------------------------------------------------------------------------------------- the pass
static void share_attention(const Program *p, Kernel *k) {
    int64_t heads;
    if (k->family != FAMILY_ATTENTION && k->family != FAMILY_APPEND) return;
    const View *cache = k->family == FAMILY_APPEND ? &k->out[0] : &k->in[ATTENTION_KEY];
    if (!dim_is_const(cache->type.dim[1], &heads)) return;
    int units = k->family == FAMILY_APPEND ? units_of_append(p, k) : units_of_attention(p, k);
    k->ranks =
        (RankShare){.units = units, .each = 1, .n_parts = 1, .part = {{0, PANEL, (int)heads}}};
    k->ranks.gathered = units && k->family == FAMILY_ATTENTION;
}

static bool keeps_heads(Program *p, Kernel *product, Followers *f) {
    *f = (Followers){.program = p, .share.each = 1, .rotary = f->rotary};
    return product->family == FAMILY_MATMUL &&
           find_followers(f, &product->out[0], product->position) &&
           is_worth_it(product, &f->share);
}

// All iterations of a loop alike
static bool all_keep_heads(Program *p, Kernel *product, Followers *f) {
    RankShare share;
    if (!keeps_heads(p, product, f)) return false;
    share = f->share;
    for (int i = 0; i < p->n_kernels; i++) {
        if (i == product->position || representative(p, i) != representative(p, product->position))
            continue;
        if (!keeps_heads(p, p->kernels[i], f) || memcmp(&share, &f->share, sizeof share))
            return false;
    }
    return keeps_heads(p, product, f);
}

static bool is_small(const Program *p, const Kernel *k) {
    const PackedWeight *w = k->in[PRODUCT_WEIGHTS].weight;
    return (double)w->bytes / (double)w->experts <=
           (p->gather_above ? (double)p->gather_above : gather_in_bytes());
}

static void share_product(Program *p, Kernel *k, Followers *f) {
    int64_t panels;
    if (k->family != FAMILY_MATMUL && k->family != FAMILY_EXPERTS) return;
    if (all_keep_heads(p, k, f)) {
        k->ranks = f->share;
        for (int i = 0; i < f->n_rotary; i++) {
            const int heads = (int)kernel_int(f->rotary[i], "num_heads", 1);
            f->rotary[i]->ranks = (RankShare){
                .units = f->share.units, .each = 1, .n_parts = 1, .part = {{0, PANEL, heads}}};
        }
        return;
    }
    if (!dim_is_const(k->share.count, &panels) || panels < 2 || is_small(p, k)) return;
    k->ranks = (RankShare){.units = (int)panels, .each = 1, .gathered = true};
}

// ------------------------------------------------------------------------------------ rows of int8
// The one kernel that reads a gathered result, where it makes rows of int8 of it; or NULL
static Kernel *quantizer_of(const Program *p, const Kernel *k) {
    const View *v = &k->out[0];
    Kernel *found = NULL;
    if (!k->ranks.gathered || v->base != BASE_BUFFER || p->n_regions) return NULL;
    for (int i = k->position + 1; i < p->n_kernels; i++) {
        Kernel *reader = p->kernels[i];
        if (reads_buffer(reader, v->buffer)) {
            if (found || reader->family != FAMILY_QUANTIZE || !view_same_place(&reader->in[0], v))
                return NULL;
            found = reader;
        } else if (is_written_anew(reader, v)) {
            break;
        }
    }
    return found;
}

// Blocks of each unit; 0: units are no whole blocks
static int blocks_of_unit(const Kernel *k, RankShare *s) {
    int64_t columns = dim_upper(k->out[0].type.dim[k->out[0].type.rank - 1]);
    *s = k->ranks;
    if (columns % BLOCK) return 0;
    if (k->family != FAMILY_ATTENTION) s->units = (int)(columns / BLOCK), s->each = BLOCK / PANEL;
    return columns % ((int64_t)s->units * BLOCK) ? 0 : (int)(columns / BLOCK / s->units);
}

static bool makes_own_blocks(const Program *p, const Kernel *k, Kernel **quantizer, RankShare *s) {
    *quantizer = quantizer_of(p, k);
    if (*quantizer && (*quantizer)->out[0].type.dtype != DT_q8_rows)
        return false;  // a zero point is of a whole row
    return *quantizer && (*quantizer)->out[0].base == BASE_BUFFER && blocks_of_unit(k, s);
}

// In all layers, or in none
static bool all_make_own_blocks(const Program *p, const Kernel *k) {
    Kernel *quantizer;
    RankShare s;
    for (int i = 0; i < p->n_kernels; i++)
        if (representative(p, i) == representative(p, k->position) &&
            !makes_own_blocks(p, p->kernels[i], &quantizer, &s))
            return false;
    return true;
}

// A step of one row has no copies for each thread then: the blocks come from other ranks.
static void gather_blocks(Kernel *k, Kernel *quantizer, const RankShare *s) {
    int64_t columns = dim_upper(quantizer->in[0].type.dim[quantizer->in[0].type.rank - 1]);
    k->ranks = *s, k->ranks.gathered = false;
    quantizer->ranks =
        (RankShare){.units = s->units, .each = (int)(columns / BLOCK / s->units), .gathered = true};
    quantizer->replicated_if_one_row = quantizer->out[0].buffer->per_thread = false;
    quantizer->in[0].own_part = quantizer->out[0].own_part = false;
}

static void share_quantizers(Program *p) {
    bool *gathers = ARENA_ARRAY(p->arena, bool, p->n_kernels + 1);
    for (int i = 0; i < p->n_kernels; i++) gathers[i] = all_make_own_blocks(p, p->kernels[i]);
    for (int i = 0; i < p->n_kernels; i++) {
        Kernel *quantizer;
        RankShare s;
        if (gathers[i] && makes_own_blocks(p, p->kernels[i], &quantizer, &s))
            gather_blocks(p->kernels[i], quantizer, &s);
    }
}

void share_over_ranks(Program *p) {
    if (!p->over_ranks) return;
    Followers f = {.rotary = ARENA_ARRAY(p->arena, Kernel *, p->n_kernels + 1)};
    for (int i = 0; i < p->n_kernels; i++) share_attention(p, p->kernels[i]);
    for (int i = 0; i < p->n_kernels; i++) share_product(p, p->kernels[i], &f);
    share_quantizers(p);
}
