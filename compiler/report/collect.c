// The object, from the steps of a build.
#include "report/report.h"
#include "util/json.h"
#include "version.h"

static json_t *json_of_program(const Build *b, const Program *p) {
    json_t *o = json_object();
    json_put_text(o, "name", p->name);
    json_put(o, "graph", graph_of_program(p));
    json_put(o, "functions", functions_of_program(p));
    json_put(o, "kernels", kernels_of_program(p));
    json_put(o, "memory", memory_of_program(p));
    json_put(o, "costs", costs_of(b, p));
    if (p->loop.iterations)
        json_put(o, "loop",
                 json_pack("{sisisisi}", "first", p->loop.first, "period", p->loop.period,
                           "iterations", p->loop.iterations, "missing", p->loop.missing));
    return o;
}

static json_t *ops_help(void) {
    json_t *o = json_object();
    for (int i = 0; i < OP_COUNT; i++) json_put_text(o, op_info[i].name, op_info[i].help);
    return o;
}

json_t *report_collect(Build *b) {
    PassLog *log = pass_log_new(b);
    build_open(b);
    build_load(b);
    build_passes(b);
    build_lower(b);
    json_t *root = json_own(b->arena, json_object()), *programs = json_array();
    json_put_text(root, "format", "burin report 1");
    json_put_text(root, "burin", BURIN_VERSION);
    json_put(root, "summary", summary_of(b, b->program));
    if (b->program->encoder) json_add(programs, json_of_program(b, b->program->encoder));
    json_add(programs, json_of_program(b, b->program));
    json_put(root, "programs", programs);
    json_put(root, "passes", pass_log_passes(log));
    json_put(root, "sites", pass_log_sites(log));
    if (b->options->measure || b->options->measure_page) json_put(root, "time", measure(b));
    if (b->options->text || b->options->tokens || b->options->inputs.n)
        json_put(root, "attention", attend(b));
    json_put(root, "sources", sources_of_programs(b->program));
    json_put(root, "ops", ops_help());
    return root;
}
