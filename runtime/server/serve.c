// --serve: opens the model and the address, then takes turns between requests and steps of the
// model until it is told to stop. The first SIGTERM or SIGINT lets running answers end, and refuses
// new ones; the second ends the program.
#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/hash.h"
#include "program/output.h"
#include "server/server.h"
#include "text/memory_total.h"
#include "text/prompt.h"

// ---- defaults of the command line and the environment ----
static int64_t or_usual(int64_t given, int64_t usual) { return given > 0 ? given : usual; }

static const char *setting_of(const char *given, const char *variable, const char *usual) {
    const char *set = getenv(variable);
    return given ? given : set && *set ? set : usual;
}

static int64_t port_of(const burin_server_options *o) {
    const char *set = getenv("BURIN_PORT");
    char *end;
    if (o->port >= 0 || !set || !*set) return o->port >= 0 ? o->port : 8080;
    long port = strtol(set, &end, 10);
    if (*end || port < 0 || port > 65535)
        burin_stop(BURIN_BAD_COMMAND_LINE, "BURIN_PORT=%s: expected a number from 0 to 65535", set);
    return port;
}

static void read_limits(burin_server *s) {
    const burin_server_options *o = &s->command->server;
    s->limits = (burin_limits){.slots = s->jobs ? 0 : s->base->session->slots,
                               .queue = o->queue >= 0 ? (int32_t)o->queue : 64,
                               .max_tokens = (int32_t)or_usual(o->max_tokens, s->base->context),
                               .max_messages = (int32_t)or_usual(o->max_messages, 2048),
                               .timeout = (int32_t)or_usual(o->timeout, 600),
                               .max_body = (size_t)or_usual(
                                   o->max_body, s->model->eyes || s->sounds ? 32 << 20 : 4 << 20)};
    if (s->limits.max_tokens > s->base->context) s->limits.max_tokens = s->base->context;
    const char *format = o->log_format;
    if (format && strcmp(format, "text") && strcmp(format, "json") && strcmp(format, "none"))
        burin_stop(BURIN_BAD_COMMAND_LINE, "--log-format %s: expected text, json or none", format);
}

// ---- the address ----
static _Noreturn void cannot_listen(const char *address) {
    burin_stop(BURIN_USER_MISTAKE, "--serve %s: %s\nhint: --port 0 takes any port that is free",
               address, strerror(errno));
}

static int listen_at_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat there;
    if (strlen(path) >= sizeof address.sun_path)
        burin_stop(BURIN_USER_MISTAKE, "--serve %s: a socket's path has at most %zu bytes", path,
                   sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (!lstat(path, &there) && S_ISSOCK(there.st_mode)) unlink(path);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t before = umask(0177);
    bool bound =
        file >= 0 && !bind(file, (struct sockaddr *)&address, sizeof address) && !listen(file, 128);
    umask(before);
    if (!bound) cannot_listen(path);
    burin_note("%s: serving at the unix socket %s", burin_program_name, path);
    return file;
}

// HOST:PORT, [v6]:PORT, HOST, :PORT or PORT; the rest comes from options of their own.
static void split_address(const burin_server_options *o, char host[256], int64_t *port) {
    const char *address = o->address, *colon = strrchr(address, ':');
    size_t n = strlen(address);
    bool bracketed = *address == '[', number = n && strspn(address, "0123456789") == n;
    *port = port_of(o);
    snprintf(host, 256, "%s", setting_of(o->host, "BURIN_HOST", "127.0.0.1"));
    if (number) colon = address - 1;
    if (colon && (number || !bracketed || colon > strchr(address, ']'))) {
        char *end;
        *port = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end || *port < 0 || *port > 65535)
            burin_stop(BURIN_BAD_COMMAND_LINE,
                       "--serve %s: expected HOST:PORT, with a port from 0 to 65535", address);
        n = number ? 0 : (size_t)(colon - address);
    }
    if (bracketed) address++, n = strcspn(address, "]");
    if (n) snprintf(host, 256, "%.*s", (int)n, address);
}

