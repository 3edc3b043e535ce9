// From a description and a checkpoint to graphs: statements, blocks, graphs. Blocks are expanded
// where they are called, loops are unrolled, conditions evaluated: the result is core ops over the
// symbols of the inputs.
#include "frontend/dsl/elaborate.h"

#include <string.h>

static void run(Elaborator *, const Ast *statements);

// -------------------------------------------------------------------------------------- statements
// The node of a named value carries the name, unless it has one from elsewhere.
static void name_node(const Elaborator *e, const char *name, Value v, const Ast *value) {
    if (e->builder || v.kind != V_TENSOR || value->kind == AST_NAME || v.node->op == OP_input ||
        v.node->op == OP_constant)
        return;
    if (v.node->mark && e->frame->file != e->main) return;
    node_set_name(v.node, name);
    v.node->mark = 1;
}

static void assign(Elaborator *e, const Ast *target, Value v, const Ast *value) {
    const Declaration *d = file_find(e->frame->file, target->name);
    if (d && (d->ast->kind == AST_CONFIG || d->ast->kind == AST_ALIAS)) {
        report(e, target->loc, "\"%s\" is a parameter of config.json, it cannot be assigned",
               target->name);
        return;
    }
    bool fits =
        v.kind != V_ERROR && (!target->a || match_type(e, target->a, v, target->name, target->loc));
    name_node(e, target->name, v, value);
    variable_set(e, target->name, fits ? v : VALUE(V_ERROR));
}

static void run_assign(Elaborator *e, const Ast *s) {
    Value v = evaluate(e, s->a);
    int n = ast_count(s->list), i = 0;
    if (n == 1 && v.kind != V_MANY) {
        assign(e, s->list, v, s->a);
        return;
    }
    bool several = v.kind == V_MANY || v.kind == V_LIST;
    if (v.kind != V_ERROR && (!several || v.list.n != n))
        report(e, s->loc, "%d names for %d values", n, several ? v.list.n : 1);
    for (const Ast *t = s->list; t; t = t->next, i++)
        assign(e, t, several && i < v.list.n ? v.list.items[i] : VALUE(V_ERROR), s->a);
}

static void run_in_scope(Elaborator *e, const Ast *scope, const Ast *body) {
    const char *outer = e->scope, *joined;
    evaluate_scope(e, scope, &joined);
    e->scope = joined;
    run(e, body);
    e->scope = outer;
}

static void run_for(Elaborator *e, const Ast *s) {
    Value over = evaluate(e, s->a);
    int64_t n = over.kind == V_LIST ? over.list.n : 0;
    if (over.kind != V_LIST && !want_int(e, over, s->a->loc, "the bound of a loop", &n)) return;
    if (n < 0) {
        report(e, s->a->loc, "the bound of a loop is %lld\nhint: it must be at least 0",
               (long long)n);
        return;
    }
    if (n > MAX_LOOP) {
        report(e, s->a->loc, "too many layers: %lld\nhint: a loop runs at most %d times",
               (long long)n, MAX_LOOP);
        return;
    }
    for (int64_t i = 0; i < n && !e->frame->returned; i++) {
        variable_set(e, s->name, over.kind == V_LIST ? over.list.items[i] : VALUE_INT(i));
        run_in_scope(e, s->b, s->body);
    }
}

static void run_if(Elaborator *e, const Ast *s) {
    bool truth;
    if (want_bool(e, evaluate(e, s->a), s->a->loc, "a condition", &truth))
        run(e, truth ? s->body : s->other);
}

static void run_return(Elaborator *e, const Ast *s) {
    Frame *f = e->frame;
    f->returned = true;
    if (!s->list->next) {
        f->result = evaluate(e, s->list);
        return;
    }
    int n = ast_count(s->list), i = 0;
    Value *items = ARENA_ARRAY(e->arena, Value, n);
    for (const Ast *x = s->list; x; x = x->next) items[i++] = evaluate(e, x);
    f->result = (Value){.kind = V_MANY, .list = {items, n}};
}

