// Common parts of all quantization methods: the method that config.json names, its tensors as
// matrices of codes and scales, and these as the weights that the description asks for. Values are
// exact: products in f32, in the order of the method's own code.
#include "frontend/checkpoint/quantized/quantized.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/format.h"
#include "kernels/convert.h"
#include "util/mapping.h"
#include "util/text.h"

// ------------------------------------------------------------------------------------------ fields
void quantized_refuse(const Quantization *q, const char *key, const char *value,
                      const char *expected) {
    diag_fatal(
        q->loc,
        "the weights are quantized (%s) with \"%s\" %s, which burin does not read: expected %-s"
        "\nhint: take another file of the model, or its float weights; burin quantizes with "
        "--quant",
        q->method, key, value, expected);
}

int64_t quantized_int(const Quantization *q, const char *key, int64_t otherwise) {
    const json_t *v = json_object_get(q->config, key);
    if (!v || json_is_null(v)) return otherwise;
    if (!json_is_integer(v))
        diag_fatal(q->loc, "\"%s\" of the quantization must be a whole number", key);
    return json_integer_value(v);
}

const char *quantized_string(const Quantization *q, const char *key, const char *otherwise) {
    const json_t *v = json_object_get(q->config, key);
    if (!v || json_is_null(v)) return otherwise;
    if (!json_is_string(v)) diag_fatal(q->loc, "\"%s\" of the quantization must be a string", key);
    return json_string_value(v);
}

const json_t *quantized_object(const Quantization *q, const char *name, const char *text,
                               size_t size) {
    Source *source = ARENA_NEW(q->checkpoint->arena, Source);
    *source = (Source){name, text, size};
    return json_read(q->checkpoint->arena, source, text, size);
}

// ------------------------------------------------------------------------------------------- parts
// a + b - 1 could overflow: b may be any number of config.json.
int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// As it is in the file, aligned; the checkpoint no longer lists it.
static const StoredTensor *take(const Quantization *q, StoredTensor *t) {
    StoredTensor *copy = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    checkpoint_find(q->checkpoint, t->tensor.name);
    *copy = *t;
    t->hidden = true;
    return copy;
}

QuantizedMatrix *quantized_matrix(Quantization *q, StoredTensor *codes, const char *end,
                                  const char *weight) {
    Arena *arena = q->checkpoint->arena;
    QuantizedMatrix *m = ARENA_NEW(arena, QuantizedMatrix);
    m->module = arena_strndup(arena, codes->tensor.name, strlen(codes->tensor.name) - strlen(end));
    m->name = arena_printf(arena, "%s%s", m->module, weight);
    const char *in_file = codes->name_in_file ? codes->name_in_file : codes->tensor.name;
    m->module_in_file = arena_strndup(arena, in_file, strlen(in_file) - strlen(end));
    m->factor = 1;
    m->codes = take(q, codes);
    m->bytes = m->codes->tensor.bytes;
    return m;
}

// [n, a, b] as [n a, b]
static const StoredTensor *joined(const Quantization *q, const StoredTensor *t) {
    StoredTensor *flat = ARENA_NEW(q->checkpoint->arena, StoredTensor);
    *flat = *t;
    flat->tensor.rank = 2, flat->tensor.dim[0] = t->tensor.dim[0] * t->tensor.dim[1],
    flat->tensor.dim[1] = t->tensor.dim[2];
    return flat;
}

void quantized_join(Quantization *q, QuantizedMatrix *m) {
    if (m->codes->tensor.rank != 3) return;
    m->stack = m->codes->tensor.dim[0];
    m->codes = joined(q, m->codes);
}

