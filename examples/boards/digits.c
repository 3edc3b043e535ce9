// The digits network on a microcontroller: 64 images, the digit that each shows, the hash of all
// logits (`digits --hash` gives the same on any computer), and the memory that it took.
#include "digits.h"

#include "board.h"

enum { IMAGES = 64 };
static _Alignas(64) unsigned char memory[128 << 10];
extern const float images[IMAGES][64];

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

static uint32_t largest(const float *logits) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < 10; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int main(void) {
    digits_options options = {.threads = 1};
    digits_state state;
    char text[IMAGES + 1] = {0};
    uint64_t hash = 0xcbf29ce484222325;
    int status = digits_init(&state, &options, memory, sizeof memory);
    for (int i = 0; i < IMAGES && !status; i++) {
        float logits[10];
        status = digits_run(&state, (const void *[]){images[i]}, (int64_t[]){1, 1, 8, 8},
                            (void *[]){logits});
        hash = hash_bytes(hash, logits, sizeof logits);
        text[i] = (char)('0' + largest(logits));
    }
    board_write(status ? digits_error_text(status) : text);
    board_write_number("\nstate ", (uint32_t)digits_state_bytes(&options), " bytes, ");
    board_write_number("stack ", board_stack_used(), " bytes\nhash ");
    board_write_hash(hash);
    return status;
}
