// Every kind of view at every operand of every kernel family, as compiled cases: view_cases OUT. A
// case for each kind of view: a graph with all families, whose outputs the interpreter gives. Lines
// as those of `conformance --emit`.
//
// A family is a line of IR text with $0, $1 ... for its operands, whose types follow; each becomes
// a view of an input.
#include "emit_case.h"
#include "graph_values.h"
#include "ir/eval/eval.h"

enum { MOST_OPERANDS = 6, ROWS = 5 };

// `T` is a data-dependent size. 02=top_k(...): a tuple, of which results 0 and 1 are read.
typedef struct Family {
    const char *text, *operands[MOST_OPERANDS];
} Family;

static const Family families[] = {
    {"softmax($0) {axis=1}", {"f32[T, 6]"}},
    {"softmax($0) {axis=0}", {"f32[T, 6]"}},
    {"softmax($0) {axis=1}", {"f16[T, 6]"}},
    {"reduce_sum($0) {axes=[1]}", {"f32[T, 20]"}},
    {"reduce_mean($0) {axes=[0]}", {"f32[T, 20]"}},
    {"reduce_mean($0) {axes=[0]}", {"f32[3, 2 * T * T * T + 3 * T * T + 4 * T + 5]"}},
    {"reduce_max($0) {axes=[0, 1], keepdims=0}", {"f32[T, 6]"}},
    {"reduce_sum($0) {axes=[1]}", {"i64[T, 6]"}},
    {"cum_sum($0) {axis=1}", {"f32[T, 6]"}},
    {"cum_prod($0) {axis=0, reverse=1}", {"f32[T, 6]"}},
    {"arg_max($0) {axis=1}", {"f32[T, 6]"}},
    {"02=top_k($0) {axis=1, extent=3}", {"f32[T, 6]"}},
    {"gather($0, $1) {axis=0}", {"f32[6, 5]", "i64[T]"}},
    {"gather($0, $1) {axis=1}", {"f32[T, 6]", "i64[3, 2]"}},
    {"gather($0, $1) {axis=0}", {"i64[6]", "i32[T]"}},
    {"gather_elements($0, $1) {axis=1}", {"f32[T, 6]", "i64[T, 4]"}},
    {"gather_nd($0, $1)", {"f32[6, 5, 3]", "i64[T, 2]"}},
    {"scatter_elements($0, $1, $2) {axis=1}", {"f32[T, 6]", "i64[T, 4]", "f32[T, 4]"}},
    {"scatter_nd($0, $1, $2) {reduction=\"add\"}", {"f32[6, 3]", "i64[T, 1]", "f32[T, 3]"}},
    {"concat($0, $1) {axis=0}", {"f32[T, 6]", "f32[4, 6]"}},
    {"concat($0, $1) {axis=1}", {"f16[T, 6]", "f16[T, 3]"}},
    {"pad($0, $1) {high=[0, 2], low=[1, 0]}", {"f32[T, 6]", "f32"}},
    {"cast($0) {to=f16}", {"f32[T, 6]"}},
    {"cast($0) {to=f32}", {"i64[T, 6]"}},
    {"bit_cast($0) {to=i32}", {"f32[T, 6]"}},
    {"add($0, $1)", {"f32[T, 20]", "f32[T, 20]"}},
    {"mul($0, $1)", {"f64[T, 6]", "f64[6]"}},
    {"bit_xor($0, $1)", {"i64[T, 6]", "i64[T, 6]"}},
    {"where($0, $1, $2)", {"bool[T, 6]", "f32[T, 6]", "f32[6]"}},
    {"elementwise($0, $1) {expr=mul(silu($0), $1)}", {"f32[T, 6]", "f32[T, 6]"}},
    {"matmul($0, $1)", {"f32[T, 6]", "f32[6, 20]"}},
    {"matmul($0, $1)", {"f32[3, T, 6]", "f32[3, 6, 5]"}},
    {"matmul($0, $1)", {"f32[T, 6]", "f32[6]"}},
    {"matmul($0, $1)", {"f16[T, 6]", "f16[6, 5]"}},
    {"rms_normalization($0, $1) {epsilon=1e-5}", {"f32[T, 20]", "f32[20]"}},
    {"layer_normalization($0, $1, $2) {epsilon=1e-5}", {"f32[T, 20]", "f32[20]", "f32[20]"}},
    {"02=skip_rms_normalization($0, $1, $2) {epsilon=1e-5}", {"f32[T, 6]", "f32[T, 6]", "f32[6]"}},
    {"02=skip_layer_normalization($0, $1, $2, $3) {epsilon=1e-5}",
     {"f32[T, 6]", "f32[T, 6]", "f32[6]", "f32[6]"}},
    {"rotary_embedding($0, $1, $2) {num_heads=2}", {"f32[T, 16]", "f32[T, 4]", "f32[T, 4]"}},
    {"rotary_embedding($0, $1, $2) {interleaved=1, num_heads=1}",
     {"f32[T, 8]", "f32[1, 3]", "f32[1, 3]"}},
    {"attention($0, $1, $2, bias=$3, mask=$4, sinks=$5) {num_heads=2, num_kv_heads=1, scale=0.5}",
     {"f32[T, 16]", "f32[7, 8]", "f32[7, 8]", "f32[2, T, 7]", "f32[1, 7]", "f32[2]"}},
    {"attention($0, $1, $2, bias=$3) {causal=1, num_heads=2, num_kv_heads=2, scale=0.5}",
     {"f32[T, 16]", "f32[T, 16]", "f32[T, 8]", "f32[T, T]"}},
    {"shift_rows($0) {back=1}", {"f32[T, 6]"}},
    {"matmul_packed($0, %pack, $1, $2) {columns=20, epilogue=add(mul($0, $1), $2)}",
     {"f32[T, 6]", "f32[T, 20]", "f32[20]"}},
    {"matmul_packed($0, %pack, $1, $2) {columns=20, epilogue=add(mul($0, $1), $2)}",
     {"f32[3, T, 6]", "f32[T, 20]", "f32[1]"}},
    {"matmul_packed($0, %pack, $1) {columns=20, epilogue=sub($1, $0)}", {"f32[T, 6]", "f32[T, 1]"}},
    {"matmul_packed($0, %column, $1, $2) {columns=1, epilogue=add(mul($0, $1), $2)}",
     {"f32[T, 6]", "f32[T, 1]", "f32"}},
    {"nonzero($0) {extent=N}", {"f32[T, 6]"}},
    {"14=unique($0) {extent=U}", {"i64[T]"}},
    {"non_max_suppression($0, $1, $2, $3, $4) {extent=K}",
     {"f32[1, T, 4]", "f32[1, 2, T]", "i64", "f32", "f32"}},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

// ------------------------------------------------------------------------------------------- views
// A type in text, taken apart.
typedef struct TextType {
    char dtype[8], dim[4][64];
    int rank;
} TextType;

static TextType read_type(const char *text) {
    TextType t = {0};
    size_t n = strcspn(text, "[");
    snprintf(t.dtype, sizeof t.dtype, "%.*s", (int)n, text);
    for (const char *at = text + n; *at && *at != ']'; at += strcspn(at, ",]"), t.rank++) {
        at += strspn(at, "[, ");
        snprintf(t.dim[t.rank], sizeof t.dim[0], "%.*s", (int)strcspn(at, ",]"), at);
    }
    return t;
}

static void print_type(Text *t, const TextType *type) {
    text_add(t, "%s", type->dtype);
    for (int i = 0; i < type->rank; i++) text_add(t, "%s%s", i ? ", " : "[", type->dim[i]);
    if (type->rank) text_add(t, "]");
}

typedef struct Writer {
    Text inputs, nodes, outputs;
    int n;  // values so far
} Writer;

static int add_input(Writer *w, const TextType *type) {
    text_add(&w->inputs, "%s%%v%d: ", w->inputs.length ? ", " : "", w->n);
    print_type(&w->inputs, type);
    return w->n++;
}

static int add_slice(Writer *w, const TextType *from, int axis, const char *slice) {
    int x = add_input(w, from);
    text_add(&w->nodes, "  %%v%d = slice(%%v%d) {axis=%d, %s}\n", w->n, x, axis, slice);
    return w->n++;
}

// A view writes what shows a value of `type`, and returns its number.
typedef int ViewFunction(Writer *, const TextType *type);

static int plain(Writer *w, const TextType *type) { return add_input(w, type); }

static int transposed(Writer *w, const TextType *type) {
    TextType from = *type;
    int last = type->rank - 1;
    if (type->rank < 2) return plain(w, type);
    memcpy(from.dim[last], type->dim[last - 1], sizeof from.dim[0]);
    memcpy(from.dim[last - 1], type->dim[last], sizeof from.dim[0]);
    int x = add_input(w, &from);
    text_add(&w->nodes, "  %%v%d = transpose(%%v%d) {perm=%s}\n", w->n, x,
             type->rank == 2 ? "[1, 0]" : "[0, 2, 1]");
    return w->n++;
}

static int sliced(Writer *w, const TextType *type, int axis, const char *size, const char *slice) {
    TextType from = *type;
    char extent[96], text[256];
    if (!type->rank) return plain(w, type);
    snprintf(extent, sizeof extent, size, type->dim[axis]);
    snprintf(from.dim[axis], sizeof from.dim[0], "%.63s", extent);
    snprintf(text, sizeof text, slice, type->dim[axis], type->dim[axis]);
    return add_slice(w, &from, axis, text);
}

static int last_axis(const TextType *type) { return type->rank ? type->rank - 1 : 0; }

static int every_second(Writer *w, const TextType *t) {
    return sliced(w, t, last_axis(t), "2 * (%s)", "extent=%s, start=1, step=2");
}
static int part(Writer *w, const TextType *t) {
    return sliced(w, t, last_axis(t), "%s + 3", "extent=%s, start=2");
}
static int flipped(Writer *w, const TextType *t) {
    return sliced(w, t, last_axis(t), "%s", "extent=%s, start=%s - 1, step=-1");
}
static int every_second_row(Writer *w, const TextType *t) {
    return sliced(w, t, 0, "2 * (%s)", "extent=%s, start=0, step=2");
}
static int flipped_rows(Writer *w, const TextType *t) {
    return sliced(w, t, 0, "%s", "extent=%s, start=%s - 1, step=-1");
}

static int expanded_from(Writer *w, const TextType *type, int x) {
    text_add(&w->nodes, "  %%v%d = expand(%%v%d) {shape=[", w->n, x);
    for (int i = 0; i < type->rank; i++) text_add(&w->nodes, "%s%s", i ? ", " : "", type->dim[i]);
    text_add(&w->nodes, "]}\n");
    return w->n++;
}

static int repeated(Writer *w, const TextType *type, int axis) {
    TextType from = *type;
    if (type->rank) snprintf(from.dim[axis], sizeof from.dim[0], "1");
    return expanded_from(w, type, add_input(w, &from));
}

static int repeated_along_rows(Writer *w, const TextType *type) { return repeated(w, type, 0); }
static int repeated_along_columns(Writer *w, const TextType *type) {
    return repeated(w, type, last_axis(type));
}

static int number(Writer *w, const TextType *type, const char *value) {
    text_add(&w->nodes, "  %%v%d = constant {value=%s} : %s\n", w->n, value, type->dtype);
    return expanded_from(w, type, w->n++);
}

static int zeros(Writer *w, const TextType *type) { return number(w, type, "0"); }
static int ones(Writer *w, const TextType *type) { return number(w, type, "1"); }

// Of constants all dimensions are known.
static int constant(Writer *w, const TextType *type) {
    for (int i = 0; i < type->rank; i++)
        if (strchr(type->dim[i], 'T')) return repeated_along_rows(w, type);
    text_add(&w->nodes, "  %%v%d = constant {hash=0x%x} : ", w->n, 0x1000 + w->n);
    print_type(&w->nodes, type);
    text_add(&w->nodes, "\n");
    return w->n++;
}

static const struct {
    const char *name;
    ViewFunction *write;
} views[] = {{"plain", plain},
             {"transposed", transposed},
             {"every_second", every_second},
             {"part", part},
             {"flipped", flipped},
             {"every_second_row", every_second_row},
             {"flipped_rows", flipped_rows},
             {"repeated_along_rows", repeated_along_rows},
             {"repeated_along_columns", repeated_along_columns},
             {"zeros", zeros},
             {"ones", ones},
             {"constant", constant}};

// ------------------------------------------------------------------------------------------ graphs
static void write_family(Writer *w, const Family *f, ViewFunction *view) {
    int operand[MOST_OPERANDS];
    for (int i = 0; i < MOST_OPERANDS && f->operands[i]; i++) {
        TextType type = read_type(f->operands[i]);
        operand[i] = view(w, &type);
    }
    text_add(&w->nodes, "  %%v%d = ", w->n++);
    int depth = 0;  // operands are between parentheses, those of formulas between braces
    bool tuple = f->text[2] == '=';
    for (const char *c = tuple ? f->text + 3 : f->text; *c; c++) {
        depth += *c == '{';
        if (*c == '$' && !depth)
            text_add(&w->nodes, "%%v%d", operand[*++c - '0']);
        else
            text_append(&w->nodes, c, 1);
    }
    text_add(&w->nodes, "\n");
    int value = w->n - 1, first = tuple ? f->text[0] - '0' : 0, end = tuple ? f->text[1] - '0' : 0;
    for (int i = first; i < end; i++)
        text_add(&w->nodes, "  %%v%d = item(%%v%d) {index=%d}\n", w->n++, value, i);
    for (int i = tuple ? w->n - (end - first) : value; i < w->n; i++)
        text_add(&w->outputs, "%s%%v%d", w->outputs.length ? ", " : "", i);
}

static Graph *write_graph(Arena *arena, int view) {
    Writer w = {0};
    text_add(&w.inputs, "%%size: f32[T]");
    text_add(&w.outputs, "%%same");
    text_add(&w.nodes, "  %%same = neg(%%size)\n");
    text_add(&w.nodes,
             "  %%weights = constant {hash=0x77} : f32[20, 6]\n  %%pack = pack(%%weights) "
             "{format=\"f32\"}\n");
    text_add(&w.nodes,
             "  %%line = constant {hash=0x78} : f32[1, 6]\n  %%column = pack(%%line) "
             "{format=\"f32\"}\n");
    for (int i = 0; i < N_FAMILIES; i++) write_family(&w, &families[i], views[view].write);
    const char *text = arena_printf(
        arena,
        "graph g(%s) -> (%s) where 1 <= T <= 8, 0 <= N <= 48, 0 <= U <= 8, 0 <= K <= 16 {\n%s}\n",
        w.inputs.data, w.outputs.data, w.nodes.data);
    const Source source = {.name = views[view].name, .text = text, .size = strlen(text)};
    Source *kept = ARENA_NEW(arena, Source);
    *kept = source;
    Graph *g = graph_parse(kept, NULL);
    if (!g) diag_stop();
    fill_constants(arena, g);
    return g;
}

static const char *folder;

static void emit_view(const void *which) {
    int view = *(const int *)which;
    Arena *arena = arena_new();
    CasePlace at = {arena, folder, arena_printf(arena, "view_%s", views[view].name)};
    Graph *g = write_graph(arena, view);
    if (!graph_verify(g, "reading")) exit(1);
    emit_graph(at, g, ROWS, (uint64_t)view + 1, false);
    printf("pass");
    exit(0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    folder = argv[1];
    for (int i = 0; i < (int)(sizeof views / sizeof *views); i++) {
        printf("view_%s\tview\t", views[i].name);
        case_report(emit_view, &i);
    }
    return 0;
}
