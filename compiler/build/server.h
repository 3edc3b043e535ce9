// --with=server: whether a program is linked with runtime/server and libevent.
#ifndef BURIN_BUILD_SERVER_H
#define BURIN_BUILD_SERVER_H
#include "build/build.h"

bool server_is_asked_for(const Options *);
// --with=server for an output that cannot have it, or where there is no libevent, ends the run.
void server_check(const Build *, const char *output);
bool server_has_use(
    const Build *);  // the program writes text, embeds texts or labels them; kernels are made
void server_choose(Build *);  // sets tools.server; clang is found
// Hash of the choice and of the library's path, for the key of a program.
uint64_t server_key(const Build *, uint64_t hash);
#endif
