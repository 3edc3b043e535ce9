// The bytes of a session file: tokens, the sampler, a conversation's texts, a slot. They are the
// same on all machines.
#ifndef BURIN_SESSION_FORMAT_H
#define BURIN_SESSION_FORMAT_H
#include "engine/forward.h"
#include "sampler/sampler.h"

// Before the tokens, the text that was read, a mark for each of its bytes, the turns, and the slot.
typedef struct burin_session_header {
    char magic[8];
    uint64_t checksum;  // of all bytes after it
    uint64_t bytes;     // of the file
    uint64_t read_bytes, turns_bytes, slot_bytes, seed;
    burin_random random;
    double mu;
    char identity[16];
    int64_t tokens;
} burin_session_header;

typedef struct burin_session_parts {
    const int32_t *tokens;
    const char *read, *turns;  // NULL where there are none
    const uint8_t *marks;
} burin_session_parts;

// Checks header, sizes, checksum and token ids. Returns NULL, or the reason why this is no session
// of the model.
const char *burin_session_check_bytes(const burin_model *, const char *data, size_t bytes,
                                      burin_session_header *);
// The same of its header alone: the file has `bytes` bytes, of which `data` has the header.
const char *burin_session_check_head(const burin_model *, const char *data, size_t bytes,
                                     burin_session_header *);
// Packs a slot. Of the header, sizes of texts, tokens and the sampler's state are given, the rest
// is set. The caller frees the bytes.
char *burin_session_pack(const burin_session *, int32_t slot, const burin_session_parts *,
                         burin_session_header *);
// The slot's bytes within a session that was checked.
const char *burin_session_slot(const char *data, const burin_session_header *);
#endif
