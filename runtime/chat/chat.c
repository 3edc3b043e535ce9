// --chat: a conversation, line by line. Ctrl-C stops the answer, Ctrl-D ends the program. A message
// has several lines where one ends with \, between """ and """, and where they are pasted. With
// --json a line is a message in JSON, and so is its answer.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chat/conversation.h"
#include "program/input.h"
#include "program/line_editor.h"
#include "program/output.h"
#include "program/private_file.h"
#include "text/modes.h"
#include "text/prompt.h"
#include "text/shown_prompt.h"

typedef struct chat {
    burin_conversation c;
    bool terminal;
    bool dropped;  // a note has told that the oldest turns are left out
    bool left;     // by /quit
    bool speed;    // after each answer
    bool json;     // lines in, lines out
    bool whole;    // the line has all messages of a conversation
    bool block;    // the message was between marks: no command
    int32_t pictures[BURIN_MOST_OF_LIST], n_pictures;  // that the next question shows
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

// ------------------------------------------------------------------------------------------- input
static void add_byte(chat *t, char byte) {
    if (t->bytes >= BURIN_MOST_LINE)
        burin_stop(BURIN_USER_MISTAKE, "a line has more than %d MB", BURIN_MOST_LINE >> 20);
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

// True if more has come with the line: the terminal got a text of several lines at once.
static bool is_pasted(const chat *t) {
    enum { WAIT = 20 };  // milliseconds; faster than anyone types
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return t->terminal && poll(&input, 1, WAIT) > 0;
}

// Byte by byte: input after a line is left to later readers. Ctrl-C drops earlier lines. False at
// the end of the input.
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
        if (byte == '\n' && !is_pasted(t)) return true;
        add_byte(t, byte);
    }
    return t->bytes > begin;
}

static const char block_mark[] = "\"\"\"";
enum { BLOCK_MARK = sizeof block_mark - 1 };

static void drop_bytes(chat *t, size_t bytes) { t->line[t->bytes -= bytes] = 0; }

// Lines after one that ends with a backslash
static void read_continued_lines(chat *t) {
    while (t->bytes && t->line[t->bytes - 1] == '\\') {
        t->line[t->bytes - 1] = '\n';
        if (read_one_line(t, ". ")) continue;
        drop_bytes(t, 1);
        return;
    }
}

static bool ends_block(const chat *t) {
    return t->bytes >= 2 * BLOCK_MARK &&
           !memcmp(t->line + t->bytes - BLOCK_MARK, block_mark, BLOCK_MARK);
}

// Lines up to one that ends with the mark which the first began with. The marks go, and newlines
// beside them.
static void read_quoted_lines(chat *t) {
    bool there = true;
    while (!ends_block(t) && there) {
        add_byte(t, '\n');
        there = read_one_line(t, ". ");
    }
    if (ends_block(t)) drop_bytes(t, BLOCK_MARK);
    if (t->bytes > BLOCK_MARK && t->line[t->bytes - 1] == '\n') drop_bytes(t, 1);
    size_t from = BLOCK_MARK + (t->line[BLOCK_MARK] == '\n');
    if (from > t->bytes) from = t->bytes;
    memmove(t->line, t->line + from, t->bytes - from + 1);
    t->bytes -= from;
}

static bool read_line(chat *t) {
    t->bytes = 0;
    add_byte(t, 0);
    t->bytes = 0;
    t->block = false;
    chat_stop = 0;
    bool there = read_one_line(t, "> ");
    if (there && !t->json) {
        t->block = t->bytes >= BLOCK_MARK && !memcmp(t->line, block_mark, BLOCK_MARK);
        if (t->block)
            read_quoted_lines(t);
        else
            read_continued_lines(t);
    }
    chat_stop = chat_reads = 0;
    return there;
}

// ----------------------------------------------------------------------------------------- answers
static bool has_system(const chat *t) {
    return t->c.n_turns && !strcmp(t->c.turns[0].role, "system");
}

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
        burin_note("the context of %d tokens is full: the oldest turns are left out from here on",
                   run->context),
            t->dropped = true;
    if (t->c.n_ids < run->context) return true;
    burin_note("this has %d tokens, the context holds %d", t->c.n_ids, run->context);
    return false;
}

