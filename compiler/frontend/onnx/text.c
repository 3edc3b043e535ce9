// An export of a decoder as one text: the role of each input, and its value for a whole text.
//
//   input_ids [batch, seq]                          %tokens, the one input; batch is 1, seq is T
//   attention_mask [batch, past + seq]              ones
//   position_ids [batch, seq]                       0, 1, 2 ...
//   token_type_ids [batch, seq]                     zeros
//   past_key_values.0.key [batch, heads, past, d]   empty: past is 0, so a concatenation to it is the new part
//   use_cache_branch [1]                            false: of a merged decoder the branch without a past
//
// An encoder of texts is imported the same way; its tokens and types stay inputs under their names,
// as lists [seq], and so do its results, without the axis of the batch.
//
// So a file with a cache and one without become the same graph, and `incremental` derives the cache
// of the program from it.
#include <string.h>

#include "frontend/onnx/scope.h"

typedef struct OnnxText {
    const BurinOnnx__ValueInfo *tokens;  // NULL: an encoder of something else
    Node *input;                         // the tokens
    // the encoder: other inputs stay, its first output is the encoder's result
    bool encodes;
    bool lists;                          // an encoder of texts
    const BurinOnnx__ValueInfo *memory;  // a decoder's input: the encoder's result
    const char *memory_name;
    const Dim *memory_length;  // as the encoder has it, of its graph
    bool by_rows;              // values are quantized by the range of each token
    bool in_floats;            // products of two values that are quantized as they come stay floats
} OnnxText;

void onnx_text_by_rows(const OnnxText *t) { ((OnnxText *)t)->by_rows = true; }
void onnx_text_in_floats(const OnnxText *t) { ((OnnxText *)t)->in_floats = true; }

static InputRole role_of(const OnnxOptions *o, const char *name) {
    for (int i = 0; i < o->n_binds; i++)
        if (!strcmp(o->binds[i].name, name)) return o->binds[i].role;
    return role_of_exported(name);
}

// -------------------------------------------------------------------------------------- the values
static bool is_one(const Dim *d) { return dim_is_const(d, NULL) && dim_upper(d) == 1; }

static Node *as_shape(Builder b, Node *x, const Type *type) {
    return build_reshape(b, x, type->rank, type->dim);
}

static Node *filled(Builder b, double value, const Type *type) {
    return build_filled(b, type->dtype, value, type->rank, type->dim);
}

// For a mask, positions or types: ones except for the last axis, which is the text.
static Type along_text(Graph *g, Type type, const Dim *length) {
    for (int i = 0; i < type.rank; i++)
        if (i + 1 == type.rank || !dim_is_const(type.dim[i], NULL))
            type.dim[i] = i + 1 == type.rank ? length : dim_const(g, 1);
    return type;
}

static Node *counted(Builder b, const Type *type) {
    return build_cast(b, build_iota(b, type->rank, type->dim, type->rank - 1), type->dtype);
}

// A list as long as the text, in the shape [1, seq] that the file has.
static Node *list_input(OnnxImport *m, const char *name, InputRole role, const Type *type,
                        Node **list, Loc loc) {
    *list = graph_add_input(m->graph, name, type_of(DT_i32, 1, &type->dim[type->rank - 1]), loc);
    input_set_role(*list, role);
    Builder b = cursor_at_end(m->graph, loc);
    return as_shape(b, build_cast(b, *list, type->dtype), type);
}

static Node *token_input(OnnxImport *m, const char *name, Type type, Loc loc) {
    OnnxText *t = (OnnxText *)m->text;
    return list_input(m, t->lists ? name : "tokens", INPUT_TOKENS, &type, &t->input, loc);
}

