// Checks of a model that need no handler: versions, operators, attributes, declared types.
// operators.def lists each operator's attributes, over all its versions.
#include <stdlib.h>
#include <string.h>

#include "frontend/onnx/operators/values.h"
#include "frontend/onnx/scope.h"

enum { NEWEST_OPSET = 27 };

static const char *domain_text(const char *domain) {
    return domain && *domain ? domain : "ai.onnx";
}

// -------------------------------------------------------------------------------------- attributes
bool onnx_is_operator(const BurinOnnx__Operation *p, const char *domain, const char *name) {
    return !strcmp(p->op_type, name) && !strcmp(onnx_domain(p->domain), domain);
}

// The kinds of AttributeProto.type by number, their letters in operators.def, and what messages
// call them.
static const struct {
    char letter;
    const char *name;
} KINDS[] = {{'?', "of no kind"},     {'f', "a float"},  {'i', "an integer"},
             {'s', "a string"},       {'t', "a tensor"}, {'g', "a graph"},
             {'F', "floats"},         {'I', "integers"}, {'S', "strings"},
             {'T', "tensors"},        {'G', "graphs"},   {'p', "a sparse tensor"},
             {'P', "sparse tensors"}, {'y', "a type"},   {'Y', "types"}};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

// Files of old versions have no attribute type: the present field decides.
static int kind_of(const BurinOnnx__Attribute *a) {
    const bool there[N_KINDS] = {0,
                                 a->has_f,
                                 a->has_i,
                                 a->has_s,
                                 a->t,
                                 a->g,
                                 a->n_floats,
                                 a->n_ints,
                                 a->n_strings,
                                 a->n_tensors,
                                 a->n_graphs,
                                 a->sparse_tensor,
                                 a->n_sparse_tensors,
                                 a->tp,
                                 a->n_type_protos};
    if (a->has_type && a->type > 0 && a->type < N_KINDS) {
        bool list = strchr("FISTGPY", KINDS[a->type].letter);  // may be empty
        for (int i = 1; i < N_KINDS; i++)
            if (there[i] && i != a->type) return i;
        return there[a->type] || list ? a->type : 0;
    }
    for (int i = 1; i < N_KINDS; i++)
        if (there[i]) return i;
    return a->has_type ? 0 : 7;
}

static const char *kind_named(char letter) {
    for (int i = 1; i < N_KINDS; i++)
        if (KINDS[i].letter == letter) return KINDS[i].name;
    return "?";
}

// Attributes of a row one by one: name, its length, its kinds. NULL at the end.
static const char *next_word(const char *at, size_t *name, size_t *kinds) {
    while (*at == ' ') at++;
    if (!*at) return NULL;
    *name = strcspn(at, ":");
    *kinds = strcspn(at + *name + 1, "! ");
    return at;
}

static const char *after_word(const char *at) { return at + strcspn(at, " "); }

static const char *find_word(const OnnxOp *row, const char *wanted, size_t *name, size_t *kinds) {
    for (const char *at = row->attributes; (at = next_word(at, name, kinds)); at = after_word(at))
        if (strlen(wanted) == *name && !strncmp(at, wanted, *name)) return at;
    return NULL;
}

// Sizes, axes and counts: handlers add and multiply them without further checks. Attributes that
// list data may have any numbers.
static void check_integers(const OnnxCall *c, const BurinOnnx__Attribute *a) {
    const char *type = c->proto->op_type;
    if (c->proto->domain && strstr(c->proto->domain, "ai.onnx.ml")) return;
    if (!strcmp(type, "Constant") || !strcmp(type, "Slice")) return;
    for (size_t i = 0; i < a->n_ints + 1; i++) {
        int64_t value = i < a->n_ints ? a->ints[i] : a->has_i ? a->i : 0;
        if (value < -INT32_MAX || value > INT32_MAX)
            onnx_fatal(c, "the attribute %s is %lld, expected %d to %d\nhint: the file is damaged",
                       a->name, (long long)value, -INT32_MAX, INT32_MAX);
    }
}

static bool is_listed(const char *words, const char *word, size_t length) {
    for (const char *at = words; *at;
         at += at[strcspn(at, " ")] ? strcspn(at, " ") + 1 : strlen(at))
        if (strcspn(at, " ") == length && !strncmp(at, word, length)) return true;
    return false;
}

