// The generation loop: read the prompt (of an encoder-decoder: encode the source, read what its
// decoder begins with), then sample, show and read one token at a time, until the count, the end of
// the text or the end of the context. With --shift a full context loses the older half of its
// tokens and the rest is read again from position 0 (a beginning-of-text token stays first); those
// rows are not recorded a second time.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/profile.h"
#include "program/output.h"
#include "text/answer_form.h"
#include "text/beams.h"
#include "text/draft.h"
#include "text/encoder_input.h"
#include "text/generation.h"
#include "text/line_slots.h"
#include "text/modes.h"
#include "text/prompt.h"
#include "text/prompt_cache.h"
#include "text/session_file.h"
#include "text/shown_prompt.h"

bool burin_generation_ends(const burin_generation *g, int32_t token) {
    const burin_model *m = g->run->model;
    bool end = g->has_end && token == g->end;
    for (int i = 0; i < m->n_eos; i++) end |= m->eos[i] == token;
    return end && !g->run->command->ignore_eos;
}

static void make_answer_room(burin_generation *g, size_t bytes) {
    char *more = burin_allocate(1, g->answer_room = 2 * g->answer_room + bytes);
    memcpy(more, g->answer, g->answer_bytes);
    free(g->answer);
    g->answer = more;
    if (!g->answer_marks) return;
    uint8_t *marks = burin_allocate(1, g->answer_room);
    memcpy(marks, g->answer_marks, g->answer_bytes);
    free(g->answer_marks);
    g->answer_marks = marks;
}

static void append_text(burin_generation *g, const char *text, size_t n) {
    if (!g->quiet && g->wrap)
        burin_wrap_text(g->wrap, text, n);
    else if (!g->quiet)
        burin_print_text(text, n);
    if (!g->answer) return;
    if (n > g->answer_room - g->answer_bytes) make_answer_room(g, n);
    memcpy(g->answer + g->answer_bytes, text, n);
    if (g->answer_marks) memset(g->answer_marks + g->answer_bytes, !g->special, n);
    g->answer_bytes += n;
}

void burin_generation_put(burin_generation *g, const char *text, size_t bytes) {
    append_text(g, text, bytes);
}

// The start of the first stop text in the pending text, or its end.
static size_t find_stop(burin_generation *g) {
    const burin_command *c = g->run->command;
    size_t first = g->n_pending;
    for (int i = 0; i < c->stops.n; i++) {
        const char *there =
            memmem(g->pending, g->n_pending, c->stops.text[i], strlen(c->stops.text[i]));
        if (!there) continue;
        g->stopped = true;
        if ((size_t)(there - g->pending) < first)
            first = (size_t)(there - g->pending), g->stop_text = c->stops.text[i];
    }
    return first;
}

// How many of the last bytes that are held may begin a text that stops.
static size_t partial_stop_length(const burin_generation *g) {
    const burin_command *c = g->run->command;
    size_t most = 0;
    for (int i = 0; i < c->stops.n; i++) {
        size_t n = strlen(c->stops.text[i]) - 1;
        if (n > g->n_pending) n = g->n_pending;
        while (n > most && memcmp(g->pending + g->n_pending - n, c->stops.text[i], n)) n--;
        if (n > most) most = n;
    }
    return most;
}

static void say_until_stop(burin_generation *g, const char *text, size_t n) {
    if (!g->pending) {
        append_text(g, text, n);
        return;
    }
    memcpy(g->pending + g->n_pending, text, n);
    g->n_pending += n;
    size_t stop = find_stop(g), ready = g->stopped ? stop : g->n_pending - partial_stop_length(g);
    append_text(g, g->pending, ready);
    g->n_pending = g->stopped ? 0 : g->n_pending - ready;
    memmove(g->pending, g->pending + ready, g->n_pending);
}

static void emit_token(burin_generation *g, int32_t token) {
    if (g->ids) {
        burin_print("%s%d", g->generated ? "," : "", token);
    } else {
        size_t n = burin_decode(g->tokenizer, &g->decoder, token, g->bytes);
        g->special =
            g->calls && !n && !g->pending;  // with --stop, text of earlier tokens may come with it
        if (g->calls && !n) n = burin_mark_text(g->tokenizer, token, g->marks, g->bytes);
        say_until_stop(g, g->characters, burin_utf8_add(&g->text, g->bytes, n, g->characters));
    }
    burin_show();
}

