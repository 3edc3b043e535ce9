// Eyes: a picture's rows in a prompt.
//
//   dsl/eyes/NAME.burin   graph picture(pixel_values) -> rows, and a record `placement`
//   before                graph decode(%tokens: i32[T])   %x = gather(%table, %tokens)
//   after                 graph picture(%pixel_values) -> ("rows"=...)
//                         graph decode(%tokens, %embeddings: f32[T, N], %embedded: i32[T])
//                           %x = where(%embedded, %embeddings, gather(%table, %tokens))
//
// The processor's settings are those of preprocessor_config.json or processor_config.json.
#include "frontend/eyes.h"

#include <string.h>

#include "engine/picture.h"
#include "frontend/card.h"
#include "frontend/dsl.h"
#include "ir/builder.h"
#include "tokenizer/tokenizer.h"
#include "util/json.h"

static const char *path_of_class(const Descriptions *all, const char *name) {
    for (int i = 0; i < all->n; i++)
        for (int j = 0; j < all->items[i].n_classes; j++)
            if (!strcmp(all->items[i].classes[j], name)) return all->items[i].path;
    return NULL;
}

const char *eyes_description(Arena *arena, const Checkpoint *text, const Checkpoint *rest) {
    Descriptions all = dsl_descriptions_in(arena, arena_printf(arena, "%s/eyes", text->library));
    const json_t *vision = json_object_get(rest->config, "vision_config");
    const char *encoder = json_string_value(json_object_get(vision, "model_type")), *path = NULL;
    if (encoder)
        path = path_of_class(&all, arena_printf(arena, "%s/%s", text->whole_class, encoder));
    return path ? path : path_of_class(&all, text->whole_class);
}

// --------------------------------------------------------------------------------------- the graph
static bool looks_up(const Node *n, const Node *tokens) {
    return n && n->op == OP_gather && n->in[1] == tokens && !node_axis(n);
}

// The lookup of the decoder's tokens; NULL: they are used in another way, too. `several`: there may
// be others after it.
static Node *token_lookup(const Graph *g, Node **tokens, bool several) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) *tokens = g->inputs[i];
    Node *user = *tokens && (several || node_only_user(*tokens)) ? (*tokens)->users[0] : NULL;
    for (int i = 0; user && i < (*tokens)->n_users; i++)
        if (!looks_up((*tokens)->users[i], *tokens)) return NULL;
    const Node *cast = user ? node_only_user(user) : NULL;
    if (cast && cast->op == OP_cast) user = user->users[0];
    return user && user->type.rank == 2 && user->type.dtype == DT_f32 ? user : NULL;
}

// `deep`: parts of a picture's rows that follow the one that takes the place of a token's.
static Node *take_embeddings(Graph *g, Node *lookup, const Node *tokens, int64_t deep,
                             bool sees_all) {
    const Dim *rows = tokens->type.dim[0], *one = dim_const(g, 1), *width = lookup->type.dim[1];
    Type wide = lookup->type;
    wide.dim[1] = dim_binary(g, DIM_MUL, dim_const(g, 1 + deep), width);
    Node *vectors = graph_add_input(g, "embeddings", wide, NO_LOC);
    Node *chosen = graph_add_input(g, "embedded", type_of(DT_i32, 1, &rows), NO_LOC);
    input_set_role(vectors, INPUT_EMBEDDINGS), input_set_role(chosen, INPUT_EMBEDDED);
    if (sees_all)
        input_set_role(graph_add_input(g, "last_seen", type_of(DT_i32, 1, &rows), NO_LOC),
                       INPUT_LAST_SEEN);
    Builder b = cursor_behind(lookup);
    Node *is_chosen =
        build_reshape(b, build_cast(b, chosen, DT_bool), 2, (const Dim *[]){rows, one});
    Node *first = build_slice(b, vectors, (Slice){1, dim_const(g, 0), width, 1});
    Node *hole =
        node_make(g, OP_where, lookup->loc, 3, (Node *[]){is_chosen, first, first}, b.before);
    node_replace(lookup, inferred(hole));
    node_set_input(hole, 2, lookup);
    return is_chosen;
}

