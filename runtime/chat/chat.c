// --chat: a conversation, line by line. Ctrl-C stops the answer, Ctrl-D ends the program; a line that ends with \ goes on.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chat/conversation.h"
#include "program/input.h"
#include "program/line_editor.h"
#include "program/output.h"
#include "program/private_file.h"
#include "text/prompt.h"

typedef struct chat {
    burin_conversation c;
    bool terminal;
    bool dropped;  // it was said that turns were
    char *line;
    size_t bytes, room;
    burin_editor *editor;  // NULL: lines are read as the terminal gives them
} chat;

static volatile sig_atomic_t chat_stop, chat_reads;

static void interrupt(int number) {
    (void)number;
    chat_stop = 1;
    if (chat_reads && write(STDOUT_FILENO, "\n> ", 3) < 0) _exit(BURIN_USER_MISTAKE);
}

static void catch_interrupts(void) {
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

// --------------------------------------------------------------------------------------------------------------------- input
static void add_byte(chat *t, char byte) {
    if (t->bytes >= BURIN_MOST_LINE) burin_stop(BURIN_USER_MISTAKE, "a line has more than %d MB", BURIN_MOST_LINE >> 20);
    if (t->bytes + 1 >= t->room) {
        char *more = realloc(t->line, t->room = 2 * t->room + 256);
        if (!more) burin_stop(BURIN_USER_MISTAKE, "a line is too large for memory");
        t->line = more;
    }
    t->line[t->bytes++] = byte;
    t->line[t->bytes] = 0;
}

static bool edit_line(chat *t, const char *mark) {
    const char *line;
    size_t bytes;
    for (;;) {
        burin_line_end end = burin_editor_line(t->editor, mark, &line, &bytes);
        for (size_t i = 0; end == BURIN_LINE && i < bytes; i++) add_byte(t, line[i]);
        if (end != BURIN_LINE_INTERRUPTED) return end == BURIN_LINE;
        t->bytes = 0;
        t->line[0] = 0;
        mark = "> ";
    }
}

static void print_mark(const chat *t, const char *mark) {
    if (!t->terminal) return;
    burin_print("%-s", mark);
    burin_flush();
}

// Byte by byte: what comes behind a line is left to whoever reads it. Ctrl-C drops the lines before. False at the end of the
// input.
static bool read_one_line(chat *t, const char *mark) {
    size_t begin = t->bytes;
    char byte;
    ssize_t n;
    if (t->editor) return edit_line(t, mark);
    chat_reads = t->terminal;
    print_mark(t, mark);
    while ((n = read(STDIN_FILENO, &byte, 1)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0) continue;
        if (chat_stop) chat_stop = 0, t->bytes = begin = 0;
        if (byte == '\n') return true;
        add_byte(t, byte);
    }
    return t->bytes > begin;
}

static bool read_line(chat *t) {
    t->bytes = 0;
    add_byte(t, 0);
    t->bytes = 0;
    chat_stop = 0;
    bool there = read_one_line(t, "> ");
    while (there && t->bytes && t->line[t->bytes - 1] == '\\') {
        t->line[t->bytes - 1] = '\n';
        there = read_one_line(t, ". ");
        if (!there) there = true, t->line[--t->bytes] = 0;
    }
    chat_stop = chat_reads = 0;
    return there;
}

// -------------------------------------------------------------------------------------------------------------------- answers
static bool has_system(const chat *t) { return t->c.n_turns && !strcmp(t->c.turns[0].role, "system"); }

static bool prompt_of_turns(chat *t) {
    size_t bytes;
    char *json = burin_conversation_json(&t->c, &bytes);
    bool made = burin_conversation_prompt(&t->c, json, bytes, "the conversation");
    free(json);
    if (!made) burin_note("%s", t->c.rendering.error);
    return made;
}

// The oldest question and its answer; never the newest.
static bool drop_oldest(chat *t) {
    int32_t first = has_system(t), n = 1;
    while (first + n < t->c.n_turns && strcmp(t->c.turns[first + n].role, "user")) n++;
    if (first + n >= t->c.n_turns) return false;
    burin_conversation_remove(&t->c, first, n);
    return true;
}

static bool drop_what_is_too_much(chat *t) {
    const burin_run *run = t->c.g.run;
    bool dropped = false;
    while (!burin_conversation_fits(&t->c) && drop_oldest(t)) {
        dropped = true;
        if (!prompt_of_turns(t)) return false;
    }
    if (dropped && !t->dropped)
        burin_note("the context of %d tokens is full: the oldest turns are left out from here on", run->context),
            t->dropped = true;
    if (t->c.n_ids < run->context) return true;
    burin_note("this has %d tokens, the context holds %d", t->c.n_ids, run->context);
    return false;
}

static void say_what_was_read(const chat *t) {
    const burin_conversation *c = &t->c;
    if (!c->g.run->command->verbose) return;
    burin_note("read %d new tokens, kept %d", c->n_ids - c->kept, c->kept);
    burin_generation_statistics(&c->g, c->n_ids - c->kept);
}

// Answers the last turn, a user's; a turn that cannot be answered goes.
static void answer(chat *t) {
    burin_conversation *c = &t->c;
    bool answered = false;
    if (prompt_of_turns(t) && drop_what_is_too_much(t)) {
        answered = burin_conversation_answer(c);
        if (!answered) burin_note("stopped while it read the question, which is left out");
    }
    if (!answered) {
        burin_conversation_remove(c, c->n_turns - 1, 1);
        return;
    }
    if (c->g.full) burin_note("the context of %d tokens is full: the answer ends here", c->g.run->context);
    burin_conversation_add(c, "assistant", c->g.answer, c->g.answer_bytes);
    say_what_was_read(t);
}

// ------------------------------------------------------------------------------------------------------------------- commands
static void set_system(chat *t, const char *text) {
    burin_conversation *c = &t->c;
    burin_turn last;
    if (has_system(t)) burin_conversation_remove(c, 0, 1);
    if (!*text) return;
    burin_conversation_add(c, "system", text, strlen(text));
    last = c->turns[c->n_turns - 1];
    memmove(c->turns + 1, c->turns, (size_t)(c->n_turns - 1) * sizeof last);
    c->turns[0] = last;
}

static void command_reset(chat *t, const char *argument) {
    (void)argument;
    int32_t first = has_system(t);
    burin_conversation_remove(&t->c, first, t->c.n_turns - first);
}

// The last question, and what followed it. False: there is none.
static bool remove_last(chat *t, bool question) {
    int32_t last = t->c.n_turns;
    while (last > 0 && strcmp(t->c.turns[last - 1].role, "user")) last--;
    if (!last) return false;
    burin_conversation_remove(&t->c, last - question, t->c.n_turns - last + question);
    return true;
}

static void command_undo(chat *t, const char *argument) {
    (void)argument;
    if (!remove_last(t, true)) burin_note("there is nothing to undo");
}

static void command_retry(chat *t, const char *argument) {
    (void)argument;
    if (remove_last(t, false))
        answer(t);
    else
        burin_note("there is nothing to answer again");
}

static void command_save(chat *t, const char *path) {
    size_t bytes;
    const char *why;
    char *json = burin_conversation_json(&t->c, &bytes);
    json[bytes++] = '\n';
    if (!burin_replace_file(path, json, bytes, &why)) burin_note("/save %s: %s", path, why);
    free(json);
}

static void command_load(chat *t, const char *path) {
    size_t bytes;
    const char *why;
    int file = burin_open_small_file(path, BURIN_MOST_LINE, &why);
    if (file < 0) {
        burin_note("/load %s: %s", path, why);
        return;
    }
    char *json = burin_read_open_file(file, path, &bytes);
    int32_t before = t->c.n_turns;
    if (burin_conversation_read(&t->c, path, json, bytes)) burin_conversation_remove(&t->c, 0, before);
    free(json);
}

static void command_help(chat *t, const char *argument);

static const struct chat_command {
    const char *name, *help;
    void (*run)(chat *, const char *argument);
} chat_commands[] = {
    {"/help", "this text", command_help},
    {"/reset", "begins again; the system prompt stays", command_reset},
    {"/undo", "forgets the last question and its answer", command_undo},
    {"/retry", "answers the last question again", command_retry},
    {"/save", "F: writes the conversation to F, as JSON", command_save},
    {"/load", "F: goes on with the conversation in F", command_load},
    {"/system", "TEXT: replaces the system prompt; none: without", set_system},
};

static void command_help(chat *t, const char *argument) {
    (void)argument;
    for (size_t i = 0; i < sizeof chat_commands / sizeof *chat_commands; i++)
        burin_print("%-8s %s\n", chat_commands[i].name, chat_commands[i].help);
    if (t->editor) burin_print("arrow keys move in a line and bring back earlier ones, Ctrl-R looks for one\n");
    burin_print("a line that ends with \\ goes on in the next; Ctrl-C stops an answer, Ctrl-D leaves\n");
    burin_flush();
}

static void run_command(chat *t) {
    size_t n = strcspn(t->line, " ");
    for (size_t i = 0; i < sizeof chat_commands / sizeof *chat_commands; i++)
        if (strlen(chat_commands[i].name) == n && !memcmp(t->line, chat_commands[i].name, n)) {
            chat_commands[i].run(t, t->line + n + strspn(t->line + n, " "));
            return;
        }
    burin_note("there is no command %s\nhint: /help lists them", t->line);
}

int burin_chat(burin_run *run) {
    chat t = {.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    burin_conversation_open(&t.c, run);
    burin_conversation_load(&t.c);
    run->stop = &chat_stop;
    catch_interrupts();
    if (t.terminal) t.editor = burin_editor_open(run->command->history, &chat_stop);
    if (run->command->system) set_system(&t, run->command->system);
    if (t.terminal) burin_print("%s: /help lists commands, Ctrl-D leaves\n", run->model->name);
    while (read_line(&t)) {
        if (*t.line == '/') {
            run_command(&t);
        } else if (t.bytes) {
            burin_conversation_add(&t.c, "user", t.line, t.bytes);
            answer(&t);
        }
    }
    print_mark(&t, "\n");
    burin_editor_close(t.editor);
    burin_conversation_save(&t.c);
    burin_conversation_close(&t.c);
    free(t.line);
    return 0;
}
