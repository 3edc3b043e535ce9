// Sends requests to a server on the loopback, some at a time, and prints their replies in the order
// of the requests, one a line: the status, then the body, with run-dependent numbers set to 0.
// usage: http_client PORT AT_ONCE [HEADER ...] < REQUESTS A line of REQUESTS is METHOD PATH BODY;
// with !N in front the client leaves after N bytes of the reply, and prints "gone".
//        http_client PORT idle N < REQUESTS asks while N silent connections are open
//        http_client PORT slow SECONDS < BYTES reads the reply slowly at first
//        http_client PORT raw [SECONDS] < BYTES sends the bytes as they are, and prints the reply until the server closes, or
//        until it is silent for this long (1)
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_REQUESTS = 4096, MOST_THREADS = 64 };

typedef struct text {
    char *data;
    size_t n, room;
} text;

static char *requests[MOST_REQUESTS];
static text replies[MOST_REQUESTS];
static int n_requests, next_request, port, n_headers;
static char **headers;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(text *t, const char *data, size_t n) {
    if (t->n + n + 1 > t->room) t->data = realloc(t->data, t->room = 2 * t->room + n + 1);
    if (!t->data) exit(2);
    memcpy(t->data + t->n, data, n);
    t->n += n;
    t->data[t->n] = 0;
}

static void add_words(text *t, const char *words) { add(t, words, strlen(words)); }

static int connect_to(double seconds) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {(time_t)seconds,
                            (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)};
    int file = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (file < 0 || connect(file, (struct sockaddr *)&address, sizeof address)) {
        perror("http_client: connect");
        exit(2);
    }
    return file;
}

static void send_all(int file, const char *data, size_t n) {
    while (n) {
        ssize_t sent = send(file, data, n, MSG_NOSIGNAL);
        if (sent <= 0) return;
        data += sent, n -= (size_t)sent;
    }
}

// Until the server closes, or this many bytes have arrived.
static void receive(int file, text *reply, size_t most) {
    char block[4096];
    ssize_t n;
    add(reply, "", 0);
    while (reply->n < most && (n = recv(file, block, sizeof block, 0)) > 0)
        add(reply, block, (size_t)n);
}

static void send_request(int file, const char *line) {
    const char *path = strchr(line, ' '), *body = path ? strchr(path + 1, ' ') : NULL;
    text out = {0};
    char length[64];
    if (!path) exit(2);
    add(&out, line, body ? (size_t)(body - line) : strlen(line));
    add_words(&out, " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
    for (int i = 0; i < n_headers; i++) add_words(&out, headers[i]), add_words(&out, "\r\n");
    if (body) {
        snprintf(length, sizeof length, "Content-Length: %zu\r\n", strlen(body + 1));
        add_words(&out, length);
        add_words(&out, "Content-Type: application/json\r\n");
    }
    add_words(&out, "\r\n");
    if (body) add_words(&out, body + 1);
    send_all(file, out.data, out.n);
    free(out.data);
}

// The body without its chunks' lengths.
static text body_of(const text *reply) {
    text body = {0};
    char *at = strstr(reply->data, "\r\n\r\n"), *end = reply->data + reply->n;
    add(&body, "", 0);
    if (!at) return body;
    bool chunked = memmem(reply->data, (size_t)(at - reply->data), "chunked", 7) != NULL;
    at += 4;
    if (!chunked) add(&body, at, (size_t)(end - at));
    while (chunked && at < end) {
        size_t n = strtoul(at, &at, 16);
        if (!n || at + 2 + n > end) break;
        add(&body, at + 2, n);
        at += 2 + n + 2;
    }
    return body;
}

// Digits after a name become one 0.
static void set_to_zero(text *t, const char *name) {
    for (char *at = t->data; (at = strstr(at, name)); at++) {
        char *digits = at + strlen(name);
        size_t n = strspn(digits, "0123456789");
        if (!n) continue;
        *digits = '0';
        memmove(digits + 1, digits + n, strlen(digits + n) + 1);
    }
    t->n = strlen(t->data);
}

static void answer(int i) {
    const char *line = requests[i];
    size_t most = SIZE_MAX;
    text reply = {0};
    if (*line == '!') most = strtoul(line + 1, (char **)&line, 10), line++;
    int file = connect_to(120);
    send_request(file, line);
    receive(file, &reply, most);
    close(file);
    if (most != SIZE_MAX) {
        add(&replies[i], "gone", 4);
    } else {
        text body = body_of(&reply);
        set_to_zero(&body, "\"created\": "), set_to_zero(&body, "\"created_at\": "),
            set_to_zero(&body, "\"cached_tokens\": ");
        set_to_zero(&body, "\"cache_read_input_tokens\": "),
            set_to_zero(&body, "\"input_tokens\": ");
        for (char *c = body.data; *c; c++) *c = *c == '\n' ? '~' : *c;
        add(&replies[i], reply.n > 12 ? reply.data + 9 : "000", 3);
        add(&replies[i], " ", 1);
        add(&replies[i], body.data, body.n);
        free(body.data);
    }
    free(reply.data);
}

static void *work(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
        int i = next_request++;
        pthread_mutex_unlock(&lock);
        if (i >= n_requests) return unused;
        answer(i);
    }
}

