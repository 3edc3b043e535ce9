// libFuzzer target: tokenizers by their content (tokenizer.json, tokenizer.bin, a GGUF's vocabulary), compiled, then used by
// the runtime on a text of several scripts, and back.
#include "input.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_import(data, size, round_trip);
    return 0;
}
