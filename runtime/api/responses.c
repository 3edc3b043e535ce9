// OpenAI's /v1/responses: a request becomes one of its chat; the reply and the events have items. A
// server keeps no responses: previous_response_id is refused.
#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "server/server.h"

// ---- requests ----
static burin_value member_list(burin_request *q) { return burin_list_new(&q->r, BURIN_LIST, 0); }

static burin_value message_with_role(burin_request *q, burin_value messages, const char *role) {
    burin_value message = burin_dict_new(&q->r);
    burin_body_set(q, message, "role", burin_body_text(role));
    burin_list_add(&q->r, messages, message);
    return message;
}

static void add_call_item(burin_request *q, burin_value messages, burin_value item) {
    const burin_list *list = messages.list;
    burin_value last = list->n ? list->items[list->n - 1] : burin_none(),
                call = burin_dict_new(&q->r), function = burin_dict_new(&q->r);
    burin_value *calls =
        last.kind == BURIN_DICT ? burin_dict_find_text(&q->r, last, "tool_calls") : NULL;
    if (!calls) {
        burin_value message = message_with_role(q, messages, "assistant"), made = member_list(q);
        burin_body_set(q, message, "content", burin_none());
        burin_body_set(q, message, "tool_calls", made);
        calls = burin_dict_find_text(&q->r, message, "tool_calls");
    }
    burin_body_set(q, function, "name",
                   burin_body_member(q, item, "name", BURIN_STRING, "input: function_call"));
    burin_body_set(q, function, "arguments",
                   burin_body_member(q, item, "arguments", BURIN_STRING, "input: function_call"));
    burin_body_set(q, call, "id",
                   burin_body_member(q, item, "call_id", BURIN_STRING, "input: function_call"));
    burin_body_set(q, call, "type", burin_body_text("function"));
    burin_body_set(q, call, "function", function);
    burin_list_add(&q->r, *calls, call);
}

static void add_result_item(burin_request *q, burin_value messages, burin_value item) {
    const burin_value *output = burin_body_field(q, item, "output");
    burin_value message = message_with_role(q, messages, "tool");
    burin_body_set(
        q, message, "tool_call_id",
        burin_body_member(q, item, "call_id", BURIN_STRING, "input: function_call_output"));
    burin_body_set(q, message, "content", output ? *output : burin_body_text(""));
}

static void add_item(burin_request *q, burin_value messages, burin_value item) {
    const burin_value *type = item.kind == BURIN_DICT ? burin_body_field(q, item, "type") : NULL;
    if (burin_body_has_type(q, item, "function_call"))
        add_call_item(q, messages, item);
    else if (burin_body_has_type(q, item, "function_call_output"))
        add_result_item(q, messages, item);
    else if (!type || burin_is_text(*type, "message"))
        burin_list_add(&q->r, messages, item);
    else if (!burin_is_text(*type, "reasoning"))
        burin_request_fail(q, 400, "input",
                           "\"input\" has an item whose type this server does not know");
}

static void convert_input(burin_request *q) {
    const burin_value *input = burin_body_field(q, q->body, "input"),
                      *instructions = burin_body_string(q, "instructions");
    burin_value messages = member_list(q);
    if (!input || (input->kind != BURIN_STRING && input->kind != BURIN_LIST))
        burin_request_fail(q, 400, "input", "\"input\" must be a text or a list of items");
    if (burin_body_field(q, q->body, "previous_response_id"))
        burin_request_fail(q, 400, "previous_response_id",
                           "this server keeps no responses: send the whole \"input\"");
    if (instructions)
        burin_body_set(q, message_with_role(q, messages, "system"), "content", *instructions);
    if (input->kind == BURIN_STRING)
        burin_body_set(q, message_with_role(q, messages, "user"), "content", *input);
    for (uint32_t i = 0; input->kind == BURIN_LIST && i < input->list->n; i++)
        add_item(q, messages, input->list->items[i]);
    burin_body_set(q, q->body, "messages", messages);
}

