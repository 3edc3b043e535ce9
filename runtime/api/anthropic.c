// Anthropic's /v1/messages and its count_tokens. A request becomes one of OpenAI's chat, so that
// prompts, forms and tools are read by the same functions; replies and events have Anthropic's
// blocks.
#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "server/server.h"

// ---- requests ----
static burin_value empty_list(burin_request *q) { return burin_list_new(&q->r, BURIN_LIST, 0); }

static burin_value call_of_block(burin_request *q, burin_value block) {
    burin_value call = burin_dict_new(&q->r), function = burin_dict_new(&q->r);
    burin_body_set(q, function, "name",
                   burin_body_member(q, block, "name", BURIN_STRING, "messages: tool_use"));
    burin_body_set(q, function, "arguments",
                   burin_body_member(q, block, "input", BURIN_DICT, "messages: tool_use"));
    burin_body_set(q, call, "id",
                   burin_body_member(q, block, "id", BURIN_STRING, "messages: tool_use"));
    burin_body_set(q, call, "type", burin_body_text("function"));
    burin_body_set(q, call, "function", function);
    return call;
}

// The result of a call is a message of its own, before the user's text.
static void add_result(burin_request *q, burin_value messages, burin_value block) {
    burin_value message = burin_dict_new(&q->r);
    const burin_value *content = burin_body_field(q, block, "content");
    burin_body_set(q, message, "role", burin_body_text("tool"));
    burin_body_set(
        q, message, "tool_call_id",
        burin_body_member(q, block, "tool_use_id", BURIN_STRING, "messages: tool_result"));
    burin_body_set(q, message, "content", content ? *content : burin_body_text(""));
    burin_list_add(&q->r, messages, message);
}

static void add_message(burin_request *q, burin_value messages, burin_value given) {
    burin_value message = burin_dict_new(&q->r), texts = empty_list(q), calls = empty_list(q);
    const burin_value *content =
        given.kind == BURIN_DICT ? burin_body_field(q, given, "content") : NULL;
    if (!content || content->kind != BURIN_LIST) {  // a text, or what prompt.c refuses
        burin_list_add(&q->r, messages, given);
        return;
    }
    burin_body_set(q, message, "role",
                   burin_body_member(q, given, "role", BURIN_STRING, "messages"));
    for (uint32_t i = 0; i < content->list->n; i++) {
        burin_value block = content->list->items[i];
        if (burin_body_has_type(q, block, "tool_use"))
            burin_list_add(&q->r, calls, call_of_block(q, block));
        else if (burin_body_has_type(q, block, "tool_result"))
            add_result(q, messages, block);
        else if (burin_body_has_type(q, block, "thinking"))
            burin_body_set(
                q, message, "reasoning_content",
                burin_body_member(q, block, "thinking", BURIN_STRING, "messages: thinking"));
        else if (!burin_body_has_type(q, block, "redacted_thinking"))
            burin_list_add(&q->r, texts, block);
    }
    if (!texts.list->n && !calls.list->n) return;  // results alone
    burin_body_set(q, message, "content", texts);
    if (calls.list->n) burin_body_set(q, message, "tool_calls", calls);
    burin_list_add(&q->r, messages, message);
}

static void convert_messages(burin_request *q) {
    const burin_value *given = burin_body_list(q, "messages"),
                      *system = burin_body_field(q, q->body, "system");
    burin_value messages = empty_list(q);
    if (system) {
        burin_value message = burin_dict_new(&q->r);
        burin_body_set(q, message, "role", burin_body_text("system"));
        burin_body_set(q, message, "content", *system);
        burin_list_add(&q->r, messages, message);
    }
    for (uint32_t i = 0; given && i < given->list->n; i++)
        add_message(q, messages, given->list->items[i]);
    burin_body_set(q, q->body, "messages", given ? messages : burin_none());
}

static void convert_tools(burin_request *q) {
    const burin_value *given = burin_body_list(q, "tools");
    burin_value tools = empty_list(q);
    for (uint32_t i = 0; given && i < given->list->n; i++) {
        burin_value tool = burin_dict_new(&q->r), function = burin_dict_new(&q->r),
                    own = given->list->items[i];
        burin_body_set(q, function, "name",
                       burin_body_member(q, own, "name", BURIN_STRING, "tools"));
        const burin_value *description = burin_body_field(q, own, "description");
        if (description) burin_body_set(q, function, "description", *description);
        burin_body_set(q, function, "parameters",
                       burin_body_member(q, own, "input_schema", BURIN_DICT, "tools"));
        burin_body_set(q, tool, "type", burin_body_text("function"));
        burin_body_set(q, tool, "function", function);
        burin_list_add(&q->r, tools, tool);
    }
    if (given) burin_body_set(q, q->body, "tools", tools);
}

