// --lines of a model with a chat template: each line is a question, alone in its conversation.
#include <stdlib.h>

#include "chat/conversation.h"
#include "chat/tool_calls.h"
#include "text/line_slots.h"

typedef struct asker {
    burin_conversation c;  // its generation is never used
    const char *system;
} asker;

static burin_tokens ask_line(void *context, const char *line, size_t bytes, int *note) {
    asker *a = context;
    burin_conversation *c = &a->c;
    size_t n;
    burin_conversation_remove(c, 0, c->n_turns);
    if (a->system) burin_conversation_system(c, a->system);
    burin_conversation_add(c, "user", line, bytes);
    char *json = burin_conversation_json(c, &n);
    if (!burin_conversation_prompt(c, json, n, "the line"))
        burin_stop(BURIN_USER_MISTAKE, "%s", c->rendering.error);
    free(json);
    if (!c->n_ids) burin_stop(BURIN_USER_MISTAKE, "the template makes no prompt of a line");
    burin_tokens prompt = {.id = c->ids, .n = c->n_ids};
    c->ids = NULL, c->n_ids = 0;
    *note = burin_ends_in_thoughts(c->rendering.text, c->rendering.bytes);
    return prompt;
}

static void print_line_answer(void *context, burin_generation *g, int32_t prompt_tokens,
                              int thinking) {
    (void)context;
    burin_answer_text(g);
    burin_print_message(NULL, thinking, g->answer, g->answer_bytes);
    burin_answer_end(g, prompt_tokens);
}

int burin_answer_lines(burin_run *run) {
    asker a = {.system = run->command->system};
    burin_conversation_open(&a.c, run);
    burin_run_lines(run, &(burin_line_mode){.context = &a,
                                            .count = a.c.g.count,
                                            .asks = true,
                                            .prompt = ask_line,
                                            .print_json = print_line_answer});
    burin_conversation_close(&a.c);
    return 0;
}
