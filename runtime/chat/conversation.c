// Prompts of conversations. The slot keeps its rows: only new tokens of the next prompt are read.
// If the prompt begins with the text read so far (the last prompt and the answer), the answer's
// tokens stay as they were generated, even if the tokenizer would cut its text differently; else
// the equal first tokens stay.
#include "chat/conversation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "program/output.h"
#include "text/answer_form.h"
#include "text/prompt.h"
#include "text/prompt_cache.h"
#include "text/session_file.h"

static const burin_template *template_of(const burin_model *m) {
    return (const burin_template *)(const void *)(m->weights() + m->template_offset);
}

// The template's eos_token ends an answer, in addition to the model's own end tokens.
void burin_generation_find_end(burin_generation *g) {
    const burin_template *t = template_of(g->run->model);
    if (!t->eos) return;
    const uint32_t *entry =
        (const uint32_t *)(const void *)((const char *)t + t->strings) + 2 * (t->eos - 1);
    g->end = burin_token_find(g->tokenizer, (const char *)t + entry[0], entry[1]);
    g->has_end = g->end >= 0;
}

void burin_conversation_open(burin_conversation *c, burin_run *run) {
    *c = (burin_conversation){.g = {.run = run}};
    c->g.count = run->command->count >= 0 ? run->command->count : run->context;
    burin_generation_open(&c->g);
    burin_generation_find_end(&c->g);
    c->g.answer_room = ((size_t)run->context + 1) * (3 * burin_decode_max(c->g.tokenizer) + 3);
    c->g.answer = burin_allocate(1, c->g.answer_room + 1);
    c->g.answer_marks = burin_allocate(1, c->g.answer_room + 1);
}

void burin_conversation_close(burin_conversation *c) {
    burin_conversation_remove(c, 0, c->n_turns);
    burin_generation_close(&c->g);
    free(c->g.answer);
    free(c->g.answer_marks);
    free(c->rendering.memory);
    burin_pictures_close(&c->pictures);
    free(c->turns);
    free(c->ids);
    free(c->read);
    free(c->read_marks);
}

// ------------------------------------------------------------------------------------------- turns
void burin_conversation_add(burin_conversation *c, const char *role, const char *text,
                            size_t bytes) {
    size_t role_bytes = strlen(role) + 1;
    if (c->n_turns == c->capacity) {
        burin_turn *more =
            burin_allocate((size_t)(c->capacity = 2 * c->capacity + 8), sizeof *more);
        if (c->n_turns) memcpy(more, c->turns, (size_t)c->n_turns * sizeof *more);
        free(c->turns);
        c->turns = more;
    }
    burin_turn *turn = &c->turns[c->n_turns++];
    turn->role = burin_allocate(1, role_bytes + bytes + 1);
    turn->text = turn->role + role_bytes, turn->bytes = bytes;
    turn->parts = false;
    memcpy(turn->role, role, role_bytes);
    memcpy(turn->text, text, bytes);
}

static char *write_escaped(char *to, const char *text, size_t bytes);

void burin_conversation_show(burin_conversation *c, const int32_t *pictures, int32_t n,
                             const char *text, size_t bytes) {
    const burin_sights *sights = &c->g.run->sights;
    size_t room = (64 + BURIN_PICTURE_NAME) * (size_t)n + 6 * bytes + 64;
    char *json = burin_allocate(1, room), *to = json, name[BURIN_PICTURE_NAME];
    *to++ = '[';
    for (int32_t i = 0; i < n; i++) {
        burin_picture_name(&sights->items[pictures[i]], name);
        to += sprintf(to, "{\"type\": \"image\", \"picture\": \"%s\"}, ", name);
    }
    to += sprintf(to, "{\"type\": \"text\", \"text\": \"");
    to = write_escaped(to, text, bytes);
    to += sprintf(to, "\"}]");
    burin_conversation_add(c, "user", json, (size_t)(to - json));
    c->turns[c->n_turns - 1].parts = true;
    free(json);
}

