// report --run: time by layer, of loops over layers too. The program's trace (--profile=F.json) has
// every call of thread 0 in order; the n-th call of a kernel in the loop belongs to iteration n,
// whose own kernel has the layer's path.
#include <string.h>

#include "codegen/emit.h"
#include "report/report.h"
#include "util/text.h"

// A call in the text, the site-th of its program.
typedef struct CallSite {
    const Program *program;
    const Kernel *kernel;
    int site, repetitions;  // in a step
    uint64_t calls;
} CallSite;

// Up to the loop's end a site's number is that of its first kernel.
static int add_call_sites(const Program *p, CallSite *sites) {
    int n = call_sites(p, NULL);
    const Kernel **list = ARENA_ARRAY(p->arena, const Kernel *, n + 1);
    call_sites(p, list);
    for (int i = 0; i < n; i++) {
        const Loop *l = loop_of(p, list[i]);
        int repetitions = l ? l->iterations - (i - l->first >= l->period - l->missing) : 1;
        sites[i] =
            (CallSite){.program = p, .kernel = list[i], .site = i, .repetitions = repetitions};
    }
    return n;
}

static const Kernel *kernel_called(CallSite *s) {
    int iteration = (int)(s->calls++ % (uint64_t)s->repetitions);
    return iteration ? s->program->kernels[s->site + iteration * s->program->loop.period]
                     : s->kernel;
}

// "model.layers.3" of "model.layers.3.mlp"; "" outside of layers.
static const char *layer_path(Arena *arena, const Kernel *k) {
    int length, layer;
    const char *scope = k->node->loc.scope;
    if (!layer_of_scope(scope, &length, &layer)) return "";
    return arena_printf(arena, "%.*s%c%d", length, scope, scope[length], layer);
}

static void add_time(json_t *layers, const char *path, double milliseconds) {
    size_t i;
    json_t *entry;
    json_array_foreach(layers, i, entry) {
        if (strcmp(json_string_value(json_object_get(entry, "layer")), path)) continue;
        json_put(entry, "ms",
                 json_real(json_real_value(json_object_get(entry, "ms")) + milliseconds));
        return;
    }
    entry = json_object();
    json_put_text(entry, "layer", path);
    json_put(entry, "ms", json_real(milliseconds));
    json_add(layers, entry);
}

static bool is_kernel_of_first(const json_t *event) {
    const char *kind = json_string_value(json_object_get(event, "cat"));
    return kind && !strcmp(kind, "kernel") &&
           json_integer_value(json_object_get(event, "tid")) == 0;
}

json_t *layers_of_trace(const Program *p, const char *path) {
    json_t *trace = json_load_file(path, 0, NULL), *layers = json_array(), *event;
    int most = call_sites(p, NULL) + (p->encoder ? call_sites(p->encoder, NULL) : 0);
    CallSite *sites = ARENA_ARRAY(p->arena, CallSite, most + 1);
    int n = add_call_sites(p, sites);
    if (p->encoder) n += add_call_sites(p->encoder, sites + n);
    size_t i;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event) {
        const json_t *number = json_object_get(json_object_get(event, "args"), "kernel");
        json_int_t site = json_integer_value(number);
        if (!is_kernel_of_first(event) || !number || site < 0 || site >= n) continue;
        const Kernel *k = kernel_called(&sites[site]);
        add_time(layers, layer_path(p->arena, k),
                 json_number_value(json_object_get(event, "dur")) / 1e3);
    }
    json_decref(trace);
    return layers;
}