const StoredTensor *quantized_part(Quantization *q, QuantizedMatrix *m, const char *end, int dtypes,
                                   bool needed) {
    const char *name = arena_printf(q->checkpoint->arena, "%s%s", m->module, end);
    StoredTensor *t = map_get(&q->checkpoint->by_name, name);
    if (!t || t->hidden) {
        if (needed)
            file_fatal(m->codes->file,
                       "tensor \"%s\" is quantized (%s), but there is no \"%s\"\nhint: download "
                       "every file again",
                       m->codes->tensor.name, q->method, name);
        return NULL;
    }
    DType type = t->tensor.dtype;
    if (type >= 31 || !(dtypes >> type & 1))
        file_fatal(t->file,
                   "tensor \"%s\" is %s, which %s does not have there\nhint: is quant_method right "
                   "in config.json?",
                   name, dtype_name(type), q->method);
    m->bytes += t->tensor.bytes;
    const StoredTensor *part = take(q, t);
    bool of_each =
        m->stack && !m->transposed && t->tensor.rank == 3 && t->tensor.dim[0] == m->stack;
    return of_each ? joined(q, part) : part;
}

// A dimension below 0 may be any.
static const char *shape_text(int rank, const int64_t *dims, char *text, size_t size) {
    size_t n = 0;
    text[0] = 0;
    for (int i = 0; i < rank && n < size; i++) {
        n += (size_t)snprintf(text + n, size - n, i ? ", " : "");
        n += (size_t)(dims[i] < 0 ? snprintf(text + n, size - n, "any")
                                  : snprintf(text + n, size - n, "%" PRId64, dims[i]));
    }
    return text;
}

void quantized_want_shape(const StoredTensor *t, int rank, const int64_t *dims) {
    enum { LONGEST = MAX_RANK * 22 };
    bool fits = t->tensor.rank == rank;
    for (int i = 0; fits && i < rank; i++) fits = dims[i] < 0 || t->tensor.dim[i] == dims[i];
    if (fits) return;
    char text[LONGEST], expected[LONGEST];
    file_fatal(t->file,
               "tensor \"%s\" has shape [%s], expected [%s]\nhint: do its parts belong together, "
               "and to config.json?",
               t->tensor.name, shape_text(t->tensor.rank, t->tensor.dim, text, LONGEST),
               shape_text(rank, dims, expected, LONGEST));
}

unsigned packed_field(const uint32_t *words, int64_t stride, int64_t at, int bits) {
    int64_t bit = at * bits, word = bit / 32, shift = bit % 32;
    uint64_t low = words[word * stride] >> shift;
    if (shift + bits > 32) low |= (uint64_t)words[(word + 1) * stride] << (32 - shift);
    return (unsigned)(low & ((1u << bits) - 1));
}

void quantized_set_size(QuantizedMatrix *m, const StoredTensor *t, int64_t rows, int64_t columns) {
    if (rows < 1 || columns < 1 || rows > INT32_MAX || columns > INT32_MAX)
        file_fatal(t->file,
                   "tensor \"%s\" says that the weight has shape [%" PRId64 ", %" PRId64 "]",
                   t->tensor.name, rows, columns);
    m->rows = rows, m->columns = columns;
}

void quantized_want_words(const QuantizedMatrix *m) {
    const StoredTensor *t = m->codes;
    if (t->tensor.dtype != DT_i32)
        file_fatal(t->file,
                   "tensor \"%s\" is %s, expected words of 32 bits\nhint: is quant_method right in "
                   "config.json?",
                   t->tensor.name, dtype_name(t->tensor.dtype));
    quantized_want_shape(t, 2, (int64_t[]){-1, -1});
}

bool quantized_is_conv1d(const Quantization *q, const char *name) {
    const char *type = q->checkpoint->architecture;
    return type && (!strcmp(type, "gpt2") || !strcmp(type, "openai-gpt")) &&
           (text_ends_with(name, ".c_attn.weight") || text_ends_with(name, ".c_fc.weight") ||
            text_ends_with(name, ".c_proj.weight") || text_ends_with(name, ".q_attn.weight"));
}

