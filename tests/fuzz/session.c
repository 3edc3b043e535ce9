// libFuzzer target: session files. The first bytes choose the sizes of the parts, checksums and
// identities are made right, and everything else comes from the input; a session that is accepted
// is read on, as are the turns and the text in it.
#include "engine/checksum.h"
#include "engine/saved.h"
#include "input.h"
#include "round_trip.h"
#include "runtime/template/template.h"
#include "runtime/text/session_format.h"
#include "tests/e2e/fake_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIZES = 8, SLOT_HEADER = 64, SLOT_SUM = 40, SUMMED_FROM = 16 };
static const burin_model fake = FAKE_MODEL;
static const char TOKENIZER[] =
    "{\"normalizer\":{\"type\":\"NFKC\"},\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\","
    "\"vocab\":{\"a\":0,\"b\":1}}}";
static Arena *kept;
static const void *tokenizer;
static burin_session *session;
static _Alignas(16) char render_memory[BURIN_RENDER_BYTES(65536)];

static void keep(Arena *arena, const char *path) {
    (void)arena;
    tokenizer = tokenizer_load(kept, path, 0)->blob;
}

static void open_all(void) {
    burin_options o = {.slots = 1, .max_rows = FAKE_ROWS, .threads = 1};
    size_t bytes = burin_session_bytes(&fake, &o);
    void *memory = aligned_alloc(BURIN_ALIGNMENT, bytes);
    kept = arena_new();
    fuzz_import((const uint8_t *)TOKENIZER, sizeof TOKENIZER - 1, keep);
    if (!tokenizer || burin_session_open(&session, &fake, &o, memory, bytes)) abort();
}

// The slot's magic, version, identity, sizes of its bytes and checksum, as saved.c lays them out.
static void correct_slot(char *slot, size_t bytes) {
    uint64_t payload = bytes - SLOT_HEADER, sum = 0;
    static char sample[SLOT_HEADER + sizeof(int32_t) * FAKE_CONTEXT];
    if (burin_slot_save(session, 0, sample, sizeof sample)) abort();
    memcpy(slot, sample, 24);
    memcpy(slot + 32, &payload, sizeof payload);
    memcpy(slot + SLOT_SUM, &sum, sizeof sum);
    sum = burin_checksum_of(slot, bytes);
    memcpy(slot + SLOT_SUM, &sum, sizeof sum);
}

static void correct_session(char *data, size_t bytes, const uint16_t sizes[4]) {
    burin_session_header h;
    memcpy(&h, data, sizeof h);
    memcpy(h.magic, "burin\nS2", sizeof h.magic);
    memcpy(h.identity, fake.identity, sizeof h.identity);
    h.bytes = bytes, h.tokens = sizes[0] % 80, h.read_bytes = sizes[1], h.turns_bytes = sizes[2];
    uint64_t rest = (uint64_t)h.tokens * sizeof(int32_t) + 2 * h.read_bytes + h.turns_bytes;
    h.slot_bytes = bytes - sizeof h - rest;
    if (rest + SLOT_HEADER <= bytes - sizeof h) correct_slot(data + sizeof h + rest, h.slot_bytes);
    for (int64_t i = 0; i < h.tokens && rest <= bytes - sizeof h; i++)
        data[sizeof h + 4 * (size_t)i + 2] = data[sizeof h + 4 * (size_t)i + 3] = 0;
    memcpy(data, &h, sizeof h);
    h.checksum = burin_checksum_of(data + SUMMED_FROM, bytes - SUMMED_FROM);
    memcpy(data, &h, sizeof h);
}

static void drop_turn(void *context, const char *role, const char *text, size_t bytes) {
    (void)context;
    if (strlen(role) + (bytes ? (unsigned char)text[bytes - 1] : 0) > 1 << 30) abort();
}

static void read_on(const char *data, const burin_session_header *h) {
    float logits[FAKE_VOCAB];
    char error[256];
    const char *read = data + sizeof *h + (size_t)h->tokens * sizeof(int32_t);
    burin_tokens tokens = burin_encode_text(
        tokenizer, &(burin_encoding){.text = read,
                                     .bytes = h->read_bytes,
                                     .marks = (const uint8_t *)read + h->read_bytes,
                                     .whole = true});
    free(tokens.id);
    const burin_message_reader reader = {drop_turn, drop_turn, NULL, render_memory,
                                         sizeof render_memory};
    burin_read_messages(&reader, "turns", read + 2 * h->read_bytes, h->turns_bytes, error,
                        sizeof error);
    if (burin_slot_load(session, 0, burin_session_slot(data, h), h->slot_bytes)) return;
    int32_t length = burin_slot_length(session, 0);
    burin_row row = {.token = 1, .position = length, .wants_logits = true};
    if (length < FAKE_CONTEXT && burin_forward(session, &row, 1, logits)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    burin_session_header h;
    uint16_t sizes[4];
    if (!kept) open_all();
    if (size < SIZES + sizeof h) return 0;
    Arena *arena = arena_new();
    memcpy(sizes, data, SIZES);
    size -= SIZES;
    char *bytes = arena_alloc(arena, size);
    memcpy(bytes, data + SIZES, size);
    if (!(sizes[3] & 1)) correct_session(bytes, size, sizes);
    if (!burin_session_check_bytes(&fake, bytes, size, &h)) read_on(bytes, &h);
    arena_free(arena);
    return 0;
}
