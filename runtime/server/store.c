// Prompts are read once: when a slot is about to lose tokens that nothing else holds, its state
// goes into a store, in memory (--cache-ram) or in files (--cache-dir), and comes back when a
// prompt begins with these tokens. Into files it also goes at the end of a system message, and
// after an answer, once nothing else is to do. A snapshot is a session file's bytes: valid on every
// CPU, checked before it is used, never trusted. What is used least goes first. Several servers may
// share a folder: a file is written whole, and new ones are found when the folder has changed.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/hash.h"
#include "engine/saved.h"
#include "program/input.h"
#include "program/output.h"
#include "program/private_file.h"
#include "server/server.h"
#include "text/session_format.h"

enum {
    FEWEST_KEPT = 32,
    MOST_FILES = 4096,
    PATH_ROOM = 1024
};  // FEWEST_KEPT: tokens that are worth a snapshot

typedef struct snapshot {
    int32_t *tokens, n;
    char *data;  // of memory; NULL: in the file of `name`
    uint64_t name;
    size_t bytes;
    uint64_t used;   // the store's count of uses when it was used last
    bool is_system;  // it ends with a system message
    struct snapshot *next;
} snapshot;

struct burin_store {
    snapshot *first;
    size_t ram, disk, most_ram, most_disk;  // bytes
    const char *folder;                     // NULL: none
    struct timespec changed;                // the folder, when it was read last
    bool whole;                             // the model's states cannot be cut
    uint64_t count;
};

// ---- files ----
static void path_of(const burin_store *store, const burin_model *m, uint64_t name,
                    char path[PATH_ROOM]) {
    snprintf(path, PATH_ROOM, "%s/%s-%016llx.session", store->folder, m->identity,
             (unsigned long long)name);
}

// The bytes of an open file from its beginning, at most this many.
static char *read_beginning(int file, size_t most, size_t *bytes) {
    char *data = burin_allocate(1, most + 1);
    *bytes = 0;
    for (ssize_t n;
         *bytes < most && (n = pread(file, data + *bytes, most - *bytes, (off_t)*bytes)) > 0;)
        *bytes += (size_t)n;
    return data;
}

static size_t size_of_file(int file) {
    struct stat status;
    return !fstat(file, &status) ? (size_t)status.st_size : 0;
}

static char *read_snapshot(const char *path, size_t *bytes, const char **why) {
    int file = burin_open_small_file(path, PTRDIFF_MAX, why);
    if (file < 0) return NULL;
    char *data = read_beginning(file, size_of_file(file), bytes);
    close(file);
    return data;
}

// ---- entries ----
static void add_snapshot(burin_store *store, const snapshot *given) {
    snapshot *s = burin_allocate(1, sizeof *s);
    *s = *given;
    s->used = ++store->count, s->next = store->first;
    store->first = s;
    *(s->data ? &store->ram : &store->disk) += s->bytes;
}

static void drop_snapshot(burin_server *server, snapshot *s, bool file) {
    burin_store *store = server->store;
    char path[PATH_ROOM];
    snapshot **at = &store->first;
    while (*at != s) at = &(*at)->next;
    *at = s->next;
    *(s->data ? &store->ram : &store->disk) -= s->bytes;
    if (!s->data && file) path_of(store, server->model, s->name, path), unlink(path);
    free(s->tokens), free(s->data), free(s);
}

static void make_room(burin_server *server, bool ram, size_t bytes) {
    burin_store *store = server->store;
    size_t most = ram ? store->most_ram : store->most_disk;
    while ((ram ? store->ram : store->disk) + bytes > most) {
        snapshot *oldest = NULL;
        for (snapshot *s = store->first; s; s = s->next)
            if (!s->data != ram && (!oldest || s->used < oldest->used)) oldest = s;
        if (!oldest) return;
        drop_snapshot(server, oldest, true);
    }
}

static int32_t common_with(const snapshot *s, const int32_t *tokens, int32_t n) {
    int32_t same = 0;
    while (same < s->n && same < n && s->tokens[same] == tokens[same]) same++;
    return same;
}

// True if loading this snapshot restores these tokens.
static bool restores(const burin_store *store, const snapshot *s, const int32_t *tokens,
                     int32_t n) {
    return common_with(s, tokens, n) == n && (!store->whole || s->n == n);
}

