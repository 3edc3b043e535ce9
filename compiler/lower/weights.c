// Weights: one piece for each constant that a kernel reads, in the form it reads it, packed on
// demand panel by panel.
//
//   f32, f16, bf16   [n/16][k][16]: a panel is 16 columns of the product, stored row k by row k
//   q8_0, q4_k ...   [n/16][k/block] panel blocks (runtime/kernels/blocks.h); i8_32, i9_32: and sums of each panel's columns
//   constants        row-major, as they are
//
// A pack node lays several matrices side by side (columns of the first, then of the second), or
// with `interleave` one panel of each in turn. Sources are [N, K] as in checkpoints, or [K, N] with
// `transposed`. The last panel and the last block of k are filled with zeros.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/convert.h"
#include "ir/encode.h"
#include "kernels/convert.h"
#include "lower/lowering.h"
#include "lower/pack_blocks.h"
#include "util/mapping.h"

enum {
    COLUMNS = 16,
    DEPTH = 256,
    CHUNK = 1 << 20
};  // DEPTH: elements along k that are read at once, a multiple of every block

// ----------------------------------------------------------------------------------------- formats
// values[column * stride + i] is element i along k of a block
static void pack_f32(const float *values, int stride, void *bytes) {
    float *out = bytes;
    for (int c = 0; c < COLUMNS; c++) out[c] = values[c * stride];
}

static void pack_f16(const float *values, int stride, void *bytes) {
    uint16_t *out = bytes;
    for (int c = 0; c < COLUMNS; c++) out[c] = f16_from_float(values[c * stride]);
}

static void pack_bf16(const float *values, int stride, void *bytes) {
    uint16_t *out = bytes;
    for (int c = 0; c < COLUMNS; c++) out[c] = bf16_from_float(values[c * stride]);
}

static const WeightFormat floats[] = {
    {"f32", 1, 64, "float", pack_f32, NULL},
    {"f16", 1, 32, "uint16_t", pack_f16, NULL},
    {"bf16", 1, 32, "uint16_t", pack_bf16, NULL},
};

const WeightFormat *weight_format_find(Arena *arena, const char *name) {
    DType dtype;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (!strcmp(floats[i].name, name)) return &floats[i];
    const Format *f = dtype_parse(name, &dtype) ? format_of(dtype) : NULL;
    if (!f) return NULL;
    WeightFormat *w = ARENA_NEW(arena, WeightFormat);
    *w = (WeightFormat){f->name, f->block, (int)format_panel_bytes(f), "uint8_t", NULL, f};
    return w;
}

// ----------------------------------------------------------------------------------------- sources
// Data in files need not be aligned.
static uint16_t read_half(const Tensor *t, int64_t i) {
    uint16_t bits;
    memcpy(&bits, (const char *)t->data + 2 * i, sizeof bits);
    return bits;
}

// Elements first, first + step, ... as f32.
static void read_values(const Tensor *t, int64_t first, int64_t step, int64_t n, float *out) {
    const Format *f = format_of(t->dtype);
    if (f) {
        format_read(f, t->data, first, step, n, out);
        return;
    }
    switch (t->dtype) {
        case DT_f32:
            for (int64_t i = 0; i < n; i++)
                memcpy(out + i, (const char *)t->data + 4 * (first + i * step), 4);
            break;
        case DT_bf16:
            for (int64_t i = 0; i < n; i++) out[i] = sf_from_bf16(read_half(t, first + i * step));
            break;
        case DT_f16:
            for (int64_t i = 0; i < n; i++) out[i] = sf_from_f16(read_half(t, first + i * step));
            break;
        case DT_f64:
            for (int64_t i = 0; i < n; i++)
                out[i] = (float)dtype_load(DT_f64, t->data, first + i * step);
            break;
        case DT_i8:
        case DT_u8:
        case DT_i16:
            for (int64_t i = 0; i < n; i++)
                out[i] = (float)dtype_load(t->dtype, t->data, first + i * step);
            break;
        default:
            diag_fatal(loc_file(t->source), "tensor %s: weights of type %s cannot be packed",
                       t->name ? t->name : "", dtype_name(t->dtype));
    }
}

