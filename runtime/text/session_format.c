#include "text/session_format.h"

#include <string.h>

#include "base/allocate.h"
#include "engine/checksum.h"
#include "engine/saved.h"
#include "program/output.h"

static const char session_magic[8] = "burin\nS2";

enum { MAGIC_OF_ALL = 7 };  // bytes of it that sessions of every version begin with
enum { SUMMED_FROM = 16 };  // bytes of magic and checksum

_Static_assert(sizeof(burin_session_header) == 120, "no padding, so the same on all machines");

static void keep_identity(burin_session_header *h, const burin_model *m) {
    memcpy(h->identity, m->identity, strnlen(m->identity, sizeof h->identity));
}

// The bytes that these sizes need, as far as they fit in `most`.
static bool sizes_fit(const burin_session_header *h, uint64_t most) {
    uint64_t rest = most - sizeof *h;
    const uint64_t parts[] = {h->read_bytes, h->read_bytes, h->turns_bytes, h->slot_bytes};
    if (h->tokens < 1 || (uint64_t)h->tokens > rest / sizeof(int32_t)) return false;
    rest -= (uint64_t)h->tokens * sizeof(int32_t);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] > rest) return false;
        rest -= parts[i];
    }
    return !rest;
}

static bool tokens_are_known(const burin_model *m, const char *from, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int32_t token;
        memcpy(&token, from + (size_t)i * sizeof token, sizeof token);
        if ((token < 0 && !m->eyes) || token >= burin_input_vocabulary(m)) return false;
    }
    return true;
}

const char *burin_session_check_head(const burin_model *m, const char *data, size_t bytes,
                                     burin_session_header *h) {
    burin_session_header own = {0};
    if (bytes < sizeof *h || memcmp(data, session_magic, MAGIC_OF_ALL))
        return "not a session of burin's";
    if (memcmp(data, session_magic, sizeof session_magic)) return "of another version of burin";
    memcpy(h, data, sizeof *h);
    keep_identity(&own, m);
    if (memcmp(h->identity, own.identity, sizeof h->identity))
        return "of another model, or of one that was built with other options";
    return h->bytes == bytes && sizes_fit(h, bytes) ? NULL : "damaged";
}

const char *burin_session_check_bytes(const burin_model *m, const char *data, size_t bytes,
                                      burin_session_header *h) {
    const char *why = burin_session_check_head(m, data, bytes, h);
    if (why) return why;
    if (h->checksum != burin_checksum_of(data + SUMMED_FROM, bytes - SUMMED_FROM) ||
        !tokens_are_known(m, data + sizeof *h, h->tokens))
        return "damaged";
    return NULL;
}

const char *burin_session_slot(const char *data, const burin_session_header *h) {
    return data + sizeof *h + (size_t)h->tokens * sizeof(int32_t) + 2 * h->read_bytes +
           h->turns_bytes;
}

static char *add_part(char *to, const void *from, uint64_t bytes) {
    if (bytes) memcpy(to, from, (size_t)bytes);
    return to + bytes;
}

char *burin_session_pack(const burin_session *s, int32_t slot, const burin_session_parts *parts,
                         burin_session_header *h) {
    size_t tokens = (size_t)h->tokens * sizeof *parts->tokens;
    memcpy(h->magic, session_magic, sizeof h->magic);
    keep_identity(h, s->model);
    h->slot_bytes = burin_saved_bytes(s, slot);
    h->bytes = sizeof *h + tokens + 2 * h->read_bytes + h->turns_bytes + h->slot_bytes;
    char *data = burin_allocate(1, (size_t)h->bytes),
         *to = add_part(data + sizeof *h, parts->tokens, tokens);
    to = add_part(to, parts->read, h->read_bytes);
    to = add_part(to, parts->marks, h->read_bytes);
    to = add_part(to, parts->turns, h->turns_bytes);
    burin_status status = burin_slot_save(s, slot, to, (size_t)h->slot_bytes);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    memcpy(data, h, sizeof *h);
    h->checksum = burin_checksum_of(data + SUMMED_FROM, (size_t)h->bytes - SUMMED_FROM);
    memcpy(data, h, sizeof *h);
    return data;
}