// Other lookups of tokens: those of a picture's rows are of token `pad`.
//   before  gather(%table, %tokens)    after  gather(%table, where(%embedded, pad, %tokens))
static void pad_lookups(Node *tokens, const Node *first, Node *is_chosen, int64_t pad) {
    Builder b = cursor_behind(is_chosen);
    const Dim *rows = tokens->type.dim[0];
    Node *chosen = build_reshape(b, is_chosen, 1, &rows);
    Node *padded = build_where(b, chosen, build_scalar(b, DT_i32, (double)pad), tokens);
    for (int i = tokens->n_users - 1; i >= 0; i--)
        if (tokens->users[i] != first && looks_up(tokens->users[i], tokens))
            node_set_input(tokens->users[i], 1, padded);
}

// The tensor that a norm of this weight reads: the first of its shape above the weight's product.
static Node *normed_by(const Graph *g, const char *weight, const Type *type) {
    const Node *n = NULL;
    EACH_NODE(each, (Graph *)g)
        if (each->op == OP_constant && each->value && each->value->name &&
            !strcmp(each->value->name, weight))
            n = each;
    Node *at = n ? node_only_user(n) : NULL;
    while (at && !type_equal(&at->type, type)) at = node_only_user(at);
    for (int depth = 0; at && depth < 8; depth++) {
        at = at->n_in && type_equal(&at->in[0]->type, type) ? at->in[0] : NULL;
        if (at && at->n_users > 1) return at;
    }
    return NULL;
}

// Adds part i + 1 of a picture's rows to what layer i leaves.
//   before  layer 1's norm reads %x     after  it and the layer read add(%x, where(%embedded, slice(%embeddings), 0))
static bool add_deep(Graph *g, Node *is_chosen, const Type *type, int64_t i) {
    Node *vectors = NULL;
    for (int k = 0; k < g->n_inputs; k++)
        if (input_role(g->inputs[k]) == INPUT_EMBEDDINGS) vectors = g->inputs[k];
    const char *next = "model.layers.%d.input_layernorm.weight";
    Node *x = normed_by(g, arena_printf(g->arena, next, (int)(i + 1)), type);
    if (!x) x = normed_by(g, "model.norm.weight", type);  // after the last layer
    if (!x) return false;
    Builder b = cursor_behind(x);
    const Dim *width = type->dim[1];
    Node *part = build_slice(
        b, vectors, (Slice){1, dim_binary(g, DIM_MUL, dim_const(g, i + 1), width), width, 1});
    Node *added = build_where(b, is_chosen, part, build_scalar(b, DT_f32, 0));
    Node *sum = node_make(g, OP_add, x->loc, 2, (Node *[]){added, added}, b.before);
    node_replace(x, inferred(sum));
    node_set_input(sum, 0, x);
    return true;
}

// The position of a row, one for each of a head's pairs: that of the pair's axis.
static Node *position_by_pair(Builder b, Node *axes, const Setting *pairs) {
    Graph *g = b.graph;
    const Dim *n = dim_const(g, pairs->n_list), *one = dim_const(g, 1);
    Node *index = build_cast(b, axes, DT_f32), *position = NULL;
    for (int axis = 0; axis < 3; axis++) {
        Node *of_axis = build_slice(b, index, (Slice){1, dim_const(g, axis), one, 1});
        bool *mine = ARENA_ARRAY(g->arena, bool, pairs->n_list);
        for (int j = 0; j < pairs->n_list; j++) mine[j] = pairs->list[j] == axis;
        Tensor *t = ARENA_NEW(g->arena, Tensor);
        *t = (Tensor){.dtype = DT_bool, .rank = 1, .dim = {pairs->n_list}, .data = mine};
        t->bytes = (uint64_t)pairs->n_list;
        position = position ? build_where(b, build_constant(b, t), of_axis, position)
                            : build_expand(b, of_axis, 2, (const Dim *[]){axes->type.dim[0], n});
    }
    return position;
}

// Rotary embeddings of three axes.
//   before  mul(cast(iota {dims=[T, 1]}), %frequencies)    after  mul(where(.., %axes ..), %frequencies)
static bool take_axes(Graph *g, const Node *tokens, const Setting *pairs) {
    const Dim *rows = tokens->type.dim[0], *dims[] = {rows, dim_const(g, 3)};
    Node *axes = graph_add_input(g, "axes", type_of(DT_i32, 2, dims), NO_LOC);
    input_set_role(axes, INPUT_AXES);
    bool any = false;
    EACH_NODE(n, g) {
        const Node *counted = n->op == OP_mul ? n->in[0] : NULL;
        if (counted && counted->op == OP_cast) counted = counted->in[0];
        if (!counted || counted->op != OP_iota || n->type.rank != 2 || n->type.dim[0] != rows ||
            !dim_is(n->type.dim[1], pairs->n_list) || !dim_is(counted->type.dim[1], 1))
            continue;
        node_set_input(n, 0, position_by_pair(cursor(n), axes, pairs));
        any = true;
    }
    return any;
}

