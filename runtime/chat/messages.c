// --messages: one answer to a conversation in a file, as text or as JSON.
#include <stdlib.h>
#include <string.h>

#include "chat/conversation.h"
#include "chat/tool_calls.h"
#include "program/input.h"
#include "text/answer_form.h"
#include "text/prompt.h"
#include "text/shown_prompt.h"

static size_t skip_newlines(const char *text, size_t from, size_t end) {
    while (from < end && text[from] == '\n') from++;
    return from;
}

// ---- reasoning ----
static const char begin_of_thoughts[] = "<think>", end_of_thoughts[] = "</think>";
enum { BEGIN_BYTES = sizeof begin_of_thoughts - 1, END_BYTES = sizeof end_of_thoughts - 1 };

bool burin_ends_in_thoughts(const char *prompt, size_t bytes) {
    while (bytes && strchr(" \n", prompt[bytes - 1])) bytes--;
    return bytes >= BEGIN_BYTES &&
           !memcmp(prompt + bytes - BEGIN_BYTES, begin_of_thoughts, BEGIN_BYTES);
}

// Bytes at the end of an unfinished text that may begin the mark.
static size_t begun_mark(const char *text, size_t bytes, const char *mark) {
    size_t n = strlen(mark) - 1;
    if (n > bytes) n = bytes;
    while (n && memcmp(text + bytes - n, mark, n)) n--;
    return n;
}

// Whoever wrote <think>, the prompt or the answer, </think> ends reasoning; reasoning without an
// end is all of the text.
burin_answer_parts burin_split_answer(const char *text, size_t bytes, bool thinking, bool ended) {
    size_t n = bytes < BEGIN_BYTES ? bytes : BEGIN_BYTES, from = 0, to = bytes, rest = bytes;
    bool begun = !memcmp(text, begin_of_thoughts, n);
    if (!ended && n < BEGIN_BYTES && begun) return (burin_answer_parts){text, 0, text, 0, thinking};
    begun &= n == BEGIN_BYTES;
    const char *end = memmem(text, bytes, end_of_thoughts, END_BYTES);
    if (!end && !thinking && !begun) return (burin_answer_parts){text, 0, text, bytes, false};
    if (end) to = (size_t)(end - text), rest = skip_newlines(text, to + END_BYTES, bytes);
    from = skip_newlines(text, begun ? BEGIN_BYTES : 0, to);
    if (!end && !ended) to -= begun_mark(text, to, end_of_thoughts);
    while (to > from && text[to - 1] == '\n') to--;
    return (burin_answer_parts){text + from, to > from ? to - from : 0, text + rest, bytes - rest,
                                true};
}

static void print_reasoning(const char *text, size_t bytes) {
    burin_print(", \"reasoning_content\": ");
    burin_print_json_string(text, bytes);
}

// After the mark, up to the next message; the printed part of an answer in channels.
static size_t channel(const char *text, size_t *bytes, const char *mark) {
    const char *there = memmem(text, *bytes, mark, strlen(mark));
    if (!there) return *bytes = 0;
    there += strlen(mark);
    const char *end = memmem(there, (size_t)(text + *bytes - there), "<|end|>", 7);
    *bytes = end ? (size_t)(end - there) : (size_t)(text + *bytes - there);
    return (size_t)(there - text);
}

burin_answer_parts burin_split_channels(const char *text, size_t bytes) {
    size_t thought = bytes, said = bytes;
    const char *reasoning = text + channel(text, &thought, "<|channel|>analysis<|message|>"),
               *rest = text + channel(text, &said, "<|channel|>final<|message|>");
    return (burin_answer_parts){reasoning, thought, rest, said, thought > 0};
}

static size_t print_thoughts(const char *text, size_t bytes, burin_tool_form form, bool thinking) {
    if (form == BURIN_TOOLS_CHANNELS) {
        size_t from = channel(text, &bytes, "<|channel|>analysis<|message|>");
        if (bytes) print_reasoning(text + from, bytes);
        return 0;
    }
    const burin_answer_parts parts = burin_split_answer(text, bytes, thinking, true);
    if (parts.thought) print_reasoning(parts.reasoning, parts.reasoning_bytes);
    return (size_t)(parts.rest - text);
}

static void print_content(const char *text, size_t bytes, bool called) {
    while (called && bytes && strchr(" \n", text[bytes - 1])) bytes--;
    burin_print(", \"content\": ");
    if (called && !bytes)
        burin_print("null");
    else
        burin_print_json_string(text, bytes);
}

bool burin_print_message(const burin_tool_format *format, bool thinking, const char *text,
                         size_t bytes) {
    burin_tool_form form = format ? format->form : BURIN_TOOLS_FREE;
    burin_capture content = {0};
    bool called = false;
    burin_print("\"role\": \"assistant\"");
    size_t from = print_thoughts(text, bytes, form, thinking);
    text += from, bytes -= from;
    if (form)
        called = burin_print_tool_calls(format, text, bytes, &content) > 0;
    else
        burin_capture_add(&content, text, bytes);
    from = 0, bytes = content.n;
    if (bytes && form == BURIN_TOOLS_CHANNELS)
        from = channel(content.data, &bytes, "<|channel|>final<|message|>");
    print_content(content.data ? content.data + from : "", bytes, called);
    free(content.data);
    return called;
}

