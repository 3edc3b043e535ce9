// HTTP by libevent's evhttp: routes, keys, origins, replies, event streams, errors in the shape of
// each API, the log.
#include <ctype.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/keyvalq_struct.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "program/output.h"
#include "server/server.h"

// ---- the log ----
static const char *method_of(const burin_request *q) {
    switch (evhttp_request_get_command(q->http)) {
        case EVHTTP_REQ_GET:
            return "GET";
        case EVHTTP_REQ_HEAD:
            return "HEAD";
        case EVHTTP_REQ_POST:
            return "POST";
        case EVHTTP_REQ_OPTIONS:
            return "OPTIONS";
        default:
            return "OTHER";
    }
}

static int64_t tokens_of(const burin_request *q, bool cached) {
    int64_t n = 0;
    for (int i = 0; q->answers && i < q->n_answers; i++)
        n += cached ? q->answers[i].cached : q->answers[i].g.generated;
    return n;
}

static void log_as_json(const burin_request *q, double total, double first) {
    burin_capture line = {0}, *before = burin_capture_into(&line);
    burin_print("{\"time\": %lld, \"method\": \"%-s\", \"path\": ", (long long)time(NULL),
                q->method);
    burin_print_json_string(q->path, strlen(q->path));
    burin_print(
        ", \"status\": %d, \"prompt_tokens\": %d, \"cached_tokens\": %lld, \"completion_tokens\": "
        "%lld",
        q->status, q->n_prompt, (long long)tokens_of(q, true), (long long)tokens_of(q, false));
    burin_print(", \"first_ms\": %.1f, \"total_ms\": %.1f, \"error\": ", first, total);
    burin_print_json_string(q->error, strlen(q->error));
    burin_print("}\n");
    burin_capture_into(before);
    burin_write_all(STDERR_FILENO, line.data, line.n);
    free(line.data);
}

static void log_request(const burin_request *q) {
    const char *format = q->server->command->server.log_format;
    double total = (double)(burin_nanoseconds() - q->arrived) / 1e6,
           first = q->first ? (double)(q->first - q->arrived) / 1e6 : 0;
    if (format && !strcmp(format, "none")) return;
    if (format && !strcmp(format, "json")) {
        log_as_json(q, total, first);
    } else if (q->answers) {
        burin_note(
            "%-s %s %d: read %d tokens (%lld cached), wrote %lld; first after %.1f ms, all after "
            "%.1f ms%-s%s",
            q->method, q->path, q->status, q->n_prompt, (long long)tokens_of(q, true),
            (long long)tokens_of(q, false), first, total, *q->error ? ": " : "", q->error);
    } else {
        burin_note("%-s %s %d: %.1f ms%-s%s", q->method, q->path, q->status, total,
                   *q->error ? ": " : "", q->error);
    }
}

// ---- requests ----
static void client_has_gone(struct evhttp_connection *connection, void *request) {
    burin_request *q = request;
    (void)connection;
    if (!evhttp_request_get_connection(q->http))
        evhttp_request_free(q->http);  // libevent has let go of it
    q->http = NULL, q->gone = true;
}

static void reply_is_unsent(struct evhttp_connection *connection, void *server) {
    (void)connection;
    ((burin_server *)server)->n_unsent--;
}

static void reply_is_sent(struct evhttp_request *http, void *server) {
    evhttp_connection_set_closecb(evhttp_request_get_connection(http), NULL, NULL);
    ((burin_server *)server)->n_unsent--;
}

// From here on the request is libevent's, which sends the reply and frees it.
static struct evhttp_request *give_away(burin_request *q) {
    struct evhttp_request *http = q->http;
    q->http = NULL;
    q->server->n_unsent++;
    evhttp_connection_set_closecb(evhttp_request_get_connection(http), reply_is_unsent, q->server);
    evhttp_request_set_on_complete_cb(http, reply_is_sent, q->server);
    return http;
}

void burin_request_set_time(burin_request *q, int64_t created) {
    time_t clock = (time_t)created;
    struct tm now;
    q->created = created;
    if (localtime_r(&clock, &now)) strftime(q->now, sizeof q->now, "%Y-%m-%d %H:%M:%S", &now);
}

