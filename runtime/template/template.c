// Statements of templates, and rendering.
#include "template.h"

#include <stdio.h>
#include <string.h>

#include "template_value.h"

typedef enum burin_flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } burin_flow;

static burin_flow run(burin_render_state *, uint32_t node);

burin_value burin_string_number(const burin_render_state *r, uint32_t number) {
    const char *blob = (const char *)r->program;
    const uint32_t *entry =
        (const uint32_t *)(const void *)(blob + r->program->strings) + 2 * number;
    return burin_string_of(blob + entry[0], entry[1]);
}

// ------------------------------------------------------------------------------------------ scopes
static burin_scope *scope_new(burin_render_state *r, burin_scope *outer) {
    burin_scope *scope = burin_render_allocate(r, sizeof *scope);
    *scope = (burin_scope){.outer = outer};
    return scope;
}

static void bind_variable(burin_render_state *r, burin_scope *scope, uint32_t name,
                          burin_value value) {
    size_t before = 0;
    for (burin_binding *b = scope->bindings; b; b = b->next, before++)
        if (b->name == name) {
            b->value = value;
            return burin_render_step(r, before / 4);
        }
    burin_render_step(r, before / 4);
    burin_binding *b = burin_render_allocate(r, sizeof *b);
    *b = (burin_binding){name, value, scope->bindings};
    scope->bindings = b;
}

enum { NO_STRING = -1 };

// Returns the number of a string of the template, or NO_STRING.
static int64_t number_of_string(burin_render_state *r, burin_value name) {
    burin_render_step(r, r->program->n_strings / 8);
    for (uint32_t i = 0; i < r->program->n_strings; i++) {
        burin_value s = burin_string_number(r, i);
        if (s.length == name.length && !memcmp(s.text, name.text, s.length)) return i;
    }
    return NO_STRING;
}

// A variable by its name; nothing when the template does not know the name.
static void bind_text(burin_render_state *r, burin_scope *scope, burin_value name,
                      burin_value value) {
    int64_t number = number_of_string(r, name);
    if (number != NO_STRING) bind_variable(r, scope, (uint32_t)number, value);
}

static void bind_name(burin_render_state *r, burin_scope *scope, const char *name,
                      burin_value value) {
    bind_text(r, scope, burin_string_of(name, strlen(name)), value);
}

static void set_attribute(burin_render_state *r, const uint32_t *w, burin_value value) {
    burin_value name = burin_string_number(r, w[0]), *there = burin_find_variable(r, w[0]);
    if (!there || there->kind != BURIN_NAMESPACE)
        burin_render_fail(r, "\"%.*s\" is no namespace: its attributes cannot be set",
                          (int)name.length, name.text);
    burin_dict_set(r, *there, burin_string_number(r, w[1]), value);
}

static void set_all(burin_render_state *r, const uint32_t *w, burin_value value) {
    const burin_list *items = burin_items(r, value).list;
    if (items->n != w[0]) burin_render_fail(r, "%u values for %u names", items->n, w[0]);
    for (uint32_t i = 0; i < w[0]; i++) burin_assign(r, w[1 + i], items->items[i]);
}

void burin_assign(burin_render_state *r, uint32_t target, burin_value value) {
    const uint32_t *node = r->words + target;
    r->place = node[1];
    if (node[0] == BURIN_T_TARGET)
        bind_variable(r, r->scope, node[2], value);
    else if (node[0] == BURIN_T_TARGET_TUPLE)
        set_all(r, node + 2, value);
    else
        set_attribute(r, node + 2, value);
}

// ---------------------------------------------------------------------------------------- printing
void burin_print_value(burin_render_state *r, burin_value v) {
    burin_value s = burin_string(r, v);
    if (!s.length) return;
    burin_piece *piece = burin_render_allocate(r, sizeof *piece);
    *piece = (burin_piece){.string = s};
    *r->sink.end = piece;
    r->sink.end = &piece->next;
}