// [1, length, width] of one sequence as [length, width].
static Node *one_of_batch(OnnxImport *m, const char *name, Type type, Loc loc) {
    Type one = type;
    bool batch = type.rank > 1 && is_one(type.dim[0]);
    if (batch) {
        one.rank--;
        for (int i = 0; i < one.rank; i++) one.dim[i] = type.dim[i + 1];
    }
    Node *n = graph_add_input(m->graph, name, one, loc);
    return batch ? as_shape(cursor_at_end(m->graph, loc), n, &type) : n;
}

void onnx_set_role(const OnnxOptions *o, Node *input) {
    InputRole role = role_of(o, input->name);
    if (dtype_is_float(input->type.dtype)) return;
    if (role == INPUT_MASK || is_attention_mask(input->name)) input_set_role(input, INPUT_MASK);
    if (role == INPUT_TYPES) input_set_role(input, INPUT_TYPES);
}

Node *onnx_text_input(OnnxImport *m, const BurinOnnx__ValueInfo *info, Type type, Loc loc) {
    const OnnxText *t = m->text;
    Graph *g = m->graph;
    Builder b = cursor_at_end(g, loc);
    if (info == t->tokens) return token_input(m, info->name, type, loc);
    if (info == t->memory) return one_of_batch(m, t->memory_name, type, loc);
    Type text = type;
    if (t->tokens && !is_encoders_input(info->name))
        text = along_text(g, type, onnx_input_type(m, t->tokens).dim[1]);
    switch (role_of(m->options, info->name)) {
        case INPUT_TENSOR:
            return t->encodes ? one_of_batch(m, info->name, type, loc) : filled(b, 1, &text);
        case INPUT_MASK:
            return filled(b, 1, &text);
        case INPUT_POSITIONS:
            return counted(b, &text);
        case INPUT_CACHE:
            return filled(b, 0, &type);
        case INPUT_TYPES:
            return t->lists ? list_input(m, info->name, INPUT_TYPES, &text, &(Node *){NULL}, loc)
                            : filled(b, 0, &text);
        default:
            return filled(b, 0, &text);
    }
}

// ----------------------------------------------------------------------------------- is it a text?
static size_t rank_of(const BurinOnnx__ValueInfo *info) {
    const BurinOnnx__ValueType__TensorOf *t = info->type ? info->type->tensor_type : NULL;
    return t && t->shape ? t->shape->n_dim : 0;
}

static bool takes_text(const BurinOnnx__ValueInfo *info, Arena *arena) {
    const BurinOnnx__Shape__Dimension *batch =
        rank_of(info) == 2 ? info->type->tensor_type->shape->dim[0] : NULL;
    return batch && (!batch->has_dim_value || batch->dim_value == 1) &&
           onnx_dim_name(arena, info, 1);
}

static bool is_hidden_states(const BurinOnnx__ValueInfo *info) {
    return is_encoders_input(info->name) && rank_of(info) == 3;
}

// A decoder's inputs from its encoder: the encoder's result, and its mask.
static bool takes_memory(OnnxText *t, const BurinOnnx__ValueInfo *info) {
    if (!t->memory_name || !is_encoders_input(info->name)) return false;
    if (is_hidden_states(info) && !t->memory) t->memory = info;
    return info == t->memory || (is_mask_input(info->name) && rank_of(info) == 2);
}

// Returns true if every input has a role, and one of them is the tokens: [1 or batch, length].
static bool find_tokens(OnnxImport *m, OnnxText *t) {
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    for (size_t i = 0; i < g->n_input; i++) {
        const BurinOnnx__ValueInfo *info = g->input[i];
        if (!info->name || onnx_is_initializer(m->model, info->name)) continue;
        InputRole role = role_of(m->options, info->name);
        if (takes_memory(t, info)) continue;
        if ((role == INPUT_TENSOR && !t->encodes) || !rank_of(info) ||
            (role == INPUT_TOKENS && t->tokens))
            return false;
        if (role == INPUT_TOKENS) t->tokens = info;
    }
    return t->tokens ? takes_text(t->tokens, m->model->arena) : t->encodes;
}

