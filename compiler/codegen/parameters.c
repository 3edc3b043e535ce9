// Parameters of a kernel function: one list for each kernel prints the signature of its function
// and every call.
//
//   KERNEL void rms_normalization_192(burin_range range, const float *x, const float *weight, float *y) {
//       rms_normalization_192(ROW_RANGE(rows), x, w->input_layernorm, input_layernorm);
#include "codegen/parameters.h"

#include <ctype.h>
#include <string.h>

void take(Parameters *ps, const char *type, const char *name, const char *argument) {
    ps->list[ps->n++] = (Parameter){type, name, argument};
}

void take_view(Parameters *ps, const char *type, const char *name, const View *v) {
    Text t = {0};
    if (v->base == BASE_NONE || v->base == BASE_SCALAR) return;
    c_pointer(&t, ps->program, ps->kernel, v);
    if (ps->kernel->per_sequence) c_sequence_offset(&t, ps->program, v);
    take(ps, type, name, arena_strndup(ps->program->arena, t.data, t.length));
    text_free(&t);
}

static const char *element_of(const View *v) {
    return v->base == BASE_WEIGHT && v->weight->format ? v->weight->format->element
                                                       : c_type(v->type.dtype);
}

void take_operand(Parameters *ps, const char *name, const View *v) {
    take_view(ps, arena_printf(ps->program->arena, "const %s *", element_of(v)), name, v);
}

void take_result(Parameters *ps, const char *name, const View *v) {
    take_view(ps, arena_printf(ps->program->arena, "%s *", c_type(v->type.dtype)), name, v);
}

void take_range(Parameters *ps, const char *name) {
    Text t = {0};
    c_range(&t, ps->program, ps->kernel);
    take(ps, "burin_range ", name, arena_strndup(ps->program->arena, t.data, t.length));
    text_free(&t);
}

void take_count(Parameters *ps, const char *name, const Dim *count) {
    Text t = {0};
    c_dim(&t, ps->program, count);
    take(ps, "int ", name, arena_strndup(ps->program->arena, t.data, t.length));
    text_free(&t);
}

void take_rows(Parameters *ps, const Type *type) {
    const char *name = rows_name(ps->program, type);
    take_count(ps, name, row_count(ps->program, type));
    if (strcmp(name, "rows") != 0) take(ps, "int ", "rows", "rows");
}

void take_step(Parameters *ps) { take(ps, "const burin_step *", "s", "s"); }

Parameters parameters_of(const Program *p, const Kernel *k) {
    Parameters ps = {
        p, k, .list = ARENA_ARRAY(p->arena, Parameter, k->n_in + k->n_out + OTHER_PARAMETERS)};
    kernel_writers[k->family].parameters(&ps);
    return ps;
}

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Returns the position after a comment or string that begins here, or the same position.
static const char *behind_words(const char *at) {
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (*at != '"') return at;
    for (at++; *at && *at != '"'; at++) at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

// The next word of the text from *at on, outside of comments and strings, that is no field of a
// struct; NULL at the end.
static const char *next_word(const char *text, const char **at, size_t *length) {
    while (**at) {
        const char *word = *at, *behind = behind_words(word);
        size_t n = 0;
        while (in_word(word[n])) n++;
        bool field = word > text && (word[-1] == '.' || word[-1] == '>');
        *at = behind > word ? behind : word + (n ? n : 1), *length = n;
        if (behind == word && n && !field) return word;
    }
    return NULL;
}

bool has_word(const char *text, const char *name) {
    size_t n = strlen(name), length;
    for (const char *at = text, *word; (word = next_word(text, &at, &length));)
        if (length == n && !strncmp(word, name, n)) return true;
    return false;
}

// Marks the parameters that the body names, in one pass over it.
static bool *used_parameters(Arena *arena, const Parameters *ps, const char *body) {
    Map words;
    size_t length;
    map_init(&words, arena);
    for (const char *at = body, *word; (word = next_word(body, &at, &length));) {
        const char *name = arena_strndup(arena, word, length);
        if (!map_get(&words, name)) map_put(&words, name, &words);
    }
    bool *used = ARENA_ARRAY(arena, bool, ps->n + 1);
    for (int i = 0; i < ps->n; i++) used[i] = map_get(&words, ps->list[i].name);
    return used;
}

void write_signature(Text *t, const Parameters *ps, const char *kind, const char *name,
                     const char *body) {
    Arena *arena = arena_new();
    const bool *used = used_parameters(arena, ps, body);
    const char *separator = "";
    text_add(t, "%s void %s(", kind, name);
    for (int i = 0; i < ps->n; i++)
        if (used[i])
            text_add(t, "%s%s%s", separator, ps->list[i].type, ps->list[i].name), separator = ", ";
    text_add(t, "%s) {\n", *separator ? "" : "void");
    arena_free(arena);
}

void write_arguments(Text *t, const Parameters *ps, const char *body) {
    Arena *arena = arena_new();
    const bool *used = used_parameters(arena, ps, body);
    const char *separator = "";
    text_add(t, "(");
    for (int i = 0; i < ps->n; i++)
        if (used[i]) text_add(t, "%s%s", separator, ps->list[i].argument), separator = ", ";
    text_add(t, ")");
    arena_free(arena);
}