static void check_words(const OnnxCall *c, const BurinOnnx__Attribute *a, const char *words) {
    if (is_listed(words, (const char *)a->s.data, a->s.len)) return;
    Arena *arena = c->graph->arena;
    const char *list = "", *last = strrchr(words, ' ');
    for (const char *at = words, *next; *at; at = *next ? next + 1 : next) {
        next = at + strcspn(at, " ");
        const char *joint = at == words ? "" : at == last + 1 ? " or " : ", ";
        list = arena_printf(arena, "%s%s%.*s", list, joint, (int)(next - at), at);
    }
    onnx_fatal(c,
               "the attribute %s is \"%s\", expected %s\nhint: the file is damaged, or its "
               "exporter is wrong",
               a->name, arena_strndup(arena, (const char *)a->s.data, a->s.len), list);
}

static void check_range(const OnnxCall *c, const BurinOnnx__Attribute *a, int64_t least,
                        int64_t most) {
    for (size_t i = 0; i < a->n_ints + 1; i++) {
        if (i == a->n_ints && !a->has_i) return;
        int64_t value = i < a->n_ints ? a->ints[i] : a->i;
        if (value < least || value > most)
            onnx_fatal(c,
                       "the attribute %s is %lld, expected %lld to %lld\nhint: the file is "
                       "damaged, or its exporter is wrong",
                       a->name, (long long)value, (long long)least, (long long)most);
    }
}

// Refuses a word or an integer that the attribute cannot have; `name` is the attribute's in the
// node, `a` its value.
static void check_values(const OnnxCall *c, const char *name, const BurinOnnx__Attribute *a) {
    for (int i = 0; i < ONNX_N_VALUES; i++) {
        const OnnxValues *v = &ONNX_VALUES[i];
        bool every = !strcmp(v->operator, "*");
        if (strcmp(v->attribute, name) || (!every && strcmp(v->operator, c->proto->op_type)))
            continue;
        if (v->words && a->has_s) check_words(c, a, v->words);
        if (!v->words) check_range(c, a, v->least, v->most);
    }
}

static void check_attribute(const OnnxCall *c, const OnnxOp *row, const BurinOnnx__Attribute *a) {
    size_t name, kinds;
    if (!a->name || !*a->name) onnx_fatal(c, "an attribute has no name\nhint: the file is damaged");
    const char *word = find_word(row, a->name, &name, &kinds);
    if (!word)
        onnx_fatal(c,
                   "has no attribute \"%s\"%s%s\nhint: a newer operator set than burin knows, or a "
                   "damaged file",
                   a->name, *row->attributes ? "; it has " : "", row->attributes);
    if (a->ref_attr_name && *a->ref_attr_name && !onnx_in_function(c->import))
        onnx_fatal(c,
                   "the attribute %s refers to %s of a function, but the node is in none\nhint: "
                   "the file is damaged",
                   a->name, a->ref_attr_name);
    const BurinOnnx__Attribute *value = onnx_resolve(c->import, a);
    int kind = value ? kind_of(value) : -1;
    if (value) check_integers(c, value);
    if (kind >= 0 && !memchr(word + name + 1, KINDS[kind].letter, kinds))
        onnx_fatal(c, "the attribute %s is %s, expected %s", a->name, KINDS[kind].name,
                   kind_named(word[name + 1]));
    if (value) check_values(c, a->name, value);
}

// ---------------------------------------------------------------------------------------- operands
// "3-5" or "3"; returns the rest.
static const char *read_span(const char *at, int *least, int *most) {
    char *end;
    *least = *most = (int)strtol(at, &end, 10);
    if (*end == '-') *most = (int)strtol(end + 1, &end, 10);
    return end;
}

// Returns true if a node may leave out operand i by the name "", though it is one of the least.
static bool may_be_absent(const OnnxOp *op, int i) {
    int first, last;
    for (const char *at = op->ranks; *at; at += strcspn(at, " "), at += *at == ' ')
        if (read_span(at, &first, &last)[1] == '?' && first <= i && i <= last) return true;
    return false;
}

