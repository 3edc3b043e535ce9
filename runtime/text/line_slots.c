// One step has a row of each text that is being written, and rows of the prompts that are being
// read. A row has the bits that it has alone, and each line draws its own random numbers, so a text
// is the one that its line gives alone (with --seed one higher for each line). Texts are printed in
// the order of their lines.
#include "text/line_slots.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/lines.h"
#include "program/progress.h"
#include "text/draft.h"
#include "text/prompt_cache.h"

enum { MOST_WAITING = 4096 };  // texts that are ready before an earlier one is

typedef struct line_slot {
    burin_run run;
    burin_generation g;
    burin_capture out;
    int64_t line;  // -1: the slot is free
    int32_t read, prompt_tokens;
    int note;
} line_slot;

typedef struct line_slots {
    burin_run *run;
    const burin_line_mode *mode;
    line_slot *slot, **wanted;
    int32_t n;
    uint64_t seed;
    burin_lines lines;
    bool ended;
    int64_t begun, printed;
    burin_capture ready[MOST_WAITING];  // by the line's number
    bool is_ready[MOST_WAITING];
    int64_t prompt_tokens, generated;
} line_slots;

static void open_slots(line_slots *s, burin_run *run, const burin_line_mode *mode) {
    const char *file = run->command->prompt_file;
    s->run = run, s->mode = mode;
    s->n = burin_min(run->session->slots, run->chunk);
    s->slot = burin_allocate((size_t)s->n, sizeof *s->slot);
    s->wanted = burin_allocate((size_t)s->n, sizeof *s->wanted);
    for (int32_t i = 0; i < s->n; i++) {
        line_slot *l = &s->slot[i];
        l->run = *run, l->run.slot = i, l->line = -1;
        l->g = (burin_generation){.run = &l->run, .count = mode->count, .quiet = true};
        burin_generation_open(&l->g);
        burin_draft_close(l->g.draft);
        l->g.draft = NULL;
        if (mode->asks) burin_generation_find_end(&l->g);
        if (!i) s->seed = l->g.sampler.settings.seed;
    }
    burin_lines_open(&s->lines, file ? file : "-");
}

static void close_slots(line_slots *s) {
    for (int32_t i = 0; i < s->n; i++) burin_generation_close(&s->slot[i].g);
    burin_lines_close(&s->lines);
    free(s->slot);
    free(s->wanted);
}

// ------------------------------------------------------------------------------------------- texts
static void begin_line(line_slots *s, line_slot *l) {
    burin_generation *g = &l->g;
    burin_tokens prompt =
        s->mode->prompt(s->mode->context, s->lines.line, s->lines.bytes, &l->note);
    if (prompt.n > s->run->context) burin_out_of_context(s->run, "a line has", prompt.n);
    l->line = s->begun++, l->prompt_tokens = prompt.n;
    memcpy(g->tokens, prompt.id, (size_t)prompt.n * sizeof *g->tokens);
    free(prompt.id);
    g->n_tokens = l->prompt_tokens, g->generated = 0, g->full = false, g->failure = NULL;
    burin_run_restart_sampler(&l->run, &g->sampler, s->seed + (uint64_t)l->line);
    burin_slot_reset(s->run->session, l->run.slot);
    l->read = burin_prompt_cache_use(s->run, l->run.slot, g->tokens, g->n_tokens, 0);
    g->answer = burin_allocate(1, g->answer_room = 256);
    g->answer_bytes = 0;
    burin_capture *before = burin_capture_into(&l->out);
    burin_answer_begin(g);
    burin_capture_into(before);
    burin_generation_start(g);
}

static void print_ready(line_slots *s) {
    burin_capture *text = &s->ready[s->printed % MOST_WAITING];
    while (s->is_ready[s->printed % MOST_WAITING]) {
        burin_print_bytes(text->data, text->n);
        free(text->data);
        *text = (burin_capture){0};
        s->is_ready[s->printed % MOST_WAITING] = false;
        text = &s->ready[++s->printed % MOST_WAITING];
        burin_show();
    }
    burin_progress("lines", s->printed, 0, "");
    burin_progress_kept(s->printed);
}

static void end_line(line_slots *s, line_slot *l) {
    burin_generation *g = &l->g;
    burin_generation_finish(g);
    burin_capture *before = burin_capture_into(&l->out);
    if (s->run->command->json) {
        s->mode->print_json(s->mode->context, g, l->prompt_tokens, l->note);
    } else {
        burin_print_bytes(g->answer, g->answer_bytes);
        if (g->count) burin_print_bytes("\n", 1);
    }
    burin_capture_into(before);
    s->prompt_tokens += l->prompt_tokens, s->generated += g->generated;
    s->ready[l->line % MOST_WAITING] = l->out;
    s->is_ready[l->line % MOST_WAITING] = true;
    l->out = (burin_capture){0};
    free(g->answer);
    g->answer = NULL;
    l->line = -1;
    print_ready(s);
}

