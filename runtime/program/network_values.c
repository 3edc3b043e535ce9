// Inputs of a network: the file of each input, the values of symbols, conversion, and default
// values.
#include "program/network_values.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "program/npz.h"
#include "program/output.h"
#include "sampler/sampler.h"

// ---- words ----

const char *burin_network_shape(int rank, const int64_t *dim) {
    static char text[2][256];
    static int turn;
    char *t = text[turn ^= 1];
    int n = snprintf(t, sizeof *text, "[");
    for (int i = 0; i < rank; i++)
        n += snprintf(t + n, sizeof *text - (size_t)n, "%s%lld", i ? ", " : "", (long long)dim[i]);
    snprintf(t + n, sizeof *text - (size_t)n, "]");
    return t;
}

static void print_tensor(const char *what, const burin_tensor *t) {
    static const char *const absent[] = {"", " (ones where not given)", " (zeros where not given)",
                                         " (0, 1, 2 ... where not given)"};
    burin_print("%s %s: %s%s%s", what, t->name, t->type, t->shape, absent[t->absent]);
    if (t->least <= t->most)
        burin_print(", values from %lld to %lld", (long long)t->least, (long long)t->most);
    burin_print("\n");
}

void burin_network_print(const burin_network *net) {
    for (int i = 0; i < net->n_inputs; i++) print_tensor("input ", &net->inputs[i]);
    for (int i = 0; i < net->n_outputs; i++) print_tensor("output", &net->outputs[i]);
    for (int i = 0; i < net->n_symbols; i++)
        burin_print("%s: from %lld to %lld\n", net->symbols[i].name,
                    (long long)net->symbols[i].lower, (long long)net->symbols[i].upper);
}

static const burin_element *element_of(const burin_tensor *t) {
    const burin_element *e = burin_element_named(t->type);
    if (!e)
        burin_stop(BURIN_USER_MISTAKE, "%s has elements of type %s, which no .npy file can hold",
                   t->name, t->type);
    return e;
}

// ---- which file is which input ----

static _Noreturn void no_such_input(const burin_network *net, const char *given, const char *what) {
    char names[1024];
    int n = 0;
    names[0] = 0;
    for (int i = 0; i < net->n_inputs && n < (int)sizeof names - 1; i++)
        n += snprintf(names + n, sizeof names - (size_t)n, "%s%s", i ? ", " : "",
                      net->inputs[i].name);
    burin_stop(BURIN_USER_MISTAKE,
               "--input %s: %s\nhint: --input NAME=F.npy, where NAME is one of %s", given, what,
               names);
}

// The one input that needs a file, or the only one at all; -1: there are several.
static int only_input(const burin_network *net) {
    int only = -1, needed = 0;
    if (net->n_inputs == 1) return 0;
    for (int i = 0; i < net->n_inputs; i++)
        if (net->inputs[i].absent == BURIN_NEEDED) {
            needed++;
            only = i;
        }
    return needed == 1 ? only : -1;
}

// Returns true if the first n bytes of `given` are the input's name, or the name in its ONNX file:
// there a / or : may be where the program has a _.
static bool is_input_name(const char *name, const char *given, size_t n) {
    if (strlen(name) != n) return false;
    for (size_t i = 0; i < n; i++) {
        bool plain = isalnum((unsigned char)given[i]) || given[i] == '.';
        if (name[i] != given[i] && (name[i] != '_' || plain)) return false;
    }
    return true;
}

// Returns the input of a name, -1 for none. Its own name comes before that in its file.
static int input_named(const burin_network *net, const char *name, size_t n) {
    int found = -1;
    for (int i = 0; i < net->n_inputs; i++) {
        if (!is_input_name(net->inputs[i].name, name, n)) continue;
        if (!strncmp(net->inputs[i].name, name, n)) return i;
        found = i;
    }
    return found;
}

// The input that NAME=FILE names, and FILE in *file; -1: none.
static int named_input(const burin_network *net, const char *given, const char **file) {
    for (const char *end = strchr(given, '='); end; end = strchr(end + 1, '=')) {
        int input = input_named(net, given, (size_t)(end - given));
        if (input < 0) continue;
        *file = end + 1;
        return input;
    }
    return -1;
}

static void set_file(burin_network_values *v, int input, const char *file, int64_t offset) {
    if (v->files[input])
        burin_stop(BURIN_USER_MISTAKE, "--input %s: %s is given twice", file,
                   v->net->inputs[input].name);
    v->files[input] = file;
    v->offsets[input] = offset;
}