// Fixed dimensions: one text, nothing before it.
static void fix_dims(OnnxImport *m, OnnxText *t, OnnxOptions *o) {
    enum { MOST_AXES = 8 };
    Arena *arena = m->model->arena;
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    const BurinOnnx__ValueInfo *first = t->tokens ? t->tokens : g->input[0];
    const char *batch = onnx_dim_name(arena, first, 0),
               *length = t->tokens ? onnx_dim_name(arena, first, 1) : "";
    const char *memory = t->memory ? onnx_dim_name(arena, t->memory, 1) : NULL;
    OnnxDim *dims = ARENA_ARRAY(arena, OnnxDim, 2 + (size_t)o->n_dims + g->n_input * MOST_AXES);
    int n = 0;
    if (batch) dims[n++] = (OnnxDim){.name = batch, .lower = 1, .upper = 1};
    if (memory)
        dims[n++] = (OnnxDim){.name = memory,
                              .lower = dim_lower(t->memory_length),
                              .upper = dim_upper(t->memory_length)};
    for (size_t i = 0; i < g->n_input; i++) {
        const BurinOnnx__ValueInfo *info = g->input[i];
        if (!info->name || onnx_is_initializer(m->model, info->name) ||
            role_of(o, info->name) != INPUT_CACHE)
            continue;
        for (size_t axis = 0; axis < rank_of(info) && axis < MOST_AXES; axis++) {
            const char *name = onnx_dim_name(arena, info, axis);
            bool past = name && strcmp(name, length) && !(batch && !strcmp(name, batch)) &&
                        !(memory && !strcmp(name, memory));
            if (past)
                dims[n++] = (OnnxDim){.name = name, .lower = axis ? 0 : 1, .upper = axis ? 0 : 1};
        }
    }
    for (int i = 0; i < o->n_dims; i++) dims[n++] = o->dims[i];
    o->dims = dims, o->n_dims = n;
}

// -------------------------------------------------------------------------------------- the logits
static int64_t embedded(const Node *tokens) {
    int64_t rows = 0;
    for (int i = 0; i < tokens->n_users; i++) {
        const Node *n = tokens->users[i];
        if (n->op == OP_gather && n->in[1] == tokens && n->in[0]->type.rank == 2)
            dim_is_const(n->in[0]->type.dim[0], &rows);
        if (n->op == OP_cast || n->op == OP_reshape) rows = embedded(n);
        if (rows) break;
    }
    return rows;
}

// By name, or as wide as the table of embeddings.
static Node *find_logits(OnnxImport *m, const OnnxText *t) {
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    int64_t rows = embedded(t->input), width;
    for (size_t i = 0; i < g->n_output; i++) {
        Node *n = onnx_output_node(m, g->output[i]);
        int rank = n->type.rank;
        if (rank < 2 || !dtype_is_float(n->type.dtype) ||
            !dim_is_const(n->type.dim[rank - 1], &width))
            continue;
        if (!strcmp(g->output[i]->name, "logits") || width == rows) return n;
    }
    return NULL;
}

// [1, T, vocabulary] or, of the last row alone, [1, vocabulary] as rows.
static Node *as_rows(OnnxImport *m, Node *logits) {
    const Type *t = &logits->type;
    Type rows = {.rank = 2, .dim = {dim_const(m->graph, 1), t->dim[t->rank - 1]}};
    for (int i = 0; i + 1 < t->rank; i++)
        rows.dim[0] = dim_binary(m->graph, DIM_MUL, rows.dim[0], t->dim[i]);
    Builder b = cursor_at_end(m->graph, logits->loc);
    Node *n = as_shape(b, logits, &rows);
    node_set_name(n, "logits");
    return build_cast(b, n, DT_f32);
}