static void say_what_was_read(const chat *t) {
    const burin_conversation *c = &t->c;
    if (!c->g.run->command->verbose && !t->speed) return;
    burin_note("read %d new tokens, kept %d", c->n_ids - c->kept, c->kept);
    burin_generation_statistics(&c->g, c->n_ids - c->kept);
}

// Answers the last turn, a user's; a turn that cannot be answered goes.
static void answer(chat *t) {
    burin_conversation *c = &t->c;
    bool answered = false;
    burin_wrap wrap = {.width = t->terminal ? burin_terminal_width() : 0};
    c->g.wrap = wrap.width ? &wrap : NULL;
    if (prompt_of_turns(t) && drop_what_is_too_much(t)) {
        answered = burin_conversation_answer(c);
        if (!answered) burin_note("stopped while it read the question, which is left out");
    }
    c->g.wrap = NULL;
    if (!answered) {
        burin_conversation_remove(c, c->n_turns - 1, 1);
        return;
    }
    if (c->g.full)
        burin_note("the context of %d tokens is full: the answer ends here", c->g.run->context);
    burin_conversation_add(c, "assistant", c->g.answer, c->g.answer_bytes);
    say_what_was_read(t);
}

// ---------------------------------------------------------------------------------------- commands
static void command_system(chat *t, const char *text) { burin_conversation_system(&t->c, text); }

static void command_reset(chat *t, const char *argument) {
    (void)argument;
    int32_t first = has_system(t);
    burin_conversation_remove(&t->c, first, t->c.n_turns - first);
}

// The number of the last question, or -1
static int32_t last_question(const chat *t) {
    int32_t last = t->c.n_turns - 1;
    while (last >= 0 && strcmp(t->c.turns[last].role, "user")) last--;
    return last;
}

static void command_undo(chat *t, const char *argument) {
    enum { SHOWN = 60 };
    int32_t question = last_question(t);
    (void)argument;
    if (question < 0) {
        burin_note("there is nothing to undo");
        return;
    }
    const burin_turn *turn = &t->c.turns[question];
    burin_note("forgotten: %.*s%s, and its answer", SHOWN, turn->text,
               turn->bytes > SHOWN ? "..." : "");
    burin_conversation_remove(&t->c, question, t->c.n_turns - question);
}

static void command_retry(chat *t, const char *argument) {
    int32_t question = last_question(t);
    (void)argument;
    if (question < 0) {
        burin_note("there is nothing to answer again");
        return;
    }
    burin_conversation_remove(&t->c, question + 1, t->c.n_turns - question - 1);
    answer(t);
}

static void command_quit(chat *t, const char *argument) {
    (void)argument;
    t->left = true;
}

static void command_speed(chat *t, const char *argument) {
    (void)argument;
    t->speed = !t->speed;
    burin_note(t->speed ? "the speed of each answer follows it" : "no more speeds");
}

static bool has_name(const char *command, const char *path) {
    if (!*path) burin_note("%s needs the name of a file: %s chat.json", command, command);
    return *path;
}

static void command_save(chat *t, const char *path) {
    size_t bytes;
    const char *why;
    if (!has_name("/save", path)) return;
    char *json = burin_conversation_json(&t->c, &bytes);
    json[bytes++] = '\n';
    if (!burin_replace_file(path, json, bytes, &why)) burin_note("/save %s: %s", path, why);
    free(json);
}

static void command_load(chat *t, const char *path) {
    size_t bytes;
    const char *why;
    if (!has_name("/load", path)) return;
    int file = burin_open_small_file(path, BURIN_MOST_LINE, &why);
    if (file < 0) {
        burin_note("/load %s: %s", path, why);
        return;
    }
    char *json = burin_read_open_file(file, path, &bytes);
    int32_t before = t->c.n_turns;
    if (burin_conversation_read(&t->c, path, json, bytes))
        burin_conversation_remove(&t->c, 0, before);
    free(json);
}