static burin_sink open_sink(burin_render_state *r, burin_piece **first) {
    burin_sink outer = r->sink;
    *first = NULL;
    r->sink.end = first;
    return outer;
}

static burin_value joined_pieces(burin_render_state *r, const burin_piece *first) {
    if (first && !first->next) return burin_string_of(first->string.text, first->string.length);
    size_t begin = burin_text_begin(r);
    for (const burin_piece *p = first; p; p = p->next)
        burin_text_add(r, p->string.text, p->string.length);
    return burin_text_end(r, begin);
}

burin_value burin_run_captured(burin_render_state *r, uint32_t body) {
    burin_piece *first;
    burin_sink sink = open_sink(r, &first);
    burin_scope *scope = r->scope;
    r->scope = scope_new(r, scope);
    run(r, body);
    r->scope = scope;
    r->sink = sink;
    return joined_pieces(r, first);
}

// ------------------------------------------------------------------------------------------ macros
static const burin_value *named_argument(burin_render_state *r, const burin_arguments *a,
                                         burin_value name) {
    burin_render_step(r, a->n_named / 8);
    for (uint32_t i = 0; i < a->n_named; i++) {
        burin_value key = a->named[i].key;
        if (key.length == name.length && !memcmp(key.text, name.text, key.length))
            return &a->named[i].value;
    }
    return NULL;
}

// name, body, use, n, then pairs of name and default
static bool is_parameter(burin_render_state *r, const uint32_t *w, burin_value name) {
    burin_render_step(r, w[3] / 8);
    for (uint32_t i = 0; i < w[3]; i++) {
        burin_value s = burin_string_number(r, w[4 + 2 * i]);
        if (s.length == name.length && !memcmp(s.text, name.text, s.length)) return true;
    }
    return false;
}

static void bind_parameters(burin_render_state *r, const uint32_t *w, const burin_arguments *a) {
    for (uint32_t i = 0; i < w[3]; i++) {
        burin_value name = burin_string_number(r, w[4 + 2 * i]);
        const burin_value *given = i < a->n ? &a->values[i] : named_argument(r, a, name);
        uint32_t absent = w[5 + 2 * i];
        bind_variable(r, r->scope, w[4 + 2 * i],
                      given    ? *given
                      : absent ? burin_evaluate(r, absent)
                               : burin_undefined(name.text, name.length));
    }
}

// Arguments beyond the parameters: varargs, kwargs and caller, if the body reads them.
static void bind_others(burin_render_state *r, const uint32_t *w, const burin_arguments *a) {
    burin_value macro = burin_string_number(r, w[0]), more = burin_list_new(r, BURIN_TUPLE, 0),
                named = burin_dict_new(r);
    burin_value caller = burin_undefined("caller", 6);
    if (a->n > w[3] && !(w[2] & BURIN_T_VARARGS))
        burin_render_fail(r, "the macro %.*s takes %u arguments, not %u", (int)macro.length,
                          macro.text, w[3], a->n);
    for (uint32_t i = w[3]; i < a->n; i++) burin_list_add(r, more, a->values[i]);
    for (uint32_t i = 0; i < a->n_named; i++) {
        burin_value key = a->named[i].key;
        if (is_parameter(r, w, key)) continue;
        if (burin_is_text(key, "caller") && w[2] & BURIN_T_CALLER)
            caller = a->named[i].value;
        else if (w[2] & BURIN_T_KWARGS)
            burin_dict_set(r, named, key, a->named[i].value);
        else
            burin_render_fail(r, "the macro %.*s has no argument %.*s", (int)macro.length,
                              macro.text, (int)key.length, key.text);
    }
    if (w[2] & BURIN_T_VARARGS) bind_name(r, r->scope, "varargs", more);
    if (w[2] & BURIN_T_KWARGS) bind_name(r, r->scope, "kwargs", named);
    if (w[2] & BURIN_T_CALLER) bind_name(r, r->scope, "caller", caller);
}

