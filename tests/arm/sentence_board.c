// An encoder on a microcontroller, as examples/boards has digits. Its inputs are i32[n]: the first
// the numbers of TOKENS (a file, with commas), the others zeros or ones, the model's defaults. The
// hash of its outputs (`--hash` gives the same on any computer), and memory.
#include "board.h"
#include "sentence.h"

extern unsigned char ram_free[], ram_end[];
static const int32_t tokens[] = {
#include TOKENS
};
enum { LENGTH = sizeof tokens / sizeof *tokens, MOST_INPUTS = 4, MOST_OUTPUTS = 4 };
static int32_t rest[MOST_INPUTS][LENGTH];
static float results[MOST_OUTPUTS][1 << 14];

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

static uint64_t hash_outputs(const int64_t *dims) {
    int n;
    const sentence_tensor *outputs = sentence_outputs(&n);
    uint64_t hash = 0xcbf29ce484222325;
    for (int i = 0; i < n; i++) {
        size_t count = 1;
        for (int j = 0; j < outputs[i].rank; j++) count *= (size_t)*dims++;
        hash = hash_bytes(hash, results[i], count * sizeof(float));
    }
    return hash;
}

static int run(sentence_state *state, int64_t *output_dims) {
    int64_t dims[MOST_INPUTS] = {LENGTH};
    const void *inputs[MOST_INPUTS] = {tokens};
    sentence_options options = {.threads = 1, .dims = dims};
    int n;
    const sentence_tensor *tensors = sentence_inputs(&n);
    for (int i = 1; i < n; i++) {
        dims[i] = LENGTH, inputs[i] = rest[i];
        for (int j = 0; j < LENGTH; j++) rest[i][j] = tensors[i].usually == sentence_ONES;
    }
    int status = sentence_init(state, &options, ram_free, (size_t)(ram_end - ram_free));
    if (!status) status = sentence_shapes(dims, output_dims);
    if (!status)
        status = sentence_run(state, inputs, dims,
                              (void *[]){results[0], results[1], results[2], results[3]});
    board_write_number("state ", (uint32_t)sentence_state_bytes(&options), " bytes, ");
    return status;
}

int main(void) {
    int64_t output_dims[8 * MOST_OUTPUTS];
    sentence_state state;
    int status = run(&state, output_dims);
    if (status) board_write(sentence_error_text(status));
    board_write_number("stack ", board_stack_used(), " bytes\nhash ");
    board_write_hash(status ? 0 : hash_outputs(output_dims));
    return status;
}
