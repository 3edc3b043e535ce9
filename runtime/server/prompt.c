// The prompt of a request: its messages rendered by the model's template, or its text, as tokens.
// Messages are made alike first: texts in parts are joined.
#include "text/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_calls.h"
#include "server/server.h"
#include "text/prompt_cache.h"
#include "tokenizer/prompt_ids.h"

static const burin_template *template_of(const burin_model *m) {
    return (const burin_template *)(const void *)(m->weights() + m->template_offset);
}

// ---- messages ----
static _Noreturn void fail_message(burin_request *q, uint32_t number, const char *field,
                                   const char *what) {
    char path[BURIN_PARAMETER_BYTES];
    snprintf(path, sizeof path, "messages[%u]%s", number, field);
    burin_request_fail(q, 400, path, "%s %s", path, what);
}

// The text of a part; parts that are no text need eyes or ears.
static burin_value text_of_part(burin_request *q, uint32_t number, burin_value part) {
    if (part.kind == BURIN_STRING) return part;
    const burin_value *type = part.kind == BURIN_DICT ? burin_body_field(q, part, "type") : NULL,
                      *text;
    if (!type || type->kind != BURIN_STRING)
        fail_message(q, number, ".content", "has a part without a \"type\"");
    if (!burin_is_text(*type, "text") && !burin_is_text(*type, "input_text") &&
        !burin_is_text(*type, "output_text") && !burin_is_text(*type, "refusal"))
        fail_message(q, number, ".content",
                     q->server->model->eyes
                         ? "has a part that is neither text nor a picture"
                         : "has a part that is no text, and this model reads text alone");
    text = burin_body_field(q, part, burin_is_text(*type, "refusal") ? "refusal" : "text");
    if (!text || text->kind != BURIN_STRING)
        fail_message(q, number, ".content", "has a part without its \"text\"");
    return *text;
}

// Parts with pictures stay parts.
static burin_value keep_parts(burin_request *q, uint32_t number, burin_value parts) {
    burin_value kept = burin_list_new(&q->r, BURIN_LIST, parts.list->n);
    for (uint32_t i = 0; i < parts.list->n; i++) {
        burin_value part = parts.list->items[i], made;
        char where[BURIN_PARAMETER_BYTES];
        snprintf(where, sizeof where, "messages[%u].content[%u]", number, i);
        if (burin_part_is_picture(q, part)) {
            made = burin_picture_part(q, part, where);
        } else {
            made = burin_dict_new(&q->r);
            burin_body_set(q, made, "type", burin_body_text("text"));
            burin_body_set(q, made, "text", text_of_part(q, number, part));
        }
        burin_list_add(&q->r, kept, made);
    }
    return kept;
}

static bool has_pictures(burin_request *q, burin_value parts) {
    bool some = false;
    for (uint32_t i = 0; q->server->model->eyes && i < parts.list->n; i++)
        some |= burin_part_is_picture(q, parts.list->items[i]);
    return some;
}

static burin_value join_parts(burin_request *q, uint32_t number, burin_value parts) {
    if (has_pictures(q, parts)) return keep_parts(q, number, parts);
    size_t begin = burin_text_begin(&q->r);
    for (uint32_t i = 0; i < parts.list->n; i++) {
        burin_value text = text_of_part(q, number, parts.list->items[i]);
        burin_text_add(&q->r, text.text, text.length);
    }
    return burin_text_end(&q->r, begin);
}

// Arguments that are text must be JSON; the rendering reads them as the template wants them.
static void check_arguments(burin_request *q, uint32_t number, burin_value calls) {
    if (calls.kind == BURIN_NONE) return;
    if (calls.kind != BURIN_LIST) fail_message(q, number, ".tool_calls", "must be a list");
    for (uint32_t i = 0; i < calls.list->n; i++) {
        const burin_value *function = calls.list->items[i].kind == BURIN_DICT
                                          ? burin_body_field(q, calls.list->items[i], "function")
                                          : NULL;
        const burin_value *arguments = function && function->kind == BURIN_DICT
                                           ? burin_dict_find_text(&q->r, *function, "arguments")
                                           : NULL;
        const burin_value *name = arguments ? burin_body_field(q, *function, "name") : NULL;
        if (!name || name->kind != BURIN_STRING)
            fail_message(q, number, ".tool_calls",
                         "has a call without a function, its name and its arguments");
        if (arguments->kind == BURIN_STRING && arguments->length)
            burin_json_read(&q->r, "the arguments of a call", arguments->text, arguments->length);
    }
}