void burin_conversation_remove(burin_conversation *c, int32_t first, int32_t n) {
    for (int32_t i = first; i < first + n; i++) free(c->turns[i].role);
    if (n)
        memmove(c->turns + first, c->turns + first + n,
                (size_t)(c->n_turns - first - n) * sizeof *c->turns);
    c->n_turns -= n;
}

void burin_conversation_begin(burin_conversation *c) {
    const char *given = c->g.run->command->system, *own = burin_prompt_system(c->g.run->model);
    if (given)
        burin_conversation_system(c, given);
    else if (own && !c->n_turns)
        burin_conversation_system(c, own);
}

void burin_conversation_system(burin_conversation *c, const char *text) {
    if (c->n_turns && !strcmp(c->turns[0].role, "system")) burin_conversation_remove(c, 0, 1);
    if (!*text) return;
    burin_conversation_add(c, "system", text, strlen(text));
    burin_turn system = c->turns[c->n_turns - 1];
    memmove(c->turns + 1, c->turns, (size_t)(c->n_turns - 1) * sizeof system);
    c->turns[0] = system;
}

// `to` has room for 6 * bytes.
static char *write_escaped(char *to, const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\') *to++ = '\\';
        if (byte >= 0x20)
            *to++ = (char)byte;
        else
            to += sprintf(to, "\\u%04x", byte);
    }
    return to;
}

static char *write_turn(char *to, const burin_turn *turn) {
    to += sprintf(to, "{\"role\": \"");
    to = write_escaped(to, turn->role, strlen(turn->role));
    to += sprintf(to, "\", \"content\": ");
    if (turn->parts) {
        memcpy(to, turn->text, turn->bytes);
        to += turn->bytes;
        return to + sprintf(to, "}");
    }
    *to++ = '"';
    to = write_escaped(to, turn->text, turn->bytes);
    return to + sprintf(to, "\"}");
}

char *burin_conversation_json(const burin_conversation *c, size_t *bytes) {
    size_t room = 16;
    for (int32_t i = 0; i < c->n_turns; i++)
        room += 6 * (strlen(c->turns[i].role) + c->turns[i].bytes) + 64;
    char *json = burin_allocate(1, room), *to = json;
    *to++ = '[';
    for (int32_t i = 0; i < c->n_turns; i++) {
        to += sprintf(to, i ? ",\n " : "");
        to = write_turn(to, &c->turns[i]);
    }
    to += sprintf(to, "]");
    *bytes = (size_t)(to - json);
    return json;
}

static void add_turn_read(void *conversation, const char *role, const char *text, size_t bytes) {
    burin_conversation_add(conversation, role, text, bytes);
}

static void add_parts_read(void *conversation, const char *role, const char *json, size_t bytes) {
    burin_conversation *c = conversation;
    burin_conversation_add(c, role, json, bytes);
    c->turns[c->n_turns - 1].parts = true;
}

bool burin_conversation_parse(burin_conversation *c, const char *name, const char *json,
                              size_t bytes, char *error, size_t room) {
    int32_t before = c->n_turns;
    void *memory = burin_allocate(1, BURIN_RENDER_BYTES(bytes));
    const burin_message_reader reader = {.add = add_turn_read,
                                         .add_parts = c->g.run->model->eyes ? add_parts_read : NULL,
                                         .context = c,
                                         .memory = memory,
                                         .memory_bytes = BURIN_RENDER_BYTES(bytes)};
    bool read = burin_read_messages(&reader, name, json, bytes, error, room);
    if (!read) burin_conversation_remove(c, before, c->n_turns - before);
    free(memory);
    return read;
}

bool burin_conversation_read(burin_conversation *c, const char *name, const char *json,
                             size_t bytes) {
    char error[512];
    bool read = burin_conversation_parse(c, name, json, bytes, error, sizeof error);
    if (!read) burin_note("%s", error);
    return read;
}