// A picture for the next question
static void command_image(chat *t, const char *path) {
    burin_run *run = t->c.g.run;
    size_t bytes;
    const char *why;
    if (!run->model->modes->see) {
        burin_note("this model takes no pictures");
        return;
    }
    if (!*path) {
        t->n_pictures = 0;
        burin_note(
            "/image needs the name of a file: /image photo.jpg; pictures so far are dropped");
        return;
    }
    int file = burin_open_small_file(path, BURIN_MOST_PICTURE, &why);
    if (file < 0) {
        burin_note("/image %s: %s", path, why);
        return;
    }
    uint8_t *data = (uint8_t *)burin_read_open_file(file, path, &bytes);
    int32_t number = run->model->modes->see(run, data, bytes, &why);
    free(data);
    if (number < 0)
        burin_note("/image %s: %s", path, why);
    else if (t->n_pictures == BURIN_MOST_OF_LIST)
        burin_note("/image: at most %d pictures before a question", BURIN_MOST_OF_LIST);
    else
        t->pictures[t->n_pictures++] = number;
}

static void command_help(chat *t, const char *argument);

static const struct chat_command {
    const char *name, *help;
    void (*run)(chat *, const char *argument);
} chat_commands[] = {
    {"/help", "this text", command_help},
    {"/quit", "leaves, as Ctrl-D does", command_quit},
    {"/exit", NULL, command_quit},
    {"/bye", NULL, command_quit},
    {"/reset", "begins again; the system prompt stays", command_reset},
    {"/undo", "forgets the last question and its answer", command_undo},
    {"/retry", "answers the last question again", command_retry},
    {"/save", "F: writes the conversation to F, as JSON", command_save},
    {"/load", "F: goes on with the conversation in F", command_load},
    {"/image", "F: shows the model a picture, with the next question", command_image},
    {"/speed", "shows how fast each answer was read and written; again: not", command_speed},
    {"/system", "TEXT: replaces the system prompt; none: without", command_system},
};

