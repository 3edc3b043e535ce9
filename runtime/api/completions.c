// OpenAI's /v1/chat/completions and /v1/completions: whole replies, and streams of chunks.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chat/tool_calls.h"
#include "engine/hash.h"
#include "program/output.h"
#include "server/server.h"

// ---- parts of replies ----
void burin_print_model(const burin_request *q) {
    burin_print(", \"model\": ");
    burin_print_json_string(q->server->name, strlen(q->server->name));
}

static void print_head(const burin_request *q, const char *object) {
    burin_print("{\"id\": \"%-s\", \"object\": \"%-s\", \"created\": %lld", q->id, object,
                (long long)q->created);
    burin_print_model(q);
    burin_print(", \"system_fingerprint\": \"%-s\"", q->server->fingerprint);
}

// The tokens, and the seed that gives the same answer again on any machine, where one matters.
static void print_usage(burin_request *q) {
    long long written = 0;
    for (int i = 0; i < q->n_answers; i++) written += q->answers[i].g.generated;
    burin_print(
        ", \"usage\": {\"prompt_tokens\": %d, \"completion_tokens\": %lld, \"total_tokens\": %lld, "
        "\"prompt_tokens_details\": {\"cached_tokens\": %d}, \"completion_tokens_details\": "
        "{\"reasoning_tokens\": %lld}}",
        q->n_prompt, written, q->n_prompt + written, q->answers[0].cached,
        burin_request_thought(q));
    if (q->command.sampling.temperature > 0)
        burin_print(", \"seed\": %lld", (long long)q->command.sampling.seed);
    burin_print_receipt(q);
}

// The same request has the same name: over the prompt, and the seed where it matters.
void burin_name_request(burin_request *q, const char *prefix) {
    uint64_t h = burin_prompt_hash(q);
    if (q->command.sampling.temperature > 0)
        h = burin_hash_bytes(h, &q->command.sampling.seed, sizeof q->command.sampling.seed);
    snprintf(q->id, sizeof q->id, "%s%016llx", prefix, (unsigned long long)h);
    q->tools.turn = h | 1;
}

// ---- chat ----
static const burin_tool_format *format_of(const burin_request *q) {
    return q->has_tools ? &q->tools : NULL;
}

// Those of tokens from `from` on.
static void print_logprobs(const burin_answer *a, size_t from) {
    const char *text = a->logprobs.data ? a->logprobs.data + from : "";
    size_t bytes = a->logprobs.n - from;
    if (a->request->logprobs < 0) {
        burin_print(", \"logprobs\": null");
        return;
    }
    while (bytes && strchr(",\n ", *text)) text++, bytes--;
    burin_print(", \"logprobs\": {\"content\": [");
    while (bytes) {  // each token is a line, and an event is one line
        size_t line = bytes;
        const char *end = memchr(text, '\n', bytes);
        if (end) line = (size_t)(end - text);
        burin_print_bytes(text, line);
        text += line + (end != NULL), bytes -= line + (end != NULL);
    }
    burin_print("]}");
}

// An answer that reached its limit says so, also after whole calls.
static const char *finish_reason(bool called, const char *finish) {
    return called && !strcmp(finish, "stop") ? "tool_calls" : finish;
}