static void describe(const OnnxImport *m, Text *binding) {
    static const char *const values[] = {
        [INPUT_TENSOR] = "as it is", [INPUT_TOKENS] = "the text",
        [INPUT_MASK] = "ones",       [INPUT_POSITIONS] = "0, 1, 2 ...",
        [INPUT_TYPES] = "zeros",     [INPUT_CACHE] = "the program's own"};
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    for (size_t i = 0; i < g->n_input; i++) {
        InputRole role = role_of(m->options, g->input[i]->name);
        if (onnx_is_initializer(m->model, g->input[i]->name)) continue;
        if (g->input[i] == m->text->memory)
            text_spell(binding, "input    %s: the encoder's %s\n", g->input[i]->name,
                       m->text->memory_name);
        else if (role == INPUT_TENSOR && is_mask_input(g->input[i]->name))
            text_spell(binding, "input    %s: mask (ones)\n", g->input[i]->name);
        else
            text_spell(binding, "input    %s: %s (%s)\n", g->input[i]->name,
                       role == INPUT_TENSOR ? "other" : input_role_name(role),
                       role == INPUT_TYPES && m->text->lists ? "zeros, or those of a pair of texts"
                                                             : values[role]);
    }
    if (m->text->by_rows)
        text_add(binding,
                 "bytes    DynamicQuantizeLinear: each token by its own range, as where it is read "
                 "alone\n");
    if (m->text->in_floats)
        text_add(binding, "bytes    products of two computed values, as in attention: in f32\n");
}

// ----------------------------------------------------------------------- encoder and decoder files
typedef enum { ENCODER_FILE, DECODER_FILE, WITH_PAST_FILE } FileKind;

static FileKind kind_of_file(const OnnxModel *model) {
    const BurinOnnx__GraphBody *g = model->proto->graph;
    bool reads = false, continues = false, merged = false;
    for (size_t i = 0; i < g->n_input; i++) {
        const BurinOnnx__ValueInfo *info = g->input[i];
        if (!info->name || onnx_is_initializer(model, info->name)) continue;
        reads |= is_hidden_states(info);
        continues |= is_encoders_cache(info->name);
        merged |= is_cache_branch(info->name);
    }
    return continues && !merged ? WITH_PAST_FILE : reads ? DECODER_FILE : ENCODER_FILE;
}

// The values of a file that reads a text, in a graph of this name. NULL: it has no tokens.
static OnnxImport *import_text(Arena *arena, const char *path, const char *graph,
                               const OnnxOptions *options, OnnxText *text, OnnxSaid *said) {
    OnnxImport *m = ARENA_NEW(arena, OnnxImport);
    OnnxOptions *own = ARENA_NEW(arena, OnnxOptions);
    *own = *options;
    *m = (OnnxImport){.model = onnx_open(arena, path),
                      .options = own,
                      .graph = graph_new_owned(arena, graph),
                      .text = text,
                      .said = said};
    if (!find_tokens(m, text)) return NULL;
    fix_dims(m, text, own);
    onnx_import_values(m);
    return m;
}

static Module *load_encoder(Arena *arena, const char *path, const OnnxOptions *options,
                            OnnxText *decoder, OnnxSaid *said) {
    OnnxText text = {.encodes = true};
    OnnxImport *m = import_text(arena, path, "encode", options, &text, said);
    if (!m) return NULL;
    const BurinOnnx__ValueInfo *output = m->model->proto->graph->output[0];
    Node *n = onnx_output_node(m, output);
    if (n->type.rank != 3) return NULL;
    n = build_reshape(cursor_at_end(m->graph, n->loc), n, 2, &n->type.dim[1]);
    graph_add_output(m->graph, n, output->name);
    decoder->memory_name = output->name;
    decoder->memory_length = n->type.dim[0];
    if (said) describe(m, &said->binding);
    return onnx_module(m, arena, path);
}

