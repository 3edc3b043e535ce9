#include "build/server.h"

#include <string.h>

#include "build/optional_library.h"
#include "toolchain/cache.h"
#include "util/text.h"

static const OptionalLibrary libevent = {
    .option = "--with=server",
    .header = "event2/http.h",
    .archive = "libevent_extra.a",
    .probe =
        "#include <event2/event.h>\n#include <event2/http.h>\n"
        "int main(void) { return !evhttp_new(event_base_new()); }\n",
    .lists = {"-levent_extra -levent_core"},
    .package = "libevent-dev",
    .name = "libevent",
    .without = "leave it out, or build the server on a machine of that kind",
};

bool server_is_asked_for(const Options *o) { return o->with && !strcmp(o->with, "server"); }

void server_check(const Build *b, const char *output) {
    if (server_is_asked_for(b->options)) optional_library_check(b, &libevent, output);
}

bool server_has_use(const Build *b) {
    bool reads_alone = !b->program->encoder || b->module->eyes;
    bool tokens = is_decoder(b->program) && reads_alone && b->tokenizer;
    return tokens || b->embeds || b->labels || b->module->speech || b->speaks || b->hears;
}

void server_choose(Build *b) {
    if (server_is_asked_for(b->options) && server_has_use(b))
        b->tools.server = optional_library_words(b, &libevent);
}

uint64_t server_key(const Build *b, uint64_t hash) {
    return server_is_asked_for(b->options)
               ? hash_text(optional_library_path(b, &libevent), hash + 1)
               : hash;
}
