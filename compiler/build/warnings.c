// Warnings before the work: options without effect on this model, results that its program does not
// give, a decoder that looks ahead.
#include <string.h>
#include <strings.h>

#include "build/build.h"
#include "build/server.h"
#include "ir/operands.h"
#include "passes/pass.h"
#include "passes/recipe.h"
#include "tokenizer/tokenizer.h"

static bool has_rows(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++)
        if (graph_has_rows(b->module->graphs[i])) return true;
    return false;
}

// ----------------------------------------------------------------------------------------- options
static void no_effect(const char *option, const char *value, const char *why) {
    diag_warning(NO_LOC, "--%s=%s has no effect: %s", option, value, why);
}

static const char *count_text(const Build *b, int64_t n) {
    return arena_printf(b->arena, "%lld", (long long)n);
}

static const char *near_part(Arena *arena, const char *word) {
    const char *near = quant_nearest_part(word);
    return near ? arena_printf(arena, "did you mean %s? ", near) : "";
}

// Products whose weights could have been quantized, and those that have the format.
static void check_quant(const Build *b) {
    int products = 0, fitting = 0;
    const char *quant = b->options->quant;
    bool overruled = false;
    const char *rule = quant ? quant_idle_rule(b->passes.quant, b->module, &overruled) : NULL;
    if (rule && overruled)
        diag_warning(NO_LOC,
                     "--quant=%s: the rule for %s has no effect: later rules say the format of all "
                     "that it names\n"
                     "hint: put the rule for less behind the one for more",
                     quant, rule);
    else if (rule)
        diag_fatal(NO_LOC,
                   "--quant=%s: no matrix is called %s\nhint: %s`burin formats` lists parts; "
                   "`burin inspect MODEL`, names",
                   quant, rule, near_part(b->arena, rule));
    if (!quant || b->passes.quantized) return;
    if (b->passes.start_from > PASS_quantize) {
        no_effect("quant", quant, "the dump was quantized before, or is not to be");
        return;
    }
    for (int i = 0; i < b->module->n_graphs; i++)
        EACH_NODE(n, b->module->graphs[i]) {
            if (!is_packed_product(n) || n->in[PRODUCT_WEIGHTS]->op != OP_pack) continue;
            products++, fitting +=
                        !strncasecmp(dtype_name(n->in[1]->type.dtype), quant, strcspn(quant, ","));
        }
    no_effect("quant", quant,
              !products             ? "no product of this model has weights"
              : fitting == products ? "the weights have this format already"
                                    : "no weight can take this format");
}

// Of keys and values, whose format can be chosen
static bool has_cache(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++)
        EACH_NODE(n, b->module->graphs[i])
            if (n->op == OP_attention && n->in[ATTENTION_KEY]->type.rank == 4) return true;
    return false;
}

// Weights that no attention computes have a product with every key that a cache can hold.
static void note_kept_keys(const Build *b) {
    int sums = 0;
    for (int i = 0; i < b->module->n_graphs; i++)
        EACH_NODE(n, b->module->graphs[i]) sums += n->op == OP_key_sums;
    if (!sums || b->options->command != COMMAND_build) return;
    diag_note(NO_LOC,
              "%d weighted sum%s of kept values %s no attention: each token computes with all %lld "
              "positions of the context, in f32\nhint: --ctx=N for fewer",
              sums, sums == 1 ? "" : "s", sums == 1 ? "is" : "are", (long long)b->passes.context);
}

static int64_t vocabulary_of(const Module *m) {
    int64_t size = 0;
    for (int i = 0; i < m->n_graphs; i++) {
        int at = graph_output_index(m->graphs[i], "logits");
        const Type *t = at < 0 ? NULL : &m->graphs[i]->outputs[at]->type;
        if (t && t->rank && dim_is_const(t->dim[t->rank - 1], &size)) return size;
    }
    return 0;
}

static void check_tokenizer(const Build *b, bool rows) {
    const Options *o = b->options;
    int64_t model = rows ? vocabulary_of(b->module) : 0;
    int size = b->tokenizer ? burin_tokenizer_size(b->tokenizer->blob) : 0;
    bool writes = o->command == COMMAND_build && b->kind == OUTPUT_PROGRAM && !o->emit &&
                  !o->stop_after && !o->start_from && !o->calibrate;
    if (rows && !b->tokenizer && writes && !b->is_draft)
        diag_warning(NO_LOC,
                     "there is no tokenizer beside the weights: the program takes --tokens "
                     "alone\nhint: --tokenizer=FILE");
    if (!o->tokenizer || !size || !model) return;
    if (size > model)
        diag_fatal(NO_LOC,
                   "%s has %d tokens, the model %lld\nhint: --tokenizer needs that of this model",
                   o->tokenizer, size, (long long)model);
    if (size < model / 2)
        diag_warning(NO_LOC, "%s has %d tokens, the model %lld: it may be another model's",
                     o->tokenizer, size, (long long)model);
}

