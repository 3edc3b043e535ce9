// burin inspect: the contents of a graph. Operators by number, then each constant with its shape
// and bytes.
#include <inttypes.h>
#include <stdio.h>

#include "commands/commands.h"
#include "passes/pass.h"

typedef struct Totals {
    int nodes, ops[OP_COUNT];
    uint64_t parameters, bytes;
} Totals;

static void count_node(Totals *t, const Node *n) {
    t->nodes++;
    t->ops[n->op]++;
    if (n->op != OP_constant || !n->value) return;
    t->parameters += (uint64_t)tensor_count(n->value);
    t->bytes += n->value->bytes;
}

static void print_values(const char *title, const Graph *g, bool outputs) {
    int n = outputs ? g->n_outputs : g->n_inputs;
    for (int i = 0; i < n; i++) {
        const Node *v = outputs ? g->outputs[i] : g->inputs[i];
        print_spelled("%-8s %s: %s\n", i ? "" : title, outputs ? g->output_names[i] : v->name,
                      type_text(&v->type));
    }
}

static void print_constants(const Graph *g) {
    printf("\n%-56s %-24s %14s\n", "constant", "type", "bytes");
    EACH_NODE(n, g) {
        if (n->op != OP_constant || !n->value) continue;
        const char *name = n->value->name ? n->value->name : n->name;
        print_spelled("%-56s %-24s %14" PRIu64 "\n", name, type_text(&n->type), n->value->bytes);
    }
}

static void inspect_graph(const Graph *g) {
    Totals t = {0};
    EACH_NODE(n, g) count_node(&t, n);
    print_spelled("graph    %s: %d nodes, %" PRIu64 " parameters, %" PRIu64 " bytes of constants\n",
                  g->name, t.nodes, t.parameters, t.bytes);
    print_values("inputs", g, false);
    print_values("outputs", g, true);
    printf("\n%-26s %8s\n", "op", "number");
    for (int i = 0; i < OP_COUNT; i++)
        if (t.ops[i]) printf("%-26s %8d\n", op_info[i].name, t.ops[i]);
    print_constants(g);
}

void inspect(const Build *b) {
    print_spelled("model    %s (%s)\n", b->name,
                  b->checkpoint && b->checkpoint->architecture ? b->checkpoint->architecture
                                                               : "no architecture");
    printf("context  %lld positions\n", (long long)b->passes.context);
    for (int i = 0; i < b->module->n_graphs; i++) inspect_graph(b->module->graphs[i]);
    Text fusions = {0};
    fusion_report(&b->passes, &fusions);
    printf("\n%s", fusions.data);
    text_free(&fusions);
}