static void make_alike(burin_request *q, uint32_t number, burin_value message) {
    static const char *const texts[] = {".name", ".tool_call_id", ".reasoning_content"};
    if (message.kind != BURIN_DICT) fail_message(q, number, "", "must be an object");
    burin_value *role = burin_dict_find_text(&q->r, message, "role"),
                *content = burin_dict_find_text(&q->r, message, "content"),
                *calls = burin_dict_find_text(&q->r, message, "tool_calls");
    if (!role || role->kind != BURIN_STRING) fail_message(q, number, ".role", "must be a string");
    if (content && content->kind == BURIN_LIST)
        *content = join_parts(q, number, *content);
    else if (content && content->kind != BURIN_STRING && content->kind != BURIN_NONE)
        fail_message(q, number, ".content", "must be a string or a list of parts");
    else if (!content && !calls)
        fail_message(q, number, ".content", "is missing");
    if (calls) check_arguments(q, number, *calls);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const burin_value *text = burin_body_field(q, message, texts[i] + 1);
        if (text && text->kind != BURIN_STRING)
            fail_message(q, number, texts[i], "must be a string");
    }
}

static void set_field(burin_request *q, burin_value dict, const char *name,
                      const burin_value *value) {
    if (value) burin_dict_set(&q->r, dict, burin_string_of(name, strlen(name)), *value);
}

// What burin_render takes: messages, tools, documents, and variables of the template.
static burin_value input_of_template(burin_request *q, const burin_value *tools) {
    burin_value input = burin_dict_new(&q->r), more = burin_dict_new(&q->r);
    const burin_value *given = burin_body_dict(q, "chat_template_kwargs");
    for (uint32_t i = 0; given && i < given->dict->n; i++)
        burin_dict_set(&q->r, more, given->dict->pairs[i].key, given->dict->pairs[i].value);
    set_field(q, more, "reasoning_effort", burin_body_string(q, "reasoning_effort"));
    set_field(q, input, "messages", burin_body_field(q, q->body, "messages"));
    set_field(q, input, "tools", tools);
    set_field(q, input, "documents", burin_body_list(q, "documents"));
    set_field(q, input, "kwargs", &more);
    burin_value prompt = burin_boolean(burin_body_bool(q, "add_generation_prompt", true));
    set_field(q, input, "add_generation_prompt", &prompt);
    return input;
}

// The program's own system message goes before messages that have none.
static void add_own_system(burin_request *q, burin_value messages) {
    const char *own = burin_prompt_system(q->server->model);
    const burin_value *role = burin_body_field(q, messages.list->items[0], "role");
    if (!own || burin_is_text(*role, "system") || burin_is_text(*role, "developer")) return;
    burin_value message = burin_dict_new(&q->r);
    burin_body_set(q, message, "role", burin_body_text("system"));
    burin_body_set(q, message, "content", burin_body_text(own));
    burin_list_add(&q->r, messages, message);
    burin_value *items = messages.list->items;
    for (uint32_t i = messages.list->n - 1; i > 0; i--) items[i] = items[i - 1];
    items[0] = message;
}

// The messages as JSON, within the request's memory.
burin_value burin_prompt_json(burin_request *q, const burin_value *tools) {
    const burin_value *messages = burin_body_list(q, "messages");
    if (!messages || !messages->list->n)
        burin_request_fail(q, 400, "messages", "\"messages\" must be a list of messages");
    if ((int64_t)messages->list->n > q->server->limits.max_messages)
        burin_request_fail(q, 400, "messages", "\"messages\" has %u of them, more than %d",
                           messages->list->n, q->server->limits.max_messages);
    for (uint32_t i = 0; i < messages->list->n; i++) make_alike(q, i, messages->list->items[i]);
    add_own_system(q, *messages);
    if (q->plain_tools) burin_plain_tools_write(q, *messages);
    return burin_body_json(q, input_of_template(q, tools));
}

