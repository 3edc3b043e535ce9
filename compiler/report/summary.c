// The model's summary, and the cost of a step.
#include <string.h>

#include "build/memory_needs.h"
#include "passes/pass.h"
#include "report/report.h"

// ----------------------------------------------------------------------------------------- formats
typedef struct FormatTotal {
    const char *name;
    uint64_t tensors, parameters, bytes;
} FormatTotal;

enum { MOST_FORMATS = 64 };

static FormatTotal *total_of(FormatTotal totals[MOST_FORMATS], const char *name) {
    int i = 0;
    while (i < MOST_FORMATS - 1 && totals[i].name && strcmp(totals[i].name, name)) i++;
    totals[i].name = name;
    return &totals[i];
}

// A pack has the parameters of all that is packed in it.
static uint64_t parameters_of(const Node *n) {
    uint64_t count = 1;
    for (int i = 0; i < n->type.rank; i++) count *= (uint64_t)dim_upper(n->type.dim[i]);
    return count;
}

static void add_weights(FormatTotal totals[MOST_FORMATS], const Program *p) {
    if (p->encoder) add_weights(totals, p->encoder);
    for (int i = 0; i < p->n_weights; i++) {
        const PackedWeight *w = p->weights[i];
        FormatTotal *t =
            total_of(totals, w->format ? w->format->name : dtype_name(w->node->type.dtype));
        if (w->owner && w->owner != p) continue;
        t->tensors++, t->parameters += parameters_of(w->node), t->bytes += w->bytes;
    }
}

static json_t *formats_of(const Program *p, uint64_t *parameters) {
    FormatTotal totals[MOST_FORMATS] = {0};
    json_t *list = json_array();
    add_weights(totals, p);
    for (int i = 0; i < MOST_FORMATS && totals[i].name; i++) {
        json_t *o = json_object();
        json_put_text(o, "format", totals[i].name);
        json_put_count(o, "tensors", totals[i].tensors),
            json_put_count(o, "parameters", totals[i].parameters);
        json_put_count(o, "bytes", totals[i].bytes);
        *parameters += totals[i].parameters;
        json_add(list, o);
    }
    return list;
}

// ------------------------------------------------------------------------------------------- costs
static json_t *json_of_cost(const Cost *c) {
    json_t *o = json_object();
    json_put_count(o, "operations", (uint64_t)c->operations);
    json_put_count(o, "weight_bytes", (uint64_t)c->weight_bytes),
        json_put_count(o, "bytes", (uint64_t)c->bytes);
    return o;
}

// Sums over the kernels, and each kernel's own in their order.
// A row in the middle of the context.
StepSizes step_of_one_row(const Build *b) {
    return (StepSizes){.rows = 1, .keys = (b->passes.context + 1) / 2};
}

// The first rows of a text: each reads the keys up to its own.
StepSizes step_of_prompt(const Build *b, const Program *p) {
    (void)b;
    return (StepSizes){.rows = p->max_rows, .keys = (p->max_rows + 1) / 2};
}

static json_t *cost_of_step(const Program *p, const char *what, const StepSizes *sizes) {
    json_t *o = json_object(), *each = json_array();
    Cost sum = {0};
    for (int i = 0; i < p->n_kernels; i++) {
        Cost c = kernel_cost(p, p->kernels[i], sizes);
        sum.operations += c.operations, sum.weight_bytes += c.weight_bytes, sum.bytes += c.bytes;
        json_add(each, json_of_cost(&c));
    }
    json_put_text(o, "step", what);
    json_put_count(o, "rows", (uint64_t)sizes->rows),
        json_put_count(o, "keys", (uint64_t)sizes->keys);
    json_put(o, "sum", json_of_cost(&sum)), json_put(o, "kernels", each);
    return o;
}

json_t *costs_of(const Build *b, const Program *p) {
    json_t *list = json_array();
    StepSizes one = step_of_one_row(b), prompt = step_of_prompt(b, p), largest = {.rows = 1};
    if (is_decoder(p)) {
        json_add(list, cost_of_step(p, "one row", &one));
        json_add(list, cost_of_step(p, "prompt", &prompt));
    } else {
        json_add(list, cost_of_step(p, "largest run", &largest));
    }
    return list;
}

// ----------------------------------------------------------------------------------------- fusions
// As the build prints it: a pattern a row.
static json_t *fusions_of(const PassContext *c) {
    json_t *list = json_array();
    for (const FusionSite *s = c->sites; s; s = s->next) {
        json_t *row = NULL, *o;
        size_t i;
        json_array_foreach(list, i, o) {
            if (!strcmp(json_string_value(json_object_get(o, "pattern")), s->pattern)) row = o;
        }
        if (!row)
            json_add(list,
                     row = json_pack("{sssisi}", "pattern", s->pattern, "matched", 0, "missed", 0));
        const char *key = s->missed ? "missed" : "matched";
        json_put(row, key, json_integer(json_integer_value(json_object_get(row, key)) + 1));
    }
    return list;
}

// The parts of one total of memory, as the build's last line has them
static json_t *needs_of(const Build *b) {
    const MemoryNeeds n = memory_needs(b);
    json_t *o = json_object();
    json_put_count(o, "weights", n.weights), json_put_count(o, "cache", n.cache);
    json_put_count(o, "state", n.state), json_put_count(o, "work", n.work);
    return o;
}

json_t *summary_of(const Build *b, const Program *p) {
    json_t *o = json_object();
    uint64_t parameters = 0;
    const char *architecture = b->checkpoint ? b->checkpoint->architecture : NULL;
    json_put_text(o, "name", b->name), json_put_text(o, "model", b->options->model);
    json_put_text(o, "kind",
                  is_decoder(p) ? p->encoder ? "encoder and decoder" : "decoder" : "network");
    if (architecture) json_put_text(o, "architecture", architecture);
    const char *slash = b->module->description ? strrchr(b->module->description, '/') : NULL;
    if (b->module->description)
        json_put_text(o, "description", slash ? slash + 1 : b->module->description);
    json_put_text(o, "identity", b->identity);
    if (b->numbers) json_put_text(o, "numbers", b->numbers);
    json_put(o, "formats", formats_of(p, &parameters));
    json_put_count(o, "parameters", parameters);
    json_put_count(o, "weight_bytes", program_weight_bytes(p));
    json_put(o, "needs", needs_of(b));
    if (is_decoder(p))
        json_put_count(o, "context", (uint64_t)b->passes.context),
            json_put_count(o, "rows", (uint64_t)p->max_rows);
    json_put(o, "fusions", fusions_of(&b->passes));
    return o;
}