// Numbers alone, and localhost: a static program looks up no names.
static int listen_at_host(const char *host, int64_t port) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const char *numbers = !strcmp(host, "localhost") ? "127.0.0.1"
                          : !strcmp(host, "*")       ? "0.0.0.0"
                                                     : host;
    bool is_four = inet_pton(AF_INET, numbers, &four.sin_addr) == 1,
         is_six = inet_pton(AF_INET6, numbers, &six.sin6_addr) == 1;
    int one = 1, file = is_four || is_six ? socket(is_six ? AF_INET6 : AF_INET,
                                                   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)
                                          : -1;
    if (!is_four && !is_six)
        burin_stop(
            BURIN_BAD_COMMAND_LINE,
            "--serve: the host %s is no address\nhint: 127.0.0.1, 0.0.0.0, ::1 or a path with a /",
            host);
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (file < 0 ||
        bind(file, is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four,
             is_six ? sizeof six : sizeof four) ||
        listen(file, 1024))
        cannot_listen(host);
    socklen_t n = is_six ? sizeof six : sizeof four;
    getsockname(file, is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four, &n);
    port = ntohs(is_six ? six.sin6_port : four.sin_port);
    burin_note("serving at http://%-s%s%-s:%d", is_six ? "[" : "", numbers, is_six ? "]" : "",
               (int)port);
    burin_note("try: curl http://%-s%s%-s:%d/v1/models", is_six ? "[" : "", numbers,
               is_six ? "]" : "", (int)port);
    return file;
}

// Connections that find no descriptor wait until others have closed.
static void accept_failed(struct evconnlistener *listener, void *server) {
    const struct timeval soon = {0, 200000};
    evconnlistener_disable(listener);
    event_add(((burin_server *)server)->retry, &soon);
}

static void accept_again(evutil_socket_t file, short what, void *server) {
    burin_server *s = server;
    (void)file, (void)what;
    if (!s->draining) evconnlistener_enable(s->listener);
}