burin_value burin_call_macro(burin_render_state *r, const burin_macro *m,
                             const burin_arguments *a) {
    const uint32_t *w = r->words + m->node + 2;
    burin_scope *scope = r->scope;
    r->scope = scope_new(r, m->scope);
    bind_others(r, w, a);
    bind_parameters(r, w, a);
    burin_value text = burin_run_captured(r, w[1]);
    r->scope = scope;
    return text;
}

// ------------------------------------------------------------------------------------------- loops
// Operands of a loop: target, items, condition, body, else, recursive.
static burin_value chosen_items(burin_render_state *r, const uint32_t *w, burin_value items) {
    if (!w[2]) return items;
    burin_value kept = burin_list_new(r, BURIN_LIST, 0);
    burin_scope *scope = r->scope;
    for (uint32_t i = 0; i < items.list->n; i++) {
        r->scope = scope_new(r, scope);
        burin_assign(r, w[0], items.list->items[i]);
        if (burin_truth(burin_evaluate(r, w[2]))) burin_list_add(r, kept, items.list->items[i]);
        r->scope = scope;
    }
    return kept;
}

static burin_flow run_loop(burin_render_state *r, uint32_t node, burin_value over, uint32_t depth) {
    const uint32_t *w = r->words + node + 2;
    burin_scope *scope = r->scope;
    burin_value items = chosen_items(r, w, burin_items(r, over));
    burin_loop *loop = burin_render_allocate(r, sizeof *loop);
    *loop = (burin_loop){.items = items.list, .depth = depth, .node = node, .scope = scope};
    int64_t name = number_of_string(r, BURIN_LITERAL("loop"));
    for (; loop->index < items.list->n; loop->index++) {
        burin_render_step(r, 1);
        r->scope = scope_new(r, scope);
        if (name != NO_STRING)
            bind_variable(r, r->scope, (uint32_t)name,
                          (burin_value){.kind = BURIN_LOOP, .loop = loop});
        burin_assign(r, w[0], items.list->items[loop->index]);
        burin_flow flow = run(r, w[3]);
        r->scope = scope;
        if (flow == FLOW_BREAK) break;
    }
    if (!items.list->n && w[4]) run(r, w[4]);
    return FLOW_ON;
}

burin_value burin_call_loop(burin_render_state *r, const burin_loop *l, burin_value items) {
    burin_piece *first;
    burin_scope *scope = r->scope;
    if (!r->words[l->node + 7]) burin_render_fail(r, "the loop is not recursive");
    burin_sink sink = open_sink(r, &first);
    burin_render_enter(r);
    r->scope = l->scope;
    run_loop(r, l->node, items, l->depth + 1);
    r->scope = scope;
    burin_render_leave(r);
    r->sink = sink;
    return joined_pieces(r, first);
}

// -------------------------------------------------------------------------------------- statements
static burin_flow run_block(burin_render_state *r, const uint32_t *w) {
    burin_flow flow = FLOW_ON;
    for (uint32_t i = 0; i < w[0] && flow == FLOW_ON; i++) flow = run(r, w[1 + i]);
    return flow;
}

static burin_flow run_if(burin_render_state *r, const uint32_t *w) {
    uint32_t body = burin_truth(burin_evaluate(r, w[0])) ? w[1] : w[2];
    return body ? run(r, body) : FLOW_ON;
}

static burin_flow run_with(burin_render_state *r, const uint32_t *w) {
    burin_scope *scope = r->scope, *inner = scope_new(r, scope);
    for (uint32_t i = 0; i < w[1]; i++) {
        r->scope = scope;
        burin_value value = burin_evaluate(r, w[3 + 2 * i]);
        r->scope = inner;
        burin_assign(r, w[2 + 2 * i], value);
    }
    r->scope = inner;
    burin_flow flow = run(r, w[0]);
    r->scope = scope;
    return flow;
}

