// Perplexity, one definition everywhere: the text's tokens cut into whole windows of N, each read
// alone with no beginning-of-text token; tokens 2 to N of each are scored by the logits before
// them; e to the mean of -log p, summed in double precision.
#include "bench/perplexity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "program/output.h"
#include "program/progress.h"
#include "sampler/sampler.h"
#include "text/prompt.h"

// -log softmax(logits)[token]
static double surprise(const float *logits, int32_t n, int32_t token) {
    double top = logits[burin_argmax(logits, n)], sum = 0;
    for (int32_t i = 0; i < n; i++) sum += exp((double)logits[i] - top);
    return log(sum) + top - (double)logits[token];
}

static double score_window(burin_run *run, const int32_t *tokens, int32_t n) {
    double sum = 0;
    int32_t vocab = run->model->vocab_size;
    burin_slot_reset(run->session, 0);
    for (int32_t from = 0; from < n; from += run->chunk) {
        int32_t count = n - from < run->chunk ? n - from : run->chunk,
                scored = from + count < n ? count : count - 1;
        burin_run_score(run, tokens + from, count, 0, scored);
        for (int32_t i = 0; i < scored; i++)
            sum += surprise(run->logits + (size_t)i * (size_t)vocab, vocab, tokens[from + i + 1]);
    }
    return sum;
}

static int32_t window_of(const burin_run *run) {
    int64_t given = run->command->window;
    if (given > run->context) burin_out_of_context(run, "--window asks for", given);
    if (!given && run->context < 2) burin_out_of_context(run, "a window needs at least", 2);
    return given ? (int32_t)given : run->context < 256 ? run->context : 256;
}

static void show_windows(int32_t done, int32_t windows, double mean) {
    char more[40];
    snprintf(more, sizeof more, ", perplexity %.4f", exp(mean));
    burin_progress("windows", done, windows, more);
}

int burin_perplexity(burin_run *run) {
    const char *path = run->command->perplexity_file;
    int32_t window = window_of(run);
    size_t bytes;
    char *text = burin_read_file(path, &bytes);
    burin_tokens tokens = burin_tokenize(run->model, text, bytes, false);
    for (int32_t i = 0; i < tokens.n; i++)
        if (tokens.id[i] >= run->model->vocab_size)
            burin_stop(
                BURIN_USER_MISTAKE,
                "%s: token %d has no logit, the model never writes it\nhint: take it from the text",
                path, tokens.id[i]);
    int32_t windows = tokens.n / window;
    double sum = 0, scored = 0;
    if (!windows)
        burin_stop(BURIN_USER_MISTAKE,
                   "%s has %d tokens, less than one window of %d\nhint: a smaller --window", path,
                   tokens.n, window);
    for (int32_t w = 0; w < windows; w++) {
        sum += score_window(run, tokens.id + (size_t)w * (size_t)window, window);
        scored += window - 1;
        show_windows(w + 1, windows, sum / scored);
    }
    burin_progress_end();
    burin_print("perplexity %.6f over %d windows of %d tokens (%.0f scored)\n", exp(sum / scored),
                windows, window, scored);
    free(tokens.id);
    free(text);
    return 0;
}