// The end of the prompt decides how the first word begins.
void burin_generation_start(burin_generation *g) {
    g->stopped = false, g->stop_text = NULL, g->n_pending = 0;
    burin_draft_start(g->draft);
    g->decoder = (burin_decoder){0};
    g->text = (burin_utf8){0};
    for (int32_t i = 0; i < g->n_tokens && !g->ids; i++)
        burin_decode(g->tokenizer, &g->decoder, g->tokens[i], g->bytes);
    if (g->constraint) burin_constraint_start(g->constraint, !g->ids && !g->decoder.started);
}

// On a terminal the dimmed prompt precedes its continuation; a pipe gets the generated text alone.
static void show_prompt(const burin_generation *g) {
    const char *prompt = g->quiet ? NULL : g->run->command->prompt;
    if (prompt && *prompt && isatty(STDOUT_FILENO) && g->count && !g->run->model->encoder) {
        burin_print_bytes("\x1b[2m", 4);
        burin_print_text(prompt, strlen(prompt));
        burin_print_bytes("\x1b[0m", 4);
        burin_show();
    }
}

void burin_generation_finish(burin_generation *g) {
    char out[4];
    size_t n = burin_utf8_end(&g->text, out);
    g->special = false;
    if (!g->stopped) say_until_stop(g, out, n);
    if (g->pending) append_text(g, g->pending, g->n_pending);
    if (g->count && !g->quiet) burin_print_bytes("\n", 1);
    burin_show();
}

// Drops the older half; returns the logits after the rest was read again.
static float *shift(burin_generation *g) {
    burin_run *run = g->run;
    bool recording = run->recording, has_bos = g->tokens[0] == run->model->bos && run->context > 1;
    int32_t keep = run->context / 2 > has_bos ? run->context / 2 - has_bos : 1 - has_bos;
    memmove(g->tokens + has_bos, g->tokens + g->n_tokens - keep, (size_t)keep * sizeof *g->tokens);
    g->n_tokens = keep + has_bos;
    burin_slot_reset(run->session, 0);
    burin_draft_start(g->draft);
    run->recording = false;
    float *logits = burin_run_read(run, g->tokens, g->n_tokens);
    run->recording = recording;
    return logits;
}

// Reads the newest token. NULL: the context is full.
static float *read_newest(burin_generation *g) {
    burin_run *run = g->run;
    if (g->n_tokens <= run->context && g->draft) return burin_draft_read(g);
    if (g->n_tokens <= run->context) return burin_run_read(run, &g->tokens[g->n_tokens - 1], 1);
    if (run->command->shift) return shift(g);
    g->full = true;
    return NULL;
}

static bool allows(burin_generation *g, int32_t token) {
    if (burin_generation_ends(g, token)) return burin_constraint_may_end(g->constraint);
    return burin_constraint_allows(g->constraint, token);
}

_Static_assert(BURIN_GRAMMAR_READINGS == 8192, "the number in the message below");

// Tokens that end the text keep their logits where it may end.
static void mask(burin_generation *g, float *logits) {
    const burin_model *m = g->run->model;
    enum { ENDS = sizeof m->eos / sizeof *m->eos + 1 };
    int32_t end[ENDS], n = 0;
    float kept[ENDS];
    for (int i = 0; i < m->n_eos; i++) end[n++] = m->eos[i];
    if (g->has_end) end[n++] = g->end;
    for (int32_t i = 0; i < n; i++) kept[i] = logits[end[i]];
    int32_t allowed = burin_constraint_mask(g->constraint, logits);
    bool may_end = n && burin_constraint_may_end(g->constraint) && !g->run->command->ignore_eos;
    for (int32_t i = 0; i < n && may_end; i++) logits[end[i]] = kept[i];
    if (burin_constraint_overflowed(g->constraint))
        g->failure = burin_constraint_overflow_text(g->constraint);
    else if (!allowed && !may_end)
        g->failure = "no token of the vocabulary goes on as the grammar wants";
}