static void run_fail(Elaborator *e, const Ast *s) {
    const char *message;
    if (want_string(e, evaluate(e, s->a), s->a->loc, "the message of fail", &message) &&
        !map_get(&e->reported, message)) {
        report(e, s->loc, "%s", message);
        map_put(&e->reported, message, e);
    }
    e->frame->returned = true;
    e->frame->result = VALUE(V_ERROR);
}

// To read a field is to say that the description knows of it.
static void run_ignore(Elaborator *e, const Ast *s) {
    for (const Ast *x = s->list; x; x = x->next) {
        if (x->kind != AST_FIELD)
            report(e, x->loc, "ignore takes fields of config.json: ignore rope_scaling.factor");
        evaluate(e, x);
    }
}

static void run(Elaborator *e, const Ast *s) {
    for (; s && !e->frame->returned; s = s->next) {
        switch (s->kind) {
            case AST_ASSIGN:
                run_assign(e, s);
                break;
            case AST_FOR:
                run_for(e, s);
                break;
            case AST_IF:
                run_if(e, s);
                break;
            case AST_AT:
                run_in_scope(e, s->b, s->body);
                break;
            case AST_RETURN:
                run_return(e, s);
                break;
            case AST_IGNORE:
                run_ignore(e, s);
                break;
            default:
                run_fail(e, s);
                break;
        }
    }
}

// ------------------------------------------------------------------------------------------ blocks
static const Ast *find_parameter(const Ast *block, const char *name) {
    const Ast *p = block->list;
    while (p && strcmp(p->name, name)) p = p->next;
    return p;
}

// Arguments by position, then by name, evaluated in the caller's scope.
static bool bind_arguments(Elaborator *e, const Ast *block, const Ast *call, Frame *callee) {
    const Ast *next = block->list;
    bool ok = true;
    for (const Ast *a = call->list; a; a = a->next) {
        const Ast *p = a->name ? find_parameter(block, a->name) : next;
        if (!p && a->name)
            return report(e, a->loc, "%s has no parameter \"%s\"%-s", block->name, a->name,
                          block_hint(e, block)),
                   false;
        if (!p)
            return report(e, call->loc, "%s takes %d arguments, here are %d%-s", block->name,
                          ast_count(block->list), ast_count(call->list), block_hint(e, block)),
                   false;
        if (!a->name) next = next->next;
        if (map_get(&callee->variables, p->name))
            return report(e, a->loc, "the argument \"%s\" of %s is given twice", p->name,
                          block->name),
                   false;
        Value *v = ARENA_NEW(e->arena, Value);
        *v = evaluate(e, a->a);
        ok = ok && v->kind != V_ERROR;
        map_put(&callee->variables, p->name, v);
    }
    return ok;
}

// In order, so that a default may use the dimensions of the parameters before it.
static bool bind_parameters(Elaborator *e, const Ast *block, const Ast *call) {
    for (const Ast *p = block->list; p; p = p->next) {
        if (!variable_find(e->frame, p->name)) {
            if (!p->b)
                return report(e, call->loc, "%s lacks its argument \"%s\"%-s", block->name, p->name,
                              block_hint(e, block)),
                       false;
            variable_set(e, p->name, evaluate(e, p->b));
        }
        const char *what = arena_printf(e->arena, "%s of %s", p->name, block->name);
        if (p->a && !match_type(e, p->a, *variable_find(e->frame, p->name), what, call->loc))
            return false;
    }
    return true;
}

static Value result_item(Value v, int i) { return v.kind == V_MANY ? v.list.items[i] : v; }

