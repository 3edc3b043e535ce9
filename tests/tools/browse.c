// Opens a page in headless Chromium and evaluates expressions in it, over the pipes of its DevTools
// protocol. usage: browse CHROMIUM < LINES     "open PAGE" (a file, or one of the loopback), "width
// PIXELS", "shot FILE.png", or an expression, whose value is printed as a line Exit status 1, with
// the output, if the page logged or threw an error; 3 if Chromium does not answer.
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/text.h"

enum { PATIENCE = 30000, TO_BROWSER = 3, FROM_BROWSER = 4 };

static struct {
    pid_t pid;
    int in, out;
    Text read;
    char *session;
    int last_id, errors;
    bool loaded;
} browser;

static _Noreturn void give_up(const char *why) {
    fprintf(stderr, "browse: %s\n", why);
    if (browser.pid > 0) kill(-browser.pid, SIGKILL);
    exit(3);
}

static void start(const char *program, const char *profile) {
    int to[2], from[2];
    char data[4096];
    snprintf(data, sizeof data, "--user-data-dir=%s", profile);
    if (pipe(to) || pipe(from)) give_up("no pipe");
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // its helpers are this process's children once it has ended
    browser.pid = fork();
    if (!browser.pid) {
        setpgid(0, 0);
        int in = dup(to[0]), out = dup(from[1]);
        in = in < 10 ? dup2(in, 10) : in, out = out < 11 ? dup2(out, 11) : out;
        dup2(in, TO_BROWSER), dup2(out, FROM_BROWSER);
        if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "r", stdin)) _exit(127);
        execlp(program, program, "--headless", "--no-sandbox", "--disable-gpu",
               "--disable-dev-shm-usage", "--window-size=1400,1000", "--remote-debugging-pipe",
               data, (char *)NULL);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    browser.in = to[1], browser.out = from[0];
}

// All of its processes have ended afterwards: nothing writes into the profile any more.
static void end_browser(void) {
    enum { NAPS = 200, PATIENT = 100 };
    kill(-browser.pid, SIGTERM);
    for (int i = 0; i < NAPS; i++) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0) return;
        if (!ended) nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        if (i == PATIENT) kill(-browser.pid, SIGKILL);
    }
}

static int send_message(const char *method, json_t *parameters) {
    json_t *m = json_pack("{siss}", "id", ++browser.last_id, "method", method);
    json_object_set_new(m, "params", parameters ? parameters : json_object());
    if (browser.session) json_object_set_new(m, "sessionId", json_string(browser.session));
    char *text = json_dumps(m, JSON_COMPACT);
    size_t length = strlen(text) + 1;
    for (size_t sent = 0; sent < length;) {
        ssize_t n = write(browser.in, text + sent, length - sent);
        if (n <= 0) give_up("Chromium has gone");
        sent += (size_t)n;
    }
    free(text);
    json_decref(m);
    return browser.last_id;
}

// The next message, ended by a zero.
static json_t *receive(void) {
    for (;;) {
        char *end = browser.read.length ? memchr(browser.read.data, 0, browser.read.length) : NULL,
             some[1 << 16];
        if (end) {
            json_t *m = json_loads(browser.read.data, 0, NULL);
            size_t used = (size_t)(end - browser.read.data) + 1;
            memmove(browser.read.data, end + 1, browser.read.length - used);
            browser.read.length -= used;
            if (m) return m;
            continue;
        }
        struct pollfd p = {.fd = browser.out, .events = POLLIN};
        if (poll(&p, 1, PATIENCE) != 1) give_up("Chromium says nothing");
        ssize_t n = read(browser.out, some, sizeof some);
        if (n <= 0) give_up("Chromium has gone");
        text_append(&browser.read, some, (size_t)n);
    }
}

static void notice(const json_t *m) {
    const char *method = json_string_value(json_object_get(m, "method"));
    const json_t *parameters = json_object_get(m, "params");
    const char *level = json_string_value(
                   json_object_get(json_object_get(parameters, "entry"), "level")),
               *type = json_string_value(json_object_get(parameters, "type"));
    if (!method) return;
    bool logged = !strcmp(method, "Log.entryAdded") && level &&
                  (!strcmp(level, "error") || !strcmp(level, "warning"));
    bool called = !strcmp(method, "Runtime.consoleAPICalled") && type &&
                  (!strcmp(type, "error") || !strcmp(type, "assert"));
    if (!strcmp(method, "Page.loadEventFired")) browser.loaded = true;
    if (!logged && !called && strcmp(method, "Runtime.exceptionThrown")) return;
    char *text = json_dumps(m, JSON_COMPACT);
    fprintf(stderr, "browse: %.2000s\n", text);
    free(text);
    browser.errors++;
}

