// Prepares messages as OpenAI's API writes them for templates, which were written for transformers'
// form of messages.
//
//     {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 1}"}}]}
//                                          arguments: a dictionary that prints as its text where a template joins texts
//     {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
//                                          content: "ab", or the list where the template reads parts
//     {"role": "developer", ...}           role: system, where the template knows no developer
//     {"role": "tool", "tool_call_id": "c"}     name: that of the call
//     {"role": "assistant", "reasoning": "..."} reasoning_content and thinking: the same, as transformers 5 has it
//     {"content": null}                    no content
#include <string.h>

#include "template_value.h"

// Returns true if a string of the template is this word, or has it as a part.
static bool template_has(burin_render_state *r, const char *word, bool as_part) {
    burin_value w = burin_string_of(word, strlen(word));
    burin_render_step(r, r->program->n_strings / 8 + 1);
    for (uint32_t i = 0; i < r->program->n_strings; i++) {
        burin_value s = burin_string_number(r, i);
        if (as_part ? memmem(s.text, s.length, w.text, w.length) != NULL : burin_is_text(s, word))
            return true;
    }
    return false;
}

// The joined texts of a list of parts; undefined if a part is no text.
burin_value burin_join_parts(burin_render_state *r, burin_value content) {
    burin_value joined = BURIN_LITERAL(""), none = burin_undefined("a part without text", 19);
    for (uint32_t i = 0; i < content.list->n; i++) {
        burin_value part = content.list->items[i];
        const burin_value *text =
            part.kind == BURIN_DICT ? burin_dict_find_text(r, part, "text") : &part;
        if (!text || text->kind != BURIN_STRING) return none;
        joined = burin_join_two(r, joined, *text);
    }
    return joined;
}

static void prepare_content(burin_render_state *r, burin_value *content, bool reads_parts) {
    if (content->kind != BURIN_LIST || !content->list->n) return;
    burin_value joined = burin_join_parts(r, *content);
    if (joined.kind != BURIN_STRING) return;
    if (reads_parts)
        content->list->text = joined;
    else
        *content = joined;
}

static void prepare_arguments(burin_render_state *r, burin_value *arguments) {
    burin_value text = *arguments, read = burin_dict_new(r);
    if (text.kind != BURIN_STRING) return;
    if (text.length && (!burin_json_try(r, text, &read) || read.kind != BURIN_DICT)) return;
    read.dict->text = text;
    *arguments = read;
}

static void prepare_calls(burin_render_state *r, burin_value calls) {
    for (uint32_t i = 0; calls.kind == BURIN_LIST && i < calls.list->n; i++) {
        burin_value call = calls.list->items[i];
        const burin_value *function =
            call.kind == BURIN_DICT ? burin_dict_find_text(r, call, "function") : NULL;
        if (function) call = *function;
        burin_value *arguments =
            call.kind == BURIN_DICT ? burin_dict_find_text(r, call, "arguments") : NULL;
        if (arguments) prepare_arguments(r, arguments);
    }
}

// Remembers the names of the calls of a message by their ids.
static void note_names(burin_render_state *r, burin_value names, burin_value calls) {
    for (uint32_t i = 0; calls.kind == BURIN_LIST && i < calls.list->n; i++) {
        burin_value call = calls.list->items[i];
        const burin_value *id =
            call.kind == BURIN_DICT ? burin_dict_find_text(r, call, "id") : NULL;
        const burin_value *function = id ? burin_dict_find_text(r, call, "function") : NULL;
        const burin_value *name = function && function->kind == BURIN_DICT
                                      ? burin_dict_find_text(r, *function, "name")
                                      : NULL;
        if (name && id->kind == BURIN_STRING) burin_dict_set(r, names, *id, *name);
    }
}

static void name_result(burin_render_state *r, burin_value names, burin_value message) {
    const burin_value *id = burin_dict_find_text(r, message, "tool_call_id");
    const burin_value *name =
        id && id->kind == BURIN_STRING ? burin_dict_find(r, names, *id) : NULL;
    if (name && !burin_dict_find_text(r, message, "name"))
        burin_dict_set(r, message, BURIN_LITERAL("name"), *name);
}

// Rebuilds a message without its nulls, with its reasoning under both names, as transformers 5
// does.
static burin_value normalize_message(burin_render_state *r, burin_value message) {
    static const char *const fields[] = {"reasoning_content", "thinking", "reasoning"};
    const burin_value *reasoning = NULL;
    burin_value out = burin_dict_new(r);
    for (int i = 0; i < 3 && (!reasoning || reasoning->kind == BURIN_NONE); i++)
        reasoning = burin_dict_find_text(r, message, fields[i]);
    bool reasons = reasoning && reasoning->kind != BURIN_NONE;
    if (reasons) burin_dict_set(r, out, BURIN_LITERAL("thinking"), *reasoning);
    for (uint32_t i = 0; i < message.dict->n; i++) {
        const burin_pair *pair = &message.dict->pairs[i];
        if (pair->value.kind != BURIN_NONE) burin_dict_set(r, out, pair->key, pair->value);
    }
    if (reasons) burin_dict_set(r, out, BURIN_LITERAL("reasoning_content"), *reasoning);
    return out;
}

void burin_prepare_messages(burin_render_state *r, burin_value messages) {
    bool reads_parts = template_has(r, "text", false),
         knows_developer = template_has(r, "developer", true);
    burin_value names = burin_dict_new(r);
    for (uint32_t i = 0; i < messages.list->n; i++) {
        if (messages.list->items[i].kind != BURIN_DICT) continue;
        burin_value message = normalize_message(r, messages.list->items[i]);
        messages.list->items[i] = message;
        burin_value *role = burin_dict_find_text(r, message, "role"),
                    *content = burin_dict_find_text(r, message, "content"),
                    *calls = burin_dict_find_text(r, message, "tool_calls");
        if (role && burin_is_text(*role, "developer") && !knows_developer)
            *role = BURIN_LITERAL("system");
        if (content) prepare_content(r, content, reads_parts);
        if (calls) {
            note_names(r, names, *calls);
            prepare_calls(r, *calls);
        }
        if (role && burin_is_text(*role, "tool")) name_result(r, names, message);
    }
}