// A result that is null is none: a head that the checkpoint does not have.
static bool check_results(Elaborator *e, const Ast *block, Loc at) {
    Value v = e->frame->result;
    int n = ast_count(block->results), got = v.kind == V_MANY ? v.list.n : 1, i = 0;
    if (v.kind == V_ERROR) return false;
    if (n && n != got)
        return report(e, at, "%s returns %d values, its description says %d", block->name, got, n),
               false;
    for (const Ast *r = block->results; r; r = r->next, i++)
        if (result_item(v, i).kind != V_NULL &&
            !match_type(e, r->a, result_item(v, i),
                        arena_printf(e->arena, "the result of %s", block->name), at))
            return false;
    return true;
}

Value expand_block(Elaborator *e, const Ast *block, const Ast *call) {
    if (!bind_parameters(e, block, call)) return VALUE(V_ERROR);
    run(e, block->body);
    if (!e->frame->returned)
        return report(e, block->loc, "%s ends without return\nhint: return x gives its result",
                      block->name);
    return check_results(e, block, call->loc) ? e->frame->result : VALUE(V_ERROR);
}

static bool may_call(Elaborator *e, const Declaration *d, const Ast *call) {
    if (d->on_stack)
        report(e, call->loc,
               "%s calls itself\nhint: blocks are expanded where they are called; use a for loop",
               d->ast->name);
    else if (e->frame->depth + 1 > MAX_CALL_DEPTH)
        report(e, call->loc, "blocks call each other more than %d deep", MAX_CALL_DEPTH);
    else
        return true;
    return false;
}

Value call_bound(Elaborator *e, Declaration *d, const Ast *call, Frame *callee) {
    const char *outer = e->scope, *scope;
    Frame *caller = e->frame;
    if (!may_call(e, d, call) || !evaluate_scope(e, call->b, &scope)) return VALUE(V_ERROR);
    callee->caller = caller, callee->file = d->file, callee->call = call->loc,
    callee->depth = caller->depth + 1;
    d->on_stack = true;
    e->scope = scope;
    e->frame = callee;
    Value v = expand_block(e, d->ast, call);
    e->frame = caller;
    e->scope = outer;
    d->on_stack = false;
    return v;
}

Value call_block(Elaborator *e, Declaration *d, const Ast *call) {
    Frame frame = {0};
    map_init(&frame.variables, e->arena);
    if (!may_call(e, d, call) || !bind_arguments(e, d->ast, call, &frame)) return VALUE(V_ERROR);
    return call_bound(e, d, call, &frame);
}

// ------------------------------------------------------------------------------------------ graphs
// The value for an input from the graph that this one is joined to: its result of this name, or its
// text; NULL without one.
static Node *given_by_earlier(Elaborator *e, const Ast *input) {
    int at = graph_output_index(e->graph, input->name);
    if (at >= 0) return e->graph->outputs[at];
    return strcmp(input->name, "decoder_input_ids") ? NULL : task_moved_right(e, input->loc);
}

static void add_inputs(Elaborator *e, const Ast *graph) {
    for (const Ast *p = graph->list; p; p = p->next) {
        Type type;
        int64_t context = 0;
        if (!p->a || !p->a->number || p->b) {
            report(e, p->loc, "an input of a graph needs a shape: %s: int[T]", p->name);
            variable_set(e, p->name, VALUE(V_ERROR));
            continue;
        }
        if (variable_find(e->frame, p->name)) {
            report(e, p->loc, "\"%s\" is declared twice", p->name);
            continue;
        }
        if (!graph_input_type(e, p->a, &type, &context)) {
            variable_set(e, p->name, VALUE(V_ERROR));
            continue;
        }
        Node *earlier = given_by_earlier(e, p);
        if (earlier) {
            if (type.dim[0]->kind == DIM_SYMBOL)
                variable_set(e, type.dim[0]->name, value_of_dim(earlier->type.dim[0]));
            variable_set(e, p->name, (Value){.kind = V_TENSOR, .node = earlier});
            continue;
        }
        Node *n = graph_add_input(e->graph, p->name, type, place(e, p->loc));
        if (role_of_described(p->name) != INPUT_TENSOR)
            input_set_role(n, role_of_described(p->name));
        variable_set(e, p->name, (Value){.kind = V_TENSOR, .node = n});
        if (context && input_role(n) == INPUT_TOKENS) e->module->context = context;
    }
}