static void limit_connections(const burin_server *s) {
    enum { OTHER_FILES = 32 };
    struct rlimit limit;
    rlim_t most = (rlim_t)or_usual(s->command->server.max_connections, 1024) + OTHER_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur =
        limit.rlim_max != RLIM_INFINITY && most > limit.rlim_max ? limit.rlim_max : most;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void listen_for_requests(burin_server *s) {
    const burin_server_options *o = &s->command->server;
    char host[256];
    int64_t port;
    int file;
    if (strchr(o->address, '/')) {
        file = listen_at_path(o->address);
    } else {
        split_address(o, host, &port);
        file = listen_at_host(host, port);
    }
    s->listener = evconnlistener_new(s->events, NULL, NULL,
                                     LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, file);
    if (!s->listener || !evhttp_bind_listener(s->http, s->listener)) cannot_listen(o->address);
    evconnlistener_set_error_cb(s->listener, accept_failed);
    s->retry = evtimer_new(s->events, accept_again, s);
}

// ---- its life ----
static void begin_to_stop(evutil_socket_t number, short what, void *server) {
    burin_server *s = server;
    (void)number, (void)what;
    if (s->draining) _exit(BURIN_USER_MISTAKE);
    s->draining = true;
    evconnlistener_disable(s->listener);
    burin_note("stopping: %d requests are answered to their end", s->n_requests);
}

static void watch_signals(burin_server *s) {
    static const int numbers[] = {SIGTERM, SIGINT};
    signal(SIGPIPE, SIG_IGN);  // a client that has gone is an error of the write
    for (int i = 0; i < 2; i++) {
        s->signals[i] = evsignal_new(s->events, numbers[i], begin_to_stop, s);
        event_add(s->signals[i], NULL);
    }
}

static void keep_alive(burin_request *q) {
    static const uint64_t pause = 5000000000u;
    burin_capture comment = {0};
    if (!q->stream || !q->http ||
        burin_nanoseconds() - (q->sent_at ? q->sent_at : q->arrived) < pause)
        return;
    burin_capture_add(&comment, ": still at work\n\n", 17);
    burin_stream_send(q, &comment);
}

static void tend_requests(burin_server *s) {
    uint64_t most = (uint64_t)s->limits.timeout * 1000000000u;
    for (burin_request *q = s->requests, *next; q; q = next) {
        next = q->next;
        if (q->http && !q->done && !burin_client_is_there(q)) q->gone = true;
        if (q->gone && q->http) evhttp_connection_free(evhttp_request_get_connection(q->http));
        if (!q->gone && !q->done && burin_nanoseconds() - q->arrived > most)
            burin_request_abort(q, 503, "the answer took longer than this server allows");
        if (!q->gone && q->done && q->http) q->api->finished(q);
        if (q->gone || q->done) {
            burin_request_close(q);
            continue;
        }
        keep_alive(q);
    }
}

static void say_memory(const burin_server *s) {
    const burin_model *m = s->model;
    char total[BURIN_MEMORY_TEXT];
    burin_options options = {.slots = s->jobs ? 1 : s->limits.slots,
                             .max_rows = s->base->session->step.max_rows};
    burin_memory_text(m, &options, s->base->context, total);
    if (s->jobs)
        burin_note("needs at most %s", total);
    else
        burin_note("%d answers at once, %d tokens each; needs at most %s", s->limits.slots,
                   s->base->context, total);
}

static void name_program(burin_server *s) {
    uint64_t options = burin_command_sum(s->command);
    int n = snprintf(s->fingerprint, sizeof s->fingerprint, "%s", s->model->identity);
    if (options != burin_hash_start)
        snprintf(s->fingerprint + n, sizeof s->fingerprint - (size_t)n, "-%016llx",
                 (unsigned long long)options);
    s->name = setting_of(s->command->server.alias, "BURIN_ALIAS", s->model->name);
}

// Answers take wrong guesses out of their slots, which recurrences do not allow.
static bool refuses_guesses(const burin_server *s) {
    const char *asked = s->command->draft;
    if (!burin_recurrence_bytes(s->model)) return false;
    if (asked && strcmp(asked, "none"))
        burin_stop(BURIN_BAD_COMMAND_LINE,
                   "--draft %.60s: this model has recurrences, which a server does not take back "
                   "after a wrong guess\nhint: --draft none",
                   asked);
    return true;
}

void burin_server_open(burin_server *s) {
    if (s->model->tokenizer_bytes || !s->jobs) s->tokenizer = burin_tokenizer_of(s->model);
    name_program(s);
    read_limits(s);
    size_t slots = (size_t)s->limits.slots;
    s->slots = burin_allocate(slots, sizeof *s->slots);
    for (size_t i = 0; i < slots; i++)
        s->slots[i].tokens = burin_allocate((size_t)s->base->context + 1, sizeof(int32_t));
    bool guesses = !s->jobs && !refuses_guesses(s);
    s->drafts = guesses ? burin_draft_source(s->base) : BURIN_NO_GUESSES;
    s->logit_rows = s->limits.slots + (s->drafts ? BURIN_MOST_GUESS_ROWS : 0);
    size_t wanted = (size_t)s->logit_rows;
    size_t rows = slots + (size_t)s->base->chunk;
    const burin_eyes *eyes = s->jobs ? NULL : s->model->eyes;
    if (eyes && eyes->sees_all && s->base->chunk < eyes->tile_rows)
        burin_stop(BURIN_USER_MISTAKE, "--chunk %d: the rows of a picture are more",
                   s->base->chunk);
    if (eyes) rows += (size_t)eyes->tile_rows;  // a picture's rows may be one more than fit
    if (eyes) s->vectors = burin_allocate(rows, sizeof *s->vectors);
    s->rows = burin_allocate(rows, sizeof *s->rows);
    s->wanted = burin_allocate(wanted, sizeof *s->wanted);
    s->logits = burin_allocate(wanted * (size_t)s->model->vocab_size, sizeof *s->logits);
    s->queue_end = &s->queue;
    s->started = burin_nanoseconds();
}

void burin_server_close(burin_server *s) {
    for (int32_t i = 0; i < s->limits.slots; i++) free(s->slots[i].tokens);
    free(s->slots), free(s->rows), free(s->vectors), free(s->wanted), free(s->logits);
}

static void open_events(burin_server *s) {
    limit_connections(s);
    s->events = event_base_new();
    burin_http_open(s);
    listen_for_requests(s);
    watch_signals(s);
    say_memory(s);
}

static void close_events(burin_server *s) {
    if (strchr(s->command->server.address, '/')) unlink(s->command->server.address);
    evhttp_free(s->http);  // and its listener
    event_free(s->retry);
    for (int i = 0; i < 2; i++) event_free(s->signals[i]);
    event_base_free(s->events);
}

int burin_server_run(burin_server *s) {
    const struct timeval tick = {1, 0};
    burin_server_open(s);
    if (!s->jobs) burin_store_open(s);
    open_events(s);
    for (bool works = false; !s->draining || s->n_requests || s->n_unsent;) {
        if (!works) event_base_loopexit(s->events, &tick), burin_store_keep_idle(s);
        event_base_loop(s->events, works ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
        tend_requests(s);
        works = s->jobs ? burin_job_step(s) : burin_server_step(s);
    }
    burin_store_close(s);
    close_events(s);
    burin_server_close(s);
    return 0;
}

int burin_serve(burin_run *run) {
    burin_server s = {
        .base = run, .model = run->model, .command = run->command, .routes = burin_routes};
    return burin_server_run(&s);
}
