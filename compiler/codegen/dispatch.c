// The descriptor of a program: its identity, its sizes, and the variants of its code, one for each
// CPU.

#include "codegen/cost.h"
#include "codegen/emit.h"
#include "engine/picture.h"
#include "ir/operands.h"
#include "sound/speech.h"

void write_string(Text *t, const char *s) {
    text_add(t, "\"");
    for (; *s; s++) {
        if (*s == '\n')
            text_add(t, "\\n");
        else if (*s == '"' || *s == '\\')
            text_add(t, "\\%c", *s);
        else if ((unsigned char)*s < 32 || (unsigned char)*s > 126 || *s == '?')  // of a trigraph
            text_add(t, "\\%03o", (unsigned)(unsigned char)*s);
        else
            text_add(t, "%c", *s);
    }
    text_add(t, "\"");
}

static void write_variants(Text *t, const Program *p, const DispatchOptions *o) {
    for (int i = 0; i < o->n_cpus; i++) {
        if (p->encoder)
            text_add(t, "void %s_forward_%s(const burin_step *, int thread);\n", p->encoder->name,
                     o->cpus[i]->symbol);
        text_add(t,
                 "void %s_forward_%s(const burin_step *, int thread);\nvoid %s_exp_%s(float *, "
                 "size_t);\n",
                 p->name, o->cpus[i]->symbol, p->name, o->cpus[i]->symbol);
    }
    text_add(t, "\nstatic const burin_variant variants[] = {\n");
    for (int i = 0; i < o->n_cpus; i++) {
        const Target *c = o->cpus[i];
        text_add(t, "    {\"%s\", \"%s\", burin_cpu_%s, %s_forward_%s, %s_exp_%s", c->name,
                 c->needs, c->symbol, p->name, c->symbol, p->name, c->symbol);
        if (p->encoder)
            text_add(t, ", %s_forward_%s},\n", p->encoder->name, c->symbol);
        else
            text_add(t, ", NULL},\n");
    }
    text_add(t, "};\n\n");
}

// Cost of a step with one logit row: the constant part, and the part that grows with the rows.
static void write_cost(Text *t, const Program *p, const Kernel *k) {
    Cost one = {0}, two = {0};
    if (is_decoder(p)) {
        one = call_cost(p, k, &(StepSizes){.rows = 1});
        two = call_cost(p, k, &(StepSizes){.rows = 2});
    }
    double row = two.operations - one.operations;
    text_add(t, ", %.0f, %.0f, %.0f, %s", one.weight_bytes, one.operations - row, row,
             takes_integers(k) ? "true" : "false");
}

static void write_sites(Text *t, const Program *p) {
    const Kernel **sites = ARENA_ARRAY(p->arena, const Kernel *, p->n_kernels + 1);
    int n = call_sites(p, sites);
    for (int i = 0; i < n; i++) {
        Text location = {0};
        write_location(&location, sites[i], loop_of(p, sites[i]) != NULL);
        text_add(t, "    {\"%s\", ", p->functions[sites[i]->function].name);
        write_string(t, location.data ? location.data : "");
        write_cost(t, p, sites[i]);
        text_add(t, "},\n");
        text_free(&location);
    }
}

// In the order of their numbers: the encoder's follow.
static void write_kernels(Text *t, const Program *p) {
    text_add(t, "static const burin_kernel kernels[] = {\n");
    write_sites(t, p);
    if (p->encoder) write_sites(t, p->encoder);
    text_add(t, "};\n\n");
}

// ---------------------------------------------------------------------------------------- encoders
static void write_encoder(Text *t, const Program *p) {
    const Plan *plan = &p->plan;
    write_net(t, p);
    text_add(t, "static const burin_encoder encoder = {\n    .net = &net,\n    .length = %lld,\n",
             (long long)describe_net(p)->length);
    text_add(t,
             "    .max_rows = %lld,\n    .row_bytes = %llu,\n    .local_bytes = %llu,\n    "
             ".scratch_bytes = %llu,\n};\n\n",
             (long long)p->max_rows, (unsigned long long)plan->row_bytes,
             (unsigned long long)plan->local_bytes, (unsigned long long)plan->scratch_bytes);
}

static int64_t vocabulary(const Program *p) {
    const Node *logits = p->graph->n_outputs ? p->graph->outputs[0] : NULL;
    return logits && logits->type.rank ? dim_upper(logits->type.dim[logits->type.rank - 1]) : 0;
}

// Positions that a slot can hold: the capacity of the caches as declared.
static int64_t context_of(const Program *p) {
    for (int i = 0; i < p->n_states; i++)
        if (p->states[i]->node->type.rank == 4) return dim_upper(p->states[i]->node->type.dim[2]);
    return p->module->context;
}