// ----------------------------------------------------------------------------------------- session
void burin_conversation_load(burin_conversation *c) {
    burin_session_texts texts;
    if (!burin_session_load(&c->g, &texts)) return;
    c->read = texts.read, c->read_marks = texts.marks, c->read_bytes = texts.read_bytes;
    if (texts.turns_bytes)
        burin_conversation_read(c, c->g.run->command->session, texts.turns, texts.turns_bytes);
    free(texts.turns);
}

void burin_conversation_save(const burin_conversation *c) {
    burin_session_texts texts = {
        .read = c->read, .marks = c->read_marks, .read_bytes = c->read_bytes};
    if (c->n_turns) texts.turns = burin_conversation_json(c, &texts.turns_bytes);
    burin_session_save(&c->g, &texts);
    free(texts.turns);
}

// ------------------------------------------------------------------------------------------ prompt
static burin_tokens encode(const burin_conversation *c, const uint8_t *marks, size_t bytes) {
    const burin_shown shown = {&c->g.run->sights, c->pictures.number, c->pictures.n};
    burin_tokens tokens;
    if (shown.n) {
        burin_place_pictures(c->g.tokenizer, c->g.run->model->eyes, &shown, c->rendering.text,
                             marks, bytes, false, &tokens);
        return tokens;
    }
    return burin_encode_text(
        c->g.tokenizer,
        &(burin_encoding){
            .text = c->rendering.text, .bytes = bytes, .marks = marks, .whole = true});
}

static bool starts_with_tokens(const int32_t *ids, int32_t n, burin_tokens start) {
    return start.n <= n && !memcmp(start.id, ids, (size_t)start.n * sizeof *ids);
}

// True if the marks of the text read so far give the same tokens. A text of equal bytes differs if
// a message now spells a former special token.
static bool marks_agree(const burin_conversation *c, burin_tokens now) {
    if (!memcmp(c->rendering.marks, c->read_marks, c->read_bytes)) return true;
    burin_tokens then = encode(c, c->read_marks, c->read_bytes);
    bool agree = then.n == now.n && starts_with_tokens(now.id, now.n, then);
    free(then.id);
    return agree;
}

// The prompt after the text read so far: its tokens follow those of the slot, if the tokenizer
// would cut there too.
// True if the slot has read the pictures of these tokens: equal texts may show others.
static bool pictures_agree(const burin_conversation *c, burin_tokens now) {
    int32_t i = 0;
    for (int32_t j = 0; j < c->g.n_tokens; j++) {
        if (c->g.tokens[j] >= 0) continue;
        while (i < now.n && now.id[i] >= 0) i++;
        if (i == now.n || now.id[i++] != c->g.tokens[j]) return false;
    }
    while (i < now.n && now.id[i] >= 0) i++;
    return i == now.n;
}

static bool continue_read(burin_conversation *c) {
    const burin_rendering *r = &c->rendering;
    int32_t read = c->g.n_tokens;
    if (!c->read_bytes || r->bytes <= c->read_bytes || memcmp(r->text, c->read, c->read_bytes))
        return false;
    burin_tokens before = encode(c, r->marks, c->read_bytes);
    bool clean = starts_with_tokens(c->ids, c->n_ids, before) && pictures_agree(c, before) &&
                 marks_agree(c, before);
    free(before.id);
    if (!clean) return false;
    int32_t more = c->n_ids - before.n,
            *ids = burin_allocate((size_t)read + (size_t)more + 1, sizeof *ids);
    memcpy(ids, c->g.tokens, (size_t)read * sizeof *ids);
    memcpy(ids + read, c->ids + before.n, (size_t)more * sizeof *ids);
    free(c->ids);
    c->ids = ids, c->n_ids = read + more;
    return true;
}

