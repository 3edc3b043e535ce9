// --session: tokens and state of a run, to resume from in another run. The file has the tokens, the
// sampler's state, a conversation's turns, and the slot (saved.h): the continuation has the bits
// that it would have had.
#ifndef BURIN_SESSION_FILE_H
#define BURIN_SESSION_FILE_H
#include "text/generation.h"

// Texts of a conversation; NULL where there are none.
typedef struct burin_session_texts {
    char *read, *turns;  // the text of the slot's tokens; messages as JSON
    uint8_t *marks;      // [read_bytes], 1: special tokens in it are text
    size_t read_bytes, turns_bytes;
} burin_session_texts;

// Locks the file until burin_session_save or the end of the program, unless it is only read; then
// fills the slot, g->tokens and, without --seed, the sampler from the file that --session names;
// the caller owns its texts, if requested. False: no --session, or no such file yet. Sessions of
// other models end the program.
bool burin_session_load(burin_generation *g, burin_session_texts *texts);

// Replaces the file, at once: whoever reads it finds the old or the new one. Does nothing without
// --session, or with
// --session-read-only. Ends the program with a message when it cannot.
void burin_session_save(const burin_generation *g, const burin_session_texts *texts);
#endif