// Handlers ask neither whether a required operand is there nor whether it has the dimensions that
// they index.
void onnx_check_operands(OnnxCall *c, const OnnxOp *op) {
    int first, last, least, most;
    for (int i = 0; i < op->min_in; i++)
        if (!onnx_operand(c, i) && !may_be_absent(op, i))
            onnx_fatal(
                c, "operand %d is missing\nhint: the file is damaged, or its exporter is wrong", i);
    for (const char *at = op->ranks; *at; at += *at == ' ') {
        at = read_span(at, &first, &last) + 1;
        if (*at == '?') {
            at++;
            continue;
        }
        at = read_span(at, &least, &most);
        for (int j = first; j <= last; j++) {
            if (!onnx_operand(c, j)) continue;
            Type t = onnx_type(c, j);
            if (t.rank < least || t.rank > most)
                onnx_fatal(c, "operand %d is %s, expected %d%s dimensions", j, type_text(&t), least,
                           least == most ? "" : arena_printf(c->graph->arena, " to %d", most));
        }
    }
}

void onnx_check_call(const OnnxCall *c, const OnnxOp *row) {
    const BurinOnnx__Operation *p = c->proto;
    size_t name, kinds;
    if (!p->n_output)
        onnx_fatal(c, "has no results, expected one or more\nhint: the file is damaged");
    if (row->results >= 0 && p->n_output > (size_t)row->results)
        onnx_fatal(c, "has %zu results, at most %d exist\nhint: the file is damaged", p->n_output,
                   row->results);
    for (size_t i = 0; i < p->n_attribute; i++) {
        check_attribute(c, row, p->attribute[i]);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(p->attribute[j]->name, p->attribute[i]->name))
                onnx_fatal(c, "the attribute %s is given twice\nhint: the file is damaged",
                           p->attribute[i]->name);
    }
    for (const char *at = row->attributes; (at = next_word(at, &name, &kinds));
         at = after_word(at)) {
        const char *wanted = arena_strndup(c->graph->arena, at, name);
        const char *required = at[name + 1 + kinds] == '!' ? at + name + 2 + kinds : NULL;
        if (required && c->opset >= atoll(required) && !onnx_attribute(c, wanted))
            onnx_fatal(c,
                       "its attribute %s is missing (%s)\nhint: the file is damaged, or its "
                       "exporter is wrong",
                       wanted, kind_named(at[name + 1]));
    }
}

// ---------------------------------------------------------------------------------------- versions
static void check_opsets(const OnnxModel *m) {
    const BurinOnnx__ModelFile *p = m->proto;
    if (!p->n_opset_import)
        file_fatal(m->file,
                   "the model imports no operator set\nhint: export it again; opset_import says "
                   "what its nodes mean");
    for (size_t i = 0; i < p->n_opset_import; i++) {
        const BurinOnnx__OperatorSet *o = p->opset_import[i];
        bool standard = !*onnx_domain(o->domain);
        if (o->version < 1 || (standard && o->version > NEWEST_OPSET))
            file_fatal(m->file,
                       "opset %lld of domain %s is not supported (1 to %d are)\nhint: export it "
                       "again with opset 17 to %d",
                       (long long)o->version, domain_text(o->domain), NEWEST_OPSET, NEWEST_OPSET);
        for (size_t j = 0; j < i; j++)
            if (!strcmp(domain_text(o->domain), domain_text(p->opset_import[j]->domain)) &&
                o->version != p->opset_import[j]->version)
                file_fatal(m->file,
                           "the model imports opset %lld and opset %lld of domain %s\nhint: one "
                           "version a domain",
                           (long long)p->opset_import[j]->version, (long long)o->version,
                           domain_text(o->domain));
    }
}

// --------------------------------------------------------------------------------------- operators
typedef struct Unknown {
    const BurinOnnx__Operation *first;
    Loc loc;
    int n;
} Unknown;

// Operators that ONNX Runtime's optimizer puts in for the CPU that it runs on, at its highest
// level.
static bool is_for_one_cpu(const char *domain) {
    return !strcmp(onnx_domain(domain), "com.microsoft.nchwc") ||
           !strcmp(onnx_domain(domain), "com.ms.internal.nhwc");
}

