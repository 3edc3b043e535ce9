// Sessions: one block of memory for all parts of a model, rows checked and handed to the threads in
// chunks.
#include "forward.h"

#include <string.h>

#include "encoder.h"
#include "integrity.h"
#include "picture.h"
#include "ranks.h"

// ---- cutting the memory ----

// Places in the block, found by the same code that adds up its size: `at` grows, `base` is NULL
// while measuring.
typedef struct carver {
    unsigned char *base;
    size_t at;
    bool overflow;
} carver;

static void *carve(carver *cut, size_t count, size_t bytes) {
    size_t size, end, place = cut->at;
    if (__builtin_mul_overflow(count, bytes, &size) ||
        __builtin_add_overflow(size, BURIN_ALIGNMENT - 1, &size) ||
        __builtin_add_overflow(place, size & ~(size_t)(BURIN_ALIGNMENT - 1), &end))
        cut->overflow = true;
    else
        cut->at = end;
    return cut->base ? cut->base + place : NULL;
}

static burin_options options_with_defaults(const burin_model *model, const burin_options *given) {
    burin_options o = given ? *given : (burin_options){0};
    if (!o.slots) o.slots = 1;
    if (!o.max_rows && o.symbols && model->net->rows >= 0)
        o.max_rows = (int32_t)o.symbols[model->net->rows];
    if (!o.max_rows) o.max_rows = model->max_rows;
    if (!o.threads) o.threads = burin_default_threads();
    return o;
}