static burin_request *open_request(burin_server *s, struct evhttp_request *http) {
    burin_request *q = burin_allocate(1, sizeof *q);
    struct evhttp_connection *connection = evhttp_request_get_connection(http);
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(http);
    const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
    q->server = s, q->http = http, q->arrived = burin_nanoseconds();
    burin_request_set_time(q, (int64_t)time(NULL));
    q->method = method_of(q);
    snprintf(q->path, sizeof q->path, "%s", path ? path : "");
    q->next = s->requests;
    if (q->next) q->next->before = q;
    s->requests = q;
    s->n_requests++, s->counters.requests++;
    evhttp_connection_set_closecb(connection, client_has_gone, q);
    int one = 1;
    setsockopt(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), IPPROTO_TCP,
               TCP_NODELAY, &one, sizeof one);
    return q;
}

// Memory used only while the answers are prepared.
static void free_preparation(burin_request *q) {
    free(q->memory.memory), free(q->rendering.memory);
    q->memory.memory = q->rendering.memory = NULL;
}

void burin_request_close(burin_request *q) {
    burin_server *s = q->server;
    if (q->gone && !q->status) q->status = 499, s->counters.cancelled++;
    log_request(q);
    for (int i = 0; q->answers && i < q->n_answers; i++)
        burin_answer_drop(&q->answers[i]), burin_answer_close(&q->answers[i]);
    *(q->before ? &q->before->next : &s->requests) = q->next;
    if (q->next) q->next->before = q->before;
    s->n_requests--;
    free_preparation(q);
    burin_tool_format_close(&q->tools);
    if (q->close_job) q->close_job(q);
    burin_pictures_leave(q);
    free((void *)(uintptr_t)q->command.sampling.bias);
    free(q->grammar), free(q->stop_texts), free(q->echo), free(q->prompt), free(q->answers),
        free(q->receipt), free(q->end_of_thought.id), free(q);
}

