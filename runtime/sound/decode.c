// The decoder reads [<|startofprev|> prompt] <|startoftranscript|> [<|language|> <|task|>]
// [<|notimestamps|>] and writes text. With timestamps these come in pairs around each segment,
// never decrease, and win when they are together likelier than any text.
#include "sound/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/pow.h"
#include "program/output.h"
#include "text/beams.h"
#include "text/generation.h"
#include "text/prompt.h"

// ----------------------------------------------------------------------------- what it begins with
static void read_prompt(burin_decoding *d) {
    const char *text = d->run->command->prompt_text;
    int32_t most = d->run->context / 2 - 1;  // the rest is for the text
    if (!text) return;
    if (d->speech->previous < 0)
        burin_stop(BURIN_USER_MISTAKE, "--prompt: this model has no token <|startofprev|>");
    size_t bytes = strlen(text);
    char *spaced = burin_allocate(1, bytes + 2);
    spaced[0] = ' ';
    memcpy(spaced + 1, text, bytes);
    burin_tokens tokens = burin_tokenize(d->run->model, spaced, bytes + 1, false);
    int32_t skipped = tokens.n > most - 1 ? tokens.n - (most - 1) : 0;
    if (skipped) burin_note("--prompt: only its last %d of %d tokens fit", most - 1, tokens.n);
    d->prompt = burin_allocate((size_t)tokens.n + 1, sizeof *d->prompt);
    d->prompt[0] = d->speech->previous;
    memcpy(d->prompt + 1, tokens.id + skipped, (size_t)(tokens.n - skipped) * sizeof *tokens.id);
    d->n_prompt = 1 + tokens.n - skipped;
    free(tokens.id);
    free(spaced);
}

static int32_t most_previous(const burin_decoding *d) { return d->run->context / 2 - 1; }

void burin_remember_text(burin_decoding *d, const int32_t *tokens, int32_t n) {
    int32_t most = most_previous(d);
    if (!d->previous) return;
    if (!n) d->n_previous = 0;
    if (n > most) tokens += n - most, n = most;
    int32_t kept = d->n_previous + n > most ? most - n : d->n_previous;
    memmove(d->previous, d->previous + d->n_previous - kept, (size_t)kept * sizeof *d->previous);
    memcpy(d->previous + kept, tokens, (size_t)n * sizeof *tokens);
    d->n_previous = kept + n;
}

static void open_previous(burin_decoding *d) {
    if (!d->run->command->condition) return;
    if (d->speech->previous < 0)
        burin_stop(BURIN_USER_MISTAKE, "--condition: this model has no token <|startofprev|>");
    d->previous = burin_allocate((size_t)most_previous(d) + 1, sizeof *d->previous);
}

void burin_decoding_open(burin_decoding *d, burin_run *run) {
    *d = (burin_decoding){.run = run, .speech = run->model->speech, .language = -1, .task = -1};
    d->tokens = burin_allocate((size_t)run->context + 1, sizeof *d->tokens);
    if (run->context < 8)
        burin_stop(BURIN_USER_MISTAKE, "a context of %d tokens is too short for a text",
                   run->context);
    burin_run_open_sampler(run, &d->sampler);
    read_prompt(d);
    open_previous(d);
}

void burin_decoding_start(burin_decoding *d) {
    const burin_sampling *given = &d->run->command->sampling;
    burin_run_restart_sampler(d->run, &d->sampler, given->has_seed ? given->seed : 0);
    d->n_previous = 0;
}

void burin_decoding_close(burin_decoding *d) {
    burin_run_close_sampler(&d->sampler);
    free(d->prompt);
    free(d->previous);
    free(d->tokens);
}

static void add_first_token(burin_decoding *d, int32_t token) {
    if (token >= 0) d->tokens[d->n_tokens++] = token;
}

static void restart_decoder(burin_decoding *d) {
    burin_slot_truncate(d->run->session, 0, 0);
    d->n_tokens = 0;
}

