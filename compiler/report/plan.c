// Kernels, buffers, states and weights of a program, as they were planned.
#include <ctype.h>
#include <string.h>

#include "codegen/codegen.h"
#include "report/report.h"

static const char *const family_names[] = {
#define KERNEL(name, ...) [FAMILY_##name] = #name,
#include "lower/kernels.def"
#undef KERNEL
};

// MATMUL -> matmul
static void put_family(json_t *o, KernelFamily family) {
    char name[32] = "";
    for (size_t i = 0; family_names[family][i] && i + 1 < sizeof name; i++)
        name[i] = (char)tolower((unsigned char)family_names[family][i]);
    json_put_text(o, "family", name);
}

// ----------------------------------------------------------------------------------------- kernels
static json_t *json_of_view(const View *v) {
    json_t *o = json_object();
    Text t = {0};
    type_print(&t, &v->type);
    switch (v->base) {
        case BASE_BUFFER:
            json_put_count(o, "buffer", (uint64_t)v->buffer->index);
            break;
        case BASE_WEIGHT:
            json_put_text(o, "weight", v->weight->field);
            break;
        case BASE_STATE:
            json_put_count(o, "state", (uint64_t)v->state->index);
            break;
        case BASE_INPUT:
            json_put_text(o, "input", v->input->name);
            break;
        case BASE_OUTPUT:
            json_put_count(o, "output", (uint64_t)v->output);
            break;
        case BASE_SCALAR:
            json_put(
                o, "scalar",
                json_real(v->scalar == v->scalar && v->scalar - v->scalar == 0 ? v->scalar : 0));
            break;
        case BASE_NONE:
            break;
    }
    json_put_text(o, "type", t.data);
    text_free(&t);
    return o;
}

static json_t *views_of(const View *v, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        if (v[i].base != BASE_NONE) json_add(list, json_of_view(&v[i]));
    return list;
}

static json_t *json_of_kernel(const Program *p, const Kernel *k, int site) {
    json_t *o = json_object();
    json_put_text(o, "node", k->node->name);
    json_put_count(o, "function", (uint64_t)k->function);
    json_put_count(o, "site", (uint64_t)site);
    json_put(o, "in", views_of(k->in, k->n_in));
    json_put(o, "out", views_of(k->out, k->n_out));
    if (k->copies) json_put(o, "copy", json_true());
    if (k->replicated_if_one_row) json_put(o, "replicated_if_one_row", json_true());
    if (k->barrier_decode) json_put(o, "barrier_decode", json_true());
    if (k->barrier_prefill) json_put(o, "barrier_prefill", json_true());
    int iteration = iteration_of(p, k->position);
    if (iteration >= 0) json_put_count(o, "iteration", (uint64_t)iteration);
    return o;
}

// The number of a kernel's call in the text; --profile has one account for each.
static int site_of(const Program *p, int position) {
    const Loop *l = &p->loop;
    int iteration = iteration_of(p, position), again = l->period * (l->iterations - 1) - l->missing;
    if (iteration >= 0) return l->first + (position - l->first) % l->period;
    return l->iterations && position >= l->first ? position - again : position;
}

json_t *kernels_of_program(const Program *p) {
    json_t *list = json_array();
    for (int i = 0; i < p->n_kernels; i++)
        json_add(list, json_of_kernel(p, p->kernels[i], site_of(p, i)));
    return list;
}

json_t *functions_of_program(const Program *p) {
    json_t *list = json_array();
    for (int i = 0; i < p->n_functions; i++) {
        const KernelFunction *f = &p->functions[i];
        json_t *o = json_object();
        Text t = {0};
        emit_function(p, f, &t);
        json_put_text(o, "name", f->name);
        put_family(o, f->first->family);
        json_put_count(o, "uses", (uint64_t)f->uses);
        json_put_text(o, "c", t.data);
        json_add(list, o);
        text_free(&t);
    }
    return list;
}

// ------------------------------------------------------------------------------------------ memory
static bool lives_at(const Buffer *b, int kernel) {
    for (int i = 0; i < b->n_live; i++)
        if (b->live[i].first <= kernel && kernel <= b->live[i].last) return true;
    return false;
}

