// libFuzzer target: folders of Hugging Face, quantized ones too: every tensor that config.json and
// the headers of safetensors promise. Parts end with a zero byte: '1', config.json, the header of
// model.safetensors, its data; or '2', config.json, model.safetensors.index.json, the headers of
// model-1.safetensors and model-2.safetensors, their data. Data is repeated to the header's size.
#include <jansson.h>

#include "frontend/checkpoint.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/burin-fuzz.XXXXXX", library[4096];

static void remove_folder(void) {
    (void)!chdir("/");
    rmdir(folder);
}

static void open_folder(void) {
    static bool made;
    if (made) return;
    if (!realpath("dsl", library) || !mkdtemp(folder) || chdir(folder) || atexit(remove_folder))
        abort();
    made = true;
}

typedef struct Part {
    const uint8_t *text;
    size_t bytes;
} Part;

static Part next_part(Part *rest) {
    const uint8_t *zero = rest->bytes ? memchr(rest->text, 0, rest->bytes) : NULL;
    Part part = {rest->text, zero ? (size_t)(zero - rest->text) : rest->bytes};
    size_t used = part.bytes + !!zero;
    *rest = (Part){rest->text + used, rest->bytes - used};
    return part;
}

static FILE *open_file(const char *name) {
    FILE *f = fopen(name, "w");
    if (!f) abort();
    return f;
}

static void close_file(FILE *f) {
    if (ferror(f) || fclose(f)) abort();
}

static void write_part(const char *name, Part part) {
    if (!part.bytes) return;
    FILE *f = open_file(name);
    fwrite(part.text, 1, part.bytes, f);
    close_file(f);
}

// The largest end of a tensor, when that is not too much for a fuzzer.
static size_t promised_bytes(Part header) {
    enum { MOST = 1 << 18 };
    const char *name;
    json_t *all = json_loadb((const char *)header.text, header.bytes, 0, NULL), *tensor;
    json_int_t most = 0;
    json_object_foreach(all, name, tensor) {
        json_int_t end =
            json_integer_value(json_array_get(json_object_get(tensor, "data_offsets"), 1));
        most = end > most ? end : most;
    }
    json_decref(all);
    return most > MOST ? MOST : (size_t)most;
}

static void write_weights(const char *name, Part header, Part data) {
    FILE *f = open_file(name);
    uint64_t length = header.bytes;
    fwrite(&length, sizeof length, 1, f);
    fwrite(header.text, 1, header.bytes, f);
    for (size_t i = 0, n = promised_bytes(header); i < n; i++)
        fputc(data.bytes ? data.text[i % data.bytes] : 0, f);
    close_file(f);
}

static void read_checkpoint(Arena *arena) {
    Checkpoint *c = checkpoint_open(arena, ".", library);
    checkpoint_special_tokens(c);
    checkpoint_read_quantized(c);
    volatile unsigned char last = 0;
    for (int i = 0; i < c->n_tensors; i++) {
        uint64_t bytes;
        checkpoint_stored_type(c, c->tensors[i], &bytes);
        const Tensor *t = checkpoint_find(c, c->tensors[i]->name);
        if (t && t->order) t = checkpoint_as_floats(c, t);
        if (t && t->bytes) last = ((const unsigned char *)t->data)[t->bytes - 1];
    }
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    open_folder();
    Part rest = {data + 1, size - 1};
    write_part("config.json", next_part(&rest));
    if (*data == '2') {
        write_part("model.safetensors.index.json", next_part(&rest));
        Part first = next_part(&rest), second = next_part(&rest);
        write_weights("model-1.safetensors", first, rest),
            write_weights("model-2.safetensors", second, rest);
    } else {
        Part header = next_part(&rest);
        write_weights("model.safetensors", header, rest);
    }
    Arena *volatile arena = arena_new();
    if (!setjmp(*diag_guard())) read_checkpoint(arena);
    diag_unguard();
    arena_free(arena);
    const char *names[] = {"config.json", "model.safetensors.index.json", "model.safetensors",
                           "model-1.safetensors", "model-2.safetensors"};
    for (int i = 0; i < 5; i++) unlink(names[i]);
    return 0;
}