// A client that has closed its side wants no answer.
bool burin_client_is_there(const burin_request *q) {
    char byte;
    if (!q->http) return false;
    int file = bufferevent_getfd(
        evhttp_connection_get_bufferevent(evhttp_request_get_connection(q->http)));
    ssize_t n = recv(file, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
}

// ---- replies ----
static bool allows_origin(const burin_server *s, const char *origin) {
    const char *list = s->command->server.origins;
    size_t n = origin ? strlen(origin) : 0;
    for (const char *at = list; n && at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (*at == '*' && strcspn(at, ",") == 1) return true;
        if (strcspn(at, ",") == n && !memcmp(at, origin, n)) return true;
    }
    return false;
}

static void add_headers(burin_request *q, const char *type) {
    struct evkeyvalq *out = evhttp_request_get_output_headers(q->http);
    const char *origin = evhttp_find_header(evhttp_request_get_input_headers(q->http), "Origin");
    evhttp_add_header(out, "Content-Type", type);
    evhttp_add_header(out, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(out, "Cache-Control", "no-store");
    evhttp_add_header(out, "Content-Security-Policy",
                      "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                      "connect-src 'self'; "
                      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    if (!allows_origin(q->server, origin)) return;
    evhttp_add_header(out, "Access-Control-Allow-Origin", origin);
    evhttp_add_header(out, "Vary", "Origin");
    evhttp_add_header(out, "Access-Control-Allow-Headers",
                      "authorization, content-type, x-api-key, anthropic-version");
    evhttp_add_header(out, "Access-Control-Allow-Methods", "GET, POST, OPTIONS");
}

static const char *phrase_of(int status) {
    static const struct {
        int status;
        const char *phrase;
    } rows[] = {{200, "OK"},
                {204, "No Content"},
                {400, "Bad Request"},
                {401, "Unauthorized"},
                {404, "Not Found"},
                {405, "Method Not Allowed"},
                {413, "Content Too Large"},
                {415, "Unsupported Media Type"},
                {422, "Unprocessable Content"},
                {429, "Too Many Requests"},
                {500, "Internal Server Error"},
                {501, "Not Implemented"},
                {503, "Service Unavailable"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status) return rows[i].phrase;
    return "Error";
}

// The reply to HEAD has the length of the body alone.
static void add_body(burin_request *q, const burin_capture *body) {
    char length[24];
    if (evhttp_request_get_command(q->http) == EVHTTP_REQ_HEAD) {
        snprintf(length, sizeof length, "%zu", body->n);
        evhttp_add_header(evhttp_request_get_output_headers(q->http), "Content-Length", length);
    } else if (body->n) {
        evbuffer_add(evhttp_request_get_output_buffer(q->http), body->data, body->n);
    }
}

void burin_reply(burin_request *q, int status, burin_capture *body, const char *type) {
    q->status = status;
    if (q->http) {
        add_headers(q, type ? type : "application/json");
        if (status == 503)
            evhttp_add_header(evhttp_request_get_output_headers(q->http), "Retry-After", "1");
        add_body(q, body);
        evhttp_send_reply(give_away(q), status, phrase_of(status), NULL);
    }
    if (q->given)
        q->replayed = *body;
    else
        free(body->data);
    *body = (burin_capture){0};
    q->done = true;
}

static const char *error_type(int status, bool anthropic) {
    return status == 401   ? "authentication_error"
           : status == 404 ? "not_found_error"
           : status == 413 ? (anthropic ? "request_too_large" : "invalid_request_error")
           : status == 429 ? "rate_limit_error"
           : status == 503 ? (anthropic ? "overloaded_error" : "server_error")
           : status >= 500 ? (anthropic ? "api_error" : "server_error")
                           : "invalid_request_error";
}

static void print_error(const burin_request *q, int status) {
    bool anthropic = q->api && q->api->anthropic;
    burin_print(anthropic ? "{\"type\": \"error\", \"error\": {\"type\": \"%-s\", \"message\": "
                          : "{\"error\": {\"type\": \"%-s\", \"message\": ",
                error_type(status, anthropic));
    burin_print_json_string(q->error, strlen(q->error));
    if (!anthropic) {
        burin_print(", \"param\": ");
        if (*q->parameter)
            burin_print_json_string(q->parameter, strlen(q->parameter));
        else
            burin_print("null");
        burin_print(*q->code ? ", \"code\": \"%-s\"" : ", \"code\": null", q->code);
    }
    burin_print("}}");
}

void burin_reply_error(burin_request *q, int status, const char *message) {
    burin_capture body = {0}, *before = burin_capture_into(&body);
    if (message != q->error) snprintf(q->error, sizeof q->error, "%s", message);
    q->server->counters.failed++;
    if (q->streaming) {
        burin_print(q->api->anthropic ? "event: error\ndata: " : "data: ");
        print_error(q, status);
        burin_print("\n\n");
        burin_capture_into(before);
        q->status = status;
        burin_stream_send(q, &body);
        burin_stream_end(q);
    } else {
        print_error(q, status);
        burin_capture_into(before);
        burin_reply(q, status, &body, NULL);
    }
}

void burin_request_abort(burin_request *q, int status, const char *message) {
    for (int i = 0; q->answers && i < q->n_answers; i++) burin_answer_drop(&q->answers[i]);
    if (!q->done) burin_reply_error(q, status, message);
}

// ---- event streams ----
void burin_stream_begin(burin_request *q) {
    if (!q->http || q->streaming) return;
    q->streaming = true, q->status = 200;
    add_headers(q, q->stream_type ? q->stream_type : "text/event-stream; charset=utf-8");
    evhttp_add_header(evhttp_request_get_output_headers(q->http), "X-Accel-Buffering", "no");
    evhttp_send_reply_start(q->http, 200, "OK");
}

void burin_stream_send(burin_request *q, burin_capture *event) {
    if (q->http && event->n) {
        struct evbuffer *chunk = evbuffer_new();
        burin_stream_begin(q);
        evbuffer_add(chunk, event->data, event->n);
        evhttp_send_reply_chunk(q->http, chunk);
        evbuffer_free(chunk);
        q->sent_at = burin_nanoseconds();
    }
    free(event->data);
    *event = (burin_capture){0};
}

void burin_stream_end(burin_request *q) {
    q->done = true;
    if (!q->http) return;
    burin_stream_begin(q);
    evhttp_send_reply_end(give_away(q));
}

// ---- routes ----
static bool same_secret(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned char difference = n != m;
    for (size_t i = 0; i < n && m; i++) difference |= (unsigned char)(a[i] ^ b[i % m]);
    return !difference;
}

static bool has_key(const burin_request *q) {
    const burin_texts *keys = &q->server->command->server.keys;
    struct evkeyvalq *headers = evhttp_request_get_input_headers(q->http);
    const char *bearer = evhttp_find_header(headers, "Authorization"),
               *given = evhttp_find_header(headers, "x-api-key");
    if (bearer && !strncasecmp(bearer, "Bearer ", 7)) given = bearer + 7;
    bool found = !keys->n;
    for (int i = 0; given && i < keys->n; i++) found |= same_secret(given, keys->text[i]);
    return found;
}

void burin_request_try(burin_request *q, void (*work)(burin_request *)) {
    if (!setjmp(q->r.stop)) {
        work(q);
    } else {
        const char *message =
            *q->error ? q->error : q->memory.error;  // a mistake in the JSON itself
        burin_request_abort(q, q->status ? q->status : 400, message);
    }
    free_preparation(q);
}

void burin_request_run(burin_request *q) { burin_request_try(q, q->route->handle); }

const burin_route *burin_route_find(const burin_route *routes, const char *path,
                                    enum evhttp_cmd_type method, bool *known) {
    for (const burin_route *r = routes; r->path; r++) {
        size_t n = strlen(r->path);
        bool folder = n > 1 && r->path[n - 1] == '/';
        if (folder ? strncmp(r->path, path, n) : strcmp(r->path, path)) continue;
        *known = true;
        if (r->method == method || (method == EVHTTP_REQ_HEAD && r->method == EVHTTP_REQ_GET))
            return r;
    }
    return NULL;
}

// Two lengths of a body may be read differently by a proxy.
static bool has_two_lengths(const burin_request *q) {
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(q->http);
    int n = 0;
    for (const struct evkeyval *h = headers->tqh_first; h; h = h->next.tqe_next)
        n += !strcasecmp(h->key, "Content-Length");
    return n > 1;
}

static void handle_request(struct evhttp_request *http, void *server) {
    burin_server *s = server;
    burin_request *q = open_request(s, http);
    bool known = false;
    enum evhttp_cmd_type method = evhttp_request_get_command(http);
    q->route = burin_route_find(s->routes, q->path, method, &known);
    if (q->route) q->api = q->route->api;
    if (has_two_lengths(q))
        burin_reply_error(q, 400, "the request has several lengths of its body");
    else if (method == EVHTTP_REQ_OPTIONS)
        burin_reply(q, 204, &(burin_capture){0}, NULL);
    else if (!known)
        burin_reply_error(
            q, 404, "there is no such path: /v1/models, /v1/chat/completions and others are there");
    else if (!q->route)
        burin_reply_error(q, 405, "this path takes another method");
    else if (!q->route->open && !has_key(q))
        burin_reply_error(q, 401,
                          "the request has no API key of this server: Authorization: Bearer KEY");
    else
        burin_request_run(q);
}

void burin_http_open(burin_server *s) {
    s->http = evhttp_new(s->events);
    evhttp_set_gencb(s->http, handle_request, s);
    evhttp_set_max_headers_size(s->http, 32 << 10);
    evhttp_set_max_body_size(s->http, (ev_ssize_t)s->limits.max_body + 1);
    evhttp_set_timeout(s->http, s->limits.timeout);
    evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST |
                                            EVHTTP_REQ_OPTIONS | EVHTTP_REQ_PUT |
                                            EVHTTP_REQ_DELETE | EVHTTP_REQ_PATCH);
}