int32_t burin_detect_language(burin_decoding *d) {
    const burin_speech *s = d->speech;
    int32_t best = s->languages[0];
    restart_decoder(d);
    const float *logits = burin_run_read(d->run, &s->start, 1);
    for (int32_t i = 1; i < s->n_languages; i++) {
        int32_t token = s->languages[i];
        if (logits[token] > logits[best] || (logits[token] == logits[best] && token < best))
            best = token;
    }
    return best;
}

// Reads up to <|startoftranscript|>, whose logits tell whether anybody speaks, then the rest.
// Returns the last logits.
static float *read_first(burin_decoding *d) {
    const burin_speech *s = d->speech;
    restart_decoder(d);
    int32_t room = most_previous(d) - d->n_prompt;
    int32_t kept = d->n_previous < room ? d->n_previous : room;
    for (int32_t i = 0; i < d->n_prompt; i++) add_first_token(d, d->prompt[i]);
    if (kept > 0 && !d->n_prompt) add_first_token(d, s->previous);
    for (int32_t i = 0; i < kept; i++) add_first_token(d, d->previous[d->n_previous - kept + i]);
    add_first_token(d, s->start);
    int32_t read = d->n_tokens;
    float *logits = burin_run_read(d->run, d->tokens, read);
    d->no_speech = 0;
    if (s->no_speech >= 0) {
        double share = (double)logits[s->no_speech] - burin_log_of_total(&d->sampler, logits);
        d->no_speech = share < -80 ? 0 : exp2_double(share * 0x1.71547652b82fep+0);
    }
    add_first_token(d, d->language);
    add_first_token(d, d->task);
    if (!d->timestamps) add_first_token(d, s->no_timestamps);
    d->n_first = d->n_tokens;
    return d->n_tokens > read ? burin_run_read(d->run, d->tokens + read, d->n_tokens - read)
                              : logits;
}

// -------------------------------------------------------------------------------------- timestamps
static void forbid_range(float *logits, int32_t from, int32_t to) {
    for (int32_t i = from; i < to; i++) logits[i] = -INFINITY;
}

static bool is_end(const burin_decoding *d, int32_t token) {
    const burin_model *m = d->run->model;
    for (int i = 0; i < m->n_eos; i++)
        if (m->eos[i] == token) return true;
    return false;
}

// Text tokens are below the first end token.
static int32_t first_end(const burin_model *m) {
    int32_t first = m->vocab_size;
    for (int i = 0; i < m->n_eos; i++) first = m->eos[i] < first ? m->eos[i] : first;
    return first;
}

// After one timestamp another or the end; after two a text; never an earlier time.
static void forbid_by_order(const burin_decoding *d, int32_t n_tokens, float *logits) {
    const int32_t *tokens = d->tokens + d->n_first, n = n_tokens - d->n_first;
    int32_t begin = d->speech->timestamp_begin, vocabulary = d->run->model->vocab_size, last = -1;
    bool one = n >= 1 && tokens[n - 1] >= begin, two = one && (n < 2 || tokens[n - 2] >= begin);
    for (int32_t i = 0; i < n; i++) last = tokens[i] >= begin ? tokens[i] : last;
    if (two) forbid_range(logits, begin, vocabulary);
    if (one && !two) forbid_range(logits, 0, first_end(d->run->model));
    if (last >= 0)
        forbid_range(logits, begin,
                     one && !two             ? last
                     : last + 1 < vocabulary ? last + 1
                                             : vocabulary);
    if (n) return;
    forbid_range(logits, 0, begin);
    int64_t most = d->speech->initial_timestamp;
    if (most >= 0 && begin + most + 1 < vocabulary)
        forbid_range(logits, (int32_t)(begin + most + 1), vocabulary);
}

static void prefer_timestamps(const burin_decoding *d, float *logits) {
    int32_t begin = d->speech->timestamp_begin, vocabulary = d->run->model->vocab_size;
    float text = logits[burin_argmax(logits, begin)], top = text;
    for (int32_t i = begin; i < vocabulary; i++) top = logits[i] > top ? logits[i] : top;
    if (!(top > -INFINITY)) return;
    double times = 0;
    for (int32_t i = begin; i < vocabulary; i++)
        if (logits[i] > top - 80)
            times += exp2_double((double)(logits[i] - top) * 0x1.71547652b82fep+0);
    bool wins = text<top - 80 ? times > 0 : times>(double)
        exp2_double((double)(text - top) * 0x1.71547652b82fep+0);
    if (wins) forbid_range(logits, 0, begin);
}

