// The end of the interface of a shared library: chat templates, forms of answers, and what session
// files need (library_answers.h). The rooms template and grammar are units of their own.

#include "grammar/constraint.h"
#include "template/template.h"

static const burin_template *chat_template(void) {
    return (const burin_template *)(const void *)(NAME_model.weights() +
                                                  NAME_model.template_offset);
}

bool NAME_has_template(void) { return NAME_model.template_bytes != 0; }

// The text of eos_token, as a token; -1: the template has none.
static int32_t end_of_template(void) {
    const burin_template *t = chat_template();
    if (!t->eos) return -1;
    const uint32_t *entry =
        (const uint32_t *)(const void *)((const char *)t + t->strings) + 2 * (t->eos - 1);
    return burin_token_find(tokenizer_blob(), (const char *)t + entry[0], entry[1]);
}

int NAME_prompt_open(NAME_prompt *p, const char *messages, size_t bytes) {
    if (!p || (!messages && bytes)) return NAME_BAD_ARGUMENT;
    *p = (NAME_prompt){.end = -1};
    if (!NAME_has_template()) {
        snprintf(p->error, sizeof p->error, "this model has no chat template");
        return NAME_BAD_TEXT;
    }
    burin_rendering r = {.template_blob = chat_template(),
                         .json = messages,
                         .json_bytes = bytes,
                         .json_name = "messages",
                         .memory_bytes = BURIN_RENDER_BYTES(bytes)};
    p->memory = r.memory = malloc(r.memory_bytes);
    if (!r.memory) return NAME_SMALL_MEMORY;
    if (!burin_render(&r)) {
        memcpy(p->error, r.error, sizeof p->error);
        NAME_prompt_close(p);
        return NAME_BAD_TEXT;
    }
    p->text = r.text, p->marks = r.marks, p->bytes = r.bytes;
    p->end = end_of_template();
    return 0;
}

void NAME_prompt_close(NAME_prompt *p) {
    if (!p) return;
    free(p->memory);
    p->memory = NULL, p->text = NULL, p->marks = NULL, p->bytes = 0;
}

// ---- forms ----

static int refuse_form(NAME_form *f, const char *why) {
    snprintf(f->error, sizeof f->error, "%s", why);
    return NAME_BAD_TEXT;
}

static int follow_grammar(NAME_form *f, const char *name, const char *text, size_t bytes) {
    burin_grammar g;
    if (!burin_grammar_parse(&g, name, text, bytes)) return refuse_form(f, g.error);
    f->form = burin_constraint_open(&g, tokenizer_blob(), NAME_model.vocab_size, NULL);
    return f->form ? 0 : refuse_form(f, g.error);
}

int NAME_form_open(NAME_form *f, int kind, const char *text, size_t bytes) {
    if (!f || (!text && bytes) || kind < NAME_GRAMMAR || kind > NAME_JSON_OBJECT)
        return NAME_BAD_ARGUMENT;
    *f = (NAME_form){.end = -1};
    if (!tokenizer_blob()) return refuse_form(f, "this model has no tokenizer");
    if (kind == NAME_GRAMMAR) return follow_grammar(f, "grammar", text, bytes);
    char *grammar = burin_schema_grammar("json_schema", kind == NAME_JSON_SCHEMA ? text : NULL,
                                         bytes, f->error, sizeof f->error);
    if (!grammar) return NAME_BAD_TEXT;
    int status = follow_grammar(f, "json_schema, as a grammar", grammar, strlen(grammar));
    free(grammar);
    return status;
}

void NAME_form_close(NAME_form *f) {
    if (f && f->form) burin_constraint_close(f->form), f->form = NULL;
}

int NAME_form_start(NAME_form *f, bool first) {
    if (!f) return NAME_BAD_ARGUMENT;
    if (!f->form) return NAME_NOT_OPEN;
    burin_constraint_start(f->form, first);
    return 0;
}

static bool ends_text(const NAME_form *f, int32_t token) {
    bool end = token == f->end;
    for (int i = 0; i < NAME_model.n_eos; i++) end |= NAME_model.eos[i] == token;
    return end;
}

// Masks tokens that the form forbids; tokens that end the text keep their logits where it may end.
static int mask_by_form(NAME_form *f, float *logits) {
    enum { ENDS = sizeof NAME_model.eos / sizeof *NAME_model.eos + 1 };
    int32_t end[ENDS], n = 0;
    float kept[ENDS];
    for (int i = 0; i < NAME_model.n_eos; i++) end[n++] = NAME_model.eos[i];
    if (f->end >= 0) end[n++] = f->end;
    for (int32_t i = 0; i < n; i++) kept[i] = logits[end[i]];
    int32_t allowed = burin_constraint_mask(f->form, logits);
    bool may_end = n && burin_constraint_may_end(f->form);
    for (int32_t i = 0; i < n && may_end; i++) logits[end[i]] = kept[i];
    if (burin_constraint_overflowed(f->form))
        return refuse_form(f, burin_constraint_overflow_text(f->form));
    return allowed || may_end
               ? 0
               : refuse_form(f, "no token of the vocabulary goes on as the form wants");
}

static bool form_allows(NAME_form *f, int32_t token) {
    return ends_text(f, token) ? burin_constraint_may_end(f->form)
                               : burin_constraint_allows(f->form, token);
}

// The token chosen without the form, if it fits; else one of those that fit.
int32_t NAME_form_sample(NAME_form *f, NAME_sampler *sampler, float *logits, const int32_t *tokens,
                         int n) {
    int32_t token = 0;
    int status = check_text(sampler, logits, tokens, n);
    if (!f) return NAME_BAD_ARGUMENT;
    if (!f->form) return NAME_NOT_OPEN;
    if (status) return status;
    if (burin_constraint_must_end(f->form)) return NAME_TEXT_ENDS;
    forbid_tokens(sampler, logits, tokens, n);
    burin_sampler_adjust(sampler->sampler, logits, tokens, n);
    token = burin_sampler_choose(sampler->sampler, logits);
    if (!form_allows(f, token)) {
        status = mask_by_form(f, logits);
        if (status) return status;
        token = burin_sampler_choose(sampler->sampler, logits);
    }
    burin_sampler_accept(sampler->sampler);
    if (ends_text(f, token)) return NAME_TEXT_ENDS;
    burin_constraint_take(f->form, token);
    return token;
}

// ---- session files ----

typedef struct saved_sampler {
    uint64_t seed;
    burin_random random;
    double mu;
} saved_sampler;
_Static_assert(sizeof(saved_sampler) == NAME_SAMPLER_SAVED_BYTES, "as in session files");

int NAME_sampler_save(const NAME_sampler *sampler, void *bytes) {
    if (!sampler || !bytes) return NAME_BAD_ARGUMENT;
    const burin_sampler *s = sampler->sampler;
    if (!s) return NAME_NOT_OPEN;
    const saved_sampler saved = {s->settings.seed, s->random, s->mu};
    memcpy(bytes, &saved, sizeof saved);
    return 0;
}

int NAME_sampler_load(NAME_sampler *sampler, const void *bytes) {
    if (!sampler || !bytes) return NAME_BAD_ARGUMENT;
    burin_sampler *s = sampler->sampler;
    saved_sampler saved;
    if (!s) return NAME_NOT_OPEN;
    memcpy(&saved, bytes, sizeof saved);
    s->settings.seed = saved.seed, s->random = saved.random;
    if (saved.mu == saved.mu) s->mu = saved.mu;
    return 0;
}

uint64_t NAME_checksum(const void *memory, size_t bytes) {
    return memory || !bytes ? burin_checksum_of(memory, bytes) : 0;
}