// Which array of an .npz is looked for, or all.
typedef struct archive {
    burin_network_values *values;
    const char *path;
    int only;  // the input that takes the only array; -1: arrays have the names of inputs
    int n;     // arrays so far
} archive;

static void assign_member(void *context, const char *name, int64_t offset) {
    archive *a = context;
    const burin_network *net = a->values->net;
    int input = a->only >= 0 ? a->only : input_named(net, name, strlen(name));
    if (input < 0 && !strcmp(name, "arr_0")) input = only_input(net);
    char what[300];
    burin_format(what, sizeof what, "its array %s is no input", name);
    if (input < 0) no_such_input(net, a->path, what);
    if (a->only >= 0 && a->n++)
        burin_stop(BURIN_USER_MISTAKE,
                   "--input %s=%s: it has more than one array\nhint: --input %s, where each array "
                   "has an input's name",
                   net->inputs[input].name, a->path, a->path);
    set_file(a->values, input, a->path, offset);
}

static void assign_archive(burin_network_values *v, int input, const char *path) {
    archive a = {.values = v, .path = path, .only = input};
    const char *why = burin_npz_list(path, assign_member, &a);
    if (why)
        burin_stop(BURIN_USER_MISTAKE,
                   "%s is no .npz file that can be read: %s\nhint: numpy.savez writes one", path,
                   why);
}

static void assign_file(burin_network_values *v, const char *given) {
    const burin_network *net = v->net;
    const char *file = given;
    int input = named_input(net, given, &file);
    if (input < 0 && strchr(given, '='))
        no_such_input(net, given, "there is no input of that name");
    if (burin_ends_with(file, ".npz")) {
        assign_archive(v, input, file);
        return;
    }
    if (input < 0) input = only_input(net);
    if (input < 0) no_such_input(net, given, "which input is it?");
    set_file(v, input, file, 0);
}

// ---- symbols ----

static int symbol_of(const burin_network *net, int64_t dim) {
    return dim < 0 && -1 - dim < net->n_symbols ? (int)(-1 - dim) : -1;
}

static void learn(burin_network_values *v, int symbol, int64_t value, const char *where) {
    const burin_symbol *s = &v->net->symbols[symbol];
    if (v->known[symbol] && v->symbols[symbol] != value)
        burin_stop(BURIN_USER_MISTAKE, "%s: %s is %lld here and %lld before", where, s->name,
                   (long long)value, (long long)v->symbols[symbol]);
    if (value < s->lower || value > s->upper)
        burin_stop(BURIN_USER_MISTAKE, "%s: %s is %lld, and the program was built for %lld to %lld",
                   where, s->name, (long long)value, (long long)s->lower, (long long)s->upper);
    v->symbols[symbol] = value;
    v->known[symbol] = true;
}

// --dim NAME=N,...
static void learn_dims(burin_network_values *v, const char *list) {
    for (const char *p = list; p && *p;) {
        size_t name = strcspn(p, "=,");
        char *end = NULL;
        int symbol = -1;
        long long value = p[name] == '=' ? strtoll(p + name + 1, &end, 10) : 0;
        if (!end || end == p + name + 1 || (*end && *end != ','))
            burin_stop(BURIN_BAD_COMMAND_LINE, "--dim %s: expected NAME=N,NAME=N", list);
        for (int i = 0; i < v->net->n_symbols; i++)
            if (strlen(v->net->symbols[i].name) == name &&
                !strncmp(p, v->net->symbols[i].name, name))
                symbol = i;
        if (symbol < 0)
            burin_stop(BURIN_USER_MISTAKE,
                       "--dim %s: there is no dimension %.*s\nhint: --info lists them", list,
                       (int)name, p);
        learn(v, symbol, value, "--dim");
        p = *end ? end + 1 : end;
    }
}

// Leading axes of one element may be left out of a file, or be there in addition to the one of a
// batch.
static void fit_rank(burin_array *a, int rank) {
    int extra = a->rank > rank ? a->rank - rank - 1 : a->rank - rank;
    for (int i = 0; i < extra; i++)
        if (a->dim[i] != 1) return;
    a->rank -= extra;
    if (extra > 0) memmove(a->dim, a->dim + extra, (size_t)a->rank * sizeof *a->dim);
    if (extra < 0) {
        memmove(a->dim - extra, a->dim, (size_t)(a->rank + extra) * sizeof *a->dim);
        for (int i = 0; i < -extra; i++) a->dim[i] = 1;
    }
}