// Bytes that every one-row step reads; of experts only the selected ones.
static uint64_t packed_bytes(const Program *p) {
    uint64_t bytes = 0;
    for (int i = 0; i < p->n_weights; i++)
        if (p->weights[i]->node->op == OP_pack && p->weights[i]->experts == 1)
            bytes += p->weights[i]->bytes;
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        const PackedWeight *w = k->family == FAMILY_EXPERTS ? k->in[PRODUCT_WEIGHTS].weight : NULL;
        if (w) bytes += w->bytes / (uint64_t)w->experts * (uint64_t)last_dim(&k->in[EXPERT_INDEX]);
    }
    for (int i = 0; i < p->n_kernels; i++) {
        const View *w = &p->kernels[i]->in[p->kernels[i]->n_in > 1];
        bool shared = p->kernels[i]->family == FAMILY_MATMUL && w->base == BASE_WEIGHT &&
                      w->weight->owner != p;
        if (shared) bytes += w->weight->bytes;
    }
    return bytes;
}

static void write_tokens(Text *t, const char *name, const int32_t *tokens, int n) {
    if (!n) return;
    text_add(t, "    .%s = (const int32_t[]){", name);
    for (int i = 0; i < n; i++) text_add(t, "%s%d", i ? ", " : "", (int)tokens[i]);
    text_add(t, "},\n    .n_%s = %d,\n", name, n);
}

static void write_count(Text *t, const char *name, int64_t count) {
    if (count) text_add(t, "    .%s = %lld,\n", name, (long long)count);
}

static void write_generation(Text *t, const Module *m) {
    write_tokens(t, "suppress", m->suppress, m->n_suppress);
    write_tokens(t, "begin_suppress", m->begin_suppress, m->n_begin_suppress);
    write_tokens(t, "forced_end", m->forced_end, m->n_forced_end);
    write_tokens(t, "bad_words", m->bad_words, m->n_bad_words);
    write_count(t, "no_repeat", m->no_repeat);
    write_count(t, "encoder_no_repeat", m->encoder_no_repeat);
    write_count(t, "min_length", m->min_length);
    write_count(t, "min_new_tokens", m->min_new_tokens);
    if (m->repetition_penalty > 0)
        text_add(t, "    .repetition_penalty = %.9g,\n", m->repetition_penalty);
}

static void write_speech(Text *t, const burin_speech *s) {
#define WRITE_FIELD(name) text_add(t, "    ." #name " = %d,\n", (int)s->name);
    text_add(t, "static const burin_speech speech = {\n");
    BURIN_SPEECH_FIELDS(WRITE_FIELD)
    write_tokens(t, "languages", s->languages, s->n_languages);
    write_tokens(t, "alignment", s->alignment, s->n_alignment);
    text_add(t, "};\n\n");
}

static void write_picture(Text *t, const burin_picture *p) {
    text_add(t, "    .picture = {%a, {%a, %a, %a}, {%a, %a, %a}, %d, %d, %d, %d, %d, %d},\n",
             p->scale, (double)p->mean[0], (double)p->mean[1], (double)p->mean[2],
             (double)p->deviation[0], (double)p->deviation[1], (double)p->deviation[2],
             (int)p->resize, (int)p->height, (int)p->width, (int)p->resample, (int)p->crop_height,
             (int)p->crop_width);
}