// With a grammar: the token chosen without it, if it fits; else one of those that fit.
static int32_t choose_token(burin_generation *g, float *logits) {
    burin_sampler_adjust(&g->sampler, logits, g->tokens, g->n_tokens);
    int32_t token = burin_sampler_choose(&g->sampler, logits);
    if (g->constraint && !allows(g, token)) {
        mask(g, logits);
        if (g->failure) return token;
        token = burin_sampler_choose(&g->sampler, logits);
    }
    burin_sampler_accept(&g->sampler);
    return token;
}

static void generate_by_beams(burin_generation *g, const float *logits) {
    int32_t *text = NULL, n = logits && g->count > 0 ? burin_beams_search(g, logits, &text) : 0;
    for (int32_t i = 0; i < n && !g->stopped; i++) {
        emit_token(g, text[i]);
        g->tokens[g->n_tokens++] = text[i];
        g->generated++;
    }
    free(text);
}

// transformers counts a token that follows the decoder's first by force (a language) as generated.
int32_t burin_forced_tokens(const burin_run *run) {
    const burin_model *m = run->model;
    bool reads_text = m->encoder && m->encoder->net->tokens >= 0;
    return reads_text && !run->command->decoder_tokens && m->n_start > 1 ? m->n_start - 1 : 0;
}

burin_history burin_generation_history(const burin_generation *g, int32_t more, int64_t most) {
    int64_t generated = g->generated + more, prompt = g->n_tokens - g->generated;
    bool encoded = g->run->model->encoder, ends = !g->run->command->ignore_eos;
    return (burin_history){.tokens = g->tokens,
                           .n = g->n_tokens + more,
                           .source = encoded ? g->source.id : g->tokens,
                           .n_source = encoded      ? g->source.n
                                       : prompt > 0 ? (int32_t)prompt
                                                    : 0,
                           .generated = (int32_t)generated + burin_forced_tokens(g->run),
                           .first = !generated,
                           .last = ends && generated == most - 1 && most >= g->count};
}

bool burin_generation_next(burin_generation *g, float *logits) {
    const burin_history text = burin_generation_history(g, 0, g->count);
    burin_mask_forbidden(&g->sampler, g->run->model, &text, logits);
    burin_answer_note(g, logits);
    if (g->constraint && burin_constraint_must_end(g->constraint)) return false;
    int32_t token = choose_token(g, logits);
    if (g->failure || burin_generation_ends(g, token)) return false;
    if (g->constraint) burin_constraint_take(g->constraint, token);
    burin_answer_token(g, token);
    emit_token(g, token);
    g->tokens[g->n_tokens++] = token;
    g->generated++;
    return true;
}

void burin_generate_tokens(burin_generation *g, float *logits) {
    burin_run *run = g->run;
    if (run->command->beams > 1) {
        generate_by_beams(g, logits);
        return;
    }
    while (logits && g->generated < g->count && !g->stopped && !(run->stop && *run->stop)) {
        if (!burin_generation_next(g, logits)) break;
        logits = g->generated < g->count ? read_newest(g) : NULL;
    }
    burin_draft_finish(g);
    if (g->failure) burin_stop(BURIN_USER_MISTAKE, "%s", g->failure);
}

void burin_generation_statistics(const burin_generation *g, int32_t prompt_tokens) {
    const burin_run *run = g->run;
    if (!run->command->verbose && !isatty(STDERR_FILENO)) return;
    double reading = (double)(g->prompt_read - g->started) / 1e9,
           writing = (double)(burin_nanoseconds() - g->prompt_read) / 1e9;
    burin_note(
        "read %d tokens in %.1f ms (%.1f tokens/s), wrote %lld at %.1f tokens/s; cpu %s, threads "
        "%d, seed %llu",
        prompt_tokens, reading * 1e3, prompt_tokens / reading, (long long)g->generated,
        g->generated ? (double)g->generated / writing : 0, run->session->variant->cpu,
        run->session->step.threads, (unsigned long long)g->sampler.settings.seed);
    char chain[512];
    burin_sampling_chain(&g->sampler.settings, chain, sizeof chain);
    if (run->command->verbose) burin_note("sampling: %s", chain), burin_draft_statistics(g->draft);
}

