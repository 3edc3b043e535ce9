// Sessions whose checksum is right and whose numbers are not: broken_sessions PROGRAM SESSION
// SCRATCH-FILE. Each must be refused with status 1 and a message.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "runtime/engine/checksum.h"

enum { SUM = 8, BYTES = 16, READ = 24, TURNS = 32, SLOT = 40, TOKENS = 112, FIRST_TOKEN = 120 };

static unsigned char session[1 << 24], changed[1 << 24];
static size_t bytes;

static void put(size_t at, uint64_t value, size_t n) { memcpy(changed + at, &value, n); }
static uint64_t get(size_t at) {
    uint64_t value;
    memcpy(&value, session + at, sizeof value);
    return value;
}

static int refused(const char *program, const char *path, size_t n, const char *what) {
    char command[4096];
    put(SUM, burin_checksum_of(changed + BYTES, n - BYTES), 8);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(changed, 1, n, file) != n || fclose(file)) exit(2);
    snprintf(command, sizeof command,
             "'%s' -n 3 --session '%s' < /dev/null 2>&1 | grep -q -e '--session %s: '", program,
             path, path);
    int status = system(command);
    if (status) printf("%s: not refused\n", what);
    memcpy(changed, session, bytes);
    return !status;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    FILE *file = fopen(argv[2], "rb");
    bytes = file ? fread(session, 1, sizeof session, file) : 0;
    if (bytes < FIRST_TOKEN || bytes == sizeof session) return 2;
    memcpy(changed, session, bytes);
    static const struct change {
        const char *what;
        size_t at;
        uint64_t value;
    } changes[] = {
        {"no tokens", TOKENS, 0},
        {"fewer tokens than 0", TOKENS, ~0ull},
        {"2^62 tokens", TOKENS, 1ull << 62},
        {"2^64 - 1 of text", READ, ~0ull},
        {"2^63 of turns", TURNS, 1ull << 63},
        {"no slot", SLOT, 0},
        {"a slot of 2^64 - 4", SLOT, ~3ull},
        {"other bytes", BYTES, 1},
    };
    int all = 1;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        put(changes[i].at, changes[i].value, 8);
        all &= refused(argv[1], argv[3], bytes, changes[i].what);
    }
    put(FIRST_TOKEN, 0x7fffffff, 4);
    all &= refused(argv[1], argv[3], bytes, "a token outside of the vocabulary");
    put(FIRST_TOKEN, 0xffffffff, 4);
    all &= refused(argv[1], argv[3], bytes, "a token below 0");
    size_t slot = FIRST_TOKEN + (size_t)get(TOKENS) * 4 + (size_t)(2 * get(READ) + get(TURNS));
    for (size_t at = slot; at < slot + 40; at += 4) {
        put(at, 0x01000000, 4);
        all &= refused(argv[1], argv[3], bytes, "the header of the slot");
    }
    // Fewer tokens than the slot has read: a former token is text now.
    put(TOKENS, 1, 8);
    put(READ, get(READ) + 2 * (get(TOKENS) - 1), 8);
    all &= refused(argv[1], argv[3], bytes, "a slot that is longer than its tokens");
    return !all;
}
