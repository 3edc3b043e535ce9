// libFuzzer target: requests to a server over a socket, as bytes: HTTP, JSON, and
// prompts, settings, grammars and answers of a fake model. A request that starts with / gets
// a head of its own: its path up to a blank, then the body.
#define BURIN_SERVER 1
#include "api/anthropic.c"
#include "api/completions.c"
#include "api/encoders.c"
#include "api/responses.c"
#include "api/routes.c"
#include "api/sounds.c"
#include "api/state.c"
#include "api/stream.c"
#include "api/texts.c"
#include "engine/threads.h"
#include "frontend/template.h"
#include "input.h"
#include "round_trip.h"
#include "server/answers.c"
#include "server/body.c"
#include "server/drafts.c"
#include "server/forms.c"
#include "server/http.c"
#include "server/multipart.c"
#include "server/pictures.c"
#include "server/plain_tools.c"
#include "server/prompt.c"
#include "server/receipt.c"
#include "server/schedule.c"
#include "server/serve.c"
#include "server/settings.c"
#include "server/store.c"
#include "tests/e2e/fake_model.h"
#include "util/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_WEIGHTS = 1 << 20, MOST_TURNS = 2000 };
static const char TEMPLATE[] =
    "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}<s>{{ m.role }} {{ "
    "m.content }}{% for call in m.tool_calls or [] %}{\"name\": \"{{ call.function.name }}\", "
    "\"parameters\": {{ call.function.arguments | tojson }}}{% endfor %}</s>{% endfor %}<s>";
static _Alignas(64) unsigned char weights[MOST_WEIGHTS];
static const unsigned char *weights_of(void) { return weights; }
static burin_model model = FAKE_MODEL;
static Arena *kept;
static burin_server server;
static burin_command command;
static char folder[64], address[96];

static size_t add_weights(const void *blob, size_t bytes) {
    static size_t used = 64;
    size_t at = used;
    if (!blob || bytes > sizeof weights - used) abort();
    memcpy(weights + at, blob, bytes);
    used += (bytes + 63) / 64 * 64;
    return at;
}

static void keep_tokenizer(Arena *arena, const char *path) {
    (void)arena;
    const Tokenizer *t = tokenizer_load(kept, path, FAKE_VOCAB);
    model.tokenizer_offset = add_weights(t->blob, t->bytes), model.tokenizer_bytes = t->bytes;
}

// Two special tokens and a token for each byte.
static void add_tokenizer(void) {
    Text json = {0};
    text_add(&json,
             "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true},"
             "{\"id\":1,\"content\":\"</s>\",\"special\":true}],\"decoder\":{\"type\":"
             "\"ByteFallback\"},\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,"
             "\"merges\":[],\"vocab\":{\"<s>\":0,\"</s>\":1");
    for (int i = 0; i < 256; i++) text_add(&json, ",\"<0x%02X>\":%d", i, i + 2);
    text_add(&json, "}}}");
    fuzz_import((const uint8_t *)json.data, json.length, keep_tokenizer);
    text_free(&json);
}

static void add_template(void) {
    TemplateText text = {.source = template_source(kept, "fuzz", TEMPLATE, sizeof TEMPLATE - 1),
                         .eos = "</s>"};
    CompiledTemplate compiled = template_compile(kept, &text);
    model.template_offset = add_weights(compiled.blob, compiled.bytes);
    model.template_bytes = compiled.bytes;
}

static void open_all(void) {
    static burin_run run;
    static char name[] = "fuzz", *argv[] = {name, NULL};
    kept = arena_new();
    model.weights = weights_of;
    add_tokenizer();
    add_template();
    snprintf(folder, sizeof folder, "/tmp/burin-fuzz-%d", (int)getpid());
    snprintf(address, sizeof address, "%s/socket", folder);
    if (mkdir(folder, 0700)) abort();
    command = burin_command_line(BURIN_DECODER, 1, argv);
    command.threads = 1, command.draft = "lookup";
    command.server = (burin_server_options){.address = address,
                                            .slot_save_path = folder,
                                            .log_format = "none",
                                            .cache_ram = 1,
                                            .show_slots = true,
                                            .metrics = true,
                                            .port = -1,
                                            .queue = 8,
                                            .max_tokens = 40,
                                            .slots = 2};
    run = (burin_run){.model = &model, .command = &command, .context = FAKE_CONTEXT};
    run.chunk = FAKE_ROWS,
    run.session = burin_open(&model, &command, &(burin_options){.slots = 2, .max_rows = FAKE_ROWS});
    server =
        (burin_server){.base = &run, .model = &model, .command = &command, .routes = burin_routes};
    burin_server_open(&server);
    burin_store_open(&server);
    open_events(&server);
}

static int connect_to_server(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(to.sun_path, address, strlen(address) + 1);
    if (file < 0 || connect(file, (struct sockaddr *)&to, sizeof to)) abort();
    return file;
}

static void send_request(int file, const uint8_t *data, size_t size) {
    size_t path = 0;
    while (*data == '/' && path < size && data[path] > ' ' && data[path] < 127) path++;
    if (path && path < size) {
        char head[256];
        size_t bytes = size - path - 1;
        int n = snprintf(head, sizeof head,
                         "POST %.*s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n",
                         (int)(path < 100 ? path : 100), data, bytes);
        burin_write_all(file, head, (size_t)n);
        data += path + 1, size = bytes;
    }
    burin_write_all(file, data, size);
}

// Events and steps in turn, as burin_server_run has them, until nothing is left to do.
static void serve_all(int file) {
    static char reply[1 << 16];
    int idle = 0;
    for (int i = 0; i < MOST_TURNS && idle < 3; i++) {
        event_base_loop(server.events, EVLOOP_NONBLOCK);
        tend_requests(&server);
        bool works = burin_server_step(&server);
        bool received = recv(file, reply, sizeof reply, MSG_DONTWAIT) > 0;
        idle = works || received || server.n_requests || server.n_unsent ? 0 : idle + 1;
    }
    if (idle < 3) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!kept) open_all();
    if (!size) return 0;
    int file = connect_to_server();
    send_request(file, data, size);
    serve_all(file);
    close(file);
    for (int i = 0; i < 4; i++)
        event_base_loop(server.events, EVLOOP_NONBLOCK), tend_requests(&server);
    return 0;
}
