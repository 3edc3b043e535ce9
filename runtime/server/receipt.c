// Receipts: with "receipt": true a reply has all that --replay needs to give it again: the program
// and its options (system_fingerprint), the request, its time and seed. --replay compares hashes of
// the prompt and of the answer, and names a difference.
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "program/input.h"
#include "program/output.h"
#include "server/server.h"

// ---- a reply's receipt ----
void burin_receipt_read(burin_request *q) {
    if (q->given || !burin_body_bool(q, "receipt", false)) return;
    q->receipt = burin_copy_text(burin_body_json(q, q->body));
}

uint64_t burin_prompt_hash(const burin_request *q) {
    return burin_hash_bytes(burin_hash_start, q->prompt, (size_t)q->n_prompt * sizeof *q->prompt);
}

static uint64_t hash_answers(const burin_request *q) {
    uint64_t h = burin_hash_start;
    for (int i = 0; i < q->n_answers; i++) {
        const burin_answer *a = &q->answers[i];
        h = burin_hash_bytes(h, a->g.answer, a->g.answer_bytes);
        h = burin_hash_bytes(h, a->finish, strlen(a->finish) + 1);
    }
    return h;
}

void burin_print_receipt(burin_request *q) {
    if (!q->receipt) return;
    burin_print(", \"receipt\": {\"system_fingerprint\": \"%-s\", \"path\": \"%-s\", \"model\": ",
                q->server->fingerprint, q->route->path);
    burin_print_json_string(q->server->name, strlen(q->server->name));
    burin_print(", \"created\": %lld, \"now\": \"%-s\", \"seed\": %lld", (long long)q->created,
                q->now, (long long)q->command.sampling.seed);
    burin_print(", \"prompt\": \"%016llx\", \"answer\": \"%016llx\", \"request\": ",
                (unsigned long long)burin_prompt_hash(q), (unsigned long long)hash_answers(q));
    burin_print_bytes(q->receipt, strlen(q->receipt));
    burin_print("}");
}

// ---- --replay FILE ----
typedef struct receipt {
    const char *file;
    burin_request *reader;  // whose memory has the values
    burin_value value;
} receipt;

static const burin_value *find_member(const receipt *r, const char *name, burin_value_kind kind) {
    const burin_value *v = burin_dict_find_text(&r->reader->r, r->value, name);
    return v && v->kind == kind ? v : NULL;
}

static burin_value need_member(const receipt *r, const char *name, burin_value_kind kind) {
    const burin_value *v = find_member(r, name, kind);
    if (!v)
        burin_stop(BURIN_USER_MISTAKE,
                   "--replay %s: \"%s\" is missing, or has another type\nhint: a receipt is in the "
                   "reply to a request with \"receipt\": true",
                   r->file, name);
    return *v;
}

static burin_value parse_receipt(receipt *r, const char *text, size_t bytes) {
    burin_request *q = r->reader;
    q->memory = (burin_rendering){.json_name = r->file, .memory_bytes = BURIN_RENDER_BYTES(bytes)};
    q->memory.memory = burin_allocate(1, q->memory.memory_bytes);
    q->r.out = &q->memory;
    burin_render_divide(&q->r);
    if (setjmp(q->r.stop))
        burin_stop(BURIN_USER_MISTAKE, "--replay %s: %s", r->file, q->memory.error);
    return burin_json_read(&q->r, r->file, text, bytes);
}

// A file with a receipt, or with the reply that has it.
static void read_receipt(receipt *r) {
    size_t bytes;
    const char *text = burin_read_bytes(r->file, 64 << 20, &bytes);
    r->value = parse_receipt(r, text, bytes);
    if (r->value.kind != BURIN_DICT)
        burin_stop(BURIN_USER_MISTAKE, "--replay %s: expected an object in JSON", r->file);
    const burin_value *inner = find_member(r, "receipt", BURIN_DICT);
    if (inner) r->value = *inner;
}

static void check_program(const receipt *r, const burin_server *s) {
    const burin_value made = need_member(r, "system_fingerprint", BURIN_STRING);
    if (burin_is_text(made, s->fingerprint)) return;
    size_t own = strlen(s->model->identity);
    bool same_model = made.length >= own && !memcmp(made.text, s->model->identity, own);
    burin_stop(BURIN_USER_MISTAKE, "--replay %s: it is of %.*s, and this is %s\nhint: %s", r->file,
               (int)made.length, made.text, s->fingerprint,
               same_model ? "give the options that the server was started with"
                          : "it needs the same model, built with the same options");
}

// The request again, whole in place of streamed, and with its seed.
static void set_request(burin_request *q, const receipt *r) {
    burin_request *reader = r->reader;
    burin_value body = need_member(r, "request", BURIN_DICT);
    const burin_value *now = find_member(r, "now", BURIN_STRING),
                      *created = find_member(r, "created", BURIN_INTEGER);
    burin_body_set(reader, body, "stream", burin_boolean(false));
    burin_body_set(reader, body, "seed", need_member(r, "seed", BURIN_INTEGER));
    q->given = burin_copy_text(burin_body_json(reader, body));
    burin_request_set_time(q, created ? created->integer : 0);
    if (now && now->length < sizeof q->now)
        memcpy(q->now, now->text, now->length), q->now[now->length] = 0;
}

static const burin_route *route_of(const receipt *r) {
    bool known;
    char *path = burin_copy_text(need_member(r, "path", BURIN_STRING));
    const burin_route *route = burin_route_find(burin_routes, path, EVHTTP_REQ_POST, &known);
    if (!route || !route->api || strcmp(route->path, path))
        burin_stop(BURIN_USER_MISTAKE, "--replay %s: no path with answers is %s", r->file, path);
    free(path);
    return route;
}

static void check_hash(const receipt *r, const char *name, uint64_t now) {
    const burin_value *then = find_member(r, name, BURIN_STRING);
    burin_capture text = {0}, *before = burin_capture_into(&text);
    burin_print("%016llx", (unsigned long long)now);
    burin_capture_into(before);
    bool same = !then || (then->length == text.n && !memcmp(then->text, text.data, text.n));
    free(text.data);
    if (!same)
        burin_stop(BURIN_USER_MISTAKE,
                   "--replay %s: the %s is another one\nhint: was the receipt changed? with "
                   "--math=fast bits differ between machines",
                   r->file, name);
}

int burin_replay(burin_run *run) {
    burin_server s = {
        .base = run, .model = run->model, .command = run->command, .routes = burin_routes};
    burin_request reader = {.server = &s}, *q = burin_allocate(1, sizeof *q);
    receipt r = {.file = run->command->server.replay, .reader = &reader};
    read_receipt(&r);
    burin_server_open(&s);
    const burin_value *name = find_member(&r, "model", BURIN_STRING);
    if (name) s.name = burin_copy_text(*name);
    check_program(&r, &s);
    q->server = &s, q->route = route_of(&r), q->api = q->route->api;
    set_request(q, &r);
    burin_request_run(q);
    while (!q->done && burin_server_step(&s)) {}
    if (!q->replayed.data) q->api->finished(q);
    if (q->status != 200) burin_stop(BURIN_USER_MISTAKE, "--replay %s: %s", r.file, q->error);
    check_hash(&r, "prompt", burin_prompt_hash(q));
    check_hash(&r, "answer", hash_answers(q));
    burin_print_bytes(q->replayed.data, q->replayed.n);
    burin_print("\n");
    burin_server_close(&s);
    return 0;
}
