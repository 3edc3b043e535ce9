// --lines: each line of a file is a prompt of its own, and several texts are written at the same
// time, each in a slot.
#ifndef BURIN_LINE_SLOTS_H
#define BURIN_LINE_SLOTS_H
#include "text/generation.h"

enum { BURIN_USUAL_LINE_SLOTS = 8 };

// How a line becomes a prompt, and the object that --json prints of its text.
typedef struct burin_line_mode {
    void *context;
    int64_t count;  // tokens of a text at most
    bool asks;      // the template's end token ends a text
    // `note`: what print_json will need of the prompt. The caller frees the tokens.
    burin_tokens (*prompt)(void *context, const char *line, size_t bytes, int *note);
    void (*print_json)(void *context, burin_generation *, int32_t prompt_tokens, int note);
} burin_line_mode;

void burin_run_lines(burin_run *, const burin_line_mode *);
int burin_continue_lines(burin_run *);  // lines as beginnings of texts
int burin_answer_lines(burin_run *);    // lines as questions (runtime/chat)
// {"text": ..., of an answer that is kept
void burin_print_text_as_json(burin_generation *, int32_t prompt_tokens);
#endif