// Which source, and which of its columns, is column c of the packed panels; NULL for padding.
static const Tensor *source_column(const PackedWeight *w, int64_t c, int64_t *column) {
    const Node *pack = w->node;
    bool transposed = attr_int(pack, "transposed", 0);
    int64_t width = (int64_t)w->units / w->experts * COLUMNS;
    int of_one = (int)(pack->n_in / w->experts);
    Node *const *in = pack->in + c / width * of_one;
    c %= width;
    if (attr_int(pack, "interleave", 0)) {
        int64_t panel = c / COLUMNS;
        const Tensor *t = in[panel % of_one]->value;
        *column = panel / of_one * COLUMNS + c % COLUMNS;
        return *column < t->dim[transposed] ? t : NULL;
    }
    for (int i = 0; i < of_one; i++) {
        const Tensor *t = in[i]->value;
        if (c < t->dim[transposed]) {
            *column = c;
            return t;
        }
        c -= t->dim[transposed];
    }
    return NULL;
}

// Units of a piece that one thread packs, and what quantizing them loses, by source
typedef struct {
    const PackedWeight *piece;
    uint64_t first, n;
    unsigned char *bytes;
    QuantError *errors;
} PackShare;

// values[16][DEPTH]: elements k .. k + n of the columns of a panel, zeros beyond
static void read_columns(const PackedWeight *w, int64_t panel, int64_t k, float *values) {
    bool transposed = attr_int(w->node, "transposed", 0);
    int64_t n = w->depth - k < DEPTH ? w->depth - k : DEPTH;
    memset(values, 0, sizeof *values * COLUMNS * DEPTH);
    for (int c = 0; c < COLUMNS; c++, values += DEPTH) {
        int64_t column;
        const Tensor *t = source_column(w, panel * COLUMNS + c, &column);
        if (!t) continue;
        if (transposed)
            read_values(t, k * t->dim[1] + column, t->dim[1], n, values);
        else
            read_values(t, column * w->depth + k, 1, n, values);
    }
}

static void pack_float_panel(const PackedWeight *w, int64_t panel, unsigned char *bytes) {
    float values[COLUMNS * DEPTH];
    const WeightFormat *f = w->format;
    for (int64_t k = 0; k < w->depth; k += DEPTH) {
        read_columns(w, panel, k, values);
        for (int64_t i = 0; i < DEPTH && k + i < w->depth; i++, bytes += f->panel_bytes)
            f->pack(values + i, DEPTH, bytes);
    }
}

static void add_error(const Format *f, const EncodeInput *in, const CodedBlock *c, QuantError *e) {
    float kept[FORMAT_BLOCK];
    coded_values(f, c, kept);
    for (int64_t i = 0; i < in->n; i++) {
        double value = in->values[i], lost = value - (double)kept[i],
               weight = in->importance ? in->importance[i] : 1;
        e->lost += weight * lost * lost;
        e->all += weight * value * value;
    }
}

// The block at k of a column: the file's own, or the values quantized
static void read_block(const PackShare *s, const Tensor *t, int64_t column, int64_t k,
                       CodedBlock *c) {
    const PackedWeight *w = s->piece;
    const Format *f = w->format->blocks;
    float values[FORMAT_BLOCK];
    int source = 0;
    bool transposed = attr_int(w->node, "transposed", 0);
    if (t->dtype == f->dtype && !transposed) {
        f->decode((const uint8_t *)t->data + (column * w->depth + k) / f->block * f->bytes, c);
        return;
    }
    int64_t n = w->depth - k < f->block ? w->depth - k : f->block,
            step = transposed ? t->dim[1] : 1;
    read_values(t, transposed ? k * step + column : column * w->depth + k, step, n, values);
    const Importance *m = t->importance && t->importance->n == w->depth ? t->importance : NULL;
    EncodeInput in = {values, m ? m->column + k : NULL, n};
    f->encode(f, &in, c);
    while (w->node->in[source]->value != t) source++;
    add_error(f, &in, c, &s->errors[source]);
}

static void pack_block_panel(const PackShare *s, int64_t panel, unsigned char *bytes) {
    const PackedWeight *w = s->piece;
    const Format *f = w->format->blocks;
    const int64_t n = (w->depth + f->block - 1) / f->block;
    unsigned char *end = bytes + n * w->format->panel_bytes;
    CodedBlock blocks[COLUMNS];
    const CodedBlock *columns[COLUMNS] = {NULL};
    memset(end, 0, (size_t)format_panel_end(f, n));
    for (int64_t i = 0; i < n; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            int64_t column;
            const Tensor *t = source_column(w, panel * COLUMNS + c, &column);
            columns[c] = t ? &blocks[c] : NULL;
            if (t) read_block(s, t, column, i * f->block, &blocks[c]);
        }
        pack_blocks(f, columns, bytes + i * w->format->panel_bytes);
        if (format_is_exact(f)) pack_exact_end(f, columns, i, end);
    }
    if (format_has_panel_d(f)) pack_panel_d(columns, end);
}