// ------------------------------------------------------------------------------------ the settings
static const Setting *setting_of(const Module *m, const char *name) {
    for (int i = 0; i < m->n_settings; i++)
        if (!strcmp(m->settings[i].name, name)) return &m->settings[i];
    return NULL;
}

static const char *text_of(const Module *m, const char *name) {
    const Setting *s = setting_of(m, name);
    return s ? s->text : NULL;
}

static int32_t number_of(const Module *m, const char *name) {
    const Setting *s = setting_of(m, name);
    return s ? (int32_t)s->number : 0;
}

static bool refuse(const char *what) {
    diag_warning(NO_LOC, "%s: the program takes no pictures", what);
    return false;
}

static int32_t edge_of(const json_t *settings, const char *name) {
    const json_t *edge = json_object_get(json_object_get(settings, name), "longest_edge");
    json_int_t pixels = json_integer_value(edge);
    return json_is_integer(edge) && pixels > 0 && pixels <= 16384 ? (int32_t)pixels : 0;
}

static bool read_grid(burin_eyes *e, Arena *arena, const json_t *settings) {
    e->longest = json_object_get(settings, "size") ? edge_of(settings, "size") : 4 * e->height;
    if (edge_of(settings, "max_image_size") != e->height || e->height != e->columns || !e->longest)
        return refuse(arena_printf(arena, "max_image_size or size is not the %d pixels of a tile",
                                   (int)e->height));
    if (json_is_false(json_object_get(settings, "do_image_splitting"))) e->cut = BURIN_CUT_NOT;
    if (e->cut == BURIN_CUT_NOT) {
        e->picture.resize = BURIN_EXACT_SIZE;
        e->picture.height = e->height, e->picture.width = e->columns;
    }
    return true;
}

// InternVL's processor cuts pictures whatever crop_to_patches is.
static bool read_ratio(burin_eyes *e, Arena *arena, const json_t *settings) {
    enum { MOST_TILES = 64 };
    const json_t *size = json_object_get(settings, "size");
    const json_t *least = json_object_get(settings, "min_patches"),
                 *most = json_object_get(settings, "max_patches");
    if (json_integer_value(json_object_get(size, "height")) != e->height ||
        json_integer_value(json_object_get(size, "width")) != e->columns)
        return refuse(arena_printf(arena, "size is not the %d x %d pixels of a tile",
                                   (int)e->columns, (int)e->height));
    e->least = json_is_integer(least) ? (int32_t)json_integer_value(least) : 1;
    e->most = json_is_integer(most) ? (int32_t)json_integer_value(most) : 12;
    return (e->least >= 1 && e->most >= e->least && e->most <= MOST_TILES) ||
           refuse("min_patches or max_patches is not from 1 to 64");
}

// The sizes of grids; the model knows them, too. A tile is crop_size, or size.
static bool read_anyres(burin_eyes *e, Arena *arena, const json_t *settings, const json_t *config) {
    enum { MOST_SIZES = 64, MOST_TILES_OF_SIZE = 36 };
    static const char usual[] = "[[336, 672], [672, 336], [672, 672], [1008, 336], [336, 1008]]";
    const json_t *list = json_object_get(settings, "image_grid_pinpoints");
    const json_t *of_model = json_object_get(config, "image_grid_pinpoints");
    const json_t *size = json_object_get(settings, "crop_size"), *pair;
    const char *sizes = "";
    size_t i;
    if (!list) list = json_own(arena, json_loads(usual, 0, NULL));
    if (json_is_array(of_model) && !json_equal(list, of_model))
        return refuse("image_grid_pinpoints is not config.json's");
    if (!json_is_object(size)) size = json_object_get(settings, "size");
    const json_t *height = json_object_get(size, "height");
    if (!height) height = json_object_get(size, "shortest_edge");
    if (e->height != e->columns || json_integer_value(height) != e->height)
        return refuse(arena_printf(arena, "crop_size or size is not the %d pixels of a tile",
                                   (int)e->height));
    json_array_foreach((json_t *)(uintptr_t)list, i, pair) {
        json_int_t h = json_integer_value(json_array_get(pair, 0)),
                   w = json_integer_value(json_array_get(pair, 1));
        if (h < 1 || w < 1 || h % e->height || w % e->height || i >= MOST_SIZES ||
            h / e->height > MOST_TILES_OF_SIZE || w / e->height > MOST_TILES_OF_SIZE)
            return refuse("image_grid_pinpoints has a size that is not whole tiles");
        sizes = arena_printf(arena, "%s%s%d %d", sizes, *sizes ? " " : "", (int)h, (int)w);
    }
    e->sizes = sizes;
    return *sizes || refuse("image_grid_pinpoints has no sizes");
}