static _Noreturn void wrong_shape(const char *file, const burin_array *a, const burin_tensor *t) {
    burin_stop(BURIN_USER_MISTAKE, "%s has the shape %s, and %s is %s%s", file,
               burin_network_shape(a->rank, a->dim), t->name, t->type, t->shape);
}

static bool is_batch(const burin_array *a, const burin_tensor *t) { return a->rank > t->rank; }

// A batch of one is repeated for every run of a larger batch.
static void learn_batch(burin_network_values *v, int64_t runs, const char *where) {
    if (v->net->n_data_dependent)
        burin_stop(BURIN_USER_MISTAKE,
                   "%s: no batches here, for the run decides how large the results are", where);
    if (runs > 1 && v->batch > 1 && runs != v->batch)
        burin_stop(BURIN_USER_MISTAKE, "%s: a batch of %lld here and of %lld before", where,
                   (long long)runs, (long long)v->batch);
    if (runs > v->batch) v->batch = runs;
}

// An extent of the input's own shows a symbol: 8 * T shows T.
static void learn_shown(burin_network_values *v, int input, int axis, int64_t extent) {
    for (int i = 0; i < v->net->n_symbols; i++) {
        const burin_symbol *s = &v->net->symbols[i];
        if (s->input != input || s->axis != axis) continue;
        if ((extent - s->offset) % s->factor)
            wrong_shape(v->files[input], &v->inputs[input], &v->net->inputs[input]);
        learn(v, i, (extent - s->offset) / s->factor, v->files[input]);
    }
}

static void learn_shape(burin_network_values *v, int input) {
    const burin_tensor *t = &v->net->inputs[input];
    burin_array *a = &v->inputs[input];
    fit_rank(a, t->rank);
    const int64_t *dim = a->dim + is_batch(a, t);
    if (a->rank != t->rank + is_batch(a, t) || a->dim[0] < is_batch(a, t))
        wrong_shape(v->files[input], a, t);
    for (int i = 0; i < t->rank; i++) {
        int symbol = symbol_of(v->net, t->dim[i]);
        if (t->dim[i] >= 0 && t->dim[i] != dim[i]) wrong_shape(v->files[input], a, t);
        if (symbol >= 0) learn(v, symbol, dim[i], v->files[input]);
        if (symbol < 0) learn_shown(v, input, i, dim[i]);
    }
    if (is_batch(a, t)) learn_batch(v, a->dim[0], v->files[input]);
}

// Symbols that no file determines: small with random values; otherwise an input is missing.
static void settle_symbols(burin_network_values *v, bool random) {
    enum { SMALL = 16 };
    for (int i = 0; i < v->net->n_symbols; i++) {
        const burin_symbol *s = &v->net->symbols[i];
        if (v->known[i]) continue;
        if (!random)
            burin_stop(BURIN_USER_MISTAKE,
                       "nothing says what %s is\nhint: --input %s=F.npy, or --random", s->name,
                       v->net->inputs[s->input].name);
        v->symbols[i] = SMALL < s->lower ? s->lower : SMALL > s->upper ? s->upper : SMALL;
    }
    for (int i = v->net->n_symbols; i < v->net->n_symbols + v->net->n_data_dependent; i++)
        v->symbols[i] = v->net->symbols[i].upper;
}

// ---- values ----

// batch: the first axis, 0: none.
static void shape_array(const burin_network_values *v, burin_array *a, const burin_tensor *t,
                        int64_t batch) {
    *a = (burin_array){.element = element_of(t), .count = 1};
    if (batch && t->rank == BURIN_MAX_RANK)
        burin_stop(BURIN_USER_MISTAKE,
                   "%s has as many axes as a file can have: there is none left for a batch",
                   t->name);
    if (batch) a->dim[a->rank++] = batch;
    for (int i = 0; i < t->rank; i++)
        a->dim[a->rank++] = burin_network_dim(v->net, t->dim[i], v->symbols);
    for (int i = 0; i < a->rank; i++) {
        if (a->dim[i] < 0 || __builtin_mul_overflow(a->count, (size_t)a->dim[i], &a->count))
            burin_stop(BURIN_USER_MISTAKE, "%s would have the shape %s", t->name,
                       burin_network_shape(i + 1, a->dim));
    }
    a->data = burin_allocate(a->count + 16, (size_t)a->element->bytes);
}