static void *pack_share(void *share) {
    const PackShare *s = share;
    const PackedWeight *w = s->piece;
    for (uint64_t i = 0; i < s->n; i++) {
        unsigned char *to = s->bytes + i * w->unit_bytes;
        if (w->format->blocks)
            pack_block_panel(s, (int64_t)(s->first + i), to);
        else
            pack_float_panel(w, (int64_t)(s->first + i), to);
    }
    return NULL;
}

// Quantizing takes long: units are shared among threads.
static void pack_units(const PackedWeight *w, uint64_t first, uint64_t n, unsigned char *bytes) {
    enum { MOST_THREADS = 64 };
    PackShare shares[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    bool started[MOST_THREADS];
    int sources = w->node->n_in;
    long cpus = w->errors ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    uint64_t count = cpus < 1 ? 1 : cpus > MOST_THREADS ? MOST_THREADS : (uint64_t)cpus;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t from = n * i / count, to = n * (i + 1) / count;
        shares[i] = (PackShare){w, first + from, to - from, bytes + from * w->unit_bytes,
                                calloc((size_t)sources, sizeof(QuantError))};
        if (!shares[i].errors) diag_fatal(NO_LOC, "out of memory");
        started[i] = i && !pthread_create(&threads[i], NULL, pack_share, &shares[i]);
    }
    for (uint64_t i = 0; i < count; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            pack_share(&shares[i]);
        for (int j = 0; w->errors && j < sources; j++) {
            w->errors[j].lost += shares[i].errors[j].lost;
            w->errors[j].all += shares[i].errors[j].all;
        }
        free(shares[i].errors);
    }
}

// Packs units [first, first + n) of a piece into n * unit_bytes bytes. Deterministic; reads the
// checkpoint's pages, keeps nothing.
static void weight_piece_pack(const PackedWeight *w, uint64_t first, uint64_t n, void *bytes) {
    if (!w->format) {
        memcpy(bytes, (const char *)w->node->value->data + first, n);
        return;
    }
    pack_units(w, first, n, bytes);
}

// Packed weights are read once, so their pages are released: weights larger than memory pass
// through.
static void forget_sources(const Node *n) {
    if (n->value) mapping_forget(n->value->data, n->value->bytes);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->value)
            mapping_forget(n->in[i]->value->data, n->in[i]->value->bytes);
}

bool program_has_integers(const Program *p) {
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->format && p->weights[i]->format->block > 1) return true;
    return p->encoder && program_has_integers(p->encoder);
}

bool program_has_bf16(const Program *p) {
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->node->op == OP_pack && !strcmp(p->weights[i]->format->name, "bf16"))
            return true;
    return p->encoder && program_has_bf16(p->encoder);
}

uint64_t program_weight_bytes(const Program *p) { return p->weights_offset + p->plan.weight_bytes; }

void weights_write(const Program *p, WeightSink *sink, void *user) {
    if (p->encoder) weights_write(p->encoder, sink, user);
    Arena *arena = arena_new();
    uint64_t at = 0, largest = CHUNK;
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->unit_bytes > largest) largest = p->weights[i]->unit_bytes;
    unsigned char *bytes = arena_alloc(arena, largest);
    static const unsigned char zeros[64];
    for (int i = 0; i < p->n_weights; i++) {
        const PackedWeight *w = p->weights[i];
        for (; at < w->offset; at += at + 64 <= w->offset ? 64 : w->offset - at)
            sink(user, zeros, at + 64 <= w->offset ? 64 : w->offset - at);
        uint64_t several = w->unit_bytes ? largest / w->unit_bytes : w->units + 1;
        for (uint64_t u = 0; u < w->units; u += several) {
            uint64_t n = w->units - u < several ? w->units - u : several;
            weight_piece_pack(w, u, n, bytes);
            sink(user, bytes, n * w->unit_bytes);
        }
        forget_sources(w->node);
        at = w->offset + w->bytes;
    }
    for (; at < p->plan.weight_bytes; at++) sink(user, zeros, 1);
    arena_free(arena);
}