static void check_nodes(const OnnxImport *m, Map *unknown, size_t n,
                        BurinOnnx__Operation *const *nodes) {
    Arena *arena = m->graph->arena;
    for (size_t i = 0; i < n; i++) {
        const BurinOnnx__Operation *p = nodes[i];
        if (!p->op_type || !*p->op_type)
            diag_fatal(onnx_node_loc(m, p, i), "a node has no operator\nhint: the file is damaged");
        for (size_t j = 0; j < p->n_attribute; j++)
            if (p->attribute[j]->g)
                check_nodes(m, unknown, p->attribute[j]->g->n_node, p->attribute[j]->g->node);
        if (onnx_function(m->model, p) || onnx_op_find(p)) continue;
        const char *key = arena_printf(arena, "%s:%s", onnx_domain(p->domain),
                                       is_for_one_cpu(p->domain) ? "" : p->op_type);
        Unknown *u = map_get(unknown, key);
        if (!u) {
            u = ARENA_NEW(arena, Unknown);
            *u = (Unknown){.first = p, .loc = onnx_node_loc(m, p, i)};
            map_put(unknown, key, u);
        }
        u->n++;
    }
}

static void report_unknown(const OnnxImport *m, const Unknown *u) {
    const char *domain = u->first->domain, *more = u->n > 1 ? "s" : "";
    if (is_for_one_cpu(domain))
        diag_fatal(u->loc,
                   "%s of domain %s, in %d node%s of that domain: ONNX Runtime has laid this file "
                   "out for one kind of CPU"
                   "\nhint: give the file that it was made of, or let ONNX Runtime save it at "
                   "level ORT_ENABLE_EXTENDED",
                   u->first->op_type, domain, u->n, more);
    diag_error(u->loc, "unknown operator %s of domain %s, opset %lld, in %d node%s",
               u->first->op_type, domain_text(domain), (long long)onnx_opset(m->model, domain),
               u->n, more);
}

void onnx_check_model(const OnnxImport *m) {
    const BurinOnnx__ModelFile *p = m->model->proto;
    Map unknown;
    map_init(&unknown, m->graph->arena);
    check_opsets(m->model);
    check_nodes(m, &unknown, p->graph->n_node, p->graph->node);
    for (size_t i = 0; i < p->n_functions; i++)
        check_nodes(m, &unknown, p->functions[i]->n_node, p->functions[i]->node);
    for (int i = 0; i < unknown.n; i++) report_unknown(m, unknown.entries[i].value);
    if (unknown.n)
        diag_note(loc_file(&m->model->file->source),
                  "an operator that the model itself defines (a function) is read: export it with "
                  "its functions");
    diag_stop_if_errors();
}

// ---------------------------------------------------------------------------------- declared types
// Stale dimensions and ranks are common in files that were edited after the export, and PyTorch
// declares the rank of the branch of an If that is not taken (scatter_reduce): a warning. A wrong
// element type is not common.
static bool dims_differ(const BurinOnnx__ValueType__TensorOf *declared, const Type *found) {
    for (int i = 0; declared->shape && i < found->rank; i++) {
        const BurinOnnx__Shape__Dimension *d = declared->shape->dim[i];
        int64_t value;
        if (d->has_dim_value && d->dim_value >= 0 && dim_is_const(found->dim[i], &value) &&
            value != d->dim_value)
            return true;
    }
    return false;
}

static bool check_value(const OnnxImport *m, const BurinOnnx__ValueInfo *info) {
    OnnxValue *v = info->name ? map_get(&m->values, info->name) : NULL;
    const BurinOnnx__ValueType__TensorOf *declared = info->type ? info->type->tensor_type : NULL;
    DType dtype;
    if (!v || !v->node || !declared || v->node->type.dtype == DT_tuple) return false;
    const Type *found = &v->node->type;
    if (onnx_dtype(declared->elem_type, &dtype) && dtype != found->dtype)
        diag_fatal(v->node->loc,
                   "%s is %s, but the model declares elements of %s\nhint: the file is damaged, or "
                   "its exporter wrong",
                   info->name, type_text(found), dtype_name(dtype));
    if (declared->shape && declared->shape->n_dim != (size_t)found->rank) return true;
    return dims_differ(declared, found);
}

void onnx_check_declared(const OnnxImport *m, size_t n, BurinOnnx__ValueInfo *const *infos) {
    const BurinOnnx__ValueInfo *first = NULL;
    int stale = 0;
    for (size_t i = 0; i < n; i++)
        if (check_value(m, infos[i]) && !stale++) first = infos[i];
    if (!stale) return;
    const OnnxValue *v = map_get(&m->values, first->name);
    diag_warning(v->node->loc, "%s is %s, which is not the shape that the model declares%s",
                 first->name, type_text(&v->node->type), stale > 1 ? "; others differ too" : "");
}