// Waits for a line only if there is nothing else to do.
static void fill_slots(line_slots *s) {
    bool works = false;
    for (int32_t i = 0; i < s->n; i++) works |= s->slot[i].line >= 0;
    for (int32_t i = 0; i < s->n && !s->ended; i++) {
        if (s->slot[i].line >= 0 || s->begun - s->printed >= MOST_WAITING) continue;
        if (works && !burin_line_is_here(&s->lines)) return;
        s->ended = !burin_next_line(&s->lines);
        if (s->ended) return;
        begin_line(s, &s->slot[i]);
        works = true;
    }
}

// ------------------------------------------------------------------------------------------- steps
static void add_row(line_slots *s, line_slot *l, int32_t *rows, int32_t *wanted) {
    bool last = l->read == l->g.n_tokens - 1;
    s->run->rows[(*rows)++] = (burin_row){.token = l->g.tokens[l->read],
                                          .slot = l->run.slot,
                                          .position = l->read,
                                          .wants_logits = last};
    l->read++;
    if (last) s->wanted[(*wanted)++] = l;
}

// A row of each text that is being written, then prompts in the order of the slots.
static int32_t plan_rows(line_slots *s, int32_t *wanted) {
    int32_t rows = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < s->n; i++) {
            line_slot *l = &s->slot[i];
            if (l->line < 0 || (l->g.generated > 0) != !pass) continue;
            while (rows < s->run->chunk && l->read < l->g.n_tokens) add_row(s, l, &rows, wanted);
        }
    return rows;
}

static void take_token(line_slots *s, line_slot *l, float *logits) {
    burin_generation *g = &l->g;
    burin_capture *before = burin_capture_into(&l->out);
    bool goes_on = g->count > 0 && burin_generation_next(g, logits);
    burin_capture_into(before);
    if (g->failure) burin_stop(BURIN_USER_MISTAKE, "%s", g->failure);
    if (goes_on && g->generated < g->count && !g->stopped) {
        g->full = g->n_tokens > s->run->context;
        if (!g->full) return;
    }
    end_line(s, l);
}

static void step(line_slots *s, int32_t rows, int32_t wanted) {
    size_t width = (size_t)s->run->model->vocab_size;
    burin_status status = burin_forward(s->run->session, s->run->rows, rows, s->run->logits);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    for (int32_t i = 0; i < wanted; i++)
        take_token(s, s->wanted[i], s->run->logits + (size_t)i * width);
}

static void print_speed(const line_slots *s, uint64_t started) {
    double seconds = (double)(burin_nanoseconds() - started) / 1e9;
    if (!s->run->command->verbose && !isatty(STDERR_FILENO)) return;
    burin_note("%lld lines in %.1f s, %d at once: read %lld tokens, wrote %lld (%.1f tokens/s)",
               (long long)s->printed, seconds, s->n, (long long)s->prompt_tokens,
               (long long)s->generated, (double)s->generated / seconds);
}

void burin_run_lines(burin_run *run, const burin_line_mode *mode) {
    line_slots *s = burin_allocate(1, sizeof *s);
    uint64_t started = burin_nanoseconds();
    open_slots(s, run, mode);
    for (int32_t wanted = 0, rows;; wanted = 0) {
        fill_slots(s);
        rows = plan_rows(s, &wanted);
        if (!rows) break;
        step(s, rows, wanted);
    }
    burin_progress_end();
    print_speed(s, started);
    close_slots(s);
    free(s);
}

// ---------------------------------------------------------------------------- beginnings of texts
static burin_tokens read_beginning(void *run, const char *line, size_t bytes, int *note) {
    const burin_run *r = run;
    *note = 0;
    return burin_prompt_tokens(r->model, line, bytes, r->context);
}

static void print_continued(void *run, burin_generation *g, int32_t prompt_tokens, int note) {
    (void)run, (void)note;
    burin_print_text_as_json(g, prompt_tokens);
}

int burin_continue_lines(burin_run *run) {
    burin_run_lines(run, &(burin_line_mode){.context = run,
                                            .count = burin_run_count(run),
                                            .prompt = read_beginning,
                                            .print_json = print_continued});
    return 0;
}