// ------------------------------------------------------------------------------------------ scales
void quantized_check_scales(const StoredTensor *t) {
    int64_t n = tensor_count(&t->tensor);
    for (int64_t i = 0; i < n; i++) {
        double scale = dtype_load(t->tensor.dtype, t->tensor.data, i);
        if (isfinite(scale)) continue;
        file_fatal(t->file,
                   "tensor \"%s\" has a scale that is %s, at %" PRId64
                   "\nhint: a damaged file: take another",
                   t->tensor.name, scale != scale ? "not a number" : "infinite", i);
    }
}

static int64_t groups_of(const QuantizedMatrix *m) { return ceil_div(m->columns, m->group); }

void quantized_scales(QuantizedMatrix *m, const StoredTensor *t, int64_t rows, int64_t group) {
    const Tensor *s = &t->tensor;
    int64_t r = s->rank > 0 ? s->dim[0] : 1, c = s->rank > 1 ? s->dim[1] : 1;
    int64_t row_block = r == 1                      ? m->rows
                        : r == m->rows              ? 1
                        : m->stack && r == m->stack ? m->rows / r
                                                    : rows;
    m->group = c == 1 ? m->columns : group;
    if (s->rank > 2 || row_block < 1 || m->group < 1 || ceil_div(m->rows, row_block) != r ||
        groups_of(m) != c)
        quantized_want_shape(t, 2,
                             (int64_t[]){ceil_div(m->rows, rows < 1 ? 1 : rows),
                                         group < 1 ? 1 : ceil_div(m->columns, group)});
    if (m->stack && row_block < m->rows && m->rows / m->stack % row_block)
        file_fatal(t->file,
                   "tensor \"%s\" has scales of %" PRId64
                   " rows, which are not whole experts of %" PRId64 " rows",
                   t->tensor.name, row_block, m->rows / m->stack);
    quantized_check_scales(t);
    m->groups = c;
    m->scale = (Grid){t, row_block, c, 1};
}

void quantized_scales_by_group(QuantizedMatrix *m, const StoredTensor *t, int64_t group) {
    m->group = group < 1 ? m->columns : group;
    m->groups = groups_of(m);
    quantized_want_shape(t, 2, (int64_t[]){m->groups, m->rows});
    quantized_check_scales(t);
    m->scale = (Grid){t, 1, 1, m->rows};
}

// Columns by their groups, in a group as they were; NULL: groups differ in size
static const int32_t *sorted_columns(Arena *arena, const QuantizedMatrix *m) {
    int32_t *sorted = ARENA_ARRAY(arena, int32_t, m->columns);
    int64_t *n = ARENA_ARRAY(arena, int64_t, m->groups);
    for (int64_t g = 0; g < m->groups; g++) n[g] = 0;
    for (int64_t k = 0; k < m->columns; k++) {
        int64_t g = m->group_of[k];
        if (n[g] == m->group) return NULL;
        sorted[g * m->group + n[g]++] = (int32_t)k;
    }
    return m->columns == m->groups * m->group ? sorted : NULL;
}

void quantized_order(const Quantization *q, QuantizedMatrix *m) {
    if (!m->order) return;
    const int32_t *g = m->order->tensor.data;
    bool in_turn = true;
    for (int64_t k = 0; k < m->columns; k++) {
        if (g[k] < 0 || g[k] >= m->groups)
            file_fatal(m->order->file,
                       "tensor \"%s\" puts input %" PRId64 " into group %d, but there are %" PRId64
                       " groups",
                       m->order->tensor.name, k, g[k], m->groups);
        in_turn &= g[k] == k / m->group;
    }
    m->group_of = in_turn ? NULL : g;
    if (!in_turn) m->sorted = sorted_columns(q->checkpoint->arena, m);
}

static float scale_of(const QuantizedMatrix *m, int64_t row, int64_t group) {
    const Grid *g = &m->scale;
    const Tensor *t = &g->values->tensor;
    return (float)dtype_load(t->dtype, t->data,
                             row / g->row_block * g->row_stride + group * g->group_stride);
}

