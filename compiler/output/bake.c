// The tokens that are kept are those that every conversation with this beginning has: those that
// prompts with different questions, at different times, have in common.
//
//     rules.txt -> prompts with questions -> common tokens -> a run of the program -> its session -> the program
#include "output/bake.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "template/template_value.h"
#include "text/prompt.h"
#include "toolchain/process.h"
#include "util/files.h"
#include "util/text.h"

static const char *const questions[] = {"a", "Z", "7", " ", "\n", "\"", "<", "\xc3\xa9"};
static const char *const clocks[] = {"2001-02-03 04:05:06", "2037-12-31 23:59:58"};

typedef struct Beginning {
    const Build *build;
    const char *option, *file;
    char *text;
    size_t bytes;
    bool messages;  // the text is messages in JSON
} Beginning;

static bool is_asked_for(const Options *o) { return o->prompt || o->prompt_messages; }

static const char *option_of(const Options *o) { return o->prompt ? "--prompt" : "--messages"; }

void bake_check(const Build *b, const char *output) {
    const Options *o = b->options;
    const char *file = o->prompt ? o->prompt : o->prompt_messages;
    if (!is_asked_for(o)) return;
    if (o->prompt && o->prompt_messages)
        usage_error("--prompt and --messages are two beginnings\n  hint: give one of them");
    if (b->kind != OUTPUT_PROGRAM) usage_error("-o %s: %s makes a program", output, option_of(o));
    if (b->tools.mpi) usage_error("%s does not go together with --with=%s", option_of(o), o->with);
    if (machine_is_windows(b->tools.machine) || b->tools.machine->address_bits != 64)
        usage_error(
            "%s: programs for %s are built without\n  hint: --session keeps a prompt in a file",
            option_of(o), b->tools.machine->triple);
    if (access(file, R_OK)) diag_fatal(NO_LOC, "%s: there is no %s", option_of(o), file);
}

static void check_model(const Build *b) {
    const Options *o = b->options;
    bool has_source = b->program->encoder && !b->module->eyes;
    if (!is_decoder(b->program) || !b->tokenizer || has_source)
        diag_fatal(NO_LOC, "%s: %s reads no prompt%s", option_of(o), o->model,
                   has_source ? ": its encoder reads a source anew each time" : "");
    if (!o->prompt && !b->chat.blob)
        diag_fatal(NO_LOC, "--messages: %s has no chat template\nhint: --prompt=FILE keeps a text",
                   o->model);
}

// ---- tokens ----
static burin_value message(burin_render_state *r, const char *role, const char *text,
                           size_t bytes) {
    burin_value m = burin_dict_new(r);
    burin_dict_set(r, m, BURIN_LITERAL("role"), burin_string_of(role, strlen(role)));
    burin_dict_set(r, m, BURIN_LITERAL("content"), burin_string_of(text, bytes));
    return m;
}

// The conversation in JSON: this beginning, then a question.
static burin_value ask(burin_render_state *r, const Beginning *b, const char *question) {
    const burin_json_style style = {
        .indent = burin_none(), .between = BURIN_LITERAL(", "), .behind_key = BURIN_LITERAL(": ")};
    burin_value all = b->messages ? burin_json_read(r, b->file, b->text, b->bytes)
                                  : burin_list_new(r, BURIN_LIST, 2),
                list = all;
    const burin_value *inner =
        all.kind == BURIN_DICT ? burin_dict_find_text(r, all, "messages") : NULL;
    if (inner) list = *inner;
    if (list.kind != BURIN_LIST) burin_render_fail(r, "%s: expected a list of messages", b->file);
    if (!b->messages) burin_list_add(r, list, message(r, "system", b->text, b->bytes));
    burin_list_add(r, list, message(r, "user", question, strlen(question)));
    return burin_json_text(r, all, &style);
}

static void *render_memory(burin_rendering *r, size_t bytes) {
    r->memory_bytes = BURIN_RENDER_BYTES(bytes);
    r->memory = malloc(r->memory_bytes);
    if (!r->memory) diag_fatal(NO_LOC, "out of memory");
    return r->memory;
}

static burin_tokens tokens_of_chat(const Beginning *b, const char *question, const char *clock) {
    burin_rendering values = {.json_name = b->file};
    burin_render_state r = {.out = &values};
    render_memory(&values, b->bytes);
    burin_render_divide(&r);
    if (setjmp(r.stop)) diag_fatal(NO_LOC, "%s", values.error);
    burin_value json = ask(&r, b, question);
    burin_rendering out = {.template_blob = b->build->chat.blob,
                           .json = json.text,
                           .json_bytes = json.length,
                           .json_name = b->file,
                           .now = clock};
    render_memory(&out, json.length);
    if (!burin_render(&out)) diag_fatal(NO_LOC, "%s: %s", b->option, out.error);
    burin_tokens tokens = burin_encode_text(
        b->build->tokenizer->blob,
        &(burin_encoding){.text = out.text, .bytes = out.bytes, .marks = out.marks, .whole = true});
    free(out.memory), free(values.memory);
    return tokens;
}