// A function is an object here that chat nests in a member. Tools of other types are OpenAI's own,
// and are ignored.
static void convert_functions(burin_request *q) {
    const burin_value *given = burin_body_list(q, "tools"),
                      *choice = burin_body_field(q, q->body, "tool_choice");
    burin_value tools = member_list(q), named = burin_dict_new(&q->r);
    for (uint32_t i = 0; given && i < given->list->n; i++) {
        burin_value tool = burin_dict_new(&q->r);
        if (!burin_body_has_type(q, given->list->items[i], "function")) continue;
        burin_body_set(q, tool, "type", burin_body_text("function"));
        burin_body_set(q, tool, "function", given->list->items[i]);
        burin_list_add(&q->r, tools, tool);
    }
    if (given) burin_body_set(q, q->body, "tools", tools);
    if (!choice || choice->kind != BURIN_DICT) return;
    burin_body_set(q, named, "function", *choice);
    burin_body_set(q, q->body, "tool_choice", named);
}

// text.format has the members of response_format's json_schema itself.
static void convert_format(burin_request *q) {
    const burin_value *text = burin_body_field(q, q->body, "text"),
                      *format = text && text->kind == BURIN_DICT
                                    ? burin_body_field(q, *text, "format")
                                    : NULL,
                      *reasoning = burin_body_field(q, q->body, "reasoning"),
                      *effort = reasoning && reasoning->kind == BURIN_DICT
                                    ? burin_body_field(q, *reasoning, "effort")
                                    : NULL;
    if (format) burin_body_set(q, q->body, "response_format", *format);
    if (effort) burin_body_set(q, q->body, "reasoning_effort", *effort);
}

void burin_handle_response(burin_request *q) {
    burin_body_read(q);
    convert_input(q);
    convert_functions(q);
    convert_format(q);
    burin_settings_read(q, burin_body_integer(q, "max_output_tokens", INT32_MAX, 1, INT64_MAX));
    q->n_answers = 1;
    burin_form_tools(q);
    burin_form_read(q);
    burin_prompt_chat(q);
    burin_name_request(q, "resp_");
    burin_answers_open(q);
}

// ---- items ----
static const char *own_id(const burin_answer *a) { return a->request->id + strlen("resp_"); }

static void print_item_head(const burin_answer *a, const char *type, const char *prefix,
                            bool whole) {
    burin_print("{\"type\": \"%-s\", \"id\": \"%-s_%-s_%d\", \"status\": \"%-s\"", type, prefix,
                own_id(a), a->streamed.blocks, whole ? "completed" : "in_progress");
}

static void print_text_part(const char *type, const char *text, size_t bytes) {
    burin_print("{\"type\": \"%-s\", \"text\": ", type);
    burin_print_json_string(text, bytes);
    burin_print(strcmp(type, "output_text") ? "}" : ", \"annotations\": [], \"logprobs\": []}");
}

static const char *part_type(char kind) { return kind == 'r' ? "reasoning_text" : "output_text"; }

// A message or reasoning with its text, without one while it begins.
static void print_text_item(const burin_answer *a, char kind, const char *text, size_t bytes,
                            bool whole) {
    print_item_head(a, kind == 'r' ? "reasoning" : "message", kind == 'r' ? "rs" : "msg", whole);
    burin_print(kind == 'r' ? ", \"summary\": [], \"content\": ["
                            : ", \"role\": \"assistant\", \"content\": [");
    if (whole) print_text_part(part_type(kind), text, bytes);
    burin_print("]}");
}

static void print_call_item(const burin_answer *a, int number, burin_call_part name,
                            const char *arguments, size_t bytes, bool whole) {
    print_item_head(a, "function_call", "fc", whole);
    burin_print(", \"call_id\": \"");
    burin_print_call_id(&a->request->tools, number);
    burin_print("\", \"name\": ");
    burin_print_json_string(name.text, name.bytes);
    burin_print(", \"arguments\": ");
    burin_print_json_string(arguments, bytes);
    burin_print("}");
}

// ---- the response ----
static void item_of_part(burin_answer *a, burin_stream_part part, const char *text, size_t bytes) {
    if (a->streamed.blocks) burin_print(", ");
    print_text_item(a, part == BURIN_STREAM_REASONING ? 'r' : 'm', text, bytes, true);
    a->streamed.blocks++;
}