static void write_eyes(Text *t, const burin_eyes *e) {
#define WRITE_NUMBER(name) text_add(t, "    ." #name " = %d,\n", (int)e->name);
#define WRITE_TEXT(name)                                            \
    if (e->name) {                                                  \
        text_add(t, "    ." #name " = "), write_string(t, e->name); \
        text_add(t, ",\n");                                         \
    }
    text_add(t, "static const burin_eyes eyes = {\n    .encoder = &encoder,\n");
    write_picture(t, &e->picture);
    BURIN_EYES_NUMBERS(WRITE_NUMBER)
    BURIN_EYES_TEXTS(WRITE_TEXT)
    text_add(t, "};\n\n");
}

static void write_start(Text *t, const Module *m) {
    if (m->eyes) {
        text_add(t, "    .eyes = &eyes,\n");
        return;
    }
    text_add(t, "    .encoder = &encoder,\n");
    write_tokens(t, "start", m->start, m->n_start);
    write_count(t, "max_length", m->max_length);
}

static void write_descriptor(Text *t, const Program *p, const DispatchOptions *o) {
    const Plan *plan = &p->plan;
    text_add(t,
             "const burin_model %s = {\n    .abi = BURIN_ABI,\n    .name = \"%s\",\n    .identity "
             "= \"%s\",\n    .info = ",
             o->descriptor, p->module->name, o->identity);
    write_string(t, o->info ? o->info : "");
    text_add(t, ",\n    .vocab_size = %lld,\n    .context = %lld,\n    .max_rows = %lld,\n",
             (long long)vocabulary(p), (long long)context_of(p), (long long)p->max_rows);
    if (input_vocabulary(p) != vocabulary(p))
        write_count(t, "input_vocab_size", input_vocabulary(p));
    text_add(t, "    .bos = %d,\n    .eos = {", (int)p->module->bos);
    for (int i = 0; i < p->module->n_eos; i++)
        text_add(t, "%s%d", i ? ", " : "", (int)p->module->eos[i]);
    text_add(t, "%s},\n    .n_eos = %d,\n", p->module->n_eos ? "" : "0", p->module->n_eos);
    text_add(t, "    .row_bytes = %llu,\n    .local_bytes = %llu,\n    .slot_bytes = %llu,\n",
             (unsigned long long)plan->row_bytes, (unsigned long long)plan->local_bytes,
             (unsigned long long)plan->slot_bytes);
    text_add(t, "    .weight_bytes = %llu,\n    .arena_lower_bound = %llu,\n",
             (unsigned long long)program_weight_bytes(p),
             (unsigned long long)plan->lower_bound * (unsigned long long)p->max_rows);
    text_add(t, "    .step_weight_bytes = %llu,\n", (unsigned long long)packed_bytes(p));
    text_add(t, "    .tokenizer_offset = %llu,\n    .tokenizer_bytes = %llu,\n",
             (unsigned long long)o->tokenizer_offset, (unsigned long long)o->tokenizer_bytes);
    if (o->template_bytes)
        text_add(t, "    .template_offset = %llu,\n    .template_bytes = %llu,\n",
                 (unsigned long long)o->template_offset, (unsigned long long)o->template_bytes);
    text_add(t, "    .sums_offset = %llu,\n", (unsigned long long)o->sums_offset);
    text_add(t, "    .variants = variants,\n    .n_variants = %d,\n    .weights = %s,\n", o->n_cpus,
             o->weights_mapped ? o->weights_symbol : "weights");
    text_add(t, "    .states = states,\n    .n_states = %s,\n",
             p->n_states ? "sizeof states / sizeof *states" : "0");
    text_add(t, "    .kernels = kernels,\n    .n_kernels = sizeof kernels / sizeof *kernels,\n");
    if (p->encoder) write_start(t, p->module);
    write_generation(t, p->module);
    if (o->draft) text_add(t, "    .draft = &%s,\n", o->draft);
    if (graph_row_states(p->graph) && is_decoder(p))
        write_count(t, "row_states", graph_row_states(p->graph));
    if (graph_row_vectors(p->graph) && is_decoder(p))
        write_count(t, "row_vectors", graph_row_vectors(p->graph));
    if (o->speech) text_add(t, "    .speech = &speech,\n");
    if (o->modes) text_add(t, "    .modes = &burin_modes_%s,\n", o->modes);
    text_add(t, "    .scratch_bytes = %llu,\n    .net = %s,\n};\n",
             (unsigned long long)plan->scratch_bytes, is_decoder(p) ? "NULL" : "&net");
}

static void write_weights(Text *t, const DispatchOptions *o) {
    const char *symbol = o->weights_symbol;
    if (o->weights_mapped) {
        text_add(t, "const unsigned char *%s(void);\n\n", symbol);
        return;
    }
    text_add(t,
             "extern const unsigned char %s[];\nstatic const unsigned char *weights(void) { return "
             "%s; }\n\n",
             symbol, symbol);
}

void emit_dispatch(const Program *p, const DispatchOptions *o, Text *t) {
    size_t begin = t->length, comment = c_comment(t);
    text_add(t, "%s: its descriptor. Emitted by burin.", p->module->name);
    c_comment_end(t, comment);
    text_add(t, "#include \"engine/cpu.h\"\n#include \"engine/program.h\"\n");
    if (p->module->eyes) text_add(t, "#include \"engine/picture.h\"\n");
    text_add(t, "%s\n", o->speech ? "#include \"sound/speech.h\"\n" : "");
    write_weights(t, o);
    write_variants(t, p, o);
    write_kernels(t, p);
    if (p->encoder) write_encoder(t, p->encoder);
    if (p->module->eyes) write_eyes(t, p->module->eyes);
    if (!is_decoder(p)) write_net(t, p);
    write_states(t, p);
    if (o->draft) text_add(t, "extern const burin_model %s;\n\n", o->draft);
    if (o->modes)
        text_add(t, "extern const struct burin_modes burin_modes_%s%s;\n\n", o->modes,
                 o->modes_apart ? " __attribute__((weak))" : "");
    if (o->speech) write_speech(t, p->module->speech);
    write_descriptor(t, p, o);
    wrap_lines(t, begin);
}
