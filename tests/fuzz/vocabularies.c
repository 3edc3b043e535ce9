// libFuzzer target: vocabularies with the folder's settings for cutting texts. The first byte names
// the file ('w' vocab.txt, 'v' vocab.json, 's' SentencePiece's, 't' tiktoken's, 'k' tekken.json),
// tokenizer_config.json follows up to a zero byte, then the file itself; after a second zero byte
// the merges.txt of a vocab.json.
#include <stdlib.h>

#include "input.h"
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/burin-fuzz.XXXXXX";

static void remove_folder(void) {
    (void)!chdir("/");
    rmdir(folder);
}

static void write_beside(const char *name, const uint8_t *data, size_t size) {
    FILE *f = fopen(name, "w");
    if (!f || (size && fwrite(data, 1, size, f) != size) || fclose(f)) abort();
}

static const char *name_of(uint8_t kind) {
    return kind == 'w'   ? "vocab.txt"
           : kind == 'v' ? "vocab.json"
           : kind == 's' ? "tokenizer.model"
           : kind == 't' ? "qwen.tiktoken"
                         : "tekken.json";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool made;
    if (!made && (!mkdtemp(folder) || chdir(folder) || atexit(remove_folder))) abort();
    made = true;
    const uint8_t *end = data + size, *zero = size ? memchr(data, 0, size) : NULL;
    if (!zero) return 0;
    const uint8_t *second = *data == 'v' ? memchr(zero + 1, 0, (size_t)(end - zero - 1)) : NULL;
    const char *name = name_of(*data);
    if (zero > data + 1) write_beside("tokenizer_config.json", data + 1, (size_t)(zero - data - 1));
    if (second) write_beside("merges.txt", second + 1, (size_t)(end - second - 1));
    write_beside(name, zero + 1, (size_t)((second ? second : end) - zero - 1));
    Arena *volatile arena = arena_new();
    if (!setjmp(*diag_guard())) round_trip(arena, arena_printf(arena, "%s/%s", folder, name));
    diag_unguard();
    arena_free(arena);
    unlink("tokenizer_config.json"), unlink("merges.txt"), unlink(name);
    return 0;
}
