// The state of the generation loop: tokens of a slot, choice of the next token, destination of its
// text.
#ifndef BURIN_GENERATION_H
#define BURIN_GENERATION_H
#include "grammar/constraint.h"
#include "program/output.h"
#include "program/wrap.h"
#include "text/prompt.h"
#include "text/run.h"
#include "text/sampling.h"
#include "tokenizer/tokenizer.h"

typedef struct burin_generation {
    burin_run *run;
    burin_sampler sampler;
    int32_t *tokens, n_tokens;  // [context + 1]: tokens of the slot, and the token after them
    bool ids;                   // print ids instead of text
    bool full;                  // the context ended before the answer
    const void *tokenizer;
    burin_decoder decoder;
    burin_utf8 text;
    char *bytes, *characters;       // of the token to show
    int64_t generated, count;       // so far, and at most
    uint64_t started, prompt_read;  // nanoseconds
    bool stopped;                   // by --stop
    const char *stop_text;          // which of these; NULL: none
    const char *failure;            // why no token can follow; NULL: one can
    char *pending;  // what may be the beginning of such a text; NULL: there are none
    size_t n_pending;
    burin_constraint *constraint;     // NULL: any text will do
    bool quiet;                       // print nothing
    burin_wrap *wrap;                 // NULL: words are not wrapped
    struct burin_logprobs *logprobs;  // NULL: without --logprobs
    struct burin_draft *draft;        // NULL: without --draft
    char *answer;                     // keeps the text, as far as there is room; NULL: no
    size_t answer_bytes, answer_room;
    uint8_t *answer_marks;  // [answer_room], 0: of a special token; NULL: not recorded
    bool special;           // the text that is added is one of a special token
    // the answer may call tools: their marks are kept, though they are special tokens
    bool calls;
    const char *const *marks;  // texts that have these
    bool has_end;              // `end` ends an answer, too
    int32_t end;
    uint64_t seed;        // of the first line, where there are several
    burin_tokens first;   // of an encoder-decoder: first tokens of each answer
    burin_tokens source;  // and what its encoder has read last
    // --beams: masks further tokens after these n; NULL: none
    void (*limit)(void *context, const int32_t *tokens, int32_t n, float *logits);
    void *limit_context;
    float beam_score;  // of the answer: its log-probability, by its length
} burin_generation;

// the default mode of a decoder's program; returns the exit status
int burin_generate(burin_run *);
void burin_generation_open(burin_generation *);  // memory, sampler, --logits
void burin_generation_close(burin_generation *);
// Tokens of the slot that may stay for these n; the last one is read again, for its logits.
int32_t burin_generation_kept(const burin_generation *, const int32_t *ids, int32_t n);
void burin_generation_find_end(
    burin_generation *);  // of a conversation: what its template calls eos_token (conversation.c)
bool burin_generation_ends(const burin_generation *, int32_t token);  // does it end a text?
// the decoder after the tokens so far
void burin_generation_start(burin_generation *);
// The state that the model's limits depend on, with further chosen tokens after n_tokens; `most`:
// of an answer.
burin_history burin_generation_history(const burin_generation *, int32_t more, int64_t most);
int32_t burin_forced_tokens(const burin_run *);  // of the prompt: those that count as generated
void burin_generation_put(burin_generation *, const char *text,
                          size_t bytes);  // at the end of the text so far
// Chooses a token by the logits and emits its text. False: the text ends, or `failure` is set.
bool burin_generation_next(burin_generation *, float *logits);
void burin_generate_tokens(burin_generation *, float *logits);
void burin_generate_from_sources(burin_generation *);  // an answer for each source of an encoder
void burin_generation_finish(burin_generation *);      // the text's last bytes and its end of line
// --json (json_answer.c). Without it they do nothing: before the first token, before a choice,
// after it. Then the caller prints the fields of the text between burin_answer_text and
// burin_answer_end.
void burin_answer_begin(burin_generation *);
void burin_answer_note(burin_generation *, const float *logits);
void burin_answer_token(burin_generation *, int32_t token);
void burin_answer_text(burin_generation *);
void burin_answer_end(const burin_generation *, int32_t prompt_tokens);
// Of the answer's tokens and the n likeliest in their place: burin_answer_token prints them, each
// with a comma in front but the first.
void burin_logprobs_open(burin_generation *, int64_t n);
void burin_logprobs_close(burin_generation *);
double burin_log_of_total(const burin_sampler *,
                          const float *logits);  // the logarithm of the sum of e^logit
void burin_generation_statistics(const burin_generation *, int32_t prompt_tokens);  // -v
#endif
