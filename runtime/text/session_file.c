#include "text/session_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/saved.h"
#include "program/input.h"
#include "program/output.h"
#include "program/private_file.h"
#include "text/session_format.h"

// -------------------------------------------------------------------------------------------- load
static _Noreturn void refuse_session(const char *path, const char *why) {
    burin_stop(BURIN_USER_MISTAKE, "--session %s: %s\nhint: remove it, or name another file", path,
               why);
}

static burin_session_header check_session(const burin_run *run, const char *path, const char *data,
                                          size_t bytes) {
    burin_session_header h;
    const char *why = burin_session_check_bytes(run->model, data, bytes, &h);
    if (why) refuse_session(path, why);
    if (h.tokens > run->context + 1) burin_out_of_context(run, "the session has", h.tokens);
    return h;
}

static void load_slot(const burin_generation *g, const char *path, const char *from, size_t bytes) {
    burin_status status = burin_slot_load(g->run->session, 0, from, bytes);
    if (status) refuse_session(path, burin_status_text(status));
    if (burin_slot_length(g->run->session, 0) > g->n_tokens) refuse_session(path, "damaged");
}

static void load_sampler(burin_generation *g, const burin_session_header *h) {
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
    if (fstat(file, &status) || status.st_size < (off_t)sizeof(burin_session_header))
        refuse_session(path, "not a session of burin's");
    *bytes = (size_t)status.st_size;
    const char *data = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", path, strerror(errno));
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
    const burin_session_header h = check_session(g->run, path, data, bytes);
    const char *at = data + sizeof h;
    memcpy(g->tokens, at, (size_t)h.tokens * sizeof *g->tokens);
    g->n_tokens = (int32_t)h.tokens;
    at += (size_t)h.tokens * sizeof *g->tokens;
    if (texts)
        *texts = (burin_session_texts){
            .read = session_text(at, (size_t)h.read_bytes),
            .marks = (uint8_t *)session_text(at + h.read_bytes, (size_t)h.read_bytes),
            .turns = session_text(at + 2 * h.read_bytes, (size_t)h.turns_bytes),
            .read_bytes = (size_t)h.read_bytes,
            .turns_bytes = (size_t)h.turns_bytes};
    load_slot(g, path, burin_session_slot(data, &h), (size_t)h.slot_bytes);
    load_sampler(g, &h);
    munmap((void *)(uintptr_t)data, bytes);
    return true;
}

// -------------------------------------------------------------------------------------------- save
void burin_session_save(const burin_generation *g, const burin_session_texts *texts) {
    const burin_command *c = g->run->command;
    burin_session_header h = {
        .seed = g->sampler.settings.seed, .random = g->sampler.random, .mu = g->sampler.mu};
    burin_session_parts parts = {.tokens = g->tokens};
    const char *why;
    if (!c->session || c->session_read_only || g->n_tokens < 1) return;
    h.tokens = g->n_tokens;
    if (texts) {
        h.read_bytes = texts->read_bytes, h.turns_bytes = texts->turns_bytes;
        parts.read = texts->read, parts.turns = texts->turns, parts.marks = texts->marks;
    }
    char *data = burin_session_pack(g->run->session, 0, &parts, &h);
    if (!burin_replace_file(c->session, data, (size_t)h.bytes, &why))
        burin_stop(BURIN_USER_MISTAKE, "--session %s: %s", c->session, why);
    burin_unlock_file();
    free(data);
}