// Every picture of the messages must be in the prompt.
static bool shows_pictures(burin_conversation *c) {
    burin_rendering *r = &c->rendering;
    const burin_eyes *e = c->g.run->model->eyes;
    if (!c->pictures.n) return true;
    int32_t shown = burin_count_marks(e, r->text, r->marks, r->bytes);
    if (shown == c->pictures.n) return true;
    burin_format(
        r->error, sizeof r->error,
        "the chat template shows %d of %d pictures\nhint: --raw, and a prompt with %s where "
        "a picture is",
        shown, c->pictures.n, e->mark);
    return false;
}

// Takes the pictures out of messages; false: one cannot be read.
static bool take_pictures(burin_conversation *c, const char **json, size_t *bytes) {
    burin_pictures_close(&c->pictures);
    if (!c->g.run->model->eyes) return true;
    const char *why = burin_pictures_read(&c->pictures, c->g.run, *json, *bytes);
    if (why) burin_format(c->rendering.error, sizeof c->rendering.error, "%s", why);
    *json = c->pictures.json, *bytes = c->pictures.bytes;
    return !why;
}

bool burin_conversation_prompt(burin_conversation *c, const char *json, size_t bytes,
                               const char *name) {
    burin_rendering *r = &c->rendering;
    free(r->memory);
    r->memory = NULL;
    if (!take_pictures(c, &json, &bytes)) return false;
    *r = (burin_rendering){.template_blob = template_of(c->g.run->model),
                           .json = json,
                           .json_bytes = bytes,
                           .json_name = name};
    r->memory_bytes = BURIN_RENDER_BYTES(bytes);
    r->memory = burin_allocate(1, r->memory_bytes);
    if (!burin_render(r) || !shows_pictures(c)) return false;
    free(c->ids);
    burin_tokens prompt = encode(c, r->marks, r->bytes);
    c->ids = prompt.id, c->n_ids = prompt.n;
    continue_read(c);
    return true;
}

bool burin_conversation_fits(const burin_conversation *c) {
    int32_t context = c->g.run->context, room = context / 4;
    if (c->g.count < room) room = (int32_t)c->g.count;
    return c->n_ids + room <= context && c->n_ids > 0;
}

// ------------------------------------------------------------------------------------------ answer
// The text of the slot's tokens: the prompt, and the answer as far as it was read.
static void note_read(burin_conversation *c) {
    const burin_rendering *r = &c->rendering;
    free(c->read);
    free(c->read_marks);
    c->read_bytes = r->bytes + c->g.answer_bytes;
    c->read = burin_allocate(1, c->read_bytes + 1);
    c->read_marks = burin_allocate(1, c->read_bytes + 1);
    memcpy(c->read, r->text, r->bytes);
    memcpy(c->read + r->bytes, c->g.answer, c->g.answer_bytes);
    memcpy(c->read_marks, r->marks, r->bytes);
    memcpy(c->read_marks + r->bytes, c->g.answer_marks, c->g.answer_bytes);
}

bool burin_conversation_answer(burin_conversation *c) {
    burin_generation *g = &c->g;
    burin_run *run = g->run;
    c->kept = burin_generation_kept(g, c->ids, c->n_ids);
    c->kept = burin_prompt_cache_use(run, 0, c->ids, c->n_ids, c->kept);
    burin_slot_truncate(run->session, 0, c->kept);
    memcpy(g->tokens, c->ids, (size_t)c->n_ids * sizeof *g->tokens);
    g->n_tokens = c->n_ids, g->generated = 0, g->full = false, g->answer_bytes = 0;
    g->started = burin_nanoseconds();
    burin_generation_start(g);
    float *logits = burin_run_read(run, g->tokens + c->kept, c->n_ids - c->kept);
    g->prompt_read = burin_nanoseconds();
    if (!logits) {
        g->n_tokens = burin_slot_length(run->session, 0), c->read_bytes = 0;
        return false;
    }
    burin_generate_tokens(g, logits);
    burin_generation_finish(g);
    note_read(c);
    return true;
}