static void finish_chat(burin_request *q) {
    burin_capture body = {0}, *before = burin_capture_into(&body);
    print_head(q, "chat.completion");
    burin_print(", \"choices\": [");
    for (int i = 0; i < q->n_answers; i++) {
        const burin_answer *a = &q->answers[i];
        burin_print("%s{\"index\": %d, \"message\": {", i ? ", " : "", i);
        bool called =
            burin_print_message(format_of(q), q->thinking, a->g.answer, a->g.answer_bytes);
        burin_print("}");
        print_logprobs(a, 0);
        burin_print(", \"finish_reason\": \"%-s\"}", finish_reason(called, a->finish));
    }
    burin_print("]");
    print_usage(q);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

static void print_chunk(const burin_answer *a, const char *object) {
    burin_print("data: ");
    print_head(a->request, object);
    burin_print(", \"choices\": [{\"index\": %d, ", a->index);
}

static void end_chunk(burin_request *q, const char *finish) {
    if (finish)
        burin_print(", \"finish_reason\": \"%-s\"}]", finish);
    else
        burin_print(", \"finish_reason\": null}]");
    burin_print(q->include_usage ? ", \"usage\": null}\n\n" : "}\n\n");
}

static void begin_delta(burin_answer *a) {
    print_chunk(a, "chat.completion.chunk");
    burin_print("\"delta\": {");
}

static void end_delta(burin_answer *a, const char *finish) {
    burin_print("}");
    print_logprobs(a, a->logprobs_sent);
    a->logprobs_sent = a->logprobs.n;
    end_chunk(a->request, finish);
}

static void stream_part(burin_answer *a, burin_stream_part part, const char *text, size_t bytes) {
    static const char *const fields[] = {
        [BURIN_STREAM_REASONING] = "reasoning_content", [BURIN_STREAM_CONTENT] = "content"};
    begin_delta(a);
    burin_print("\"%-s\": ", fields[part]);
    burin_print_json_string(text, bytes);
    end_delta(a, NULL);
}

static void stream_call(burin_answer *a, int number, const burin_call_part *name,
                        const char *arguments, size_t bytes) {
    begin_delta(a);
    burin_print("\"tool_calls\": [{\"index\": %d, ", number);
    if (name) {
        burin_print("\"id\": \"");
        burin_print_call_id(&a->request->tools, number);
        burin_print("\", \"type\": \"function\", \"function\": {\"name\": ");
        burin_print_json_string(name->text, name->bytes);
        burin_print(", \"arguments\": ");
    } else {
        burin_print("\"function\": {\"arguments\": ");
    }
    burin_print_json_string(arguments, bytes);
    burin_print("}}]");
    end_delta(a, NULL);
}

static const burin_stream_printer chat_printer = {.part = stream_part, .call = stream_call};

static void stream_chat(burin_answer *a, const char *finish) {
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (!a->begun) {
        begin_delta(a);
        burin_print("\"role\": \"assistant\", \"content\": \"\"}");
        burin_print(", \"logprobs\": null");
        end_chunk(a->request, NULL);
        a->begun = true;
    }
    bool called = burin_stream_parts(a, &chat_printer);
    if (finish) {
        begin_delta(a);
        end_delta(a, finish_reason(called, finish));
    }
    burin_capture_into(before);
    burin_stream_send(a->request, &event);
}

static void stream_chat_text(burin_answer *a) { stream_chat(a, NULL); }
static void stream_chat_end(burin_answer *a) { stream_chat(a, a->finish); }

// The usage of all choices, and the end.
static void end_stream(burin_request *q, const char *object) {
    burin_capture event = {0}, *before = burin_capture_into(&event);
    if (q->include_usage) {
        burin_print("data: ");
        print_head(q, object);
        burin_print(", \"choices\": []");
        print_usage(q);
        burin_print("}\n\n");
    }
    burin_print("data: [DONE]\n\n");
    burin_capture_into(before);
    burin_stream_send(q, &event);
    burin_stream_end(q);
}

static void finished_chat(burin_request *q) {
    if (q->stream)
        end_stream(q, "chat.completion.chunk");
    else
        finish_chat(q);
}

const burin_api burin_chat_api = {
    .text = stream_chat_text, .ended = stream_chat_end, .finished = finished_chat};

static int64_t most_tokens(burin_request *q) {
    int64_t most = burin_body_integer(q, "max_tokens", INT32_MAX, 0, INT64_MAX);
    return burin_body_integer(q, "max_completion_tokens", most, 0, INT64_MAX);
}

void burin_handle_chat(burin_request *q) {
    burin_body_read(q);
    burin_settings_read(q, most_tokens(q));
    if (burin_body_bool(q, "logprobs", false))
        q->logprobs = burin_body_integer(q, "top_logprobs", 0, 0, 100);
    else if (burin_body_integer(q, "top_logprobs", 0, 0, 100))
        burin_request_fail(q, 400, "top_logprobs", "\"top_logprobs\" needs \"logprobs\": true");
    burin_form_tools(q);
    burin_form_read(q);
    burin_prompt_chat(q);
    burin_name_request(q, "chatcmpl-");
    burin_answers_open(q);
}

// ---- texts ----
static void print_text(const char *text, size_t bytes) {
    burin_print("\"text\": ");
    burin_print_json_string(text, bytes);
}

static void finish_texts(burin_request *q) {
    burin_capture body = {0}, *before = burin_capture_into(&body);
    print_head(q, "text_completion");
    burin_print(", \"choices\": [");
    for (int i = 0; i < q->n_answers; i++) {
        const burin_answer *a = &q->answers[i];
        burin_print("%s{\"index\": %d, ", i ? ", " : "", i);
        print_text(a->g.answer, a->g.answer_bytes);
        print_logprobs(a, 0);
        burin_print(", \"finish_reason\": \"%-s\"}", a->finish);
    }
    burin_print("]");
    print_usage(q);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

static void stream_text_chunk(burin_answer *a, const char *finish) {
    burin_request *q = a->request;
    burin_capture event = {0}, *before = burin_capture_into(&event);
    print_chunk(a, "text_completion");
    print_text(a->g.answer + a->sent, a->g.answer_bytes - a->sent);
    print_logprobs(a, a->logprobs_sent);
    a->logprobs_sent = a->logprobs.n;
    end_chunk(q, finish);
    burin_capture_into(before);
    a->sent = a->g.answer_bytes;
    burin_stream_send(q, &event);
}

static void stream_text(burin_answer *a) {
    if (a->g.answer_bytes > a->sent) stream_text_chunk(a, NULL);
}

static void stream_text_end(burin_answer *a) { stream_text_chunk(a, a->finish); }

static void finished_texts(burin_request *q) {
    if (q->stream)
        end_stream(q, "text_completion");
    else
        finish_texts(q);
}

const burin_api burin_text_api = {
    .text = stream_text, .ended = stream_text_end, .finished = finished_texts};

static void put_prompt_first(burin_request *q, const burin_value *prompt) {
    if (!burin_body_bool(q, "echo", false)) return;
    if (prompt->kind != BURIN_STRING)
        burin_request_fail(q, 400, "echo", "\"echo\" needs a \"prompt\" that is one text");
    q->echo = burin_copy_text(*prompt);
    q->echo_bytes = prompt->length;
}

void burin_handle_completion(burin_request *q) {
    burin_body_read(q);
    const burin_value *prompt = burin_body_field(q, q->body, "prompt");
    if (!prompt) burin_request_fail(q, 400, "prompt", "\"prompt\" is missing");
    burin_settings_read(q, burin_body_integer(q, "max_tokens", 16, 0, INT64_MAX));
    q->logprobs = burin_body_integer(q, "logprobs", -1, 0, 100);
    burin_form_read(q);
    const burin_value *suffix = burin_body_string(q, "suffix");
    if (suffix && suffix->length)
        burin_prompt_infill(q, *prompt, *suffix);
    else
        burin_prompt_plain(q, *prompt);
    put_prompt_first(q, prompt);
    burin_name_request(q, "cmpl-");
    burin_answers_open(q);
}

// ---- llama-server's /infill ----
static void finished_infill(burin_request *q) {
    const burin_answer *a = q->answers;
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"content\": ");
    burin_print_json_string(a->g.answer, a->g.answer_bytes);
    burin_print(
        ", \"stop\": true, \"stop_type\": \"%-s\", \"tokens_predicted\": %lld, "
        "\"tokens_evaluated\": %d, \"tokens_cached\": %d",
        !strcmp(a->finish, "length") ? "limit"
        : a->g.stop_text             ? "word"
                                     : "eos",
        (long long)a->g.generated, q->n_prompt, a->cached);
    burin_print_model(q);
    burin_print_receipt(q);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

const burin_api burin_infill_api = {.finished = finished_infill};

// The text before the cursor begins with other files, if the client sends some.
static burin_value text_before(burin_request *q) {
    const burin_value *extra = burin_body_list(q, "input_extra"),
                      *prompt = burin_body_string(q, "prompt");
    size_t begin = burin_text_begin(&q->r);
    for (uint32_t i = 0; extra && i < extra->list->n; i++) {
        burin_value text =
            burin_body_member(q, extra->list->items[i], "text", BURIN_STRING, "input_extra");
        burin_text_add(&q->r, text.text, text.length);
        burin_text_add(&q->r, "\n", 1);
    }
    burin_value own = burin_body_member(q, q->body, "input_prefix", BURIN_STRING, "input_prefix");
    burin_text_add(&q->r, own.text, own.length);
    if (prompt) burin_text_add(&q->r, prompt->text, prompt->length);
    return burin_text_end(&q->r, begin);
}

void burin_handle_infill(burin_request *q) {
    burin_body_read(q);
    burin_settings_read(q, burin_body_integer(q, "n_predict", 128, 0, INT64_MAX));
    q->n_answers = 1;
    if (q->stream) burin_request_fail(q, 400, "stream", "\"stream\": /infill answers as a whole");
    burin_prompt_infill(
        q, text_before(q),
        burin_body_member(q, q->body, "input_suffix", BURIN_STRING, "input_suffix"));
    burin_name_request(q, "infill-");
    burin_answers_open(q);
}
