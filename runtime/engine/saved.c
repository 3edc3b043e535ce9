#include "saved.h"

#include <string.h>

#include "checksum.h"
#include "picture.h"

enum { SAVED_MAGIC = 0x544f4c53, SAVED_VERSION = 2, POSITIONS = BURIN_STATE_BLOCK };  // "SLOT"

typedef struct saved_header {
    uint32_t magic, version;
    char identity[16];
    int32_t length, source_length;
    uint64_t bytes, checksum;  // bytes: after the header; checksum: of everything else
    int32_t reached;
    unsigned char unused[12];
} saved_header;

_Static_assert(sizeof(saved_header) == 64, "states follow aligned");

static size_t blocks_of_length(const burin_state_part *p, const saved_header *h) {
    return ((size_t)(p->of_source ? h->source_length : h->length) + POSITIONS - 1) / POSITIONS;
}

static size_t saved_blocks(const burin_state_part *p, const saved_header *h) {
    return burin_state_blocks(p, h->length, h->source_length);
}

// The times of a slot whose pictures have rows in a grid.
static size_t axes_bytes(const burin_model *m, const saved_header *h) {
    return m->eyes && m->eyes->axes ? (size_t)h->length * sizeof(int32_t) : 0;
}

static int32_t *axes_of_slot(const burin_session *s, int32_t slot) {
    return s->next_axis + (size_t)slot * (size_t)s->model->context;
}

static uint64_t payload_bytes(const burin_model *m, const saved_header *h) {
    uint64_t bytes = 0;
    for (int i = 0; i < m->n_states; i++)
        bytes += (uint64_t)m->states[i].parts * saved_blocks(&m->states[i], h) *
                 m->states[i].block_bytes;
    return bytes + axes_bytes(m, h);
}

static saved_header saved_header_of(const burin_session *s, int32_t slot) {
    saved_header h = {.magic = SAVED_MAGIC,
                      .version = SAVED_VERSION,
                      .length = s->length[slot],
                      .source_length = s->source_length[slot]};
    h.reached = s->reached[slot];
    memcpy(h.identity, s->model->identity, strnlen(s->model->identity, sizeof h.identity));
    h.bytes = payload_bytes(s->model, &h);
    return h;
}

static uint64_t saved_checksum(saved_header h, const unsigned char *payload) {
    burin_checksum sum = {{0}, 0, {0}};
    h.checksum = 0;
    burin_checksum_add(&sum, &h, sizeof h);
    burin_checksum_add(&sum, payload, (size_t)h.bytes);
    return burin_checksum_end(&sum);
}

// Positions of the last block that are beyond the end: whatever the memory held before.
static void clear_rest(const burin_state_part *p, const saved_header *h, unsigned char *block) {
    size_t n = (size_t)(p->of_source ? h->source_length : h->length) % POSITIONS,
           position = p->block_bytes / POSITIONS;
    if (!n || p->layout == BURIN_WHOLE ||
        (p->window && saved_blocks(p, h) < blocks_of_length(p, h)))
        return;
    if (p->layout == BURIN_BY_POSITION) {
        memset(block + n * position, 0, (POSITIONS - n) * position);
        return;
    }
    const size_t lane = (size_t)p->lane_bytes;
    for (size_t at = 0; at < p->block_bytes; at += POSITIONS * lane)
        memset(block + at + n * lane, 0, (POSITIONS - n) * lane);
}

static unsigned char *saved_state(const burin_session *s, int32_t slot) {
    return s->step.state + (size_t)slot * s->model->slot_bytes;
}

BURIN_LINKAGE size_t burin_saved_bytes(const burin_session *s, int32_t slot) {
    if (slot < 0 || slot >= s->slots) return 0;
    saved_header h = saved_header_of(s, slot);
    return sizeof h + (size_t)h.bytes;
}

BURIN_LINKAGE burin_status burin_slot_save(const burin_session *s, int32_t slot, void *memory,
                                           size_t bytes) {
    if (slot < 0 || slot >= s->slots) return BURIN_BAD_SLOT;
    saved_header h = saved_header_of(s, slot);
    unsigned char *to = (unsigned char *)memory + sizeof h;
    if (bytes < sizeof h + h.bytes) return BURIN_SMALL_MEMORY;
    for (int i = 0; i < s->model->n_states; i++) {
        const burin_state_part *p = &s->model->states[i];
        size_t n = saved_blocks(p, &h) * p->block_bytes;
        for (int part = 0; part < p->parts && n; part++, to += n) {
            memcpy(to, saved_state(s, slot) + p->offset + (size_t)part * p->part_bytes, n);
            clear_rest(p, &h, to + n - p->block_bytes);
        }
    }
    if (axes_bytes(s->model, &h)) memcpy(to, axes_of_slot(s, slot), axes_bytes(s->model, &h));
    h.checksum = saved_checksum(h, (unsigned char *)memory + sizeof h);
    memcpy(memory, &h, sizeof h);
    return BURIN_OK;
}

static int32_t max_source_length(const burin_model *m) {
    for (int i = 0; i < m->n_states; i++)
        if (m->states[i].of_source)
            return (int32_t)(m->states[i].part_bytes / m->states[i].block_bytes) * POSITIONS;
    return 0;
}

static burin_status check_saved(const burin_session *s, const saved_header *h,
                                const unsigned char *payload, size_t bytes) {
    if (h->magic != SAVED_MAGIC || h->version != SAVED_VERSION) return BURIN_BAD_SAVED;
    if (strncmp(h->identity, s->model->identity, sizeof h->identity)) return BURIN_OTHER_MODEL;
    if (h->length < 0 || h->length > s->model->context || h->source_length < 0 ||
        h->source_length > max_source_length(s->model))
        return BURIN_BAD_SAVED;
    if (h->reached < h->length || h->reached > s->model->context) return BURIN_BAD_SAVED;
    if (h->bytes != payload_bytes(s->model, h) || bytes - sizeof *h < h->bytes)
        return BURIN_BAD_SAVED;
    return saved_checksum(*h, payload) == h->checksum ? BURIN_OK : BURIN_BAD_SAVED;
}

BURIN_LINKAGE burin_status burin_slot_load(burin_session *s, int32_t slot, const void *memory,
                                           size_t bytes) {
    saved_header h;
    const unsigned char *from = (const unsigned char *)memory + sizeof h;
    if (slot < 0 || slot >= s->slots) return BURIN_BAD_SLOT;
    if (bytes < sizeof h) return BURIN_BAD_SAVED;
    memcpy(&h, memory, sizeof h);
    burin_status status = check_saved(s, &h, from, bytes);
    if (status) return status;
    for (int i = 0; i < s->model->n_states; i++) {
        const burin_state_part *p = &s->model->states[i];
        size_t n = saved_blocks(p, &h) * p->block_bytes;
        for (int part = 0; part < p->parts && n; part++, from += n)
            memcpy(saved_state(s, slot) + p->offset + (size_t)part * p->part_bytes, from, n);
    }
    if (axes_bytes(s->model, &h)) memcpy(axes_of_slot(s, slot), from, axes_bytes(s->model, &h));
    s->length[slot] = h.length;
    s->reached[slot] = h.reached;
    s->recurred[slot] = h.length;
    s->source_length[slot] = h.source_length;
    return BURIN_OK;
}