// Longer snapshots replace those of their beginnings, except of system messages.
static void drop_beginnings(burin_server *server, const snapshot *newest) {
    burin_store *store = server->store;
    for (snapshot *s = store->first, *next; s; s = next) {
        next = s->next;
        if (s != newest && !s->data == !newest->data && !s->is_system && !store->whole &&
            s->n < newest->n && common_with(newest, s->tokens, s->n) == s->n)
            drop_snapshot(server, s, true);
    }
}

static void keep(burin_server *server, int32_t slot, bool ram, bool is_system) {
    const burin_slot *own = &server->slots[slot];
    burin_store *store = server->store;
    const burin_session_parts parts = {.tokens = own->tokens};
    burin_session_header h = {.tokens = own->n};
    size_t bytes = sizeof h + (size_t)own->n * sizeof(int32_t) +
                   burin_saved_bytes(server->base->session, slot);
    for (const snapshot *s = store->first; s; s = s->next)
        if (!s->data != ram && restores(store, s, own->tokens, own->n)) return;
    if (bytes > (ram ? store->most_ram : store->most_disk)) return;
    make_room(server, ram, bytes);
    snapshot s = {.n = own->n, .bytes = bytes, .is_system = is_system};
    s.data = burin_session_pack(server->base->session, slot, &parts, &h);
    if (!ram) {
        char path[PATH_ROOM];
        const char *why;
        s.name =
            burin_hash_bytes(burin_hash_start, own->tokens, (size_t)own->n * sizeof *own->tokens);
        path_of(store, server->model, s.name, path);
        bool written = burin_replace_file(path, s.data, bytes, &why);
        free(s.data);
        s.data = NULL;
        if (!written) burin_note("--cache-dir: %s: %s", path, why);
        if (!written) return;
    }
    s.tokens = burin_allocate((size_t)own->n, sizeof *s.tokens);
    memcpy(s.tokens, own->tokens, (size_t)own->n * sizeof *s.tokens);
    for (snapshot *old = store->first, *next; old && !ram; old = next) {
        next = old->next;
        if (!old->data && old->name == s.name) drop_snapshot(server, old, false);  // damaged
    }
    add_snapshot(store, &s);
    drop_beginnings(server, store->first);
}

void burin_store_keep(burin_server *server, int32_t slot, int32_t kept) {
    const burin_slot *own = &server->slots[slot];
    if (!server->store || own->n < FEWEST_KEPT || own->n < kept + FEWEST_KEPT) return;
    if (server->store->most_ram) keep(server, slot, true, false);
    if (server->store->folder) keep(server, slot, false, false);
}

void burin_store_keep_system(burin_server *server, int32_t slot) {
    burin_store *store = server->store;
    if (!store || server->slots[slot].n < FEWEST_KEPT) return;
    if (store->most_ram && store->whole) keep(server, slot, true, true);
    if (store->folder) keep(server, slot, false, true);
}

void burin_store_keep_idle(burin_server *server) {
    const burin_store *store = server->store;
    for (int32_t i = 0; store && store->folder && i < server->limits.slots; i++) {
        burin_slot *slot = &server->slots[i];
        if (slot->answer || slot->n < FEWEST_KEPT || slot->n == slot->saved) continue;
        slot->saved = slot->n;
        keep(server, i, false, false);
        return;
    }
}

// ---- the folder ----
static bool is_known(const burin_store *store, uint64_t name) {
    for (const snapshot *s = store->first; s; s = s->next)
        if (!s->data && s->name == name) return true;
    return false;
}

// Header and tokens; the rest is read, and checked, when it is used.
static const char *read_head(const burin_server *server, int file, snapshot *s) {
    burin_session_header h = {0};
    size_t got;
    s->bytes = size_of_file(file);
    char *data = read_beginning(file, sizeof h, &got);
    const char *why =
        got < sizeof h ? "damaged" : burin_session_check_head(server->model, data, s->bytes, &h);
    free(data);
    if (!why && h.tokens > server->base->context) why = "of a longer context";
    if (why) return why;
    size_t tokens = (size_t)h.tokens * sizeof *s->tokens;
    data = read_beginning(file, sizeof h + tokens, &got);
    if (got == sizeof h + tokens) {
        s->n = (int32_t)h.tokens, s->tokens = burin_allocate((size_t)s->n, sizeof *s->tokens);
        memcpy(s->tokens, data + sizeof h, tokens);
    }
    free(data);
    return s->tokens ? NULL : "damaged";
}

