// The paths that a server answers, and the replies that need no answer of the model.
#include <stdio.h>
#include <string.h>

#include "program/output.h"
#include "server/server.h"

static void handle_health(burin_request *q) {
    burin_capture body = {0}, *before = burin_capture_into(&body);
    bool draining = q->server->draining;
    burin_print("{\"status\": \"%-s\"}", draining ? "stopping" : "ok");
    burin_capture_into(before);
    burin_reply(q, draining ? 503 : 200, &body, NULL);
}

static void print_name(const burin_server *s) { burin_print_json_string(s->name, strlen(s->name)); }

// Members of OpenAI's and of Anthropic's lists.
static void print_own_model(const burin_server *s) {
    const burin_model *m = s->model;
    burin_print("{\"id\": ");
    print_name(s);
    burin_print(", \"object\": \"model\", \"type\": \"model\", \"display_name\": ");
    print_name(s);
    burin_print(
        ", \"created\": 0, \"created_at\": \"1970-01-01T00:00:00Z\", \"owned_by\": \"burin\", "
        "\"meta\": {\"identity\": \"%-s\", \"n_vocab\": %d, \"n_ctx\": %d, \"size\": %zu}}",
        m->identity, m->vocab_size, s->base->context, m->weight_bytes);
}

static void handle_models(burin_request *q) {
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"object\": \"list\", \"data\": [");
    print_own_model(q->server);
    burin_print("], \"has_more\": false, \"first_id\": ");
    print_name(q->server);
    burin_print(", \"last_id\": ");
    print_name(q->server);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

static void handle_model(burin_request *q) {
    if (strcmp(q->path + strlen("/v1/models/"), q->server->name))
        burin_request_fail(q, 404, "model", "this server has the model %s alone", q->server->name);
    burin_capture body = {0}, *before = burin_capture_into(&body);
    print_own_model(q->server);
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

// The page at / is the file page.html: a chat. Text that it shows comes into it by textContent
// alone, and its policy allows nothing from elsewhere.
__asm__(
    ".section .rodata\n"
    "burin_page: .incbin \"api/page.html\"\n"
    "burin_page_end:\n"
    ".previous");
extern const char burin_page[], burin_page_end[];

static void handle_page(burin_request *q) {
    burin_capture body = {0};
    burin_capture_add(&body, burin_page, (size_t)(burin_page_end - burin_page));
    burin_reply(q, 200, &body, "text/html; charset=utf-8");
}

extern const burin_api burin_chat_api, burin_text_api, burin_infill_api, burin_messages_api,
    burin_responses_api;

extern const burin_api burin_embeddings_api, burin_rerank_api, burin_classify_api,
    burin_transcription_api, burin_speech_api;

const burin_route burin_encoder_routes[] = {
    {"/health", EVHTTP_REQ_GET, handle_health, NULL, true},
    {"/v1/models", EVHTTP_REQ_GET, handle_models, NULL, false},
    {"/v1/models/", EVHTTP_REQ_GET, handle_model, NULL, false},
    {"/v1/embeddings", EVHTTP_REQ_POST, burin_handle_embeddings, &burin_embeddings_api, false},
    {"/v1/rerank", EVHTTP_REQ_POST, burin_handle_rerank, &burin_rerank_api, false},
    {"/rerank", EVHTTP_REQ_POST, burin_handle_rerank, &burin_rerank_api, false},
    {"/v1/classify", EVHTTP_REQ_POST, burin_handle_classify, &burin_classify_api, false},
    {"/classify", EVHTTP_REQ_POST, burin_handle_classify, &burin_classify_api, false},
    {"/metrics", EVHTTP_REQ_GET, burin_handle_metrics, NULL, false},
    {NULL, 0, NULL, NULL, false},
};

const burin_route burin_recording_routes[] = {
    {"/health", EVHTTP_REQ_GET, handle_health, NULL, true},
    {"/v1/models", EVHTTP_REQ_GET, handle_models, NULL, false},
    {"/v1/models/", EVHTTP_REQ_GET, handle_model, NULL, false},
    {"/v1/audio/transcriptions", EVHTTP_REQ_POST, burin_handle_transcription,
     &burin_transcription_api, false},
    {"/v1/audio/translations", EVHTTP_REQ_POST, burin_handle_translation, &burin_transcription_api,
     false},
    {"/metrics", EVHTTP_REQ_GET, burin_handle_metrics, NULL, false},
    {NULL, 0, NULL, NULL, false},
};

const burin_route burin_voice_routes[] = {
    {"/health", EVHTTP_REQ_GET, handle_health, NULL, true},
    {"/v1/models", EVHTTP_REQ_GET, handle_models, NULL, false},
    {"/v1/models/", EVHTTP_REQ_GET, handle_model, NULL, false},
    {"/v1/audio/speech", EVHTTP_REQ_POST, burin_handle_speech, &burin_speech_api, false},
    {"/metrics", EVHTTP_REQ_GET, burin_handle_metrics, NULL, false},
    {NULL, 0, NULL, NULL, false},
};

const burin_route burin_routes[] = {
    {"/", EVHTTP_REQ_GET, handle_page, NULL, true},
    {"/health", EVHTTP_REQ_GET, handle_health, NULL, true},
    {"/v1/health", EVHTTP_REQ_GET, handle_health, NULL, true},
    {"/v1/models", EVHTTP_REQ_GET, handle_models, NULL, false},
    {"/v1/models/", EVHTTP_REQ_GET, handle_model, NULL, false},
    {"/v1/chat/completions", EVHTTP_REQ_POST, burin_handle_chat, &burin_chat_api, false},
    {"/chat/completions", EVHTTP_REQ_POST, burin_handle_chat, &burin_chat_api, false},
    {"/v1/completions", EVHTTP_REQ_POST, burin_handle_completion, &burin_text_api, false},
    {"/completions", EVHTTP_REQ_POST, burin_handle_completion, &burin_text_api, false},
    {"/infill", EVHTTP_REQ_POST, burin_handle_infill, &burin_infill_api, false},
    {"/v1/messages", EVHTTP_REQ_POST, burin_handle_messages, &burin_messages_api, false},
    {"/v1/messages/count_tokens", EVHTTP_REQ_POST, burin_handle_count_tokens, &burin_messages_api,
     false},
    {"/v1/responses", EVHTTP_REQ_POST, burin_handle_response, &burin_responses_api, false},
    {"/tokenize", EVHTTP_REQ_POST, burin_handle_tokenize, NULL, false},
    {"/detokenize", EVHTTP_REQ_POST, burin_handle_detokenize, NULL, false},
    {"/apply-template", EVHTTP_REQ_POST, burin_handle_template, NULL, false},
    {"/metrics", EVHTTP_REQ_GET, burin_handle_metrics, NULL, false},
    {"/props", EVHTTP_REQ_GET, burin_handle_props, NULL, false},
    {"/slots/", EVHTTP_REQ_POST, burin_handle_slot, NULL, false},
    {"/slots", EVHTTP_REQ_GET, burin_handle_slots, NULL, false},
    {NULL, 0, NULL, NULL, false},
};