// The answer's "result"; the caller decrefs it.
static json_t *ask(const char *method, json_t *parameters) {
    int id = send_message(method, parameters);
    for (;;) {
        json_t *m = receive();
        notice(m);
        if (json_integer_value(json_object_get(m, "id")) == id) {
            json_t *result = json_incref(json_object_get(m, "result"));
            json_decref(m);
            return result;
        }
        json_decref(m);
    }
}

static void open_page(const char *page) {
    char url[4096], path[4096];
    bool served = !strncmp(page, "http://127.0.0.1:", strlen("http://127.0.0.1:"));
    if (!served && !realpath(page, path)) give_up("there is no such page");
    snprintf(url, sizeof url, "%s%.4000s", served ? "" : "file://", served ? page : path);
    browser.session = NULL, browser.loaded = false;
    json_t *target = ask("Target.createTarget", json_pack("{ss}", "url", "about:blank"));
    json_t *attached =
        ask("Target.attachToTarget",
            json_pack("{sssb}", "targetId", json_string_value(json_object_get(target, "targetId")),
                      "flatten", 1));
    const char *session = json_string_value(json_object_get(attached, "sessionId"));
    if (!session) give_up("no session");
    browser.session = strdup(session);
    json_decref(target), json_decref(attached);
    static const char *const domains[] = {"Runtime.enable", "Log.enable", "Page.enable"};
    for (int i = 0; i < 3; i++) json_decref(ask(domains[i], NULL));
    json_decref(ask("Page.navigate", json_pack("{ss}", "url", url)));
    while (!browser.loaded) {
        json_t *m = receive();
        notice(m);
        json_decref(m);
    }
}

static void evaluate(const char *expression) {
    json_t *r = ask("Runtime.evaluate", json_pack("{sssbsb}", "expression", expression,
                                                  "returnByValue", 1, "awaitPromise", 1));
    json_t *value = json_object_get(json_object_get(r, "result"), "value");
    char *text = json_is_string(value) ? strdup(json_string_value(value))
                 : value               ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT)
                                       : NULL;
    if (json_object_get(r, "exceptionDetails")) browser.errors++;
    puts(json_object_get(r, "exceptionDetails") ? "threw" : text ? text : "nothing");
    free(text);
    json_decref(r);
}

static void write_screenshot(const char *path) {
    json_t *r = ask("Page.captureScreenshot", json_pack("{ss}", "format", "png"));
    const char *data = json_string_value(json_object_get(r, "data"));
    FILE *f = data ? fopen(path, "wb") : NULL;
    if (!f) give_up("no screenshot");
    unsigned bits = 0, have = 0;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (const char *at; *data && (at = strchr(digits, *data)); data++) {
        bits = bits << 6 | (unsigned)(at - digits), have += 6;
        if (have >= 8) have -= 8, fputc((int)(bits >> have & 255), f);
    }
    fclose(f);
    json_decref(r);
}

static void set_width(int width) {
    json_decref(ask("Emulation.setDeviceMetricsOverride",
                    json_pack("{sisisisb}", "width", width, "height", 800, "deviceScaleFactor", 1,
                              "mobile", width < 600)));
}

static void obey(const char *line) {
    if (!strncmp(line, "open ", 5))
        open_page(line + 5);
    else if (!strncmp(line, "shot ", 5))
        write_screenshot(line + 5);
    else if (!strncmp(line, "width ", 6))
        set_width(atoi(line + 6));
    else if (*line)
        evaluate(line);
}

int main(int argc, char **argv) {
    char line[1 << 16], profile[] = "/tmp/burin-browse.XXXXXX", remove[128];
    if (argc != 2 || !mkdtemp(profile)) return 2;
    signal(SIGPIPE, SIG_IGN);
    start(argv[1], profile);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        obey(line);
    }
    end_browser();
    snprintf(remove, sizeof remove, "rm -rf %s", profile);
    return system(remove) || browser.errors ? 1 : 0;
}
