// Texts to ids and back, and messages to a prompt: /tokenize, /detokenize, /apply-template, by
// llama-server's names.
#include <stdlib.h>
#include <string.h>

#include "program/output.h"
#include "server/server.h"

static void print_piece(const burin_server *s, int32_t id) {
    size_t bytes = 0;
    burin_decoder inside = {.started = true};
    char *text = burin_allocate(1, burin_decode_max(s->tokenizer) + 1);
    bytes = burin_decode(s->tokenizer, &inside, id, text);
    const char *name = bytes ? text : burin_token_text(s->tokenizer, id, &bytes);
    burin_print("{\"id\": %d, \"piece\": ", id);
    burin_print_json_string(name ? name : "", name ? bytes : 0);
    burin_print("}");
    free(text);
}

void burin_handle_tokenize(burin_request *q) {
    burin_body_read(q);
    const burin_value content = burin_body_member(q, q->body, "content", BURIN_STRING, "content");
    bool special = burin_body_bool(q, "add_special", false),
         pieces = burin_body_bool(q, "with_pieces", false);
    burin_prompt_encode(q, &(burin_encoding){.text = content.text,
                                             .bytes = content.length,
                                             .special = special,
                                             .plain = !burin_body_bool(q, "parse_special", true),
                                             .whole = true});
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"tokens\": [");
    for (int32_t i = 0; i < q->n_prompt; i++) {
        burin_print(i ? ", " : "");
        if (pieces)
            print_piece(q->server, q->prompt[i]);
        else
            burin_print("%d", q->prompt[i]);
    }
    burin_print("]}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

void burin_handle_detokenize(burin_request *q) {
    burin_body_read(q);
    const void *tokenizer = q->server->tokenizer;
    const burin_list *ids = burin_body_member(q, q->body, "tokens", BURIN_LIST, "tokens").list;
    burin_capture text = {0};
    burin_decoder decoder = {0};
    for (uint32_t i = 0; i < ids->n; i++) {
        burin_value id = ids->items[i];
        if (id.kind != BURIN_INTEGER || id.integer < 0 ||
            id.integer >= burin_tokenizer_size(tokenizer))
            burin_request_fail(q, 400, "tokens",
                               "\"tokens\": an id must be a whole number from 0 to %d",
                               burin_tokenizer_size(tokenizer) - 1);
    }
    char *bytes = burin_allocate(1, burin_decode_max(tokenizer) + 1);
    for (uint32_t i = 0; i < ids->n; i++)
        burin_capture_add(&text, bytes,
                          burin_decode(tokenizer, &decoder, (int32_t)ids->items[i].integer, bytes));
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"content\": ");
    burin_print_json_string(text.data ? text.data : "", text.n);
    burin_print("}");
    burin_capture_into(before);
    free(bytes), free(text.data);
    burin_reply(q, 200, &body, NULL);
}

void burin_handle_template(burin_request *q) {
    burin_body_read(q);
    burin_form_tools(q);
    burin_prompt_chat(q);
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"prompt\": ");
    burin_print_json_string(q->rendering.text, q->rendering.bytes);
    burin_print("}");
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}
