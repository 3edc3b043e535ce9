// A conversation: its turns, the prompt that the model's template makes of them, and the part that
// the slot has read already.
#ifndef BURIN_CONVERSATION_H
#define BURIN_CONVERSATION_H
#include "chat/picture_parts.h"
#include "grammar/tools.h"
#include "template/template.h"
#include "text/generation.h"

typedef struct burin_turn {
    char *role, *text;  // allocated together
    size_t bytes;
    bool parts;  // the text is JSON: a list of parts, pictures among them
} burin_turn;

typedef struct burin_conversation {
    burin_generation g;
    burin_turn *turns;
    int32_t n_turns, capacity;
    burin_rendering rendering;  // the prompt as text
    burin_pictures pictures;    // of a model with eyes: those of the prompt
    int32_t *ids, n_ids;        // and as tokens
    char *read;                 // the text that the slot has read: a prompt and its answer
    uint8_t *read_marks;        // [read_bytes], 1: special tokens in it are text
    size_t read_bytes;
    int32_t kept;  // tokens that were read before this turn
} burin_conversation;

// Of a model with a template
void burin_conversation_open(burin_conversation *, burin_run *);
void burin_conversation_close(burin_conversation *);
void burin_conversation_add(burin_conversation *, const char *role, const char *text, size_t bytes);
// Adds a turn of the user: these pictures (numbers of the run's sights), then the text.
void burin_conversation_show(burin_conversation *, const int32_t *pictures, int32_t n,
                             const char *text, size_t bytes);
void burin_conversation_remove(burin_conversation *, int32_t first, int32_t n);
char *burin_conversation_json(const burin_conversation *,
                              size_t *bytes);  // the turns as a list; the caller frees it

// Adds the turns of messages in JSON. False: nothing was added, and a note has the reason.
bool burin_conversation_read(burin_conversation *, const char *name, const char *json,
                             size_t bytes);
// The same, with the reason in `error`, of `room` bytes.
bool burin_conversation_parse(burin_conversation *, const char *name, const char *json,
                              size_t bytes, char *error, size_t room);

// What --session has: the slot, and the turns.
void burin_conversation_load(burin_conversation *);
void burin_conversation_save(const burin_conversation *);

// The prompt of these messages (JSON, as burin_render takes it). False: the reason is in
// rendering.error.
bool burin_conversation_prompt(burin_conversation *, const char *json, size_t bytes,
                               const char *name);
// Replaces the first turn if it is of the system, or puts one before all; "": without.
void burin_conversation_system(burin_conversation *, const char *text);
void burin_conversation_begin(burin_conversation *);  // with --system, or the program's own message
bool burin_conversation_fits(const burin_conversation *);  // with room for an answer
// Reads the new part of the prompt and answers: g.answer. False: run->stop was set before all was
// read.
bool burin_conversation_answer(burin_conversation *);

int burin_chat(burin_run *);             // chat.c: on a terminal, or lines through a pipe
int burin_answer_messages(burin_run *);  // messages.c: --messages
int burin_answer_question(burin_run *);  // the prompt of the command line as a message
// The prompt without the newline that a file ends with; the caller frees it.
char *burin_question_text(const burin_command *, size_t *bytes);
// Prints the answer to the prompt: with --json an object, which has calls of the tools in
// `messages`.
void burin_answer_with_tools(burin_conversation *, const burin_tools_text *messages);
#endif