static void convert_choice(burin_request *q) {
    const burin_value *choice = burin_body_field(q, q->body, "tool_choice"), *alone;
    burin_value named = burin_dict_new(&q->r);
    if (!choice) return;
    alone = choice->kind == BURIN_DICT ? burin_body_field(q, *choice, "disable_parallel_tool_use")
                                       : NULL;
    if (alone)
        burin_body_set(q, q->body, "parallel_tool_calls", burin_boolean(!burin_truth(*alone)));
    if (burin_body_has_type(q, *choice, "tool")) {
        burin_body_set(q, named, "function", *choice);
        burin_body_set(q, q->body, "tool_choice", named);
    } else if (burin_body_has_type(q, *choice, "any")) {
        burin_body_set(q, q->body, "tool_choice", burin_body_text("required"));
    } else {
        burin_body_set(q, q->body, "tool_choice",
                       burin_body_member(q, *choice, "type", BURIN_STRING, "tool_choice"));
    }
}

// output_config.format, or output_format: a schema, as response_format has it.
static void convert_output(burin_request *q) {
    const burin_value *config = burin_body_dict(q, "output_config"),
                      *format = config ? burin_body_field(q, *config, "format") : NULL,
                      *effort = config ? burin_body_field(q, *config, "effort") : NULL;
    if (!format) format = burin_body_dict(q, "output_format");
    if (format) burin_body_set(q, q->body, "response_format", *format);
    if (effort) burin_body_set(q, q->body, "reasoning_effort", *effort);
}

static void read_request(burin_request *q) {
    burin_body_read(q);
    const burin_value *stops = burin_body_list(q, "stop_sequences"),
                      *thinking = burin_body_field(q, q->body, "thinking");
    if (stops) burin_body_set(q, q->body, "stop", *stops);
    if (thinking) {
        burin_value more = burin_dict_new(&q->r);
        const burin_value *budget =
            thinking->kind == BURIN_DICT ? burin_body_field(q, *thinking, "budget_tokens") : NULL;
        if (budget) burin_body_set(q, q->body, "thinking_budget_tokens", *budget);
        burin_body_set(q, more, "enable_thinking",
                       burin_boolean(burin_body_has_type(q, *thinking, "enabled")));
        burin_body_set(q, q->body, "chat_template_kwargs", more);
    }
    convert_messages(q);
    convert_tools(q);
    convert_choice(q);
    convert_output(q);
}

void burin_handle_messages(burin_request *q) {
    read_request(q);
    if (!burin_body_field(q, q->body, "max_tokens"))
        burin_request_fail(q, 400, "max_tokens", "\"max_tokens\" is missing");
    burin_settings_read(q, burin_body_integer(q, "max_tokens", 0, 1, INT64_MAX));
    q->n_answers = 1;
    burin_form_tools(q);
    burin_form_read(q);
    burin_prompt_chat(q);
    burin_name_request(q, "msg_");
    burin_answers_open(q);
}

void burin_handle_count_tokens(burin_request *q) {
    read_request(q);
    burin_form_tools(q);
    burin_prompt_chat(q);
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"input_tokens\": %d}", q->n_prompt);
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

// ---- replies ----
static void print_message_usage(const burin_answer *a, bool whole) {
    burin_print(
        "\"usage\": {\"input_tokens\": %d, \"cache_creation_input_tokens\": 0, "
        "\"cache_read_input_tokens\": %d, "
        "\"output_tokens\": %lld}",
        a->n_prompt - a->cached, a->cached, whole ? (long long)a->g.generated : 0);
}

static const char *stop_reason(const burin_answer *a, bool called) {
    if (!strcmp(a->finish, "length")) return "max_tokens";
    if (called) return "tool_use";
    return a->g.stop_text ? "stop_sequence" : "end_turn";
}

static void print_stop(const burin_answer *a, bool called) {
    burin_print("\"stop_reason\": \"%-s\", \"stop_sequence\": ", stop_reason(a, called));
    if (a->g.stop_text && !called)
        burin_print_json_string(a->g.stop_text, strlen(a->g.stop_text));
    else
        burin_print("null");
}

static void print_message_head(const burin_request *q) {
    burin_print("\"id\": \"%-s\", \"type\": \"message\", \"role\": \"assistant\"", q->id);
    burin_print_model(q);
}

static void print_block(burin_answer *a, const char *type, const char *field, const char *text,
                        size_t bytes) {
    burin_print("%s{\"type\": \"%-s\", \"%-s\": ", a->streamed.blocks++ ? ", " : "", type, field);
    burin_print_json_string(text, bytes);
    burin_print(strcmp(type, "thinking") ? "}" : ", \"signature\": \"\"}");
}