// A graph whose results are all null is none: the decoder of a checkpoint that has only the
// encoder.
static bool is_left_out(const Elaborator *e, const Ast *graph) {
    int i = 0;
    if (!e->frame->returned) return false;
    for (const Ast *r = graph->results; r; r = r->next)
        if (result_item(e->frame->result, i++).kind != V_NULL) return false;
    return true;
}

static void add_outputs(Elaborator *e, const Ast *graph) {
    Value v = e->frame->result;
    int i = 0;
    if (!check_results(e, graph, graph->loc)) return;
    for (const Ast *r = graph->results; r; r = r->next, i++) {
        Value item = result_item(v, i);
        if (item.kind == V_NULL) continue;
        if (!want_tensor(e, item, graph->loc, "the result of a graph")) return;
        const char *standard = i ? arena_printf(e->arena, "result.%d", i) : "result";
        graph_add_output(e->graph, item.node, r->name ? r->name : standard);
    }
}

static void begin_graph(Elaborator *e, const Ast *graph) {
    map_init(&e->constants, e->arena);
    e->graph = graph_new_owned(e->arena, graph->name);
    e->n_nodes = 0;
}

// Returns true if the decoder of a base model joins the graph of its encoder, which was just
// elaborated.
static bool is_joined(const Elaborator *e, const Ast *graph) {
    return e->module->n_graphs == 1 && !strcmp(graph->name, "decode") &&
           !strcmp(e->module->graphs[0]->name, "encode") && task_joins_graphs(e);
}

// NULL: left out.
static Graph *elaborate_graph(Elaborator *e, const Ast *graph) {
    Frame frame = {.file = e->main};
    map_init(&frame.variables, e->arena);
    if (!is_joined(e, graph)) begin_graph(e, graph);
    int inputs = e->graph->n_inputs;
    e->frame = &frame, e->scope = "";
    add_inputs(e, graph);
    run(e, graph->body);
    bool left_out = is_left_out(e, graph);
    if (frame.returned && !left_out)
        add_outputs(e, graph);
    else if (!left_out)
        report(e, graph->loc, "the graph %s ends without return\nhint: return x gives its result",
               graph->name);
    if (left_out && inputs) {
        graph_sweep(e->graph);
        while (e->graph->n_inputs > inputs) graph_drop_input(e->graph, e->graph->n_inputs - 1);
    } else if (!left_out) {
        task_apply(e);
    }
    e->frame = NULL;
    return left_out ? NULL : e->graph;
}

// The graph that drafts tokens from a decoder's states (--draft=mtp): no part of the model itself.
static bool is_guess(const Ast *d) { return d->kind == AST_GRAPH && !strcmp(d->name, "guess"); }

// As a decoder of its own, whose rows have a vector beside the token.
static void become_decoder(Graph *g) {
    g->name = "decode";
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TENSOR)
            input_set_role(g->inputs[i], INPUT_EMBEDDINGS);
}