// After the first n_tokens of d->tokens.
static void limit_timestamps(const burin_decoding *d, int32_t n_tokens, float *logits) {
    int32_t begin = d->speech->timestamp_begin;
    if (!d->timestamps || begin >= d->run->model->vocab_size) return;
    logits[d->speech->no_timestamps] = -INFINITY;
    forbid_by_order(d, n_tokens, logits);
    prefer_timestamps(d, logits);
}

// -------------------------------------------------------------------------------------- generation
static int32_t most_tokens_of_window(const burin_decoding *d) {
    const burin_run *run = d->run;
    int64_t most = run->model->max_length > 0 && run->model->max_length < run->context
                       ? run->model->max_length
                       : run->context;
    int64_t asked = run->command->count >= 0 ? d->n_first + run->command->count : most;
    return (int32_t)(asked < most ? asked : most);
}

static void set_temperature(burin_decoding *d, double temperature) {
    burin_sampling *s = &d->sampler.settings;
    s->temperature = temperature;
    s->top_k = 0;
    s->top_p = 1;
    s->min_p = 0;
}

// Masks what cannot follow, and chooses.
static int32_t choose_speech_token(burin_decoding *d, float *logits, int32_t most) {
    int32_t generated = d->n_tokens - d->n_first;
    const burin_history history = {.tokens = d->tokens,
                                   .source = d->tokens,
                                   .n = d->n_tokens,
                                   .generated = generated,
                                   .first = !generated,
                                   .last = d->n_tokens == most - 1};
    burin_mask_forbidden(&d->sampler, d->run->model, &history, logits);
    limit_timestamps(d, d->n_tokens, logits);
    double total = burin_log_of_total(&d->sampler, logits);
    burin_sampler_adjust(&d->sampler, logits, d->tokens, d->n_tokens);
    int32_t token = burin_sampler_choose(&d->sampler, logits);
    burin_sampler_accept(&d->sampler);
    d->mean_log_probability += (double)logits[token] - total;
    return token;
}

static void limit_beam(void *context, const int32_t *tokens, int32_t n, float *logits) {
    (void)tokens;  // d->tokens
    limit_timestamps(context, n, logits);
}

// The most probable text of --beams N; its score takes the place of the mean log-probability.
static void decode_by_beams(burin_decoding *d, const float *logits, int32_t most) {
    burin_generation g = {.run = d->run,
                          .sampler = d->sampler,
                          .tokens = d->tokens,
                          .n_tokens = d->n_tokens,
                          .count = most - d->n_tokens,
                          .limit = limit_beam,
                          .limit_context = d};
    int32_t *text = NULL, n = burin_beams_search(&g, logits, &text);
    memcpy(d->tokens + d->n_tokens, text, (size_t)n * sizeof *text);
    d->n_tokens += n;
    d->ended = n < g.count;
    d->mean_log_probability = (double)g.beam_score;
    free(text);
}

void burin_decode_window(burin_decoding *d, double temperature) {
    float *logits = read_first(d);
    int32_t most = most_tokens_of_window(d), chosen = 0;
    set_temperature(d, temperature);
    d->mean_log_probability = 0;
    d->ended = false;
    if (temperature == 0 && d->run->command->beams > 1 && most > d->n_tokens) {
        decode_by_beams(d, logits, most);
        return;
    }
    while (d->n_tokens < most) {
        int32_t token = choose_speech_token(d, logits, most);
        chosen++;
        d->ended = is_end(d, token);
        if (d->ended) break;
        d->tokens[d->n_tokens++] = token;
        if (d->n_tokens < most) logits = burin_run_read(d->run, &token, 1);
    }
    if (chosen) d->mean_log_probability /= chosen;
}