static void item_of_call(burin_answer *a, int number, const burin_call_part *name,
                         const char *arguments, size_t bytes) {
    if (a->streamed.blocks) burin_print(", ");
    print_call_item(a, number, *name, arguments, bytes, true);
    a->streamed.blocks++;
}

// All items anew, as a whole reply has them.
static void print_output(const burin_answer *a) {
    static const burin_stream_printer items = {.part = item_of_part, .call = item_of_call};
    burin_answer whole = *a;
    whole.streamed = (burin_streamed){0};
    burin_stream_parts(&whole, &items);
}

static void print_response(burin_request *q) {
    const burin_answer *a = q->answers;
    bool cut = a->finish && !strcmp(a->finish, "length");
    burin_print(
        "{\"id\": \"%-s\", \"object\": \"response\", \"created_at\": %lld, \"status\": \"%-s\"",
        q->id, (long long)q->created,
        !a->finish ? "in_progress"
        : cut      ? "incomplete"
                   : "completed");
    burin_print_model(q);
    burin_print(
        ", \"error\": null, \"incomplete_details\": %-s, \"instructions\": null, \"metadata\": {}, "
        "\"parallel_tool_calls\": true, \"previous_response_id\": null, \"temperature\": %.9g, "
        "\"tool_choice\": \"auto\", "
        "\"tools\": [], \"top_p\": %.9g, \"output\": [",
        cut ? "{\"reason\": \"max_output_tokens\"}" : "null", q->command.sampling.temperature,
        q->command.sampling.top_p);
    if (a->finish) print_output(a);
    burin_print("], \"usage\": ");
    if (a->finish)
        burin_print(
            "{\"input_tokens\": %d, \"input_tokens_details\": {\"cached_tokens\": %d}, "
            "\"output_tokens\": %lld, "
            "\"output_tokens_details\": {\"reasoning_tokens\": %lld}, \"total_tokens\": %lld}",
            a->n_prompt, a->cached, (long long)a->g.generated, burin_request_thought(q),
            (long long)(a->n_prompt + a->g.generated));
    else
        burin_print("null");
    if (a->finish) burin_print_receipt(q);
    burin_print("}");
}

// ---- events ----
static void begin_response_event(burin_answer *a, const char *name) {
    burin_print("event: response.%-s\ndata: {\"type\": \"response.%-s\", \"sequence_number\": %d",
                name, name, a->streamed.events++);
}

static void end_response_event(void) { burin_print("}\n\n"); }

static void event_of_response(burin_answer *a, const char *name) {
    begin_response_event(a, name);
    burin_print(", \"response\": ");
    print_response(a->request);
    end_response_event();
}

static void print_where(const burin_answer *a, const char *prefix) {
    burin_print(", \"item_id\": \"%-s_%-s_%d\", \"output_index\": %d", prefix, own_id(a),
                a->streamed.blocks, a->streamed.blocks);
}

static const char *prefix_of(char kind) { return kind == 'r' ? "rs" : kind == 'm' ? "msg" : "fc"; }

static void begin_item(burin_answer *a, char kind, int number, const burin_call_part *name) {
    begin_response_event(a, "output_item.added");
    burin_print(", \"output_index\": %d, \"item\": ", a->streamed.blocks);
    if (kind == 'c')
        print_call_item(a, number, *name, "", 0, false);
    else
        print_text_item(a, kind, "", 0, false);
    end_response_event();
    a->streamed.open = kind, a->streamed.item = (burin_capture){0},
    a->streamed.name = (burin_capture){0};
    if (kind == 'c') burin_capture_add(&a->streamed.name, name->text, name->bytes);
    if (kind != 'm') return;
    begin_response_event(a, "content_part.added");
    print_where(a, "msg");
    burin_print(", \"content_index\": 0, \"part\": ");
    print_text_part("output_text", "", 0);
    end_response_event();
}

static const char *item_text(const burin_answer *a) {
    return a->streamed.item.data ? a->streamed.item.data : "";
}