static void read_entry(burin_server *server, const char *name) {
    burin_store *store = server->store;
    char path[PATH_ROOM];
    const char *why = NULL;
    size_t identity = strlen(server->model->identity);
    if (strncmp(name, server->model->identity, identity) || name[identity] != '-') return;
    snapshot s = {.name = strtoull(name + identity + 1, NULL, 16)};
    if (is_known(store, s.name)) return;
    path_of(store, server->model, s.name, path);
    int file = burin_open_small_file(path, PTRDIFF_MAX, &why);
    if (file < 0) return;  // another server has removed it, or it has another name
    why = read_head(server, file, &s);
    close(file);
    if (why) {
        burin_note("--cache-dir: %s: %s; it is left out", path, why);
        return;
    }
    make_room(server, false, s.bytes);
    add_snapshot(store, &s);
}

// Finds files that are new since the last time.
static void read_folder(burin_server *server) {
    burin_store *store = server->store;
    struct stat status;
    bool there = !stat(store->folder, &status);
    if (there && status.st_mtim.tv_sec == store->changed.tv_sec &&
        status.st_mtim.tv_nsec == store->changed.tv_nsec)
        return;
    if (there) store->changed = status.st_mtim;
    DIR *folder = opendir(store->folder);
    int n = 0;
    for (const struct dirent *e; folder && n < MOST_FILES && (e = readdir(folder)); n++)
        read_entry(server, e->d_name);
    if (folder) closedir(folder);
}

// ---- use ----
static bool load_bytes(burin_server *server, int32_t slot, const char *data, size_t bytes,
                       const char **why) {
    burin_session_header h;
    burin_slot *own = &server->slots[slot];
    burin_session *session = server->base->session;
    *why = burin_session_check_bytes(server->model, data, bytes, &h);
    if (!*why && h.tokens > server->base->context)
        *why = "it has more tokens than the context holds";
    if (*why) return false;
    burin_status status =
        burin_slot_load(session, slot, burin_session_slot(data, &h), (size_t)h.slot_bytes);
    if (status) *why = burin_status_text(status);
    if (status) return false;
    own->n = burin_slot_length(session, slot);
    if (own->n > h.tokens) own->n = 0, burin_slot_reset(session, slot), *why = "damaged";
    memcpy(own->tokens, data + sizeof h, (size_t)own->n * sizeof *own->tokens);
    return !*why;
}

static bool load_snapshot(burin_server *server, int32_t slot, snapshot *s) {
    char path[PATH_ROOM], *data = s->data;
    const char *why;
    size_t bytes = s->bytes;
    if (!data)
        path_of(server->store, server->model, s->name, path),
            data = read_snapshot(path, &bytes, &why);
    bool loaded = data && load_bytes(server, slot, data, bytes, &why);
    if (data != s->data) free(data);
    s->used = ++server->store->count;
    if (loaded) return true;
    burin_note("--cache-dir: %s: %s; it is read again", s->data ? "memory" : path, why);
    s->n = 0;  // known, and never used
    return false;
}

int32_t burin_store_load(burin_server *server, int32_t slot, const burin_request *q,
                         int32_t cached) {
    snapshot *best = NULL;
    int32_t most = cached + FEWEST_KEPT - 1;
    if (server->store && server->store->folder) read_folder(server);
    for (snapshot *s = server->store ? server->store->first : NULL; s; s = s->next) {
        int32_t same = common_with(s, q->prompt, q->n_prompt - 1);
        if (server->store->whole && same < s->n) continue;
        if (same > most || (best && same == most && s->data && !best->data)) best = s, most = same;
    }
    if (!best) return cached;
    if (!load_snapshot(server, slot, best))
        return burin_slot_length(server->base->session, slot) < cached ? 0 : cached;
    int32_t same = 0;
    const burin_slot *own = &server->slots[slot];
    while (same < own->n && same < q->n_prompt - 1 && own->tokens[same] == q->prompt[same]) same++;
    return burin_slot_holds(server->base->session, slot, same);
}