static json_t *json_of_buffer(const Buffer *b) {
    json_t *o = json_object(), *live = json_array();
    json_put_text(o, "name", b->name);
    json_put_text(o, "type", dtype_name(b->dtype));
    json_put_count(o, "bytes", b->row_bytes);
    json_put_count(o, "offset", b->arena_offset);
    if (b->fixed_size) json_put(o, "fixed_size", json_true());
    if (b->per_thread) {
        json_put(o, "per_thread", json_true());
        json_put_count(o, "local_offset", b->local_offset);
    } else if (!b->fixed_size)
        json_put_count(o, "single_offset", b->single_offset);
    for (int i = 0; i < b->n_live; i++)
        json_add(live, json_pack("[ii]", b->live[i].first, b->live[i].last));
    json_put(o, "live", live);
    return o;
}

// The kernel at which most bytes are live, of the buffers that the lower bound is about.
static json_t *peak_of(const Program *p) {
    uint64_t most = 0;
    int at = 0;
    for (int k = 0; k < p->n_kernels; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < p->n_buffers; i++)
            if (p->buffers[i]->fixed_size == p->dynamic_sizes && lives_at(p->buffers[i], k))
                sum += p->buffers[i]->row_bytes;
        if (sum > most) {
            most = sum;
            at = k;
        }
    }
    json_t *o = json_object(), *list = json_array();
    for (int i = 0; i < p->n_buffers; i++)
        if (p->n_kernels && p->buffers[i]->fixed_size == p->dynamic_sizes &&
            lives_at(p->buffers[i], at))
            json_add(list, json_integer(p->buffers[i]->index));
    json_put_count(o, "kernel", (uint64_t)at);
    json_put_count(o, "bytes", most);
    json_put(o, "buffers", list);
    return o;
}

static json_t *states_of(const Program *p) {
    json_t *list = json_array();
    for (int i = 0; i < p->n_states; i++) {
        const StateSlice *s = p->states[i];
        json_t *o = json_object();
        json_put_text(o, "name", s->node->name);
        json_put_text(o, "kind", attr_string(s->node, "kind", ""));
        json_put_count(o, "layer", (uint64_t)attr_int(s->node, "layer", 0));
        json_put_count(o, "offset", s->offset);
        json_put_count(o, "bytes", s->bytes);
        json_add(list, o);
    }
    return list;
}

static json_t *weights_of(const Program *p) {
    json_t *list = json_array();
    for (int i = 0; i < p->n_weights; i++) {
        const PackedWeight *w = p->weights[i];
        json_t *o = json_object();
        json_put_text(o, "node", w->node->name);
        json_put_text(o, "field", w->field);
        json_put_text(o, "format", w->format ? w->format->name : dtype_name(w->node->type.dtype));
        json_put_count(o, "offset", w->offset);
        json_put_count(o, "bytes", w->bytes);
        if (w->layer >= 0) json_put_count(o, "iteration", (uint64_t)w->layer);
        json_add(list, o);
    }
    return list;
}

json_t *memory_of_program(const Program *p) {
    const Plan *plan = &p->plan;
    json_t *o = json_object(), *buffers = json_array();
    uint64_t rows = (uint64_t)p->max_rows;
    for (int i = 0; i < p->n_buffers; i++) json_add(buffers, json_of_buffer(p->buffers[i]));
    json_put_count(o, "rows", rows);
    json_put(o, "dynamic_sizes", json_boolean(p->dynamic_sizes));
    json_put_count(o, "arena_bytes",
                   p->dynamic_sizes ? plan->scratch_bytes : plan->row_bytes * rows);
    json_put_count(o, "lower_bound",
                   p->dynamic_sizes ? plan->lower_bound : plan->lower_bound * rows);
    json_put_count(o, "row_bytes", plan->row_bytes);
    json_put_count(o, "local_bytes", plan->local_bytes);
    json_put_count(o, "scratch_bytes", plan->scratch_bytes);
    json_put_count(o, "slot_bytes", plan->slot_bytes);
    json_put_count(o, "cache_bytes", plan->cache_bytes);
    json_put_count(o, "weight_bytes", plan->weight_bytes);
    json_put_count(o, "barriers_decode", (uint64_t)plan->barriers_decode);
    json_put_count(o, "barriers_prefill", (uint64_t)plan->barriers_prefill);
    json_put(o, "peak", peak_of(p));
    json_put(o, "buffers", buffers);
    json_put(o, "states", states_of(p));
    json_put(o, "weights", weights_of(p));
    return o;
}
