// --json: an answer as one object. With --logprobs its tokens come first, each as soon as it is
// chosen: nothing is kept.
#include <stdlib.h>
#include <string.h>

#include "kernels/pow.h"
#include "text/generation.h"

typedef struct burin_likely {
    float logit;
    int32_t token;
} burin_likely;

struct burin_logprobs {
    float *logits;  // before any step of the sampler
    int32_t vocab_size, n;
    int64_t printed;
    double log_total;       // of e^logit
    burin_likely likely[];  // the n likeliest, in order
};

void burin_answer_begin(burin_generation *g) {
    if (!g->run->command->json) return;
    g->quiet = true;
    burin_print("{");
    if (g->run->command->logprobs < 0) return;
    burin_logprobs_open(g, g->run->command->logprobs);
    burin_print("\"logprobs\": {\"content\": [");
}

void burin_logprobs_open(burin_generation *g, int64_t n) {
    int32_t vocab_size = g->run->model->vocab_size;
    g->logprobs = burin_allocate(1, sizeof *g->logprobs + (size_t)n * sizeof *g->logprobs->likely);
    g->logprobs->logits = burin_allocate((size_t)vocab_size, sizeof(float));
    g->logprobs->vocab_size = vocab_size;
    g->logprobs->n = n < vocab_size ? (int32_t)n : vocab_size;
}

// e^x in blocks, by the CPU's own code.
static double total_exp(const burin_sampler *s, const float *logits, float top) {
    enum { BLOCK = 256 };
    float e[BLOCK];
    double sum = 0;
    for (int32_t from = 0; from < s->vocab_size; from += BLOCK) {
        int32_t n = s->vocab_size - from < BLOCK ? s->vocab_size - from : BLOCK;
        for (int32_t i = 0; i < n; i++) e[i] = logits[from + i] == top ? 0 : logits[from + i] - top;
        s->exp(e, (size_t)n);
        for (int32_t i = 0; i < n; i++) sum += e[i] > 0 ? (double)e[i] : 0;
    }
    return sum;
}

double burin_log_of_total(const burin_sampler *s, const float *logits) {
    float top = logits[burin_argmax(logits, s->vocab_size)];
    return (double)top + log2_double(total_exp(s, logits, top)) * 0x1.62e42fefa39efp-1;
}

static void find_likely(struct burin_logprobs *l, const float *logits) {
    int32_t found = 0;
    for (int32_t i = 0; i < l->vocab_size; i++) {
        int32_t at = found;
        while (at > 0 && logits[i] > l->likely[at - 1].logit) at--;
        if (at == l->n) continue;
        if (found < l->n) found++;
        memmove(l->likely + at + 1, l->likely + at, (size_t)(found - 1 - at) * sizeof *l->likely);
        l->likely[at] = (burin_likely){logits[i], i};
    }
}

void burin_answer_note(burin_generation *g, const float *logits) {
    struct burin_logprobs *l = g->logprobs;
    if (!l) return;
    memcpy(l->logits, logits, (size_t)l->vocab_size * sizeof *logits);
    l->log_total = burin_log_of_total(&g->sampler, logits);
    if (l->n) find_likely(l, logits);
}

// OpenAI's log-probability of a token: impossible ones have -9999.
static void print_token(burin_generation *g, int32_t token, float logit) {
    const struct burin_logprobs *l = g->logprobs;
    burin_decoder inside = {.started = true};
    double logprob = (double)logit - l->log_total;
    size_t n = burin_decode(g->tokenizer, &inside, token, g->bytes);
    const char *text = n ? g->bytes : burin_token_text(g->tokenizer, token, &n);
    burin_print("{\"id\": %d, \"token\": ", token);
    burin_print_json_string(text ? text : "", text ? n : 0);
    burin_print(", \"logprob\": %.7g", logprob > -9999 ? logprob : -9999);
    burin_print(", \"bytes\": [");
    for (size_t i = 0; text && i < n; i++) burin_print(i ? ", %d" : "%d", (unsigned char)text[i]);
    burin_print("]");
}

void burin_answer_token(burin_generation *g, int32_t token) {
    struct burin_logprobs *l = g->logprobs;
    if (!l) return;
    burin_print(l->printed++ ? ",\n " : "");
    print_token(g, token, l->logits[token]);
    burin_print(", \"top_logprobs\": [");
    for (int32_t i = 0; i < l->n; i++) {
        burin_print(i ? ", " : "");
        print_token(g, l->likely[i].token, l->likely[i].logit);
        burin_print("}");
    }
    burin_print("]}");
}

void burin_logprobs_close(burin_generation *g) {
    if (!g->logprobs) return;
    free(g->logprobs->logits);
    free(g->logprobs);
    g->logprobs = NULL;
}

void burin_answer_text(burin_generation *g) {
    if (g->logprobs) burin_print("]}, ");
    burin_logprobs_close(g);
}

void burin_answer_end(const burin_generation *g, int32_t prompt_tokens) {
    bool length = g->full || g->generated == g->count;
    burin_print(
        ", \"finish_reason\": \"%s\", \"prompt_tokens\": %d, \"completion_tokens\": %lld}\n",
        length     ? "length"
        : g->calls ? "tool_calls"
                   : "stop",
        prompt_tokens, (long long)g->generated);
}