static burin_flow run_inside(burin_render_state *r, uint32_t node) {
    const uint32_t *all = r->words + node, *w = all + 2;
    switch (all[0]) {
        case BURIN_T_BLOCK:
            return run_block(r, w);
        case BURIN_T_TEXT:
            burin_print_value(r, burin_string_number(r, w[0]));
            return FLOW_ON;
        case BURIN_T_PRINT:
            burin_print_value(r, burin_evaluate(r, w[0]));
            return FLOW_ON;
        case BURIN_T_IF:
            return run_if(r, w);
        case BURIN_T_FOR:
            return run_loop(r, node, burin_evaluate(r, w[1]), 0);
        case BURIN_T_SET:
            burin_assign(r, w[0], burin_evaluate(r, w[1]));
            return FLOW_ON;
        case BURIN_T_WITH:
            return run_with(r, w);
        default:
            return all[0] == BURIN_T_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
    }
}

static burin_flow run(burin_render_state *r, uint32_t node) {
    burin_render_enter(r);
    burin_flow flow = run_inside(r, node);
    burin_render_leave(r);
    return flow;
}

// --------------------------------------------------------------------------------------- rendering
static void bind_token(burin_render_state *r, const char *name, const char *text, uint32_t own) {
    if (text || own)
        bind_name(r, r->scope, name,
                  text ? burin_string_of(text, strlen(text)) : burin_string_number(r, own - 1));
}

// A list of messages, or an object; missing fields are none, as transformers passes them.
static void bind_input(burin_render_state *r) {
    static const char *const names[] = {"messages", "tools", "documents", "add_generation_prompt"};
    burin_value input = burin_json_read(r, r->out->json_name, r->out->json, r->out->json_bytes);
    if (input.kind != BURIN_LIST && input.kind != BURIN_DICT)
        burin_render_fail(r, "%s: expected a list of messages, or an object with \"messages\"",
                          r->out->json_name);
    for (int i = 0; i < 4; i++) {
        const burin_value *value = input.kind == BURIN_DICT
                                       ? burin_dict_find_text(r, input, names[i])
                                   : i ? NULL
                                       : &input;
        if (!i && (!value || value->kind != BURIN_LIST))
            burin_render_fail(r, "%s: \"messages\" must be a list", r->out->json_name);
        if (!i && !r->out->as_given) burin_prepare_messages(r, *value);
        bind_name(r, r->scope, names[i],
                  value    ? *value
                  : i == 3 ? burin_boolean(true)
                           : burin_none());
    }
    bind_token(r, "bos_token", r->out->bos, r->program->bos);
    bind_token(r, "eos_token", r->out->eos, r->program->eos);
    const uint32_t *tokens =
        (const uint32_t *)(const void *)((const char *)r->program + r->program->tokens);
    for (uint32_t i = 0; i < r->program->n_tokens; i++)
        bind_variable(r, r->scope, tokens[2 * i], burin_string_number(r, tokens[2 * i + 1]));
    const burin_value *more =
        input.kind == BURIN_DICT ? burin_dict_find_text(r, input, "kwargs") : NULL;
    if (!more || more->kind != BURIN_DICT) return;
    for (uint32_t i = 0; i < more->dict->n; i++)
        if (more->dict->pairs[i].key.kind == BURIN_STRING)
            bind_text(r, r->scope, more->dict->pairs[i].key, more->dict->pairs[i].value);
}

void burin_render_divide(burin_render_state *r) {
    size_t bytes = r->out->memory_bytes & ~(size_t)63, strings = bytes / 4;
    r->budget = (burin_budget){.max_steps = BURIN_RENDER_STEPS + BURIN_RENDER_STEPS_PER_BYTE *
                                                                     (uint64_t)r->out->json_bytes,
                               .max_levels = BURIN_RENDER_DEPTH};
    r->objects = r->out->memory;
    r->objects_end = r->objects + bytes / 2;
    r->strings = r->free = r->objects_end;
    r->strings_end = r->strings + strings;
}