static void elaborate_graphs(Elaborator *e) {
    Module *m = e->module;
    int n = 0, n_guesses = 0;
    for (const Ast *d = e->main->declarations; d; d = d->next)
        n += d->kind == AST_GRAPH, n_guesses += d->kind == AST_GRAPH && is_guess(d);
    if (!n)
        report(e, loc_file(e->main->source),
               "%s describes no graph\nhint: graph decode(tokens: int[T]) -> logits: [T, "
               "vocab_size] { ... }",
               e->main->source->name);
    m->graphs = ARENA_ARRAY(e->arena, Graph *, n);
    for (const Ast *d = e->main->declarations; d; d = d->next) {
        if (d->kind != AST_GRAPH || is_guess(d) != e->options->guess) continue;
        Graph *g = elaborate_graph(e, d);
        if (g && e->options->guess) become_decoder(g);
        if (g && (!m->n_graphs || g != m->graphs[m->n_graphs - 1])) m->graphs[m->n_graphs++] = g;
    }
    if (e->options->guess && !m->n_graphs)
        diag_fatal(NO_LOC, "--draft=mtp: %s has no head that predicts further tokens%s%s",
                   weights_file_name(e->options->checkpoint),
                   n_guesses ? "" : ", or it is not described in ",
                   n_guesses ? "" : e->main->source->name);
    if (n && !m->n_graphs)
        report(e, loc_file(e->main->source),
               "all graphs of %s are left out: their results are null", e->main->source->name);
}

// ------------------------------------------------------------------------------------------ module
static void read_special_tokens(Elaborator *e) {
    Module *m = e->module;
    m->bos = -1;
    memset(m->eos, -1, sizeof m->eos);
    if (!e->options->checkpoint) return;
    SpecialTokens s = checkpoint_special_tokens(e->options->checkpoint);
    m->bos = s.bos, m->n_eos = s.n_eos;
    memcpy(m->eos, s.eos, (size_t)s.n_eos * sizeof *s.eos);
}

// A list of integers.
static void read_list(Elaborator *e, Setting *s, Value v) {
    int64_t *list = ARENA_ARRAY(e->arena, int64_t, v.list.n + 1);
    for (int i = 0; i < v.list.n; i++)
        list[i] = v.list.items[i].kind == V_INT ? v.list.items[i].i : 0;
    s->list = list, s->n_list = v.list.n;
}

// The fields of the record `placement`: how a description of eyes places the rows of a picture.
static void read_settings(Elaborator *e) {
    Declaration *d = file_find(e->main, "placement");
    Value record = d && d->ast->kind == AST_DEFINITION ? config_value(e, d) : VALUE(V_NULL);
    if (record.kind != V_RECORD) return;
    Setting *settings = ARENA_ARRAY(e->arena, Setting, record.list.n + 1);
    for (int i = 0; i < record.list.n; i++) {
        Value v = record.list.items[i];
        settings[i] = (Setting){.name = record.names[i],
                                .text = v.kind == V_STRING ? v.s : NULL,
                                .number = v.kind == V_INT ? v.i : v.kind == V_BOOL && v.b};
        if (v.kind == V_LIST) read_list(e, &settings[i], v);
    }
    e->module->settings = settings, e->module->n_settings = record.list.n;
}

static const char *module_name(const Elaborator *e) {
    for (const Ast *d = e->main->declarations; d; d = d->next)
        if (d->kind == AST_MODEL) return d->name;
    return "model";
}

void elaborator_begin(Elaborator *e) {
    Map *maps[] = {&e->files,        &e->configs,     &e->reported, &e->constants,
                   &e->used_tensors, &e->first_parts, &e->sizes};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map_init(maps[i], e->arena);
    e->weights_end = &e->weights;
}

Module *dsl_load(Arena *arena, const char *path, const DslOptions *options) {
    Elaborator e = {
        .arena = arena, .options = options, .module = ARENA_NEW(arena, Module), .scope = ""};
    elaborator_begin(&e);
    if (options->checkpoint && !options->shapes_only)
        checkpoint_read_quantized(options->checkpoint);
    file_load(&e, path, NO_LOC);
    if (e.errors) diag_stop();
    *e.module = (Module){.arena = arena, .name = module_name(&e), .description = path};
    read_special_tokens(&e);
    elaborate_graphs(&e);
    read_settings(&e);
    if (!options->guess) config_report(&e);
    weights_report(&e);
    if (e.errors) diag_stop();
    return e.module;
}

bool dsl_check_syntax(Arena *arena, const Source *source) {
    Parser parser;
    return dsl_parse_file(&parser, arena, source);
}