static void read_scales(const QuantizedMatrix *m, CodedRows *rows) {
    for (int r = 0; r < rows->n; r++) {
        int64_t row = rows->first + r, before = -1;
        float *scale = rows->scale + r * m->columns;
        int16_t *zero = rows->zero + r * m->columns;
        for (int64_t k = 0; k < m->columns; k++) {
            int64_t g = m->scale_at ? 0 : m->group_of ? m->group_of[k] : k / m->group;
            bool same = g == before;
            zero[k] = same ? zero[k - 1] : m->zero ? (int16_t)m->zero(m, row, g) : 0;
            scale[k] = m->scale_at ? m->scale_at(m, row, k)
                       : same      ? scale[k - 1]
                                   : scale_of(m, row, g);
            if (m->end) rows->end[r * m->columns + k] = m->end_at(m, row, k);
            before = g;
        }
    }
}

void quantized_column_factors(Quantization *q, QuantizedMatrix *m, const char *end) {
    const StoredTensor *t = quantized_part(q, m, end, SET_FLOATS, false);
    if (!t) return;
    if (tensor_count(&t->tensor) != m->columns) quantized_want_shape(t, 1, (int64_t[]){m->columns});
    quantized_check_scales(t);
    float *factors = ARENA_ARRAY(q->checkpoint->arena, float, m->columns);
    for (int64_t k = 0; k < m->columns; k++)
        factors[k] = (float)dtype_load(t->tensor.dtype, t->tensor.data, k);
    m->column_factors = factors;
}

// ------------------------------------------------------------------------------------------ values
static float value_at(const QuantizedMatrix *m, const CodedRows *rows, int r, int64_t k) {
    int64_t i = r * m->columns + k, row = rows->first + r;
    float x = m->table ? m->table[rows->code[i]] : (float)(rows->code[i] - rows->zero[i]),
          scale = rows->scale[i];
    float value = m->end == END_LINE       ? x * scale + rows->end[i]
                  : m->end == END_FRACTION ? (x - rows->end[i]) * scale
                                           : scale * x * m->factor;
    if (!isfinite(value))
        file_fatal(m->codes->file,
                   "tensor \"%s\" has a weight that is no number, in row %" PRId64
                   ", column %" PRId64,
                   m->codes->tensor.name, row, k);
    return value;
}

// The index of a row and column's value in the weight
static int64_t place_of(const QuantizedMatrix *m, int64_t row, int64_t k) {
    int64_t height = m->rows / (m->stack ? m->stack : 1);
    return m->transposed ? row / height * height * m->columns + k * height + row % height
                         : row * m->columns + k;
}

static void store_row(const QuantizedMatrix *m, DType type, const CodedRows *rows, int r,
                      void *out) {
    for (int64_t k = 0; k < m->columns; k++)
        dtype_store(type, out, place_of(m, rows->first + r, k),
                    m->column_factors ? value_at(m, rows, r, k) * m->column_factors[k]
                                      : value_at(m, rows, r, k));
}

// Blocks of one row
static void blocks_of_row(const QuantizedMatrix *m, const Format *f, const CodedRows *rows, int r,
                          uint8_t *out) {
    const int16_t *code = rows->code + r * m->columns, *zero = rows->zero + r * m->columns;
    const float *scale = rows->scale + r * m->columns;
    if (m->own == f->dtype) {
        // refuses values that are no numbers
        for (int64_t k = 0; k < m->columns; k++) value_at(m, rows, r, k);
        m->blocks(m, rows, r, out);
        return;
    }
    for (int64_t k = 0; k < m->columns; k += f->block, out += f->bytes) {
        int64_t first = m->sorted ? m->sorted[k] : k;
        int16_t codes[FORMAT_BLOCK];
        for (int i = 0; i < f->block; i++) {
            int64_t at = m->sorted ? m->sorted[k + i] : k + i;
            value_at(m, rows, r, at);  // refuses values that are no numbers
            codes[i] = (int16_t)(code[at] - m->center);
        }
        float end = m->end ? rows->end[r * m->columns + first] : 0;
        block_write(f, (BlockEnds){scale[first], end, zero[first] - m->center}, codes, out);
    }
}