static int send_raw(double seconds) {
    char block[4096];
    size_t n;
    text reply = {0};
    int file = connect_to(seconds);
    while ((n = fread(block, 1, sizeof block, stdin))) send_all(file, block, n);
    receive(file, &reply, SIZE_MAX);
    fwrite(reply.data, 1, reply.n, stdout);
    close(file);
    return 0;
}

// Opens n connections that say nothing, then asks as ever.
static void open_idle(int n) {
    for (int i = 0; i < n; i++) connect_to(10);
}

// Reads some bytes at a time, with pauses that add up to this many seconds, then the rest.
static int read_slowly(double seconds) {
    char block[64];
    text out = {0}, reply = {0};
    size_t n;
    while ((n = fread(block, 1, sizeof block, stdin))) add(&out, block, n);
    int file = connect_to(30), small = 2048;
    setsockopt(file, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    send_all(file, out.data, out.n);
    for (int i = 0; i < 20; i++) {
        ssize_t got = recv(file, block, sizeof block, 0);
        if (got > 0) add(&reply, block, (size_t)got);
        usleep((useconds_t)(seconds / 20 * 1e6));
    }
    receive(file, &reply, SIZE_MAX);
    fwrite(reply.data, 1, reply.n, stdout);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[MOST_THREADS];
    size_t room = 0;
    if (argc < 3) return 2;
    signal(SIGPIPE, SIG_IGN);
    port = atoi(argv[1]);
    if (!strcmp(argv[2], "raw")) return send_raw(argc > 3 ? atof(argv[3]) : 1);
    if (!strcmp(argv[2], "slow")) return read_slowly(argc > 3 ? atof(argv[3]) : 1);
    if (!strcmp(argv[2], "idle") && argc == 4) open_idle(atoi(argv[3])), argv[2] = "1", argc = 3;
    int at_once = atoi(argv[2]);
    headers = argv + 3, n_headers = argc - 3;
    for (ssize_t n;
         n_requests < MOST_REQUESTS && (n = getline(&requests[n_requests], &room, stdin)) > 0;
         room = 0) {
        if (requests[n_requests][n - 1] == '\n') requests[n_requests][n - 1] = 0;
        if (*requests[n_requests]) n_requests++;
    }
    if (at_once < 1 || at_once > MOST_THREADS) return 2;
    for (int i = 0; i < at_once; i++)
        if (pthread_create(&threads[i], NULL, work, NULL)) return 2;
    for (int i = 0; i < at_once; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < n_requests; i++) printf("%s\n", replies[i].data);
    return 0;
}