// The outputs have their data-dependent sizes now.
void burin_network_values_settle(burin_network_values *v) {
    for (int i = 0; i < v->net->n_outputs && v->net->n_data_dependent; i++) {
        burin_array *a = &v->outputs[i];
        a->count = 1;
        for (int j = 0; j < a->rank; j++) {
            a->dim[j] = burin_network_dim(v->net, v->net->outputs[i].dim[j], v->symbols);
            a->count *= (size_t)a->dim[j];
        }
    }
}

// A file's values as the network wants them.
static void convert_input(burin_network_values *v, int input) {
    const burin_tensor *t = &v->net->inputs[input];
    burin_array from = v->inputs[input], *to = &v->inputs[input];
    shape_array(v, to, t, is_batch(&from, t) ? from.dim[0] : 0);
    if (memcmp(from.dim, to->dim, (size_t)to->rank * sizeof *to->dim))
        wrong_shape(v->files[input], &from, t);
    if (!burin_converts(from.element, to->element))
        burin_stop(BURIN_USER_MISTAKE, "%s has elements of type %s, and %s is %s%s",
                   v->files[input], from.element->name, t->name, t->type, t->shape);
    size_t n = burin_convert(from.element, from.data, to->element, to->data, from.count);
    if (n < from.count)
        burin_stop(BURIN_USER_MISTAKE, "%s: element %zu is %lld, which %s (%s) cannot hold",
                   v->files[input], n, (long long)burin_load_integer(from.element, from.data, n),
                   t->name, t->type);
    free(from.data);
}

static void check_range(const burin_network_values *v, int input) {
    const burin_tensor *t = &v->net->inputs[input];
    const burin_array *a = &v->inputs[input];
    for (size_t i = 0; i < a->count && t->least <= t->most; i++) {
        int64_t value = burin_load_integer(a->element, a->data, i);
        if (value < t->least || value > t->most)
            burin_stop(BURIN_USER_MISTAKE, "%s: element %zu is %lld, and %s takes %lld to %lld",
                       v->files[input], i, (long long)value, t->name, (long long)t->least,
                       (long long)t->most);
    }
}

static double random_value(burin_random *random, const burin_tensor *t, const burin_element *e) {
    double unit = burin_random_unit(random);
    if (e->kind == ELEMENT_FLOAT) return 2 * unit - 1;
    return t->least <= t->most
               ? (double)t->least + (double)(int64_t)(unit * (double)(t->most - t->least + 1))
               : 1;
}

static void fill_input(burin_network_values *v, int input, burin_random *random) {
    const burin_tensor *t = &v->net->inputs[input];
    burin_array *a = &v->inputs[input];
    shape_array(v, a, t, 0);
    int64_t last = t->rank ? a->dim[t->rank - 1] : 1;
    for (size_t i = 0; i < a->count; i++) {
        double value = t->absent == BURIN_ONES       ? 1
                       : t->absent == BURIN_ZEROS    ? 0
                       : t->absent == BURIN_COUNTING ? (double)((int64_t)i % last)
                                                     : random_value(random, t, a->element);
        if (a->element->kind == ELEMENT_FLOAT)
            burin_store_real(a->element, a->data, i, value);
        else
            burin_store_integer(a->element, a->data, i, (int64_t)value);
    }
}

static void read_file(burin_network_values *v, int input) {
    int file;
    const char *error =
        burin_npy_open_array(&v->inputs[input], v->files[input], v->offsets[input], &file);
    if (!error) {
        learn_shape(v, input);
        error = burin_npy_read_array(&v->inputs[input], file);
    }
    if (error) burin_stop(BURIN_USER_MISTAKE, "%s %-s", v->files[input], error);
}

static burin_network_values new_values(const burin_network *net) {
    size_t n_inputs = (size_t)net->n_inputs, n_outputs = (size_t)net->n_outputs,
           n_symbols = (size_t)(net->n_symbols + net->n_data_dependent);
    burin_network_values v = {.net = net};
    v.inputs = burin_allocate(n_inputs, sizeof *v.inputs);
    v.outputs = burin_allocate(n_outputs, sizeof *v.outputs);
    v.input_data = burin_allocate(n_inputs, sizeof *v.input_data);
    v.output_data = burin_allocate(n_outputs, sizeof *v.output_data);
    v.files = burin_allocate(n_inputs, sizeof *v.files);
    v.offsets = burin_allocate(n_inputs, sizeof *v.offsets);
    v.symbols = burin_allocate(n_symbols, sizeof *v.symbols);
    v.known = burin_allocate(n_symbols, sizeof *v.known);
    return v;
}