static void forget(const StoredTensor *t) {
    if (t) mapping_forget(t->tensor.data, t->tensor.bytes);
}

enum { ROWS_AT_ONCE = 16 };  // matrices whose words are side by side along rows

static void write_row(const QuantizedMatrix *m, DType type, const CodedRows *rows, int r,
                      unsigned char *out) {
    const Format *f = format_of(type);
    if (f)
        blocks_of_row(m, f, rows, r, out + (rows->first + r) * (m->columns / f->block * f->bytes));
    else
        store_row(m, type, rows, r, out);
}

void quantized_values(const QuantizedMatrix *m, DType type, unsigned char *out) {
    Arena *arena = arena_new();
    size_t n = (size_t)(ROWS_AT_ONCE * m->columns);
    CodedRows rows = {.code = ARENA_ARRAY(arena, int16_t, n),
                      .zero = ARENA_ARRAY(arena, int16_t, n)};
    rows.scale = ARENA_ARRAY(arena, float, n), rows.end = ARENA_ARRAY(arena, float, n);
    for (; rows.first < m->rows; rows.first += rows.n) {
        rows.n = m->rows - rows.first < ROWS_AT_ONCE ? (int)(m->rows - rows.first) : ROWS_AT_ONCE;
        m->read(m, &rows);
        read_scales(m, &rows);
        for (int r = 0; r < rows.n; r++) write_row(m, type, &rows, r, out);
    }
    forget(m->codes);
    arena_free(arena);
}

// ----------------------------------------------------------------------------------------- formats
static bool runs_of(const QuantizedMatrix *m, int64_t n) {
    return (!m->group_of || m->sorted) && m->group && m->group % n == 0 && m->columns % n == 0;
}

static format_minimum minimum_of(const QuantizedMatrix *m) {
    if (m->end) return m->end == END_LINE ? MINIMUM_LINE : MINIMUM_FRACTION;
    return m->zero || m->center ? MINIMUM_ZERO : MINIMUM_NONE;
}

static DType integer_format(const QuantizedMatrix *m) {
    const Tensor *scales = m->scale.values ? &m->scale.values->tensor : NULL;
    bool in_order = !m->group_of || m->sorted;
    CodedKind kind = {.bits = m->bits,
                      .columns = m->columns,
                      .group = in_order ? m->group : 0,
                      .minimum = minimum_of(m)};
    kind.halves = scales && floats_are_halves(scales->dtype, scales->data, tensor_count(scales));
    const Format *own = m->own ? format_of(m->own) : NULL;
    if (m->factor != 1) return runs_of(m, 128) ? DT_b8_128 : runs_of(m, 32) ? DT_b8_32 : DT_f32;
    const Format *f = format_of_codes(&kind, own);
    return f ? f->dtype : DT_f32;
}

static DType float_format(const QuantizedMatrix *m) {
    DType codes = m->codes->tensor.dtype;
    if (codes == DT_f8e4m3fn && m->bits == 8)
        return runs_of(m, 128) ? DT_e4m3_128 : runs_of(m, 32) ? DT_e4m3_32 : DT_f32;
    if (m->bits != 4 || !runs_of(m, 64)) return DT_f32;
    if (!memcmp(m->table, nf4_table, sizeof nf4_table)) return DT_nf4_64;
    return memcmp(m->table, fp4_table, sizeof fp4_table) ? DT_f32 : DT_fp4_64;
}