static void command_help(chat *t, const char *argument) {
    (void)argument;
    for (size_t i = 0; i < sizeof chat_commands / sizeof *chat_commands; i++)
        if (chat_commands[i].help)
            burin_print("%-8s %s\n", chat_commands[i].name, chat_commands[i].help);
    if (t->editor)
        burin_print(
            "arrow keys move in a line and bring back earlier ones, Ctrl-R looks for one\n");
    burin_print(
        "a message of several lines is pasted, or between \"\"\" and \"\"\", or its lines end with "
        "\\\n"
        "Ctrl-C stops an answer, Ctrl-D leaves\n");
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

// -------------------------------------------------------------------------------------------- JSON
static void print_error(const char *text) {
    burin_print("{\"error\": ");
    burin_print_json_string(text, strlen(text));
    burin_print("}\n");
    burin_show();
}

// A string is a question, an object a message, a list or an object with messages a conversation
// that replaces the one before. The result is a list, or that object; the caller frees it.
static char *messages_of_line(const chat *t, size_t *bytes) {
    static const char *const around[][2] = {
        {"[{\"role\": \"user\", \"content\": ", "}]"}, {"[", "]"}, {"", ""}};
    const char *line = t->line + strspn(t->line, " \t");
    const char *const *ends = around[*line == '"' ? 0 : t->whole ? 2 : 1];
    char *json = burin_allocate(1, t->bytes + 64);
    *bytes = (size_t)sprintf(json, "%s%s%s", ends[0], line, ends[1]);
    return json;
}

static bool read_turns(chat *t, const char *json, size_t bytes) {
    burin_conversation *c = &t->c;
    int32_t before = c->n_turns;
    char error[512];
    if (!strchr("\"{[", t->line[strspn(t->line, " \t")])) {
        print_error(
            "a line is JSON: \"a question\", a message {\"role\": \"user\", \"content\": "
            "\"...\"} or a list of messages");
        return false;
    }
    if (!burin_conversation_parse(c, "the line", json, bytes, error, sizeof error)) {
        print_error(error);
        return false;
    }
    if (t->whole) burin_conversation_remove(c, 0, before);
    return true;
}

// Answers the turns so far, of which the last is of the user or a tool.
static void answer_line(chat *t, const char *json, size_t bytes) {
    burin_conversation *c = &t->c;
    int32_t before = c->n_turns;
    size_t turns_bytes;
    if (!read_turns(t, json, bytes)) return;
    char *turns = json[0] == '{' ? NULL : burin_conversation_json(c, &turns_bytes);
    const burin_tools_text text = {"the line", turns ? turns : json, turns ? turns_bytes : bytes};
    bool made = burin_conversation_prompt(c, text.json, text.bytes, text.name),
         fits = made && c->n_ids < c->g.run->context;
    if (fits) {
        burin_answer_with_tools(c, &text);
        burin_conversation_add(c, "assistant", c->g.answer, c->g.answer_bytes);
        burin_show();
    } else {
        print_error(made ? "the conversation fills the context" : c->rendering.error);
        if (c->n_turns > before) burin_conversation_remove(c, before, c->n_turns - before);
    }
    free(turns);
}

// The same after the pictures of a line have become names.
static void answer_shown_line(chat *t, const char *json, size_t bytes) {
    burin_run *run = t->c.g.run;
    burin_pictures shown = {0};
    const char *why = run->model->eyes ? burin_pictures_read(&shown, run, json, bytes) : NULL;
    if (why)
        print_error(why);
    else
        answer_line(t, shown.json ? shown.json : json, shown.json ? shown.bytes : bytes);
    burin_pictures_close(&shown);
}

static void converse_in_json(chat *t) {
    while (read_line(t)) {
        size_t bytes;
        if (!t->bytes) continue;
        t->whole = t->line[strspn(t->line, " \t")] == '[' || strstr(t->line, "\"messages\"");
        char *json = messages_of_line(t, &bytes);
        answer_shown_line(t, json, bytes);
        free(json);
    }
}

// ------------------------------------------------------------------------------------------- lines
static void add_question(chat *t, const char *text, size_t bytes) {
    if (t->n_pictures)
        burin_conversation_show(&t->c, t->pictures, t->n_pictures, text, bytes);
    else
        burin_conversation_add(&t->c, "user", text, bytes);
    t->n_pictures = 0;
}

static void take_chat_line(chat *t) {
    if (*t->line == '/' && !t->block) {
        run_command(t);
    } else if (t->bytes) {
        add_question(t, t->line, t->bytes);
        answer(t);
    }
}

// The prompt of the command line is the first message.
static void answer_prompt(chat *t) {
    const burin_command *command = t->c.g.run->command;
    size_t bytes;
    if (!command->prompt && !command->prompt_file) return;
    char *text = burin_question_text(command, &bytes);
    for (int i = 0; i < command->images.n; i++)
        t->pictures[t->n_pictures++] = burin_see_file(t->c.g.run, command->images.text[i]);
    add_question(t, text, bytes);
    if (t->terminal) burin_print("> "), burin_print_text(text, bytes), burin_print("\n");
    free(text);
    answer(t);
}

static void converse(chat *t) {
    burin_run *run = t->c.g.run;
    if (t->terminal) t->editor = burin_editor_open(run->command->history, &chat_stop);
    if (t->terminal) burin_print("%s: /help lists commands, Ctrl-D leaves\n", run->model->name);
    answer_prompt(t);
    while (!t->left && read_line(t)) take_chat_line(t);
    if (!t->left) print_mark(t, "\n");
    burin_editor_close(t->editor);
}

int burin_chat(burin_run *run) {
    bool json = run->command->json;
    chat t = {.json = json, .terminal = !json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    burin_conversation_open(&t.c, run);
    burin_conversation_load(&t.c);
    run->stop = &chat_stop;
    catch_interrupts();
    burin_conversation_begin(&t.c);
    if (json)
        converse_in_json(&t);
    else
        converse(&t);
    burin_conversation_save(&t.c);
    burin_conversation_close(&t.c);
    free(t.line);
    return 0;
}