static int32_t pixels_of(const json_t *settings, const char *old, const char *edge, int32_t usual) {
    const json_t *size = json_object_get(settings, "size"), *v = json_object_get(settings, old);
    if (!json_is_integer(v)) v = json_object_get(size, old);
    if (!json_is_integer(v)) v = json_object_get(size, edge);
    json_int_t pixels = json_integer_value(v);
    return json_is_integer(v) ? pixels > 0 && pixels <= INT32_MAX ? (int32_t)pixels : 0 : usual;
}

static bool is_size(const json_t *settings, const char *name, int32_t expected, int32_t usual) {
    const json_t *v = json_object_get(settings, name);
    return (json_is_integer(v) ? json_integer_value(v) : usual) == expected;
}

// Gemma 4's: rows of a picture at most.
static bool read_fill(burin_eyes *e, const json_t *settings) {
    enum { USUAL_ROWS = 280, MOST_ROWS = 1120 };
    const json_t *v = json_object_get(settings, "max_soft_tokens");
    json_int_t rows = v ? json_integer_value(v) : USUAL_ROWS;
    if (rows < 1 || rows > MOST_ROWS) return refuse("max_soft_tokens is not from 1 to 1120");
    e->most = (int32_t)rows * e->patch * e->patch * e->merge * e->merge;
    return (is_size(settings, "patch_size", e->patch, 16) &&
            is_size(settings, "pooling_kernel_size", e->merge, 3)) ||
           refuse("patch_size or pooling_kernel_size is not config.json's");
}

// Qwen2-VL's: pixels of the whole picture.
// `frames`: pictures that are counted as one.
static bool read_free(burin_eyes *e, const json_t *settings, int32_t frames) {
    if (e->longest) {
        e->longest = json_object_get(settings, "size") ? edge_of(settings, "size") : 1024;
        return e->longest || refuse("size is no longest edge");
    }
    if (e->fill) return read_fill(e, settings);
    e->least = pixels_of(settings, "min_pixels", "shortest_edge", 56 * 56);
    e->most = pixels_of(settings, "max_pixels", "longest_edge", 28 * 28 * 1280);
    if (frames > 1) e->least /= frames, e->most /= frames;
    if (!e->least || e->most < e->least)
        return refuse("min_pixels or max_pixels is no number of pixels");
    return (is_size(settings, "patch_size", e->patch, 14) &&
            is_size(settings, "merge_size", e->merge, 2)) ||
           refuse("patch_size or merge_size is not config.json's");
}

// The settings of an mmproj file count where its folder has none.
static bool read_processor(burin_eyes *e, Arena *arena, const Checkpoint *rest, int32_t frames) {
    json_t *settings = processor_of_folder(rest->folder);
    if (!settings) settings = json_incref(json_object_get(rest->config, "processor"));
    if (!settings) return refuse("there is no processor_config.json");
    bool read = picture_settings_read(&e->picture, settings, e->cut != BURIN_CUT_NOT, e->height,
                                      e->columns);
    if (read && e->cut == BURIN_CUT_GRID) read = read_grid(e, arena, settings);
    if (read && e->cut == BURIN_CUT_RATIO) read = read_ratio(e, arena, settings);
    if (read && e->cut == BURIN_CUT_ANYRES) read = read_anyres(e, arena, settings, rest->config);
    if (read && e->cut == BURIN_CUT_FREE) read = read_free(e, settings, frames);
    json_decref(settings);
    return read;
}

// The sliding window of the text model; 0: none.
static int32_t window_of(const Checkpoint *text) {
    const json_t *window = json_object_get(text->config, "sliding_window");
    json_int_t rows = json_integer_value(window);
    return json_is_integer(window) && rows > 0 && rows < INT32_MAX ? (int32_t)rows : 0;
}