// ---- its life ----
void burin_store_open(burin_server *server) {
    const burin_server_options *o = &server->command->server;
    if (!o->cache_ram && !o->cache_dir) return;
    server->store = burin_allocate(1, sizeof *server->store);
    *server->store =
        (burin_store){.most_ram = (size_t)o->cache_ram << 20,
                      .most_disk = (size_t)(o->cache_disk ? o->cache_disk : 8192) << 20,
                      .folder = o->cache_dir};
    if (o->cache_dir && strlen(o->cache_dir) > PATH_ROOM - 64)
        burin_stop(BURIN_BAD_COMMAND_LINE, "--cache-dir: the path is too long");
    if (o->cache_dir && access(o->cache_dir, F_OK) && mkdir(o->cache_dir, 0700))
        burin_stop(BURIN_USER_MISTAKE, "--cache-dir %s: %s", o->cache_dir, strerror(errno));
    for (int32_t i = 0; i < server->model->n_states; i++)
        server->store->whole |= server->model->states[i].window != 0;
    if (o->cache_dir) read_folder(server);
}

void burin_store_close(burin_server *server) {
    burin_store *store = server->store;
    if (!store) return;
    for (int32_t i = 0; i < server->limits.slots && store->folder; i++)
        if (server->slots[i].n >= FEWEST_KEPT) keep(server, i, false, false);
    while (store->first) drop_snapshot(server, store->first, false);
    free(store);
}

// ---- POST /slots/ID?action=save|restore|erase ----
static void slot_path(burin_request *q, char path[PATH_ROOM]) {
    const char *folder = q->server->command->server.slot_save_path;
    if (!folder)
        burin_request_fail(q, 501, NULL, "this server was started without --slot-save-path");
    const burin_value name = burin_body_member(q, q->body, "filename", BURIN_STRING, "filename");
    for (uint32_t i = 0; i < name.length; i++) {
        char c = name.text[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("._-", c);
        if (!c || !plain || (c == '.' && !i))
            burin_request_fail(
                q, 400, "filename",
                "\"filename\" may have letters, digits, . _ and -, and begins with no point");
    }
    if (!name.length || name.length > 128)
        burin_request_fail(q, 400, "filename", "\"filename\" must have 1 to 128 bytes");
    snprintf(path, PATH_ROOM, "%.800s/%.*s", folder, (int)name.length, name.text);
}

static size_t save_slot(burin_request *q, int32_t slot) {
    burin_server *s = q->server;
    const burin_session_parts parts = {.tokens = s->slots[slot].tokens};
    burin_session_header h = {.tokens = s->slots[slot].n};
    char path[PATH_ROOM];
    const char *why;
    slot_path(q, path);
    if (!h.tokens) burin_request_fail(q, 400, NULL, "the slot is empty");
    char *data = burin_session_pack(s->base->session, slot, &parts, &h);
    bool written = burin_replace_file(path, data, (size_t)h.bytes, &why);
    free(data);
    if (!written) burin_request_fail(q, 500, "filename", "it cannot be written: %s", why);
    return (size_t)h.bytes;
}

static size_t restore_slot(burin_request *q, int32_t slot) {
    char path[PATH_ROOM];
    const char *why;
    size_t bytes;
    slot_path(q, path);
    char *data = read_snapshot(path, &bytes, &why);
    bool loaded = data && load_bytes(q->server, slot, data, bytes, &why);
    free(data);
    if (!loaded)
        burin_request_fail(q, data ? 400 : 404, "filename", "it cannot be restored: %s", why);
    return bytes;
}

void burin_handle_slot(burin_request *q) {
    burin_server *s = q->server;
    const char *uri = evhttp_request_get_uri(q->http), *action = strstr(uri, "?action=");
    char *end;
    long slot = strtol(q->path + strlen("/slots/"), &end, 10);
    size_t bytes = 0;
    if (end == q->path + strlen("/slots/") || *end || slot < 0 || slot >= s->limits.slots)
        burin_request_fail(q, 404, NULL, "there are the slots 0 to %d", s->limits.slots - 1);
    if (s->slots[slot].answer)
        burin_request_fail(q, 503, NULL, "an answer is at work in this slot");
    action = action ? action + strlen("?action=") : "";
    if (!strcmp(action, "erase")) {
        burin_slot_reset(s->base->session, (int32_t)slot);
        s->slots[slot].n = 0;
    } else if (!strcmp(action, "save") || !strcmp(action, "restore")) {
        burin_body_read(q);
        bytes = *action == 's' ? save_slot(q, (int32_t)slot) : restore_slot(q, (int32_t)slot);
    } else {
        burin_request_fail(q, 400, "action", "?action= must be save, restore or erase");
    }
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"id_slot\": %ld, \"action\": \"%-s\", \"n_tokens\": %d, \"n_bytes\": %zu}", slot,
                action, s->slots[slot].n, bytes);
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}
