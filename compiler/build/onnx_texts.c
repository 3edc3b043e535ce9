// ONNX encoders that read texts: the other files of the folder define the use of their numbers.
//
//   an output sentence_embedding                                     the embedding, as it is
//   modules.json, or --pooling                                       the states of the first output, pooled
//   config.json of a class for sequences, tokens or masked words     "logits" as labels, spans and words
//
// Batches of tensors, padded and masked, are `--as=net`.
#include <string.h>

#include "build/build.h"
#include "build/dims.h"
#include "frontend/card.h"
#include "frontend/sentence.h"
#include "passes/match.h"
#include "util/files.h"
#include "util/json.h"

// The folder that a file was found in, the one of a tokenizer that was found, or the file's own.
static const Checkpoint *folder_beside(const Build *b) {
    const Options *o = b->options;
    Checkpoint *c = ARENA_NEW(b->arena, Checkpoint);
    c->folder = o->folder ? o->folder
                          : path_folder(b->arena, o->tokenizer_beside ? o->tokenizer : o->model);
    json_t *config = json_beside(c->folder, "config.json"),
           *generation = json_beside(c->folder, "generation_config.json");
    c->config = config ? json_own(b->arena, config) : NULL;
    c->generation = generation ? json_own(b->arena, generation) : NULL;
    return c;
}

void take_onnx_config(const Build *b) {
    static const char *const lengths[] = {"max_position_embeddings", "n_positions", "n_ctx",
                                          "max_seq_len", "seq_length"};
    const Checkpoint *c = folder_beside(b);
    Module *m = b->module;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        json_int_t n = json_integer_value(json_object_get(c->config, lengths[i]));
        if (n > 0 && (!m->context || n < m->context)) m->context = n;
    }
    if (!c->config && !c->generation) return;
    SpecialTokens ids = checkpoint_special_tokens(c);
    m->bos = ids.bos, m->n_eos = ids.n_eos;
    memcpy(m->eos, ids.eos, (size_t)ids.n_eos * sizeof *ids.eos);
}

static Sentence sentence_of(const Build *b) {
    const Options *o = b->options;
    Sentence s = sentence_read(b->arena, b->side_folder->folder);
    if (o->pooling) s.pooling = pooling_parse(o->pooling), s.n_others = 0;
    return s;
}

static const Node *tokens_of(const Module *m) {
    const Graph *g = m->graphs[0];
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) return g->inputs[i];
    return NULL;
}

static bool is_truth(const Node *n) {
    while (n->op == OP_cast || n->op == OP_reshape) n = n->in[0];
    return n->type.dtype == DT_bool;
}

// Counted positions, as in RoBERTa after the padding's: returns the offset of a count of tokens.
// False for other indices.
static bool counts(const Node *n, double *added) {
    double number;
    for (*added = 0; n->op != OP_cum_sum;) {
        int other = n->n_in == 2 && n->in[1]->op == OP_constant ? 1 : 0;
        if (n->op == OP_add && match_scalar(n->in[other], &number))
            *added += number, n = n->in[!other];
        else if (n->op == OP_mul && (is_truth(n->in[0]) || is_truth(n->in[1])))
            n = n->in[is_truth(n->in[0])];
        else if (n->op == OP_cast || n->op == OP_reshape)
            n = n->in[0];
        else
            return false;
    }
    return is_truth(n->in[0]);
}

// The most tokens whose counted positions are rows of their table, or `tokens`.
static int64_t counted_positions(const Graph *g, int64_t tokens) {
    double added;
    EACH_NODE(n, g) {
        if (n->op != OP_gather || n->in[0]->op != OP_constant || !n->in[0]->value ||
            !counts(n->in[1], &added))
            continue;
        double most = (double)n->in[0]->value->dim[node_axis(n)] - 1 - added;
        if (most < (double)tokens) tokens = most > 1 ? (int64_t)most : 1;
    }
    return tokens;
}

// The minimum of the graph's positions and the limits of config.json, tokenizer_config.json and
// sentence-transformers.
static int64_t most_tokens(const Build *b, const Module *m, const Sentence *s) {
    json_t *tokenizer = json_beside(b->side_folder->folder, "tokenizer_config.json");
    const json_t *stated =
        tokenizer ? json_object_get(json_own(b->arena, tokenizer), "model_max_length") : NULL;
    int64_t bound = counted_positions(m->graphs[0], dim_upper(tokens_of(m)->type.dim[0]));
    const int64_t others[] = {
        s->max_tokens, json_integer_value(stated),
        json_integer_value(json_object_get(b->side_folder->config, "max_position_embeddings")),
        b->options->context};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] > 0 && others[i] < bound) bound = others[i];
    return bound;
}

// Some output is a row for each token.
static bool has_states(const Graph *g) {
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i]->type.rank == 2 && g->outputs[i]->type.dim[0]->kind == DIM_SYMBOL)
            return true;
    return false;
}

static bool has_sentence(Build *b, Module *m, const Sentence *s) {
    bool made = graph_output_index(m->graphs[0], "sentence_embedding") >= 0;
    if (b->options->pooling || (s->pooling && !made))
        sentence_add(m->graphs[0], s, arena_printf(b->arena, "%s/dsl", burin_home(b->arena)));
    else if (!made)
        return false;
    return b->embeds = true;
}

Module *load_onnx_texts(Build *b, const OnnxOptions *onnx, OnnxSaid *said, Text *why) {
    const Options *o = b->options;
    if (!o->tokenizer || wants_tensors(o)) return NULL;
    Module *m = onnx_load_lists(b->arena, o->model, onnx, said);
    if (!m || dim_is_const(tokens_of(m)->type.dim[0], NULL)) return NULL;
    b->side_folder = folder_beside(b);
    Sentence s = sentence_of(b);
    if (!has_sentence(b, m, &s) && !card_has_labels(b->side_folder, m->graphs[0])) {
        if (has_states(m->graphs[0]))
            text_add(why,
                     "text     --pooling=mean|cls|max makes embeddings of the states of tokens\n");
        return NULL;
    }
    m->context = most_tokens(b, m, &s);
    return m;
}