static bool read_placement(burin_eyes *e, const Module *m, const Tokenizer *t) {
    static const char *const cuts[] = {"none", "grid", "ratio", "free", "anyres"};
    const char *cut = text_of(m, "cut");
    const Setting *sees_all = setting_of(m, "sees_all");
    e->sees_all = sees_all ? (int32_t)sees_all->number : 0;
    e->axes = setting_of(m, "axes") != NULL;
    e->enlarge = number_of(m, "enlarge");
    e->fill = number_of(m, "fill");
    e->patch = number_of(m, "patch"), e->merge = number_of(m, "merge");
    e->window_rows = number_of(m, "window_rows"), e->longest = number_of(m, "longest");
#define READ_TEXT(name) e->name = text_of(m, #name);
    BURIN_EYES_TEXTS(READ_TEXT)
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (cut && !strcmp(cuts[i], cut)) e->cut = (int32_t)i;
    if (!e->mark || !e->row || !e->alone)
        return refuse("the description of eyes has no mark, row or alone");
    e->token = burin_token_find(t->blob, e->row, strlen(e->row));
    return e->token >= 0 || refuse("the tokenizer has no token for the rows of a picture");
}

// Pictures of free sizes: a row for each group of patches.
static bool read_free_sizes(burin_eyes *e, const Graph *g) {
    int64_t width;
    const Type *out = &g->outputs[0]->type;
    if (out->rank != 2 || !dim_is_const(out->dim[1], &width) || e->patch < 1 || e->merge < 1)
        return refuse("the description of eyes has another graph than from patches to rows");
    e->width = (int32_t)width, e->tile_rows = 1;
    return true;
}

static bool read_sizes(burin_eyes *e, const Graph *g) {
    if (e->cut == BURIN_CUT_FREE) return read_free_sizes(e, g);
    int64_t height, columns, rows, width;
    const Type *pixels = &g->inputs[0]->type, *out = &g->outputs[0]->type;
    if (g->n_inputs != 1 || pixels->rank != 3 || out->rank != 2 ||
        !dim_is_const(pixels->dim[1], &height) || !dim_is_const(pixels->dim[2], &columns) ||
        !dim_is_const(out->dim[0], &rows) || !dim_is_const(out->dim[1], &width))
        return refuse("the description of eyes has another graph than from pixels to rows");
    e->height = (int32_t)height, e->columns = (int32_t)columns;
    e->tile_rows = (int32_t)rows, e->width = (int32_t)width;
    return true;
}

// ------------------------------------------------------------------------------------------ joining
bool eyes_add(Module *m, const char *description, const Checkpoint *text, const Checkpoint *rest,
              const Tokenizer *t) {
    DslOptions options = {.library = text->library, .checkpoint = (Checkpoint *)rest};
    const Module *seen = dsl_load(m->arena, description, &options);
    const Setting *pad = setting_of(seen, "pad");
    const char *refused = text_of(seen, "refused");
    if (refused) return refuse(refused);
    Node *tokens = NULL, *lookup = token_lookup(m->graphs[0], &tokens, pad != NULL);
    if (!lookup) return refuse("the decoder uses its tokens in more than one way");
    burin_eyes *e = ARENA_NEW(m->arena, burin_eyes);
    *e = (burin_eyes){0};
    if (!read_placement(e, seen, t) || !read_sizes(e, seen->graphs[0]) ||
        !read_processor(e, m->arena, rest, number_of(seen, "frames")))
        return false;
    int64_t width;
    int64_t deep = number_of(seen, "deep");
    if (!dim_is_const(lookup->type.dim[1], &width) || width * (1 + deep) != e->width)
        return refuse("the description of eyes has rows of another width than tokens");
    const Type type = lookup->type;
    Node *is_chosen = take_embeddings(m->graphs[0], lookup, tokens, deep, e->sees_all);
    const Node *first = lookup->op == OP_cast ? lookup->in[0] : lookup;
    if (pad) pad_lookups(tokens, first, is_chosen, (int64_t)pad->number);
    for (int64_t i = 0; i < deep; i++)
        if (!add_deep(m->graphs[0], is_chosen, &type, i))
            diag_fatal(NO_LOC, "the text model has no layer that takes pictures' rows");
    if (e->axes && !take_axes(m->graphs[0], tokens, setting_of(seen, "axes")))
        diag_fatal(NO_LOC, "the text model has no rotary embedding that takes axes");
    e->window = e->sees_all ? window_of(text) : 0;
    Graph **graphs = ARENA_ARRAY(m->arena, Graph *, 2);
    graphs[0] = m->graphs[0], graphs[1] = seen->graphs[0];
    m->graphs = graphs, m->n_graphs = 2, m->eyes = e;
    return true;
}
