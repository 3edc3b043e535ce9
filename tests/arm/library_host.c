// Runs the network of tiny.h and prints a hash of its bits: under an operating system, or on a
// board of examples/boards (BOARD).
#include <stdalign.h>
#include <stdint.h>

#include "tiny.h"
#ifdef BOARD
#include "board.h"
#else
#include <inttypes.h>
#include <stdio.h>
#endif

static alignas(tiny_ALIGNMENT) unsigned char memory[64 << 10];

int main(void) {
    tiny_state state;
    float x[2][6], y[2][5] = {{0}};
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < 12; i++) x[i / 6][i % 6] = (float)(i - 5) / 3;
    int status = tiny_init(&state, &(tiny_options){.threads = 1}, memory, sizeof memory);
    if (!status) status = tiny_run(&state, (const void *[]){x}, (int64_t[]){2, 6}, (void *[]){y});
    if (!status) tiny_close(&state);
    for (unsigned i = 0; i < sizeof y; i++)
        hash = (hash ^ ((const unsigned char *)y)[i]) * 0x100000001b3;
#ifdef BOARD
    board_write("hash "), board_write_hash(hash);
#else
    printf("hash %016" PRIx64 "\n", hash);
#endif
    return status;
}