// The smallest format that loses nothing
static DType format_for(const QuantizedMatrix *m) {
    if (m->own && !m->end) return m->own;
    if (m->powers && m->bits == 4 && runs_of(m, 32)) return DT_mxfp4;
    DType type = m->table ? float_format(m) : integer_format(m);
    return m->powers && type == DT_f32 && !m->column_factors ? DT_bf16 : type;
}

// ----------------------------------------------------------------------------------- whole folders
// The tensor of the checkpoint that represents the matrix from here on.
static void present(Quantization *q, const QuantizedMatrix *m) {
    Checkpoint *c = q->checkpoint;
    StoredTensor *t = map_get(&c->by_name, m->name);
    if (t && !t->hidden)
        file_fatal(t->file, "there is \"%s\" beside \"%s\"", m->name, m->codes->tensor.name);
    bool new_name = !t;
    if (new_name) t = map_get(&c->by_name, m->codes->tensor.name);
    int64_t height = m->rows / (m->stack ? m->stack : 1);
    DType type = format_for(m);
    bool swapped = m->transposed && dtype_is_block(type), turned = m->transposed && !swapped;
    *t = (StoredTensor){.tensor = {.dtype = type,
                                   .swapped = swapped,
                                   .name = m->name,
                                   .source = &m->codes->file->source},
                        .file = m->codes->file,
                        .quantized = m};
    if (dtype_is_block(type)) t->tensor.order = m->sorted, t->tensor.factors = m->column_factors;
    int rank = 0;
    if (m->stack) t->tensor.dim[rank++] = m->stack;
    t->tensor.dim[rank++] = turned ? m->columns : height;
    t->tensor.dim[rank++] = turned ? height : m->columns;
    t->tensor.rank = rank;
    t->tensor.bytes = dtype_bytes(type, tensor_count(&t->tensor));
    if (!new_name) return;
    map_put(&c->by_name, m->codes->tensor.name, NULL);
    map_put(&c->by_name, m->name, t);
}

// Scales of activations and of the KV cache, which burin does not quantize by them
static bool is_of_activations(const char *name) {
    static const char *const ends[] = {
        ".input_scale",       ".output_scale",   ".input_zero_point",
        ".output_zero_point", ".k_scale",        ".v_scale",
        ".q_scale",           ".input_scale_ub", ".input_g_idx",
        ".prob_scale",        ".kv_scale",       "_proj_input_scale",
        ".k_zero_point",      ".v_zero_point",   ".input_global_scale",
        ".activation_scale"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (text_ends_with(name, ends[i])) return true;
    return false;
}

static int read_matrices(Quantization *q, const QuantizationMethod *method) {
    Checkpoint *c = q->checkpoint;
    int n = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        StoredTensor *t = (StoredTensor *)c->tensors[i];
        if (t->hidden || t->quantized) continue;
        const QuantizedMatrix *m = method->matrix(q, t);
        if (m) present(q, m), n++;
        t->hidden |= !m && is_of_activations(t->tensor.name);
    }
    checkpoint_list_again(c);
    return n;
}

// A separately quantized head is used even with tied embeddings: its library computes with it,
// whatever the configuration has.
static void untie_head(Quantization *q) {
    Checkpoint *c = q->checkpoint;
    const StoredTensor *head = map_get(&c->by_name, "lm_head.weight");
    if (!head || head->hidden || !head->quantized) return;
    json_t *untied = json_own(c->arena, json_deep_copy(c->config)),
           *text = json_object_get(untied, "text_config");
    bool tied = json_is_true(json_object_get(untied, "tie_word_embeddings")) ||
                json_is_true(json_object_get(text, "tie_word_embeddings"));
    json_object_set_new(untied, "tie_word_embeddings", json_false());
    json_object_set_new(text, "tie_word_embeddings", json_false());
    c->config = untied;
    if (!tied) return;
    diag_warning(checkpoint_config_loc(c, "tie_word_embeddings"),
                 "the head is quantized on its own (\"%s\"): it is used, not the embedding that it "
                 "is said to be tied to",
                 head->quantized->codes->tensor.name);
}