// ------------------------------------------------------------------------------------------ pieces
static bool same_tensor(const Tensor *a, const Tensor *b) {
    if (a == b) return true;
    if (!a || !b || a->dtype != b->dtype || a->rank != b->rank || a->bytes != b->bytes)
        return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return a->data == b->data || !memcmp(a->data, b->data, a->bytes);
}

static bool same_attr(const Node *a, const Node *b, const char *name) {
    return attr_int(a, name, 0) == attr_int(b, name, 0);
}

static bool same_pack(const Node *a, const Node *b) {
    if (a->n_in != b->n_in || strcmp(attr_string(a, "format", ""), attr_string(b, "format", "")))
        return false;
    for (int i = 0; i < a->n_in; i++)
        if (!same_tensor(a->in[i]->value, b->in[i]->value)) return false;
    return same_attr(a, b, "experts") && same_attr(a, b, "transposed") &&
           same_attr(a, b, "interleave");
}

static bool same_piece(const PackedWeight *a, const PackedWeight *b) {
    if (a->group != b->group || a->group != GROUP_PROGRAM || a->node->op != b->node->op ||
        a->bytes != b->bytes)
        return false;
    return a->node->op == OP_pack ? same_pack(a->node, b->node)
                                  : same_tensor(a->node->value, b->node->value);
}

static PackedWeight *find_same(const Program *p, const PackedWeight *w) {
    for (int i = 0; i < p->n_weights; i++)
        if (same_piece(p->weights[i], w)) return p->weights[i];
    return NULL;
}

static void replace_piece(Program *p, const PackedWeight *old, PackedWeight *by) {
    for (int i = 0; i < p->n_kernels; i++)
        for (int j = 0; j < p->kernels[i]->n_in; j++) {
            View *v = &p->kernels[i]->in[j];
            if (v->base == BASE_WEIGHT && v->weight == old) v->weight = by;
        }
}

void share_weights(Program *p) {
    int kept = 0;
    for (int i = 0; i < p->n_weights; i++) {
        PackedWeight *same = find_same(p->encoder, p->weights[i]);
        if (same)
            replace_piece(p, p->weights[i], same);
        else
            p->weights[kept++] = p->weights[i];
    }
    p->n_weights = kept;
}

static void describe_pack(PackedWeight *w) {
    const Node *n = w->node;
    const char *format = attr_string(n, "format", "");
    bool transposed = attr_int(n, "transposed", 0);
    w->format = weight_format_find(w->owner->arena, format);
    if (!w->format)
        diag_fatal(n->loc,
                   "weights cannot be packed as %s\nhint: burin formats lists what there is",
                   format);
    for (int i = 0; i < n->n_in; i++) {
        const Node *source = n->in[i];
        if (source->op != OP_constant || source->type.rank != 2)
            diag_fatal(n->loc, "pack: %%%s is not a constant matrix", source->name);
        w->columns += source->value->dim[transposed];
        w->depth = source->value->dim[!transposed];
    }
    w->experts = attr_int(n, "experts", 1);
    int64_t panels = (w->columns / w->experts + COLUMNS - 1) / COLUMNS;
    if (attr_int(n, "interleave", 0))
        panels =
            n->n_in / w->experts * ((n->in[0]->value->dim[transposed] + COLUMNS - 1) / COLUMNS);
    if (w->format->blocks) w->errors = ARENA_ARRAY(w->owner->arena, QuantError, n->n_in);
    w->units = (uint64_t)(panels * w->experts);
    const int64_t blocks = (w->depth + w->format->block - 1) / w->format->block;
    w->unit_bytes = (uint64_t)blocks * (uint64_t)w->format->panel_bytes;
    if (w->format->blocks) w->unit_bytes += (uint64_t)format_panel_end(w->format->blocks, blocks);
}

static void describe_constant(PackedWeight *w) {
    const Tensor *t = w->node->value;
    w->depth = t->rank ? t->dim[t->rank - 1] : 1;
    w->columns = tensor_count(t) / (w->depth ? w->depth : 1);
    w->units = t->bytes;
    w->unit_bytes = 1;
}

PackedWeight *packed_weight(Lowering *l, const Node *n) {
    Program *p = l->program;
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->node == n) return p->weights[i];
    PackedWeight *w = ARENA_NEW(l->arena, PackedWeight);
    w->node = n;
    w->layer = -1;
    w->owner = p;
    if (n->op == OP_pack)
        describe_pack(w);
    else
        describe_constant(w);
    w->bytes = w->units * w->unit_bytes;
    p->weights[p->n_weights++] = w;
    return w;
}