static size_t longest_stop(const burin_command *c) {
    size_t longest = 0;
    for (int i = 0; i < c->stops.n; i++)
        if (strlen(c->stops.text[i]) > longest) longest = strlen(c->stops.text[i]);
    return longest;
}

void burin_generation_open(burin_generation *g) {
    size_t longest = g->ids ? 0 : burin_decode_max(burin_tokenizer_of(g->run->model));
    if (longest < BURIN_LONGEST_MARK) longest = BURIN_LONGEST_MARK;
    burin_run_record(g->run);
    burin_run_open_sampler(g->run, &g->sampler);
    g->constraint = burin_run_constraint(g->run);
    g->draft = burin_draft_open(g->run, g->constraint != NULL);
    g->tokens = burin_allocate((size_t)g->run->context + 1, sizeof *g->tokens);
    if (g->ids) return;
    g->tokenizer = burin_tokenizer_of(g->run->model);
    g->bytes = burin_allocate(1, longest);
    g->characters = burin_allocate(3, longest + 1);
    if (g->run->command->stops.n)
        g->pending = burin_allocate(1, longest_stop(g->run->command) + 3 * longest + 8);
}

void burin_generation_close(burin_generation *g) {
    free(g->bytes);
    free(g->pending);
    free(g->characters);
    free(g->tokens);
    free(g->source.id);
    burin_run_close_sampler(&g->sampler);
    burin_constraint_close(g->constraint);
    burin_draft_close(g->draft);
}

int32_t burin_generation_kept(const burin_generation *g, const int32_t *ids, int32_t n) {
    int32_t read = burin_slot_length(g->run->session, g->run->slot), kept = 0;
    while (kept < read && kept < g->n_tokens && kept < n - 1 && ids[kept] == g->tokens[kept])
        kept++;
    return burin_slot_holds(g->run->session, g->run->slot, kept);
}

// The tokens that the slot reads before anything is generated.
static void set_tokens(burin_generation *g, burin_tokens first) {
    memcpy(g->tokens, first.id, (size_t)first.n * sizeof *g->tokens);
    g->n_tokens = first.n;
}

// Continues g->tokens, of which the slot has read the first `kept`; `source`: tokens of the
// encoder's source.
static void generate_behind(burin_generation *g, int32_t kept, int32_t source) {
    int32_t read = g->n_tokens - kept;
    g->generated = 0, g->full = false;
    burin_generation_start(g);
    show_prompt(g);
    float *logits = read == 1 ? read_newest(g) : burin_run_read(g->run, g->tokens + kept, read);
    g->prompt_read = burin_nanoseconds();
    burin_generate_tokens(g, logits);
    burin_generation_finish(g);
    if (g->full)
        burin_note("the context of %d tokens is full\nhint: --shift goes on without the older half",
                   g->run->context);
    burin_generation_statistics(g, source + read);
}

static void check_room(const burin_run *run, burin_tokens first) {
    if (first.n > run->context) burin_out_of_context(run, "the prompt has", first.n);
}

void burin_print_text_as_json(burin_generation *g, int32_t prompt_tokens) {
    burin_answer_text(g);
    burin_print("\"text\": ");
    burin_print_json_string(g->answer, g->answer_bytes);
    burin_answer_end(g, prompt_tokens);
    free(g->answer);
    g->answer = NULL;
}

// Lines draw numbers of their own: a text depends neither on the lines before it nor on who writes
// them.
static void open_for_line(burin_generation *g, int64_t line) {
    if (!g->tokens) {
        burin_generation_open(g);
        g->seed = g->sampler.settings.seed;
    }
    burin_run_restart_sampler(g->run, &g->sampler, g->seed + (uint64_t)line);
}

// One text for each source.
static void generate_from_source(void *context, const burin_work_item *line) {
    burin_generation *g = context;
    g->started = burin_nanoseconds();
    int32_t length = burin_encode_next(g->run, line->line ? line : NULL, &g->source);
    open_for_line(g, line->index);
    set_tokens(g, g->first);
    generate_behind(g, 0, length);
}