// Matrices that no block format holds without loss take more room than in the file.
static void warn_of_growth(const Quantization *q, int matrices) {
    const Checkpoint *c = q->checkpoint;
    uint64_t before = 0, after = 0;
    int n = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        const StoredTensor *t = (const StoredTensor *)c->tensors[i];
        if (!t->quantized || dtype_is_block(t->tensor.dtype)) continue;
        n++, before += t->quantized->bytes, after += t->tensor.bytes;
    }
    if (n)
        diag_warning(q->loc,
                     "%d of %d matrices (%s) become floats, %.1f times as large: no block format "
                     "holds them without loss"
                     "\nnote: groups of 16, across 32 columns or of several sizes have none",
                     n, matrices, q->method, (double)after / (double)before);
}

const Tensor *checkpoint_as_floats(const Checkpoint *c, const Tensor *t) {
    const QuantizedMatrix *m = ((const StoredTensor *)t)->quantized;
    Tensor *floats = ARENA_NEW(c->arena, Tensor);
    *floats = *t;
    floats->dtype = DT_f32, floats->order = NULL, floats->factors = NULL,
    floats->bytes = dtype_bytes(DT_f32, tensor_count(t));
    if (t->swapped)
        floats->dim[t->rank - 2] = t->dim[t->rank - 1],
                              floats->dim[t->rank - 1] = t->dim[t->rank - 2];
    floats->swapped = false;
    unsigned char *data = arena_alloc(c->arena, floats->bytes);
    quantized_values(m, DT_f32, data);
    floats->data = data;
    return floats;
}

const char *checkpoint_stored_type(const Checkpoint *c, const Tensor *t, uint64_t *bytes) {
    const StoredTensor *stored = (const StoredTensor *)t;
    *bytes = stored->quantized ? stored->quantized->bytes : t->bytes;
    if (!stored->quantized) return dtype_name(t->dtype);
    return arena_printf(c->arena, "%s, %d bits", c->quantized, stored->quantized->bits);
}

bool checkpoint_is_quantized(const Tensor *t) {
    return ((const StoredTensor *)t)->quantized != NULL;
}

// Parts of quantized matrices without a configuration that explains them
static void refuse_unnamed(const Checkpoint *c) {
    static const char *const ends[] = {
        ".qweight",       ".weight_packed", ".weight_scale", ".weight_scale_inv",
        ".weight.absmax", ".SCB",           ".W_q"};
    for (int i = 0; c->config && i < c->n_tensors; i++)
        for (size_t j = 0; j < sizeof ends / sizeof *ends; j++)
            if (text_ends_with(c->tensors[i]->name, ends[j]))
                file_fatal(((const StoredTensor *)c->tensors[i])->file,
                           "tensor \"%s\" is a part of quantized weights, but config.json has no "
                           "\"quantization_config\""
                           "\nhint: download every file of the folder again, quantize_config.json "
                           "too if it has one",
                           c->tensors[i]->name);
}

void checkpoint_read_quantized(Checkpoint *c) {
    if (c->kind != CHECKPOINT_SAFETENSORS || c->quantized) return;
    Quantization q = quantization_of(c);
    if (!q.config) {
        refuse_unnamed(c);
        return;
    }
    const QuantizationMethod *method = quantization_method(&q);
    method->check(&q);
    // Of bitsandbytes it may say how transformers is to load float weights.
    int n = read_matrices(&q, method);
    if (n) c->quantized = q.method;
    untie_head(&q);
    warn_of_growth(&q, n);
    if (!n && !q.beside && strcmp(q.method, "bitsandbytes"))
        diag_fatal(q.loc,
                   "%s says that the weights are quantized (%s), but no tensor of the model is"
                   "\nhint: is it another model's config.json? Without the field the weights are "
                   "read as they are",
                   q.loc.source ? q.loc.source->name : "config.json", q.method);
}