// Called when the passes are done and the kind of the program is known.
static void check_options(const Build *b) {
    const Options *o = b->options;
    static const char tensors[] =
        "the model becomes a program of tensors, which reads no tokens one by one";
    bool rows = has_rows(b), interpreted = o->command == COMMAND_run && o->interpret;
    if (o->context && !rows && !b->embeds) no_effect("ctx", count_text(b, o->context), tensors);
    if (o->chunk && !rows) no_effect("chunk", count_text(b, o->chunk), tensors);
    if (o->tokenizer && !o->tokenizer_beside && !rows && !b->embeds)
        no_effect("tokenizer", o->tokenizer, "the program reads tensors, no text");
    if (o->pooling && !b->embeds)
        no_effect("pooling", o->pooling, "it is for encoders in a folder or of a description");
    if (o->mcpu && interpreted) no_effect("mcpu", o->mcpu, "the interpreter runs on any CPU");
    if (o->max_ram && interpreted)
        no_effect("max-ram", count_text(b, o->max_ram), "the interpreter takes what it needs");
    if (o->draft && interpreted)
        no_effect("draft", o->draft, "the interpreter reads each token alone");
    if (o->gather_above && o->command == COMMAND_build && !b->tools.mpi)
        no_effect("gather-above", count_text(b, o->gather_above), "it is for --with=mpi");
    if (o->line_editor && !strcmp(o->line_editor, "libedit") && !b->has_chat)
        no_effect("line-editor", o->line_editor, "the program has no --chat");
    bool has_source = b->module->n_graphs > 1 && !b->module->eyes;
    bool talks = b->embeds || b->labels || b->speaks || b->hears || b->module->speech ||
                 (rows && b->tokenizer && !has_source);
    if (server_is_asked_for(o) && !talks)
        no_effect("with", o->with,
                  has_source ? "its encoder reads a source, which requests do not bring"
                             : "the program reads and writes no text");
    check_tokenizer(b, rows);
    note_kept_keys(b);
    check_quant(b);
    if (o->kv && b->passes.start_from > PASS_quantize)
        no_effect("kv", o->kv, "the dump has the formats of its caches");
    else if (o->kv && !has_cache(b))
        no_effect("kv", o->kv, "nothing is cached in this model");
}

// ------------------------------------------------------------------------------------ descriptions
static Node *token_input(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) return g->inputs[i];
    return NULL;
}

static bool says_logits(const Graph *g) {
    return graph_output_index(g, "logits") >= 0 &&
           strncmp(g->name, "encode", strlen("encode")) != 0;
}

static const FusionSite *why_as_a_whole(const Build *b) {
    for (const FusionSite *s = b->passes.sites; s; s = s->next)
        if (!strcmp(s->pattern, "run as a whole")) return s;
    return NULL;
}

// A graph named decode, or one that gives logits for tokens, and that is run as a whole: the mask
// may have been forgotten.
static void check_causal(const Build *b) {
    const FusionSite *site = why_as_a_whole(b);
    for (int i = 0; i < b->module->n_graphs && site && !b->embeds; i++) {
        const Graph *g = b->module->graphs[i];
        bool meant = !strcmp(g->name, "decode") || says_logits(g);
        if (!meant || !token_input(g) || graph_has_rows(g)) continue;
        diag_warning(site->loc,
                     "%s becomes a program of tensors, which writes no text: %s %s\n"
                     "hint: causal(scores) of dsl/std/mask hides later tokens; a graph named "
                     "encode may see them",
                     g->name, site->node ? arena_printf(b->arena, "%%%s", site->node) : g->name,
                     site->why);
    }
}

static void check_results(const Build *b) {
    for (int i = 0; i < b->module->n_graphs; i++) {
        const Graph *g = b->module->graphs[i];
        if (!graph_has_rows(g)) continue;
        const char *others = "";
        for (int j = 1; j < g->n_outputs; j++)
            if (!output_is_row_states(g, j))
                others = arena_printf(b->arena, "%s%s%s", others, *others ? ", " : "",
                                      g->output_names[j]);
        if (!*others) continue;
        diag_warning(g->outputs[1]->loc, "a text program has one result, %s: %s is left out",
                     g->output_names[0], others);
    }
}

void build_warnings(const Build *b) {
    check_options(b);
    if (b->onnx || b->options->start_from) return;
    check_causal(b);
    check_results(b);
}
