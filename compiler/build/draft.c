// --draft SMALL: a second model in the program, which drafts tokens for the first
// (runtime/text/draft.h). It is built by the same steps, under the name NAME_draft, without
// tokenizer and template. --draft=mtp: the head of the checkpoint itself that predicts further
// tokens from the states of the model's rows (multi-token prediction).
#include <string.h>

#include "build/build.h"
#include "tokenizer/tokenizer.h"

static bool writes_tokens(const Build *b) {
    return is_decoder(b->program) && !b->program->encoder && !b->embeds && !b->labels;
}

bool drafts_by_head(const Options *o) { return o->draft && !strcmp(o->draft, "mtp"); }

static Options *options_of_draft(const Build *b) {
    Options *o = ARENA_NEW(b->arena, Options);
    *o = *b->options;
    if (!drafts_by_head(o)) o->model = o->files[0] = o->draft, o->n_files = 1, o->weights = NULL;
    if (o->draft_quant)
        o->quant = strcmp(o->draft_quant, "file") ? o->draft_quant : NULL,
        o->requantize = o->quant != NULL;
    o->draft = o->draft_quant = o->lora = o->mmproj = o->tokenizer = o->dim = o->max = o->bind =
        o->as = o->start_from = o->dump_ir = NULL;
    o->context = o->max_ram = 0;
    o->report = o->require_fusion = o->quant_report = false;
    return o;
}

// The text of a token, or NULL.
static const char *token_of(const Build *b, int32_t id, size_t *bytes) {
    return id < burin_tokenizer_size(b->tokenizer->blob)
               ? burin_token_text(b->tokenizer->blob, id, bytes)
               : NULL;
}

static _Noreturn void refuse_tokens(const Build *b, const Build *d, const char *theirs,
                                    const char *ours) {
    diag_fatal(NO_LOC,
               "--draft=%s has other tokens: %s; in %s %s\n"
               "hint: a smaller model of the same family, or the same model by --draft-quant",
               d->options->model, theirs, b->options->model, ours);
}

static const char *say_token(Arena *arena, int32_t id, const char *text, size_t bytes) {
    return arena_printf(arena, "%d is \"%.*s\"", (int)id, (int)bytes, text);
}

// Models of one family are padded to different sizes, so ids beyond the smaller vocabulary do not
// count.
static void check_tokens(const Build *b, const Build *d) {
    Arena *arena = b->arena;
    int n = build_vocabulary(b), m = build_vocabulary(d);
    bool both = b->tokenizer && d->tokenizer;
    if (n != m && !both)
        refuse_tokens(b, d, arena_printf(arena, "%d", m), arena_printf(arena, "%d", n));
    for (int32_t id = 0; both && id < n && id < m; id++) {
        size_t bytes = 0, others = 0;
        const char *text = token_of(b, id, &bytes), *other = token_of(d, id, &others);
        if (!text || !other || (bytes == others && !memcmp(text, other, bytes))) continue;
        refuse_tokens(b, d, say_token(arena, id, other, others), say_token(arena, id, text, bytes));
    }
}

void build_draft(Build *b) {
    if (!b->options->draft) return;
    if (!writes_tokens(b))
        usage_error("--draft is for decoders, and %s is none", b->options->model);
    if (drafts_by_head(b->options) && !b->checkpoint)
        usage_error("--draft=mtp is for checkpoints, and %s is none", b->options->model);
    Build *d = b->draft = ARENA_NEW(b->arena, Build);
    *d = build_new(b->arena, options_of_draft(b));
    d->name = arena_printf(b->arena, "%s_draft", b->name);
    d->kind = b->kind, d->is_draft = true, d->is_head = drafts_by_head(b->options);
    d->tools.clang = b->tools.clang, d->tools.home = b->tools.home;
    build_open(d);
    build_load(d);
    if (b->options->context && b->options->context < d->passes.context)
        d->passes.context = b->options->context;
    build_passes(d);
    d->chat = (CompiledTemplate){0};
    const Tokenizer *tokenizer = d->tokenizer;
    d->tokenizer = NULL;
    build_lower(d);
    if (!writes_tokens(d)) usage_error("--draft=%s is no decoder", d->options->model);
    if (d->is_head && graph_row_states(b->program->graph) != graph_row_vectors(d->program->graph))
        diag_fatal(NO_LOC, "--draft=mtp: the head of %s does not fit the model's states",
                   b->options->model);
    d->tokenizer = (Tokenizer *)tokenizer;
    check_tokens(b, d);
    d->tokenizer = NULL;
}
