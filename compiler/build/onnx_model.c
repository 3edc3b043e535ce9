// ONNX files: a text program where the graph is a decoder of tokens or (onnx_texts.c) an encoder of
// texts, else a program of tensors.
#include <stdio.h>
#include <string.h>

#include "build/build.h"
#include "build/dims.h"
#include "frontend/card.h"
#include "lower/lower.h"
#include "passes/pass.h"

static bool is_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return *text && !*end;
}

// Returns true if --bind gives a role to an input: "sr=16000" alone makes no text program.
static bool binds_role(const char *list) {
    double value;
    for (const char *p = list; p && *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        char word[32];
        snprintf(word, sizeof word, "%.*s", name < length ? (int)(length - name - 1) : 0,
                 p + name + 1);
        if (!is_number(word, &value)) {
            return true;
        }
        p += length + (p[length] == ',');
    }
    return false;
}

// --bind: "ids=tokens,am=mask,sr=16000"
static void read_binds(Arena *arena, const char *list, OnnxOptions *out) {
    enum { MOST_BINDS = 256 };
    OnnxBind *binds = ARENA_ARRAY(arena, OnnxBind, MOST_BINDS + 1);  // one that bound_detector adds
    for (const char *p = list; p && *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        const char *role =
            name < length ? arena_strndup(arena, p + name + 1, length - name - 1) : "";
        double value = 0;
        bool number = is_number(role, &value);
        InputRole bound = number ? (InputRole)0 : input_role_named(role);
        bool known = number || bound == INPUT_TOKENS || bound == INPUT_MASK ||
                     bound == INPUT_POSITIONS || bound == INPUT_TYPES || bound == INPUT_CACHE;
        if (!name || !known || out->n_binds == MOST_BINDS)
            usage_error(
                "--bind=%s: expected NAME=tokens|mask|positions|types|cache, or NAME=NUMBER\n  "
                "hint: --bind=input_ids=tokens",
                list);
        binds[out->n_binds++] = (OnnxBind){arena_strndup(arena, p, name), bound, number, value};
        p += length + (p[length] == ',');
    }
    out->binds = binds;
}

static void say_why_not(const PassContext *attempt, const char *prefix, Text *why) {
    for (const FusionSite *s = attempt->sites; s; s = s->next) {
        bool whole = !strcmp(s->pattern, "run as a whole"),
             missed = s->missed &&
                      (!strcmp(s->pattern, "kept keys") || !strcmp(s->pattern, "incremental form"));
        if (!s->node || !(whole || missed)) continue;
        text_spell(why, "%s%s: %%%s %s\n", prefix, loc_text(s->loc), s->node, s->why);
    }
}

// A decoder, whose attention is causal, of which something else keeps it from running token by
// token.
static void require_form(const PassContext *attempt) {
    for (const FusionSite *s = attempt->sites; s; s = s->next)
        if (!strcmp(s->pattern, "incremental form") && s->missed)
            diag_fatal(s->loc,
                       "this decoder has no autoregressive form\nnote: %%%s %s\nhint: without "
                       "--require-fusion it is a program "
                       "of tensors",
                       s->node, s->why);
}

// Tries the passes on a copy to find a graph with an autoregressive form; otherwise `why` has the
// reasons, one on each line. The model's positions are those of its tables, and the bound of the
// text's length.
static bool has_autoregressive_form(const Build *b, Module *m, const char *prefix, Text *why) {
    Module tried = module_clone(b->arena, m);
    PassContext attempt = {.arena = b->arena,
                           .module = &tried,
                           .context = b->options->context,
                           .max_rows = 1,
                           .best_effort = true};
    attempt.stop_after = group_last(GROUP_incremental);
    passes_run(&tried, &attempt);
    for (int i = 0; i < tried.n_graphs; i++) {
        const Graph *g = m->graphs[i];
        if (!graph_has_rows(tried.graphs[i])) continue;
        for (int j = 0; j < g->n_inputs; j++)
            if (input_role(g->inputs[j]) == INPUT_TOKENS)
                m->context =
                    learned_positions(tried.graphs[i], dim_upper(g->inputs[j]->type.dim[0]));
        return true;
    }
    say_why_not(&attempt, prefix, why);
    if (b->options->require_fusion) require_form(&attempt);
    return false;
}

// Tensors are wanted when they are given: `burin run x.onnx --input y.npy`. A recording has the
// file's inputs, not a text.
bool wants_tensors(const Options *o) {
    static const char *const words[] = {"--input", "--output", "--random"};
    if (o->as) return !strcmp(o->as, "net");
    if (o->against) return true;
    for (int i = 0; i < o->n_rest; i++)
        for (size_t j = 0; j < sizeof words / sizeof *words; j++)
            if (!strncmp(o->rest[i], words[j], strlen(words[j]))) return true;
    return false;
}

static bool is_wanted(const Options *o) {
    return binds_role(o->bind) || (o->as && !strcmp(o->as, "text"));
}

