// One window of a recording to tokens: greedy, or sampled at a temperature, by the rules of
// Whisper's decoder.
#ifndef BURIN_SOUND_DECODE_H
#define BURIN_SOUND_DECODE_H
#include "sampler/sampler.h"
#include "sound/speech.h"
#include "text/run.h"

typedef struct burin_decoding {
    burin_run *run;
    const burin_speech *speech;
    burin_sampler sampler;
    int32_t *prompt, n_prompt;  // tokens of --prompt with <|startofprev|>; n_prompt 0: none
    // --condition: tokens of earlier windows, at most half a context; n_previous 0: none
    int32_t *previous, n_previous;
    int32_t language, task;  // tokens; -1: none
    bool timestamps;
    int32_t *tokens;              // [context + 1]: all that the decoder reads of this window
    int32_t n_first;              // tokens before the generated ones
    int32_t n_tokens;             // with the generated ones, without the end of the text
    bool ended;                   // by the model, not by a limit
    double mean_log_probability;  // of the generated tokens and the end
    double no_speech;             // probability, 0 to 1
} burin_decoding;

void burin_decoding_open(burin_decoding *,
                         burin_run *);  // run and its model's speech; --prompt, --temp, --seed
void burin_decoding_close(burin_decoding *);

void burin_decoding_start(burin_decoding *);  // a recording: random numbers begin anew

// Text of this window, for the next one with --condition. n 0: the next knows none.
void burin_remember_text(burin_decoding *, const int32_t *tokens, int32_t n);

// The slot's encoder has read a window. The likeliest language:
int32_t burin_detect_language(burin_decoding *);
// Generates tokens; temperature 0 takes the likeliest each time.
void burin_decode_window(burin_decoding *, double temperature);
#endif
