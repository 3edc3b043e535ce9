// ONNX files: a text program where the graph is a decoder of tokens, else a program of tensors.
#include <stdio.h>
#include <string.h>

#include "driver/build.h"
#include "driver/dims.h"
#include "lower/lower.h"

// --bind: "ids=tokens,am=mask"
static void read_binds(Arena *arena, const char *list, OnnxOptions *out) {
    enum { MOST_BINDS = 256 };
    OnnxBind *binds = ARENA_ARRAY(arena, OnnxBind, MOST_BINDS);
    for (const char *p = list; p && *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        const char *role = name < length ? arena_strndup(arena, p + name + 1, length - name - 1) : "";
        int i = ONNX_TOKENS;
        while (i < ONNX_ROLES && strcmp(role, onnx_role_names[i])) i++;
        if (!name || i == ONNX_ROLES || out->n_binds == MOST_BINDS)
            usage_error("--bind=%s: expected NAME=tokens|mask|positions|types|cache\n  hint: --bind=input_ids=tokens", list);
        binds[out->n_binds++] = (OnnxBind){arena_strndup(arena, p, name), (OnnxRole)i};
        p += length + (p[length] == ',');
    }
    out->binds = binds;
}

static void say_why_not(const PassContext *trial, const char *prefix, Text *why) {
    for (const FusionSite *s = trial->sites; s; s = s->next) {
        if (strcmp(s->pattern, "run as a whole") || !s->node) continue;
        text_spell(why, "%s%s: %%%s %s\n", prefix, loc_text(s->loc), s->node, s->why);
    }
}

// A decoder, whose attention is causal, of which something else keeps it from running token by token.
static void require_form(const PassContext *trial) {
    for (const FusionSite *s = trial->sites; s; s = s->next)
        if (!strcmp(s->pattern, "incremental form") && s->missed)
            diag_fatal(s->loc,
                       "this decoder has no autoregressive form\nnote: %%%s %s\nhint: without --require-fusion it is a program "
                       "of tensors",
                       s->node, s->why);
}

// Which graph has an autoregressive form: the passes find out. -1 when none has, and `why` says why not, a line each.
static int find_autoregressive(const Build *b, Module *m, const char *prefix, Text *why) {
    PassContext trial = {.arena = b->arena, .module = m, .context = b->options->context, .max_rows = 1, .trial = true};
    trial.stop_after = group_last(GROUP_incremental);
    passes_run(m, &trial);
    for (int i = 0; i < m->n_graphs; i++)
        if (graph_has_rows(m->graphs[i])) return i;
    say_why_not(&trial, prefix, why);
    if (b->options->require_fusion) require_form(&trial);
    return -1;
}

// Positions that the model was made for: those of its tables, and the bound of the text's length.
static void set_context(Module *m, const Module *tried, int index) {
    const Graph *g = m->graphs[index];
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS)
            m->context = learned_positions(tried->graphs[index], dim_upper(g->inputs[i]->type.dim[0]));
}

// Tensors are wanted when they are given: `burin run x.onnx --input y.npy`. A recording has the file's inputs, not a text.
bool wants_tensors(const Options *o) {
    static const char *const words[] = {"--input", "--output", "--random"};
    if (o->as) return !strcmp(o->as, "net");
    if (o->against) return true;
    for (int i = 0; i < o->n_rest; i++)
        for (size_t j = 0; j < sizeof words / sizeof *words; j++)
            if (!strncmp(o->rest[i], words[j], strlen(words[j]))) return true;
    return false;
}

static void check_text(const Build *b) {
    const Options *o = b->options;
    if (b->text || (!o->bind && !(o->as && !strcmp(o->as, "text")))) return;
    diag_fatal(NO_LOC,
               "%s is no decoder of tokens: its inputs are not those of one text, or no output is logits that depend on"
               " earlier tokens alone\nhint: %s; without --as and --bind it becomes a program of tensors",
               o->model, o->bind ? "see --bind" : "--bind=NAME=tokens says which input are the tokens");
}

static void print_binding(const Build *b, Text *binding) {
    const Options *o = b->options;
    bool wanted = o->verbose || o->command == COMMAND_build || o->command == COMMAND_inspect;
    if (binding->length && wanted) print_spelled("%-s", binding->data);
    text_free(binding);
}

// An encoder and a decoder.
static Module *load_files(Build *b, const OnnxOptions *onnx) {
    const Options *o = b->options;
    Text binding = {0};
    Module *tried = onnx_load_files(b->arena, o->files, o->n_files, onnx, NULL);
    Text why = {0};
    text_add(&why, "no file is a decoder that runs token by token\n");
    int index = find_autoregressive(b, tried, "note: ", &why);
    why.data[why.length - 1] = 0;
    if (index < 0) diag_fatal(NO_LOC, "%-s", why.data);
    text_free(&why);
    Module *m = onnx_load_files(b->arena, o->files, o->n_files, onnx, &binding);
    check_dims_used(onnx, m);
    b->text = true;
    set_context(m, tried, index);
    print_binding(b, &binding);
    return m;
}

// The trace of an export may have fixed how many tokens there are.
static bool has_fixed_length(const Module *m, Text *why) {
    const Graph *g = m->graphs[0];
    int64_t length;
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) != INPUT_TOKENS || !dim_is_const(g->inputs[i]->type.dim[0], &length)) continue;
        text_add(why, "text     no, a program of tensors: it takes %lld tokens, no more and no fewer\n", (long long)length);
        return true;
    }
    return false;
}

Module *load_onnx(Build *b) {
    const Options *o = b->options;
    OnnxOptions onnx = onnx_options(b->arena, o);
    Text binding = {0};
    read_binds(b->arena, o->bind, &onnx);
    build_check_models(b);
    if (o->n_files > 1) return load_files(b, &onnx);
    Module *text = wants_tensors(o) ? NULL : onnx_load_text(b->arena, o->model, &onnx, NULL);
    bool open = text && !has_fixed_length(text, &binding);
    int index = open ? find_autoregressive(b, text, "text     no, a program of tensors: ", &binding) : -1;
    b->text = index >= 0;
    check_text(b);
    Module *m = b->text ? onnx_load_text(b->arena, o->model, &onnx, &binding) : onnx_load(b->arena, o->model, &onnx);
    check_dims_used(&onnx, m);
    print_binding(b, &binding);
    if (b->text) set_context(m, text, index);
    return m;
}