static Module *load_decoder(Arena *arena, const char *path, const OnnxOptions *options,
                            OnnxText *text, OnnxSaid *said) {
    OnnxImport *m = import_text(arena, path, "decode", options, text, said);
    if (!m) return NULL;
    Node *logits = text->input ? find_logits(m, text) : NULL;
    if (!logits) return NULL;
    graph_add_output(m->graph, as_rows(m, logits), "logits");
    if (said) describe(m, &said->binding);
    return onnx_module(m, arena, path);
}

Module *onnx_load_text(Arena *arena, const char *path, const OnnxOptions *options, OnnxSaid *said) {
    OnnxText text = {0};
    return load_decoder(arena, path, options, &text, said);
}

// [1, T, width], [1, width] or [1, T] as [T, width], [width] or [T].
static bool add_list(OnnxImport *m, const BurinOnnx__ValueInfo *output) {
    Node *n = onnx_output_node(m, output);
    if (n->type.rank < 2 || !dtype_is_float(n->type.dtype) || !is_one(n->type.dim[0])) return false;
    Builder b = cursor_at_end(m->graph, n->loc);
    n = build_cast(b, build_reshape(b, n, n->type.rank - 1, &n->type.dim[1]), DT_f32);
    graph_add_output(m->graph, n, output->name);
    return true;
}

Module *onnx_load_lists(Arena *arena, const char *path, const OnnxOptions *options,
                        OnnxSaid *said) {
    OnnxText text = {.lists = true};
    OnnxImport *m = import_text(arena, path, "encode", options, &text, said);
    if (!m) return NULL;
    const BurinOnnx__GraphBody *g = m->model->proto->graph;
    for (size_t i = 0; i < g->n_output; i++)
        if (!text.input || !add_list(m, g->output[i])) return NULL;
    describe(m, &said->binding);
    return onnx_module(m, arena, path);
}

// Each file by its inputs: hidden states of an encoder are read by a decoder, keys and values of an
// encoder by a decoder with past.
Module *onnx_load_files(Arena *arena, const char *const *paths, int n, const OnnxOptions *options,
                        OnnxSaid *said) {
    const char *encoder = NULL, *decoder = NULL, *with_past = NULL;
    for (int i = 0; i < n; i++) {
        const OnnxModel *model = onnx_open(arena, paths[i]);
        FileKind kind = kind_of_file(model);
        if (kind == WITH_PAST_FILE) {
            with_past = paths[i];
            if (said)
                text_spell(&said->binding,
                           "file     %s: not needed, the cache is derived from the decoder\n",
                           paths[i]);
        } else {
            const char **which = kind == DECODER_FILE ? &decoder : &encoder;
            if (*which)
                file_fatal(model->file, "is a second %s\nhint: give one encoder and one decoder",
                           which == &decoder ? "decoder" : "encoder");
            *which = paths[i];
        }
    }
    if (encoder && !decoder && with_past)
        diag_fatal(NO_LOC,
                   "%s takes the encoder's keys and values as it finds them: the weights that make "
                   "them are in the decoder"
                   " without a past\nhint: give %s decoder_model.onnx",
                   with_past, encoder);
    if (!encoder || !decoder)
        diag_fatal(NO_LOC,
                   "the files are no encoder and decoder: none %s\nhint: give encoder_model.onnx "
                   "decoder_model.onnx",
                   encoder ? "reads encoder_hidden_states" : "is an encoder");
    OnnxText text = {0};
    Module *m = load_encoder(arena, encoder, options, &text, said);
    Module *d = m ? load_decoder(arena, decoder, options, &text, said) : NULL;
    if (!d)
        diag_fatal(NO_LOC,
                   "%s is no %s that a program can be made of\nhint: its inputs must be tokens, "
                   "masks, positions%s",
                   m ? decoder : encoder, m ? "decoder" : "encoder",
                   m ? " and encoder_hidden_states, its output logits" : "");
    Graph **graphs = ARENA_ARRAY(arena, Graph *, 2);
    graphs[0] = m->graphs[0], graphs[1] = d->graphs[0];
    m->graphs = graphs, m->n_graphs = 2;
    return m;
}
