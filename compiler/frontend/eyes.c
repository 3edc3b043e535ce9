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

const char *eyes_description(Arena *arena, const char *library, const Checkpoint *text) {
    Descriptions all = dsl_descriptions_in(arena, arena_printf(arena, "%s/eyes", library));
    for (int i = 0; text->whole_class && i < all.n; i++)
        for (int j = 0; j < all.items[i].n_classes; j++)
            if (!strcmp(all.items[i].classes[j], text->whole_class)) return all.items[i].path;
    return NULL;
}

// --------------------------------------------------------------------------------------- the graph
// The lookup of the decoder's tokens; NULL: they are used in another way, too.
static Node *token_lookup(const Graph *g, Node **tokens) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) *tokens = g->inputs[i];
    Node *user = *tokens ? node_only_user(*tokens) : NULL;
    bool looks_up = user && user->op == OP_gather && user->in[1] == *tokens && !node_axis(user);
    const Node *cast = looks_up ? node_only_user(user) : NULL;
    if (cast && cast->op == OP_cast) user = user->users[0];
    return looks_up && user->type.rank == 2 && user->type.dtype == DT_f32 ? user : NULL;
}

static void take_embeddings(Graph *g, Node *lookup, const Node *tokens, bool sees_all) {
    const Dim *rows = tokens->type.dim[0], *one = dim_const(g, 1);
    Node *vectors = graph_add_input(g, "embeddings", lookup->type, NO_LOC);
    Node *chosen = graph_add_input(g, "embedded", type_of(DT_i32, 1, &rows), NO_LOC);
    input_set_role(vectors, INPUT_EMBEDDINGS), input_set_role(chosen, INPUT_EMBEDDED);
    if (sees_all)
        input_set_role(graph_add_input(g, "last_seen", type_of(DT_i32, 1, &rows), NO_LOC),
                       INPUT_LAST_SEEN);
    Builder b = cursor_behind(lookup);
    Node *is_chosen =
        build_reshape(b, build_cast(b, chosen, DT_bool), 2, (const Dim *[]){rows, one});
    Node *hole =
        node_make(g, OP_where, lookup->loc, 3, (Node *[]){is_chosen, vectors, vectors}, b.before);
    node_replace(lookup, inferred(hole));
    node_set_input(hole, 2, lookup);
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

static bool refuse(const char *what) {
    diag_warning(NO_LOC, "%s: the program takes no pictures", what);
    return false;
}

// The file of the processor's settings: since transformers 5 it is part of another.
static json_t *processor_settings(const char *folder) {
    json_t *all = json_beside(folder, "processor_config.json");
    json_t *part = json_incref(json_object_get(all, "image_processor"));
    json_decref(all);
    return part ? part : json_beside(folder, "preprocessor_config.json");
}

static int32_t edge_of(const json_t *settings, const char *name) {
    const json_t *edge = json_object_get(json_object_get(settings, name), "longest_edge");
    json_int_t pixels = json_integer_value(edge);
    return json_is_integer(edge) && pixels > 0 && pixels <= 16384 ? (int32_t)pixels : 0;
}

static bool read_grid(burin_eyes *e, Arena *arena, const json_t *settings) {
    e->longest = edge_of(settings, "size");
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

static bool read_processor(burin_eyes *e, Arena *arena, const char *folder) {
    json_t *settings = processor_settings(folder);
    if (!settings) return refuse("there is no processor_config.json");
    bool read = picture_settings_read(&e->picture, settings, e->cut != BURIN_CUT_NOT, e->height,
                                      e->columns);
    if (read && e->cut == BURIN_CUT_GRID) read = read_grid(e, arena, settings);
    if (read && e->cut == BURIN_CUT_RATIO) read = read_ratio(e, arena, settings);
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
    static const char *const cuts[] = {"none", "grid", "ratio"};
    const char *cut = text_of(m, "cut");
    const Setting *sees_all = setting_of(m, "sees_all");
    e->sees_all = sees_all && sees_all->number;
#define READ_TEXT(name) e->name = text_of(m, #name);
    BURIN_EYES_TEXTS(READ_TEXT)
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (cut && !strcmp(cuts[i], cut)) e->cut = (int32_t)i;
    if (!e->mark || !e->row || !e->alone)
        return refuse("the description of eyes has no mark, row or alone");
    e->token = burin_token_find(t->blob, e->row, strlen(e->row));
    return e->token >= 0 || refuse("the tokenizer has no token for the rows of a picture");
}

static bool read_sizes(burin_eyes *e, const Graph *g) {
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
bool eyes_add(Module *m, const char *description, const Checkpoint *text, const Tokenizer *t) {
    Node *tokens = NULL, *lookup = token_lookup(m->graphs[0], &tokens);
    if (!lookup) return refuse("the decoder uses its tokens in more than one way");
    DslOptions options = {.library = text->library,
                          .checkpoint = checkpoint_open_rest(m->arena, text->path, text->library)};
    const Module *seen = dsl_load(m->arena, description, &options);
    burin_eyes *e = ARENA_NEW(m->arena, burin_eyes);
    *e = (burin_eyes){0};
    if (!read_sizes(e, seen->graphs[0]) || !read_placement(e, seen, t) ||
        !read_processor(e, m->arena, text->folder))
        return false;
    int64_t width;
    if (!dim_is_const(lookup->type.dim[1], &width) || width != e->width)
        return refuse("the description of eyes has rows of another width than tokens");
    take_embeddings(m->graphs[0], lookup, tokens, e->sees_all);
    e->window = e->sees_all ? window_of(text) : 0;
    Graph **graphs = ARENA_ARRAY(m->arena, Graph *, 2);
    graphs[0] = m->graphs[0], graphs[1] = seen->graphs[0];
    m->graphs = graphs, m->n_graphs = 2, m->eyes = e;
    return true;
}