static void finish_rendering(burin_render_state *r, const burin_piece *first) {
    size_t begin = burin_text_begin(r);
    for (const burin_piece *p = first; p; p = p->next)
        burin_text_add(r, p->string.text, p->string.length);
    burin_value text = burin_text_end(r, begin);
    r->place = 0;
    burin_text_char(r, 0);
    r->out->text = text.text;
    r->out->bytes = text.length;
    r->out->marks = (const uint8_t *)text.text + (r->strings_end - r->strings);
}

bool burin_render(burin_rendering *out) {
    const burin_template *t = out->template_blob;
    burin_render_state r = {.out = out, .program = t};
    burin_piece *first = NULL;
    r.words = (const uint32_t *)(const void *)((const char *)t + t->words);
    out->raised = false, out->text = NULL, *out->error = 0;
    burin_render_divide(&r);
    if (setjmp(r.stop)) return false;
    open_sink(&r, &first);
    r.scope = scope_new(&r, NULL);
    bind_input(&r);
    r.scope = scope_new(&r, r.scope);
    run(&r, t->root);
    finish_rendering(&r, first);
    return true;
}

// A string, or the texts of a list of parts.
static burin_value text_of_content(burin_render_state *r, burin_value content) {
    if (content.kind == BURIN_LIST) content = burin_join_parts(r, content);
    if (content.kind != BURIN_STRING)
        burin_render_fail(r, "%s: a message without text", r->out->json_name);
    return content;
}

static void read_message(burin_render_state *r, const burin_message_reader *reader,
                         burin_value message, uint32_t number) {
    char name[64];
    if (message.kind != BURIN_DICT)
        burin_render_fail(
            r, "%s: message %u is no object: {\"role\": \"user\", \"content\": \"a text\"}",
            r->out->json_name, number);
    const burin_value *role = burin_dict_find_text(r, message, "role"),
                      *content = burin_dict_find_text(r, message, "content");
    if (!role || !content)
        burin_render_fail(r, "%s: message %u has no \"%s\"", r->out->json_name, number,
                          role ? "content" : "role");
    if (role->kind != BURIN_STRING || role->length >= sizeof name)
        burin_render_fail(r, "%s: message %u: its role is no name", r->out->json_name, number);
    memcpy(name, role->text, role->length);
    name[role->length] = 0;
    bool parts = reader->add_parts && content->kind == BURIN_LIST &&
                 burin_join_parts(r, *content).kind != BURIN_STRING;
    const burin_json_style style = {
        .indent = burin_none(), .between = BURIN_LITERAL(", "), .behind_key = BURIN_LITERAL(": ")};
    burin_value text = parts ? burin_json_text(r, *content, &style) : text_of_content(r, *content);
    (parts ? reader->add_parts : reader->add)(reader->context, name, text.text, text.length);
}

bool burin_read_messages(const burin_message_reader *reader, const char *name, const char *json,
                         size_t bytes, char *error, size_t room) {
    burin_rendering out = {
        .json_name = name, .memory = reader->memory, .memory_bytes = reader->memory_bytes};
    out.json_bytes = bytes;
    burin_render_state r = {.out = &out};
    burin_render_divide(&r);
    if (setjmp(r.stop)) {
        snprintf(error, room, "%s", out.error);
        return false;
    }
    burin_value input = burin_json_read(&r, name, json, bytes);
    const burin_value *list =
        input.kind == BURIN_DICT ? burin_dict_find_text(&r, input, "messages") : &input;
    if (!list || list->kind != BURIN_LIST)
        burin_render_fail(&r, "%s: \"messages\" must be a list", name);
    for (uint32_t i = 0; i < list->list->n; i++)
        read_message(&r, reader, list->list->items[i], i + 1);
    return true;
}

bool burin_template_is_whole(const void *blob, size_t bytes) {
    burin_template t;
    if (bytes < sizeof t) return false;
    memcpy(&t, blob, sizeof t);
    return t.magic == BURIN_TEMPLATE_MAGIC && t.version == BURIN_TEMPLATE_VERSION &&
           t.bytes == bytes;
}