// All shapes are known: everything gets its memory and its values.
static void complete(burin_network_values *v) {
    burin_random random;
    burin_random_seed(&random, 1);
    for (int i = 0; i < v->net->n_inputs; i++) {
        if (v->files[i]) {
            convert_input(v, i);
            check_range(v, i);
        } else
            fill_input(v, i, &random);
    }
    for (int i = 0; i < v->net->n_outputs; i++)
        shape_array(v, &v->outputs[i], &v->net->outputs[i], v->batch);
    burin_network_values_turn(v, 0);
}

void *burin_network_part(const burin_array *a, const burin_tensor *t, int64_t run) {
    bool shared = !is_batch(a, t) || a->dim[0] == 1;
    return shared ? a->data
                  : (char *)a->data +
                        a->count / (size_t)a->dim[0] * (size_t)run * (size_t)a->element->bytes;
}

void burin_network_values_turn(burin_network_values *v, int64_t run) {
    for (int i = 0; i < v->net->n_inputs; i++)
        v->input_data[i] = burin_network_part(&v->inputs[i], &v->net->inputs[i], run);
    for (int i = 0; i < v->net->n_outputs; i++)
        v->output_data[i] = burin_network_part(&v->outputs[i], &v->net->outputs[i], run);
}

void burin_network_values_open(burin_network_values *v, const burin_network *net,
                               const burin_command *c) {
    bool random_inputs = c->random || (c->bench && !c->inputs.n);
    *v = new_values(net);
    for (int i = 0; i < c->inputs.n; i++) assign_file(v, c->inputs.text[i]);
    for (int i = 0; i < net->n_inputs; i++) {
        if (v->files[i])
            read_file(v, i);
        else if (net->inputs[i].absent == BURIN_NEEDED && !random_inputs)
            burin_stop(
                BURIN_USER_MISTAKE,
                "nothing is given for the input %s: %s%s\nhint: --input %s=F.npy, or --random",
                net->inputs[i].name, net->inputs[i].type, net->inputs[i].shape,
                net->inputs[i].name);
    }
    learn_dims(v, c->dims);
    settle_symbols(v, random_inputs);
    complete(v);
}

static void give_integers(burin_network_values *v, int input, const int32_t *values, int32_t n) {
    burin_array *a = &v->inputs[input];
    *a = (burin_array){
        .element = burin_element_named("i32"), .rank = 1, .dim = {n}, .count = (size_t)n};
    a->data = burin_allocate((size_t)n, sizeof *values);
    memcpy(a->data, values, (size_t)n * sizeof *values);
    v->files[input] = "the text";
    learn_shape(v, input);
}

// Positions of each text begin anew.
static void count_in_texts(burin_network_values *v, const burin_token_rows *texts) {
    for (int i = 0; i < v->net->n_inputs; i++) {
        const burin_array *a = &v->inputs[i];
        size_t at = 0;
        for (int j = 0;
             j < texts->n_texts && texts->n_texts > 1 && v->net->inputs[i].absent == BURIN_COUNTING;
             j++)
            for (int32_t k = 0; k < texts->rows[j]; k++, at++) {
                if (a->element->kind == ELEMENT_FLOAT)
                    burin_store_real(a->element, a->data, at, k);
                else
                    burin_store_integer(a->element, a->data, at, k);
            }
    }
}

void burin_network_values_of_texts(burin_network_values *v, const burin_network *net,
                                   const burin_token_rows *texts) {
    *v = new_values(net);
    give_integers(v, net->tokens, texts->id, texts->n);
    for (int i = 0; i < net->n_inputs && texts->type; i++)
        if (net->inputs[i].absent == BURIN_ZEROS && net->inputs[i].rank == 1)
            give_integers(v, i, texts->type, texts->n);
    settle_symbols(v, false);
    complete(v);
    count_in_texts(v, texts);
    for (int i = 0; i < net->n_outputs && texts->n_texts > 1; i++) {
        if (burin_network_is_by_rows(net, &net->outputs[i])) continue;
        free(v->outputs[i].data);
        shape_array(v, &v->outputs[i], &net->outputs[i], texts->n_texts);
        v->output_data[i] = v->outputs[i].data;
    }
}

void burin_network_values_close(burin_network_values *v) {
    for (int i = 0; i < v->net->n_inputs; i++) free(v->inputs[i].data);
    for (int i = 0; i < v->net->n_outputs; i++) free(v->outputs[i].data);
    void *lists[] = {v->inputs, v->outputs, v->input_data, v->output_data,
                     v->files,  v->offsets, v->symbols,    v->known};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
}
