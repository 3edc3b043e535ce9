// ONNX files: a text program where the graph is a decoder of tokens, else a program of tensors.
#include <stdio.h>
#include <string.h>

#include "driver/build.h"
#include "driver/dims.h"

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

static bool has_rows_of_slots(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_SLOTS) return true;
    return false;
}

// Whether the graph has an autoregressive form: the passes find out.
static bool has_autoregressive_form(const Build *b, Module *m) {
    PassContext trial = {.arena = b->arena, .module = m, .context = b->options->context, .max_rows = 1};
    trial.stop_after = PASS_incremental;
    passes_run(m, &trial);
    return has_rows_of_slots(m->graphs[0]);
}

// Tensors are wanted when they are given: `burin run x.onnx --input y.npy`.
bool wants_tensors(const Options *o) {
    static const char *const words[] = {"--input", "--output", "--random"};
    if (o->as) return !strcmp(o->as, "net");
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

Module *load_onnx(Build *b) {
    const Options *o = b->options;
    OnnxOptions onnx = onnx_options(b->arena, o);
    Text binding = {0};
    read_binds(b->arena, o->bind, &onnx);
    Module *text = wants_tensors(o) ? NULL : onnx_load_text(b->arena, o->model, &onnx, NULL);
    b->text = text && has_autoregressive_form(b, text);
    check_text(b);
    Module *m = b->text ? onnx_load_text(b->arena, o->model, &onnx, &binding) : onnx_load(b->arena, o->model, &onnx);
    if (binding.length && (o->verbose || o->command == COMMAND_build || o->command == COMMAND_inspect))
        printf("%s", binding.data);
    text_free(&binding);
    if (b->text) m->context = learned_positions(text->graphs[0], dim_upper(m->graphs[0]->inputs[0]->type.dim[0]));
    return m;
}