void burin_generate_from_sources(burin_generation *g) {
    burin_run *run = g->run;
    g->first = burin_read_start(run->model, run->command);
    check_room(run, g->first);
    const burin_work items = {.context = g,
                              .lines = burin_source_lines(run),
                              .count = 1,
                              .compute = generate_from_source};
    if (!burin_items_run(&items)) burin_no_source(run);
    free(g->first.id);
}

static void begin_answer(burin_generation *g) {
    if (!g->run->command->json) return;
    g->answer = burin_allocate(1, g->answer_room = 1 << 12);
    g->answer_bytes = 0;
    burin_answer_begin(g);
}

// --over: one text for each line, which is a prompt.
static void generate_from_line(void *context, const burin_work_item *line) {
    burin_generation *g = context;
    burin_run *run = g->run;
    burin_tokens prompt =
        g->ids ? burin_parse_ids("ids", line->line, burin_input_vocabulary(run->model))
               : burin_prompt_tokens(run->model, line->line, line->bytes, run->context);
    check_room(run, prompt);
    open_for_line(g, line->index);
    burin_slot_reset(run->session, 0);
    set_tokens(g, prompt);
    g->started = burin_nanoseconds();
    begin_answer(g);
    generate_behind(g, 0, 0);
    if (g->answer) burin_print_text_as_json(g, prompt.n);
    free(prompt.id);
}

static void generate_from_lines(burin_generation *g) {
    const char *file = g->run->command->prompt_file;
    burin_items_run(
        &(burin_work){.context = g, .lines = file ? file : "-", .compute = generate_from_line});
}

// What --session has kept of the prompt; without one its text is the prompt. Returns how many
// tokens the slot holds.
static int32_t begin_session(burin_generation *g, burin_tokens *prompt, bool empty) {
    bool loaded = burin_session_load(g, NULL);
    if (loaded && empty) {
        free(prompt->id);
        prompt->id = burin_allocate((size_t)g->n_tokens, sizeof *prompt->id);
        prompt->n = g->n_tokens;
        memcpy(prompt->id, g->tokens, (size_t)g->n_tokens * sizeof *g->tokens);
    }
    int32_t kept = loaded ? burin_generation_kept(g, prompt->id, prompt->n) : 0;
    kept = burin_prompt_cache_use(g->run, 0, prompt->id, prompt->n, kept);
    burin_slot_truncate(g->run->session, 0, kept);
    set_tokens(g, *prompt);
    if (loaded && g->run->command->verbose)
        burin_note("the session has %d of %d tokens", kept, prompt->n);
    return kept;
}

// A model that is made to talk often has nothing to add to a text.
static void say_if_silent(const burin_generation *g) {
    if (g->generated || !g->count || !g->run->model->template_bytes || g->constraint) return;
    burin_note(
        "the text ends at once: this model is made to be asked\nhint: without --raw it answers a "
        "prompt");
}

static void generate_from_prompt(burin_generation *g) {
    bool empty;
    burin_tokens prompt =
        g->run->command->images.n
            ? burin_read_shown_prompt(g->run, &empty)
            : burin_read_prompt(g->run->model, g->run->command, g->run->context, &empty);
    check_room(g->run, prompt);
    burin_generation_open(g);
    int32_t kept = begin_session(g, &prompt, empty);
    g->started = burin_nanoseconds();
    begin_answer(g);
    generate_behind(g, kept, 0);
    if (g->answer) burin_print_text_as_json(g, prompt.n);
    say_if_silent(g);
    burin_session_save(g, NULL);
    free(prompt.id);
}

int burin_generate(burin_run *run) {
    burin_generation g = {.run = run,
                          .ids = run->command->tokens || !run->model->tokenizer_bytes,
                          .count = burin_run_count(run)};
    if (run->model->encoder)
        run->model->modes->from_sources(&g);
    else if (run->command->over)
        generate_from_lines(&g);
    else
        generate_from_prompt(&g);
    burin_generation_close(&g);
    return 0;
}