// ---- tokens ----
static void check_length(burin_request *q, size_t tokens) {
    size_t context = (size_t)q->server->base->context;
    if (!tokens) burin_request_fail(q, 400, NULL, "the prompt is empty");
    if (tokens < context) return;
    snprintf(q->code, sizeof q->code, "context_length_exceeded");
    burin_request_fail(
        q, 400, "messages",
        "the prompt has %zu tokens, and the context of %zu must have room for an answer", tokens,
        context);
}

void burin_prompt_encode(burin_request *q, const burin_encoding *text) {
    burin_encoding e = *text;
    if (burin_text_is_far_longer(q->server->model, e.text, e.bytes, q->server->base->context))
        check_length(q, e.bytes);
    if (q->n_pictures) {
        burin_pictures_encode(q, &e);
    } else {
        e.whole = true;
        burin_tokens tokens = burin_encode_text(q->server->tokenizer, &e);
        q->prompt = tokens.id, q->n_prompt = tokens.n;
    }
    check_length(q, (size_t)q->n_prompt);
}

// Renders input of the template; the caller frees the memory. False: it cannot be.
static bool render(const burin_request *q, burin_value json, burin_rendering *r) {
    *r = (burin_rendering){.template_blob = template_of(q->server->model),
                           .json = json.text,
                           .json_bytes = json.length,
                           .json_name = "body",
                           .now = q->now};
    r->memory_bytes = BURIN_RENDER_BYTES(json.length);
    r->memory = burin_allocate(1, r->memory_bytes);
    return burin_render(r);
}

// Counts the tokens that the prompt shares with its system message alone, which a store keeps.
static void find_end_of_system(burin_request *q, const burin_value *tools) {
    const burin_list *messages = burin_body_list(q, "messages")->list;
    const burin_value *role = burin_body_field(q, messages->items[0], "role");
    burin_value first = burin_list_new(&q->r, BURIN_LIST, 1);
    burin_rendering r;
    if (messages->n < 2 || (!burin_is_text(*role, "system") && !burin_is_text(*role, "developer")))
        return;
    burin_list_add(&q->r, first, messages->items[0]);
    burin_body_set(q, q->body, "messages", first);
    burin_body_set(q, q->body, "add_generation_prompt", burin_boolean(false));
    if (render(q, burin_body_json(q, input_of_template(q, tools)), &r)) {
        burin_tokens alone = burin_encode_text(
            q->server->tokenizer,
            &(burin_encoding){.text = r.text, .bytes = r.bytes, .marks = r.marks, .whole = true});
        while (q->n_system < alone.n && q->n_system < q->n_prompt - 1 &&
               alone.id[q->n_system] == q->prompt[q->n_system])
            q->n_system++;
        free(alone.id);
    }
    free(r.memory);
}

void burin_prompt_chat(burin_request *q) {
    const burin_model *m = q->server->model;
    if (!m->template_bytes)
        burin_request_fail(
            q, 400, NULL, "this model has no chat template: ask /v1/completions with a \"prompt\"");
    const burin_value *given = q->shows_tools ? burin_body_list(q, "tools") : NULL;
    const burin_value copy = given ? *given : burin_none(), *tools = given ? &copy : NULL;
    burin_rendering *r = &q->rendering;
    if (!render(q, burin_prompt_json(q, tools), r))
        burin_request_fail(q, 400, "messages", "%s", r->error);
    const burin_encoding text = {.text = r->text, .bytes = r->bytes, .marks = r->marks};
    burin_prompt_encode(q, &text);
    q->chat = true, q->thinking = burin_ends_in_thoughts(r->text, r->bytes);
    if (q->server->store && !q->n_pictures) find_end_of_system(q, tools);
}

static void read_ids(burin_request *q, const burin_list *ids) {
    int32_t vocabulary = burin_input_vocabulary(q->server->model);
    check_length(q, ids->n);
    q->prompt = burin_allocate(ids->n, sizeof *q->prompt);
    for (uint32_t i = 0; i < ids->n; i++) {
        burin_value id = ids->items[i];
        if (id.kind != BURIN_INTEGER || id.integer < 0 || id.integer >= vocabulary)
            burin_request_fail(q, 400, "prompt",
                               "\"prompt\": a token's id must be a whole number from 0 to %d",
                               vocabulary - 1);
        q->prompt[q->n_prompt++] = (int32_t)id.integer;
    }
}

