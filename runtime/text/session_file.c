#include "text/session_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/checksum.h"
#include "engine/saved.h"
#include "program/input.h"
#include "program/output.h"
#include "program/private_file.h"

static const char session_magic[8] = "burin\nS2";

enum { MAGIC_OF_ALL = 7 };  // bytes of it that sessions of every version begin with

// Before the tokens, the text that was read, a mark for each of its bytes, the turns, and the slot.
typedef struct session_header {
    char magic[8];
    uint64_t checksum;  // of all that follows it
    uint64_t bytes;     // of the file
    uint64_t read_bytes, turns_bytes, slot_bytes, seed;
    burin_random random;
    double mu;
    char identity[16];
    int64_t tokens;
} session_header;

_Static_assert(sizeof(session_header) == 120, "no padding, so the same on all machines");

enum { SUMMED_FROM = 16 };  // bytes of magic and checksum

static void keep_identity(session_header *h, const burin_model *m) {
    memcpy(h->identity, m->identity, strnlen(m->identity, sizeof h->identity));
}

// ---------------------------------------------------------------------------------------------------------------------- load
static _Noreturn void refuse_session(const char *path, const char *why) {
    burin_stop(BURIN_USER_MISTAKE, "--session %s: %s\nhint: remove it, or name another file", path, why);
}

// The bytes that these sizes need, as far as they fit in `most`.
static bool sizes_fit(const session_header *h, uint64_t most) {
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

static session_header check_session(const burin_run *run, const char *path, const char *data, size_t bytes) {
    session_header h, own = {0};
    if (memcmp(data, session_magic, MAGIC_OF_ALL)) refuse_session(path, "not a session of burin's");
    if (memcmp(data, session_magic, sizeof session_magic)) refuse_session(path, "of another version of burin");
    memcpy(&h, data, sizeof h);
    keep_identity(&own, run->model);
    if (memcmp(h.identity, own.identity, sizeof h.identity))
        refuse_session(path, "of another model, or of one that was built with other options");
    if (h.bytes != bytes || h.checksum != burin_checksum_of(data + SUMMED_FROM, bytes - SUMMED_FROM) || !sizes_fit(&h, bytes))
        refuse_session(path, "damaged");
    if (h.tokens > run->context + 1) burin_out_of_context(run, "the session has", h.tokens);
    return h;
}

static void load_tokens(burin_generation *g, const char *path, const char *from, int32_t n) {
    memcpy(g->tokens, from, (size_t)n * sizeof *g->tokens);
    for (int32_t i = 0; i < n; i++)
        if (g->tokens[i] < 0 || g->tokens[i] >= g->run->model->vocab_size) refuse_session(path, "damaged");
    g->n_tokens = n;
}

static void load_slot(const burin_generation *g, const char *path, const char *from, size_t bytes) {
    burin_status status = burin_slot_load(g->run->session, 0, from, bytes);
    if (status) refuse_session(path, burin_status_text(status));
    if (burin_slot_length(g->run->session, 0) > g->n_tokens) refuse_session(path, "damaged");
}

static void load_sampler(burin_generation *g, const session_header *h) {
    if (g->run->command->sampling.has_seed) return;
    g->sampler.settings.seed = h->seed;
    g->sampler.random = h->random;
    if (h->mu == h->mu) g->sampler.mu = h->mu;
}

static char *session_text(const char *text, size_t bytes) {
    char *copy = burin_allocate(1, bytes + 1);
    memcpy(copy, text, bytes);
    return copy;
}

static const char *map_session(const char *path, size_t *bytes) {
    const char *why;
    struct stat status;
    int file = burin_open_small_file(path, PTRDIFF_MAX, &why);
    if (file < 0) burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", path, why);
    if (fstat(file, &status) || status.st_size < (off_t)sizeof(session_header))
        refuse_session(path, "not a session of burin's");
    *bytes = (size_t)status.st_size;
    const char *data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", path, strerror(errno));
    close(file);
    return data;
}

// Two programs that resume the same session would lose each other's additions.
static void lock_session(const burin_command *c) {
    const char *why;
    if (!c->session_read_only && !burin_lock_file(c->session, &why))
        burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", c->session, why);
}

bool burin_session_load(burin_generation *g, burin_session_texts *texts) {
    const char *path = g->run->command->session;
    size_t bytes;
    if (!path) return false;
    lock_session(g->run->command);
    if (access(path, F_OK) && errno == ENOENT) return false;
    const char *data = map_session(path, &bytes);
    const session_header h = check_session(g->run, path, data, bytes);
    const char *at = data + sizeof h;
    load_tokens(g, path, at, (int32_t)h.tokens);
    at += (size_t)h.tokens * sizeof *g->tokens;
    if (texts)
        *texts = (burin_session_texts){.read = session_text(at, (size_t)h.read_bytes),
                                       .marks = (uint8_t *)session_text(at + h.read_bytes, (size_t)h.read_bytes),
                                       .turns = session_text(at + 2 * h.read_bytes, (size_t)h.turns_bytes),
                                       .read_bytes = (size_t)h.read_bytes,
                                       .turns_bytes = (size_t)h.turns_bytes};
    at += 2 * h.read_bytes + h.turns_bytes;
    load_slot(g, path, at, (size_t)h.slot_bytes);
    load_sampler(g, &h);
    munmap((void *)(uintptr_t)data, bytes);
    return true;
}

// ---------------------------------------------------------------------------------------------------------------------- save
static char *write_session(const burin_generation *g, const burin_session_texts *texts, session_header *h) {
    size_t tokens = (size_t)g->n_tokens * sizeof *g->tokens;
    h->bytes = sizeof *h + tokens + 2 * h->read_bytes + h->turns_bytes + h->slot_bytes;
    char *data = burin_allocate(1, (size_t)h->bytes), *to = data + sizeof *h;
    memcpy(to, g->tokens, tokens);
    to += tokens;
    if (h->read_bytes) memcpy(to, texts->read, (size_t)h->read_bytes);
    to += h->read_bytes;
    if (h->read_bytes) memcpy(to, texts->marks, (size_t)h->read_bytes);
    to += h->read_bytes;
    if (h->turns_bytes) memcpy(to, texts->turns, (size_t)h->turns_bytes);
    to += h->turns_bytes;
    burin_status status = burin_slot_save(g->run->session, 0, to, (size_t)h->slot_bytes);
    if (status) burin_stop(BURIN_USER_MISTAKE, "%s", burin_status_text(status));
    memcpy(data, h, sizeof *h);
    h->checksum = burin_checksum_of(data + SUMMED_FROM, (size_t)h->bytes - SUMMED_FROM);
    memcpy(data, h, sizeof *h);
    return data;
}

void burin_session_save(const burin_generation *g, const burin_session_texts *texts) {
    const burin_command *c = g->run->command;
    session_header h = {.seed = g->sampler.settings.seed, .random = g->sampler.random, .mu = g->sampler.mu};
    if (!c->session || c->session_read_only || g->n_tokens < 1) return;
    memcpy(h.magic, session_magic, sizeof h.magic);
    keep_identity(&h, g->run->model);
    h.tokens = g->n_tokens;
    h.slot_bytes = burin_saved_bytes(g->run->session, 0);
    if (texts) h.read_bytes = texts->read_bytes, h.turns_bytes = texts->turns_bytes;
    char *data = write_session(g, texts, &h);
    const char *why;
    if (!burin_replace_file(c->session, data, (size_t)h.bytes, &why))
        burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", c->session, why);
    burin_unlock_file();
    free(data);
}