static void print_answer(burin_conversation *c, const burin_tool_format *format) {
    burin_generation *g = &c->g;
    burin_answer_text(g);
    bool thinking = burin_ends_in_thoughts(c->rendering.text, c->rendering.bytes);
    g->calls = burin_print_message(g->calls ? format : NULL, thinking, g->answer, g->answer_bytes);
    burin_answer_end(g, c->n_ids);
}

void burin_answer_with_tools(burin_conversation *c, const burin_tools_text *text) {
    burin_run *run = c->g.run;
    burin_tool_format format = {0};
    bool own = !c->g.constraint;  // --grammar and such hold the answer without tools
    if (own) {
        c->g.constraint = burin_tools_constraint(run, text, &format);
        c->g.calls = c->g.constraint && run->command->json;
        c->g.marks = format.marks;
    }
    burin_answer_begin(&c->g);
    burin_conversation_answer(c);
    if (run->command->json) print_answer(c, &format);
    burin_tool_format_close(&format);
    if (!own) return;
    burin_constraint_close(c->g.constraint);
    c->g.constraint = NULL, c->g.calls = false, c->g.marks = NULL;
}

// A template knows of a message without a role the place alone where it looks for one.
static _Noreturn void stop_at_rendering(burin_conversation *c, const burin_tools_text *text) {
    char error[512];
    bool whole = c->rendering.raised || burin_conversation_parse(c, text->name, text->json,
                                                                 text->bytes, error, sizeof error);
    burin_stop(BURIN_USER_MISTAKE, "%s",
               !whole && strstr(error, "has no \"role\"") ? error : c->rendering.error);
}

// Prints the answer to a conversation; `what` it is, for messages: "the messages have".
static void answer_conversation(burin_conversation *c, const burin_tools_text *text,
                                const char *what) {
    burin_run *run = c->g.run;
    if (!burin_conversation_prompt(c, text->json, text->bytes, text->name))
        stop_at_rendering(c, text);
    if (!c->n_ids) burin_stop(BURIN_USER_MISTAKE, "the template makes no prompt of these messages");
    if (c->n_ids > run->context) burin_out_of_context(run, what, c->n_ids);
    burin_answer_with_tools(c, text);
    burin_generation_statistics(&c->g, c->n_ids - c->kept);
}

int burin_answer_messages(burin_run *run) {
    burin_conversation c;
    const char *name;
    size_t bytes;
    burin_conversation_open(&c, run);
    burin_conversation_load(&c);
    burin_conversation_remove(&c, 0, c.n_turns);
    int file = burin_open_input(run->command->messages, &name);
    char *json = burin_read_open_file(file, name, &bytes);
    if (bytes > BURIN_MOST_LINE)
        burin_stop(BURIN_USER_MISTAKE, "%s: messages of more than %d MB fit no context", name,
                   BURIN_MOST_LINE >> 20);
    answer_conversation(&c, &(burin_tools_text){name, json, bytes}, "the messages have");
    burin_conversation_save(&c);
    burin_conversation_close(&c);
    free(json);
    return 0;
}

// A file or a pipe ends its last line, which is not part of a question.
static size_t without_last_newline(const char *text, size_t bytes) {
    if (bytes && text[bytes - 1] == '\n') bytes--;
    if (bytes && text[bytes - 1] == '\r') bytes--;
    return bytes;
}

char *burin_question_text(const burin_command *command, size_t *bytes) {
    char *text = burin_prompt_text(command, bytes);
    *bytes = without_last_newline(text, *bytes);
    if (*bytes > BURIN_MOST_LINE)
        burin_stop(BURIN_USER_MISTAKE, "a question of more than %d MB fits no context",
                   BURIN_MOST_LINE >> 20);
    return text;
}

// The prompt as a turn, after the pictures of --image.
static void show_question(burin_conversation *c, const char *text, size_t bytes) {
    const burin_command *command = c->g.run->command;
    int32_t pictures[BURIN_MOST_OF_LIST];
    for (int i = 0; i < command->images.n; i++)
        pictures[i] = burin_see_file(c->g.run, command->images.text[i]);
    if (command->images.n)
        burin_conversation_show(c, pictures, command->images.n, text, bytes);
    else
        burin_conversation_add(c, "user", text, bytes);
}

int burin_answer_question(burin_run *run) {
    burin_conversation c;
    size_t bytes;
    char *text = burin_question_text(run->command, &bytes);
    if (!bytes) {
        free(text);
        return burin_generate(run);
    }
    burin_conversation_open(&c, run);
    burin_conversation_load(&c);
    burin_conversation_begin(&c);
    show_question(&c, text, bytes);
    free(text);
    char *json = burin_conversation_json(&c, &bytes);
    answer_conversation(&c, &(burin_tools_text){"the conversation", json, bytes},
                        "the question has");
    free(json);
    if (c.g.full && !run->command->json)
        burin_note("the context of %d tokens is full: the answer ends here", run->context);
    burin_conversation_add(&c, "assistant", c.g.answer, c.g.answer_bytes);
    burin_conversation_save(&c);
    burin_conversation_close(&c);
    return 0;
}
