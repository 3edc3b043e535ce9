// --messages: one answer to a conversation in a file, as text or as JSON.
#include <stdlib.h>
#include <string.h>

#include "conversation.h"
#include "prompt.h"

static size_t skip_newlines(const char *text, size_t from, size_t end) {
    while (from < end && text[from] == '\n') from++;
    return from;
}

// Reasoning ends with </think>, whoever wrote <think>: the prompt or the answer.
static size_t reasoning_end(const char *text, size_t bytes) {
    static const char end[] = "</think>";
    const char *there = memmem(text, bytes, end, sizeof end - 1);
    return there ? (size_t)(there - text) : 0;
}

static void print_reasoning(const char *text, size_t bytes) {
    static const char begin[] = "<think>";
    size_t from = bytes >= sizeof begin - 1 && !memcmp(text, begin, sizeof begin - 1) ? sizeof begin - 1 : 0;
    from = skip_newlines(text, from, bytes);
    while (bytes > from && text[bytes - 1] == '\n') bytes--;
    burin_print(", \"reasoning_content\": ");
    burin_print_json_string(text + from, bytes - from);
}

static void print_answer(burin_conversation *c) {
    burin_answer_text(&c->g);
    const char *text = c->g.answer;
    size_t bytes = c->g.answer_bytes, end = reasoning_end(text, bytes), from = 0;
    burin_print("\"role\": \"assistant\"");
    if (end) {
        print_reasoning(text, end);
        from = skip_newlines(text, end + 8, bytes);
    }
    burin_print(", \"content\": ");
    burin_print_json_string(text + from, bytes - from);
    burin_answer_end(&c->g, c->n_ids);
}

int burin_answer_messages(burin_run *run) {
    burin_conversation c;
    size_t bytes;
    burin_conversation_open(&c, run);
    burin_conversation_load(&c);
    burin_conversation_remove(&c, 0, c.n_turns);
    char *json = burin_read_file(run->command->messages, &bytes);
    if (!burin_conversation_prompt(&c, json, bytes, run->command->messages))
        burin_stop(BURIN_USER_MISTAKE, "%s", c.rendering.error);
    if (!c.n_ids) burin_stop(BURIN_USER_MISTAKE, "the template makes no prompt of these messages");
    if (c.n_ids > run->context) burin_out_of_context(run, "the messages have", c.n_ids);
    if (!c.g.constraint) c.g.constraint = burin_tools_constraint(run, run->command->messages, json, bytes);
    burin_answer_begin(&c.g);
    burin_conversation_answer(&c);
    if (run->command->json) print_answer(&c);
    burin_generation_statistics(&c.g, c.n_ids - c.kept);
    burin_conversation_save(&c);
    burin_conversation_close(&c);
    free(json);
    return 0;
}