static void block_of_part(burin_answer *a, burin_stream_part part, const char *text, size_t bytes) {
    bool thought = part == BURIN_STREAM_REASONING;
    print_block(a, thought ? "thinking" : "text", thought ? "thinking" : "text", text, bytes);
}

static void print_use(const burin_answer *a, int number, const burin_call_part *name) {
    burin_print("\"type\": \"tool_use\", \"id\": \"");
    burin_print_call_id(&a->request->tools, number);
    burin_print("\", \"name\": ");
    burin_print_json_string(name->text, name->bytes);
    burin_print(", \"input\": ");
}

static void block_of_call(burin_answer *a, int number, const burin_call_part *name,
                          const char *arguments, size_t bytes) {
    burin_print(a->streamed.blocks++ ? ", {" : "{");
    print_use(a, number, name);
    burin_print_bytes(arguments, bytes);
    burin_print("}");
}

static void finish_message(burin_request *q) {
    static const burin_stream_printer blocks = {.part = block_of_part, .call = block_of_call};
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{");
    print_message_head(q);
    burin_print(", \"content\": [");
    bool called = burin_stream_parts(q->answers, &blocks);
    burin_print("], ");
    print_stop(q->answers, called);
    burin_print(", ");
    print_message_usage(q->answers, true);
    burin_print_receipt(q);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

// ---- events ----
static void begin_event(const char *name) {
    burin_print("event: %-s\ndata: {\"type\": \"%-s\"", name, name);
}
static void end_event(void) { burin_print("}\n\n"); }

static void end_block(burin_answer *a) {
    if (!a->streamed.open) return;
    begin_event("content_block_stop");
    burin_print(", \"index\": %d", a->streamed.blocks++);
    end_event();
    a->streamed.open = 0;
}

// A letter for each kind of block.
static void begin_block(burin_answer *a, char kind) {
    end_block(a);
    begin_event("content_block_start");
    burin_print(", \"index\": %d, \"content_block\": {", a->streamed.blocks);
    a->streamed.open = kind;
}

static void event_of_part(burin_answer *a, burin_stream_part part, const char *text, size_t bytes) {
    bool thought = part == BURIN_STREAM_REASONING;
    const char *type = thought ? "thinking" : "text";
    if (a->streamed.open != *type) {
        begin_block(a, *type);
        burin_print("\"type\": \"%-s\", \"%-s\": \"\"%-s}", type, type,
                    thought ? ", \"signature\": \"\"" : "");
        end_event();
    }
    begin_event("content_block_delta");
    burin_print(", \"index\": %d, \"delta\": {\"type\": \"%-s_delta\", \"%-s\": ",
                a->streamed.blocks, type, type);
    burin_print_json_string(text, bytes);
    burin_print("}");
    end_event();
}

static void event_of_call(burin_answer *a, int number, const burin_call_part *name,
                          const char *arguments, size_t bytes) {
    if (name) {
        begin_block(a, 'c');
        print_use(a, number, name);
        burin_print("{}}");
        end_event();
    }
    begin_event("content_block_delta");
    burin_print(", \"index\": %d, \"delta\": {\"type\": \"input_json_delta\", \"partial_json\": ",
                a->streamed.blocks);
    burin_print_json_string(arguments, bytes);
    burin_print("}");
    end_event();
}

static void stream_message(burin_answer *a, bool ended) {
    static const burin_stream_printer events = {.part = event_of_part, .call = event_of_call};
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (!a->begun) {
        begin_event("message_start");
        burin_print(", \"message\": {");
        print_message_head(a->request);
        burin_print(", \"content\": [], \"stop_reason\": null, \"stop_sequence\": null, ");
        print_message_usage(a, false);
        burin_print("}");
        end_event();
        a->begun = true;
    }
    bool called = burin_stream_parts(a, &events);
    if (ended) {
        end_block(a);
        begin_event("message_delta");
        burin_print(", \"delta\": {");
        print_stop(a, called);
        burin_print("}, ");
        print_message_usage(a, true);
        burin_print_receipt(a->request);
        end_event();
        begin_event("message_stop");
        end_event();
    }
    burin_capture_into(before);
    burin_stream_send(a->request, &event);
}

static void stream_message_text(burin_answer *a) { stream_message(a, false); }
static void stream_message_end(burin_answer *a) { stream_message(a, true); }

static void finished_message(burin_request *q) {
    if (q->stream)
        burin_stream_end(q);
    else
        finish_message(q);
}

const burin_api burin_messages_api = {.text = stream_message_text,
                                      .ended = stream_message_end,
                                      .finished = finished_message,
                                      .anthropic = true};