void burin_prompt_plain(burin_request *q, burin_value prompt) {
    if (prompt.kind == BURIN_LIST && prompt.list->n == 1 &&
        prompt.list->items[0].kind != BURIN_INTEGER)
        prompt = prompt.list->items[0];
    if (prompt.kind == BURIN_LIST && prompt.list->n && prompt.list->items[0].kind == BURIN_INTEGER)
        read_ids(q, prompt.list);
    else if (prompt.kind == BURIN_STRING)
        burin_prompt_encode(
            q, &(burin_encoding){
                   .text = prompt.text, .bytes = prompt.length, .special = true, .whole = true});
    else
        burin_request_fail(q, 400, "prompt",
                           "\"prompt\" must be one text, or a list of one text's token ids");
}

// ---- the text between two others ----
typedef struct infill_tokens {
    const char *before, *after, *middle;  // marks of the parts; "": no mark
    bool after_first;                     // the text after the gap comes first
} infill_tokens;

static const infill_tokens infills[] = {
    {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", false},
    {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", false},
    {"<fim-prefix>", "<fim-suffix>", "<fim-middle>", false},
    {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>", false},
    {"\xe2\x96\x81<PRE>", "\xe2\x96\x81<SUF>", "\xe2\x96\x81<MID>", false},
    {"<\xef\xbd\x9c"
     "fim\xe2\x96\x81"
     "begin\xef\xbd\x9c>",
     "<\xef\xbd\x9c"
     "fim\xe2\x96\x81hole\xef\xbd\x9c>",
     "<\xef\xbd\x9c"
     "fim\xe2\x96\x81"
     "end\xef\xbd\x9c>",
     false},
    {"[PREFIX]", "[SUFFIX]", "", true},
};

static int32_t id_of(const burin_request *q, const char *token) {
    return burin_token_find(q->server->tokenizer, token, strlen(token));
}

static const infill_tokens *find_infill(const burin_request *q) {
    for (size_t i = 0; i < sizeof infills / sizeof *infills; i++) {
        const infill_tokens *t = &infills[i];
        if (id_of(q, t->before) >= 0 && id_of(q, t->after) >= 0 &&
            (!*t->middle || id_of(q, t->middle) >= 0))
            return t;
    }
    return NULL;
}

static void add_part(burin_request *q, const char *mark, const burin_value *text) {
    burin_tokens part = {0};
    if (text)
        part = burin_encode_text(
            q->server->tokenizer,
            &(burin_encoding){
                .text = text->text, .bytes = text->length, .plain = true, .whole = true});
    int32_t *more = burin_allocate((size_t)q->n_prompt + (size_t)part.n + 1, sizeof *more);
    if (q->n_prompt) memcpy(more, q->prompt, (size_t)q->n_prompt * sizeof *more);
    free(q->prompt);
    q->prompt = more;
    if (*mark) q->prompt[q->n_prompt++] = id_of(q, mark);
    if (part.n) memcpy(q->prompt + q->n_prompt, part.id, (size_t)part.n * sizeof *more);
    q->n_prompt += part.n;
    free(part.id);
}

void burin_prompt_infill(burin_request *q, burin_value before, burin_value after) {
    const infill_tokens *marks = find_infill(q);
    const burin_model *m = q->server->model;
    if (!marks)
        burin_request_fail(q, 400, "suffix", "this model has no tokens for a text between others");
    if (before.kind != BURIN_STRING)
        burin_request_fail(q, 400, "prompt", "\"prompt\" must be one text where \"suffix\" is");
    if (burin_text_is_far_longer(m, before.text, before.length, q->server->base->context))
        check_length(q, before.length);
    if (burin_text_is_far_longer(m, after.text, after.length, q->server->base->context))
        check_length(q, after.length);
    burin_tokens begin = burin_tokenize(m, "", 0, true);
    if (begin.n == 1 && begin.id[0] == m->bos) {
        q->prompt = begin.id, q->n_prompt = 1;
    } else {
        free(begin.id);
    }
    if (marks->after_first) add_part(q, marks->after, &after);
    add_part(q, marks->before, &before);
    if (!marks->after_first) add_part(q, marks->after, &after);
    if (*marks->middle) add_part(q, marks->middle, NULL);
    check_length(q, (size_t)q->n_prompt);
}