static bool options_in_range(const burin_model *model, const burin_options *o) {
    return o->slots > 0 && o->max_rows > 0 && o->max_rows <= model->max_rows && o->threads > 0 &&
           o->threads <= BURIN_MAX_THREADS;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// What steps and the encoder's passes use in turn.
static void carve_working_memory(carver *cut, burin_session *s, const burin_model *model,
                                 const burin_options *o) {
    static const burin_encoder none;
    const burin_encoder *e = burin_encoder_of(model) ? burin_encoder_of(model) : &none;
    size_t arena, source;
    if (__builtin_mul_overflow((size_t)o->max_rows, model->row_bytes, &arena) ||
        __builtin_mul_overflow((size_t)e->max_rows, e->row_bytes, &source))
        cut->overflow = true;
    else
        s->step.arena = carve(cut, 1, larger(arena, source));
    s->step.local = carve(cut, (size_t)o->threads, larger(model->local_bytes, e->local_bytes));
    s->scratch_bytes = o->symbols && model->net->scratch_bytes
                           ? model->net->scratch_bytes(o->symbols)
                           : model->scratch_bytes;
    s->step.scratch = carve(cut, 1, larger(s->scratch_bytes, e->scratch_bytes));
}

static size_t vector_width(const burin_model *m) {
    return m->eyes ? (size_t)m->eyes->width : (size_t)m->row_vectors;
}

// `s` is where the pieces are noted: the session itself, or a scratch one while measuring.
static void carve_session(carver *cut, burin_session *s, const burin_model *model,
                          const burin_options *o) {
    size_t slots = (size_t)o->slots, rows = (size_t)o->max_rows;
    carve(cut, 1, sizeof *s);
    s->pool = o->pool ? o->pool : carve(cut, 1, burin_pool_bytes(o->threads));
    s->length = carve(cut, slots, sizeof *s->length);
    s->reached = carve(cut, slots, sizeof *s->reached);
    s->recurred = carve(cut, slots, sizeof *s->recurred);
    s->next = carve(cut, slots, sizeof *s->next);
    s->source_length = carve(cut, slots, sizeof *s->source_length);
    s->token = carve(cut, rows, sizeof *s->token);
    s->slot = carve(cut, rows, sizeof *s->slot);
    s->position = carve(cut, rows, sizeof *s->position);
    s->source_last = carve(cut, rows, sizeof *s->source_last);
    s->logit_rows = carve(cut, rows, sizeof *s->logit_rows);
    s->embedded = carve(cut, model->eyes ? rows : 0, sizeof *s->embedded);
    s->last_seen = carve(cut, model->eyes ? rows : 0, sizeof *s->last_seen);
    s->embeddings = carve(cut, rows, vector_width(model) * sizeof *s->embeddings);
    s->step.row_states = carve(cut, rows, (size_t)model->row_states * sizeof *s->step.row_states);
    bool axes = model->eyes && model->eyes->axes;
    s->axes = carve(cut, axes ? 3 * rows : 0, sizeof *s->axes);
    s->next_axis = carve(cut, axes ? slots * (size_t)model->context : 0, sizeof *s->next_axis);
    carve_working_memory(cut, s, model, o);
    s->step.state = carve(cut, slots, model->slot_bytes);
}

BURIN_LINKAGE size_t burin_session_bytes(const burin_model *model, const burin_options *options) {
    burin_options o = options_with_defaults(model, options);
    burin_session scratch;
    carver cut = {0};
    if (!options_in_range(model, &o)) return 0;
    carve_session(&cut, &scratch, model, &o);
    return cut.overflow ? 0 : cut.at;
}

// ---- opening ----

BURIN_LINKAGE const burin_variant *burin_variant_find(const burin_model *model, const char *cpu,
                                                      burin_status *status) {
    *status = cpu ? BURIN_BAD_CPU : BURIN_CPU_TOO_OLD;
    for (int i = model->n_variants - 1; i >= 0; i--) {
        const burin_variant *v = &model->variants[i];
        if (cpu && strcmp(cpu, v->cpu)) continue;
        if (v->supported()) {
            *status = BURIN_OK;
            return v;
        }
        *status = BURIN_CPU_TOO_OLD;
    }
    return NULL;
}

static burin_step step_of(burin_session *s, const burin_options *o) {
    burin_step step = s->step;
    step.weights = s->model->weights();
    step.token = s->token;
    step.slot = s->slot;
    step.position = s->position;
    step.source_last = s->source_last;
    step.logit_rows = s->logit_rows;
    step.embedded = s->embedded;
    step.embeddings = s->embeddings;
    step.last_seen = s->last_seen;
    step.axes = s->axes;
    step.max_rows = o->max_rows;
    step.threads = o->threads;
    step.barrier = &s->pool->barrier;
    return step;
}

static bool opens_intact(const burin_model *m) {
    return (m->tokenizer_offset > BURIN_SMALL_WEIGHTS || burin_weights_intact(m)) &&
           burin_tokenizer_intact(m);
}

BURIN_LINKAGE burin_status burin_session_open(burin_session **session, const burin_model *model,
                                              const burin_options *options, void *memory,
                                              size_t bytes) {
    burin_options o = options_with_defaults(model, options);
    size_t needed = burin_session_bytes(model, &o);
    burin_status status;
    *session = NULL;
    if (model->abi != BURIN_ABI) return BURIN_BAD_ABI;
    if (!needed) return BURIN_BAD_OPTION;
    const burin_variant *variant = burin_variant_find(model, o.cpu, &status);
    if (!variant) return status;
    if (!opens_intact(model)) return BURIN_DAMAGED;
    if (!memory) return BURIN_BAD_ARGUMENT;
    if ((uintptr_t)memory % BURIN_ALIGNMENT) return BURIN_BAD_ALIGNMENT;
    if (bytes < needed) return BURIN_SMALL_MEMORY;
    burin_session *s = memory;
    *s = (burin_session){
        .model = model, .variant = variant, .slots = o.slots, .process = burin_process()};
    s->memory_bytes = bytes;
    s->pool_is_shared = o.pool != NULL;
    carve_session(&(carver){.base = memory}, s, model, &o);
    s->step = step_of(s, &o);
    memset(s->length, 0, (size_t)o.slots * sizeof *s->length);
    memset(s->reached, 0, (size_t)o.slots * sizeof *s->reached);
    memset(s->recurred, 0, (size_t)o.slots * sizeof *s->recurred);
    memset(s->source_length, 0, (size_t)o.slots * sizeof *s->source_length);
    if (!o.pool && !burin_pool_start(s->pool, burin_crew_for(o.threads))) return BURIN_NO_THREADS;
    *session = s;
    return BURIN_OK;
}

// A forked child has a copy of the memory, but of the threads only the one that forked.
BURIN_LINKAGE burin_status burin_session_check(const burin_session *s) {
    return s->pool->threads > 1 && s->process != burin_process() ? BURIN_FORKED : BURIN_OK;
}

BURIN_LINKAGE void burin_session_close(burin_session *s) {
    if (!s->pool_is_shared && !burin_session_check(s)) burin_pool_stop(s->pool);
}

// ---- the forward call ----

static burin_status check_row(const burin_session *s, const burin_row *row) {
    if (row->token < 0 || row->token >= burin_input_vocabulary(s->model)) return BURIN_BAD_TOKEN;
    if (row->slot < 0 || row->slot >= s->slots) return BURIN_BAD_SLOT;
    if (s->next[row->slot] >= s->model->context) return BURIN_CONTEXT_FULL;
    if (s->model->encoder && !s->source_length[row->slot]) return BURIN_NO_SOURCE;
    return row->position == s->next[row->slot] ? BURIN_OK : BURIN_BAD_POSITION;
}

// All rows, before any is computed; leaves the lengths after them in `next`.
static burin_status check_rows(burin_session *s, const burin_row *rows, int n,
                               const float *logits) {
    memcpy(s->next, s->length, (size_t)s->slots * sizeof *s->next);
    for (int i = 0; i < n; i++) {
        burin_status status = check_row(s, &rows[i]);
        if (status) return status;
        if (rows[i].wants_logits && !logits) return BURIN_NO_LOGITS;
        s->next[rows[i].slot]++;
    }
    return BURIN_OK;
}

static void run_variant(void *argument, int thread) {
    burin_session *s = argument;
    burin_profile_begin(&s->step, thread);
    s->variant->forward(&s->step, thread);
}

BURIN_LINKAGE void burin_session_run(burin_session *s) {
    burin_rank_broadcast(s, s->model->net ? BURIN_ORDER_NETWORK : BURIN_ORDER_STEP, &s->step, NULL);
    if (s->step.profile) s->step.profile->last = burin_nanoseconds();
    if (s->step.trace && s->step.trace->begin) s->step.trace->begin(s->step.trace->context, false);
    burin_pool_run(s->pool, run_variant, s);
    if (s->step.trace && s->step.trace->end) s->step.trace->end(s->step.trace->context);
}

// The vector of a picture's row, in place of its token's, or beside it.
static void embed_row(burin_session *s, int i, const burin_embedding *e) {
    size_t width = vector_width(s->model);
    if (s->model->eyes) s->embedded[i] = e->vector != NULL;
    if (e->vector) memcpy(s->embeddings + (size_t)i * width, e->vector, width * sizeof *e->vector);
}

// Tokens have one time on all three axes; lines and columns of a picture begin with the time of its
// first row. The next token is later by the number of lines or of columns, whichever is larger.
static void set_axes(burin_session *s, int i, const burin_embedding *e) {
    int32_t *next = s->next_axis + (size_t)s->slot[i] * (size_t)s->model->context;
    int32_t position = s->position[i], before = position - (e->vector ? e->row : 0);
    int32_t time = before > 0 ? next[before - 1] : 0, *axes = s->axes + 3 * (size_t)i;
    bool grid = e->vector && e->columns;
    axes[0] = time;
    axes[1] = time + (grid ? e->row / e->columns : 0);
    axes[2] = time + (grid ? e->row % e->columns : 0);
    next[position] = time + (grid ? burin_max(e->lines, e->columns) : 1);
}

// Rows of a picture see its last row, those of a prompt that sees all its last, others themselves.
static void set_last_seen(burin_session *s, const burin_embedding *embeddings, int n) {
    bool prompt = s->model->eyes->sees_all == BURIN_SEES_PROMPT && embeddings &&
                  embeddings[0].vector && !s->position[0];
    for (int i = n - 1; i >= 0; i--) {
        bool inside = embeddings && embeddings[i].vector && i + 1 < n && embeddings[i + 1].vector &&
                      s->slot[i] == s->slot[i + 1] && s->model->eyes->sees_all;
        inside |= prompt && i + 1 < n;
        s->last_seen[i] = inside ? s->last_seen[i + 1] : s->position[i];
    }
}

BURIN_LINKAGE int burin_rows_of_step(const burin_model *model, const burin_embedding *embeddings,
                                     int n, int most) {
    if (n <= most || !embeddings || !model->eyes || !model->eyes->sees_all)
        return n < most ? n : most;
    int rows = most;
    bool prompt = model->eyes->sees_all == BURIN_SEES_PROMPT;
    while (rows && (prompt || (embeddings[rows - 1].vector && embeddings[rows].vector))) rows--;
    return rows;
}

// Rows of a picture that attend to each other must be in a step, and within the first window; a
// head's rows have vectors.
static burin_status check_vectors(const burin_session *s, const burin_row *rows,
                                  const burin_embedding *embeddings, int n) {
    const burin_eyes *e = s->model->eyes;
    for (int i = 0; i < n && s->model->row_vectors; i++)
        if (!embeddings || !embeddings[i].vector) return BURIN_BAD_ARGUMENT;
    if (!embeddings || !e || !e->sees_all) return BURIN_OK;
    for (int i = 0; i < n && e->window; i++)
        if (embeddings[i].vector && rows[i].position >= e->window) return BURIN_LATE_PICTURE;
    for (int from = 0, count; from < n; from += count) {
        count = burin_rows_of_step(s->model, embeddings + from, n - from, s->step.max_rows);
        if (!count) return BURIN_BAD_ARGUMENT;
    }
    return BURIN_OK;
}

// At most max_rows rows; returns the number of logit rows.
static int forward_chunk(burin_session *s, const burin_row *rows, const burin_embedding *embeddings,
                         int n, float *logits) {
    static const burin_embedding token = {0};
    burin_step *step = &s->step;
    step->rows = n;
    step->n_logit_rows = 0;
    step->logits = logits;
    for (int i = 0; i < n; i++) {
        s->token[i] = rows[i].token;
        s->slot[i] = rows[i].slot;
        s->position[i] = rows[i].position;
        s->source_last[i] = s->source_length[rows[i].slot] - 1;
        if (vector_width(s->model)) embed_row(s, i, embeddings ? &embeddings[i] : &token);
        if (s->model->eyes && s->model->eyes->axes)
            set_axes(s, i, embeddings ? &embeddings[i] : &token);
        if (rows[i].wants_logits) s->logit_rows[step->n_logit_rows++] = i;
    }
    if (s->model->eyes) set_last_seen(s, embeddings, n);
    burin_session_run(s);
    return step->n_logit_rows;
}

BURIN_LINKAGE burin_status burin_forward_embedded(burin_session *s, const burin_row *rows,
                                                  const burin_embedding *embeddings, int n,
                                                  float *logits) {
    burin_status status = burin_session_check(s);
    if (n < 0 || (n && !rows) || (embeddings && !vector_width(s->model))) return BURIN_BAD_ARGUMENT;
    if (!status) status = check_rows(s, rows, n, logits);
    if (!status) status = check_vectors(s, rows, embeddings, n);
    if (status) return status;
    for (int from = 0, count; from < n; from += count) {
        const burin_embedding *rest = embeddings ? embeddings + from : NULL;
        count = burin_rows_of_step(s->model, rest, n - from, s->step.max_rows);
        size_t logit_rows = (size_t)forward_chunk(s, rows + from, rest, count, logits);
        if (logit_rows) logits += logit_rows * (size_t)s->model->vocab_size;
    }
    for (int32_t i = 0; i < s->slots; i++)
        if (s->next[i] != s->length[i]) s->recurred[i] = s->next[i];
    memcpy(s->length, s->next, (size_t)s->slots * sizeof *s->length);
    for (int32_t i = 0; i < s->slots; i++) s->reached[i] = burin_max(s->reached[i], s->length[i]);
    return BURIN_OK;
}

BURIN_LINKAGE burin_status burin_forward(burin_session *s, const burin_row *rows, int n,
                                         float *logits) {
    return burin_forward_embedded(s, rows, NULL, n, logits);
}

// ---- slots ----

static bool is_slot(const burin_session *s, int32_t slot) { return slot >= 0 && slot < s->slots; }

BURIN_LINKAGE int32_t burin_slot_length(const burin_session *s, int32_t slot) {
    return is_slot(s, slot) ? s->length[slot] : -1;
}

// Returns true if the ring buffer still holds the sliding window of a row at `length`.
static bool ring_holds(const burin_state_part *p, int32_t length, int32_t reached) {
    int32_t rows = (int32_t)(p->part_bytes / p->block_bytes) * BURIN_STATE_BLOCK;
    return reached <= rows || reached - length <= rows - p->window;
}

BURIN_LINKAGE int32_t burin_slot_holds(const burin_session *s, int32_t slot, int32_t length) {
    for (int32_t i = 0; i < s->model->n_states; i++) {
        const burin_state_part *p = &s->model->states[i];
        bool holds = p->layout == BURIN_WHOLE ? length == s->recurred[slot]
                                              : ring_holds(p, length, s->reached[slot]);
        if (p->window && !holds) return 0;
    }
    return length;
}

BURIN_LINKAGE burin_status burin_slot_truncate(burin_session *s, int32_t slot, int32_t length) {
    if (!is_slot(s, slot)) return BURIN_BAD_SLOT;
    if (length < 0 || length > s->length[slot]) return BURIN_BAD_LENGTH;
    if (burin_slot_holds(s, slot, length) != length) return BURIN_BEHIND_WINDOW;
    s->length[slot] = length;
    if (!length) s->reached[slot] = s->recurred[slot] = 0;
    return BURIN_OK;
}

BURIN_LINKAGE burin_status burin_slot_reset(burin_session *s, int32_t slot) {
    return burin_slot_truncate(s, slot, 0);
}

static bool is_recurrence(const burin_state_part *p) {
    return p->window && p->layout == BURIN_WHOLE;
}

BURIN_LINKAGE size_t burin_recurrence_bytes(const burin_model *m) {
    size_t bytes = 0;
    for (int32_t i = 0; i < m->n_states; i++)
        if (is_recurrence(&m->states[i]))
            bytes += (size_t)m->states[i].parts * m->states[i].part_bytes;
    return bytes;
}

BURIN_LINKAGE void burin_recurrences_keep(const burin_session *s, int32_t slot, void *kept) {
    const unsigned char *state = s->step.state + (size_t)slot * s->model->slot_bytes;
    unsigned char *to = kept;
    for (int32_t i = 0; i < s->model->n_states; i++) {
        const burin_state_part *p = &s->model->states[i];
        size_t bytes = is_recurrence(p) ? (size_t)p->parts * p->part_bytes : 0;
        memcpy(to, state + p->offset, bytes);
        to += bytes;
    }
}

BURIN_LINKAGE burin_status burin_recurrences_put_back(burin_session *s, int32_t slot,
                                                      const void *kept, int32_t length) {
    unsigned char *state = s->step.state + (size_t)slot * s->model->slot_bytes;
    const unsigned char *from = kept;
    int32_t recurred = s->recurred[slot];
    if (length > s->length[slot]) return BURIN_BAD_LENGTH;
    s->recurred[slot] = length;
    if (burin_slot_holds(s, slot, length) != length) {
        s->recurred[slot] = recurred;
        return BURIN_BEHIND_WINDOW;
    }
    for (int32_t i = 0; i < s->model->n_states; i++) {
        const burin_state_part *p = &s->model->states[i];
        size_t bytes = is_recurrence(p) ? (size_t)p->parts * p->part_bytes : 0;
        memcpy(state + p->offset, from, bytes);
        from += bytes;
    }
    s->length[slot] = length;
    return BURIN_OK;
}

BURIN_LINKAGE size_t burin_state_blocks(const burin_state_part *p, int32_t length,
                                        int32_t source_length) {
    size_t n = (size_t)(p->of_source ? source_length : length),
           blocks = (n + BURIN_STATE_BLOCK - 1) / BURIN_STATE_BLOCK;
    return blocks < p->part_bytes / p->block_bytes ? blocks : p->part_bytes / p->block_bytes;
}

// As far as the slot is filled. (Ranks that serve another have no lengths: they copy all of it.)
static void copy_states(const burin_session *s, unsigned char *to, const unsigned char *from,
                        int32_t slot) {
    const burin_model *m = s->model;
    bool whole = s->step.ranks || !m->n_states;
    if (whole) memcpy(to, from, m->slot_bytes);
    for (int i = 0; i < m->n_states && !whole; i++) {
        const burin_state_part *p = &m->states[i];
        size_t bytes =
            burin_state_blocks(p, s->length[slot], s->source_length[slot]) * p->block_bytes;
        for (int32_t part = 0; part < p->parts; part++) {
            size_t at = p->offset + (size_t)part * p->part_bytes;
            memcpy(to + at, from + at, bytes);
        }
    }
}

BURIN_LINKAGE burin_status burin_slot_copy(burin_session *s, int32_t to, int32_t from) {
    if (!is_slot(s, to) || !is_slot(s, from)) return BURIN_BAD_SLOT;
    size_t bytes = s->model->slot_bytes;
    burin_rank_broadcast(s, BURIN_ORDER_COPY, &s->step, (int32_t[]){to, from});
    if (to != from)
        copy_states(s, s->step.state + (size_t)to * bytes, s->step.state + (size_t)from * bytes,
                    from);
    if (s->model->eyes && s->model->eyes->axes && to != from) {
        size_t context = (size_t)s->model->context;
        memcpy(s->next_axis + (size_t)to * context, s->next_axis + (size_t)from * context,
               (size_t)s->length[from] * sizeof *s->next_axis);
    }
    s->length[to] = s->length[from];
    s->reached[to] = s->reached[from];
    s->recurred[to] = s->recurred[from];
    s->source_length[to] = s->source_length[from];
    return BURIN_OK;
}

BURIN_LINKAGE const char *burin_status_text(burin_status status) {
    switch (status) {
        case BURIN_OK:
            return "no error";
        case BURIN_BAD_ABI:
            return "the model was emitted for another version of the runtime: build it again";
        case BURIN_BAD_OPTION:
            return "an option is out of range";
        case BURIN_BAD_CPU:
            return "the program carries no code for a CPU of that name";
        case BURIN_CPU_TOO_OLD:
            return "this machine's CPU or operating system lacks what the code needs";
        case BURIN_BAD_ALIGNMENT:
            return "memory is not aligned: a state's to 64 bytes, a tensor's to its elements";
        case BURIN_SMALL_MEMORY:
            return "the memory is smaller than is needed";
        case BURIN_NO_THREADS:
            return "the system refused to start the threads";
        case BURIN_BAD_TOKEN:
            return "a token is outside the vocabulary";
        case BURIN_BAD_SLOT:
            return "there is no such slot";
        case BURIN_BAD_POSITION:
            return "a row's position must be its slot's length";
        case BURIN_CONTEXT_FULL:
            return "the slot's context is full";
        case BURIN_BAD_LENGTH:
            return "a slot can only be truncated to at most its length";
        case BURIN_LATE_PICTURE:
            return "a picture is beyond the positions that this model's sliding windows allow: "
                   "show "
                   "it earlier";
        case BURIN_BEHIND_WINDOW:
            return "the slot no longer holds what a window or a recurrence there looks back at: "
                   "reset it, and read again";
        case BURIN_NO_LOGITS:
            return "a row wants logits, and there is no memory for them";
        case BURIN_BAD_SHAPE:
            return "an input's dimensions are not those of the network";
        case BURIN_BAD_VALUE:
            return "an integer of an input is outside of the values it may have";
        case BURIN_TOO_MANY:
            return "a loop gives more results than there is room for: build it with a larger --max";
        case BURIN_BAD_ARGUMENT:
            return "an argument is NULL, or a number below 0";
        case BURIN_FORKED:
            return "a forked child has none of the state's threads: it must open a state of its "
                   "own";
        case BURIN_OTHER_MODEL:
            return "the slot was saved by another model, or by one that was built with other "
                   "options";
        case BURIN_BAD_SAVED:
            return "these bytes are not a saved slot, or are damaged";
        case BURIN_DAMAGED:
            return "the model's weights or its tokenizer are damaged: copy it again, or build it "
                   "again";
        case BURIN_NO_SOURCE:
            return "the slot has no source: it must be encoded before the first row";
    }
    return "unknown status";
}