static void check_unwanted(const Build *b, const Text *why) {
    const Options *o = b->options;
    if (!is_wanted(o)) return;
    diag_fatal(NO_LOC,
               "%s is no decoder of tokens: its inputs are not those of one text, or no output is "
               "logits that depend on"
               " earlier tokens alone\n%-shint: %s; without --as and --bind it becomes a program "
               "of tensors",
               o->model, why->length ? why->data : "",
               o->bind ? "see --bind" : "--bind=NAME=tokens says which input are the tokens");
}

static void print_binding(const Build *b, Text *binding) {
    const Options *o = b->options;
    bool wanted = o->verbose || o->command == COMMAND_build || o->command == COMMAND_inspect;
    if (binding->length && wanted) print_spelled("%-s", binding->data);
    text_free(binding);
}

static Module *text_module(Build *b, const OnnxOptions *onnx, Module *m, OnnxSaid *said) {
    onnx_tell(said);
    check_dims_used(onnx, m);
    print_binding(b, &said->binding);
    b->text = true;
    return m;
}

// An encoder and a decoder.
static Module *load_files(Build *b, const OnnxOptions *onnx) {
    const Options *o = b->options;
    OnnxSaid said = {.arena = b->arena};
    Module *m = onnx_load_files(b->arena, o->files, o->n_files, onnx, &said);
    Text why = {0};
    text_add(&why, "no file is a decoder that runs token by token\n");
    if (!has_autoregressive_form(b, m, "note: ", &why)) {
        why.data[why.length - 1] = 0;
        diag_fatal(NO_LOC, "%-s", why.data);
    }
    text_free(&why);
    return text_module(b, onnx, m, &said);
}

// The trace of an export may have fixed how many tokens there are.
static bool has_fixed_length(const Module *m, const char *prefix, Text *why) {
    const Graph *g = m->graphs[0];
    int64_t length;
    for (int i = 0; i < g->n_inputs; i++) {
        if (input_role(g->inputs[i]) != INPUT_TOKENS ||
            !dim_is_const(g->inputs[i]->type.dim[0], &length))
            continue;
        text_add(why, "%sit takes %lld tokens, no more and no fewer\n", prefix, (long long)length);
        return true;
    }
    return false;
}

static void check_binds(const Build *b, const OnnxOptions *o) {
    size_t n = 0;
    const char *const *names =
        o->n_binds ? onnx_input_names(b->arena, b->options->model, &n) : NULL;
    for (int i = 0; i < o->n_binds; i++) {
        bool known = false;
        for (size_t j = 0; j < n; j++) known |= !strcmp(names[j], o->binds[i].name);
        const char *near = known ? NULL : nearest_name(o->binds[i].name, names, n);
        if (!known)
            usage_error("--bind=%s: there is no input %s\n  hint: %s%s%sinputs: %s",
                        b->options->bind, o->binds[i].name, near ? "did you mean " : "",
                        near ? near : "", near ? "? " : "", name_list(names, n));
    }
}

// Returns true for a file whose inputs are those of Silero's detector of speech.
static bool detects_speech(const Build *b) {
    static const char *const expected[] = {"input", "state", "sr"};
    size_t n = 0, known = 0;
    const char *const *names = onnx_input_names(b->arena, b->options->model, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++) known += !strcmp(names[i], expected[k]);
    return n == 3 && known == 3;
}

// Returns true for a file that becomes a program of texts or recordings.
static bool bound_sounds(const Build *b, OnnxOptions *onnx) {
    const char *model = b->options->model;
    bool speaks = voice_is_beside(b->arena, model), hears = listener_is_beside(b->arena, model);
    if (speaks)
        bound_voice(b->arena, onnx);
    else if (hears)
        bound_listener(b->arena, onnx);
    else if (b->options->n_files < 2 && detects_speech(b))
        bound_detector(b->arena, onnx), hears = true;
    return speaks || hears;
}

Module *load_onnx(Build *b) {
    const Options *o = b->options;
    OnnxOptions onnx = onnx_options(b->arena, o);
    OnnxSaid said = {.arena = b->arena};
    Text why = {0};
    read_binds(b->arena, o->bind, &onnx);
    build_check_models(b);
    bool sounds = !wants_tensors(o) && bound_sounds(b, &onnx);
    if (o->n_files > 1) return load_files(b, &onnx);
    check_binds(b, &onnx);
    Module *text =
        sounds || wants_tensors(o) ? NULL : onnx_load_text(b->arena, o->model, &onnx, &said);
    const char *prefix = is_wanted(o) ? "note: " : "text     no, a program of tensors: ";
    bool open = text && !has_fixed_length(text, prefix, &why);
    if (open && has_autoregressive_form(b, text, prefix, &why))
        return text_module(b, &onnx, text, &said);
    text_free(&said.binding);
    said = (OnnxSaid){.arena = b->arena};
    text = load_onnx_texts(b, &onnx, &said, &why);
    if (text) {
        text_free(&why);
        return text_module(b, &onnx, text, &said);
    }
    text_free(&said.binding);
    check_unwanted(b, &why);
    Module *m = onnx_load(b->arena, o->model, &onnx);
    check_dims_used(&onnx, m);
    print_binding(b, &why);
    return m;
}