static void end_text_events(burin_answer *a, char kind) {
    begin_response_event(a, kind == 'r' ? "reasoning_text.done" : "output_text.done");
    print_where(a, prefix_of(kind));
    burin_print(", \"content_index\": 0, \"logprobs\": [], \"text\": ");
    burin_print_json_string(item_text(a), a->streamed.item.n);
    end_response_event();
    if (kind == 'r') return;
    begin_response_event(a, "content_part.done");
    print_where(a, "msg");
    burin_print(", \"content_index\": 0, \"part\": ");
    print_text_part("output_text", item_text(a), a->streamed.item.n);
    end_response_event();
}

static void end_item(burin_answer *a) {
    char kind = a->streamed.open;
    burin_call_part name = {a->streamed.name.data, a->streamed.name.n};
    if (!kind) return;
    if (kind == 'c') {
        begin_response_event(a, "function_call_arguments.done");
        print_where(a, "fc");
        burin_print(", \"name\": ");
        burin_print_json_string(name.text, name.bytes);
        burin_print(", \"arguments\": ");
        burin_print_json_string(item_text(a), a->streamed.item.n);
        end_response_event();
    } else {
        end_text_events(a, kind);
    }
    begin_response_event(a, "output_item.done");
    burin_print(", \"output_index\": %d, \"item\": ", a->streamed.blocks);
    if (kind == 'c')
        print_call_item(a, a->streamed.calls - 1, name, item_text(a), a->streamed.item.n, true);
    else
        print_text_item(a, kind, item_text(a), a->streamed.item.n, true);
    end_response_event();
    free(a->streamed.item.data), free(a->streamed.name.data);
    a->streamed.item = a->streamed.name = (burin_capture){0};
    a->streamed.open = 0, a->streamed.blocks++;
}

static void print_delta(burin_answer *a, const char *event, const char *text, size_t bytes) {
    burin_capture_add(&a->streamed.item, text, bytes);
    begin_response_event(a, event);
    print_where(a, prefix_of(a->streamed.open));
    burin_print(a->streamed.open == 'c' ? ", \"delta\": "
                                        : ", \"content_index\": 0, \"logprobs\": [], \"delta\": ");
    burin_print_json_string(text, bytes);
    end_response_event();
}

static void delta_of_part(burin_answer *a, burin_stream_part part, const char *text, size_t bytes) {
    char kind = part == BURIN_STREAM_REASONING ? 'r' : 'm';
    if (a->streamed.open != kind) end_item(a), begin_item(a, kind, 0, NULL);
    print_delta(a, kind == 'r' ? "reasoning_text.delta" : "output_text.delta", text, bytes);
}

static void delta_of_call(burin_answer *a, int number, const burin_call_part *name,
                          const char *arguments, size_t bytes) {
    if (name) {
        a->streamed.calls--;  // of the call before
        end_item(a);
        a->streamed.calls++;
        begin_item(a, 'c', number, name);
    }
    print_delta(a, "function_call_arguments.delta", arguments, bytes);
}

static void stream_response(burin_answer *a, bool ended) {
    static const burin_stream_printer events = {.part = delta_of_part, .call = delta_of_call};
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (!a->begun) {
        const char *finish = a->finish;
        a->finish = NULL;
        event_of_response(a, "created");
        event_of_response(a, "in_progress");
        a->finish = finish, a->begun = true;
    }
    burin_stream_parts(a, &events);
    if (ended)
        end_item(a), event_of_response(a, strcmp(a->finish, "length") ? "completed" : "incomplete");
    burin_capture_into(before);
    burin_stream_send(a->request, &event);
}

static void stream_response_text(burin_answer *a) { stream_response(a, false); }
static void stream_response_end(burin_answer *a) { stream_response(a, true); }

static void finished_response(burin_request *q) {
    burin_capture body = {0};
    if (q->stream) {
        burin_stream_end(q);
        return;
    }
    burin_capture *before = burin_capture_into(&body);
    print_response(q);
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

const burin_api burin_responses_api = {
    .text = stream_response_text, .ended = stream_response_end, .finished = finished_response};