static burin_tokens tokens_with(const Beginning *b, const char *question, const char *clock) {
    if (b->build->chat.blob) return tokens_of_chat(b, question, clock);
    Text text = {0};
    text_append(&text, b->text, b->bytes);
    text_append(&text, question, strlen(question));
    burin_tokens tokens = burin_encode_text(
        b->build->tokenizer->blob,
        &(burin_encoding){.text = text.data, .bytes = text.length, .special = true, .whole = true});
    text_free(&text);
    return tokens;
}

static void keep_common(burin_tokens *tokens, burin_tokens other) {
    int32_t n = 0;
    while (n < tokens->n && n < other.n && tokens->id[n] == other.id[n]) n++;
    tokens->n = n;
    free(other.id);
}

static burin_tokens common_tokens(const Beginning *b) {
    burin_tokens tokens = tokens_with(b, questions[0], clocks[0]);
    for (size_t i = 1; i < sizeof questions / sizeof *questions; i++)
        keep_common(&tokens, tokens_with(b, questions[i], clocks[0]));
    int32_t before = tokens.n;
    keep_common(&tokens, tokens_with(b, questions[0], clocks[1]));
    if (tokens.n < before)
        diag_warning(NO_LOC,
                     "%s: the template prints the date: the program keeps the %d of %d tokens "
                     "before it",
                     b->option, (int)tokens.n, (int)before);
    int64_t context = b->build->passes.context;
    if (tokens.n >= context)
        diag_fatal(NO_LOC, "%s: %s has %d tokens, the context holds %lld\nhint: a larger --ctx",
                   b->option, b->file, (int)tokens.n, (long long)context);
    if (tokens.n < 1)
        diag_fatal(NO_LOC, "%s: %s begins no prompt of this model", b->option, b->file);
    return tokens;
}

// ---- the session ----
static const char *list_of(const Beginning *b, burin_tokens tokens) {
    enum { LONGEST_WORD = 128 << 10 };  // of a command line of Linux
    Text list = {0};
    for (int32_t i = 0; i < tokens.n; i++) text_add(&list, i ? ",%d" : "%d", (int)tokens.id[i]);
    if (list.length >= LONGEST_WORD)
        diag_fatal(NO_LOC, "%s: %s has %d tokens, more than a program can keep (about 20000)",
                   b->option, b->file, (int)tokens.n);
    return arena_strndup(b->build->arena, list.data, list.length);
}

static const char *make_session(const Beginning *b, const char *folder, const char *program,
                                burin_tokens tokens) {
    Arena *arena = b->build->arena;
    const char *session = arena_printf(arena, "%s/prompt.session", folder),
               *log = arena_printf(arena, "%s/prompt.log", folder);
    CommandLine line = {.arena = arena};
    command_add(&line, program);
    command_add(&line, "--tokens");
    command_add(&line, list_of(b, tokens));
    command_add_words(&line, "-n 0 --temp 1 --seed 0 --session");
    command_add(&line, session);
    if (b->build->draft) command_add_words(&line, "--draft none");
    if (!process_succeeds(&line, log, b->build->options->verbose))
        diag_fatal(NO_LOC, "%s: the program cannot read it: %s", b->option,
                   read_text_file(log, NULL));
    return session;
}

void bake_prompt(const Build *b, const char *folder, const char *program) {
    const Options *o = b->options;
    if (!is_asked_for(o) || b->is_draft) return;
    check_model(b);
    Beginning begin = {.build = b, .option = option_of(o), .messages = !o->prompt};
    begin.file = o->prompt ? o->prompt : o->prompt_messages;
    begin.text = read_text_file(begin.file, &begin.bytes);
    if (o->prompt && begin.bytes && begin.text[begin.bytes - 1] == '\n') begin.bytes--;
    burin_tokens tokens = common_tokens(&begin);
    ImagePrompt prompt = {0};
    const char *session = make_session(&begin, folder, b->reader ? b->reader : program, tokens);
    char *bytes = read_text_file(session, &prompt.session_bytes);
    prompt.session = bytes;
    if (o->prompt && b->chat.blob) prompt.system = begin.text, prompt.system_bytes = begin.bytes;
    image_add_prompt(&b->image, &prompt, program);
    free(bytes), free(begin.text), free(tokens.id);
}
